//! Our own small data: recall has a floor, in both languages, and the ranking beats plain BM25.

use super::synthetic::{Language, locomo_form, memdaily_form};
use super::*;
use crate::retrieve::Fusion;

const LEXICAL: Options<'static> =
    Options { form: Form::Locomo, cross_validate: false, fusion: Fusion::MinMaxSum, embedder: None };

fn recall(report: &Report, category: &str, k: usize) -> f64 {
    report.rows.iter().find(|row| row.category == category && row.k == k).expect("a row").recall
}

#[test]
fn synthetic_dialogues_are_found_again() {
    for (language, floors) in [(Language::English, [0.8, 0.9]), (Language::Chinese, [0.8, 0.9])] {
        let text = locomo_form(language, 3, 11);
        assert_eq!(text, locomo_form(language, 3, 11), "the same seed, the same data");
        let conversations = load_locomo(text.as_bytes()).expect("our own form");
        let report = run(&conversations, &LEXICAL).expect("measured");
        let found = [5, 10].map(|k| recall(&report, CATEGORY_OVERALL, k));
        assert!(
            found.iter().zip(floors).all(|(found, floor)| *found >= floor),
            "{language:?}: {found:?}, {:#?}",
            report.rows
        );
        assert!(report.skipped == 0 && report.unknown == 0 && report.tokens.iter().all(|(_, tokens)| *tokens > 20.0));
    }
}

#[test]
fn weights_are_fitted_without_what_is_measured_and_the_same_each_time() {
    let mut conversations = load_locomo(locomo_form(Language::English, 2, 5).as_bytes()).expect("our own form");
    conversations.iter_mut().for_each(|conversation| conversation.questions.truncate(8));
    let options = Options { cross_validate: true, ..LEXICAL };
    let report = run(&conversations, &options).expect("measured");
    assert_eq!(report.weights.len(), 2);
    assert_eq!(report, run(&conversations, &options).expect("measured"));
}

#[test]
fn chinese_messages_among_those_of_others_are_found_better_than_by_plain_bm25() {
    let [plain, ours] = chinese(&memdaily_form(60, 3), 300).expect("measured");
    assert_eq!((plain.questions, plain.distractors), (60, 300));
    assert!(ours.recall_10 >= plain.recall_10 + 0.05 && ours.recall_10 >= 0.8, "{plain:?} {ours:?}");
}

#[test]
fn the_rows_are_what_the_command_prints() {
    let conversations = load_locomo(locomo_form(Language::English, 2, 5).as_bytes()).expect("our own form");
    let rows = serde_json::to_value(run(&conversations, &LEXICAL).expect("measured").rows).expect("JSON");
    let row = rows.as_array().expect("a list").last().expect("a row").clone();
    assert_eq!(
        (row["category"].as_str(), row["leg"].as_str(), row["k"].as_u64()),
        (Some("overall_1_4"), Some("lexical"), Some(20))
    );
    assert!(
        ["recall", "all", "mrr"].iter().all(|key| row[key].as_f64().is_some_and(|value| (0.0..=1.0).contains(&value)))
    );
}
