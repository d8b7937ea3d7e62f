//! What the agent said: its questions, its refusal and its answer.

use loopwright_sdk::{Action, Actor, Evidence};

use crate::fold::speech;

/// Steps that are read at a time.
const PAGE: u32 = 256;

/// What the agent said up to some step.
#[derive(Debug, Default)]
pub(crate) struct Deeds {
    pub(crate) questions: Vec<String>,
    pub(crate) refusal: Option<String>,
    pub(crate) answer: Option<String>,
}

impl Deeds {
    pub(crate) fn of(evidence: &Evidence, count: u32) -> Self {
        let mut deeds = Self::default();
        let mut start = 0;
        while start < count {
            let page = evidence.steps(start, PAGE.min(count - start));
            if page.is_empty() {
                break;
            }
            for step in page.iter().filter(|step| step.by == Actor::Agent) {
                match &step.action {
                    Action::Ask(question) => deeds.questions.push(speech(question)),
                    Action::Refuse(reason) => deeds.refusal = Some(speech(reason)),
                    Action::Finish(_) => deeds.answer = Some(speech(&step.claim().unwrap_or_default())),
                    Action::Call(_) | Action::Other(..) => {}
                }
            }
            start = start.saturating_add(u32::try_from(page.len()).unwrap_or(u32::MAX));
        }
        deeds
    }
}
