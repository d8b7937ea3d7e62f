//! The root of all memories: which folder is whose, and who has it open.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::files::{Entry, Files, remove_tree};
use super::forgotten;
use super::handle::{LOCK, LOG, Shared, Store, guard, lock};
use super::limits::Sizes;
use super::note;
use super::repair::readable;
use super::state::State;
use crate::id::{RootKey, UserId, WorkspaceId};
use crate::moment::Moment;

/// The file that tells whether the key is the right one.
const MARK: &str = "root";
/// Beside the users of a workspace, for the shared pool. It is no digest, so no user can have it.
const POOL: &str = "pool";
/// The beginning of the name of a user's folder that is being purged.
const PURGED: &str = "purged-";
/// The beginning of the name of the file with the marks of what a user had forgotten; the name of the user's folder follows.
const FORGOTTEN: &str = "forgotten-";
/// In such a folder: what the pool still has of the user.
const CONTRIBUTIONS: &str = "contributions";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    key: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contributions {
    contributions: Vec<String>,
}

#[derive(Default)]
struct Open {
    handles: usize,
    shared: Option<Arc<Shared>>,
}

/// The memories that are open in this process.
#[derive(Default)]
pub(super) struct Slots {
    open: Mutex<HashMap<PathBuf, Arc<Mutex<Open>>>>,
}

impl Slots {
    fn slot(&self, folder: &Path) -> Arc<Mutex<Open>> {
        guard(&self.open).entry(folder.to_path_buf()).or_default().clone()
    }
}

/// A user whose folder is gone, and what the pool still has of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserPurge {
    folder: PathBuf,
    /// The ids of the user's contributions, which are to be taken out of the pool before [`Root::finish`].
    pub contributions: Vec<String>,
}

/// All memories of an installation: one folder for each workspace, in it one for each user.
pub struct Root {
    files: Arc<dyn Files>,
    folder: PathBuf,
    key: RootKey,
    sizes: Sizes,
    slots: Arc<Slots>,
}

impl Root {
    /// Opens the memories in a folder, which is made when it is not there.
    ///
    /// # Errors
    /// [`StoreError::Key`] when they were made with another key, [`StoreError::Io`] when the disk refuses.
    pub fn open(files: Arc<dyn Files>, folder: &Path, key: RootKey) -> Result<Self, StoreError> {
        Self::open_sized(files, folder, key, Sizes::default())
    }

    /// [`Root::open`] with other sizes than the default ones.
    ///
    /// # Errors
    /// As [`Root::open`].
    pub fn open_sized(files: Arc<dyn Files>, folder: &Path, key: RootKey, sizes: Sizes) -> Result<Self, StoreError> {
        create(files.as_ref(), folder)?;
        let path = folder.join(MARK);
        let mark = hex::encode(key.digest("root", &[]));
        match note::read::<Mark>(files.as_ref(), &path)? {
            Some(found) if found.key == mark => {}
            Some(_) => return Err(StoreError::Key { folder: folder.to_path_buf() }),
            None => note::replace(files.as_ref(), &path, &note::encode(&Mark { key: mark }))?,
        }
        Ok(Self { files, folder: folder.to_path_buf(), key, sizes, slots: Arc::default() })
    }

    fn workspace_folder(&self, workspace: &WorkspaceId) -> PathBuf {
        self.folder.join(hex::encode(self.key.digest("workspace", &[workspace.as_str().as_bytes()])))
    }

    fn user_folder(&self, workspace: &WorkspaceId, user: &UserId) -> PathBuf {
        let parts = [workspace.as_str().as_bytes(), user.as_str().as_bytes()];
        self.workspace_folder(workspace).join(hex::encode(self.key.digest("user", &parts)))
    }

    /// The folder of the pool that a workspace's users share, made when it is not there.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the disk refuses.
    pub fn pool(&self, workspace: &WorkspaceId) -> Result<PathBuf, StoreError> {
        create(self.files.as_ref(), &self.workspace_folder(workspace))?;
        let folder = self.workspace_folder(workspace).join(POOL);
        create(self.files.as_ref(), &folder)?;
        Ok(folder)
    }

