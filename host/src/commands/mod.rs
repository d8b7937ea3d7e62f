//! One module for each command.

pub mod author;
pub mod bench;
pub mod compare;
pub mod compile;
mod consent;
pub mod doctor;
pub mod eval;
pub mod export;
pub mod gate;
pub mod memory;
pub mod pack;
pub mod plugin;
mod reach;
pub mod registry;
pub mod replay;
pub mod run;
pub mod serve;
pub mod show;
pub mod train;
mod trial;
pub mod verifier;
pub mod verify;

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use loopwright_harness::trajectory::read_folder;

use crate::cli::Cli;
use crate::exit::Exit;

/// Prints a completion script.
///
/// # Errors
/// None; the signature is that of every command.
pub fn completions(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "loopwright", &mut script);
    crate::output::print(String::from_utf8_lossy(&script));
    Ok(Exit::Good)
}

/// The trajectories of a folder and of the folders in it, sorted, each with the folder that its worlds lie beside.
///
/// # Errors
/// When the folder cannot be read or holds none.
pub fn trajectories(folder: &Path) -> anyhow::Result<Vec<(PathBuf, PathBuf)>> {
    let mut folders = vec![folder.to_owned()];
    for entry in std::fs::read_dir(folder)
        .map_err(|error| anyhow::anyhow!("folder `{}` cannot be read: {error}", folder.display()))?
    {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("worlds") {
            folders.push(path);
        }
    }
    folders.sort();
    let mut files = Vec::new();
    for folder in folders {
        files.extend(read_folder(&folder)?.into_iter().map(|file| (file, folder.clone())));
    }
    if files.is_empty() {
        anyhow::bail!("no trajectories in `{}`: expected files `*.jsonl` or `*.jsonl.zst`", folder.display());
    }
    Ok(files)
}

/// Does something with each item on some threads, and returns what came of it in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], jobs: usize, act: &(dyn Fn(&T) -> R + Sync)) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let position = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            match items.get(position) {
                Some(item) => done.push((position, act(item))),
                None => return done,
            }
        }
    };
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..jobs.clamp(1, 64)).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        for other in others {
            match other.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_results_does_not_depend_on_the_threads() {
        let items: Vec<u32> = (0..100).collect();
        for jobs in [0, 1, 2, 7, 1000] {
            assert_eq!(
                in_parallel(&items, jobs, &|item| item * 2),
                items.iter().map(|item| item * 2).collect::<Vec<_>>(),
                "{jobs} jobs"
            );
        }
    }
}
