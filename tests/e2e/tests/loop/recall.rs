//! Candidate tools for requests that nobody tuned on.

use loopwright::commands::gate;
use loopwright::wire::INSTANCES_PER_FAMILY;
use loopwright_contract::limits::CANDIDATES_MAX;
use loopwright_packs::phone::{self, PhrasingSet};

use crate::{UNSEEN_SEED, host};

#[test]
fn fifteen_candidates_hold_the_gold_tools_for_unseen_phrasings() {
    let pack = phone::builtin_with_phrasings(UNSEEN_SEED, INSTANCES_PER_FAMILY, PhrasingSet::Unseen).expect("the pack");
    let found = gate::recall(&host(), &gate::cases(pack.tasks()), CANDIDATES_MAX);
    assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), ["en", "zh"]);
    for (lang, recall) in &found {
        assert!(
            recall.recall() >= 0.95,
            "{lang}: {} of {} gold tools, missed {:?}",
            recall.found,
            recall.gold,
            recall.misses
        );
    }
}
