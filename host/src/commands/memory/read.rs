//! What only looks.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Context as _;
use loopwright_memory::retrieve::Query;
use serde_json::json;

use super::{Desk, claim_key, print};
use crate::cli_memory::SearchArgs;
use crate::exit::{Exit, NotInstalled};
use crate::output;

pub(super) fn search(desk: &Desk<'_>, args: &SearchArgs) -> anyhow::Result<Exit> {
    let memory = desk.open_existing()?;
    let mut query = Query::new(args.query.clone(), desk.now.clone());
    query.limit = usize::try_from(args.limit)?;
    query.as_of = args.as_of.as_deref().map(|at| desk.moment(at)).transpose()?;
    query.history = args.history;
    query.whole = args.whole;
    query.layers = args.layer.iter().map(|layer| (*layer).into()).collect();
    if let Some(tokens) = args.tokens {
        query.token_budget = usize::try_from(tokens)?;
    }
    let ledger = memory.search(&query)?;
    print::ledger(desk.json, &ledger);
    Ok(if ledger.nothing_above_threshold { Exit::Differs } else { Exit::Good })
}

pub(super) fn show(desk: &Desk<'_>, id: &str) -> anyhow::Result<Exit> {
    let sought = desk.open_existing()?.show(id.parse()?)?;
    print::sought(desk.json, &sought);
    Ok(Exit::Good)
}

pub(super) fn history(desk: &Desk<'_>, id: Option<&str>, claim: Option<&str>) -> anyhow::Result<Exit> {
    let memory = desk.open_existing()?;
    let key = match (claim, id) {
        (Some(claim), _) => Some(claim_key(claim)?),
        (None, Some(id)) => memory.show(id.parse()?)?.unit.claim.map(|claim| claim.key),
        (None, None) => None,
    };
    let units = match (&key, id) {
        (Some(key), _) => memory.history(key),
        (None, Some(id)) => vec![memory.show(id.parse()?)?.unit],
        (None, None) => Vec::new(),
    };
    print::units(desk.json, &units);
    Ok(if units.is_empty() { Exit::Differs } else { Exit::Good })
}

pub(super) fn served(desk: &Desk<'_>) -> anyhow::Result<Exit> {
    let memory = desk.open_existing()?;
    let fired = memory.fire(&desk.now, None)?;
    let mut query = Query::new(String::new(), desk.now.clone());
    query.limit = 0;
    query.token_budget = 0;
    let ledger = memory.search(&query)?;
    print::served(desk.json, &ledger, &fired);
    Ok(Exit::Good)
}

pub(super) fn export(desk: &Desk<'_>, out: Option<&Path>) -> anyhow::Result<Exit> {
    let memory = desk.open_existing()?;
    let Some(path) = out else {
        let mut text = Vec::new();
        memory.store().export(&mut text, &desk.now)?;
        output::print(String::from_utf8_lossy(&text));
        return Ok(Exit::Good);
    };
    let file = File::create_new(path).with_context(|| format!("`{}`", path.display()))?;
    let mut writer = BufWriter::new(file);
    let written = memory.store().export(&mut writer, &desk.now)?;
    writer.flush().with_context(|| format!("`{}`", path.display()))?;
    if desk.json {
        output::json(&json!({"units": written.units, "left_out": written.left_out}));
    } else {
        output::line(format_args!("{} units were written to `{}`", written.units, path.display()));
    }
    Ok(Exit::Good)
}

pub(super) fn verify(desk: &Desk<'_>, absent: Option<&str>) -> anyhow::Result<Exit> {
    let memory = desk.open_existing()?;
    let checked = memory.check()?;
    let pool = if absent.is_some() { desk.existing_pool()? } else { None };
    let traces = absent.map(|text| memory.traces_with(text, pool.as_ref())).transpose()?;
    print::checked(desk.json, &checked, absent, traces.as_deref());
    let sound = checked.is_in_step() && traces.is_none_or(|traces| traces.is_empty());
    Ok(if sound { Exit::Good } else { Exit::Differs })
}

pub(super) fn stats(desk: &Desk<'_>) -> anyhow::Result<Exit> {
    let memory = desk.open_existing()?;
    print::stats(desk.json, &memory.store().stats()?);
    Ok(Exit::Good)
}

pub(super) fn pool(desk: &Desk<'_>, query: Option<&str>) -> anyhow::Result<Exit> {
    let Some(pool) = desk.existing_pool()?.filter(|pool| !pool.memory().snapshot().is_empty()) else {
        let workspace = desk.workspace.as_str();
        let told = format!("workspace `{workspace}` shares nothing\nhint: `memory share ID` gives a unit to it");
        return Err(NotInstalled(told).into());
    };
    let mut query = Query::new(query.unwrap_or_default(), desk.now.clone());
    if query.text.is_empty() {
        // All of it, as far as it is not endless.
        query.token_budget = 100_000;
    }
    print::ledger(desk.json, &pool.search(&query)?);
    Ok(Exit::Good)
}
