//! A file system in memory that ends where it is told to: at any write, fsync, rename, removal or fsync of a folder. What was not synced may
//! then be lost, or torn: any first part of what was pending may be there, with zeros or rubbish after it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::files::{Appender, Entry, Files, Lock};
use super::Random;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Node {
    Folder(usize),
    File(usize),
}

type Names = BTreeMap<String, Node>;

#[derive(Clone, Default)]
struct Folder {
    live: Names,
    disk: Names,
    /// Changes that were not synced: each is one step, as a rename is.
    pending: Vec<Vec<(String, Option<Node>)>>,
}

#[derive(Clone)]
enum Change {
    Write(Vec<u8>),
    Truncate(usize),
}

#[derive(Clone, Default)]
struct File {
    live: Vec<u8>,
    disk: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Default)]
struct Disk {
    folders: Vec<Folder>,
    files: Vec<File>,
    locks: BTreeSet<usize>,
    /// Steps that changed something.
    steps: u64,
    /// The step that does not happen, nor any after it.
    dies_at: Option<u64>,
    dead: bool,
    /// Bytes that may still be written.
    room: Option<usize>,
}

/// A file system in memory.
#[derive(Clone)]
pub(super) struct Faulty(Arc<Mutex<Disk>>);

fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Disk {
    fn step(&mut self) -> io::Result<()> {
        if self.dead || self.dies_at.is_some_and(|at| self.steps >= at) {
            self.dead = true;
            return Err(io::Error::other("the process was killed"));
        }
        self.steps += 1;
        Ok(())
    }

    fn names(path: &Path) -> Vec<String> {
        let normal = path.components().filter_map(|part| match part {
            Component::Normal(name) => name.to_str().map(str::to_owned),
            _ => None,
        });
        normal.collect()
    }

    fn folder(&self, path: &Path) -> io::Result<usize> {
        Self::names(path).iter().try_fold(0, |at, name| match self.folders[at].live.get(name) {
            Some(Node::Folder(next)) => Ok(*next),
            _ => Err(not_found()),
        })
    }

    fn parent(&self, path: &Path) -> io::Result<(usize, String)> {
        let name = path.file_name().and_then(OsStr::to_str).ok_or_else(not_found)?;
        Ok((self.folder(path.parent().ok_or_else(not_found)?)?, name.to_owned()))
    }

    fn node(&self, path: &Path) -> io::Result<Node> {
        let (folder, name) = self.parent(path)?;
        self.folders[folder].live.get(&name).copied().ok_or_else(not_found)
    }

    fn file(&self, path: &Path) -> io::Result<usize> {
        match self.node(path)? {
            Node::File(file) => Ok(file),
            Node::Folder(_) => Err(not_found()),
        }
    }

    fn change(&mut self, folder: usize, step: Vec<(String, Option<Node>)>) {
        let folder = &mut self.folders[folder];
        set(&mut folder.live, &step);
        folder.pending.push(step);
    }

    fn end(&mut self, random: &mut Random) {
        for folder in &mut self.folders {
            let kept = random.below(folder.pending.len() as u64 + 1);
            for step in folder.pending.drain(..).take(kept as usize) {
                set(&mut folder.disk, &step);
            }
            folder.pending.clear();
            folder.live = folder.disk.clone();
        }
        for file in &mut self.files {
            tear(file, random);
        }
        (self.dead, self.dies_at) = (false, None);
        self.locks.clear();
    }
}

fn set(names: &mut Names, step: &[(String, Option<Node>)]) {
    for (name, node) in step {
        match node {
            Some(node) => names.insert(name.clone(), *node),
            None => names.remove(name),
        };
    }
}

/// Leaves of what was not synced a first part, and perhaps a torn one after it.
fn tear(file: &mut File, random: &mut Random) {
    let kept = random.below(file.pending.len() as u64 + 1) as usize;
    for (number, change) in std::mem::take(&mut file.pending).into_iter().enumerate() {
        match change {
            Change::Truncate(length) if number < kept => file.disk.truncate(length),
            Change::Write(bytes) if number < kept => file.disk.extend(bytes),
            Change::Write(bytes) if number == kept => {
                let whole = random.below(bytes.len() as u64 + 1) as usize;
                file.disk.extend(&bytes[..whole]);
                match random.below(3) {
                    0 => {}
                    1 => file.disk.extend(vec![0; bytes.len() - whole]),
                    _ => file.disk.extend(bytes[whole..].iter().map(|byte| byte ^ (random.below(255) as u8 + 1))),
                }
                break;
            }
            _ => break,
        }
    }
    file.live = file.disk.clone();
}

