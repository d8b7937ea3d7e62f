//! The host's side: starts the process, gives it the component, takes its answer, and ends it whatever it does.

use std::{
    ffi::OsString,
    io::{self, Read, Write as _},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use loopwright_contract::plain::Plain;

use super::{
    CompileFault, CompileLimits, Compiler,
    frame::{self, Answer},
};
use crate::EngineClass;

/// Bytes of a child's last words that are kept.
const WORDS_BYTES_MAX: u64 = 4096;
/// How often a child is looked at that closed its pipes and did not end.
const LOOK: Duration = Duration::from_millis(2);

/// Compiles in a process of its own for each component.
#[derive(Debug, Clone)]
pub struct ChildCompiler {
    /// The program.
    pub program: PathBuf,
    /// Its arguments. The engine class, the seconds of processor time and the bytes of memory follow them.
    pub arguments: Vec<OsString>,
    /// What it may use.
    pub limits: CompileLimits,
}

impl Compiler for ChildCompiler {
    fn compile(&self, class: EngineClass, component: &[u8]) -> Result<Vec<u8>, CompileFault> {
        let mut child = self.start(class).map_err(CompileFault::Start)?;
        let answer = self.converse(&mut child, component);
        // Whatever came of it, nothing of the child is left; both calls do nothing to one that has ended.
        let _ = child.kill();
        let _ = child.wait();
        match answer? {
            Answer::Code(code) => Ok(code),
            Answer::Refused(reason) => Err(CompileFault::Refused(reason)),
        }
    }
}

impl ChildCompiler {
    fn start(&self, class: EngineClass) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(class.as_str());
        command.arg(self.limits.cpu_s.to_string()).arg(self.limits.memory_bytes.to_string());
        // No variable of the host reaches it, and no folder is its own. What the host opens is closed by the kernel when it starts.
        command.env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }

    fn converse(&self, child: &mut Child, component: &[u8]) -> Result<Answer, CompileFault> {
        let started = Instant::now();
        let missing = || CompileFault::Start(io::Error::other("a pipe is missing"));
        let (mut input, output) = (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        let words = in_background(child.stderr.take().ok_or_else(missing)?, WORDS_BYTES_MAX);
        let most = self.limits.code_bytes.saturating_add(frame::HEAD_BYTES);
        let output = in_background(output, (most as u64).saturating_add(1));
        let component = component.to_vec();
        // Threads of their own: a child that neither reads nor writes must not hold the host up. They end when the pipes do.
        thread::spawn(move || input.write_all(&component));
        let left = || self.limits.wall.saturating_sub(started.elapsed());
        let answer = match output.recv_timeout(left()) {
            Ok(answer) => answer.map_err(CompileFault::Start)?,
            Err(RecvTimeoutError::Timeout) => return Err(self.too_long()),
            Err(RecvTimeoutError::Disconnected) => return Err(missing()),
        };
        if answer.len() > most {
            return Err(CompileFault::TooMuchCode { limit_bytes: self.limits.code_bytes });
        }
        let status = loop {
            if let Some(status) = child.try_wait().map_err(CompileFault::Start)? {
                break status;
            }
            if left().is_zero() {
                return Err(self.too_long());
            }
            thread::sleep(LOOK);
        };
        if !status.success() {
            let words = words.recv_timeout(left()).ok().and_then(Result::ok).unwrap_or_default();
            return Err(self.died(status, &words));
        }
        frame::parse(answer).map_err(|what| CompileFault::Garbage { what })
    }

    fn too_long(&self) -> CompileFault {
        CompileFault::TooLong { limit_ms: millis(self.limits.wall), of: "time" }
    }

    /// Which limit ended it, or how else it ended.
    fn died(&self, status: ExitStatus, words: &[u8]) -> CompileFault {
        let words = String::from_utf8_lossy(words);
        if is_out_of_time(status) {
            let limit = Duration::from_secs(self.limits.cpu_s);
            return CompileFault::TooLong { limit_ms: millis(limit), of: "processor time" };
        }
        // What Rust's runtime says before it aborts. It only chooses the words of a refusal.
        if OUT_OF_MEMORY.iter().any(|part| words.contains(part)) {
            return CompileFault::TooMuchMemory { limit_bytes: self.limits.memory_bytes };
        }
        let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let last = if last.is_empty() { String::new() } else { format!(": {}", Plain(last)) };
        CompileFault::Died { how: format!("{status}{last}") }
    }
}

/// How processes word that the machine gave them no memory.
const OUT_OF_MEMORY: [&str; 2] = ["memory allocation of", "Cannot allocate memory"];

#[cfg(unix)]
fn is_out_of_time(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(rustix::process::Signal::XCPU.as_raw())
}

#[cfg(not(unix))]
fn is_out_of_time(_status: ExitStatus) -> bool {
    false
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Reads until the end or `most` bytes, on a thread of its own.
fn in_background(pipe: impl Read + Send + 'static, most: u64) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.take(most).read_to_end(&mut bytes).map(|_| bytes);
        // Nobody listens any more when the host gave up.
        let _ = sender.send(read);
    });
    receiver
}
