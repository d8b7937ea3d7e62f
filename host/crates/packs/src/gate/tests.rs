use std::cell::Cell;
use std::collections::BTreeMap;

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::digest::{ContentDigest, HarnessDigest, PolicyDigest, StateDigest};
use loopwright_contract::environment::{Feedback, Observation, Reply, TurnResult};
use loopwright_contract::json::{JsonLimits, parse};
use loopwright_contract::name::{CallId, EpisodeId, MemoryId, PluginName, ToolName};
use loopwright_contract::planner::{Decision, PolicyVersion, Usage};
use loopwright_contract::task::Task;
use loopwright_contract::tool::{
    AccessRule, ArgumentMatch, Effect, Failure, InstalledTool, Success, ToolCall, ToolSpec,
};
use loopwright_contract::trajectory::{FORMAT, Footer, Header, Kept, Record, Trajectory, TurnRecord};
use loopwright_contract::verdict::{Ending, Outcome};
use serde_json::{Value, json};

use super::{GateRunner, Rule, check_pack, check_task, unreachable_ids, variants};
use crate::phone;

/// A world of lamps with a level each, and one tool for it. The faults are the ones that the gate must find.
#[derive(Default)]
struct Lamps {
    /// The levels that pass; every other lamp must keep 0.
    wanted: BTreeMap<String, i64>,
    /// Idle passes too.
    lenient: bool,
    /// Only the first of the wanted lamps is checked, and others are not looked at.
    careless: bool,
    /// Only these exact calls pass.
    exact: Option<usize>,
    /// Text is compared as bytes.
    bytewise: bool,
    /// Calls are checked in this order.
    ordered: bool,
    /// Differs from run to run.
    unstable: bool,
    /// Goes void.
    broken: bool,
    notices: Vec<Value>,
    runs: Cell<u64>,
}

impl GateRunner for Lamps {
    fn run(&self, task: &Task, decisions: &[Vec<Proposed>]) -> Result<Trajectory, String> {
        if self.broken {
            return Err("no such plugin".to_owned());
        }
        self.runs.set(self.runs.get() + 1);
        let mut levels = BTreeMap::from([("desk".to_owned(), 0), ("door".to_owned(), 0), ("café".to_owned(), 0)]);
        let mut order = Vec::new();
        let mut calls = 0;
        let turns = decisions.iter().enumerate().map(|(number, turn)| {
            let actions: Vec<Action> = turn.iter().map(action).collect();
            let feedback = actions
                .iter()
                .filter_map(|action| if let Action::Call(call) = action { Some(call) } else { None })
                .map(|call| {
                    calls += 1;
                    Feedback {
                        call_id: call.id.clone(),
                        reply: self.serve(call, &mut levels, &mut order),
                        effects: Vec::new(),
                    }
                });
            let result = TurnResult { feedback: feedback.collect(), observation: Observation::default() };
            record(number, actions, result)
        });
        let turns: Vec<TurnRecord> = turns.collect();
        let reached = if self.careless {
            self.wanted.iter().take(1).all(|(lamp, level)| levels.get(lamp) == Some(level))
        } else {
            levels.iter().all(|(lamp, level)| self.wanted.get(lamp).copied().unwrap_or(0) == *level)
        };
        let sorted = !self.ordered || order.windows(2).all(|pair| pair[0] <= pair[1]);
        let pass = (reached && sorted && self.exact.is_none_or(|count| count == calls)) || (self.lenient && calls == 0);
        Ok(trajectory(task, self, turns, if pass { Outcome::Pass } else { Outcome::Fail }))
    }
}

