//! What goes to the terminal: results to standard output, progress and problems to standard error. A closed pipe ends output in silence, as
//! when a reader had enough.

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// Prints text with colours where standard output keeps them.
pub fn print(text: impl Display) {
    let mut out = anstream::stdout().lock();
    let _ = write!(out, "{text}");
    let _ = out.flush();
}

/// Prints a line.
pub fn line(text: impl Display) {
    print(format_args!("{text}\n"));
}

/// Prints one line of JSON.
pub fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => line(text),
        Err(error) => note(format_args!("a result has no JSON form: {error}")),
    }
}

/// Tells something beside the results.
pub fn note(text: impl Display) {
    let mut out = anstream::stderr().lock();
    let _ = writeln!(out, "{text}");
}

/// Tells an error with its causes, each on its own line.
pub fn problem(error: &anyhow::Error) {
    let mut out = anstream::stderr().lock();
    let _ = writeln!(out, "error: {error}");
    for cause in error.chain().skip(1) {
        let _ = writeln!(out, "  because {cause}");
    }
}

/// A bar on a terminal; elsewhere nothing.
#[must_use]
pub fn bar(total: usize, what: &str) -> ProgressBar {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(total as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{prefix:<10} [{bar:30}] {pos}/{len} {elapsed} {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(what.to_owned());
    bar
}

/// A duration as people read it.
#[must_use]
pub fn duration(time: Duration) -> String {
    match time.as_millis() {
        millis @ 0..1000 => format!("{millis} ms"),
        millis @ 1000..60_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        millis => format!("{} min {} s", millis / 60_000, millis / 1000 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        for (millis, expected) in
            [(0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (59_950, "59.9 s"), (61_000, "1 min 1 s")]
        {
            assert_eq!(duration(Duration::from_millis(millis)), expected);
        }
    }
}
