//! Planted errors among legal detours: a small phone whose agent follows the gold, errs and mends as it is told, and the truth beside it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::*;
use crate::nn::random::Stream;
use crate::sft::tests::{Turn, change, trajectory};

type Documents = BTreeMap<&'static str, Value>;

/// Documents of the phone and what calls do to them.
struct Phone {
    documents: Documents,
    goal: Documents,
    turns: Vec<Turn>,
    gold: Vec<(String, Value)>,
    /// Which turns were planted as errors.
    truth: BTreeMap<u32, Cause>,
}

const SWITCHES: [&str; 4] = ["wifi", "torch", "bluetooth", "airplane"];
const VALUES: [&str; 3] = ["alarm", "timer", "note"];
/// What no criterion asks about.
const UNASKED: &str = "theme";

impl Phone {
    fn new() -> Self {
        let switch = |name: &&'static str| (*name, json!({"on": false, "changed": 0}));
        let value = |name: &&'static str| (*name, json!({"value": 0, "changed": 0}));
        let mut documents: Documents = SWITCHES.iter().map(switch).chain(VALUES.iter().map(value)).collect();
        documents.insert("volume", json!({"value": 3, "changed": 0}));
        let goal = documents.clone();
        documents.insert(UNASKED, json!({"value": 0, "changed": 0}));
        Self { documents, goal, turns: Vec::new(), gold: Vec::new(), truth: BTreeMap::new() }
    }

    /// Calls a tool: `set` writes a document, `raise` adds to a number, `get` reads, `broken` is refused.
    fn call(&mut self, tool: &str, name: &'static str, value: Value, planted: Option<Cause>) {
        let before = self.documents[name].clone();
        let mut reply = Ok(json!({"done": true}));
        let field = if SWITCHES.contains(&name) { "on" } else { "value" };
        match tool {
            "get" => reply = Ok(before.clone()),
            "broken" => reply = Err(422),
            "busy" => reply = Err(503),
            "raise" => {
                let sum = before["value"].as_i64().unwrap() + value.as_i64().unwrap();
                self.write(name, field, json!(sum));
            }
            _ => self.write(name, field, value.clone()),
        }
        let (arguments, at) = (json!({"name": name, "value": value}), self.turns.len() as u32);
        let changes = change("phone", name, &before, &self.documents[name]);
        self.turns.push(Turn { tool: tool.into(), arguments, reply, changes, criteria: Vec::new() });
        self.truth.extend(planted.map(|cause| (at, cause)));
        let first = Self::new().documents;
        let holds = |documents: &Documents, name: &&str| {
            let field = if SWITCHES.contains(name) { "on" } else { "value" };
            documents[name][field] == self.goal[name][field]
        };
        let criterion = |name: &&str| ((*name).to_owned(), holds(&self.documents, name), holds(&first, name));
        let names: Vec<&str> = self.goal.keys().copied().collect();
        let criteria = names.iter().map(criterion).collect();
        self.turns.last_mut().unwrap().criteria = criteria;
    }

    fn write(&mut self, name: &'static str, field: &str, value: Value) {
        let document = self.documents.get_mut(name).unwrap();
        if document[field] != value {
            document["changed"] = json!(self.turns.len() + 1);
        }
        document[field] = value;
    }

    /// A step of the gold, which the goals then ask for.
    fn intend(&mut self, tool: &str, name: &'static str, value: Value) {
        self.gold.push((tool.into(), json!({"name": name, "value": value})));
    }
}

fn below(stream: &mut Stream, count: usize) -> usize {
    ((stream.uniform() * count as f64) as usize).min(count - 1)
}

fn pick<'a, T>(stream: &mut Stream, from: &'a [T]) -> &'a T {
    &from[below(stream, from.len())]
}

/// What the gold does to each document: (tool, document, value).
type Plan = Vec<(&'static str, &'static str, Value)>;

/// A task's plan: some documents are set, the volume is raised step by step, and sometimes a switch is on only for a while.
fn plan(stream: &mut Stream) -> Plan {
    let mut plan: Plan = Vec::new();
    let toggled = (stream.uniform() < 0.4).then(|| *pick(stream, &SWITCHES));
    plan.extend(toggled.map(|name| ("set", name, json!(true))));
    for name in VALUES {
        if stream.uniform() < 0.7 {
            plan.push(("set", name, json!(1 + below(stream, 5))));
        }
    }
    for name in SWITCHES.into_iter().filter(|name| Some(*name) != toggled) {
        if stream.uniform() < 0.4 {
            plan.push(("set", name, json!(true)));
        }
    }
    // Once more the same call, and legal.
    let times = if stream.uniform() < 0.4 { 1 + below(stream, 3) } else { 0 };
    plan.extend((0..times).map(|_| ("raise", "volume", json!(1))));
    plan.extend(toggled.map(|name| ("set", name, json!(false))));
    if stream.uniform() < 0.3 {
        plan.insert(below(stream, plan.len() + 1), ("broken", "alarm", json!(0.5)));
    }
    if plan.is_empty() {
        plan.push(("set", "alarm", json!(7)));
    }
    plan
}

