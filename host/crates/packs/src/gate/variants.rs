//! The variants of a task's gold.

use loopwright_contract::action::{Action, Proposed, reserved};
use loopwright_contract::memory::MemoryWrite;
use loopwright_contract::name::CallId;
use loopwright_contract::task::Task;
use loopwright_contract::tool::{Effect, InstalledTool, ToolCall, ToolSpec};
use serde_json::{Map, Value, json};

use super::{Expect, Rule, Variant, mutate, order, spelling};

/// The tool that is always safe to read.
const CLOCK_TOOL: &str = "query_current_time";

/// What is run for a task, in the order of the rules; the gold itself comes first.
#[must_use]
pub fn variants(task: &Task, tools: &[InstalledTool]) -> Vec<Variant> {
    let gold = &task.gold;
    let mut all = vec![variant(Rule::GoldFails, "the gold", gold, Expect::Pass)];
    let idle = vec![vec![Action::Finish { answer: String::new(), data: None }]];
    all.push(variant(Rule::IdlePasses, "doing nothing", &idle, Expect::NoPass));
    for (turn, position, call) in writes(gold, tools) {
        let label = format!("the gold without {}", shown(call));
        all.push(variant(Rule::WriteNotNeeded, label, &without(gold, turn, position), Expect::NoPass));
    }
    for (turn, action) in memory_writes(gold) {
        let label = format!("the gold without {}", shown_memory(action));
        all.push(variant(Rule::WriteNotNeeded, label, &without(gold, turn, 0), Expect::NoPass));
    }
    let steps = usize::try_from(task.budget.steps).unwrap_or(usize::MAX);
    all.extend(
        with_reads(gold, tools, steps)
            .map(|decisions| variant(Rule::ReadBreaks, "the gold with further reads", &decisions, Expect::Pass)),
    );
    let orders = order::reorderings(task).into_iter().filter(|(_, decisions)| decisions.len() <= steps);
    all.extend(orders.map(|(label, decisions)| variant(Rule::OrderBreaks, label, &decisions, Expect::Pass)));
    let spellings = spelling::spellings(gold);
    all.extend(spellings.into_iter().map(|(label, decisions)| Variant {
        rule: Rule::SpellingBreaks,
        label,
        decisions,
        expect: Expect::Pass,
    }));
    for (turn, position, call) in writes(gold, tools) {
        if superseded(gold, turn, position, call) {
            continue;
        }
        if let Some((what, arguments)) = spec(tools, call).and_then(|spec| mutate::elsewhere(call, spec)) {
            let label = format!("the gold with {what} in {}", shown(call));
            all.push(variant(
                Rule::WrongTargetPasses,
                label,
                &replaced(gold, turn, position, arguments),
                Expect::NoPass,
            ));
        }
    }
    for (turn, action) in memory_writes(gold) {
        if let Some((what, changed)) = mutate::other_memory(action) {
            let mut decisions = gold.clone();
            if let Some(place) = decisions.get_mut(turn).and_then(|actions| actions.first_mut()) {
                *place = changed;
            }
            let label = format!("the gold with {what} in {}", shown_memory(action));
            all.push(variant(Rule::WrongTargetPasses, label, &decisions, Expect::NoPass));
        }
    }
    all
}

/// The changes of the memory, each alone in its turn.
fn memory_writes(gold: &[Vec<Action>]) -> impl Iterator<Item = (usize, &Action)> {
    let first = gold.iter().enumerate().filter_map(|(turn, actions)| Some((turn, actions.first()?)));
    first.filter(|(_, action)| MemoryWrite::of(action).is_some())
}

fn shown_memory(action: &Action) -> String {
    match action {
        Action::Remember { content, .. } => format!("`{}` \"{content}\"", reserved::REMEMBER),
        Action::Replace { memory, .. } => format!("`{}` {memory}", reserved::REPLACE),
        Action::Forget { memory, .. } => format!("`{}` {memory}", reserved::FORGET),
        _ => "an action".to_owned(),
    }
}

fn variant(rule: Rule, label: impl Into<String>, decisions: &[Vec<Action>], expect: Expect) -> Variant {
    let decisions = decisions
        .iter()
        .map(|turn| turn.iter().map(|action| Proposed::Action { value: action.clone() }).collect())
        .collect();
    Variant { rule, label: label.into(), decisions, expect }
}

fn shown(call: &ToolCall) -> String {
    format!("`{}` {}", call.tool, call.arguments)
}

fn spec<'a>(tools: &'a [InstalledTool], call: &ToolCall) -> Option<&'a ToolSpec> {
    tools.iter().find(|tool| tool.spec.name == call.tool).map(|tool| &tool.spec)
}

fn effect(tools: &[InstalledTool], call: &ToolCall) -> Effect {
    spec(tools, call).and_then(|spec| spec.access_rule(&call.arguments)).map_or(Effect::Write, |rule| rule.effect)
}

