//! Candidate tools for requests that nobody tuned on.

use loopwright::commands::gate;
use loopwright::wire::INSTANCES_PER_FAMILY;
use loopwright_contract::limits::CANDIDATES_MAX;
use loopwright_packs::phone::{self, PhrasingSet};

use crate::{UNSEEN_SEED, host, root};

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

/// Requests by somebody who saw each tool's name, domain and one-line description, and none of its keywords or the pack's phrasings.
#[test]
fn fifteen_candidates_hold_the_tools_of_requests_written_without_the_keywords() {
    let cases = gate::requests(&root().join("tests/e2e/tests/loop/held_out_requests.jsonl")).expect("the requests");
    assert_eq!(cases.len(), 156);
    for (lang, recall) in gate::recall(&host(), &cases, CANDIDATES_MAX) {
        assert!(
            recall.recall() >= 0.95,
            "{lang}: {} of {} tools, missed {:?}",
            recall.found,
            recall.gold,
            recall.misses
        );
    }
}
