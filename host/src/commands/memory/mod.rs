//! `memory`: what is remembered of one user, from the command line. It opens, asks and prints; what is believed, found and forgotten is decided
//! in the memory.

mod answers;
mod bench;
mod files;
mod keep;
mod print;
mod read;
mod write;

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::fault::chain;
use loopwright_contract::memory::{Embedder, Layer, Role};
use loopwright_memory::id::{RootKey, UserId, WorkspaceId};
use loopwright_memory::memory::{Helpers, Memory, MemoryFault, Pool, finish_purges};
use loopwright_memory::moment::{Moment, Zone};
use loopwright_memory::store::{Disk, Root, StoreError};
use loopwright_memory::unit::ClaimKey;
use loopwright_models::embed::LocalEmbedder;
use serde_json::json;

use crate::cli::Shared;
use crate::cli_memory::{LayerArg, MemoryArgs, MemoryCommand, RoleArg};
use crate::exit::{Exit, NotInstalled};
use crate::{output, wire};

/// What a command works with.
pub(super) struct Desk<'a> {
    args: &'a MemoryArgs,
    json: bool,
    root: Root,
    workspace: WorkspaceId,
    user: UserId,
    zone: Zone,
    now: Moment,
}

/// Runs it.
///
/// # Errors
/// What is wrong with an argument, a file or the memory.
pub fn memory(shared: &Shared, args: &MemoryArgs) -> anyhow::Result<Exit> {
    let done = match &args.command {
        MemoryCommand::Bench(bench) => bench::bench(shared, args, bench),
        _ => Desk::new(shared, args).and_then(|desk| {
            desk.finish_purges();
            work(&desk, args)
        }),
    };
    done.map_err(|error| {
        let error = missing(error);
        if shared.json {
            let exit = if Exit::of(&error) == Exit::NotInstalled { 3 } else { 2 };
            output::json(&json!({"error": format!("{error:#}"), "exit": exit}));
        }
        error
    })
}

fn work(desk: &Desk<'_>, args: &MemoryArgs) -> anyhow::Result<Exit> {
    match &args.command {
        MemoryCommand::Add(add) => write::add(desk, add),
        MemoryCommand::Forget(forget) => write::forget(desk, forget),
        MemoryCommand::Retain(retain) => write::retain(desk, retain),
        MemoryCommand::Import { file } => write::import(desk, file),
        MemoryCommand::Rebuild { repair } => write::rebuild(desk, *repair),
        MemoryCommand::Share { id, reviewed } => write::share(desk, id, *reviewed),
        MemoryCommand::Search(search) => read::search(desk, search),
        MemoryCommand::Show { id } => read::show(desk, id),
        MemoryCommand::History { id, claim } => read::history(desk, id.as_deref(), claim.as_deref()),
        MemoryCommand::Served => read::served(desk),
        MemoryCommand::Export { out } => read::export(desk, out.as_deref()),
        MemoryCommand::Verify { absent } => read::verify(desk, absent.as_deref()),
        MemoryCommand::Stats => read::stats(desk),
        MemoryCommand::Pool { query } => read::pool(desk, query.as_deref()),
        MemoryCommand::Bench(_) => Ok(Exit::BadInput),
    }
}

/// What is not there, or in somebody else's hands, has an exit code of its own.
fn missing(error: anyhow::Error) -> anyhow::Error {
    let absent = error.chain().any(|cause| {
        matches!(cause.downcast_ref::<StoreError>(), Some(StoreError::Locked { .. }))
            || matches!(
                cause.downcast_ref::<MemoryFault>(),
                Some(MemoryFault::Unknown { .. } | MemoryFault::Store(StoreError::Locked { .. }))
            )
    });
    if absent { NotInstalled(format!("{error:#}")).into() } else { error }
}

impl<'a> Desk<'a> {
    fn new(shared: &Shared, args: &'a MemoryArgs) -> anyhow::Result<Self> {
        let key = wire::secret(&args.memory)
            .with_context(|| format!("the key of the memories in `{}`", args.memory.display()))?;
        let zone = Zone::new(&args.zone)?;
        let now = match &args.now {
            Some(text) => Moment::parse(text, &zone)?,
            None => Moment::new(wire::machine_seconds()?, zone.clone())?,
        };
        Ok(Self {
            args,
            json: shared.json,
            root: Root::open(Arc::new(Disk), &args.memory, RootKey::new(key))?,
            workspace: WorkspaceId::new(&args.workspace)?,
            user: UserId::new(&args.user)?,
            zone,
            now,
        })
    }

