//! One snapshot of the index: its documents as rows of columns, and BM25 over its postings.
//!
//! The postings are scored here and not by the engine's own query types, since the ranking needs every row's score (a turn inherits from its neighbours),
//! sessions as documents of their own, and figures that do not depend on how documents lie in segments or on deletes that wait for a merge.

use tantivy::columnar::Column;
use tantivy::postings::Postings as _;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, SegmentReader, TERMINATED, Term};

use super::schema::{Fields, TermField};
use crate::corpus::Corpus;

/// Ordinals from here on are not found by their number: a damaged column must not ask for a table of its size.
pub(crate) const ORDINALS_MAX: u64 = 1 << 26;
/// No row, no session.
pub(crate) const NONE: u32 = u32::MAX;

/// What is known of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The unit's ordinal.
    pub ordinal: u64,
    /// The layer's number, in the order of the contract.
    pub(crate) layer: u8,
    /// The status's number, in the order of its declaration.
    pub(crate) status: u8,
    /// When it was said, in seconds since 1970.
    pub mentioned: i64,
    /// When it happens, in seconds since 1970, and the second after it; of a message that names several days, the first. See
    /// [`Searcher::happens`].
    pub event: Option<(i64, i64)>,
    /// The session's number in this snapshot.
    pub(crate) session: u32,
    /// Stands for the speaker; 0 for none.
    pub(crate) speaker: u64,
    /// What its text has; see [`traits`](super::traits).
    pub(crate) traits: u8,
    /// Terms of its text, to within an eighth.
    pub(crate) terms: u32,
    /// The row of the message before it in its session.
    pub(crate) previous: u32,
    /// The row of the message after it.
    pub(crate) next: u32,
}

/// How BM25 weighs repetition and length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bm25 {
    /// How fast repetition saturates.
    pub(crate) k1: f32,
    /// How much length counts, 0 to 1.
    pub(crate) b: f32,
}

/// Scores of every row, and of every session as one text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scores {
    pub(crate) rows: Vec<f32>,
    pub(crate) sessions: Vec<f32>,
    /// What a row would have that has every term, without end: the sum of the terms' rarities.
    pub(crate) mass: f32,
}

struct Segment {
    reader: SegmentReader,
    /// The row of each document; [`NONE`] of deleted ones.
    rows: Vec<u32>,
}

/// One snapshot.
pub struct Searcher {
    fields: Fields,
    segments: Vec<Segment>,
    rows: Vec<Row>,
    /// Further stretches of time of messages that name several days: the row, the first second and the second after it.
    further: Vec<(u32, i64, i64)>,
    /// The row of each ordinal; [`NONE`] of holes. Ordinals are given one after the other, so that a table is smaller than a map.
    ordinals: Vec<u32>,
    sessions: usize,
}

impl Searcher {
    /// A snapshot of a memory that has no directory: made in memory, and gone when it is dropped.
    ///
    /// # Errors
    /// When the engine refuses a document.
    pub fn of(corpus: &dyn Corpus) -> tantivy::Result<Self> {
        let (schema, fields) = Fields::build();
        // Without threads of its own: an episode makes such a snapshot for each of its searches.
        let ram = tantivy::directory::RamDirectory::create();
        let builder = tantivy::Index::builder().schema(schema);
        let mut writer = builder.single_segment_index_writer::<tantivy::TantivyDocument>(ram, super::WRITER_BYTES)?;
        for ordinal in 0..corpus.ordinals() {
            if let Some(unit) = corpus.unit(ordinal).filter(|unit| super::feed::is_indexed(unit)) {
                writer.add_document(super::feed::document(&fields, ordinal, unit))?;
            }
        }
        Self::load(&writer.finalize()?, fields)
    }

    pub(crate) fn load(index: &tantivy::Index, fields: Fields) -> tantivy::Result<Self> {
        let mut loaded = Self {
            fields,
            segments: Vec::new(),
            rows: Vec::new(),
            further: Vec::new(),
            ordinals: Vec::new(),
            sessions: 0,
        };
        let mut places = Vec::new();
        for segment in index.searchable_segments()? {
            loaded.read(SegmentReader::open(&segment)?, &mut places)?;
        }
        let known = loaded.rows.iter().map(|row| row.ordinal).filter(|ordinal| *ordinal < ORDINALS_MAX);
        let most = known.max().map_or(0, |ordinal| ordinal as usize + 1);
        loaded.ordinals = vec![NONE; most];
        for (row, at) in loaded.rows.iter().zip(0..) {
            if let Some(slot) = loaded.ordinals.get_mut(row.ordinal as usize) {
                *slot = at;
            }
        }
        loaded.link(places);
        Ok(loaded)
    }

