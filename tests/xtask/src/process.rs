//! Running other programs: never with our standard input, and with a time limit where one could hang.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How often a program with a time limit is looked at.
const POLL: Duration = Duration::from_millis(20);

/// Whether a program is there and answers `--version` (or whatever is asked).
pub(crate) fn answers(program: &str, arguments: &[&str]) -> bool {
    capture(Command::new(program).args(arguments)).is_ok()
}

/// Runs a program to its end; its output goes where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {}", line(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", line(command));
    }
    Ok(())
}

/// Runs a program and returns what it printed on standard output, without the white space around it.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {}", line(command)))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed ({}): {}", line(command), output.status, message.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a program and stops it after `limit`. Its standard error is in the error; its standard output is dropped.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Result<()> {
    let mut child = command
        // What goes into an error is for people: no stack of a Rust program that failed for a plain reason.
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", line(command)))?;
    // A full pipe would stop the program, so somebody reads it meanwhile.
    let reader = child.stderr.take().map(|mut pipe| {
        thread::spawn(move || {
            let mut text = Vec::new();
            // What cannot be read is missing from a message, no more.
            let _ = pipe.read_to_end(&mut text);
            String::from_utf8_lossy(&text).trim().to_owned()
        })
    });
    let Some(status) = wait(&mut child, limit)? else {
        bail!("{} did not end within {} s", line(command), limit.as_secs());
    };
    if !status.success() {
        let message = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
        bail!("{} failed ({status}): {message}", line(command));
    }
    Ok(())
}

/// Waits for the end of a program; kills it and returns `None` when the time is over.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<std::process::ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// A command as a person would type it, for messages.
pub(crate) fn line(command: &Command) -> String {
    let words: Vec<_> =
        std::iter::once(command.get_program()).chain(command.get_args()).map(|word| word.to_string_lossy()).collect();
    format!("`{}`", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_stopped() {
        let error = run_within(Command::new("sleep").arg("600"), Duration::ZERO).unwrap_err();
        assert_eq!(error.to_string(), "`sleep 600` did not end within 0 s");
    }

    #[test]
    fn a_failure_carries_what_the_program_said() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo because >&2; exit 3"]);
        let minute = Duration::from_secs(60);
        for error in [run_within(&mut command, minute).unwrap_err(), capture(&mut command).unwrap_err()] {
            let message = error.to_string();
            assert!(message.ends_with("failed (exit status: 3): because"), "{message}");
        }
    }

    #[test]
    fn a_missing_program_does_not_answer() {
        assert!(answers("sh", &["-c", "exit 0"]));
        assert!(!answers("sh", &["-c", "exit 1"]));
        assert!(!answers("no-such-program-here", &[]));
    }
}
