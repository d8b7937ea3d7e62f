//! What changes a memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use loopwright_contract::fault::chain;
use loopwright_contract::memory::Role;
use loopwright_memory::id::UnitId;
use loopwright_memory::memory::{Forgotten, Helpers, Memory, Shared, Sharing, forget_user, trust_of};
use loopwright_memory::message::{Message, Place};
use loopwright_memory::store::{Capture, Retention, Rule, Selection, Sources};
use serde::Deserialize;
use serde_json::json;

use super::{Desk, claim_key, print};
use crate::cli_memory::{AddArgs, ForgetArgs, RetainArgs, RoleArg};
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
            let mut reader = BufReader::new(File::open(file).with_context(|| format!("`{}`", file.display()))?);
            for number in 0_usize.. {
                let at = || format!("`{}`, line {}", file.display(), number + 1);
                let mut line = Vec::new();
                // No more is read than is taken: a line without an end is no reason to fill the machine's memory.
                let most = u64::try_from(LINE_BYTES_MAX)?.saturating_add(1);
                if reader.by_ref().take(most).read_until(b'\n', &mut line).with_context(at)? == 0 {
                    break;
                }
                if line.len() > LINE_BYTES_MAX {
                    bail!("{}: more than {LINE_BYTES_MAX} bytes, the most that is read", at());
                }
                if line.trim_ascii().is_empty() {
                    continue;
                }
                let said: Line = serde_json::from_slice(&line).with_context(at)?;
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
    Ok(Capture { working: args.task.clone(), ..Capture::of(message, trust_of(role)) })
}

pub(super) fn forget(desk: &Desk<'_>, args: &ForgetArgs) -> anyhow::Result<Exit> {
    if args.everything {
        return forget_everything(desk);
    }
    if let Some(task) = &args.task {
        let memory = desk.open_existing()?;
        let forgotten = memory.end_task(task, None, &desk.now)?;
        return gone(desk, &memory, forgotten, &format!("task `{task}` has no working data here"));
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
    let forgotten = memory.forget(&selection, Sources::Purge, None, &desk.now)?;
    gone(desk, &memory, forgotten, "there was nothing of that to forget")
}

pub(super) fn retain(desk: &Desk<'_>, args: &RetainArgs) -> anyhow::Result<Exit> {
    let rule = Rule { age_seconds_max: args.days.map(|days| u64::from(days) * 86_400), count_max: args.most };
    let memory = desk.open_existing()?;
    let retention = Retention { layers: BTreeMap::from([(args.layer.into(), rule)]) };
    let forgotten = memory.retain(&retention, None, &desk.now)?;
    if is_nothing(&forgotten) {
        // A rule that holds already is no failure.
        print::forgotten(desk.json, &forgotten);
        return Ok(Exit::Good);
    }
    gone(desk, &memory, forgotten, "")
}

fn is_nothing(forgotten: &Forgotten) -> bool {
    forgotten.purge.ids.is_empty() && forgotten.purge.redacted.is_empty()
}

/// Tells the pool what went from the user's own memory, which is first: what cannot be told now, the next command tells.
fn gone(desk: &Desk<'_>, memory: &Memory, mut forgotten: Forgotten, nothing: &str) -> anyhow::Result<Exit> {
    if is_nothing(&forgotten) {
        return Err(NotInstalled(nothing.to_owned()).into());
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