    /// Reads the columns of a segment.
    fn read(&mut self, reader: SegmentReader, places: &mut Vec<(u64, u64, u32)>) -> tantivy::Result<()> {
        let fast = reader.fast_fields();
        let (ordinal, layer, status) = (fast.u64("ordinal")?, fast.u64("layer")?, fast.u64("status")?);
        let (session, position, speaker) = (fast.u64("session")?, fast.u64("position")?, fast.u64("speaker")?);
        let traits = fast.u64("traits")?;
        let (mentioned, start, end) = (fast.i64("mentioned")?, fast.i64("event_start")?, fast.i64("event_end")?);
        let lengths = reader.get_fieldnorms_reader(self.fields.body)?;
        let small = |column: &Column<u64>, document| {
            column.first(document).and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX)
        };
        let mut rows = Vec::with_capacity(reader.max_doc() as usize);
        for document in 0..reader.max_doc() {
            let Some(ordinal) = ordinal.first(document).filter(|_| !reader.is_deleted(document)) else {
                rows.push(NONE);
                continue;
            };
            let row = u32::try_from(self.rows.len()).unwrap_or(NONE);
            if let (Some(session), Some(position)) = (session.first(document), position.first(document)) {
                places.push((session, position, row));
            }
            rows.push(row);
            let events = start.values_for_doc(document).zip(end.values_for_doc(document));
            self.further.extend(events.skip(1).map(|(start, end)| (row, start, end)));
            self.rows.push(Row {
                ordinal,
                layer: small(&layer, document),
                status: small(&status, document),
                mentioned: mentioned.first(document).unwrap_or_default(),
                event: start.first(document).zip(end.first(document)),
                session: NONE,
                speaker: speaker.first(document).unwrap_or_default(),
                traits: small(&traits, document),
                terms: lengths.fieldnorm(document),
                previous: NONE,
                next: NONE,
            });
        }
        self.segments.push(Segment { reader, rows });
        Ok(())
    }

    /// Numbers the sessions and links the messages of each.
    fn link(&mut self, mut places: Vec<(u64, u64, u32)>) {
        places.sort_unstable();
        let mut before: Option<(u64, u32)> = None;
        for (session, _, row) in places {
            let same = before.filter(|(known, _)| *known == session).map(|(_, row)| row);
            self.sessions += usize::from(same.is_none());
            let number = u32::try_from(self.sessions - 1).unwrap_or(NONE);
            if let Some(this) = self.rows.get_mut(row as usize) {
                (this.session, this.previous) = (number, same.unwrap_or(NONE));
            }
            if let Some(previous) = same.and_then(|same| self.rows.get_mut(same as usize)) {
                previous.next = row;
            }
            before = Some((session, row));
        }
    }

    /// Its documents.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// For each row, whether what it says was said, or happens, between two moments, in seconds since 1970; `until` is the second after.
    #[must_use]
    pub fn happens(&self, from: i64, until: i64) -> Vec<bool> {
        let meets = |start: i64, end: i64| start < until && end > from;
        let row = |row: &Row| {
            (row.mentioned >= from && row.mentioned < until) || row.event.is_some_and(|(start, end)| meets(start, end))
        };
        let mut inside: Vec<bool> = self.rows.iter().map(row).collect();
        for (row, ..) in self.further.iter().filter(|(_, start, end)| meets(*start, *end)) {
            if let Some(inside) = inside.get_mut(*row as usize) {
                *inside = true;
            }
        }
        inside
    }

    /// How many sessions its messages are of.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions
    }

    /// The row of a unit.
    #[must_use]
    pub fn row(&self, ordinal: u64) -> Option<usize> {
        let row = *self.ordinals.get(usize::try_from(ordinal).ok()?)?;
        (row != NONE).then_some(row as usize)
    }

    /// How many visible rows have a term.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn frequency(&self, field: TermField, term: &str, visible: &[bool]) -> tantivy::Result<usize> {
        let mut count = 0;
        self.postings(field, term, visible, |_, _| count += 1)?;
        Ok(count)
    }

    fn postings(
        &self,
        field: TermField,
        term: &str,
        visible: &[bool],
        mut each: impl FnMut(usize, u32),
    ) -> tantivy::Result<()> {
        let field = self.fields.terms(field);
        let term = Term::from_field_text(field, term);
        for segment in &self.segments {
            let inverted = segment.reader.inverted_index(field)?;
            let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::WithFreqs)? else { continue };
            let mut document = postings.doc();
            while document != TERMINATED {
                let row = segment.rows.get(document as usize).map_or(NONE, |row| *row) as usize;
                if visible.get(row).copied().unwrap_or(false) {
                    each(row, postings.term_freq());
                }
                document = postings.advance();
            }
        }
        Ok(())
    }

    /// BM25 of each visible row, and of the body also of each session as one text. Rows that are not visible count for nothing.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn bm25(
        &self,
        field: TermField,
        terms: &[(String, f32)],
        visible: &[bool],
        weighing: Bm25,
    ) -> tantivy::Result<Scores> {
        let mut scores = Scores { rows: vec![0.0; self.rows.len()], sessions: vec![0.0; self.sessions], mass: 0.0 };
        if terms.is_empty() {
            return Ok(scores);
        }
        let lengths = Lengths::of(self, visible, field);
        let mut found: Vec<(u32, u32)> = Vec::new();
        let mut sessions = SessionCounts::new(if field == TermField::Body { self.sessions } else { 0 });
        for (term, weight) in terms {
            found.clear();
            self.postings(field, term, visible, |row, times| {
                found.push((u32::try_from(row).unwrap_or(NONE), times));
            })?;
            let rarity = weight * rarity(found.len(), lengths.rows);
            scores.mass += rarity;
            for (row, times) in &found {
                let Some(known) = self.rows.get(*row as usize) else { continue };
                sessions.count(known.session, *times);
                if let Some(score) = scores.rows.get_mut(*row as usize) {
                    *score += rarity * saturated(*times, known.terms as f32 / lengths.row_mean, weighing);
                }
            }
            let rarity = weight * self::rarity(sessions.seen.len(), self.sessions);
            sessions.drain(|session, times| {
                let length = lengths.sessions.get(session).copied().unwrap_or(0);
                if let Some(score) = scores.sessions.get_mut(session) {
                    *score += rarity * saturated(times, length as f32 / lengths.session_mean, SESSION_WEIGHING);
                }
            });
        }
        Ok(scores)
    }
}