    /// Opens the pool that a workspace's users share: a store of its own, of no user.
    ///
    /// # Errors
    /// As [`Root::user`].
    pub fn pool_store(&self, workspace: &WorkspaceId) -> Result<Store, StoreError> {
        let folder = self.pool(workspace)?;
        self.store(&folder, self.pool_key(workspace))
    }

    /// A key for a workspace's pool.
    #[must_use]
    pub fn pool_key(&self, workspace: &WorkspaceId) -> RootKey {
        RootKey::new(self.key.digest("pool key", &[workspace.as_str().as_bytes()]))
    }

    /// Whether a workspace has a pool.
    #[must_use]
    pub fn has_pool(&self, workspace: &WorkspaceId) -> bool {
        self.files.list(&self.workspace_folder(workspace).join(POOL)).is_ok()
    }

    /// Whether a user has a memory.
    #[must_use]
    pub fn has(&self, workspace: &WorkspaceId, user: &UserId) -> bool {
        self.files.list(&self.user_folder(workspace, user)).is_ok()
    }

    /// Opens a user's memory, and begins one when there is none. In one process it can be opened many times, and is the same.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process has it open; [`StoreError::Damaged`], [`StoreError::Record`] and [`StoreError::Version`]
    /// when its log is not as it was written; [`StoreError::Io`] when the disk refuses.
    pub fn user(&self, workspace: &WorkspaceId, user: &UserId) -> Result<Store, StoreError> {
        create(self.files.as_ref(), &self.workspace_folder(workspace))?;
        let folder = self.user_folder(workspace, user);
        let store = self.store(&folder, self.user_key(workspace, user))?;
        if store.shared.published.load().state.sequence == 0 {
            store.shared.begin(&beside(&folder, FORGOTTEN))?;
        }
        Ok(store)
    }

    /// Opens the store of a folder, once in this process.
    fn store(&self, folder: &Path, key: RootKey) -> Result<Store, StoreError> {
        let slot = self.slots.slot(folder);
        let mut open = guard(&slot);
        let shared = if let Some(shared) = &open.shared {
            shared.clone()
        } else {
            create(self.files.as_ref(), folder)?;
            let shared = Shared::open(self.files.clone(), folder, key, self.sizes)?;
            open.shared.insert(Arc::new(shared)).clone()
        };
        open.handles += 1;
        Ok(Store { shared, slots: self.slots.clone() })
    }

    fn user_key(&self, workspace: &WorkspaceId, user: &UserId) -> RootKey {
        let parts = [workspace.as_str().as_bytes(), user.as_str().as_bytes()];
        RootKey::new(self.key.digest("user key", &parts))
    }

    /// Repairs a user's log; see [`Repair`](super::Repair). The memory must not be open.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when it is; [`StoreError::Io`] when the disk refuses.
    pub fn repair(&self, workspace: &WorkspaceId, user: &UserId) -> Result<super::Repair, StoreError> {
        let folder = self.user_folder(workspace, user);
        let slot = self.slots.slot(&folder);
        let open = guard(&slot);
        if open.shared.is_some() {
            return Err(StoreError::Locked { path: folder.join(LOCK) });
        }
        let _lock = lock(self.files.as_ref(), &folder)?;
        super::repair::repair(&self.files, &folder, &self.user_key(workspace, user), self.sizes)
    }