/// An episode that follows a plan, with errors that are planted and detours that are legal.
fn episode(seed: u64, with_gold: bool) -> (VerifiedTrajectory, BTreeMap<u32, Cause>) {
    let mut stream = Stream::numbered(seed, 5);
    let mut phone = Phone::new();
    let plan = plan(&mut stream);
    for (tool, name, value) in &plan {
        let field = if SWITCHES.contains(name) { "on" } else { "value" };
        phone.intend(tool, name, value.clone());
        if *tool == "broken" {
            continue;
        }
        let held = phone.goal[name]["value"].as_i64().unwrap_or(0);
        let after = if *tool == "raise" { json!(held + value.as_i64().unwrap()) } else { value.clone() };
        phone.goal.get_mut(name).unwrap()[field] = after;
    }
    let touched: BTreeSet<&str> = plan.iter().map(|(_, name, _)| *name).collect();
    let untouched: Vec<&'static str> = SWITCHES.into_iter().filter(|name| !touched.contains(name)).collect();
    for (tool, name, value) in plan {
        legal(&mut phone, &mut stream, name);
        let planted = stream.uniform() < 0.45 && tool != "broken";
        let left = if planted { plant(&mut phone, &mut stream, &untouched, name, &value) } else { None };
        // What the plan itself lets be refused is an error to those alone who do not know the plan.
        let refused = tool == "broken" && !with_gold;
        phone.call(tool, name, value.clone(), refused.then_some(Cause::ErrorResult));
        if with_gold && stream.uniform() < 0.15 {
            let other = phone.documents[UNASKED]["value"].as_i64().unwrap() + 1;
            phone.call("set", UNASKED, json!(other), Some(Cause::SideEffect));
        }
        left.into_iter().for_each(|wrong| phone.call("set", wrong, json!(false), None));
        if tool == "set" && VALUES.contains(&name) && stream.uniform() < 0.15 {
            // What was right is broken, and mended.
            phone.call("set", name, json!(99), Some(Cause::CriterionLost));
            phone.call("set", name, value, None);
        }
    }
    let turns = std::mem::take(&mut phone.turns);
    let gold = if with_gold { std::mem::take(&mut phone.gold) } else { Vec::new() };
    (trajectory("do it", &gold, &turns, true, true), phone.truth)
}

/// Detours that are no errors.
fn legal(phone: &mut Phone, stream: &mut Stream, name: &'static str) {
    match below(stream, 6) {
        0 => phone.call("get", name, json!(null), None),
        // Something that is down for a moment, which is not the agent's doing.
        1 => phone.call("busy", name, json!(stream.uniform()), None),
        _ => {}
    }
}

/// One error with what mends it, where it needs mending.
///
/// A wrong switch may be left for later: it is then returned.
fn plant(
    phone: &mut Phone,
    stream: &mut Stream,
    untouched: &[&'static str],
    name: &'static str,
    value: &Value,
) -> Option<&'static str> {
    match below(stream, 5) {
        0 => phone.call("broken", name, json!(stream.uniform()), Some(Cause::ErrorResult)),
        1 => {
            // Read twice or three times; the first time may be a repeat of a detour too, and then it counts as one.
            let known = phone.turns.last().is_some_and(|last| last.tool == "get" && last.arguments["name"] == name);
            phone.call("get", name, json!(null), known.then_some(Cause::Repeat));
            (0..1 + below(stream, 2)).for_each(|_| phone.call("get", name, json!(null), Some(Cause::Repeat)));
        }
        2 if !untouched.is_empty() => {
            // The wrong switch, noticed at once or only later, after something else was read.
            let wrong = *pick(stream, untouched);
            phone.call("set", wrong, json!(true), Some(Cause::Undone));
            match below(stream, 4) {
                0 | 1 => phone.call("get", wrong, json!(null), None),
                // Noticed only after the plan went on.
                2 => return Some(wrong),
                _ => {}
            }
            phone.call("set", wrong, json!(false), None);
        }
        3 if VALUES.contains(&name) => {
            // The wrong value first; the plan's own call then mends it.
            let wrong = json!(value.as_i64().unwrap() + 10);
            phone.call("set", name, wrong, Some(Cause::Corrected));
        }
        4 => {
            // The same refusal twice.
            let argument = json!(stream.uniform());
            phone.call("broken", name, argument.clone(), Some(Cause::ErrorResult));
            phone.call("broken", name, argument, Some(Cause::ErrorResult));
        }
        _ => {}
    }
    None
}

