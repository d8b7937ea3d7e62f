//! What no file may contain: paths of somebody's machine, and marks of unfinished work.

use super::Problem;

/// Folders that exist on one machine and not on the next. Written in two halves, so that this file passes.
const MACHINE_PATHS: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/fa", "rm/"),
];

/// Work that is not done, or tests that do not run.
const UNFINISHED: [&str; 7] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("#[ig", "nore"),
    concat!("#[should", "_panic"),
];

/// Files that people write as code or prose; recorded data may say what it likes.
const WRITTEN: [&str; 7] = ["js", "md", "py", "rs", "toml", "wit", "yml"];

/// Lines that name a folder of a machine.
pub(super) fn machine_paths(path: &str, text: &str) -> Vec<Problem> {
    find(path, text, &MACHINE_PATHS, |before| {
        // Part of an address or of a longer path, not the start of a path.
        !before.is_some_and(|letter| letter.is_alphanumeric() || "/._-}".contains(letter))
    })
    .map(|(place, folder)| Problem::new(place, format!("names a machine's folder, `{folder}`; take it as an argument")))
    .collect()
}

/// Lines with a mark of unfinished work.
pub(super) fn unfinished(path: &str, text: &str) -> Vec<Problem> {
    let written = path.rsplit_once('.').is_some_and(|(_, extension)| WRITTEN.contains(&extension));
    if !written {
        return Vec::new();
    }
    find(path, text, &UNFINISHED, |_| true)
        .map(|(place, mark)| {
            Problem::new(place, format!("unfinished: `{mark}`; finish it, or write an issue and take the mark out"))
        })
        .collect()
}

/// Places (`path:line`) of the first of some words in each line, where the letter before the word allows it.
fn find<'a>(
    path: &'a str,
    text: &'a str,
    words: &'a [&'a str],
    allows: impl Fn(Option<char>) -> bool + 'a,
) -> impl Iterator<Item = (String, &'a str)> {
    text.lines().enumerate().filter_map(move |(number, line)| {
        let word = words.iter().find(|word| {
            line.match_indices(**word)
                .any(|(at, _)| allows(line.get(..at).and_then(|before| before.chars().next_back())))
        })?;
        Some((format!("{path}:{}", number + 1), *word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_machine_are_found() {
        for folder in MACHINE_PATHS {
            let text = format!("fine\nlet path = \"{folder}main\";\n");
            let found = machine_paths("a.rs", &text);
            assert_eq!(found.len(), 1, "{folder}");
            assert_eq!(found.first().unwrap().place, "a.rs:2");
            let address = format!("see https://example.org{folder}page and net{folder}x");
            assert_eq!(machine_paths("a.md", &address), [], "{folder}");
        }
    }

    #[test]
    fn marks_of_unfinished_work_are_found() {
        for mark in UNFINISHED {
            let text = format!("fn f() {{}}\n// {mark} later\n");
            assert_eq!(unfinished("a.rs", &text).len(), 1, "{mark}");
            assert_eq!(unfinished("recorded.jsonl", &text), [], "{mark}");
        }
        assert_eq!(unfinished("a.rs", "fn done() {}\n"), []);
    }
}
