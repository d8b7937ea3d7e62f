//! `bench deadline`: how long after its deadline a call ends, for guests that spin and for guests that spend their time in the longest host
//! functions that there are. None of ours waits, so that those are the nearest to a blocked one.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use loopwright_contract::environment::{Actor, Turn};
use loopwright_contract::episode::{Episode, EpisodeHost as _};
use loopwright_contract::fault::{CallFault, HostFault, chain};
use loopwright_contract::json::canonical;
use loopwright_contract::limits::PluginLimits;
use loopwright_contract::name::{CallId, ToolName};
use loopwright_contract::task::{Check, Task};
use loopwright_contract::tool::ToolCall;
use loopwright_engine::{Candidate, EngineConfig, Engines, GrantPolicy, NoWorlds, PluginHost, Scratch, Trust};
use loopwright_testkit::guests::hostile::{HOSTILE, JUDGE, WORLD, neighbours, tool_plugin, verifier};
use serde::Serialize;
use serde_json::{Value, json};

use super::costs::short;
use super::measure::{nanos, percentile};
use crate::cli::{DeadlineArgs, Shared};
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, render};

/// The deadline of every call here.
const DEADLINE: Duration = Duration::from_millis(30);
/// Documents of the world with many of them.
const MANY: usize = 100_000;
/// Documents of the world with long ones; together they have nearly as many bytes as a world may.
const LONG: usize = 240;
/// Bytes of a long document's text.
const LONG_BYTES: usize = 250_000;
/// Keys that the filling tool writes.
const FILLED: usize = 50_000;

/// How one kind of call ended.
#[derive(Debug, Serialize)]
struct Row {
    case: &'static str,
    tries: usize,
    /// Microseconds from the deadline to the moment in which its caller had the answer.
    p50_late_us: u64,
    p99_late_us: u64,
    worst_late_us: u64,
    aim_ms: u64,
    met: bool,
}

/// Runs it.
///
/// # Errors
/// A guest that is not built, or a call that does not end by its deadline.
pub(super) fn deadline(shared: &Shared, args: &DeadlineArgs) -> anyhow::Result<Exit> {
    let tries = usize::try_from(args.tries)?;
    let wanted = |case: &str| args.filter.as_ref().is_none_or(|part| case.contains(part.as_str()));
    let mut rows = Vec::new();
    for (case, world, text) in tool_cases() {
        if wanted(case) {
            let aim_ms = if case == SPIN { 50 } else { 10 };
            rows.push(row(case, aim_ms, late_tools(&text, world, tries)?));
        }
    }
    for (case, text) in VERIFIER_CASES {
        if wanted(case) {
            rows.push(row(case, 10, late_verdicts(text, tries)?));
        }
    }
    let met = rows.iter().all(|row| row.met);
    if shared.json {
        output::json(&rows);
    } else {
        output::print(table(&rows));
    }
    Ok(if met { Exit::Good } else { Exit::Differs })
}

fn row(case: &'static str, aim_ms: u64, mut late: Vec<u64>) -> Row {
    late.sort_unstable();
    let us = |percent| percentile(&late, percent).unwrap_or_default() / 1000;
    let (tries, p99_late_us) = (late.len(), us(99));
    Row {
        case,
        tries,
        p50_late_us: us(50),
        p99_late_us,
        worst_late_us: us(100),
        aim_ms,
        met: p99_late_us <= aim_ms * 1000,
    }
}

fn table(rows: &[Row]) -> String {
    let time = |us: u64| short(Duration::from_micros(us));
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let aim = format!("<= {} ms{}", row.aim_ms, if row.met { "" } else { " MISSED" });
            let late = [row.p50_late_us, row.p99_late_us, row.worst_late_us].map(time);
            [vec![row.case.to_owned(), row.tries.to_string()], late.to_vec(), vec![aim]].concat()
        })
        .collect();
    let head = [
        ("ends after its deadline", Align::Left),
        ("tries", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("worst", Align::Right),
        ("aim (p99)", Align::Left),
    ];
    render(&head, &cells)
}

/// Which documents a world has.
#[derive(Clone, Copy)]
enum Documents {
    None,
    Many,
    Long,
}

impl Documents {
    fn text(self) -> Option<String> {
        let documents: serde_json::Map<String, Value> = match self {
            Self::None => return None,
            Self::Many => {
                (0..MANY).map(|number| (number.to_string(), json!({"text": format!("text {number}")}))).collect()
            }
            // They differ at their ends only, so that comparing two of them reads both.
            Self::Long => (0..LONG)
                .map(|number| (number.to_string(), json!({"text": format!("{}{number}", "a".repeat(LONG_BYTES))})))
                .collect(),
        };
        Some(canonical(&json!({HOSTILE: documents})))
    }
}

const SPIN: &str = "a guest that spins";