impl Faulty {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Disk { folders: vec![Folder::default()], ..Disk::default() })))
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another file system with the same files, in which nobody has locked anything and no step was made.
    pub(super) fn fork(&self) -> Self {
        let disk = self.disk();
        let (folders, files) = (disk.folders.clone(), disk.files.clone());
        Self(Arc::new(Mutex::new(Disk { folders, files, ..Disk::default() })))
    }

    /// How many steps changed something so far.
    pub(super) fn steps(&self) -> u64 {
        self.disk().steps
    }

    /// Kills the process before the step with this number.
    pub(super) fn die_at(&self, step: u64) {
        self.disk().dies_at = Some(step);
    }

    pub(super) fn is_dead(&self) -> bool {
        self.disk().dead
    }

    /// Leaves as many bytes on the disk; none: as many as anybody wants.
    pub(super) fn leave_room(&self, room: Option<usize>) {
        self.disk().room = room;
    }

    /// What the next process sees when one was killed and the machine went on: everything, synced or not.
    pub(super) fn next_process(&self) {
        let mut disk = self.disk();
        (disk.dead, disk.dies_at) = (false, None);
        disk.locks.clear();
    }

    /// What a machine that lost its power has on its disk.
    pub(super) fn restart(&self, random: &mut Random) {
        self.disk().end(random);
    }

    /// All files, with their paths.
    pub(super) fn all(&self) -> Vec<(String, Vec<u8>)> {
        fn walk(disk: &Disk, at: usize, path: &str, all: &mut Vec<(String, Vec<u8>)>) {
            for (name, node) in &disk.folders[at].live {
                let path = format!("{path}/{name}");
                match node {
                    Node::File(file) => all.push((path, disk.files[*file].live.clone())),
                    Node::Folder(folder) => walk(disk, *folder, &path, all),
                }
            }
        }
        let (disk, mut all) = (self.disk(), Vec::new());
        walk(&disk, 0, "", &mut all);
        all
    }

    /// Puts other bytes into a file, as damage does.
    pub(super) fn damage(&self, path: &str, edit: impl FnOnce(&mut Vec<u8>)) {
        let mut disk = self.disk();
        let file = disk.file(Path::new(path)).expect("a file");
        let file = &mut disk.files[file];
        edit(&mut file.live);
        file.disk = file.live.clone();
    }
}

struct Grower {
    disk: Faulty,
    file: usize,
}

impl Appender for Grower {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.disk.disk();
        disk.step()?;
        let fits = disk.room.map_or(bytes.len(), |room| room.min(bytes.len()));
        disk.room = disk.room.map(|room| room - fits);
        let file = &mut disk.files[self.file];
        file.live.extend(&bytes[..fits]);
        file.pending.push(Change::Write(bytes[..fits].to_vec()));
        if fits == bytes.len() { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut disk = self.disk.disk();
        disk.step()?;
        let file = &mut disk.files[self.file];
        file.live.truncate(length as usize);
        file.pending.push(Change::Truncate(length as usize));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut disk = self.disk.disk();
        disk.step()?;
        let file = &mut disk.files[self.file];
        file.disk = file.live.clone();
        file.pending.clear();
        Ok(())
    }
}

struct Held {
    disk: Faulty,
    file: usize,
}

impl Lock for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        self.disk.disk().locks.remove(&self.file);
    }
}

impl Files for Faulty {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let disk = self.disk();
        Ok(disk.files[disk.file(path)?].live.clone())
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        self.read(path).map(|bytes| bytes.len() as u64)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let disk = self.disk();
        let names = &disk.folders[disk.folder(folder)?].live;
        let entry =
            |(name, node): (&String, &Node)| Entry { name: name.clone(), folder: matches!(node, Node::Folder(_)) };
        Ok(names.iter().map(entry).collect())
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        if disk.folder(folder).is_ok() {
            return Ok(());
        }
        disk.step()?;
        let (parent, name) = disk.parent(folder)?;
        disk.folders.push(Folder::default());
        let node = Node::Folder(disk.folders.len() - 1);
        disk.change(parent, vec![(name, Some(node))]);
        Ok(())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Appender>> {
        let mut disk = self.disk();
        disk.step()?;
        let (folder, name) = disk.parent(path)?;
        disk.files.push(File::default());
        let file = disk.files.len() - 1;
        disk.change(folder, vec![(name, Some(Node::File(file)))]);
        Ok(Box::new(Grower { disk: self.clone(), file }))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn Appender>> {
        let file = self.disk().file(path)?;
        Ok(Box::new(Grower { disk: self.clone(), file }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        disk.step()?;
        let node = disk.node(from)?;
        let ((folder, old), (other, new)) = (disk.parent(from)?, disk.parent(to)?);
        assert_eq!(folder, other, "names are changed in one folder");
        disk.change(folder, vec![(old, None), (new, Some(node))]);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        let file = disk.file(path)?;
        disk.step()?;
        let freed = disk.files[file].live.len();
        disk.room = disk.room.map(|room| room + freed);
        let (folder, name) = disk.parent(path)?;
        disk.change(folder, vec![(name, None)]);
        Ok(())
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        let node = disk.folder(folder)?;
        assert!(disk.folders[node].live.is_empty(), "a folder is empty before it goes");
        disk.step()?;
        let (parent, name) = disk.parent(folder)?;
        disk.change(parent, vec![(name, None)]);
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        disk.step()?;
        let folder = disk.folder(folder)?;
        let folder = &mut disk.folders[folder];
        folder.disk = folder.live.clone();
        folder.pending.clear();
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>> {
        let found = self.disk().file(path);
        let file = match found {
            Ok(file) => file,
            Err(_) => {
                self.create(path)?;
                self.disk().file(path)?
            }
        };
        if !self.disk().locks.insert(file) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(Held { disk: self.clone(), file }))
    }
}