#[derive(Default)]
struct Counts {
    right: u32,
    wrong: u32,
    missed: u32,
    turns: u32,
}

impl Counts {
    fn precision(&self) -> f64 {
        f64::from(self.right) / f64::from(self.right + self.wrong)
    }

    fn recall(&self) -> f64 {
        f64::from(self.right) / f64::from(self.right + self.missed)
    }
}

fn rules() -> Rules {
    let bookkeeping = BTreeMap::from([(CollectionName::new("phone").unwrap(), vec!["/changed".to_owned()])]);
    Rules { bookkeeping, ..Rules::default() }
}

fn measure(with_gold: bool) -> Counts {
    let mut counts = Counts::default();
    let mut by_cause: BTreeMap<Cause, (u32, u32)> = BTreeMap::new();
    for seed in 0..400 {
        let (trajectory, truth) = episode(seed, with_gold);
        let steps = StepTurns::by_actions(trajectory.trajectory()).unwrap();
        let findings = find(&trajectory, &steps, &rules()).unwrap();
        let found = findings.turns();
        counts.turns += trajectory.trajectory().turns.len() as u32;
        counts.right += found.iter().filter(|turn| truth.contains_key(turn)).count() as u32;
        counts.wrong += found.iter().filter(|turn| !truth.contains_key(turn)).count() as u32;
        counts.missed += truth.keys().filter(|turn| !found.contains(turn)).count() as u32;
        for (turn, cause) in &truth {
            let (hit, all) = by_cause.entry(*cause).or_default();
            (*hit, *all) = (*hit + u32::from(found.contains(turn)), *all + 1);
        }
    }
    println!(
        "gold {with_gold}: precision {:.4}, recall {:.4} on {} planted errors in {} turns; found by cause {by_cause:?}",
        counts.precision(),
        counts.recall(),
        counts.right + counts.missed,
        counts.turns
    );
    // Without gold nobody knows what was asked for.
    assert_eq!(by_cause.len() + usize::from(!with_gold), Cause::ALL.len(), "every kind was planted");
    counts
}

#[test]
fn planted_errors_are_found_with_precision_and_recall() {
    for with_gold in [true, false] {
        let counts = measure(with_gold);
        assert!(counts.right > 300, "{} planted errors say little", counts.right);
        assert!(counts.precision() >= 0.95, "{}", counts.precision());
        assert!(counts.recall() >= 0.90, "{}", counts.recall());
    }
}

type Call<'a> = (&'a str, &'static str, Value);

/// A trajectory of given calls without gold, judged at each turn or only at the end.
fn found(each: bool, calls: &[Call<'_>], goal: &[(&'static str, Value)]) -> Vec<(u32, Cause)> {
    found_beside(&[], each, calls, goal)
}

