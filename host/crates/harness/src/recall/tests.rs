//! Recall over made-up specs, with requests that were written without looking at the specs' words.

use std::sync::LazyLock;

use loopwright_contract::limits::CANDIDATES_MAX;
use loopwright_contract::name::{Lang, ToolName};
use loopwright_contract::tool::{AccessRule, Effect, Localized, ToolSpec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{RecallCase, ToolIndex, recall_at};

const TOOLS: &str = include_str!("fixture/tools.txt");
const REQUESTS_TUNING: &str = include_str!("fixture/requests_tuning.txt");
const REQUESTS_UNSEEN: &str = include_str!("fixture/requests_unseen.txt");

/// The part of the rule that is checked here: 95 % of the gold tools in each language.
const RECALL_MIN: f64 = 0.95;

fn localized(english: &str, chinese: &str) -> Vec<Localized> {
    vec![
        Localized { lang: Lang::english(), text: english.to_owned() },
        Localized { lang: Lang::chinese(), text: chinese.to_owned() },
    ]
}

fn schema(arguments: &str) -> Value {
    let properties: Map<String, Value> = arguments
        .split_whitespace()
        .map(|argument| match argument.split_once('=') {
            Some((name, values)) => (name.to_owned(), json!({"enum": values.split('/').collect::<Vec<_>>()})),
            None => (argument.to_owned(), json!({"type": "string"})),
        })
        .collect();
    json!({"type": "object", "properties": properties})
}

fn specs() -> Vec<ToolSpec> {
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('|').collect();
        let [name, domain, english, chinese, keywords, keywords_chinese, arguments] = columns[..] else {
            panic!("columns: {line}")
        };
        ToolSpec {
            name: ToolName::new(name).unwrap(),
            domain: domain.to_owned(),
            description: localized(english, chinese),
            keywords: localized(keywords, keywords_chinese),
            arguments_schema: schema(arguments),
            result_schema: json!({}),
            access: vec![AccessRule { when: None, effect: Effect::Read, requires: Vec::new() }],
            ext: Vec::new(),
        }
    };
    TOOLS.lines().map(row).collect()
}

fn cases(rows: &str) -> Vec<RecallCase> {
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('|').collect();
        let [lang, request, gold] = columns[..] else { panic!("columns: {line}") };
        RecallCase {
            lang: Lang::new(lang).unwrap(),
            request: request.to_owned(),
            gold: gold.split(',').map(|name| ToolName::new(name).unwrap()).collect(),
        }
    };
    rows.lines().map(row).collect()
}

/// The same requests, each with tools from half the list away as its gold.
fn shuffled(cases: &[RecallCase], specs: &[ToolSpec]) -> Vec<RecallCase> {
    let other = |name: &ToolName| {
        let place = specs.iter().position(|spec| spec.name == *name).unwrap();
        specs[(place + specs.len() / 2) % specs.len()].name.clone()
    };
    cases.iter().map(|case| RecallCase { gold: case.gold.iter().map(other).collect(), ..case.clone() }).collect()
}

fn names(index: &ToolIndex, request: &str, n: usize) -> Vec<String> {
    index.candidates(request, n).into_iter().map(|(name, _)| name.to_string()).collect()
}

#[test]
fn gold_tools_are_recalled_in_both_languages() {
    let index = ToolIndex::build(&specs());
    for (rows, label) in [(REQUESTS_TUNING, "tuning"), (REQUESTS_UNSEEN, "unseen")] {
        let recalls = recall_at(&index, &cases(rows), CANDIDATES_MAX);
        assert_eq!(recalls.len(), 2, "languages of the {label} requests");
        for (lang, recall) in recalls {
            println!(
                "{label} {lang}: {}/{} tools, {}/{} complete",
                recall.found, recall.gold, recall.complete, recall.cases
            );
            assert!(recall.recall() >= RECALL_MIN, "{label} {lang}: {:#?}", recall.misses);
        }
    }
}

#[test]
fn the_wrong_gold_is_recalled_about_as_often_as_chance_has_it() {
    let specs = specs();
    let wrong = shuffled(&cases(REQUESTS_UNSEEN), &specs);
    for (lang, recall) in recall_at(&ToolIndex::build(&specs), &wrong, CANDIDATES_MAX) {
        // 15 of 76 tools are 20 %.
        assert!(recall.recall() < 0.4, "{lang}: wrong gold is recalled at {:.2}", recall.recall());
        assert_eq!(recall.misses.len(), recall.cases - recall.complete, "{lang}: misses are listed");
    }
}