    /// Purges a user: the folder is gone when this returns, with log, snapshot, index and vectors, and handles of it are of no use any more.
    /// When the process ends before, [`Root::unfinished`] goes on with it. A user of the same id begins anew, with keyed marks of what was
    /// known, so that what was said before `now` does not come back by import or capture. On a full disk what is derived goes first, to make
    /// room for the marks. Of a log that does not read, what can still be read is marked.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process has the memory open; [`StoreError::Io`] before anything is gone, [`StoreError::Leftover`]
    /// when the memory is gone for all readers and files of it are not: call [`Root::unfinished`]. A log that does not read is no hindrance.
    pub fn purge_user(
        &self,
        workspace: &WorkspaceId,
        user: &UserId,
        now: &Moment,
    ) -> Result<Option<UserPurge>, StoreError> {
        let folder = self.user_folder(workspace, user);
        let slot = self.slots.slot(&folder);
        let mut open = guard(&slot);
        if self.files.list(&folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let (files, key) = (self.files.clone(), self.user_key(workspace, user));
        let shared = match &open.shared {
            Some(shared) => Some(shared.clone()),
            None => match Shared::open(files, &folder, key, self.sizes) {
                Ok(shared) => Some(Arc::new(shared)),
                Err(error @ (StoreError::Locked { .. } | StoreError::Io { .. })) => return Err(error),
                Err(_) => None,
            },
        };
        let mut writer = shared.as_ref().map(|shared| guard(&shared.writer));
        let state = match writer.as_ref().and_then(|writer| writer.as_ref()) {
            Some(writer) => Some(writer.state.clone()),
            None => readable(self.files.as_ref(), &folder, &self.user_key(workspace, user), self.sizes).ok(),
        };
        let state = state.unwrap_or_else(|| State::new(self.user_key(workspace, user), self.sizes.units_max));
        let contributions = Contributions { contributions: state.contributions.keys().cloned().collect() };
        if let Err(error) = self.note_purge(&folder, &state, &contributions, now) {
            if open.handles > 0 {
                return Err(error);
            }
            // The disk may be full. What is derived goes in any case.
            self.make_room(&folder)?;
            self.note_purge(&folder, &state, &contributions, now)?;
        }
        let purged = self.set_aside(workspace, &folder)?;
        if let (Some(shared), Some(writer)) = (&shared, writer.as_mut()) {
            shared.withdraw(writer);
        }
        drop(writer);
        *open = Open::default();
        let synced = self.files.sync_folder(&self.workspace_folder(workspace));
        synced.map_err(|source| StoreError::Leftover { path: purged.clone(), source })?;
        self.remove_purged(&purged)?;
        let purge = UserPurge { folder: purged, contributions: contributions.contributions };
        if purge.contributions.is_empty() {
            self.finish(&purge)?;
        }
        Ok(Some(purge))
    }

    /// Writes down what is still to be known once the folder is gone.
    fn note_purge(
        &self,
        folder: &Path,
        state: &State,
        contributions: &Contributions,
        now: &Moment,
    ) -> Result<(), StoreError> {
        forgotten::write(self.files.as_ref(), &beside(folder, FORGOTTEN), state, now)?;
        let path = folder.join(CONTRIBUTIONS);
        Ok(note::replace(self.files.as_ref(), &path, &note::encode(contributions))?)
    }

    /// Removes from a user's folder what can be made again from the log.
    fn make_room(&self, folder: &Path) -> Result<(), StoreError> {
        let refused = |error| StoreError::io("make room in", folder, error);
        for entry in self.files.list(folder).map_err(refused)? {
            let path = folder.join(&entry.name);
            match entry.name.as_str() {
                LOG | LOCK | CONTRIBUTIONS => {}
                _ if entry.folder => remove_tree(self.files.as_ref(), &path).map_err(refused)?,
                _ => self.files.remove(&path).map_err(refused)?,
            }
        }
        self.files.sync_folder(folder).map_err(refused)
    }

    /// Gives the folder a name under which nobody opens it.
    fn set_aside(&self, workspace: &WorkspaceId, folder: &Path) -> Result<PathBuf, StoreError> {
        let parent = self.workspace_folder(workspace);
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let taken = self.files.list(&parent).map_err(|error| StoreError::io("list", &parent, error))?;
        let free = |number: &u64| {
            let name = format!("{PURGED}{number:04}-{name}");
            taken.iter().all(|entry| entry.name != name)
        };
        let number = (0..=taken.len() as u64).find(free).unwrap_or_default();
        let purged = parent.join(format!("{PURGED}{number:04}-{name}"));
        self.files.rename(folder, &purged).map_err(|error| StoreError::io("purge", folder, error))?;
        Ok(purged)
    }

    /// Removes all of a purged user but what the pool has still to be told.
    fn remove_purged(&self, purged: &Path) -> Result<(), StoreError> {
        let leftover = |source| StoreError::Leftover { path: purged.to_path_buf(), source };
        for entry in self.files.list(purged).map_err(leftover)? {
            let path = purged.join(&entry.name);
            if entry.folder {
                remove_tree(self.files.as_ref(), &path).map_err(leftover)?;
            } else if entry.name != CONTRIBUTIONS {
                // Another process may be at it too.
                match self.files.remove(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(leftover(error)),
                    _ => {}
                }
            }
        }
        self.files.sync_folder(purged).map_err(leftover)
    }

    /// Goes on with purges of users that were not finished: removes what is left, and returns what the pool is still to be told.
    ///
    /// # Errors
    /// [`StoreError::Io`] and [`StoreError::Leftover`] when the disk refuses.
    pub fn unfinished(&self, workspace: &WorkspaceId) -> Result<Vec<UserPurge>, StoreError> {
        let parent = self.workspace_folder(workspace);
        let entries = match self.files.list(&parent) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", &parent, error)),
        };
        let mut purges = Vec::new();
        for entry in entries.iter().filter(|entry| entry.folder && entry.name.starts_with(PURGED)) {
            let folder = parent.join(&entry.name);
            self.remove_purged(&folder)?;
            let note =
                note::read::<Contributions>(self.files.as_ref(), &folder.join(CONTRIBUTIONS)).unwrap_or_default();
            let contributions = note.map(|note| note.contributions).unwrap_or_default();
            let purge = UserPurge { folder, contributions };
            if purge.contributions.is_empty() { self.finish(&purge)? } else { purges.push(purge) }
        }
        Ok(purges)
    }

