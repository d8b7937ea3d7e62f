//! How a memory's answers look: tables for people, JSON for programs.

use loopwright_contract::memory::Layer;
use loopwright_contract::plain::Plain;
use loopwright_memory::memory::{Checked, Forgotten, Memory, Shared, Sought, Trace, Understood};
use loopwright_memory::reconcile::Decision;
use loopwright_memory::retrieve::{Item, Ledger, Reason};
use loopwright_memory::store::{Kept, Repair, Stats};
use loopwright_memory::unit::{ClaimKey, Unit};
use serde_json::{Value, json};

use crate::output;
use crate::table::{self, Align};

/// Cells of a quote in a table.
const QUOTE_CELLS: usize = 76;

pub(super) fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Profile => "profile",
        Layer::Episodic => "episodic",
        Layer::LongTerm => "long-term",
        Layer::Prospective => "prospective",
    }
}

fn claim(key: &ClaimKey) -> String {
    let qualifier = key.qualifier.as_ref().map_or_else(String::new, |qualifier| format!("/{qualifier}"));
    format!("{}/{}{qualifier}", key.subject, key.predicate)
}

/// What a unit claims, in one line.
fn claimed(unit: &Unit) -> String {
    unit.claim.as_ref().map_or_else(String::new, |found| {
        let not = if found.negated { "not " } else { "" };
        format!("{} = {not}{}", claim(&found.key), found.value)
    })
}

fn decision(decision: &Decision) -> String {
    let count = |ids: &[_]| ids.len().to_string();
    match decision {
        Decision::Same { .. } => "known already; it has one more evidence".to_owned(),
        Decision::Add => "new".to_owned(),
        Decision::Supersede { units } => format!("takes the place of {}", count(units)),
        Decision::Older { .. } => "was over already; kept in the history".to_owned(),
        Decision::Coexist => "beside what is known".to_owned(),
        Decision::Contest { with } => format!("contradicts {}; both are kept", count(with)),
        Decision::Retract { units } => format!("ends {}", count(units)),
    }
}

pub(super) fn understood(as_json: bool, memory: &Memory, all: &[Understood]) {
    let snapshot = memory.snapshot();
    let unit = |id| {
        use loopwright_memory::corpus::Corpus as _;
        snapshot.ordinal(id).and_then(|ordinal| snapshot.unit(ordinal))
    };
    for one in all {
        let id = one.message.at().map(|at| at.id.to_string());
        let kept = match one.message {
            Kept::New(_) => "kept",
            Kept::Known(_) => "known already",
            Kept::Tombstoned { .. } => "forgotten before, and stays so",
        };
        if as_json {
            let derived: Vec<Value> = one
                .derived
                .iter()
                .map(|(id, how)| json!({"id": id, "decision": decision(how), "unit": unit(id)}))
                .collect();
            let rejected: Vec<Value> =
                one.rejected.iter().map(|(text, reason)| json!({"text": text, "reason": reason})).collect();
            output::json(
                &json!({"id": id, "kept": kept, "derived": derived, "completed": one.completed, "rejected": rejected}),
            );
            continue;
        }
        output::line(format_args!("{}  {kept}", id.unwrap_or_else(|| "-".repeat(21))));
        for (id, how) in &one.derived {
            let Some(unit) = unit(id) else { continue };
            let said = if unit.claim.is_some() { claimed(unit) } else { table::cut(&unit.text, QUOTE_CELLS) };
            output::line(format_args!("{id}  {}: {}  ({})", layer(unit.layer), Plain(&said), decision(how)));
            // What the rules note beside who said it and which rule found it, such as a date that no calendar has.
            if let Some(note) = unit.confidence.reason.splitn(3, "; ").nth(2) {
                output::line(format_args!("{id}  note: {}", Plain(note)));
            }
        }
        for id in &one.completed {
            output::line(format_args!("{id}  done"));
        }
        for (text, reason) in &one.rejected {
            let first = reason.lines().next().unwrap_or_default();
            output::line(format_args!("not believed: {}: {}", Plain(&table::cut(text, QUOTE_CELLS)), Plain(first)));
        }
    }
}

