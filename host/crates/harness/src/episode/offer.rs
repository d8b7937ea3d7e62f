//! Which tools are offered: the candidates of recall out of what the environment exposes, then what skills add. Places are stable: a tool
//! keeps its place as long as it is offered.

use loopwright_contract::limits::CANDIDATES_MAX;
use loopwright_contract::name::{SkillName, ToolName};
use loopwright_contract::skill::SkillCard;
use loopwright_contract::tool::ToolSpec;

use crate::harness::Harness;
use crate::settings::Offer;

/// Cards of skills in one context.
pub(crate) const SKILL_CARDS_MAX: usize = 32;

/// The offered tools and skills of one episode.
#[derive(Debug, Clone)]
pub(super) struct Offered {
    /// All installed tools, best first for the request.
    ranked: std::sync::Arc<[ToolName]>,
    limit: usize,
    exposed: Vec<ToolName>,
    candidates: Vec<ToolName>,
    /// Tools that loaded skills expose, in the order of loading.
    added: Vec<ToolName>,
    loaded: Vec<SkillName>,
}

impl Offered {
    pub(super) fn new(harness: &Harness, request: &str, exposed: &[ToolName]) -> Self {
        let (ranked, limit) = match harness.settings().offer {
            Offer::Recalled => (harness.ranked(request), CANDIDATES_MAX),
            Offer::Exposed => (harness.host().tools().iter().map(|tool| tool.spec.name.clone()).collect(), usize::MAX),
        };
        let mut offered =
            Self { ranked, limit, exposed: Vec::new(), candidates: Vec::new(), added: Vec::new(), loaded: Vec::new() };
        offered.expose(exposed);
        offered
    }

    /// Takes what the environment exposes now; true when the offered tools changed.
    pub(super) fn expose(&mut self, exposed: &[ToolName]) -> bool {
        if self.exposed == exposed {
            return false;
        }
        let before = self.names();
        self.exposed = exposed.to_vec();
        self.candidates.retain(|name| exposed.contains(name));
        let free = self.limit.saturating_sub(self.candidates.len());
        let new: Vec<ToolName> = self
            .ranked
            .iter()
            .filter(|name| exposed.contains(name) && !self.candidates.contains(name))
            .take(free)
            .cloned()
            .collect();
        self.candidates.extend(new);
        self.names() != before
    }

    /// Adds a loaded skill's tools; the names that are new.
    pub(super) fn load(&mut self, card: &SkillCard) -> Vec<ToolName> {
        let before = self.names();
        self.loaded.push(card.name.clone());
        for name in &card.exposes {
            if !self.added.contains(name) && !self.candidates.contains(name) {
                self.added.push(name.clone());
            }
        }
        self.names().into_iter().filter(|name| !before.contains(name)).collect()
    }

    /// The offered tools in their places.
    pub(super) fn names(&self) -> Vec<ToolName> {
        let added = self.added.iter().filter(|name| self.exposed.contains(name) && !self.candidates.contains(name));
        self.candidates.iter().chain(added).cloned().collect()
    }

    /// The specs of the offered tools that are installed.
    pub(super) fn specs(&self, harness: &Harness) -> Vec<ToolSpec> {
        self.names().iter().filter_map(|name| harness.spec(name)).cloned().collect()
    }

    /// Cards of the skills that are not loaded.
    pub(super) fn cards(&self, harness: &Harness) -> Vec<SkillCard> {
        harness
            .skills()
            .cards()
            .iter()
            .filter(|card| !self.loaded.contains(&card.name))
            .take(SKILL_CARDS_MAX)
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use loopwright_contract::name::Lang;
    use loopwright_contract::tool::Localized;
    use loopwright_testkit::host::FakeHost;
    use loopwright_testkit::tool::installed;

    use super::*;
    use crate::settings::Settings;
    use crate::testing::harness_on;

    fn name(number: usize) -> ToolName {
        ToolName::new(format!("lamp_{number:02}")).expect("a name")
    }

    /// Twenty lamps; the lower the number, the more words a lamp shares with the request.
    fn harness() -> Harness {
        let template = installed().pop().expect("a tool");
        let lamp = |number: usize| {
            let mut tool = template.clone();
            tool.spec.name = name(number);
            let text = format!("{} {}", "bright ".repeat(1 + number), "kitchen lamp");
            tool.spec.description = vec![Localized { lang: Lang::english(), text }];
            tool
        };
        harness_on(FakeHost::new().with_tools((0..20).map(lamp).collect()), Settings::default())
    }

    fn names(numbers: impl IntoIterator<Item = usize>) -> Vec<ToolName> {
        numbers.into_iter().map(name).collect()
    }

    fn skill(exposes: Vec<ToolName>) -> SkillCard {
        SkillCard { name: SkillName::new("lamps").expect("a name"), summary: Vec::new(), about: Vec::new(), exposes }
    }

    #[test]
    fn a_skill_adds_tools_that_were_no_candidates_behind_the_others() {
        let harness = harness();
        let mut offered = Offered::new(&harness, "kitchen lamp", &names(0..20));
        let candidates = offered.names();
        assert_eq!(candidates.len(), CANDIDATES_MAX);
        let absent: Vec<ToolName> = names(0..20).into_iter().filter(|name| !candidates.contains(name)).collect();
        let hidden = ToolName::new("not_exposed").expect("a name");
        let exposes = vec![absent[1].clone(), candidates[0].clone(), hidden, absent[0].clone()];
        assert_eq!(offered.load(&skill(exposes)), [absent[1].clone(), absent[0].clone()]);
        assert_eq!(offered.names()[..CANDIDATES_MAX], candidates);
        assert_eq!(offered.names()[CANDIDATES_MAX..], [absent[1].clone(), absent[0].clone()]);
    }

    #[test]
    fn tools_keep_their_places_when_others_come_and_go() {
        let harness = harness();
        let mut offered = Offered::new(&harness, "kitchen lamp", &names(0..10));
        let before = offered.names();
        assert_eq!(before.len(), 10);
        assert!(!offered.expose(&names(0..10)));
        assert!(offered.expose(&names(0..20)));
        assert_eq!(offered.names()[..10], before);
        assert_eq!(offered.names().len(), CANDIDATES_MAX);
        assert!(offered.expose(&names(1..20)));
        let without: Vec<ToolName> = before.into_iter().filter(|name| *name != self::name(0)).collect();
        assert_eq!(offered.names()[..9], without);
        assert!(!offered.names().contains(&name(0)));
    }
}
