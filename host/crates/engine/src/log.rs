//! The last bytes that a call logged.

use std::collections::VecDeque;

/// Keeps the tail of what was written and counts what was dropped.
#[derive(Debug, Default)]
pub(crate) struct LogTail {
    lines: VecDeque<String>,
    bytes: usize,
    dropped: u64,
}

impl LogTail {
    pub(crate) fn push(&mut self, line: String, bytes_max: usize) {
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.bytes > bytes_max {
            let Some(front) = self.lines.pop_front() else { break };
            let excess = self.bytes - bytes_max;
            self.bytes -= front.len();
            if front.len() > excess && self.lines.is_empty() {
                let kept = tail(&front, front.len() - excess);
                self.dropped += (front.len() - kept.len()) as u64;
                self.bytes += kept.len();
                self.lines.push_front(kept.to_owned());
                break;
            }
            self.dropped += front.len() as u64;
        }
    }

    pub(crate) fn clear(&mut self) {
        // Most calls log nothing, and the buffer of those that do is kept.
        if self.dropped > 0 || !self.lines.is_empty() {
            self.lines.clear();
            self.bytes = 0;
            self.dropped = 0;
        }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// All bytes that were written.
    pub(crate) fn written(&self) -> u64 {
        self.bytes as u64 + self.dropped
    }

    /// Bytes that were written and are not kept.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// The end of a text, at most `bytes` long, from a character on.
fn tail(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_tail_is_kept_and_the_rest_counted(lines in proptest::collection::vec("[a-z名]{0,12}", 0..20), limit in 0_usize..40) {
            let mut log = LogTail::default();
            lines.iter().for_each(|line| log.push(line.clone(), limit));
            let (all, kept) = (lines.concat(), log.lines().collect::<String>());
            prop_assert!(all.ends_with(&kept) && kept.len() <= limit);
            prop_assert_eq!(all.len() as u64, kept.len() as u64 + log.dropped());
        }
    }
}
