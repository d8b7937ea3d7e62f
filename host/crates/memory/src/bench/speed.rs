//! How long a request takes and what an index costs, on messages of drawn words. Time is measured by whoever asks; vectors of messages are drawn, since a
//! search compares them all the same, and the encoding of a question is measured apart.

use std::path::Path;

use loopwright_contract::memory::{Embedder, MemoryError, Role};
use loopwright_contract::stopwatch::Stopwatch;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use serde::Serialize;

use super::corpus::Listed;
use crate::corpus::Corpus as _;
use crate::index::{Index, IndexError, Op, Searcher};
use crate::message::{Message, Place};
use crate::moment::{Moment, Zone};
use crate::retrieve::{Query, RetrieveError, Settings, Sources, retrieve};
use crate::vectors::{VectorError, Vectors};

/// Words of a text are drawn from this many, the first ones most often.
const VOCABULARY: u64 = 20_000;
/// Words of a message.
const WORDS: u64 = 20;
/// Words of a question.
const QUESTION_WORDS: u64 = 6;
/// Messages of a session.
const PER_SESSION: u64 = 30;
/// Messages between two commits.
const PER_COMMIT: u64 = 10_000;
/// Questions that are asked.
const QUESTIONS: u64 = 200;
/// What is encoded when an embedder is measured: its time depends on the words, and drawn ones fall into many pieces.
const ENCODED: [&str; 6] = [
    "When did I say that the concert tickets had to be paid?",
    "What does my sister do for a living?",
    "Which restaurant did Anna recommend for the birthday dinner?",
    "How many days are we going to stay in Lisbon?",
    "Did I ever mention being allergic to anything?",
    "Where did we put the spare key of the summer house?",
];
/// Numbers of a drawn vector, where there is no embedder to say.
const WIDTH: usize = 384;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum SpeedError {
    /// The index failed.
    #[error("the index failed")]
    Index(#[from] IndexError),
    /// A request failed.
    #[error("a request failed")]
    Retrieve(#[from] RetrieveError),
    /// The vectors failed.
    #[error("the vectors failed")]
    Vectors(#[from] VectorError),
    /// The embedder failed.
    #[error("the embedder failed")]
    Embedder(#[from] MemoryError),
    /// The folder cannot be read.
    #[error("the folder of the index cannot be read")]
    Io(#[from] std::io::Error),
}

/// Figures of one size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpeedRow {
    /// Units of the memory.
    pub units: u64,
    /// Whether each has a vector.
    pub dense: bool,
    /// Units a second into the index, commits included.
    pub ingest_per_second: f64,
    /// Bytes of the index for each unit.
    pub index_bytes_per_unit: f64,
    /// Opening the index, in milliseconds.
    pub open_ms: f64,
    /// A request after its question is encoded, in milliseconds: the median.
    pub request_p50_ms: f64,
    /// And what 95 of 100 stay within.
    pub request_p95_ms: f64,
    /// With the encoding of the question by a real embedder; none without one.
    pub encoded_p50_ms: Option<f64>,
    /// And what 95 of 100 stay within.
    pub encoded_p95_ms: Option<f64>,
}

struct Draw(ChaCha8Rng);

impl Draw {
    fn of(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number whose frequency falls with its size, as that of words does.
    fn word(&mut self) -> u64 {
        let share = (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        ((VOCABULARY as f64).powf(share) - 1.0) as u64
    }

    fn text(&mut self, words: u64) -> String {
        (0..words).map(|_| format!("w{}q ", self.word())).collect()
    }

    fn vector(&mut self, width: usize) -> Vec<f32> {
        (0..width).map(|_| (self.0.next_u64() >> 40) as f32 / (1_u64 << 24) as f32 - 0.5).collect()
    }
}

fn messages(count: u64) -> Vec<Message> {
    let mut draw = Draw::of(7);
    let minute = |at: u64| 1_700_000_000 + i64::try_from(at).unwrap_or_default() * 60;
    (0..count)
        .map(|at| Message {
            place: Place {
                dialogue: "d".to_owned(),
                session: (at / PER_SESSION).to_string(),
                position: u32::try_from(at % PER_SESSION).unwrap_or_default(),
                speaker: if at % 2 == 0 { "Ann" } else { "Ben" }.to_owned(),
                role: Role::User,
            },
            text: draw.text(WORDS),
            mentioned: Moment::new(minute(at), Zone::utc()).unwrap_or_else(|_| Moment::epoch()),
        })
        .collect()
}

/// Says of a drawn vector that it is of the embedder: a question's vector is drawn from its words.
struct Drawn {
    width: usize,
}

impl Embedder for Drawn {
    fn fingerprint(&self) -> &'static str {
        "drawn"
    }

    fn width(&self) -> usize {
        self.width
    }

    fn covers(&self, _text: &str) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, MemoryError> {
        let seed =
            |text: &str| text.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        Ok(texts.iter().map(|text| Draw::of(seed(text)).vector(self.width)).collect())
    }
}

/// A memory of drawn messages, with its index on disk, ready to be asked.
pub struct Drawing {
    corpus: Listed,
    index: Index,
    vectors: Option<Vectors>,
    drawn: Drawn,
    questions: Vec<Query>,
}

impl Drawing {
    /// Draws a memory and writes its index into the folder, which must be empty. Returns it with the seconds that the index took.
    ///
    /// # Errors
    /// [`SpeedError`] when the disk fails.
    pub fn of(folder: &Path, units: u64, dense: bool, stopwatch: &dyn Stopwatch) -> Result<(Self, f64), SpeedError> {
        let corpus = Listed::of(&messages(units));
        let (mut index, _) = Index::open(folder, "key")?;
        let start = stopwatch.elapsed();
        for first in (0..units).step_by(PER_COMMIT as usize) {
            let put = |at| corpus.unit(at).map(|unit| Op::Put(at, unit));
            let ops: Vec<Op<'_>> = (first..units.min(first + PER_COMMIT)).filter_map(put).collect();
            index.apply(&ops)?;
            index.commit(first)?;
        }
        let seconds = (stopwatch.elapsed() - start).as_secs_f64();
        let drawn = Drawn { width: WIDTH };
        let vectors = if dense {
            let mut vectors = Vectors::in_memory(drawn.fingerprint(), WIDTH);
            let made: Vec<(u64, Vec<f32>)> = (0..units).map(|at| (at, Draw::of(at).vector(WIDTH))).collect();
            vectors.add(&made)?;
            Some(vectors)
        } else {
            None
        };
        let mut draw = Draw::of(11);
        let now = Moment::new(1_800_000_000, Zone::utc()).unwrap_or_else(|_| Moment::epoch());
        let questions = (0..QUESTIONS).map(|_| Query::new(draw.text(QUESTION_WORDS), now.clone())).collect();
        Ok((Self { corpus, index, vectors, drawn, questions }, seconds))
    }

    /// Opens the index again, as a new process does.
    ///
    /// # Errors
    /// [`SpeedError`] when the disk fails.
    pub fn reopened(self) -> Result<Self, SpeedError> {
        let path = self.index.path().to_owned();
        let Self { index, corpus, vectors, drawn, questions } = self;
        drop(index);
        Ok(Self { index: Index::open(&path, "key")?.0, corpus, vectors, drawn, questions })
    }

    /// How many questions there are.
    #[must_use]
    pub fn questions(&self) -> usize {
        self.questions.len()
    }

    /// Answers a question, and says how many items were found. Questions are counted around.
    ///
    /// # Errors
    /// [`SpeedError`] when the index cannot be read.
    pub fn ask(&self, number: usize) -> Result<usize, SpeedError> {
        let searcher: &Searcher = &self.index.searcher();
        let embedder = self.vectors.as_ref().map(|_| &self.drawn as &dyn Embedder);
        let sources = Sources { corpus: &self.corpus, searcher, vectors: self.vectors.as_ref(), embedder };
        let Some(question) = self.questions.get(number % self.questions.len().max(1)) else { return Ok(0) };
        Ok(retrieve(&sources, question, &Settings::default())?.items.len())
    }
}

/// Measures one size. The folder must be empty.
///
/// # Errors
/// [`SpeedError`] when the disk or the embedder fails.
pub fn speed(
    folder: &Path,
    units: u64,
    dense: bool,
    embedder: Option<&dyn Embedder>,
    stopwatch: &dyn Stopwatch,
) -> Result<SpeedRow, SpeedError> {
    let (drawing, seconds) = Drawing::of(folder, units, dense, stopwatch)?;
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    let start = stopwatch.elapsed();
    let drawing = drawing.reopened()?;
    let open_ms = (stopwatch.elapsed() - start).as_secs_f64() * 1_000.0;
    let (mut requests, mut encoded) = (Vec::new(), Vec::new());
    for number in 0..drawing.questions() {
        let start = stopwatch.elapsed();
        drawing.ask(number)?;
        let request = (stopwatch.elapsed() - start).as_secs_f64() * 1_000.0;
        requests.push(request);
        if let Some((embedder, question)) = embedder.filter(|_| dense).zip(ENCODED.get(number % ENCODED.len())) {
            let start = stopwatch.elapsed();
            embedder.embed(&[question])?;
            encoded.push(request + (stopwatch.elapsed() - start).as_secs_f64() * 1_000.0);
        }
    }
    Ok(SpeedRow {
        units,
        dense,
        ingest_per_second: units as f64 / seconds.max(f64::MIN_POSITIVE),
        index_bytes_per_unit: bytes as f64 / units.max(1) as f64,
        open_ms,
        request_p50_ms: quantile(&mut requests, 50).unwrap_or_default(),
        request_p95_ms: quantile(&mut requests, 95).unwrap_or_default(),
        encoded_p50_ms: quantile(&mut encoded, 50),
        encoded_p95_ms: quantile(&mut encoded, 95),
    })
}

fn quantile(times: &mut [f64], share: usize) -> Option<f64> {
    times.sort_unstable_by(f64::total_cmp);
    times.get((times.len() * share / 100).min(times.len().checked_sub(1)?)).copied()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;

    /// Goes on by a millisecond whenever it is looked at.
    #[derive(Default)]
    struct Ticks(Mutex<u64>);

    impl Stopwatch for Ticks {
        fn elapsed(&self) -> Duration {
            let mut ticks = self.0.lock().expect("not poisoned");
            *ticks += 1;
            Duration::from_millis(*ticks)
        }
    }

    #[test]
    fn a_drawn_memory_is_asked_and_measured() {
        let folder = tempfile::tempdir().expect("a folder");
        let row = speed(folder.path(), 300, true, Some(&Drawn { width: WIDTH }), &Ticks::default()).expect("measured");
        assert_eq!((row.units, row.ingest_per_second, row.open_ms, row.request_p50_ms), (300, 300_000.0, 1.0, 1.0));
        assert_eq!(row.encoded_p95_ms, Some(2.0));
        assert!(row.index_bytes_per_unit > 10.0);
        let folder = tempfile::tempdir().expect("a folder");
        let (drawing, _) = Drawing::of(folder.path(), 300, true, &Ticks::default()).expect("drawn");
        assert!((0..20).all(|number| drawing.ask(number).expect("answered") > 0));
    }
}
