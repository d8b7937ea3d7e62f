use expect_test::{Expect, expect};
use loopwright_contract::action::Action;
use loopwright_contract::name::{Lang, SkillName};
use loopwright_contract::task::Task;
use loopwright_testkit::host::SKILL;
use loopwright_testkit::planner::{FakePlanner, action, raw};
use loopwright_testkit::task::{parallel_task, torch_task};

use super::{outline, rules};
use crate::settings::Settings;
use crate::testing::{Watching, harness, run_one};

fn check(task: &Task, expected: &Expect) {
    let load = action(Action::LoadSkill { skill: SkillName::new(SKILL).expect("a name") });
    let calls = vec![raw("set_torch", r#"{"on":"true"}"#), raw("manage_note", r#"{"action":"burn","key":"milk"}"#)];
    let watching = Watching::new(FakePlanner::playing(vec![vec![load], calls, vec![raw("ask_user", r#"{"question":"why?"}"#)]]));
    run_one(&harness(Settings::default()), &watching, task);
    let contexts = watching.into_seen();
    let text = contexts.first().map(outline).unwrap_or_default() + "---\n" + &contexts.last().map(outline).unwrap_or_default();
    expected.assert_eq(&text);
}

#[test]
fn an_english_context() {
    check(&torch_task("torch"), &expect![[r#""#]]);
}

#[test]
fn a_chinese_context() {
    check(&parallel_task("parallel"), &expect![[r#""#]]);
}

#[test]
fn the_rules_stand_in_both_languages_with_the_same_points() {
    let points = |lang: &str| {
        let text = rules(&Lang::new(lang).expect("a tag"));
        text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())).count()
    };
    assert_eq!((points("en"), points("zh"), points("zh-Hant"), points("fr")), (8, 8, 8, 8));
    assert_eq!(rules(&Lang::new("fr").expect("a tag")), rules(&Lang::english()));
    assert_ne!(rules(&Lang::chinese()), rules(&Lang::english()));
}
