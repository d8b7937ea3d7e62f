//! Where machine code comes from: this process, or a short-lived one that is confined. It knows no plugin, no grant and no cache.
//!
//! # What it is against
//!
//! Compiling is work on hostile bytes, and its cost is the author's to choose: a component of a few kilobytes can take minutes or gigabytes,
//! and the engine's own policy counts that as no flaw. So a component that the operator did not mark as first-party is compiled by a child
//! with limits on processor time, memory and files, an empty environment, and two pipes. It runs out of its limits alone, its crash is an
//! error of one installation, and the host goes on.
//!
//! The child never sees the key that authenticates cached code: the host tags what it hands back, under the name of the component that was
//! given in. A child that was taken over by its component could thus hand back code for that component, and for no other; it holds no
//! secret, no file and no other component. What it could still do is what a wrong compiler could do, since machine code is loaded on the
//! compiler's word: that threat is the engine's, and is not contained here.

mod child;
mod frame;
mod worker;

use std::{fmt, sync::Arc, time::Duration};

pub use child::ChildCompiler;
pub use worker::serve_compiler;

use crate::EngineClass;

/// Bytes of machine code that a child may hand back: several times the largest component.
pub const CODE_BYTES_MAX: usize = 512 * 1024 * 1024;

/// Whose component it is, as far as it matters to what may be done with its bytes. The operator says it; nothing in a component does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Trust {
    /// Built by the operator: it is compiled in this process.
    FirstParty,
    /// Anybody's: it is compiled by the configured [`Compiler`], or not at all.
    #[default]
    ThirdParty,
}

/// Compiles components of third parties, away from the host.
pub trait Compiler: Send + Sync {
    /// The serialized machine code of a component, for the engine of that class in this version.
    ///
    /// # Errors
    /// [`CompileFault`]; `Refused` when the component is at fault.
    fn compile(&self, class: EngineClass, component: &[u8]) -> Result<Vec<u8>, CompileFault>;
}

/// The operator's choice of a compiler for third parties.
#[derive(Clone, Default)]
pub struct ThirdPartyCompiler(pub Option<Arc<dyn Compiler>>);

impl fmt::Debug for ThirdPartyCompiler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "ThirdPartyCompiler(..)" } else { "ThirdPartyCompiler(none)" })
    }
}

/// What one compilation may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileLimits {
    /// Processor time of all its threads together, in seconds.
    pub cpu_s: u64,
    /// Address space, in bytes.
    pub memory_bytes: u64,
    /// Time until the host gives up, whatever the child does.
    pub wall: Duration,
    /// Bytes of code that it may hand back.
    pub code_bytes: usize,
}

impl Default for CompileLimits {
    /// An interpreter of 18 MB is reported to compile in about 2 s on several cores; this leaves room for one core and a build for debugging.
    fn default() -> Self {
        Self {
            cpu_s: 120,
            memory_bytes: 4 * 1024 * 1024 * 1024,
            wall: Duration::from_secs(240),
            code_bytes: CODE_BYTES_MAX,
        }
    }
}

/// Why there is no machine code.
#[derive(Debug, thiserror::Error)]
pub enum CompileFault {
    /// The component is of a third party, and no compiler is configured for those.
    #[error(
        "it is not first-party, and there is no compiler process for others\nhint: run it with the `loopwright` command, or mark it in the index as the operator's own"
    )]
    NoCompiler,
    /// The compiler says that the component is none.
    #[error("{0}")]
    Refused(String),
    /// It ran out of processor time, or of time.
    #[error("compiling took more than {limit_ms} ms of {of}")]
    TooLong {
        /// What was allowed, in milliseconds.
        limit_ms: u64,
        /// `processor time` or `time`.
        of: &'static str,
    },
    /// It ran out of memory.
    #[error("compiling took more than {limit_bytes} bytes of memory")]
    TooMuchMemory {
        /// What was allowed.
        limit_bytes: u64,
    },
    /// It handed back more than was allowed.
    #[error("the compiler process handed back more than {limit_bytes} bytes")]
    TooMuchCode {
        /// What was allowed.
        limit_bytes: usize,
    },
    /// It ended without an answer.
    #[error("the compiler process ended early: {how}")]
    Died {
        /// By which code or signal, and its last words.
        how: String,
    },
    /// What it handed back is no machine code of this engine.
    #[error("the compiler process handed back something else than code of this engine: {what}")]
    Garbage {
        /// What was expected and what was found.
        what: String,
    },
    /// It could not be started, or its pipes failed.
    #[error("the compiler process does not run")]
    Start(#[source] std::io::Error),
}
