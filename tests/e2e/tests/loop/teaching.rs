//! The phone's teacher on real components: gold stays gold, wrong turns that are planted are found from evidence, and a mask leaves out exactly those.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use loopwright::training::course::{Course, Teaching};
use loopwright::training::field::Ground;
use loopwright::training::phone::PhoneCourse;
use loopwright_contract::task::{Split, Task};
use loopwright_harness::{Harness, Noise, Prefixes, Settings};
use serde_json::Value;

use crate::host;

type Plays = Vec<<<PhoneCourse as Course>::Policy as loopwright_learn::rl::Policy>::Sample>;

/// One of each few tasks of training, of all families.
fn tasks() -> Vec<Task> {
    let tasks = PhoneCourse::default().tasks(Split::Train).expect("a training split");
    tasks.iter().step_by(11).cloned().collect()
}

fn taught(teaching: Teaching) -> (Plays, Value) {
    static HARNESS: OnceLock<Harness> = OnceLock::new();
    let settings = Settings { prefixes: Prefixes::All, ..Settings::default() };
    let harness =
        HARNESS.get_or_init(|| Harness::new(Arc::new(host().pinned()), settings, Vec::new()).expect("a harness"));
    let ground = Ground::new(harness, Noise::Member, Arc::new(AtomicBool::new(false)));
    PhoneCourse::default().demonstrations(&ground, &tasks(), teaching).expect("demonstrations")
}

const GOLD: Teaching = Teaching { seed: 1, members: 2, mask: true, plant: 0.0 };
const CLUMSY: Teaching = Teaching { plant: 0.6, ..GOLD };

#[test]
fn gold_is_the_same_whatever_the_seed_and_the_mask() {
    let (plays, shown) = taught(GOLD);
    assert!(plays.len() > 160, "{shown}");
    assert!(shown.get("errors").is_none(), "{shown}");
    assert_eq!(taught(Teaching { seed: 2, mask: false, ..GOLD }), (plays, shown));
}

#[test]
fn planted_turns_are_found_and_a_mask_leaves_out_exactly_what_was_found() {
    let (masked, shown) = taught(CLUMSY);
    let (whole, shown_whole) = taught(Teaching { mask: false, ..CLUMSY });
    let errors = &shown["errors"];
    let count = |key: &str| errors[key].as_u64().expect("a count");
    assert!(count("shown") > 80 && errors["kinds"].as_object().expect("kinds").len() == 3, "{errors}");
    for (share, least) in [("precision", 0.95), ("recall", 0.9)] {
        assert!(errors[share].as_f64().expect("a share") >= least, "{share}: {errors}");
    }
    assert_eq!(count("masked"), count("found") + count("found_gold"));
    assert_eq!(shown_whole["errors"]["masked"], 0);
    assert_eq!(shown_whole["errors"]["found"], errors["found"]);

    // Choices of one turn share what they look back on.
    let turns = |choices: &[loopwright_learn::pointer::Taken]| -> Vec<Vec<loopwright_learn::pointer::Taken>> {
        choices.chunk_by(|left, right| Arc::ptr_eq(&left.choice.past, &right.choice.past)).map(<[_]>::to_vec).collect()
    };
    assert_eq!(masked.len(), whole.len());
    let mut left_out = 0;
    for (masked, whole) in masked.iter().zip(&whole) {
        assert_eq!(masked.units, whole.units);
        let mut kept = turns(&masked.choices).into_iter().peekable();
        for turn in turns(&whole.choices) {
            if kept.next_if_eq(&turn).is_none() {
                left_out += 1;
            }
        }
        assert_eq!(kept.next(), None, "a turn that was not taken so");
    }
    assert_eq!(left_out, count("masked"));
}

#[test]
fn what_is_planted_follows_from_the_seed() {
    let first = taught(CLUMSY);
    assert_eq!(taught(CLUMSY), first);
    assert_ne!(taught(Teaching { seed: 2, ..CLUMSY }).1, first.1);
}