#[test]
fn english_specs_alone_do_not_serve_chinese_requests() {
    let mut specs = specs();
    for spec in &mut specs {
        spec.description.retain(|text| text.lang == Lang::english());
        spec.keywords.retain(|text| text.lang == Lang::english());
    }
    let recalls = recall_at(&ToolIndex::build(&specs), &cases(REQUESTS_UNSEEN), CANDIDATES_MAX);
    let of = |lang: &Lang| recalls.get(lang).unwrap().recall();
    assert!(of(&Lang::english()) >= RECALL_MIN);
    assert!(of(&Lang::chinese()) < 0.6, "{}", of(&Lang::chinese()));
}

#[test]
fn one_wordy_intent_does_not_crowd_out_the_others() {
    let index = ToolIndex::build(&specs());
    let rows = [
        (
            "Turn the media volume, the ring volume, the alarm volume and the call volume down to 10, mute notifications, then restart",
            ["manage_volume", "control_device_power"],
        ),
        ("把媒体音量、来电音量、闹钟音量和通知音量都调低到10，然后截图", ["manage_volume", "take_screenshot"]),
    ];
    for (request, gold) in rows {
        let found = names(&index, request, 4);
        assert!(gold.iter().all(|name| found.contains(&(*name).to_owned())), "{request}: {found:?}");
    }
}

#[test]
fn naming_a_time_brings_up_the_tools_that_take_one() {
    let index = ToolIndex::build(&specs());
    for request in ["Yoga class on March 12 at 1:25 pm", "3月12号下午1点25分瑜伽课"] {
        let found = names(&index, request, CANDIDATES_MAX);
        for name in ["manage_schedule", "manage_alarm", "manage_reminder"] {
            assert!(found.contains(&name.to_owned()), "{request}: {found:?}");
        }
    }
}

#[test]
fn the_list_is_filled_up_by_domain_and_then_by_name() {
    let specs = specs();
    let index = ToolIndex::build(&specs);
    assert_eq!(index.len(), specs.len());
    let found = index.candidates("torch", 9);
    assert_eq!(found[0].0, "control_flashlight");
    assert!(found.is_sorted_by(|left, right| left.1 >= right.1));
    let domain = |name: &ToolName| specs.iter().find(|spec| spec.name == *name).unwrap().domain.clone();
    assert!(found[1..5].iter().all(|(name, _)| domain(name) == "input"), "{found:?}");
    assert!(found[5..].is_sorted_by(|left, right| left.0 <= right.0) && found[5].1 == 0.0, "{found:?}");
    assert_eq!(names(&index, "", specs.len() + 1).len(), specs.len());
    assert!(names(&index, "torch", 0).is_empty());
}

#[test]
fn a_name_taken_twice_is_indexed_once() {
    let spec = specs().remove(0);
    assert_eq!(ToolIndex::build(&[spec.clone(), spec]).len(), 1);
}

static SPECS: LazyLock<Vec<ToolSpec>> = LazyLock::new(specs);
static INDEX: LazyLock<ToolIndex> = LazyLock::new(|| ToolIndex::build(&SPECS[..20]));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_gives_the_asked_number_of_distinct_candidates(request in ".{0,80}", n in 0_usize..100) {
        let found = INDEX.candidates(&request, n);
        let mut distinct: Vec<_> = found.iter().map(|(name, _)| name).collect();
        distinct.sort();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), n.min(20));
        prop_assert!(found.iter().all(|(_, score)| (0.0..=1.0).contains(score)));
        prop_assert!(found.is_sorted_by(|left, right| left.1 >= right.1));
    }

    #[test]
    fn the_order_of_the_specs_is_irrelevant(
        order in Just((0..12_usize).collect::<Vec<_>>()).prop_shuffle(),
        request in "(打开|关闭|wifi|torch|亮度|alarm|，| and |7:30|then ){0,8}",
    ) {
        let reordered: Vec<ToolSpec> = order.iter().map(|place| SPECS[*place].clone()).collect();
        prop_assert_eq!(
            ToolIndex::build(&SPECS[..12]).candidates(&request, 15),
            ToolIndex::build(&reordered).candidates(&request, 15)
        );
    }

    #[test]
    fn any_spec_is_indexed(texts in prop::collection::vec(".{0,40}", 3), properties in prop::collection::btree_map(".{0,12}", ".{0,12}", 0..5)) {
        let mut spec = SPECS[0].clone();
        let properties: Map<String, Value> = properties.into_iter().map(|(name, value)| (name, json!({"enum": [value]}))).collect();
        spec.domain.clone_from(&texts[0]);
        spec.description = localized(&texts[1], &texts[2]);
        spec.arguments_schema = json!({"properties": properties});
        prop_assert_eq!(ToolIndex::build(&[spec]).candidates(&texts[1], 3).len(), 1);
    }
}