fn item_json(item: &Item) -> Value {
    json!({
        "id": item.id, "layer": layer(item.layer), "category": item.category, "quote": item.quote, "cut": item.is_cut,
        "mentioned": item.mentioned.to_string(), "event": item.event, "speaker": item.speaker, "role": item.role,
        "status": item.status.as_str(), "conflicts": item.conflicts, "superseded_by": item.superseded_by,
        "reason": reason(item.reason), "evidence": item.evidence, "reads_as_instruction": item.reads_as_instruction,
        "scores": {"total": item.scores.total, "lexical": item.scores.lexical, "dense": item.scores.dense, "in_window": item.scores.in_window},
    })
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Found => "found",
        Reason::Reviewed => "reviewed",
        Reason::OtherSide => "other side",
        Reason::Standing => "standing",
        Reason::Whole => "whole",
    }
}

pub(super) fn ledger(as_json: bool, ledger: &Ledger) {
    if as_json {
        let items: Vec<Value> = ledger.items.iter().map(item_json).collect();
        let standing: Vec<Value> = ledger.standing.iter().map(item_json).collect();
        output::json(&json!({
            "nothing_above_threshold": ledger.nothing_above_threshold, "whole": ledger.whole, "reviewed": ledger.reviewed,
            "over_budget": ledger.over_budget,
            "tokens": ledger.tokens, "coverage": ledger.coverage, "cosine": ledger.cosine, "sequence": ledger.sequence,
            "items": items, "standing": standing,
        }));
        return;
    }
    if ledger.nothing_above_threshold {
        output::line("nothing above the threshold; the nearest there is:");
    }
    if ledger.over_budget {
        output::note("what is always served takes more than the tokens: nothing else is listed");
    }
    let all: Vec<&Item> = ledger.standing.iter().chain(&ledger.items).collect();
    items(&all);
    let whole = if ledger.whole { "; this is all of it" } else { "" };
    output::note(format_args!("{} items, about {} tokens{whole}", all.len(), ledger.tokens));
}

fn items(all: &[&Item]) {
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|item| {
            let flag = if item.reads_as_instruction { " (reads like an instruction)" } else { "" };
            let score = match item.reason {
                Reason::Found | Reason::Reviewed => format!("{:.2}", item.scores.total),
                Reason::Standing => "always".to_owned(),
                Reason::OtherSide | Reason::Whole => String::new(),
            };
            vec![
                item.id.to_string(),
                layer(item.layer).to_owned(),
                item.mentioned.civil().date().to_string(),
                item.status.as_str().to_owned(),
                score,
                format!("{}{flag}", table::cut(&item.quote, QUOTE_CELLS)),
            ]
        })
        .collect();
    let head = [
        ("id", Align::Left),
        ("layer", Align::Left),
        ("said", Align::Left),
        ("status", Align::Left),
        ("score", Align::Right),
        ("quote", Align::Left),
    ];
    output::print(table::render(&head, &rows));
}

pub(super) fn served(as_json: bool, found: &Ledger, fired: &[Unit]) {
    if as_json {
        let standing: Vec<Value> = found.standing.iter().map(item_json).collect();
        output::json(&json!({"standing": standing, "fired": fired}));
        return;
    }
    for unit in fired {
        output::line(format_args!("reminder: {}", Plain(&unit.text)));
    }
    items(&found.standing.iter().collect::<Vec<_>>());
}

pub(super) fn units(as_json: bool, units: &[Unit]) {
    if as_json {
        output::json(&units);
        return;
    }
    let rows: Vec<Vec<String>> = units
        .iter()
        .map(|unit| {
            let since = unit.event.as_ref().map_or(&unit.mentioned, |event| &event.start);
            vec![
                unit.id.to_string(),
                since.civil().date().to_string(),
                unit.status.as_str().to_owned(),
                claimed(unit),
                table::cut(&unit.text, QUOTE_CELLS),
            ]
        })
        .collect();
    let head = [
        ("id", Align::Left),
        ("since", Align::Left),
        ("status", Align::Left),
        ("claim", Align::Left),
        ("quote", Align::Left),
    ];
    output::print(table::render(&head, &rows));
}

