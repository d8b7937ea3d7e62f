//! The folder of a run: what it was begun with, its metrics, decisions, checkpoints and weights. It trains nothing.
//!
//! | file | what is in it |
//! |---|---|
//! | `run.json` | what the run was begun with; written once |
//! | `metrics.jsonl` | a line for each step |
//! | `checkpoints/` | the newest whole states, to resume from |
//! | `policy.safetensors`, `policy.json` | the weights at the end, and what they are |
//! | `best.safetensors`, `best.json` | the weights with the best dev success, and how good they are |
//! | `chart.svg`, `tensorboard/` | the same as pictures |

use std::fs;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_learn::checkpoint::{Checkpoints, Disk, Found, read_newest};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The format of `run.json`.
pub const FORMAT: &str = "loopwright-run/1";
/// Bytes of a JSON file of a run, at most.
const JSON_BYTES_MAX: u64 = 1 << 20;
/// Bytes of `metrics.jsonl` that are read, at most.
const METRICS_BYTES_MAX: u64 = 1 << 30;
/// Whole checkpoints that are kept.
const CHECKPOINTS_KEPT: NonZeroUsize = NonZeroUsize::new(3).unwrap();

/// A run's folder.
#[derive(Debug, Clone)]
pub struct RunFolder(PathBuf);

impl RunFolder {
    /// A folder for a new run, which is made, with the files that it begins with. `run.json` is written last: where it is, the run is whole.
    ///
    /// # Errors
    /// A folder that holds a run already, or in which another process begins one, and one that cannot be written.
    pub fn begin(path: &Path, run: &impl Serialize, files: &[(&str, &[u8])]) -> anyhow::Result<Self> {
        let folder = Self(path.to_owned());
        folder.check_free()?;
        fs::create_dir_all(path).with_context(|| format!("folder `{}` cannot be made", path.display()))?;
        let lock = folder.checkpoints()?;
        folder.check_free()?;
        for (name, bytes) in files {
            folder.write(name, bytes)?;
        }
        folder.write_json("run.json", run)?;
        drop(lock);
        Ok(folder)
    }

    /// That no run was begun.
    fn check_free(&self) -> anyhow::Result<()> {
        let path = &self.0;
        anyhow::ensure!(
            !self.path("run.json").exists(),
            "`{}` holds a run already\nhint: `loopwright train resume {}` goes on with it; --out names another folder",
            path.display(),
            path.display()
        );
        Ok(())
    }

