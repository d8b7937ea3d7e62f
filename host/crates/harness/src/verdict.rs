//! From an episode's end to one of the four outcomes.
//!
//! | the episode | its outcome |
//! |---|---|
//! | finished or refused, every check passes on the whole | pass |
//! | finished or refused, some check fails | fail |
//! | was ended by its step, token or cost budget | invalid, with its verdicts |
//! | met a fault of environment, verifier, planner or host, or its wall time | void, without a score |

use loopwright_contract::episode::Episode;
use loopwright_contract::fault::{CallFault, GuestFault, chain};
use loopwright_contract::limits::PREFIXES_MAX;
use loopwright_contract::task::Check;
use loopwright_contract::verdict::{JudgedCheck, Outcome};

use crate::result::VoidCause;
use crate::settings::Prefixes;

/// The step counts to judge at, ascending: the end of each turn or of the last one only. At most [`PREFIXES_MAX`], the last ones.
#[must_use]
pub(crate) fn prefixes(which: Prefixes, turn_ends: &[u32]) -> Vec<u32> {
    let last = turn_ends.last().copied().unwrap_or(0);
    match which {
        Prefixes::Final => vec![last],
        Prefixes::All => {
            let mut ends = turn_ends.to_vec();
            ends.push(last);
            ends.dedup();
            let surplus = ends.len().saturating_sub(PREFIXES_MAX);
            ends.split_off(surplus)
        }
    }
}

/// Why there are no verdicts.
#[derive(Debug)]
pub(crate) struct Unjudged {
    pub(crate) reason: String,
    pub(crate) cause: VoidCause,
}

impl Unjudged {
    fn of(fault: &CallFault) -> Self {
        let cause = match fault {
            // Evidence that the agent made too large or too odd. What a verifier says of a check that it does not understand is a broken contract
            // too, and that is the task's fault.
            CallFault::Guest { fault: GuestFault::Trapped { .. } | GuestFault::Budget { .. }, .. } => VoidCause::Course,
            CallFault::Guest { .. } | CallFault::Host(_) => VoidCause::Run,
        };
        Self { reason: chain(fault), cause }
    }
}

/// Judges each check. An error is a fault of a verifier: the episode is void.
pub(crate) fn judge(
    episode: &mut dyn Episode,
    checks: &[Check],
    which: Prefixes,
    turn_ends: &[u32],
) -> Result<Vec<JudgedCheck>, Unjudged> {
    let upto = prefixes(which, turn_ends);
    let mut verdicts = Vec::new();
    for (index, check) in checks.iter().enumerate() {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let judged = episode.judge(index, check, &upto).map_err(|fault| Unjudged::of(&fault))?;
        if !judged.iter().map(|judged| (judged.check, judged.upto)).eq(upto.iter().map(|steps| (index, *steps))) {
            let reason = format!("verifier `{}` did not judge check {index} at {upto:?}", check.verifier);
            return Err(Unjudged { reason, cause: VoidCause::Run });
        }
        verdicts.extend(judged);
    }
    Ok(verdicts)
}

/// The outcome of an episode that its agent ended after `steps` steps.
#[must_use]
pub(crate) fn outcome(verdicts: &[JudgedCheck], checks: usize, steps: u32) -> Outcome {
    if checks == 0 {
        // To pass without a check would be a lie, and to fail as well.
        return Outcome::Void("the task has no checks".to_owned());
    }
    let passed = verdicts.iter().filter(|judged| judged.upto == steps && judged.verdict.passed()).count();
    if passed == checks { Outcome::Pass } else { Outcome::Fail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_ascending_and_bounded_and_hold_the_whole() {
        let many: Vec<u32> = (1..=100).collect();
        for (which, ends, expected) in [
            (Prefixes::Final, &[][..], vec![0]),
            (Prefixes::All, &[], vec![0]),
            (Prefixes::Final, &[2, 3], vec![3]),
            (Prefixes::All, &[2, 2, 3], vec![2, 3]),
            (Prefixes::All, &many, (37..=100).collect()),
        ] {
            assert_eq!(prefixes(which, ends), expected);
        }
    }
}
