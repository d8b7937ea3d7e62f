//! A file system in memory that ends where it is told to: at any making, writing, fsync, rename, removal or fsync of a folder. After a
//! loss of power, what
//! was not synced may be lost, torn or rubbish, and changes of names that were not synced are there up to any of them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::files::{Entry, Files, Lock};
use crate::nn::random::Stream;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    Folder(usize),
    File(usize),
}

type Names = BTreeMap<String, Node>;
/// Names that change together.
type Step = Vec<(String, Option<Node>)>;

#[derive(Clone, Default)]
struct Folder {
    live: Names,
    disk: Names,
    pending: Vec<Step>,
}

#[derive(Clone, Default)]
struct File {
    live: Vec<u8>,
    disk: Vec<u8>,
}

#[derive(Clone, Default)]
struct Machine {
    folders: Vec<Folder>,
    files: Vec<File>,
    steps: u64,
    dies_at: Option<u64>,
    dead: bool,
    /// Bytes that may still be written.
    room: Option<usize>,
}

#[derive(Clone)]
pub(super) struct Faulty {
    machine: Arc<Mutex<Machine>>,
    locked: Arc<AtomicBool>,
}

struct Held(Arc<AtomicBool>);

impl Lock for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}

fn set(names: &mut Names, step: &Step) {
    for (name, node) in step {
        match node {
            Some(node) => names.insert(name.clone(), *node),
            None => names.remove(name),
        };
    }
}

impl Machine {
    fn step(&mut self) -> io::Result<()> {
        if self.dead || self.dies_at.is_some_and(|at| self.steps >= at) {
            self.dead = true;
            return Err(io::Error::other("the process was killed"));
        }
        self.steps += 1;
        Ok(())
    }

    fn node(&self, path: &Path) -> io::Result<Node> {
        let names = path.components().filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        });
        names.into_iter().try_fold(Node::Folder(0), |node, name| match node {
            Node::Folder(folder) => self.folders[folder].live.get(name).copied().ok_or_else(not_found),
            Node::File(_) => Err(not_found()),
        })
    }

    fn folder(&self, path: &Path) -> io::Result<usize> {
        match self.node(path)? {
            Node::Folder(folder) => Ok(folder),
            Node::File(_) => Err(not_found()),
        }
    }

    fn file(&self, path: &Path) -> io::Result<usize> {
        match self.node(path)? {
            Node::File(file) => Ok(file),
            Node::Folder(_) => Err(not_found()),
        }
    }

    fn parent(&self, path: &Path) -> io::Result<(usize, String)> {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(not_found)?;
        Ok((self.folder(path.parent().ok_or_else(not_found)?)?, name.to_owned()))
    }

    fn change(&mut self, folder: usize, step: Step) {
        let folder = &mut self.folders[folder];
        set(&mut folder.live, &step);
        folder.pending.push(step);
    }

    fn lose_power(&mut self, random: &mut Stream) {
        let mut below = |count: usize| (random.uniform() * count as f64) as usize;
        for folder in &mut self.folders {
            let kept = below(folder.pending.len() + 1);
            for step in std::mem::take(&mut folder.pending).iter().take(kept) {
                set(&mut folder.disk, step);
            }
            folder.live = folder.disk.clone();
        }
        for file in self.files.iter_mut().filter(|file| file.live != file.disk) {
            let whole = below(file.live.len() + 1);
            let rest = file.live.split_off(whole);
            match below(3) {
                0 => {}
                1 => file.live.extend(vec![0; rest.len()]),
                _ => file.live.extend(rest.iter().map(|byte| byte ^ 0x5a)),
            }
            file.disk = file.live.clone();
        }
    }
}

impl Faulty {
    pub(super) fn new() -> Self {
        let machine = Machine { folders: vec![Folder::default()], ..Machine::default() };
        Self { machine: Arc::new(Mutex::new(machine)), locked: Arc::default() }
    }

