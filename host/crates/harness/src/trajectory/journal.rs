//! Where the lines of a live episode go.

use std::io;
use std::path::PathBuf;

use loopwright_contract::trajectory::Line;

use super::file::TrajectoryFile;
use super::line::Chain;

/// Where lines go.
#[derive(Debug)]
enum Target {
    Nowhere,
    Memory(Vec<String>),
    File(Box<TrajectoryFile>),
}

/// The lines of one episode, chained as they are written.
#[derive(Debug)]
pub(crate) struct Journal {
    chain: Chain,
    target: Target,
}

impl Journal {
    pub(crate) fn nowhere() -> Self {
        Self { chain: Chain::default(), target: Target::Nowhere }
    }

    pub(crate) fn in_memory() -> Self {
        Self { chain: Chain::default(), target: Target::Memory(Vec::new()) }
    }

    pub(crate) fn to_file(file: TrajectoryFile) -> Self {
        Self { chain: Chain::default(), target: Target::File(Box::new(file)) }
    }

    /// Whether lines are kept at all; where they are not, they need not be built.
    pub(crate) fn keeps(&self) -> bool {
        !matches!(self.target, Target::Nowhere)
    }

    pub(crate) fn write(&mut self, line: &Line) -> io::Result<()> {
        match &mut self.target {
            Target::Nowhere => Ok(()),
            Target::Memory(lines) => {
                lines.push(self.chain.append(line).map_err(io::Error::other)?);
                Ok(())
            }
            Target::File(file) => file.append(&self.chain.append(line).map_err(io::Error::other)?),
        }
    }

    /// Writes a header whose plugins were left out, with their canonical text in place.
    pub(crate) fn write_header(&mut self, header: &Line, plugins: &str) -> io::Result<()> {
        match &mut self.target {
            Target::Nowhere => Ok(()),
            Target::Memory(lines) => {
                lines.push(self.chain.append_with_plugins(header, plugins).map_err(io::Error::other)?);
                Ok(())
            }
            Target::File(file) => {
                file.append(&self.chain.append_with_plugins(header, plugins).map_err(io::Error::other)?)
            }
        }
    }

    /// The lines so far, where they are kept in memory.
    pub(crate) fn lines(&self) -> &[String] {
        match &self.target {
            Target::Memory(lines) => lines,
            Target::Nowhere | Target::File(_) => &[],
        }
    }

    /// A copy that goes on in memory; the lines of a file are not copied.
    pub(crate) fn fork(&self) -> Self {
        let target = match &self.target {
            Target::Memory(lines) => Target::Memory(lines.clone()),
            Target::Nowhere | Target::File(_) => Target::Nowhere,
        };
        Self { chain: self.chain, target }
    }

    /// Ends the journal: the lines, or the file's path.
    pub(crate) fn finish(self) -> io::Result<(Option<Vec<String>>, Option<PathBuf>)> {
        match self.target {
            Target::Nowhere => Ok((None, None)),
            Target::Memory(lines) => Ok((Some(lines), None)),
            Target::File(file) => file.finish().map(|path| (None, Some(path))),
        }
    }
}
