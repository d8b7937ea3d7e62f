//! What changes a memory.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, bail};
use loopwright_contract::fault::chain;
use loopwright_contract::memory::Role;
use loopwright_memory::id::UnitId;
use loopwright_memory::memory::{Helpers, Shared, Sharing, forget_user, trust_of};
use loopwright_memory::message::{Message, Place};
use loopwright_memory::store::{Capture, Selection, Sources};
use serde::Deserialize;
use serde_json::json;

use super::{Desk, claim_key, print};
use crate::cli_memory::{AddArgs, ForgetArgs, RoleArg};
use crate::exit::{Exit, NotInstalled};
use crate::output;

/// Messages that are captured at a time.
const BATCH: usize = 256;
/// Bytes of one line of a file of messages.
const LINE_BYTES_MAX: usize = 512 * 1024;

/// A line of a file of messages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    text: String,
    #[serde(default)]
    speaker: Option<String>,
    #[serde(default)]
    role: Option<Role>,
    #[serde(default)]
    at: Option<String>,
    #[serde(default)]
    dialogue: Option<String>,
    #[serde(default)]
    session: Option<String>,
}

pub(super) fn add(desk: &Desk<'_>, args: &AddArgs) -> anyhow::Result<Exit> {
    let memory = desk.open()?;
    let mut captures = Vec::new();
    match &args.from {
        Some(file) => {
            let reader = BufReader::new(File::open(file).with_context(|| format!("`{}`", file.display()))?);
            for (number, line) in reader.lines().enumerate() {
                let at = || format!("`{}`, line {}", file.display(), number + 1);
                let line = line.with_context(at)?;
                if line.len() > LINE_BYTES_MAX {
                    bail!("{}: {} bytes, expected at most {LINE_BYTES_MAX}", at(), line.len());
                }
                if line.trim().is_empty() {
                    continue;
                }
                let said: Line = serde_json::from_str(&line).with_context(at)?;
                captures.push(capture(desk, args, said, u32::try_from(number)?).with_context(at)?);
            }
        }
        None => {
            let said = Line {
                text: args.text.clone().unwrap_or_default(),
                speaker: None,
                role: None,
                at: args.at.clone(),
                dialogue: None,
                session: None,
            };
            let mut said = capture(desk, args, said, 0)?;
            let place = &mut said.message.place;
            // After what was said before in the same session: two things of one second have an order.
            place.position = memory.snapshot().next_position(&place.dialogue, &place.session);
            captures.push(said);
        }
    }
    let bar = output::bar(captures.len(), "capturing");
    let mut understood = Vec::with_capacity(captures.len());
    for batch in captures.chunks(BATCH) {
        understood.extend(memory.capture(batch.to_vec(), &desk.now)?);
        bar.inc(batch.len() as u64);
    }
    bar.finish_and_clear();
    print::understood(desk.json, &memory, &understood);
    Ok(Exit::Good)
}

fn capture(desk: &Desk<'_>, args: &AddArgs, said: Line, position: u32) -> anyhow::Result<Capture> {
    let mentioned = match &said.at {
        Some(at) => desk.moment(at)?,
        None => desk.now.clone(),
    };
    let role = said.role.unwrap_or_else(|| args.role.into());
    let speaker = said.speaker.unwrap_or_else(|| match (role, args.role) {
        (Role::User, _) | (_, RoleArg::User) => args.speaker.clone(),
        _ => format!("{role:?}").to_lowercase(),
    });
    let session = said.session.or_else(|| args.session.clone()).unwrap_or_else(|| mentioned.civil().date().to_string());
    let dialogue = said.dialogue.unwrap_or_else(|| args.dialogue.clone());
    let place = Place { dialogue, session, position, speaker, role };
    let message = Message { place, text: said.text, mentioned };
    message.check()?;
    Ok(Capture::of(message, trust_of(role)))
}

