//! Exact tool calls, in order or as a partial order, with legal equivalents. It knows no tool: names and arguments come from the check.
//!
//! A check is `{"calls": [call, ...], "order": "sequence"|"partial", "extra": "none"|"reads"|"any"?, "ignore_arguments": [name, ...]?}`.
//! A call is `{"id"?, "tool", "arguments", "or": [{"tool"?, "arguments"}, ...]?, "after": [id, ...]?}`: it is made when a call that did what
//! was asked has this tool and exactly these arguments, or those of an alternative. In a sequence each call comes after the one before; in a
//! partial order after those named in `after`. `extra` says which further successful calls are tolerated: none, those that changed nothing
//! (`reads`, the default), or any. Calls that failed are never counted: trying and correcting is not a fault.

mod matching;

use loopwright_sdk::{
    Actor, Bookkeeping, Criterion, Evidence, Identity, JudgeError, Step, Verdict, VerifierPlugin, identity,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::matching::{Made, assign};

/// Steps that are read at a time.
const PAGE: u32 = 256;
/// The most calls of a check.
const CALLS_MAX: usize = 32;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    calls: Vec<Wanted>,
    order: Order,
    #[serde(default)]
    extra: Extra,
    #[serde(default)]
    ignore_arguments: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    Sequence,
    Partial,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Extra {
    None,
    #[default]
    Reads,
    Any,
}

/// A call that is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    id: Option<String>,
    tool: String,
    arguments: Map<String, Value>,
    #[serde(default)]
    or: Vec<Alternative>,
    #[serde(default)]
    after: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Alternative {
    tool: Option<String>,
    arguments: Map<String, Value>,
}

struct ToolCalls;

impl VerifierPlugin for ToolCalls {
    const IDENTITY: Identity = identity!("tool-calls");

    type Check = Check;

    fn judge(evidence: &Evidence, check: &Check, upto: &[u32]) -> Result<Vec<Verdict>, JudgeError> {
        let before = check.predecessors()?;
        upto.iter()
            .map(|&count| {
                let made = successful(evidence, count)?;
                Ok(check.verdict(evidence, &made, &before))
            })
            .collect()
    }
}

/// The agent's calls that did what was asked, up to some step.
fn successful(evidence: &Evidence, count: u32) -> Result<Vec<Made>, JudgeError> {
    let mut made = Vec::new();
    let mut start = 0;
    while start < count {
        let page: Vec<Step> = evidence.steps(start, PAGE.min(count - start));
        if page.is_empty() {
            break;
        }
        start = start.saturating_add(u32::try_from(page.len()).unwrap_or(u32::MAX));
        for step in page.iter().filter(|step| step.ok && step.by == Actor::Agent) {
            if let Some(call) = step.call() {
                made.push(Made {
                    step: step.index,
                    turn: step.turn,
                    tool: call.tool.clone(),
                    arguments: call.arguments.parse()?,
                });
            }
        }
    }
    Ok(made)
}

impl Check {
    /// For each wanted call the positions of those that must come before it.
    fn predecessors(&self) -> Result<Vec<Vec<usize>>, JudgeError> {
        if self.calls.is_empty() || self.calls.len() > CALLS_MAX {
            return Err(JudgeError::InvalidCheck(format!(
                "`calls` has {} entries, expected 1 to {CALLS_MAX}",
                self.calls.len()
            )));
        }
        let mut before = Vec::with_capacity(self.calls.len());
        for (position, call) in self.calls.iter().enumerate() {
            let mut named = Vec::new();
            for id in &call.after {
                // Only earlier entries can be named, so that there is no circle.
                let found = self.calls.iter().take(position).position(|other| other.id.as_ref() == Some(id));
                named.push(found.ok_or_else(|| {
                    JudgeError::InvalidCheck(format!(
                        "`calls[{position}].after` names `{id}`, which is no id of an earlier entry"
                    ))
                })?);
            }
            if self.order == Order::Sequence && position > 0 {
                named.push(position - 1);
            }
            before.push(named);
        }
        Ok(before)
    }

    fn verdict(&self, evidence: &Evidence, made: &[Made], before: &[Vec<usize>]) -> Verdict {
        let fits = |wanted: &Wanted, made: &Made| wanted.fits(made, &self.ignore_arguments);
        let found = assign(&self.calls, made, before, &fits);
        let mut criteria: Vec<Criterion> = self
            .calls
            .iter()
            .zip(&found)
            .enumerate()
            .map(|(position, (wanted, found))| Criterion {
                id: wanted.id.clone().unwrap_or_else(|| format!("call-{position}")),
                passed: found.is_some(),
                held_at_reset: false,
                weight: 1.0,
                reason: wanted.reason(*found, made),
            })
            .collect();
        if self.extra != Extra::Any {
            criteria.push(self.no_extra(evidence, made, &found));
        }
        Verdict::of(criteria)
    }

    fn no_extra(&self, evidence: &Evidence, made: &[Made], found: &[Option<usize>]) -> Criterion {
        let extra: Vec<&Made> = made
            .iter()
            .enumerate()
            .filter(|(position, made)| {
                !found.contains(&Some(*position)) && (self.extra == Extra::None || changed(evidence, made.step))
            })
            .map(|(_, made)| made)
            .collect();
        let reason = if extra.is_empty() {
            "no further calls".to_owned()
        } else {
            let names: Vec<&str> = extra.iter().take(8).map(|made| made.tool.as_str()).collect();
            format!("expected no further calls, found {}", names.join(", "))
        };
        Criterion { id: "no-extra".to_owned(), passed: extra.is_empty(), held_at_reset: true, weight: 1.0, reason }
    }
}

/// Whether a step changed any document, bookkeeping aside.
fn changed(evidence: &Evidence, step: u32) -> bool {
    match (evidence.after(step), evidence.after(step.saturating_add(1))) {
        (Some(before), Some(after)) => {
            before.digest() != after.digest() && !evidence.changes(&before, &after, Bookkeeping::Ignored).is_empty()
        }
        _ => true,
    }
}

impl Wanted {
    fn fits(&self, made: &Made, ignored: &[String]) -> bool {
        let alternatives = self.or.iter().map(|other| (other.tool.as_ref().unwrap_or(&self.tool), &other.arguments));
        std::iter::once((&self.tool, &self.arguments)).chain(alternatives).any(|(tool, arguments)| {
            *tool == made.tool && matching::same_arguments(arguments, &made.arguments, ignored)
        })
    }

    fn reason(&self, found: Option<usize>, made: &[Made]) -> String {
        match found.and_then(|position| made.get(position)) {
            Some(made) => format!("made in step {}", made.step),
            None if made.iter().any(|made| made.tool == self.tool) => {
                format!("`{}` was called, but not with the expected arguments at the expected place", self.tool)
            }
            None => format!("`{}` was not called with success", self.tool),
        }
    }
}

loopwright_sdk::export_verifier!(ToolCalls);

#[cfg(test)]
mod tests;