impl Lamps {
    fn serve(&self, call: &ToolCall, levels: &mut BTreeMap<String, i64>, order: &mut Vec<String>) -> Reply {
        use unicode_normalization::UnicodeNormalization as _;
        let action = call.arguments.get("action").and_then(Value::as_str);
        if action == Some("query") || call.tool != *"manage_lamp" {
            return Reply::Done(Success {
                message: String::new(),
                data: json!({"lamps": [{"id": "desk"}, {"id": "café"}]}),
            });
        }
        let lamp = call.arguments.get("lampId").and_then(Value::as_str).unwrap_or_default();
        let lamp: String = if self.bytewise { lamp.to_owned() } else { lamp.nfc().collect() };
        match (levels.get_mut(&lamp), call.arguments.get("level").and_then(Value::as_i64)) {
            (Some(level), Some(new)) => {
                *level = new;
                order.push(lamp);
                Reply::Done(Success { message: String::new(), data: json!({"changed": true}) })
            }
            _ => Reply::Failed(Failure::new(404, "no such lamp")),
        }
    }
}

fn action(proposed: &Proposed) -> Action {
    match proposed {
        Proposed::Action { value } => value.clone(),
        Proposed::Call { id, name, arguments } => Action::Call(ToolCall {
            id: CallId::new(id.clone().expect("the gate names its calls")).expect("an id"),
            tool: ToolName::new(name).expect("a tool"),
            arguments: parse(arguments, &JsonLimits::CONTRACT).expect("a spelling is JSON"),
        }),
        Proposed::Unreadable { reason } => panic!("{reason}"),
    }
}

fn record(number: usize, actions: Vec<Action>, result: TurnResult) -> TurnRecord {
    TurnRecord {
        turn: u32::try_from(number).expect("few turns"),
        at_ns: 0,
        decision: Decision::default(),
        actions,
        coercions: Vec::new(),
        malformed: Vec::new(),
        advice: Vec::new(),
        result: Some(Kept::Full(result)),
        answers: Vec::new(),
        invocations: Vec::new(),
        changes: Kept::Full(Vec::new()),
        state: StateDigest::of(b""),
    }
}

fn trajectory(task: &Task, lamps: &Lamps, turns: Vec<TurnRecord>, outcome: Outcome) -> Trajectory {
    let header = Header {
        format: FORMAT.to_owned(),
        episode: EpisodeId::new("gate").expect("an id"),
        task: task.clone(),
        task_digest: task.digest(),
        policy: PolicyVersion { name: "gate".to_owned(), digest: PolicyDigest::of(b""), sampling: Value::Null },
        harness: HarnessDigest::of(b""),
        settings: Value::Null,
        plugins: Vec::new(),
        skill_files: Vec::new(),
        seed: if lamps.unstable { lamps.runs.get() } else { 0 },
        world_seed: None,
        wit: "0.1.0".to_owned(),
        engine: ContentDigest::of(b"").to_string(),
        record: Record::Full,
        initial: StateDigest::of(b""),
        target: None,
        observation: Observation { exposed: None, notices: lamps.notices.clone() },
        memory: None,
    };
    let footer = Footer { outcome, ending: Ending::Terminated, turns: 0, steps: 0, usage: Usage::default() };
    Trajectory { header, turns, verdicts: Vec::new(), footer: Some(footer) }
}

fn tools() -> Vec<InstalledTool> {
    let tool = |plugin: &str, name: &str, schema: Value| InstalledTool {
        plugin: PluginName::new(plugin).expect("a name"),
        spec: ToolSpec {
            name: ToolName::new(name).expect("a name"),
            domain: "light".to_owned(),
            description: Vec::new(),
            keywords: Vec::new(),
            arguments_schema: schema,
            result_schema: json!({}),
            access: vec![
                AccessRule {
                    when: Some(ArgumentMatch {
                        argument: "action".to_owned(),
                        one_of: vec![json!("query"), Value::Null],
                    }),
                    effect: Effect::Read,
                    requires: Vec::new(),
                },
                AccessRule { when: None, effect: Effect::Write, requires: Vec::new() },
            ],
            ext: Vec::new(),
        },
    };
    let schema = json!({"type": "object", "required": ["action"], "properties": {
        "action": {"enum": ["set", "query"]}, "lampId": {"type": "string"}, "level": {"type": "integer", "maximum": 9}}});
    vec![
        tool("lamps", "manage_lamp", schema.clone()),
        tool("clock", "query_current_time", json!({"type": "object"})),
        tool("other", "manage_other", schema),
    ]
}

