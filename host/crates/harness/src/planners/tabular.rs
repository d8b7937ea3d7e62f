//! A policy that is a table: probabilities of calls by the request and the code that the last call answered. It knows no tool, no world and no
//! gradient; a table that is learnt is made anew for each step.

use std::collections::BTreeMap;

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::{Context, Event};
use loopwright_contract::digest::PolicyDigest;
use loopwright_contract::json::canonical;
use loopwright_contract::name::{CallId, ToolName};
use loopwright_contract::planner::{
    Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion, SampledToken, Usage,
};
use loopwright_contract::tool::ToolCall;
use serde_json::{Value, json};

use super::idle::finish;
use crate::random::Generator;

/// Calls that one row chooses from.
pub const CHOICES_MAX: usize = 64;

/// What a row stands for. Of several that fit, the one with a request comes before the one with a place, and that before one with neither.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Look {
    /// The whole request; none: any.
    pub request: Option<String>,
    /// The field `at` of the last answer's data; none: any.
    pub at: Option<u64>,
    /// The field `code` of the last answer's data; empty before the first call, `failed` where an answer has none.
    pub last: String,
}

/// Why something is not a table.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TableError {
    /// The probabilities of a row.
    #[error(
        "row `{last}` has the weights {found:?}, expected 1 to {CHOICES_MAX} finite numbers from 0, not all of them 0"
    )]
    Weights {
        /// The row's last code.
        last: String,
        /// What was found.
        found: Vec<f64>,
    },
}

/// A choice with the probability that it or one before it is made.
#[derive(Debug, Clone, PartialEq)]
struct Choice {
    tool: ToolName,
    share: f64,
    upto: f64,
}

/// A tabular policy. Where no row fits, it finishes, which costs no token; each call costs one.
#[derive(Debug, Clone)]
pub struct Tabular {
    name: String,
    rows: BTreeMap<Look, Vec<Choice>>,
    /// Keeps the best choice of each row alone.
    greedy: bool,
}

impl Tabular {
    /// A table without rows, which finishes at once.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), rows: BTreeMap::new(), greedy: false }
    }

    /// The same table with one more row: tools with their weights, which need not add up to 1. It takes the place of a row that stands for the
    /// same.
    ///
    /// # Errors
    /// [`TableError`] for weights that are no distribution.
    pub fn with(mut self, look: Look, weights: &[(ToolName, f64)]) -> Result<Self, TableError> {
        let found: Vec<f64> = weights.iter().map(|(_, weight)| *weight).collect();
        let sum: f64 = found.iter().sum();
        let sound = found.iter().all(|weight| weight.is_finite() && *weight >= 0.0) && sum.is_finite() && sum > 0.0;
        if !sound || found.len() > CHOICES_MAX {
            return Err(TableError::Weights { last: look.last, found });
        }
        let mut upto = 0.0;
        let choice = |(tool, weight): &(ToolName, f64)| {
            upto += weight / sum;
            Choice { tool: tool.clone(), share: weight / sum, upto }
        };
        self.rows.insert(look, weights.iter().filter(|(_, weight)| *weight > 0.0).map(choice).collect());
        Ok(self)
    }

    /// The same table, always taking a row's likeliest choice; the first of equals.
    #[must_use]
    pub fn greedy(mut self) -> Self {
        self.greedy = true;
        self
    }

    fn row(&self, context: &Context) -> Option<&[Choice]> {
        let (at, last) = last_answer(context);
        let fits = |look: &Look| {
            look.last == last
                && look.at.is_none_or(|wanted| Some(wanted) == at)
                && look.request.as_ref().is_none_or(|request| *request == context.request)
        };
        let rank = |look: &Look| (look.request.is_some(), look.at.is_some());
        self.rows
            .iter()
            .filter(|(look, _)| fits(look))
            .max_by_key(|(look, _)| rank(look))
            .map(|(_, row)| row.as_slice())
    }

    fn decide(&self, context: &Context, seed: u64) -> Decision {
        let drawn = self.row(context).and_then(|row| self.draw(row, seed));
        let call = drawn.and_then(|(index, choice)| {
            let id = CallId::new(format!("c{}", context.turn)).ok()?;
            Some((index, choice, ToolCall { id, tool: choice.tool.clone(), arguments: json!({}) }))
        });
        let Some((index, choice, call)) = call else {
            return Decision { proposed: vec![finish()], ..Decision::default() };
        };
        #[expect(clippy::cast_possible_truncation, reason = "records keep single precision")]
        let token = SampledToken { id: u32::try_from(index).unwrap_or(u32::MAX), logprob: choice.share.ln() as f32 };
        Decision {
            proposed: vec![Proposed::Action { value: Action::Call(call) }],
            tokens: vec![if self.greedy { SampledToken { logprob: 0.0, ..token } } else { token }],
            usage: Usage { tokens_out: 1, ..Usage::default() },
            ..Decision::default()
        }
    }

    fn draw<'a>(&self, row: &'a [Choice], seed: u64) -> Option<(usize, &'a Choice)> {
        if self.greedy {
            // The last of equals would be `max_by`'s.
            return row.iter().enumerate().rev().max_by(|left, right| left.1.share.total_cmp(&right.1.share));
        }
        let drawn = unit(seed);
        // Rounding may leave the last bound a little below 1.
        row.iter().enumerate().find(|(_, choice)| drawn < choice.upto).or_else(|| row.iter().enumerate().next_back())
    }

    fn record(&self) -> Value {
        let row = |(look, row): (&Look, &Vec<Choice>)| {
            let choices: Vec<Value> = row.iter().map(|choice| json!([choice.tool.as_str(), choice.share])).collect();
            json!({"request": look.request, "at": look.at, "last": look.last, "choices": choices})
        };
        json!({"greedy": self.greedy, "rows": self.rows.iter().map(row).collect::<Vec<_>>()})
    }
}

