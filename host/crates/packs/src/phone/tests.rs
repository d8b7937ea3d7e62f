use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::task::{Split, Task};

use super::{PhrasingSet, builtin, builtin_with_phrasings};

fn twins(tasks: &[Task]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut languages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for task in tasks {
        languages.entry(&task.family).or_default().insert(task.lang.as_str());
    }
    languages
}

#[test]
fn the_same_seed_gives_the_same_pack_and_another_seed_another() {
    let (first, second, other) = (builtin(5, 2).expect("a pack"), builtin(5, 2).expect("a pack"), builtin(6, 2).expect("a pack"));
    assert_eq!(first.files(), second.files());
    assert_eq!(first.card(), second.card());
    assert_ne!(first.files(), other.files());
}

#[test]
fn every_family_has_both_languages_in_one_split() {
    for seed in [0, 1, u64::MAX] {
        let pack = builtin(seed, 2).expect("a pack");
        for (family, languages) in twins(pack.tasks()) {
            assert_eq!(languages, BTreeSet::from(["en", "zh"]), "{family}");
        }
        let mut splits: BTreeMap<&str, BTreeSet<Split>> = BTreeMap::new();
        for task in pack.tasks() {
            splits.entry(&task.family).or_default().insert(task.split);
        }
        assert!(splits.values().all(|found| found.len() == 1));
    }
}

#[test]
fn no_placeholder_is_left_and_the_two_sets_of_phrasings_are_apart() {
    let mut requests = [BTreeSet::new(), BTreeSet::new()];
    for (set, found) in [PhrasingSet::Seen, PhrasingSet::Unseen].into_iter().zip(&mut requests) {
        for seed in 0..8 {
            for task in builtin_with_phrasings(seed, 2, set).expect("a pack").tasks() {
                assert!(!task.request.contains(['{', '}']), "{}: {}", task.id, task.request);
                found.insert(task.request.clone());
            }
        }
    }
    assert!(requests[0].is_disjoint(&requests[1]));
}
