//! `metrics.jsonl`: one line for each step of a run. It says nothing that the trainer did not.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;

/// Where the lines of a run go.
#[derive(Debug)]
pub struct Metrics {
    file: BufWriter<File>,
    path: PathBuf,
}

impl Metrics {
    /// A fresh file; one that is there is replaced.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).with_context(|| format!("folder `{}` cannot be made", folder.display()))?;
        Self::with(OpenOptions::new().create(true).write(true).truncate(true), path)
    }

    /// Goes on with a file; it is made when it is not there.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn append(path: &Path) -> anyhow::Result<Self> {
        Self::with(OpenOptions::new().create(true).append(true), path)
    }

    fn with(options: &OpenOptions, path: &Path) -> anyhow::Result<Self> {
        let file = options.open(path).with_context(|| format!("`{}` cannot be written", path.display()))?;
        Ok(Self { file: BufWriter::new(file), path: path.to_owned() })
    }

    /// Writes one line, which is in the file when this returns.
    ///
    /// # Errors
    /// A file that cannot be written, such as on a full disk.
    pub fn line(&mut self, record: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_string(record)?;
        text.push('\n');
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.flush());
        self.said(written)
    }

    /// Makes the lines so far outlast a loss of power.
    ///
    /// # Errors
    /// A disk that does not write.
    pub fn sync(&self) -> anyhow::Result<()> {
        self.said(self.file.get_ref().sync_data())
    }

    fn said(&self, written: std::io::Result<()>) -> anyhow::Result<()> {
        written.with_context(|| {
            format!(
                "`{}` cannot be written\nhint: checkpoints that were written are whole; make room and resume",
                self.path.display()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    /// A device that is always full stands for a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_named_with_what_to_do() {
        let mut metrics = Metrics::append(Path::new("/dev/full")).expect("it can be opened");
        let error = metrics.line(&serde_json::json!({"step": 1})).expect_err("it is full");
        let text = format!("{error:#}");
        for part in ["`/dev/full` cannot be written", "hint:", "make room and resume", "No space left on device"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert_eq!(Exit::of(&error), Exit::BadInput);
    }
}