/// A number from 0 to 1 out of a decision's seed, 1 left out.
fn unit(seed: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    let (bits, whole) = ((Generator::new(seed).next() >> 11) as f64, (1_u64 << 53) as f64);
    bits / whole
}

/// Where and with what code the last call was answered; `failed` for an answer without a code.
fn last_answer(context: &Context) -> (Option<u64>, &str) {
    let answered = context.history.iter().rev().find_map(|event| match event {
        Event::Answered { envelope, .. } => Some(envelope.get("data")),
        Event::Malformed { .. } => Some(None),
        _ => None,
    });
    match answered {
        None => (None, ""),
        Some(data) => {
            let field = |name: &str| data.and_then(|data| data.get(name));
            (field("at").and_then(Value::as_u64), field("code").and_then(Value::as_str).unwrap_or("failed"))
        }
    }
}

impl Planner for Tabular {
    fn version(&self) -> PolicyVersion {
        PolicyVersion {
            name: self.name.clone(),
            digest: PolicyDigest::of(canonical(&self.record()).as_bytes()),
            sampling: json!({"greedy": self.greedy}),
        }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        requests.iter().map(|request| Ok(self.decide(request.context, request.seed))).collect()
    }
}

#[cfg(test)]
mod tests {
    use loopwright_testkit::task::torch_task;

    use super::*;
    use crate::run::{Output, RunOptions, run_tasks};
    use crate::settings::Settings;
    use crate::testing::{harness, options};

    fn tool(name: &str) -> ToolName {
        ToolName::new(name).expect("a name")
    }

    fn look(request: Option<&str>, at: Option<u64>, last: &str) -> Look {
        Look { request: request.map(str::to_owned), at, last: last.to_owned() }
    }

    fn names(table: &Tabular, context: &Context, seeds: std::ops::Range<u64>) -> Vec<String> {
        let name = |seed| match table.decide(context, seed).proposed.pop() {
            Some(Proposed::Action { value: Action::Call(call) }) => call.tool.to_string(),
            _ => "finish".to_owned(),
        };
        seeds.map(name).collect()
    }

    fn context(request: &str, data: Option<Value>) -> Context {
        let watching = crate::testing::Watching::new(Tabular::new("none"));
        crate::testing::run_one(&harness(Settings::default()), &watching, &torch_task("t"));
        let mut context = watching.into_seen().pop().expect("a decision");
        context.request = request.to_owned();
        context.history = data
            .map(|data| Event::Answered {
                call_id: CallId::new("c").expect("an id"),
                name: "x".to_owned(),
                envelope: json!({"success": true, "data": data}),
                effects: Vec::new(),
            })
            .into_iter()
            .collect();
        context
    }

    #[test]
    fn choices_come_as_often_as_their_weights_say() {
        let table =
            Tabular::new("t").with(look(None, None, ""), &[(tool("a"), 3.0), (tool("b"), 1.0), (tool("c"), 0.0)]);
        let table = table.expect("a table");
        let drawn = names(&table, &context("x", None), 0..4_000);
        let count = |name: &str| drawn.iter().filter(|drawn| *drawn == name).count();
        // Five standard errors of a share of 0.75.
        assert!((2_863..3_137).contains(&count("a")) && count("a") + count("b") == 4_000, "{}", count("a"));
        assert_eq!(names(&table.greedy(), &context("x", None), 0..3), ["a", "a", "a"]);
    }

    #[test]
    fn the_row_that_says_most_is_taken_and_without_one_it_finishes() {
        let one = |name: &str| [(tool(name), 1.0)];
        let table = Tabular::new("t")
            .with(look(None, None, "set"), &one("any"))
            .and_then(|table| table.with(look(None, Some(2), "set"), &one("place")))
            .and_then(|table| table.with(look(Some("r"), None, "set"), &one("request")))
            .expect("a table");
        for (request, data, expected) in [
            ("x", Some(json!({"code": "set", "at": 1})), "any"),
            ("x", Some(json!({"code": "set", "at": 2})), "place"),
            ("r", Some(json!({"code": "set", "at": 2})), "request"),
            ("r", Some(json!({"code": "over", "at": 3})), "finish"),
            ("r", Some(json!(null)), "finish"),
            ("r", None, "finish"),
        ] {
            assert_eq!(names(&table, &context(request, data), 0..1), [expected]);
        }
    }

    #[test]
    fn weights_that_are_no_distribution_are_refused() {
        for weights in
            [vec![], vec![0.0], vec![-1.0, 2.0], vec![f64::NAN], vec![f64::INFINITY], vec![1.0; CHOICES_MAX + 1]]
        {
            let weights: Vec<_> = weights.into_iter().map(|weight| (tool("a"), weight)).collect();
            assert!(Tabular::new("t").with(look(None, None, ""), &weights).is_err(), "{weights:?}");
        }
    }

    #[test]
    fn what_it_sampled_is_recorded_and_a_call_costs_one_token() {
        let table =
            Tabular::new("t").with(look(None, None, ""), &[(tool("set_torch"), 1.0), (tool("manage_note"), 1.0)]);
        let options = RunOptions { output: Output::Memory, ..options() };
        let task = torch_task("t");
        let result = run_tasks(&harness(Settings::default()), &table.expect("a table"), &[task], &options, &|_| {});
        let result = result.into_iter().next().expect("one");
        assert_eq!((result.usage.tokens_out, result.turns), (1, 2));
        // The logarithm of a half, in single precision.
        let half = "\"logprob\":-0.6931471824645996";
        assert!(result.lines.expect("lines").iter().any(|line| line.contains(half)));
    }
}
