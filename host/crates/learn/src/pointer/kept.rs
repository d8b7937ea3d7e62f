//! Readings, terms and bags of texts that were met before: the planners of a course share them. They hold what a text says at a moment, and
//! nothing of who asked for it.

use std::sync::{Arc, OnceLock};

use jiff::civil::DateTime;

use super::choice::{Bag, Unit};
use super::grams::terms;
use super::memo::Memo;
use super::units::{Part, Reading, TEXT_BYTES_MAX, floor};
use super::walk::act::Own;

/// Texts whose terms are kept.
pub(super) const TERMS_KEPT_MAX: usize = 16_384;
/// Bags that are kept by the words that they are made of.
pub(super) const WORD_BAGS_MAX: usize = 16_384;
/// Texts whose readings are kept, each with at most [`PARTS_MAX`] parts.
pub(super) const READINGS_MAX: usize = 512;
/// Parts of a text that are kept. With the limits above, hostile texts take about 150 MB at most; the pack's take a few.
pub(super) const PARTS_MAX: usize = 128;
/// Bytes of a text, or of the words of a bag, that are kept; what is longer is read each time.
pub(super) const KEPT_BYTES_MAX: usize = TEXT_BYTES_MAX;

/// A text that was read.
#[derive(Debug, Clone)]
pub(super) struct Read {
    now: Option<DateTime>,
    /// Its units and typed spans.
    pub(super) reading: Arc<Reading>,
    /// Its parts.
    pub(super) parts: Arc<Parts>,
}

/// What is asked of a text and of its parts again and again.
#[derive(Debug)]
pub(super) struct Parts {
    /// The terms of the whole.
    pub(super) terms: Arc<[u64]>,
    units: OnceLock<Arc<[Unit]>>,
    known: Memo<(usize, usize), Arc<Part>>,
}

impl Read {
    fn new(text: &str, now: Option<DateTime>) -> Self {
        let reading = Arc::new(Reading::new(text, now));
        let terms = reading.terms(&(0..reading.pieces.len())).into();
        Self { now, reading, parts: Arc::new(Parts { terms, units: OnceLock::new(), known: Memo::new(PARTS_MAX) }) }
    }

    /// Its units as the tables hold them.
    pub(super) fn units(&self) -> Arc<[Unit]> {
        Arc::clone(self.parts.units.get_or_init(|| self.reading.units().into()))
    }

    /// What some bytes of it say, with what stands beside them.
    pub(super) fn part(&self, bytes: &std::ops::Range<usize>) -> Arc<Part> {
        let key = (bytes.start, bytes.end);
        self.parts.known.get(&key).unwrap_or_else(|| {
            let part = Arc::new(self.reading.part(bytes));
            self.parts.known.keep(key, Arc::clone(&part));
            part
        })
    }
}

/// What was made of texts before.
#[derive(Debug)]
pub(super) struct Kept {
    terms: Memo<Box<str>, Arc<[u64]>>,
    bags: Memo<Box<[u8]>, Bag>,
    readings: Memo<Box<str>, Read>,
    /// The acts that are no tools.
    pub(super) own: Own,
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            terms: Memo::new(TERMS_KEPT_MAX),
            bags: Memo::new(WORD_BAGS_MAX),
            readings: Memo::new(READINGS_MAX),
            own: Own::new(),
        }
    }
}

impl Kept {
    /// The terms of a text, as [`terms`].
    pub(super) fn terms(&self, text: &str) -> Arc<[u64]> {
        if text.is_empty() {
            return Arc::default();
        }
        if text.len() > KEPT_BYTES_MAX {
            return terms(text).into();
        }
        self.terms.get(text).unwrap_or_else(|| {
            let made: Arc<[u64]> = terms(text).into();
            self.terms.keep(text.into(), Arc::clone(&made));
            made
        })
    }

    /// The bag that is made of some words; the first says how.
    pub(super) fn bag(&self, words: &[&str], make: impl FnOnce() -> Bag) -> Bag {
        let bytes: usize = words.iter().map(|word| word.len()).sum();
        if bytes > KEPT_BYTES_MAX {
            return make();
        }
        // With their lengths, so that no two rows of words have one key.
        let mut key = Vec::with_capacity(bytes + words.len() * size_of::<usize>());
        for word in words {
            key.extend_from_slice(&word.len().to_le_bytes());
            key.extend_from_slice(word.as_bytes());
        }
        self.bags.get(key.as_slice()).unwrap_or_else(|| {
            let made = make();
            self.bags.keep(key.into(), made.clone());
            made
        })
    }

    /// A text as it was said at a moment. One that was said at another moment is read again.
    pub(super) fn read(&self, text: &str, now: Option<DateTime>) -> Read {
        let text = text.get(..floor(text, TEXT_BYTES_MAX)).unwrap_or_default();
        if let Some(known) = self.readings.get(text)
            && known.now == now
        {
            return known;
        }
        let read = Read::new(text, now);
        self.readings.keep(text.into(), read.clone());
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pointer::candidates::moment::of_now;
    use crate::pointer::grams::Grams;

    #[test]
    fn what_is_kept_is_bounded() {
        let kept = Kept::default();
        for number in 0..=TERMS_KEPT_MAX.max(WORD_BAGS_MAX) {
            let text = format!("word{number}");
            assert_eq!(*kept.terms(&text), *terms(&text));
            kept.bag(&[&text], || Grams::default().text(&text).bag());
        }
        assert_eq!((kept.terms.len(), kept.bags.len()), (1, 1));
        for number in 0..=READINGS_MAX {
            assert_eq!(kept.read(&format!("word{number}"), None).reading.pieces.len(), 1);
        }
        assert_eq!(kept.readings.len(), 1);
        let read = kept.read(&"ab ".repeat(PARTS_MAX), None);
        for end in 1..=PARTS_MAX + 1 {
            assert_eq!(read.part(&(0..end)).words.len(), end);
        }
        assert_eq!(read.parts.known.len(), 1);
        let long = "word ".repeat(KEPT_BYTES_MAX);
        assert_eq!(*kept.terms(&long), *terms("word"));
        let before = kept.bags.len();
        assert_eq!(kept.bag(&[&long], || Grams::default().text("word").bag()), Grams::default().text("word").bag());
        assert_eq!(kept.bags.len(), before);
    }

    #[test]
    fn words_are_kept_apart_however_they_are_cut() {
        let kept = Kept::default();
        let bag = |words: &[&str]| kept.bag(words, || Grams::default().text(&words.join(" ")).bag());
        assert_ne!(bag(&["ab", "c"]), bag(&["a", "bc"]));
        assert_eq!(bag(&["ab", "c"]), bag(&["ab", "c"]));
    }

    #[test]
    fn a_text_is_read_again_at_another_moment() {
        let kept = Kept::default();
        let said = "wake me tomorrow at 7:30";
        let at = |now: &str| kept.read(said, of_now(now));
        let (first, again) = (at("2026-03-02T09:00:00+08:00"), at("2026-03-02T09:00:00+08:00"));
        assert!(Arc::ptr_eq(&first.reading, &again.reading));
        let later = at("2026-03-05T09:00:00+08:00");
        assert_ne!(first.reading, later.reading);
        assert_eq!(*later.reading, Reading::new(said, of_now("2026-03-05T09:00:00+08:00")));
    }
}