/// The same beside gold.
fn found_beside(
    gold: &[Call<'_>],
    each: bool,
    calls: &[Call<'_>],
    goal: &[(&'static str, Value)],
) -> Vec<(u32, Cause)> {
    let mut phone = Phone::new();
    for (name, value) in goal {
        let field = if SWITCHES.contains(name) { "on" } else { "value" };
        phone.goal.get_mut(name).unwrap()[field] = value.clone();
    }
    calls.iter().for_each(|(tool, name, value)| phone.call(tool, name, value.clone(), None));
    gold.iter().for_each(|(tool, name, value)| phone.intend(tool, name, value.clone()));
    let trajectory = trajectory("do it", &phone.gold, &phone.turns, true, each);
    let steps = StepTurns::by_actions(trajectory.trajectory()).unwrap();
    let findings = find(&trajectory, &steps, &rules()).unwrap();
    findings.findings.iter().map(|finding| (finding.turn, finding.cause)).collect()
}

#[test]
fn the_turn_that_mends_is_supervised_and_the_one_that_broke_is_not() {
    let calls = [("set", "alarm", json!(7)), ("set", "alarm", json!(9)), ("set", "alarm", json!(7))];
    assert_eq!(found(true, &calls, &[("alarm", json!(7))]), [(1, Cause::Undone), (1, Cause::CriterionLost)]);
    // With one verdict at the end nobody knows when the criterion came to hold, and no write is blamed.
    assert_eq!(found(false, &calls, &[("alarm", json!(7))]), []);
}

#[test]
fn a_switch_that_served_a_purpose_is_legal_and_one_that_did_not_is_undone() {
    let on = |value: bool| ("set", "wifi", json!(value));
    let used = [on(true), ("set", "note", json!(3)), on(false)];
    assert_eq!(found(true, &used, &[("note", json!(3))]), []);
    let idle = [("set", "note", json!(3)), on(true), on(false)];
    assert_eq!(found(true, &idle, &[("note", json!(3))]), [(1, Cause::Undone), (1, Cause::CriterionLost)]);
}

#[test]
fn a_refusal_is_legal_where_the_gold_makes_the_call_and_nowhere_else() {
    let (note, refused) = (("set", "note", json!(3)), ("broken", "alarm", json!(1)));
    let gold = [note.clone(), refused.clone()];
    let blamed = |calls: &[Call<'_>]| found_beside(&gold, true, calls, &[("note", json!(3))]);
    assert_eq!(blamed(&gold), []);
    let early = [refused.clone(), note.clone(), refused.clone()];
    assert_eq!(blamed(&early), [(0, Cause::ErrorResult)], "before its place");
    let twice = [note.clone(), refused.clone(), refused.clone()];
    assert_eq!(blamed(&twice), [(2, Cause::ErrorResult), (2, Cause::Repeat)], "more often than the gold");
    let other = [note, ("broken", "alarm", json!(2)), refused];
    assert_eq!(blamed(&other), [(1, Cause::ErrorResult)], "with another value");
}

#[test]
fn a_write_that_serves_nothing_is_a_side_effect_where_gold_says_what_was_asked() {
    let note = ("set", "note", json!(3));
    let goal = [("note", json!(3))];
    let stray = [("set", UNASKED, json!(5)), note.clone()];
    let blamed = |each, calls: &[Call<'_>]| found_beside(std::slice::from_ref(&note), each, calls, &goal);
    assert_eq!(blamed(true, &stray), [(0, Cause::SideEffect)]);
    // Nobody knows what was asked for, or which write served it.
    assert_eq!(found(true, &stray, &goal), []);
    assert_eq!(blamed(false, &stray), []);
    let other_way = [("raise", "note", json!(3))];
    assert_eq!(blamed(true, &other_way), [], "what the gold does by another call");
    let mended = [("set", UNASKED, json!(5)), ("set", UNASKED, json!(0)), note.clone()];
    assert_eq!(blamed(true, &mended), [(0, Cause::Undone), (0, Cause::SideEffect)], "mending is none");
}

#[test]
fn a_write_that_is_made_again_upon_evidence_is_legal() {
    use crate::ablation::tests::{World, envelope, recorded, request};
    use crate::ablation::{Mark, Tool};
    // Fails in silence at first, so that nothing changes and the answers are alike.
    let seed = (0..).find(|seed| {
        let mut world = World::new(Mark::Fragile, *seed);
        world.run(Tool::Read);
        world.run(Tool::Set);
        let failed = !world.really[0];
        world.run(Tool::Set);
        failed && world.really[0]
    });
    let find_in = |tools: &[Tool]| {
        let mut world = World::new(Mark::Fragile, seed.unwrap());
        let (mut course, mut documents) = (Vec::new(), vec![world.document()]);
        for tool in tools {
            course.push((*tool, envelope(world.run(*tool))));
            documents.push(world.document());
        }
        let trajectory = recorded(&request(Mark::Fragile), &course, &documents);
        let writers = Some([loopwright_contract::name::ToolName::new("set_setting").unwrap()].into());
        let steps = StepTurns::by_actions(trajectory.trajectory()).unwrap();
        let findings = find(&trajectory, &steps, &Rules { writers, ..Rules::default() }).unwrap();
        findings.findings.iter().map(|finding| (finding.turn, finding.cause)).collect::<Vec<_>>()
    };
    use Tool::{Next, Read, Set, Think, Verify};
    assert_eq!(find_in(&[Read, Set, Verify, Set, Verify, Next]), []);
    assert_eq!(find_in(&[Think, Think, Read, Read, Set, Verify, Verify]), [1, 3, 6].map(|turn| (turn, Cause::Repeat)));
}

#[test]
fn causes_that_do_not_count_are_left_out() {
    let (trajectory, _) = (0..).map(|seed| episode(seed, true)).find(|(_, truth)| !truth.is_empty()).unwrap();
    let steps = StepTurns::by_actions(trajectory.trajectory()).unwrap();
    assert!(!find(&trajectory, &steps, &rules()).unwrap().findings.is_empty());
    let none = Rules { causes: BTreeSet::new(), ..rules() };
    assert!(find(&trajectory, &steps, &none).unwrap().findings.is_empty());
}

#[test]
fn what_cannot_be_looked_at_is_refused() {
    let (trajectory, _) = episode(1, true);
    let error = find(&trajectory, &StepTurns(vec![0]), &rules()).unwrap_err();
    assert!(matches!(error, FindError::Steps { .. }), "{error}");
    let mut whole = trajectory.trajectory().clone();
    whole.turns[0].changes =
        loopwright_contract::trajectory::Kept::Digest(loopwright_contract::digest::LineDigest::of(b""));
    let digest = VerifiedTrajectory::new(whole).unwrap();
    let steps = StepTurns::by_actions(digest.trajectory()).unwrap();
    assert_eq!(find(&digest, &steps, &rules()), Err(FindError::NotKept { turn: 0 }));
}