pub(super) fn forget(desk: &Desk<'_>, args: &ForgetArgs) -> anyhow::Result<Exit> {
    if args.everything {
        return forget_everything(desk);
    }
    let selection = if let Some(claim) = &args.claim {
        Selection::Claim(claim_key(claim)?)
    } else if args.from.is_some() || args.until.is_some() {
        let seconds = |text: &Option<String>, open: i64| match text {
            Some(text) => desk.moment(text).map(|moment| moment.seconds()),
            None => Ok(open),
        };
        Selection::Mentioned { from: seconds(&args.from, i64::MIN)?, until: seconds(&args.until, i64::MAX)? }
    } else {
        Selection::Units(args.id.iter().map(|id| id.parse()).collect::<Result<Vec<UnitId>, _>>()?)
    };
    let memory = desk.open_existing()?;
    // The user's own memory first: the pool is told after it, or by the next command when it cannot be told now.
    let mut forgotten = memory.forget(&selection, Sources::Purge, None, &desk.now)?;
    if forgotten.purge.ids.is_empty() && forgotten.purge.redacted.is_empty() {
        return Err(NotInstalled("there was nothing of that to forget".to_owned()).into());
    }
    let mut exit = Exit::Good;
    if forgotten.pending > 0 {
        let told = desk.pool().and_then(|pool| Ok(memory.settle(&pool, &desk.now)?));
        match told {
            Ok(withdrawn) => (forgotten.withdrawn, forgotten.pending) = (withdrawn, 0),
            Err(error) => {
                output::note(format_args!("the pool could not be told, which the next command does: {error:#}"));
                exit = Exit::Differs;
            }
        }
    }
    print::forgotten(desk.json, &forgotten);
    Ok(exit)
}

fn forget_everything(desk: &Desk<'_>) -> anyhow::Result<Exit> {
    let lexical = Helpers::default();
    let user = desk.user.as_str();
    let Some(done) = forget_user(&desk.root, &desk.workspace, &desk.user, lexical, &desk.now)? else {
        return Err(NotInstalled(format!("user `{user}` has no memory here: there was nothing to forget")).into());
    };
    let withdrawn = done.withdrawn;
    let pending = done.pending.as_ref().map_or(0, |(count, _)| *count);
    if let Some((count, fault)) = &done.pending {
        output::note(format_args!(
            "{count} contributions are still in the pool, and leave it with the next command: {}",
            chain(fault)
        ));
    }
    if desk.json {
        output::json(&json!({"user": user, "forgotten": "everything", "withdrawn": withdrawn, "pending": pending}));
    } else {
        output::line(format_args!(
            "everything of user `{user}` is gone; {withdrawn} contributions were taken out of the pool"
        ));
    }
    Ok(if pending == 0 { Exit::Good } else { Exit::Differs })
}

pub(super) fn import(desk: &Desk<'_>, file: &Path) -> anyhow::Result<Exit> {
    let memory = desk.open()?;
    let mut reader = BufReader::new(File::open(file).with_context(|| format!("`{}`", file.display()))?);
    let imported = memory.import(&mut reader, &desk.now).with_context(|| format!("`{}`", file.display()))?;
    let purged = imported.purged.len();
    if desk.json {
        output::json(&json!({"added": imported.added.len(), "known": imported.known, "forgotten_before": purged}));
    } else {
        let added = imported.added.len();
        output::line(format_args!(
            "{added} units were added, {} were here already, {purged} were forgotten here before and stay so",
            imported.known
        ));
    }
    Ok(Exit::Good)
}

pub(super) fn rebuild(desk: &Desk<'_>, repair: bool) -> anyhow::Result<Exit> {
    desk.require()?;
    if repair {
        let repair = desk.root.repair(&desk.workspace, &desk.user)?;
        print::repaired(desk.json, &repair);
    }
    let memory = desk.open_existing()?;
    memory.rebuild()?;
    let checked = memory.check()?;
    if desk.json {
        output::json(&json!({"units": checked.store.units, "indexed": checked.indexed, "vectors": checked.vectors}));
    } else {
        let vectors = checked.vectors.unwrap_or_default();
        output::line(format_args!("{} units are indexed, {vectors} have vectors", checked.indexed));
    }
    Ok(Exit::Good)
}

pub(super) fn share(desk: &Desk<'_>, id: &str, reviewed: bool) -> anyhow::Result<Exit> {
    let (memory, pool) = (desk.open_existing()?, desk.pool()?);
    let sharing = if reviewed { Sharing::Reviewed } else { Sharing::Unreviewed };
    let shared = memory.share(id.parse()?, sharing, &pool, &desk.now)?;
    print::shared(desk.json, &shared);
    Ok(if matches!(shared, Shared::Given { .. }) { Exit::Good } else { Exit::Differs })
}