pub(super) fn sought(as_json: bool, sought: &Sought) {
    let unit = &sought.unit;
    if as_json {
        let past: Vec<Value> = sought
            .past
            .iter()
            .map(|past| json!({"sequence": past.sequence, "at": past.at, "event": past.event.name()}))
            .collect();
        output::json(&json!({"unit": unit, "quotes": sought.quotes, "past": past}));
        return;
    }
    let field = |name: &str, value: &str| output::line(format_args!("{name:<11} {}", Plain(value)));
    field("id", &unit.id.to_string());
    field("layer", layer(unit.layer));
    field("status", unit.status.as_str());
    field("text", &unit.text);
    if unit.claim.is_some() {
        field("claim", &claimed(unit));
    }
    field("said", &unit.mentioned.to_string());
    field("kept", &unit.ingested.to_string());
    if let Some(event) = &unit.event {
        field("event", &format!("from {} ({:?})", event.start, event.granularity).to_lowercase());
    }
    field("confidence", &format!("{}/1000: {}", unit.confidence.thousandths, unit.confidence.reason));
    for (evidence, quote) in unit.evidence.iter().zip(&sought.quotes) {
        let quote = quote.as_deref().unwrap_or("(gone)");
        field("evidence", &format!("record {}, {:?}: {quote}", evidence.sequence, evidence.role));
    }
    let links = |ids: &[_]| ids.iter().map(ToString::to_string).collect::<Vec<String>>().join(" ");
    for (name, ids) in [("supersedes", links(&unit.supersedes)), ("conflicts", links(&unit.conflicts))] {
        if !ids.is_empty() {
            field(name, &ids);
        }
    }
    if let Some(by) = unit.superseded_by {
        field("superseded", &format!("by {by}"));
    }
    for past in &sought.past {
        field("event", &format!("record {}: {}", past.sequence, past.event.name()));
    }
}

pub(super) fn forgotten(as_json: bool, done: &Forgotten) {
    let (units, redacted) = (done.purge.ids.len(), done.purge.redacted.len());
    // Which claims, and not what they said.
    let claims: Vec<String> = done.claims.iter().map(claim).collect();
    if as_json {
        output::json(&json!({
            "purged": done.purge.ids, "claims": claims, "redacted": redacted, "rederived": done.rederived, "dropped": done.dropped,
            "revived": done.purge.revived, "withdrawn": done.withdrawn, "pending": done.pending, "sequence": done.purge.sequence,
        }));
        return;
    }
    output::line(format_args!("{units} units are gone for good, with log, index, vectors and snapshot"));
    for claim in &claims {
        output::line(format_args!("of the claim {}", Plain(claim)));
    }
    for (count, what) in [
        (done.rederived.len(), "units lost part of their evidence and were derived again"),
        (done.purge.revived.len(), "units are current again"),
        (done.withdrawn, "contributions were taken out of the pool"),
        (done.pending, "contributions are still in the pool"),
    ] {
        if count > 0 {
            output::line(format_args!("{count} {what}"));
        }
    }
}

pub(super) fn checked(as_json: bool, checked: &Checked, absent: Option<&str>, traces: Option<&[Trace]>) {
    let store = &checked.store;
    if as_json {
        let traces: Option<Vec<String>> = traces.map(|traces| traces.iter().map(trace).collect());
        output::json(&json!({
            "records": store.records, "bytes": store.bytes, "units": store.units, "evidence": store.evidence, "links": store.links,
            "tombstones": store.tombstones, "indexed": checked.indexed, "vectors": checked.vectors, "in_step": checked.is_in_step(),
            "faults": checked.faults(),
            "absent": absent, "traces": traces,
        }));
        return;
    }
    output::line(format_args!(
        "{} records, {} units, {} quotes, {} links, {} tombstones: as they were written; {} units are indexed, {} have vectors",
        store.records,
        store.units,
        store.evidence,
        store.links,
        store.tombstones,
        checked.indexed,
        checked.vectors.unwrap_or_default()
    ));
    let faults = checked.faults();
    faults.iter().for_each(|fault| output::line(Plain(fault)));
    if !faults.is_empty() {
        output::line("hint: `memory rebuild` makes index and vectors anew from the log");
    }
    if let (Some(text), Some(traces)) = (absent, traces) {
        if traces.is_empty() {
            output::line(format_args!("`{}` is in no file, no dictionary of the index and no unit", Plain(text)));
        }
        for found in traces {
            output::line(format_args!("`{}` is in {}", Plain(text), Plain(&trace(found))));
        }
    }
}