/// The calls that change something, with turn and position.
fn writes<'a>(
    gold: &'a [Vec<Action>],
    tools: &'a [InstalledTool],
) -> impl Iterator<Item = (usize, usize, &'a ToolCall)> {
    calls(gold).filter(|(_, _, call)| effect(tools, call) != Effect::Read)
}

fn calls(gold: &[Vec<Action>]) -> impl Iterator<Item = (usize, usize, &ToolCall)> {
    gold.iter().enumerate().flat_map(|(turn, actions)| {
        actions.iter().enumerate().filter_map(move |(position, action)| match action {
            Action::Call(call) => Some((turn, position, call)),
            _ => None,
        })
    })
}

/// Whether the same tool is called in a later turn: what a step on the way does exactly may then be free.
fn superseded(gold: &[Vec<Action>], turn: usize, position: usize, call: &ToolCall) -> bool {
    calls(gold)
        .any(|(later, place, other)| later > turn && (later, place) != (turn, position) && other.tool == call.tool)
}

fn without(gold: &[Vec<Action>], turn: usize, position: usize) -> Vec<Vec<Action>> {
    let kept = |number: usize, actions: &[Action]| -> Vec<Action> {
        actions
            .iter()
            .enumerate()
            .filter(|(place, _)| (number, *place) != (turn, position))
            .map(|(_, action)| action.clone())
            .collect()
    };
    gold.iter()
        .enumerate()
        .map(|(number, actions)| kept(number, actions))
        .filter(|actions| !actions.is_empty())
        .collect()
}

fn replaced(gold: &[Vec<Action>], turn: usize, position: usize, arguments: Value) -> Vec<Vec<Action>> {
    let mut gold = gold.to_vec();
    if let Some(Action::Call(call)) = gold.get_mut(turn).and_then(|actions| actions.get_mut(position)) {
        call.arguments = arguments;
    }
    gold
}

/// The gold with a turn of reads before its first and another before its last decision, where the budget has room.
fn with_reads(gold: &[Vec<Action>], tools: &[InstalledTool], steps: usize) -> Option<Vec<Vec<Action>>> {
    let reads = reads(gold, tools);
    if reads.is_empty() || gold.len().saturating_add(2) > steps {
        return None;
    }
    let turn = |prefix: &str| -> Vec<Action> {
        let call = |(number, (tool, arguments)): (usize, &(ToolSpec, Value))| {
            let id = CallId::new(format!("{prefix}{number}")).ok()?;
            Some(Action::Call(ToolCall { id, tool: tool.name.clone(), arguments: arguments.clone() }))
        };
        reads.iter().enumerate().filter_map(call).collect()
    };
    let mut decisions = vec![turn("before-")];
    decisions.extend(gold.iter().cloned());
    decisions.insert(decisions.len().saturating_sub(1), turn("after-"));
    Some(decisions)
}

/// Up to four reads: the clock, one of an app that the gold writes, one of another app, and the gold's own first read once more.
fn reads(gold: &[Vec<Action>], tools: &[InstalledTool]) -> Vec<(ToolSpec, Value)> {
    let written: Vec<&InstalledTool> =
        writes(gold, tools).filter_map(|(_, _, call)| tools.iter().find(|tool| tool.spec.name == call.tool)).collect();
    let queries = || tools.iter().filter_map(|tool| query(&tool.spec).map(|arguments| (tool, arguments)));
    let near = queries().find(|(tool, _)| written.iter().any(|other| other.plugin == tool.plugin));
    let far = queries().find(|(tool, _)| !written.iter().any(|other| other.plugin == tool.plugin));
    let clock = tools.iter().find(|tool| tool.spec.name == *CLOCK_TOOL).map(|tool| (tool, json!({})));
    let own = calls(gold).find(|(_, _, call)| effect(tools, call) == Effect::Read);
    let own = own.and_then(|(_, _, call)| {
        tools.iter().find(|tool| tool.spec.name == call.tool).map(|tool| (tool, call.arguments.clone()))
    });
    // A read that comes before the gold's own may fail, and that is no harm either.
    [clock, near, far, own].into_iter().flatten().map(|(tool, arguments)| (tool.spec.clone(), arguments)).collect()
}

/// The arguments of a query that needs nothing, for a tool that has one.
fn query(spec: &ToolSpec) -> Option<Value> {
    let mut arguments = Map::new();
    arguments.insert("action".to_owned(), json!("query"));
    let arguments = Value::Object(arguments);
    let allowed = spec
        .arguments_schema
        .pointer("/properties/action")
        .is_some_and(|schema| mutate::choices(schema).contains(&json!("query")));
    let required = spec.arguments_schema.get("required").and_then(Value::as_array);
    let enough = required.is_none_or(|names| names.iter().all(|name| name == "action"));
    let rule = spec.access_rule(&arguments)?;
    (allowed && enough && rule.effect == Effect::Read && rule.requires.is_empty()).then_some(arguments)
}
