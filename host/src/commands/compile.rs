//! The hidden command that the host runs to compile one component of a third party, confined. It reads no configuration and no file.

use anyhow::Context as _;
use loopwright_engine::{CompileLimits, EngineClass, serve_compiler};

use crate::cli::CompileArgs;
use crate::exit::Exit;

/// Compiles what is on standard input and answers on standard output.
///
/// # Errors
/// An unknown class, a process that cannot be confined, or a broken pipe; a component that is refused is an answer.
pub fn compile(args: &CompileArgs) -> anyhow::Result<Exit> {
    let class =
        EngineClass::of_name(&args.class).with_context(|| format!("`{}` is no class of engines", args.class))?;
    let limits = CompileLimits { cpu_s: args.cpu_s, memory_bytes: args.memory_bytes, ..CompileLimits::default() };
    serve_compiler(class, &limits, &mut std::io::stdin().lock(), &mut std::io::stdout().lock())?;
    Ok(Exit::Good)
}