fn set(id: &str, lamp: &str, level: i64) -> Action {
    Action::Call(ToolCall {
        id: CallId::new(id).expect("an id"),
        tool: ToolName::new("manage_lamp").expect("a name"),
        arguments: json!({"action": "set", "lampId": lamp, "level": level}),
    })
}

fn task() -> Task {
    let mut task = phone::builtin(1, 1).expect("a pack").tasks()[0].clone();
    task.request = "Set the lamps desk and café to 7.".to_owned();
    task.gold = vec![
        vec![set("a", "café", 7), set("b", "desk", 7)],
        vec![Action::Finish { answer: "done".to_owned(), data: None }],
    ];
    task
}

fn lamps() -> Lamps {
    Lamps { wanted: BTreeMap::from([("desk".to_owned(), 7), ("café".to_owned(), 7)]), ..Lamps::default() }
}

fn rule(task: &Task, lamps: &Lamps) -> Option<Rule> {
    check_task(task, &tools(), lamps).err().map(|refused| refused.rule)
}

#[test]
fn a_good_task_is_admitted_after_all_its_variants_ran() {
    let good = lamps();
    assert_eq!(check_task(&task(), &tools(), &good), Ok(()));
    let rules: Vec<Rule> = variants(&task(), &tools()).into_iter().map(|variant| variant.rule).collect();
    use Rule::{GoldFails, IdlePasses, OrderBreaks, ReadBreaks, SpellingBreaks, WriteNotNeeded, WrongTargetPasses};
    assert_eq!(
        rules,
        [
            GoldFails,
            IdlePasses,
            WriteNotNeeded,
            WriteNotNeeded,
            ReadBreaks,
            OrderBreaks,
            OrderBreaks,
            SpellingBreaks,
            SpellingBreaks,
            WrongTargetPasses,
            WrongTargetPasses
        ]
    );
    assert_eq!(good.runs.get(), 12, "each variant once and the gold twice");
}

#[test]
fn each_fault_is_found_under_its_rule() {
    let careless = Lamps { careless: true, ..lamps() };
    for (faulty, expected) in [
        (Lamps { wanted: BTreeMap::new(), ..Lamps::default() }, Rule::GoldFails),
        (Lamps { broken: true, ..lamps() }, Rule::GoldFails),
        (Lamps { lenient: true, ..lamps() }, Rule::IdlePasses),
        (careless, Rule::WriteNotNeeded),
        (Lamps { exact: Some(2), ..lamps() }, Rule::ReadBreaks),
        (Lamps { ordered: true, ..lamps() }, Rule::OrderBreaks),
        (Lamps { bytewise: true, ..lamps() }, Rule::SpellingBreaks),
        (Lamps { unstable: true, ..lamps() }, Rule::NotDeterministic),
        (Lamps { notices: vec![json!({"kind": "x", "hint": "manage_lamp"})], ..lamps() }, Rule::LeaksGold),
    ] {
        assert_eq!(rule(&task(), &faulty), Some(expected));
    }
}

#[test]
fn a_check_that_any_target_passes_is_found() {
    let mut single = task();
    single.gold = vec![vec![set("a", "desk", 7)], vec![Action::Finish { answer: "done".to_owned(), data: None }]];
    struct AnyCall;
    impl GateRunner for AnyCall {
        fn run(&self, task: &Task, decisions: &[Vec<Proposed>]) -> Result<Trajectory, String> {
            let written = decisions
                .iter()
                .flatten()
                .map(action)
                .any(|action| matches!(&action, Action::Call(call) if call.arguments.get("level").is_some()));
            Ok(trajectory(task, &Lamps::default(), Vec::new(), if written { Outcome::Pass } else { Outcome::Fail }))
        }
    }
    assert_eq!(check_task(&single, &tools(), &AnyCall).map_err(|refused| refused.rule), Err(Rule::WrongTargetPasses));
}

#[test]
fn an_id_must_have_been_told() {
    let mut secret = task();
    secret.request = "Set the lamps to 7.".to_owned();
    assert_eq!(rule(&secret, &lamps()), Some(Rule::UnreachableId));
    let query = Action::Call(ToolCall {
        id: CallId::new("q").expect("an id"),
        tool: ToolName::new("manage_lamp").expect("a name"),
        arguments: json!({"action": "query"}),
    });
    secret.gold.insert(0, vec![query]);
    assert_eq!(rule(&secret, &lamps()), None);
}