fn tool_cases() -> [(&'static str, Documents, String); 4] {
    let spin = "(loop $again (br $again)) unreachable".to_owned();
    [
        (SPIN, Documents::None, exported("", &spin)),
        ("queries over 100,000 documents", Documents::Many, finding(1, 0)),
        ("queries with 16 clauses over 60 MB", Documents::Long, finding(16, 0)),
        ("queries sorted by 4 fields of 60 MB", Documents::Long, finding(0, 4)),
    ]
}

fn exported(data: &str, body: &str) -> String {
    format!(
        "{data}\n(func (export \"loopwright:afv/tool@0.1.0#call\") (param i32 i32 i32 i32 i32 i32) (result i32)\n{body})"
    )
}

/// A guest that asks the same query again and again: so many clauses that every document passes and so many sort keys, one document a page.
fn finding(clauses: usize, orders: usize) -> String {
    const TEXT_AT: u32 = 32;
    const CONSTANT_AT: u32 = 48;
    const CLAUSES_AT: u32 = 64;
    const ORDERS_AT: u32 = 448;
    // `ne`, which is case 1 of a test, and which has to read all of a field.
    let clause = [TEXT_AT, 5, 1, CONSTANT_AT, 3].map(u32::to_le_bytes).concat();
    let order = [TEXT_AT, 5, 0].map(u32::to_le_bytes).concat();
    let mut data = format!(
        "(data (i32.const 16) \"hostile\") (data (i32.const {TEXT_AT}) \"/text\") (data (i32.const {CONSTANT_AT}) \"\\\"x\\\"\")"
    );
    for (at, bytes) in [(CLAUSES_AT, clause.repeat(clauses)), (ORDERS_AT, order.repeat(orders))] {
        let _ = write!(
            data,
            " (data (i32.const {at}) \"{}\")",
            bytes.iter().map(|byte| format!("\\{byte:02x}")).collect::<String>()
        );
    }
    let body = format!(
        "(local $out i32) (local.set $out (call $alloc (i32.const 64)))
        (loop $again
            (call $find (i32.const 16) (i32.const 7)
                (i32.const {CLAUSES_AT}) (i32.const {clauses}) (i32.const {ORDERS_AT}) (i32.const {orders})
                (i32.const 8) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0) (local.get $out))
            (if (i32.load8_u (local.get $out)) (then unreachable))
            (global.set $heap (i32.add (local.get $out) (i32.const 64)))
            (br $again))
        unreachable"
    );
    exported(&data, &body)
}

/// What a verifier does again and again, on an episode that wrote 50,000 documents.
const VERIFIER_CASES: [(&str, &str); 3] = [
    (
        "changes of 50,000 documents, a page at a time",
        "(func $judge (param i32) (local $out i32) (local $before i32)
            (local.set $out (call $alloc (i32.const 32))) (local.set $before (call $initial)) (call $after (i32.const 1) (local.get $out))
            (loop $again
                (call $changes (local.get $before) (i32.load offset=4 (local.get $out)) (i32.const 1) (i32.const 0) (i32.const 1)
                    (i32.add (local.get $out) (i32.const 8)))
                (br $again)))",
    ),
    (
        "differences of 50,000 documents",
        "(func $judge (param i32) (local $out i32) (local $before i32)
            (local.set $out (call $alloc (i32.const 32))) (local.set $before (call $initial)) (call $after (i32.const 1) (local.get $out))
            (loop $again
                (call $differences (local.get $before) (i32.load offset=4 (local.get $out)) (i32.const 8) (i32.const 0)
                    (i32.add (local.get $out) (i32.const 8)))
                (br $again)))",
    ),
    (
        "digests of a state with 50,000 changes",
        "(func $judge (param i32) (local $out i32)
            (local.set $out (call $alloc (i32.const 32))) (call $after (i32.const 1) (local.get $out))
            (loop $again
                (call $digest (i32.load offset=4 (local.get $out)) (i32.add (local.get $out) (i32.const 8)))
                (br $again)))",
    ),
];

/// Writes documents of five digits each, then answers.
fn filling() -> String {
    let mut digits = String::new();
    for (at, divisor) in [(40, 10_000), (41, 1_000), (42, 100), (43, 10), (44, 1)] {
        let _ = writeln!(
            digits,
            "(i32.store8 (i32.const {at}) (i32.add (i32.const 48) (i32.rem_u (i32.div_u (local.get $n) (i32.const {divisor})) (i32.const 10))))"
        );
    }
    exported(
        "(data (i32.const 16) \"hostile\") (data (i32.const 32) \"0\")",
        &format!(
            "(local $n i32) (local $out i32) (local.set $out (call $alloc (i32.const 64)))
            (loop $fill
                {digits}
                (call $put (i32.const 16) (i32.const 7) (i32.const 40) (i32.const 5) (i32.const 32) (i32.const 1) (local.get $out))
                (if (i32.load8_u (local.get $out)) (then unreachable))
                (br_if $fill (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const {FILLED}))))
            (global.get $done)"
        ),
    )
}

