//! Specifications that were read before: the same tools are offered decision after decision, and reading one takes longer than scoring it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use loopwright_contract::name::ToolName;
use loopwright_contract::tool::ToolSpec;

use super::spec::Offer;

/// Specifications that are kept; when there are more, all are read again.
pub const SPECS_MAX: usize = 1_024;

/// A specification with what was read from it.
type Known = (ToolSpec, Option<Arc<Offer>>);

/// Specifications that were read before. Whether one is kept changes no choice.
#[derive(Debug, Default)]
pub struct Specs {
    known: Mutex<BTreeMap<(ToolName, bool), Known>>,
}

impl Specs {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
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