#[test]
fn what_is_shown_must_not_label_or_name_the_gold() {
    for (request, notice) in [
        ("Set desk and café with manage_lamp.", json!({"kind": "x"})),
        ("Set the lamps desk and café: {\"action\":\"set\",\"lampId\":\"desk\",\"level\":7}", json!({"kind": "x"})),
        ("Set the lamps desk and café to 7.", json!({"kind": "x", "id": "lamp_gold"})),
        ("Set the lamps desk and café to 7.", json!({"kind": "x", "id": "lamp-7-neighbor"})),
    ] {
        let mut shown = task();
        request.clone_into(&mut shown.request);
        assert_eq!(rule(&shown, &Lamps { notices: vec![notice], ..lamps() }), Some(Rule::LeaksGold), "{request}");
    }
    let mut shown = task();
    shown.request = "Set the lamps desk and café to 7. The golden one, not the marigold.".to_owned();
    assert_eq!(rule(&shown, &lamps()), None);
    let mut family = task();
    family.request = format!("Set the lamps desk and café to 7 ({}).", family.family);
    assert_eq!(rule(&family, &lamps()), Some(Rule::LeaksGold));
}

#[test]
fn a_task_that_no_planner_could_solve_is_malformed() {
    type Change = fn(&mut Task);
    let changes: [(&str, Change); 9] = [
        ("the request is empty", |task| task.request = " ".to_owned()),
        ("no check", |task| task.checks.clear()),
        ("no gold", |task| task.gold.clear()),
        ("the budget allows 1", |task| task.budget.steps = 1),
        ("it is empty", |task| task.gold.insert(0, Vec::new())),
        ("not all calls", |task| task.gold[0].push(Action::Ask { question: "x".to_owned(), pending: None })),
        ("before the last turn", |task| task.gold.insert(0, vec![Action::Refuse { reason: "x".to_owned() }])),
        ("does not finish or refuse", |task| {
            task.gold.pop();
        }),
        ("at most 16", |task| {
            let call = task.gold[0][0].clone();
            task.gold[0] = vec![call; 17];
        }),
    ];
    for (part, change) in changes {
        let mut bad = task();
        change(&mut bad);
        let refused = check_task(&bad, &tools(), &lamps()).expect_err(part);
        assert_eq!(refused.rule, Rule::Malformed);
        assert!(refused.detail.contains(part), "{}", refused.detail);
    }
    let refused = check_task(&task(), &[], &lamps()).expect_err("no tools");
    assert!(refused.detail.contains("`manage_lamp` is not installed"), "{}", refused.detail);
}

#[test]
fn a_pack_is_counted_and_doubles_are_refused_once() {
    let first = task();
    let mut double = task();
    double.id = "other".parse().expect("an id");
    let mut different = task();
    different.id = "different".parse().expect("an id");
    different.request.push('!');
    let report = check_pack(&[first, double, different], &tools(), &lamps());
    assert_eq!((report.tasks, report.admitted), (3, 2));
    assert_eq!(
        report.refused.iter().map(|refused| (refused.id.as_str(), refused.rule)).collect::<Vec<_>>(),
        [("other", Rule::Duplicate)]
    );
    assert_eq!(serde_json::to_value(&report.refused[0]).expect("JSON")["rule"], json!("duplicate"));
}