/// Nothing stops a guest here but its deadline.
fn limits(call_deadline: Duration) -> PluginLimits {
    const UNLIMITED: u64 = u64::MAX / 4;
    PluginLimits { call_fuel: UNLIMITED, host_bytes: UNLIMITED, call_deadline, ..PluginLimits::default() }
}

fn host(candidates: &[Candidate], config: EngineConfig) -> anyhow::Result<PluginHost> {
    let engines = Arc::new(Engines::new(&config)?);
    PluginHost::install(engines, config, &GrantPolicy::default(), Arc::new(NoWorlds), candidates)
        .map_err(|error| anyhow::anyhow!(chain(&error)))
}

fn candidate(name: &str, bytes: Vec<u8>) -> anyhow::Result<Candidate> {
    Ok(Candidate { trust: Trust::FirstParty, ..Candidate::new(name.parse()?, bytes) })
}

fn call() -> anyhow::Result<ToolCall> {
    Ok(ToolCall { id: CallId::new("c1")?, tool: ToolName::new(HOSTILE)?, arguments: json!({}) })
}

/// Nanoseconds from the deadline to the answer, which must be that it passed.
fn late<T>(act: impl FnOnce() -> Result<T, CallFault>) -> anyhow::Result<u64> {
    let started = Instant::now();
    match act() {
        Err(CallFault::Host(HostFault::Deadline { .. })) => Ok(nanos(started.elapsed().saturating_sub(DEADLINE))),
        Err(fault) => bail!("expected the end by a deadline, found: {}", chain(&fault)),
        Ok(_) => bail!("expected the end by a deadline; the call came back"),
    }
}

fn late_tools(text: &str, documents: Documents, tries: usize) -> anyhow::Result<Vec<u64>> {
    let config = EngineConfig { limits: limits(DEADLINE), ..EngineConfig::default() };
    let host = host(&[candidate(HOSTILE, tool_plugin(HOSTILE, text)?)?], config)?;
    let base = Scratch::new(&host, &super::rows::start(), documents.text().as_deref())?;
    let call = call()?;
    (0..tries).map(|_| base.fork()).map(|mut world| late(|| world.call(&call))).collect()
}

fn late_verdicts(text: &str, tries: usize) -> anyhow::Result<Vec<u64>> {
    let [_, (world, environment), _] = neighbours()?;
    let candidates = [
        candidate(HOSTILE, tool_plugin(HOSTILE, &filling())?)?,
        candidate(world, environment)?,
        candidate(JUDGE, verifier(JUDGE, text)?)?,
    ];
    // Filling the world may take its time.
    let config = EngineConfig {
        limits: limits(Duration::from_secs(60)),
        limits_for: [(JUDGE.parse()?, limits(DEADLINE))].into(),
        ..EngineConfig::default()
    };
    let host = host(&candidates, config)?;
    let (mut episode, check) = filled(&host)?;
    (0..tries).map(|_| late(|| episode.judge(0, &check, &[1]))).collect()
}

/// An episode of one step, which wrote many documents.
fn filled(host: &PluginHost) -> anyhow::Result<(Box<dyn Episode>, Check)> {
    let task: Task = serde_json::from_value(json!({
        "id": "deadline", "family": "bench", "category": "bench", "split": "test", "lang": "en", "request": "fill the world",
        "environment": WORLD, "start": super::rows::start(), "checks": [{"verifier": JUDGE, "check": {}}],
    }))?;
    let check = task.checks.first().cloned().context("the task has no check")?;
    let mut episode = host.prepare(&task)?.open()?;
    episode.reset()?;
    episode.step(&Turn { actor: Actor::Agent, calls: vec![call()?] })?;
    episode.end_turn();
    let filled = episode.steps().first().is_some_and(|step| step.ok);
    if !filled {
        bail!("the world of the bench was not filled: {:?}", episode.steps());
    }
    Ok((episode, check))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_comes_back_or_fails_otherwise_is_no_measurement() {
        assert!(late(|| Ok(())).is_err());
        assert!(late::<()>(|| Err(HostFault::Internal("x".to_owned()).into())).is_err());
        let passed = late::<()>(|| Err(HostFault::Deadline { limit_ms: 1 }.into()));
        assert_eq!(passed.unwrap(), 0);
    }

    #[test]
    fn every_case_ends_by_its_deadline() {
        for (_, documents, text) in tool_cases() {
            let documents = if matches!(documents, Documents::None) { documents } else { Documents::Many };
            assert_eq!(late_tools(&text, documents, 1).unwrap().len(), 1);
        }
        for (_, text) in VERIFIER_CASES {
            assert_eq!(late_verdicts(text, 1).unwrap().len(), 1);
        }
    }
}