    /// Forgets the contributions of a purged user, once the pool no longer has them.
    ///
    /// # Errors
    /// [`StoreError::Leftover`] when the disk refuses.
    pub fn finish(&self, purge: &UserPurge) -> Result<(), StoreError> {
        let leftover = |source| StoreError::Leftover { path: purge.folder.clone(), source };
        remove_tree(self.files.as_ref(), &purge.folder).map_err(leftover)?;
        let parent = purge.folder.parent().unwrap_or(&self.folder);
        self.files.sync_folder(parent).map_err(leftover)
    }

    /// The folder of a user's log, for messages.
    #[must_use]
    pub fn log_folder(&self, workspace: &WorkspaceId, user: &UserId) -> PathBuf {
        self.user_folder(workspace, user).join(LOG)
    }
}

/// The path beside a user's folder of something that is the user's too.
fn beside(folder: &Path, what: &str) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!("{what}{name}"))
}

/// Makes a folder that lasts. One that is there may be from a process that ended before it was sure to last.
fn create(files: &dyn Files, folder: &Path) -> Result<(), StoreError> {
    files.create_folder(folder).map_err(|error| StoreError::io("create", folder, error))?;
    let parent = folder.parent().unwrap_or(folder);
    files.sync_folder(parent).map_err(|error| StoreError::io("create", folder, error))
}

impl Store {
    /// What purges of this user's earlier memories left that were not finished; see [`Root::unfinished`].
    ///
    /// # Errors
    /// [`StoreError::Io`] when the disk refuses.
    pub fn unfinished(&self) -> Result<Vec<PathBuf>, StoreError> {
        let folder = &self.shared.folder;
        let parent = folder.parent().unwrap_or(folder);
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let entries = self.shared.files.list(parent).map_err(|error| StoreError::io("list", parent, error))?;
        let of = |entry: &&Entry| entry.folder && entry.name.starts_with(PURGED) && entry.name.ends_with(name.as_ref());
        Ok(entries.iter().filter(of).map(|entry| parent.join(&entry.name)).collect())
    }
}

impl Clone for Store {
    fn clone(&self) -> Self {
        let slot = self.slots.slot(&self.shared.folder);
        let mut open = guard(&slot);
        if open.shared.as_ref().is_some_and(|shared| Arc::ptr_eq(shared, &self.shared)) {
            open.handles += 1;
        }
        Self { shared: self.shared.clone(), slots: self.slots.clone() }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let slot = self.slots.slot(&self.shared.folder);
        let mut open = guard(&slot);
        // After a purge the slot may be that of the same user's next memory.
        if !open.shared.as_ref().is_some_and(|shared| Arc::ptr_eq(shared, &self.shared)) {
            return;
        }
        open.handles = open.handles.saturating_sub(1);
        if open.handles == 0 {
            open.shared = None;
            // The lock goes now, and not when the last reader is done.
            *guard(&self.shared.writer) = None;
        }
    }
}
