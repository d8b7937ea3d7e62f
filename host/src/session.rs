//! A user's memory in a run: what it brings to the episodes, and what comes back from those that passed.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::memory::{Forget, MemorySnapshot, Ranker};
use loopwright_contract::task::Task;
use loopwright_contract::trajectory::VerifiedTrajectory;
use loopwright_harness::trajectory::read_file;
use loopwright_harness::{EpisodeResult, memory};
use loopwright_memory::id::{RootKey, UserId, WorkspaceId};
use loopwright_memory::memory::{EpisodeRanker, Helpers, Live, Memory, OpenPool, Pool};
use loopwright_memory::moment::{Moment, Zone};
use loopwright_memory::store::{Disk, Root};

use crate::cli::RunArgs;
use crate::{output, wire};

/// What ranks an episode's memory everywhere: by words alone, so that a run and its replay need no model for it.
#[must_use]
pub fn ranker() -> Arc<dyn Ranker> {
    Arc::new(EpisodeRanker::new(None))
}

/// One user's memory, for one run.
pub struct Session {
    memory: Arc<Memory>,
    live: Arc<Live>,
    zone: Zone,
}

impl Session {
    /// The memory that the command line names; none when it names none. The phone's zone is that of the first task.
    ///
    /// # Errors
    /// When the memory cannot be opened.
    pub fn open(args: &RunArgs, tasks: &[Task]) -> anyhow::Result<Option<Self>> {
        let Some(folder) = &args.memory else { return Ok(None) };
        let (memory, pool) = open(folder, args)?;
        let memory = Arc::new(memory);
        let zone = Zone::new(tasks.first().map_or("UTC", |task| task.start.zone.as_str()))?;
        let live = Arc::new(Live::new(Arc::clone(&memory), zone.clone(), pool));
        Ok(Some(Self { memory, live, zone }))
    }

    /// What episodes begin with.
    #[must_use]
    pub fn snapshot(&self) -> Arc<MemorySnapshot> {
        Arc::new(self.memory.for_episode(&self.zone))
    }

    /// What a user's "forget" reaches at once.
    #[must_use]
    pub fn forget(&self) -> Arc<dyn Forget> {
        Arc::clone(&self.live) as Arc<dyn Forget>
    }

    /// Keeps what episodes that passed changed and did; says how many there were.
    ///
    /// # Errors
    /// When a trajectory cannot be read again, or the memory cannot be written.
    pub fn keep(&self, results: &[EpisodeResult]) -> anyhow::Result<()> {
        let (mut kept, mut changes) = (0, 0);
        for result in results {
            let Some(path) = &result.path else { continue };
            let Ok(verified) = VerifiedTrajectory::new(read_file(path)?.trajectory) else { continue };
            let committed = memory::commit(&verified, &result.memory, self.live.as_ref())
                .with_context(|| format!("what episode `{}` leaves in the memory", result.episode))?;
            kept += usize::from(committed.captured);
            changes += committed.changes;
        }
        output::note(format_args!(
            "memory: {kept} episodes that passed were kept, with {changes} changes of what is remembered"
        ));
        Ok(())
    }
}

fn open(folder: &Path, args: &RunArgs) -> anyhow::Result<(Memory, OpenPool)> {
    let key = wire::secret(folder).with_context(|| format!("the key of the memories in `{}`", folder.display()))?;
    let root = Root::open(Arc::new(Disk), folder, RootKey::new(key))?;
    let (workspace, user) = (WorkspaceId::new(&args.memory_workspace)?, UserId::new(&args.memory_user)?);
    let now = Moment::new(wire::machine_seconds()?, Zone::utc())?;
    let memory = Memory::open_for_work(&root, &workspace, &user, Helpers::default(), &now)?;
    let pool = move || {
        // A workspace without one is told nothing, and gets none.
        if root.has_pool(&workspace) { Pool::open_free(&root, &workspace, Helpers::default()) } else { Ok(None) }
    };
    Ok((memory, Box::new(pool)))
}
