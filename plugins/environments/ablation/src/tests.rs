use loopwright_sdk::testing::TestPhone;
use loopwright_sdk::{Actor, Answer, Effect, ToolFault};
use serde_json::{Value, json};

use super::course::{Code, Course, Deed, SETTINGS};
use super::{Ablation, Setup};

const TOOLS: [&str; 5] = ["think", "read_setting", "set_setting", "verify_setting", "next_setting"];
const RELIABLE: Setup = Setup { silent: 50, blind: 1_000 };
const FRAGILE: Setup = Setup { silent: 1_000, blind: 1_000 };

/// SplitMix64, as the numbers that the host would draw.
fn stream(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Goes the whole way: reads and verifies as told, and writes again until a verification says that it took. What it took, and whether all was
/// really set.
fn walk(setup: Setup, read: bool, verify: bool, random: &mut impl FnMut() -> u64) -> (u32, bool) {
    let (mut course, mut calls) = (Course::new(setup), 0);
    let mut run = |course: &mut Course, deed| {
        calls += 1;
        course.run(deed, &mut *random)
    };
    while !course.is_over() {
        if read {
            run(&mut course, Deed::Read);
        }
        run(&mut course, Deed::Set);
        while verify && run(&mut course, Deed::Verify) == Code::Bad {
            run(&mut course, Deed::Set);
        }
        run(&mut course, Deed::Next);
    }
    let end = serde_json::to_value(course).expect("JSON");
    (calls, end["really"] == json!(vec![true; SETTINGS]))
}

/// Mean calls and share of successes.
fn walks(setup: Setup, read: bool, verify: bool) -> (f64, f64) {
    let episodes = 40_000;
    let mut random = stream(7);
    let (calls, successes) = (0..episodes)
        .map(|_| walk(setup, read, verify, &mut random))
        .fold((0, 0), |(calls, successes), (more, success)| (calls + more, successes + u32::from(success)));
    (f64::from(calls) / f64::from(episodes), f64::from(successes) / f64::from(episodes))
}

#[test]
fn a_simulation_comes_to_what_the_chances_say() {
    // By hand: q = 1 - silent, times blind where nothing was read. Without verification 3 (read + 1 + 1) calls and q^3; with it a setting takes
    // 1/q writes and as many verifications, and always succeeds.
    for (setup, read, verify, calls, success) in [
        (RELIABLE, true, false, 9.0, 0.985_074_875),
        (RELIABLE, true, true, 12.030_15, 1.0),
        (FRAGILE, true, false, 9.0, 0.729),
        (FRAGILE, true, true, 12.666_67, 1.0),
        (RELIABLE, false, false, 6.0, 0.000_985),
        (FRAGILE, false, true, 69.666_67, 1.0),
    ] {
        let (found_calls, found_success) = walks(setup, read, verify);
        // Four standard errors of a share of 40,000; calls spread more, by the number of writes.
        assert!((found_success - success).abs() < 0.01, "{setup:?} {read} {verify}: {found_success}, not {success}");
        assert!((found_calls - calls).abs() < 0.01 * calls, "{setup:?} {read} {verify}: {found_calls}, not {calls}");
    }
    // The best of both kinds, mixed evenly: 10.83 calls and 99.25 in 100.
    let (reliable, fragile) = (walks(RELIABLE, true, false), walks(FRAGILE, true, true));
    assert!((f64::midpoint(reliable.0, fragile.0) - 10.833).abs() < 0.05);
    assert!((f64::midpoint(reliable.1, fragile.1) - 0.992_54).abs() < 0.003);
}

#[test]
fn a_write_decides_anew_and_writing_twice_is_no_cure() {
    let (took, failed) = (|| 0, || 99_999_999);
    let mut course = Course::new(FRAGILE);
    assert_eq!(course.run(Deed::Verify, failed), Code::Bad, "nothing is set yet");
    course.run(Deed::Read, failed);
    course.run(Deed::Set, took);
    assert_eq!(course.run(Deed::Verify, failed), Code::Ok);
    assert_eq!(course.run(Deed::Set, failed), Code::Set, "a failed write looks like any other");
    assert_eq!(course.run(Deed::Verify, took), Code::Bad);
}

#[test]
fn reading_counts_for_one_setting_and_thinking_for_none() {
    // Half of all numbers lie above a chance of 0.1 and below one of 0.99.
    let half = || 50_000_000;
    let mut course = Course::new(RELIABLE);
    course.run(Deed::Think, half);
    course.run(Deed::Set, half);
    assert_eq!(course.run(Deed::Verify, half), Code::Bad);
    course.run(Deed::Read, half);
    course.run(Deed::Set, half);
    assert_eq!(course.run(Deed::Verify, half), Code::Ok);
    assert_eq!((course.run(Deed::Next, half), course.at()), (Code::Next, 2));
    course.run(Deed::Set, half);
    assert_eq!(course.run(Deed::Verify, half), Code::Bad);
}

/// A phone with the world's tools, and what they were asked.
fn phone() -> TestPhone {
    TOOLS.iter().fold(TestPhone::new(), |phone, tool| {
        phone.fake_tool(tool, Effect::Read, &[], |_, _| Ok(json!({"code": "not the tool's to say"})))
    })
}

fn begun(setup: Value) -> TestPhone {
    let mut test = phone().state(json!({"environment": {}}));
    test.reset::<Ablation>(setup).expect("a reset");
    test
}

/// The code or the refusal of each call of a turn.
fn codes(test: &mut TestPhone, tools: &[&str]) -> Vec<String> {
    let calls: Vec<(&str, Value)> = tools.iter().map(|tool| (*tool, json!({}))).collect();
    let result = test.step::<Ablation>(Actor::Agent, &calls).expect("a turn");
    let word = |answer: &Answer| match answer {
        Answer::Done(success) => {
            let data: Value = success.data.parse().expect("JSON");
            assert_eq!(data["code"], success.message.as_str());
            format!("{} {}", success.message, data["at"])
        }
        Answer::Failed(failure) | Answer::NeedsConfirmation(failure) => {
            format!("{}", failure.code().map_or(0, loopwright_sdk::Code::get))
        }
    };
    result.feedback.iter().map(|feedback| word(&feedback.answer)).collect()
}

#[test]
fn the_world_closes_after_the_third_next() {
    let mut test = begun(json!({"silent": 0, "blind": 10_000}));
    let turn = ["think", "read_setting", "set_setting", "verify_setting", "next_setting"];
    assert_eq!(codes(&mut test, &turn), ["thought 1", "read 1", "set 1", "ok 1", "next 2"]);
    assert_eq!(
        codes(&mut test, &["set_setting", "next_setting", "next_setting", "think"]),
        ["set 2", "next 3", "over 3", "409"]
    );
    assert_eq!(codes(&mut test, &["set_setting", "launch_rocket"]), ["409", "404"]);
    assert_eq!(test.invoked().len(), 8, "what is refused reaches no tool");
    assert_eq!(test.document("environment", "ablation").expect("a state")["really"], json!([true, true, false]));
}

#[test]
fn nothing_that_is_answered_tells_a_failed_write_from_one_that_took() {
    let answers =
        |silent: u32| codes(&mut begun(json!({"silent": silent, "blind": 0})), &["read_setting", "set_setting"]);
    assert_eq!(answers(0), answers(10_000));
}

#[test]
fn a_broken_tool_is_told_of_and_changes_nothing() {
    let mut test =
        phone().state(json!({"environment": {}})).faulty_tool("set_setting", Effect::Write, ToolFault::Trapped);
    test.reset::<Ablation>(json!({"silent": 0, "blind": 10_000})).expect("a reset");
    assert_eq!(codes(&mut test, &["set_setting", "verify_setting"]), ["503", "bad 1"]);
}

#[test]
fn a_setup_that_is_none_is_refused() {
    for setup in
        [json!(null), json!({}), json!({"silent": 10_001, "blind": 0}), json!({"silent": 0, "blind": 0, "x": 1})]
    {
        assert!(phone().reset::<Ablation>(setup.clone()).is_err(), "{setup}");
    }
}
