//! What goes to the terminal: results to standard output, progress and problems to standard error. A closed pipe ends output in silence, as
//! when a reader had enough. Whatever a guest's, a model's or a file's text holds, nothing leaves here that moves a cursor, writes a clipboard
//! or turns text around.

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use loopwright_contract::plain::{self, Plain, is_unsafe};
use serde::Serialize;

/// Prints text with colours where standard output keeps them.
pub fn print(text: impl Display) {
    let mut out = anstream::stdout().lock();
    let _ = write!(out, "{}", guarded(&text.to_string()));
    let _ = out.flush();
}

/// Prints a line.
pub fn line(text: impl Display) {
    print(format_args!("{text}\n"));
}

/// Prints one line of JSON.
pub fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => line(plain::json(&text)),
        Err(error) => note(format_args!("a result has no JSON form: {error}")),
    }
}

/// Tells something beside the results.
pub fn note(text: impl Display) {
    let mut out = anstream::stderr().lock();
    let _ = writeln!(out, "{}", guarded(&text.to_string()));
}

/// Tells an error with its causes, each on its own line.
pub fn problem(error: &anyhow::Error) {
    let mut out = anstream::stderr().lock();
    let _ = writeln!(out, "error: {}", guarded(&error.to_string()));
    for cause in error.chain().skip(1) {
        let _ = writeln!(out, "  because {}", guarded(&cause.to_string()));
    }
}

/// JSON over several lines, for people, in which nothing acts on a terminal.
///
/// # Errors
/// A value that has no JSON form.
pub fn pretty(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(|text| plain::json(&text))
}

/// The last look at what is printed: line ends, tabs and our own styles pass; what else a terminal acts on is shown by its number. Callers
/// show text from outside as [`Plain`] already, which also keeps styles and line ends out of it; this is for the place that was forgotten.
#[must_use]
pub fn guarded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|character: char| !matches!(character, '\n' | '\t') && is_unsafe(character)) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let length = style(after).unwrap_or_else(|| after.chars().next().map_or(0, char::len_utf8));
        let (found, after) = after.split_at(length);
        if style(found).is_some() {
            out.push_str(found);
        } else {
            let _ = std::fmt::Write::write_fmt(&mut out, format_args!("{}", Plain(found)));
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The length of the style that a text begins with: `ESC [`, digits and semicolons, `m`.
fn style(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|character: char| !character.is_ascii_digit() && character != ';')?;
    parameters.get(end..)?.starts_with('m').then_some(2 + end + 1)
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
    fn styles_pass_and_nothing_else_does() {
        for (text, expected) in [
            ("\u{1b}[1mbold\u{1b}[0m\tand\n", "\u{1b}[1mbold\u{1b}[0m\tand\n"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{1b}]52;c;eA==\u{7}", "\\u{1b}]52;c;eA==\\u{7}"),
            ("\u{1b}[31", "\\u{1b}[31"),
            ("a\rb\u{9b}2J\u{202e}c", "a\\u{d}b\\u{9b}2J\\u{202e}c"),
            ("\u{1b}", "\\u{1b}"),
            ("打开", "打开"),
        ] {
            assert_eq!(guarded(text), expected, "{text:?}");
        }
    }

    #[test]
    fn durations_are_short() {
        for (millis, expected) in
            [(0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (59_950, "59.9 s"), (61_000, "1 min 1 s")]
        {
            assert_eq!(duration(Duration::from_millis(millis)), expected);
        }
    }
}