    fn helpers(&self) -> anyhow::Result<Helpers> {
        Ok(Helpers { embedder: embedder(self.args)?, proposer: None })
    }

    /// Goes on with purges of whole memories that were not finished. Nothing waits for that: on a full disk, a purge is what helps.
    fn finish_purges(&self) {
        let lexical = Helpers::default();
        if let Err(fault) = finish_purges(&self.root, &self.workspace, lexical, &self.now) {
            output::note(format_args!("a purge is not finished yet: {}", chain(&fault)));
        }
    }

    fn open(&self) -> anyhow::Result<Memory> {
        let memory = Memory::open_for_work(&self.root, &self.workspace, &self.user, self.helpers()?, &self.now)?;
        tell(&memory);
        Ok(memory)
    }

    /// The same for a command that only reads: a user who has none gets none.
    fn open_existing(&self) -> anyhow::Result<Memory> {
        self.require()?;
        self.open()
    }

    /// Refuses a user who has none.
    fn require(&self) -> anyhow::Result<()> {
        if self.root.has(&self.workspace, &self.user) {
            return Ok(());
        }
        let user = self.user.as_str();
        Err(NotInstalled(format!("user `{user}` has no memory here\nhint: `memory add` begins one")).into())
    }

    fn pool(&self) -> anyhow::Result<Pool> {
        let pool = Pool::open(&self.root, &self.workspace, self.helpers()?)?;
        tell(pool.memory());
        Ok(pool)
    }

    /// The pool, if there is one.
    fn existing_pool(&self) -> anyhow::Result<Option<Pool>> {
        if self.root.has_pool(&self.workspace) { self.pool().map(Some) } else { Ok(None) }
    }

    fn moment(&self, text: &str) -> anyhow::Result<Moment> {
        Ok(Moment::parse(text, &self.zone)?)
    }
}

/// Says what opening found and mended.
fn tell(memory: &Memory) {
    memory.remarks().iter().for_each(output::note);
}

/// The embedder; none when it is switched off or not installed, which is told once.
fn embedder(args: &MemoryArgs) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    if args.lexical {
        return Ok(None);
    }
    if !args.embedder.join("model.safetensors").exists() {
        output::note(format_args!(
            "no embedder in `{}`: search is by words alone (`cargo xtask setup` fetches it)",
            args.embedder.display()
        ));
        return Ok(None);
    }
    load(&args.embedder).map(Some)
}

fn load(folder: &Path) -> anyhow::Result<Arc<dyn Embedder>> {
    let embedder = LocalEmbedder::load(folder).with_context(|| format!("the embedder in `{}`", folder.display()))?;
    Ok(Arc::new(embedder))
}

/// `subject/predicate` or `subject/predicate/qualifier`.
fn claim_key(text: &str) -> anyhow::Result<ClaimKey> {
    let mut parts = text.splitn(3, '/').map(str::to_owned);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(subject), Some(predicate), qualifier) if !subject.is_empty() && !predicate.is_empty() => {
            Ok(ClaimKey { subject, predicate, qualifier })
        }
        _ => anyhow::bail!(
            "`{text}` is not a claim: expected `subject/predicate` or `subject/predicate/qualifier`, such as `user/lives_in`"
        ),
    }
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::User => Self::User,
            RoleArg::Other => Self::Other,
            RoleArg::Assistant => Self::Assistant,
            RoleArg::Tool => Self::Tool,
            RoleArg::System => Self::System,
        }
    }
}

impl From<LayerArg> for Layer {
    fn from(layer: LayerArg) -> Self {
        match layer {
            LayerArg::Profile => Self::Profile,
            LayerArg::Episodic => Self::Episodic,
            LayerArg::LongTerm => Self::LongTerm,
            LayerArg::Prospective => Self::Prospective,
        }
    }
}