#[test]
fn a_declared_partial_order_lets_neighbouring_turns_swap() {
    let mut partial = task();
    partial.gold = vec![
        vec![set("a", "café", 7)],
        vec![set("b", "desk", 7)],
        vec![Action::Finish { answer: "done".to_owned(), data: None }],
    ];
    let call = |id: &str, lamp: &str, after: &[&str]| json!({"id": id, "tool": "manage_lamp", "arguments": {"action": "set", "lampId": lamp, "level": 7}, "after": after});
    let swaps =
        |task: &Task| variants(task, &tools()).iter().filter(|variant| variant.label.contains("swapped")).count();
    assert_eq!(swaps(&partial), 0, "nothing is declared");
    partial.checks[0].verifier = PluginName::new("tool-calls").expect("a name");
    partial.checks[0].check = json!({"order": "partial", "calls": [call("x", "café", &[]), call("y", "desk", &[])]});
    assert_eq!(swaps(&partial), 1);
    partial.checks[0].check = json!({"order": "partial", "calls": [call("x", "café", &[]), call("y", "desk", &["x"])]});
    assert_eq!(swaps(&partial), 0, "one must come first");
}

#[test]
fn changes_of_the_memory_are_left_out_and_changed_like_other_writes() {
    let memory = |id: &str| MemoryId::new(id).expect("an id");
    let forget = |id: &str| Action::Forget { memory: memory("memory-0007"), call: CallId::new(id).ok() };
    let finish = Action::Finish { answer: String::new(), data: None };
    let remember = Action::Remember {
        content: "likes tea".to_owned(),
        category: None,
        title: None,
        tags: Vec::new(),
        valid_until: None,
    };
    let replace = Action::Replace { memory: memory("memory-0008"), content: "likes coffee".to_owned() };
    let gold = vec![vec![remember], vec![replace], vec![forget("c1")], vec![finish]];
    let task = Task { gold, ..task() };
    let found: Vec<(Rule, usize, String)> = variants(&task, &tools())
        .into_iter()
        .filter(|variant| matches!(variant.rule, Rule::WriteNotNeeded | Rule::WrongTargetPasses))
        .map(|variant| {
            (variant.rule, variant.decisions.len(), serde_json::to_string(&variant.decisions).expect("JSON"))
        })
        .collect();
    assert_eq!(
        found.iter().map(|(rule, turns, _)| (*rule, *turns)).collect::<Vec<_>>(),
        [
            (Rule::WriteNotNeeded, 3),
            (Rule::WriteNotNeeded, 3),
            (Rule::WriteNotNeeded, 3),
            (Rule::WrongTargetPasses, 4),
            (Rule::WrongTargetPasses, 4),
            (Rule::WrongTargetPasses, 4),
        ]
    );
    assert!(
        !found[0].2.contains("likes tea") && !found[1].2.contains("likes coffee") && !found[2].2.contains("forget")
    );
    assert!(!found[3].2.contains("likes tea") && !found[4].2.contains("likes coffee"));
    assert!(found[5].2.contains("elsewhere") && !found[5].2.contains("memory-0007"));
}

fn nothing() -> TurnResult {
    TurnResult { feedback: Vec::new(), observation: Observation::default() }
}

#[test]
fn an_id_of_the_memory_must_have_been_told() {
    let forget = Action::Forget { memory: MemoryId::new("memory-0007").expect("an id"), call: CallId::new("c1").ok() };
    let turn = record(0, vec![forget], nothing());
    let told = |request: &str, answers: Vec<Value>| {
        let task = Task { request: request.to_owned(), ..task() };
        let search = TurnRecord { answers, ..record(0, Vec::new(), nothing()) };
        unreachable_ids(&task, &trajectory(&task, &lamps(), vec![search, turn.clone()], Outcome::Pass))
    };
    assert_eq!(told("forget it", Vec::new()).len(), 1);
    assert_eq!(told("forget it", vec![json!({"data": {"items": [{"id": "memory-0007"}]}})]), Vec::<String>::new());
}

#[test]
fn rule_names_are_the_ones_that_reports_print() {
    for rule in [
        Rule::Malformed,
        Rule::Duplicate,
        Rule::GoldFails,
        Rule::IdlePasses,
        Rule::WriteNotNeeded,
        Rule::ReadBreaks,
        Rule::OrderBreaks,
        Rule::SpellingBreaks,
        Rule::WrongTargetPasses,
        Rule::NotDeterministic,
        Rule::UnreachableId,
        Rule::LeaksGold,
    ] {
        assert_eq!(serde_json::to_value(rule).expect("JSON"), json!(rule.name()));
        assert_eq!(rule.to_string(), rule.name());
    }
}
