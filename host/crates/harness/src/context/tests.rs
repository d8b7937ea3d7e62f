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
    let watching =
        Watching::new(FakePlanner::playing(vec![vec![load], calls, vec![raw("ask_user", r#"{"question":"why?"}"#)]]));
    run_one(&harness(Settings::default()), &watching, task);
    let contexts = watching.into_seen();
    let text =
        contexts.first().map(outline).unwrap_or_default() + "---\n" + &contexts.last().map(outline).unwrap_or_default();
    expected.assert_eq(&text);
}

#[test]
fn an_english_context() {
    check(
        &torch_task("torch"),
        &expect![[r#"
        rules: You act on the user's phone by calling tools. Do what the request asks, and nothing else. (10 lines)
        tools: set_torch, manage_note, wipe_notes
        skills to load: broken-skill, note-keeper
        memory true, ask true
        request (en, 2026-01-01T00:00:00+00:00[UTC]): Turn on the torch.
        remaining: 15 steps, 200000 tokens
        ---
        rules: You act on the user's phone by calling tools. Do what the request asks, and nothing else. (10 lines)
        tools: set_torch, manage_note, wipe_notes
        skills to load: broken-skill
        memory true, ask true
        request (en, 2026-01-01T00:00:00+00:00[UTC]): Turn on the torch.
        skill note-keeper: note-keeper (en): set_torch, manage_note, wipe_notes
        - {"actions":[{"action":"load_skill","skill":"note-keeper"}],"event":"decided","text":""}
        - {"call_id":"call-0-0","effects":[],"envelope":{"data":{"offered":[]},"message":"skill `note-keeper` is loaded","success":true},"event":"answered","name":"skill__note_keeper"}
        - {"actions":[{"action":"call","arguments":{"on":true},"id":"call-1-0","tool":"set_torch"}],"event":"decided","text":""}
        - {"call_id":"call-1-0","effects":[],"envelope":{"data":{"on":true},"message":"torch set","success":true},"event":"answered","name":"set_torch"}
        - {"event":"malformed","reason":"arguments of `manage_note` are wrong: `/action`: found string `\"burn\"`, allowed: \"put\", \"query\", \"delete\""}
        - {"actions":[{"action":"ask","question":"why?"}],"event":"decided","text":""}
        - {"event":"user","text":"I don't know."}
        remaining: 12 steps, 200000 tokens
    "#]],
    );
}

#[test]
fn a_chinese_context() {
    check(
        &parallel_task("parallel"),
        &expect![[r#"
        rules: 你通过调用工具来操作用户的手机。只做请求要求的事，不做别的事。 (10 lines)
        tools: manage_note, set_torch, wipe_notes
        skills to load: broken-skill, note-keeper
        memory true, ask true
        request (zh, 2026-01-01T00:00:00+00:00[UTC]): 关掉手电筒，并写一条备忘录“关门”。
        remaining: 15 steps, 200000 tokens
        ---
        rules: 你通过调用工具来操作用户的手机。只做请求要求的事，不做别的事。 (10 lines)
        tools: manage_note, set_torch, wipe_notes
        skills to load: broken-skill
        memory true, ask true
        request (zh, 2026-01-01T00:00:00+00:00[UTC]): 关掉手电筒，并写一条备忘录“关门”。
        skill note-keeper: note-keeper (zh): manage_note, set_torch, wipe_notes
        - {"actions":[{"action":"load_skill","skill":"note-keeper"}],"event":"decided","text":""}
        - {"call_id":"call-0-0","effects":[],"envelope":{"data":{"offered":[]},"message":"skill `note-keeper` is loaded","success":true},"event":"answered","name":"skill__note_keeper"}
        - {"actions":[{"action":"call","arguments":{"on":true},"id":"call-1-0","tool":"set_torch"}],"event":"decided","text":""}
        - {"call_id":"call-1-0","effects":[],"envelope":{"data":{"on":true},"message":"torch set","success":true},"event":"answered","name":"set_torch"}
        - {"event":"malformed","reason":"arguments of `manage_note` are wrong: `/action`: found string `\"burn\"`, allowed: \"put\", \"query\", \"delete\""}
        - {"actions":[{"action":"ask","question":"why?"}],"event":"decided","text":""}
        - {"event":"user","text":"我不知道。"}
        remaining: 12 steps, 200000 tokens
    "#]],
    );
}

#[test]
fn the_rules_stand_in_both_languages_with_the_same_points() {
    let points = |lang: &str| {
        let text = rules(&Lang::new(lang).expect("a tag"));
        text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())).count()
    };
    assert_eq!((points("en"), points("zh"), points("zh-Hant"), points("fr")), (9, 9, 9, 9));
    assert_eq!(rules(&Lang::new("fr").expect("a tag")), rules(&Lang::english()));
    assert_ne!(rules(&Lang::chinese()), rules(&Lang::english()));
}