    /// The folder of a run.
    ///
    /// # Errors
    /// A folder without one.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let folder = Self(path.to_owned());
        anyhow::ensure!(
            folder.path("run.json").exists(),
            "no run in `{}`: expected a file run.json\nhint: `loopwright train sft` or `train rl` begin one",
            path.display()
        );
        Ok(folder)
    }

    /// Any folder, to read files of.
    #[must_use]
    pub fn open_any(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The path of something in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Reads a JSON file of it.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> anyhow::Result<T> {
        let path = self.path(name);
        let said = || format!("`{}` cannot be read", path.display());
        let length = fs::metadata(&path).with_context(said)?.len();
        anyhow::ensure!(length <= JSON_BYTES_MAX, "`{}` has {length} bytes, at most {JSON_BYTES_MAX}", path.display());
        serde_json::from_slice(&fs::read(&path).with_context(said)?).with_context(said)
    }

    /// Writes a JSON file of it: the old one or the new one is there, never a part.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> anyhow::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(value)?;
        bytes.push(b'\n');
        self.write(name, &bytes)
    }

    /// Writes a file of it: the old one or the new one is there, never a part.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let (path, unfinished) = (self.path(name), self.path(&format!("tmp-{name}")));
        let written = fs::File::create(&unfinished).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)
        });
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written.with_context(|| format!("`{}` cannot be written", path.display()))
    }

    fn checkpoint_folder(&self) -> PathBuf {
        self.path("checkpoints")
    }

    /// Takes hold of the checkpoints: one run writes them.
    ///
    /// # Errors
    /// When another process does.
    pub fn checkpoints(&self) -> anyhow::Result<Checkpoints> {
        fs::create_dir_all(self.checkpoint_folder())?;
        Ok(Checkpoints::open(Arc::new(Disk), self.checkpoint_folder(), CHECKPOINTS_KEPT)?)
    }

    /// The newest whole checkpoint; none before the first.
    ///
    /// # Errors
    /// Checkpoints of which none is whole.
    pub fn newest(&self) -> anyhow::Result<Option<Found>> {
        Ok(read_newest(&Disk, &self.checkpoint_folder())?)
    }

    /// Cuts `metrics.jsonl` to the lines of steps up to `step`: what came later is done again. What stays keeps its bytes.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn cut_metrics(&self, step: u64) -> anyhow::Result<()> {
        let text = self.metrics_text()?;
        let kept = self.metrics()?.iter().zip(text.lines()).fold(String::new(), |mut kept, (value, line)| {
            if value.get("step").and_then(serde_json::Value::as_u64).is_some_and(|of| of <= step) {
                kept.push_str(line);
                kept.push('\n');
            }
            kept
        });
        self.write("metrics.jsonl", kept.as_bytes())
    }

    /// The lines of `metrics.jsonl`; none without the file. A last line that was cut off is left out.
    ///
    /// # Errors
    /// A file that cannot be read, or a line in the middle that is no JSON.
    pub fn metrics(&self) -> anyhow::Result<Vec<serde_json::Value>> {
        let path = self.path("metrics.jsonl");
        let parse = |(number, line): (usize, &str)| {
            serde_json::from_str(line).with_context(|| format!("line {} of `{}`", number + 1, path.display()))
        };
        self.metrics_text()?.lines().enumerate().map(parse).collect()
    }

    /// The whole lines of `metrics.jsonl`.
    fn metrics_text(&self) -> anyhow::Result<String> {
        let path = self.path("metrics.jsonl");
        if !path.exists() {
            return Ok(String::new());
        }
        let length = fs::metadata(&path)?.len();
        anyhow::ensure!(
            length <= METRICS_BYTES_MAX,
            "`{}` has {length} bytes, at most {METRICS_BYTES_MAX} are read",
            path.display()
        );
        let mut text = fs::read_to_string(&path).with_context(|| format!("`{}` cannot be read", path.display()))?;
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        Ok(text)
    }
}

/// What a file of weights is: `policy.json` and `best.json`, beside the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyCard {
    /// The course that it was trained in.
    pub course: String,
    /// Its architecture.
    pub architecture: serde_json::Value,
    /// What tells it from any other.
    pub digest: String,
    /// The step after which it was taken.
    pub step: u64,
    /// Dev success, 0 to 1, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_success: Option<f64>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_begins_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let begin = |seed: u64| RunFolder::begin(&path, &json!({"seed": seed}), &[("start", b"weights")]);
        // Another process begins one, or has one under way.
        let held = RunFolder::open_any(&path).checkpoints().unwrap();
        begin(1).expect_err("it is held");
        assert!(!path.join("run.json").exists() && !path.join("start").exists(), "nothing was written");
        drop(held);
        // A file that cannot be written: there is no run, and it can be begun again.
        fs::create_dir(path.join("start")).unwrap();
        begin(2).expect_err("a folder is in the way");
        assert!(RunFolder::open(&path).is_err(), "run.json comes last");
        fs::remove_dir(path.join("start")).unwrap();
        let run = begin(3).expect("a run");
        assert_eq!(fs::read(run.path("start")).unwrap(), b"weights");
        let error = format!("{:#}", begin(4).expect_err("a run is there"));
        assert!(error.contains("holds a run already\nhint: `loopwright train resume"), "{error}");
        assert_eq!(run.read_json::<serde_json::Value>("run.json").unwrap(), json!({"seed": 3}));
    }
}
