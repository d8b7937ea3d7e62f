//! `bench hostile`: every hostile guest, what stopped it, and whether anybody else noticed. It needs no built plugins and no source tree: the
//! guests are texts in this binary and become components here.

mod arena;
mod attack;
mod printed;

use loopwright_testkit::guests::hostile::{Kind, Row, rows};
use serde::Serialize;

use crate::cli::{HostileArgs, Shared};
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, cut, render};

use self::arena::Arena;

/// Rounds of one guest. The first pays for what all share; a leak of one guest's memory in the others is far beyond [`RSS_GROWTH_BYTES_MAX`].
const ROUNDS: usize = 5;
/// How much more memory the process may hold after the last round than after the first: what allocators keep for themselves is less, and
/// one leaked memory of a bomb (64 MiB) is more.
const RSS_GROWTH_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How many times as long everything may take: in a debug build the host's own code is several times slower.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 5 } else { 1 };

/// What came of one guest.
#[derive(Debug, Serialize)]
struct Outcome {
    guest: String,
    /// What must stop it.
    expected: Kind,
    /// What did.
    seen: Kind,
    /// The slowest round, in milliseconds.
    ms: f64,
    /// Whether it was stopped as expected and in time, and left no trace: on its neighbours' results, in the pools, in the process's memory.
    contained: bool,
    /// Why not, for people; empty when it was.
    #[serde(skip)]
    why: String,
    #[serde(skip)]
    budget: String,
}

/// Runs it.
///
/// # Errors
/// An engine that does not start, or a guest that does not become a component: defects of this command, not of a guest.
pub(super) fn hostile(shared: &Shared, args: &HostileArgs) -> anyhow::Result<Exit> {
    let arena = Arena::new()?;
    let wanted = |row: &Row| args.filter.as_ref().is_none_or(|part| row.guest.contains(part.as_str()));
    let rows: Vec<Row> = rows()?.into_iter().filter(wanted).collect();
    let outcomes = rows.iter().map(|row| one(&arena, row)).collect::<anyhow::Result<Vec<_>>>()?;
    if shared.json {
        output::json(&outcomes);
    } else {
        output::print(table(&outcomes)?);
    }
    let all = outcomes.iter().all(|outcome| outcome.contained);
    Ok(if all { Exit::Good } else { Exit::Differs })
}

/// Runs one guest in all its rounds.
fn one(arena: &Arena, row: &Row) -> anyhow::Result<Outcome> {
    let mut why = Vec::new();
    let pools = arena.pool_use();
    let (mut seen, mut slowest_ms, mut resident) = (row.expected, 0.0_f64, None);
    for round in 0..ROUNDS {
        let ran = arena.round(row)?;
        slowest_ms = slowest_ms.max(ran.time.as_secs_f64() * 1000.0);
        if ran.seen.kind != row.expected && seen == row.expected {
            seen = ran.seen.kind;
            why.push(ran.seen.detail);
        }
        why.extend(ran.disturbed);
        if round == 0 {
            arena.settle()?;
            resident = arena::resident_bytes();
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of a budget are far below 2^53")]
    let within_ms = (row.within_ms * u64::from(SLOWNESS)) as f64;
    if slowest_ms > within_ms {
        why.push(format!("took {slowest_ms:.1} ms, expected at most {within_ms}"));
    }
    arena.settle()?;
    let after = arena.pool_use();
    if after != pools {
        why.push(format!("pools: {pools:?} before, {after:?} after"));
    }
    if let Some((before, after)) = resident.zip(arena::resident_bytes()) {
        let grown = after.saturating_sub(before);
        if grown > RSS_GROWTH_BYTES_MAX {
            why.push(format!("the process grew by {grown} bytes, expected at most {RSS_GROWTH_BYTES_MAX}"));
        }
    }
    let guest = row.guest.clone();
    let ms = (slowest_ms * 1000.0).round() / 1000.0;
    let contained = why.is_empty();
    why.dedup();
    Ok(Outcome { guest, expected: row.expected, seen, ms, contained, why: why.join("; "), budget: row.budget.clone() })
}

fn table(outcomes: &[Outcome]) -> anyhow::Result<String> {
    let word = |kind: Kind| -> anyhow::Result<String> {
        Ok(serde_json::to_value(kind)?.as_str().unwrap_or_default().replace('_', " "))
    };
    let mut cells = Vec::new();
    for outcome in outcomes {
        let contained = if outcome.contained {
            "contained".to_owned()
        } else {
            format!("NOT CONTAINED: {}", cut(&outcome.why, 200))
        };
        cells.push(vec![
            outcome.guest.clone(),
            word(outcome.expected)?,
            word(outcome.seen)?,
            format!("{:.1} ms", outcome.ms),
            outcome.budget.clone(),
            contained,
        ]);
    }
    let head = [
        ("guest", Align::Left),
        ("expected", Align::Left),
        ("seen", Align::Left),
        ("time", Align::Right),
        ("stopped by", Align::Left),
        ("", Align::Left),
    ];
    Ok(render(&head, &cells))
}

#[cfg(test)]
mod tests {
    use loopwright_testkit::guests::hostile::Attack;

    use super::*;

    #[test]
    fn what_is_not_stopped_as_expected_and_in_time_is_not_contained() {
        let arena = Arena::new().unwrap();
        let row = |guest: &str| rows().unwrap().into_iter().find(|row| row.guest == guest).unwrap();
        assert!(one(&arena, &row("recursion")).unwrap().contained);
        // A tool that does nothing bad is stopped by nothing.
        let harmless = Row { attack: Attack::Call, tool: None, ..row("name-taken") };
        for (row, seen, part) in [
            (Row { expected: Kind::Fuel, ..row("recursion") }, Kind::Stack, "stack"),
            (Row { within_ms: 0, ..row("recursion") }, Kind::Stack, "expected at most 0"),
            (harmless, Kind::Succeeded, "Done"),
        ] {
            let outcome = one(&arena, &row).unwrap();
            assert_eq!((outcome.seen, outcome.contained), (seen, false), "{outcome:?}");
            assert!(outcome.why.contains(part), "{outcome:?}");
            let table = table(&[outcome]).unwrap();
            assert!(table.contains("NOT CONTAINED"), "{table}");
        }
    }
}
