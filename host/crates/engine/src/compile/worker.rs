//! The child's side: confines itself, reads one component, writes one answer.

use std::io::{self, Read, Write};

use loopwright_registry::COMPONENT_BYTES_LIMIT;
use wasmtime::Engine;

use super::{
    CompileLimits,
    frame::{self, Answer},
};
use crate::{EngineClass, classes, fault::one_line};

/// Compiles the component on `input` and writes the answer to `output`, in this process, which is confined first and for good: call it in a
/// process of its own.
///
/// # Errors
/// When the process cannot be confined, or a pipe fails. A component that is refused is an answer.
pub fn serve_compiler(
    class: EngineClass,
    limits: &CompileLimits,
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> io::Result<()> {
    confine(limits)?;
    let mut component = Vec::new();
    input.take(COMPONENT_BYTES_LIMIT + 1).read_to_end(&mut component)?;
    let answer = if component.len() as u64 > COMPONENT_BYTES_LIMIT {
        Answer::Refused(format!("expected at most {COMPONENT_BYTES_LIMIT} bytes, found more"))
    } else {
        compile(class, &component)
    };
    frame::write(&answer, output)
}

fn compile(class: EngineClass, component: &[u8]) -> Answer {
    let compiled = classes::settings(class, None).and_then(|mut config| {
        // One thread: what it may use is then what one component takes, on every machine.
        config.parallel_compilation(false);
        Engine::new(&config)?.precompile_component(component)
    });
    match compiled {
        Ok(code) => Answer::Code(code),
        Err(error) => Answer::Refused(one_line(&error)),
    }
}

/// Lowers what this process may use. Limits hold whatever runs in it afterwards.
#[cfg(unix)]
fn confine(limits: &CompileLimits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = |resource, soft, hard| setrlimit(resource, Rlimit { current: Some(soft), maximum: Some(hard) });
    // Nothing but the three descriptors that it was given: it opens no file, no socket and no pipe.
    limit(Resource::Nofile, DESCRIPTORS, DESCRIPTORS)?;
    limit(Resource::Fsize, 0, 0)?;
    limit(Resource::Core, 0, 0)?;
    limit(Resource::As, limits.memory_bytes, limits.memory_bytes)?;
    // At the first the kernel says so, at the second it ends the process.
    limit(Resource::Cpu, limits.cpu_s, limits.cpu_s.saturating_add(1))?;
    #[cfg(target_os = "linux")]
    {
        // It ends with the host, and gains nothing by running another program.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        rustix::thread::set_no_new_privs(true)?;
    }
    Ok(())
}

/// Standard input, output and error.
#[cfg(unix)]
const DESCRIPTORS: u64 = 3;

#[cfg(not(unix))]
fn confine(_limits: &CompileLimits) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no limits for a compiler process"))
}
