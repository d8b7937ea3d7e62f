//! How long retrieval takes and what the index costs: p50 and p95 of a request at 1,000 and 20,000 units with vectors, units a second into the index,
//! bytes per unit, a cold open. `cargo bench -p loopwright-memory -- million` adds 1,000,000 units, words only.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark may stop")]

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::Criterion;
use loopwright_contract::memory::{Embedder, MemoryError, Role};
use loopwright_memory::bench::Listed;
use loopwright_memory::corpus::Corpus as _;
use loopwright_memory::index::{Index, Op};
use loopwright_memory::message::{Message, Place};
use loopwright_memory::moment::{Moment, Zone};
use loopwright_memory::retrieve::{Query, Settings, Sources, retrieve};
use loopwright_memory::vectors::{Vectors, dot};

/// Words of a text are drawn from this many, the first ones most often.
const VOCABULARY: u64 = 20_000;
const WORDS: u64 = 20;
const WIDTH: usize = 384;
const QUERIES: u64 = 200;

/// SplitMix64: enough to draw words.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below the limit whose frequency falls with its size, as that of words does.
    fn word(&mut self) -> u64 {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((VOCABULARY as f64).powf(share) - 1.0) as u64
    }

    fn text(&mut self, words: u64) -> String {
        (0..words).map(|_| format!("w{}q ", self.word())).collect()
    }
}

fn messages(count: u64) -> Vec<Message> {
    let mut draw = Draw(7);
    (0..count)
        .map(|at| Message {
            place: Place {
                dialogue: "d".to_owned(),
                session: (at / 30).to_string(),
                position: u32::try_from(at % 30).expect("small"),
                speaker: ["Ann", "Ben"][usize::try_from(at % 2).expect("small")].to_owned(),
                role: Role::User,
            },
            text: draw.text(WORDS),
            mentioned: Moment::new(1_700_000_000 + i64::try_from(at).expect("small") * 60, Zone::utc())
                .expect("in range"),
        })
        .collect()
}

/// A vector from the text's bytes: the time of a real model is no part of this.
struct Hashed;

impl Embedder for Hashed {
    fn fingerprint(&self) -> &str {
        "hashed"
    }

    fn width(&self) -> usize {
        WIDTH
    }

    fn covers(&self, _text: &str) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, MemoryError> {
        Ok(texts.iter().map(|text| vector(text.bytes().map(u64::from).sum())).collect())
    }
}

fn vector(seed: u64) -> Vec<f32> {
    let mut draw = Draw(seed);
    (0..WIDTH).map(|_| (draw.next() >> 40) as f32 / (1_u64 << 24) as f32 - 0.5).collect()
}

fn bytes_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").metadata());
    entries.map(|metadata| metadata.expect("metadata").len()).sum()
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("written");
}

fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1_000.0;
    format!("p50 {:.2} ms, p95 {:.2} ms", at(50), at(95))
}

/// Measures one size and, given a harness, its median request.
fn measure(count: u64, with_vectors: bool, criterion: Option<&mut Criterion>) {
    let corpus = Listed::of(&messages(count));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let (mut index, _) = Index::open(&path, "key").expect("opens");
    let start = Instant::now();
    for first in (0..count).step_by(10_000) {
        let ops: Vec<Op<'_>> =
            (first..(first + 10_000).min(count)).map(|at| Op::Put(at, corpus.unit(at).expect("a unit"))).collect();
        index.apply(&ops).expect("applied");
        index.commit(first).expect("committed");
    }
    let rate = count as f64 / start.elapsed().as_secs_f64();
    say(&format!("{count} units: {rate:.0} units/s into the index, {} bytes per unit", bytes_of(&path) / count));
    drop(index);
    let start = Instant::now();
    let (index, _) = Index::open(&path, "key").expect("opens");
    say(&format!("{count} units: cold open {:.1} ms", start.elapsed().as_secs_f64() * 1_000.0));
    let mut vectors = Vectors::in_memory("hashed", WIDTH);
    if with_vectors {
        let made: Vec<(u64, Vec<f32>)> = (0..count).map(|at| (at, vector(at))).collect();
        vectors.add(&made).expect("added");
    }
    let searcher = index.searcher();
    let embedder: &dyn Embedder = &Hashed;
    let (vectors, embedder) = if with_vectors { (Some(&vectors), Some(embedder)) } else { (None, None) };
    let sources = Sources { corpus: &corpus, searcher: &searcher, vectors, embedder };
    let mut draw = Draw(11);
    let now = Moment::new(1_800_000_000, Zone::utc()).expect("in range");
    let queries: Vec<Query> = (0..QUERIES).map(|_| Query::new(draw.text(6), now.clone())).collect();
    let ask = |query: &Query| retrieve(&sources, query, &Settings::default()).expect("answered");
    let times = queries
        .iter()
        .map(|query| {
            let start = Instant::now();
            black_box(ask(query));
            start.elapsed()
        })
        .collect();
    say(&format!("{count} units: request {}", quantiles(times)));
    if let Some(criterion) = criterion {
        let mut at = 0;
        criterion.bench_function(&format!("retrieve/{count}"), |bencher| {
            bencher.iter(|| {
                at = (at + 1) % queries.len();
                ask(&queries[at])
            });
        });
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args().sample_size(20);
    measure(1_000, true, Some(&mut criterion));
    measure(20_000, true, Some(&mut criterion));
    let (numbers, query): (Vec<f32>, Vec<f32>) = ((0..20_000).flat_map(vector).collect(), vector(1));
    criterion.bench_function("dot/20000x384", |bencher| {
        bencher.iter(|| numbers.chunks_exact(WIDTH).map(|row| dot(black_box(&query), row)).fold(f32::MIN, f32::max));
    });
    if std::env::args().any(|word| word == "million") {
        measure(1_000_000, false, None);
    }
    criterion.final_summary();
}