fn trace(trace: &Trace) -> String {
    match trace {
        Trace::Bytes { file, at } => format!("`{}` at byte {at}", file.display()),
        Trace::Term { term } => format!("the index's dictionary, as `{term}`"),
        Trace::Stray { file } => {
            format!("or not in `{}`, which is no part of the index: `memory rebuild` removes it", file.display())
        }
        Trace::Unit { id } => format!("unit {id}"),
        Trace::Pool(found) => format!("the pool of the workspace: {}", self::trace(found)),
    }
}

pub(super) fn stats(as_json: bool, stats: &Stats) {
    if as_json {
        let units: Vec<Value> = stats
            .units
            .iter()
            .map(|((of, is), count)| json!({"layer": layer(*of), "status": is.as_str(), "units": count}))
            .collect();
        output::json(&json!({
            "units": units, "claims": stats.claims, "ordinals": stats.ordinals, "sequence": stats.sequence, "segments": stats.segments,
            "bytes": stats.bytes, "tombstones": stats.tombstones, "rejected": stats.rejected, "contributions": stats.contributions,
        }));
        return;
    }
    let rows: Vec<Vec<String>> = stats
        .units
        .iter()
        .map(|((of, is), count)| vec![layer(*of).to_owned(), is.as_str().to_owned(), count.to_string()])
        .collect();
    output::print(table::render(&[("layer", Align::Left), ("status", Align::Left), ("units", Align::Right)], &rows));
    output::line(format_args!(
        "{} claims; {} records in {} segments of {} bytes; {} tombstones, {} proposals not believed, {} contributions",
        stats.claims,
        stats.sequence,
        stats.segments,
        stats.bytes,
        stats.tombstones,
        stats.rejected,
        stats.contributions
    ));
}

pub(super) fn repaired(as_json: bool, repair: &Repair) {
    let dropped = repair.dropped.len();
    if as_json {
        output::json(
            &json!({"kept": repair.kept, "lost": repair.lost, "dropped": dropped, "bytes_lost": repair.bytes_lost, "aside": repair.aside}),
        );
        return;
    }
    output::line(format_args!(
        "{} records are kept, {dropped} do not follow any more, {} bytes are no record",
        repair.kept, repair.bytes_lost
    ));
    for (from, through) in &repair.lost {
        output::line(format_args!("lost: records {from} to {through}"));
    }
    for path in &repair.aside {
        output::line(format_args!("the old file is `{}`", path.display()));
    }
}

pub(super) fn shared(as_json: bool, shared: &Shared) {
    let (text, contribution) = match shared {
        Shared::Given { contribution, text } => (text, Some(contribution)),
        Shared::Doubtful { text } | Shared::Refused { text } => (text, None),
    };
    let refused = matches!(shared, Shared::Refused { .. });
    let doubts: Vec<Value> = text
        .doubts
        .iter()
        .map(|doubt| json!({"start": doubt.range.start, "end": doubt.range.end, "kind": doubt.kind.as_str(), "reason": doubt.reason}))
        .collect();
    if as_json {
        output::json(
            &json!({"contribution": contribution, "refused": refused, "text": text.text, "removed": text.removals.len(), "confidence": text.confidence, "doubts": doubts}),
        );
        return;
    }
    output::line(Plain(&text.text));
    match contribution {
        Some(id) => output::line(format_args!("shared as {id}; nobody can promise that it is anonymous")),
        None if refused => {
            output::line("not shared: the same was withdrawn from the pool before, which refuses it since")
        }
        None => output::line("not shared: a person has to look at it first; --reviewed says that you have"),
    }
    for doubt in &text.doubts {
        output::line(format_args!("bytes {} to {}: {}", doubt.range.start, doubt.range.end, doubt.reason));
    }
}
