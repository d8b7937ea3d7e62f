//! What planners of a course share: specifications, offers and texts that were read before. The same tools are offered decision after decision, and
//! reading them takes longer than scoring them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use loopwright_contract::context::Context;
use loopwright_contract::name::ToolName;
use loopwright_contract::tool::ToolSpec;

use super::kept::Kept;
use super::offered::{Offered, Spaces};
use super::spec::Offer;
use super::walk::Walks;

/// Specifications that are kept; when there are more, all are read again.
pub const SPECS_MAX: usize = 1_024;

/// A specification with what was read from it.
type Known = (ToolSpec, Option<Arc<Offer>>);

/// What was read before: specifications, texts by their words, and the last decisions that were begun, with the requests, results and memories that
/// they were begun with. Whether something is kept changes no choice.
#[derive(Debug, Default)]
pub struct Specs {
    known: Mutex<BTreeMap<(ToolName, bool), Known>>,
    spaces: Spaces,
    kept: Arc<Kept>,
    walks: Walks,
}

impl Specs {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What a context offers.
    pub(super) fn offered(&self, context: &Context) -> Arc<Offered> {
        self.spaces.read(self, context)
    }

    /// Decisions that were begun.
    pub(super) fn walks(&self) -> &Walks {
        &self.walks
    }

    /// What was made of texts.
    pub(super) fn kept(&self) -> &Arc<Kept> {
        &self.kept
    }

    /// The spaces that it keeps.
    #[cfg(test)]
    pub(super) fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    /// What a specification says; a tool whose specification changed is read again.
    pub(super) fn read(&self, spec: &ToolSpec, chinese: bool) -> Option<Arc<Offer>> {
        let key = (spec.name.clone(), chinese);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, offer)) = known.get(&key)
            && before == spec
        {
            return offer.clone();
        }
        let offer = Offer::read(spec, chinese).map(Arc::new);
        if known.len() >= SPECS_MAX {
            known.clear();
        }
        known.insert(key, (spec.clone(), offer.clone()));
        offer
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pointer::testing::english;

    #[test]
    fn a_changed_specification_is_read_again() {
        let specs = Specs::new();
        let mut spec = english("").space.tools[0].clone();
        let first = specs.read(&spec, false).expect("an offer");
        assert!(Arc::ptr_eq(&first, &specs.read(&spec, false).expect("an offer")));
        spec.arguments_schema = json!({"properties": {"other": {"type": "boolean"}}});
        let second = specs.read(&spec, false).expect("an offer");
        assert_eq!(second.slots.len(), 1);
        assert_ne!(first, second);
    }

    #[test]
    fn no_more_than_the_limit_are_kept() {
        let specs = Specs::new();
        let mut spec = english("").space.tools[0].clone();
        for number in 0..=SPECS_MAX {
            spec.name = ToolName::new(format!("tool_{number}")).expect("a name");
            spec.arguments_schema = json!({});
            spec.description.clear();
            assert!(specs.read(&spec, false).is_some());
        }
        assert_eq!(specs.known.lock().expect("a lock").len(), 1);
    }
}