/// How often one term stands in each session: a counter for each, and which of them are in use.
struct SessionCounts {
    times: Vec<u32>,
    seen: Vec<u32>,
}

impl SessionCounts {
    fn new(sessions: usize) -> Self {
        Self { times: vec![0; sessions], seen: Vec::new() }
    }

    fn count(&mut self, session: u32, times: u32) {
        if let Some(count) = self.times.get_mut(session as usize) {
            if *count == 0 {
                self.seen.push(session);
            }
            *count = count.saturating_add(times);
        }
    }

    /// Gives each session in use with its count, and forgets them.
    fn drain(&mut self, mut each: impl FnMut(usize, u32)) {
        for session in self.seen.drain(..) {
            if let Some(count) = self.times.get_mut(session as usize) {
                each(session as usize, std::mem::take(count));
            }
        }
    }
}

/// Sessions are long and of many subjects: length counts as usual.
const SESSION_WEIGHING: Bm25 = Bm25 { k1: 1.2, b: 0.75 };

/// How long the visible texts are.
struct Lengths {
    rows: usize,
    row_mean: f32,
    sessions: Vec<u64>,
    session_mean: f32,
}

impl Lengths {
    fn of(searcher: &Searcher, visible: &[bool], field: TermField) -> Self {
        if field != TermField::Body {
            // Names and dates are few in any text: only the body has a length that means something.
            let rows = visible.iter().filter(|visible| **visible).count();
            return Self { rows, row_mean: f32::INFINITY, sessions: Vec::new(), session_mean: 1.0 };
        }
        let (mut rows, mut total) = (0_usize, 0_u64);
        let mut sessions = vec![0_u64; searcher.sessions];
        for row in searcher.rows.iter().zip(visible).filter(|(_, visible)| **visible).map(|(row, _)| row) {
            rows += 1;
            total += u64::from(row.terms);
            if let Some(session) = sessions.get_mut(row.session as usize) {
                *session += u64::from(row.terms);
            }
        }
        let mean = |total: u64, count: usize| if total == 0 { 1.0 } else { total as f32 / count.max(1) as f32 };
        let row_mean = mean(total, rows);
        let session_mean = mean(sessions.iter().sum(), sessions.len());
        Self { rows, row_mean, sessions, session_mean }
    }
}

/// The inverse document frequency of BM25 as Lucene has it.
fn rarity(with: usize, all: usize) -> f32 {
    let (with, all) = (with as f32, all.max(with) as f32);
    ((all - with + 0.5) / (with + 0.5)).ln_1p()
}

fn saturated(times: u32, relative_length: f32, Bm25 { k1, b }: Bm25) -> f32 {
    let times = times as f32;
    times / (times + k1 * (1.0 - b + b * relative_length))
}
