//! Running other programs, never with our standard input.

use std::process::{Command, Stdio};

use crate::KitError;

/// Bytes of a program's output that an error carries: the end of it.
const OUTPUT_BYTES_MAX: usize = 8 * 1024;

/// Runs a program and returns its standard output, without the white space around it; an error carries all that it said.
pub(crate) fn capture(command: &mut Command) -> Result<String, KitError> {
    let output = command.stdin(Stdio::null()).output().map_err(|source| not_started(command, source))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        return Ok(said.trim().to_owned());
    }
    let all = format!("{said}{}", String::from_utf8_lossy(&output.stderr));
    Err(KitError::Program {
        program: line(command),
        status: output.status.to_string(),
        output: tail(all.trim()).to_owned(),
    })
}

pub(crate) fn not_started(command: &Command, source: std::io::Error) -> KitError {
    KitError::Io { attempt: "start", path: command.get_program().into(), source }
}

/// A command as a person would type it.
pub(crate) fn line(command: &Command) -> String {
    let words: Vec<_> =
        std::iter::once(command.get_program()).chain(command.get_args()).map(|word| word.to_string_lossy()).collect();
    format!("`{}`", words.join(" "))
}

fn tail(text: &str) -> &str {
    let mut start = text.len().saturating_sub(OUTPUT_BYTES_MAX);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_carries_what_the_program_said() {
        let mut command = Command::new("sh");
        let error = capture(command.args(["-c", "echo out; echo because >&2; exit 3"])).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.ends_with("out\nbecause"), "{error}");
    }

    #[test]
    fn the_end_of_a_long_text_is_kept_whole() {
        let text = "名".repeat(OUTPUT_BYTES_MAX);
        let end = tail(&text);
        assert!(end.len() <= OUTPUT_BYTES_MAX && end.chars().all(|letter| letter == '名'));
    }
}
