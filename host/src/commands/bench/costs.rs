//! `bench` without a subcommand: what the host's own share costs, beside bare wasmtime with the same component and imports in the same run.
//!
//! Every row is measured call by call; p50 and p99 are over the samples. The floor is the same component over the same world without policy,
//! limits, transactions or recording, so the ratio holds on any machine while the times do not.

use std::time::Duration;

use serde::Serialize;

use super::rows;
use crate::cli::{CostArgs, Shared};
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, render};

/// One row of the table.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) name: String,
    /// Half of the samples are below.
    pub(crate) p50_ns: Option<u64>,
    /// 99 of 100 samples are below.
    pub(crate) p99_ns: Option<u64>,
    /// The median of the floor.
    pub(crate) floor_ns: Option<u64>,
    /// p50 by floor.
    pub(crate) ratio: Option<f64>,
    /// For rows that measure memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
    /// Page faults of one sample, where they are what it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) faults: Option<f64>,
    /// Page faults of one sample of the floor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) floor_faults: Option<f64>,
    /// What the design aims at, for people.
    pub(crate) aim: &'static str,
}

impl Row {
    /// A row without figures.
    pub(super) fn named(name: &str, aim: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            p50_ns: None,
            p99_ns: None,
            floor_ns: None,
            ratio: None,
            bytes: None,
            faults: None,
            floor_faults: None,
            aim,
        }
    }
}

/// Runs it.
///
/// # Errors
/// Something that is not installed, or a call that does not do what it is measured for.
pub(super) fn costs(shared: &Shared, args: &CostArgs) -> anyhow::Result<Exit> {
    if cfg!(debug_assertions) {
        output::note("this is a debug build: the times say little; `cargo xtask bench` builds for release");
    }
    let mut rows = rows::all(shared, args)?;
    if let Some(filter) = &args.filter {
        rows.retain(|row| row.name.contains(filter.as_str()));
    }
    if shared.json {
        output::json(&rows);
        return Ok(Exit::Good);
    }
    let time = |nanos: Option<u64>| nanos.map_or("-".to_owned(), |nanos| short(Duration::from_nanos(nanos)));
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let ratio = row.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
            let p50 = row.bytes.map_or_else(|| time(row.p50_ns), |bytes| format!("{} KiB", bytes / 1024));
            let faults = match (row.faults, row.floor_faults) {
                (Some(faults), Some(floor)) => format!("{faults:.0}/{floor:.0}"),
                _ => "-".to_owned(),
            };
            vec![row.name.clone(), p50, time(row.p99_ns), time(row.floor_ns), ratio, faults, row.aim.to_owned()]
        })
        .collect();
    let head = [
        ("", Align::Left),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("floor", Align::Right),
        ("ratio", Align::Right),
        ("faults", Align::Right),
        ("aim (p50)", Align::Left),
    ];
    output::print(render(&head, &cells));
    Ok(Exit::Good)
}

/// A short time, to three digits.
pub(super) fn short(time: Duration) -> String {
    let nanos = time.as_nanos();
    match nanos {
        0..1000 => format!("{nanos} ns"),
        1000..1_000_000 => format!("{}.{:02} us", nanos / 1000, nanos % 1000 / 10),
        _ => format!("{}.{:02} ms", nanos / 1_000_000, nanos % 1_000_000 / 10_000),
    }
}