    fn machine(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another file system with the same files, on which no step was made.
    pub(super) fn fork(&self) -> Self {
        let machine = Machine { steps: 0, ..self.machine().clone() };
        Self { machine: Arc::new(Mutex::new(machine)), locked: Arc::default() }
    }

    pub(super) fn steps(&self) -> u64 {
        self.machine().steps
    }

    /// Kills the process before the step with this number.
    pub(super) fn die_at(&self, step: u64) {
        self.machine().dies_at = Some(step);
    }

    /// What the next process sees after a kill; with a loss of power, what the machine's disk has.
    pub(super) fn restart(&self, power: Option<&mut Stream>) {
        let mut machine = self.machine();
        (machine.dead, machine.dies_at) = (false, None);
        if let Some(random) = power {
            machine.lose_power(random);
        }
    }

    pub(super) fn leave_room(&self, room: Option<usize>) {
        self.machine().room = room;
    }

    /// All files with their bytes.
    pub(super) fn all(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(machine: &Machine, at: usize, path: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for (name, node) in &machine.folders[at].live {
                match node {
                    Node::File(file) => drop(all.insert(path.join(name), machine.files[*file].live.clone())),
                    Node::Folder(folder) => walk(machine, *folder, &path.join(name), all),
                }
            }
        }
        let (machine, mut all) = (self.machine(), BTreeMap::new());
        walk(&machine, 0, Path::new(""), &mut all);
        all
    }

    /// Puts other bytes into a file, as damage does.
    pub(super) fn damage(&self, path: &Path, edit: impl FnOnce(&mut Vec<u8>)) {
        let mut machine = self.machine();
        let file = machine.file(path).expect("a file");
        edit(&mut machine.files[file].live);
        machine.files[file].disk = machine.files[file].live.clone();
    }

    fn open(&self, path: &Path) -> io::Result<usize> {
        let mut machine = self.machine();
        machine.step()?;
        let (folder, name) = machine.parent(path)?;
        if let Ok(file) = machine.file(path) {
            machine.files[file].live.clear();
            return Ok(file);
        }
        machine.files.push(File::default());
        let file = machine.files.len() - 1;
        machine.change(folder, vec![(name, Some(Node::File(file)))]);
        Ok(file)
    }
}

impl Files for Faulty {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let machine = self.machine();
        Ok(machine.files[machine.file(path)?].live.clone())
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        self.read(path).map(|bytes| bytes.len() as u64)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let machine = self.machine();
        let names = &machine.folders[machine.folder(folder)?].live;
        let entry =
            |(name, node): (&String, &Node)| Entry { name: name.clone(), folder: matches!(node, Node::Folder(_)) };
        Ok(names.iter().map(entry).collect())
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        let mut machine = self.machine();
        if machine.folder(folder).is_ok() {
            return Ok(());
        }
        machine.step()?;
        let (parent, name) = machine.parent(folder)?;
        machine.folders.push(Folder::default());
        let node = Node::Folder(machine.folders.len() - 1);
        machine.change(parent, vec![(name, Some(node))]);
        Ok(())
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let file = self.open(path)?;
        // In two parts, so that a kill can come between them.
        for half in [&bytes[..bytes.len() / 2], &bytes[bytes.len() / 2..]] {
            let mut machine = self.machine();
            machine.step()?;
            let fits = machine.room.map_or(half.len(), |room| room.min(half.len()));
            machine.room = machine.room.map(|room| room - fits);
            machine.files[file].live.extend(&half[..fits]);
            if fits < half.len() {
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        let mut machine = self.machine();
        machine.step()?;
        machine.files[file].disk = machine.files[file].live.clone();
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut machine = self.machine();
        machine.step()?;
        let node = machine.node(from)?;
        let ((folder, old), (other, new)) = (machine.parent(from)?, machine.parent(to)?);
        assert_eq!(folder, other, "names are changed within one folder");
        if let Ok(Node::Folder(there)) = machine.node(to) {
            assert!(machine.folders[there].live.is_empty(), "a full folder is not replaced");
        }
        machine.change(folder, vec![(old, None), (new, Some(node))]);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut machine = self.machine();
        machine.file(path)?;
        machine.step()?;
        let (folder, name) = machine.parent(path)?;
        machine.change(folder, vec![(name, None)]);
        Ok(())
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        let mut machine = self.machine();
        let number = machine.folder(folder)?;
        assert!(machine.folders[number].live.is_empty(), "a folder is empty before it goes");
        machine.step()?;
        let (parent, name) = machine.parent(folder)?;
        machine.change(parent, vec![(name, None)]);
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut machine = self.machine();
        machine.step()?;
        let number = machine.folder(folder)?;
        let folder = &mut machine.folders[number];
        folder.disk = folder.live.clone();
        folder.pending.clear();
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>> {
        if self.locked.swap(true, Ordering::SeqCst) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let held = Held(self.locked.clone());
        if self.machine().file(path).is_err() {
            self.open(path)?;
        }
        Ok(Box::new(held))
    }
}
