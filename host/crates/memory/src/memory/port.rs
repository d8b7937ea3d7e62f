//! A user's memory behind the ports of episodes: what it brings to one, how records are ranked in one, and what comes back.

use std::collections::HashMap;
use std::sync::Arc;

use loopwright_contract::digest::MemoryDigest;
use loopwright_contract::memory::{
    CATEGORY_BYTES_MAX, Captured, CivilTime, Embedder, Forget, Hit, Layer, MemoryChange, MemoryError, MemoryRecord,
    MemorySearch, MemorySnapshot, RECORDS_MAX, Ranker, Remember, Role, TAG_BYTES_MAX, TAGS_MAX, TITLE_BYTES_MAX,
};
use loopwright_contract::name::MemoryId;
use serde_json::json;

use super::{Memory, MemoryFault, Pool, trust_of};
use crate::corpus::Corpus;
use crate::id::{RootKey, UnitId};
use crate::index::Searcher;
use crate::message::{Message, Place, TEXT_BYTES_MAX};
use crate::moment::{Moment, Zone};
use crate::reconcile::Decision;
use crate::retrieve::{ITEMS_MAX, Query, Settings, Sources as From, retrieve};
use crate::store::{Capture, Selection, Snapshot, Sources, Transaction};
use crate::unit::{Arity, Confidence, Sequence, Status, Unit};
use crate::vectors::Vectors;

/// The dialogue of what episodes wrote down.
const WRITTEN: &str = "episodes.written";
/// The dialogue of what episodes did.
const DONE: &str = "episodes.done";
/// Calls that a captured trajectory names.
const CALLS_MAX: usize = 32;

/// Ranks an episode's records as the memory itself searches: by words in both languages, dates, names and, with an embedder, vectors. Its
/// index is made for the search and gone with it.
pub struct EpisodeRanker {
    embedder: Option<Arc<dyn Embedder>>,
    settings: Settings,
    fingerprint: String,
}

impl EpisodeRanker {
    /// A ranker; without an embedder it ranks by words alone.
    #[must_use]
    pub fn new(embedder: Option<Arc<dyn Embedder>>) -> Self {
        let model = embedder.as_ref().map_or("no embedder", |embedder| embedder.fingerprint());
        let fingerprint = format!("memory/{} {model}", env!("CARGO_PKG_VERSION"));
        Self { embedder, settings: Settings::default(), fingerprint }
    }

    fn find(&self, search: &MemorySearch<'_>, records: &[MemoryRecord]) -> Result<Vec<Hit>, MemoryFault> {
        let now = moment_of(search.now);
        let corpus = Records::of(records, &now);
        let searcher = Searcher::of(&corpus).map_err(crate::retrieve::RetrieveError::Index)?;
        let vectors = self.embedder.as_deref().map(|embedder| corpus.embedded(embedder)).transpose()?;
        let mut query = Query::new(search.query, now);
        query.whole = false;
        query.limit = (search.limit as usize).min(ITEMS_MAX);
        let from = From {
            corpus: &corpus,
            searcher: &searcher,
            vectors: vectors.as_ref(),
            embedder: self.embedder.as_deref(),
        };
        let ledger = retrieve(&from, &query, &self.settings)?;
        if ledger.nothing_above_threshold {
            return Ok(Vec::new());
        }
        let found = ledger.items.iter().filter_map(|item| {
            let record = corpus.record(item.ordinal)?;
            let against = records.iter().filter(|other| record.contradicts(other));
            Some(Hit {
                id: record.id.clone(),
                score: f64::from(item.scores.total.clamp(0.0, 1.0)),
                conflicts: against.map(|other| other.id.clone()).collect(),
                instruction_like: item.reads_as_instruction,
            })
        });
        Ok(found.take(search.limit as usize).collect())
    }
}

impl Ranker for EpisodeRanker {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn rank(&self, search: &MemorySearch<'_>, records: &[MemoryRecord]) -> Result<Vec<Hit>, MemoryError> {
        self.find(search, records).map_err(told)
    }
}

/// A phone's time as a moment. Only differences count here, so it stands in no zone.
fn moment_of(time: &CivilTime) -> Moment {
    Moment::parse(&format!("{}Z", time.as_str()), &Zone::utc()).unwrap_or_else(|_| Moment::epoch())
}

fn told(fault: MemoryFault) -> MemoryError {
    MemoryError(loopwright_contract::fault::chain(&fault))
}

/// Records of an episode as a memory to search.
struct Records<'a> {
    records: &'a [MemoryRecord],
    units: Vec<Unit>,
    by_id: HashMap<UnitId, u64>,
}

impl<'a> Records<'a> {
    fn of(records: &'a [MemoryRecord], now: &Moment) -> Self {
        let key = RootKey::new([0; 32]);
        let units: Vec<Unit> = records
            .iter()
            .zip(0..)
            .map(|(record, ordinal)| unit_of_record(record, UnitId::of(&key, ordinal), now))
            .collect();
        let by_id = units.iter().zip(0..).map(|(unit, ordinal)| (unit.id, ordinal)).collect();
        Self { records, units, by_id }
    }

    fn record(&self, ordinal: u64) -> Option<&'a MemoryRecord> {
        self.records.get(usize::try_from(ordinal).ok()?)
    }

    fn embedded(&self, embedder: &dyn Embedder) -> Result<Vectors, MemoryFault> {
        let mut vectors = Vectors::in_memory(embedder.fingerprint(), embedder.width());
        let covered: Vec<(u64, &str)> = (0..)
            .zip(&self.units)
            .map(|(ordinal, unit)| (ordinal, unit.text.as_str()))
            .filter(|(_, text)| embedder.covers(text))
            .collect();
        let texts: Vec<&str> = covered.iter().map(|(_, text)| *text).collect();
        let made = embedder.embed(&texts)?;
        let rows: Vec<(u64, Vec<f32>)> = covered.iter().map(|(ordinal, _)| *ordinal).zip(made).collect();
        vectors.add(&rows)?;
        Ok(vectors)
    }
}

impl Corpus for Records<'_> {
    fn sequence(&self) -> Sequence {
        self.units.len() as u64
    }

    fn ordinals(&self) -> u64 {
        self.units.len() as u64
    }

    fn unit(&self, ordinal: u64) -> Option<&Unit> {
        self.units.get(usize::try_from(ordinal).ok()?)
    }

    fn ordinal(&self, id: &UnitId) -> Option<u64> {
        self.by_id.get(id).copied()
    }

    fn previous(&self, _: u64) -> Option<u64> {
        None
    }

    fn next(&self, _: u64) -> Option<u64> {
        None
    }
}

/// A record as a unit: title and tags are words of it.
fn unit_of_record(record: &MemoryRecord, id: UnitId, now: &Moment) -> Unit {
    let parts = std::iter::once(&record.content).chain(record.title.as_ref()).chain(&record.tags);
    let text: Vec<&str> = parts.map(String::as_str).collect();
    Unit {
        id,
        // Profile and due records would be listed as always served, and not be ranked.
        layer: Layer::LongTerm,
        category: record.category.clone(),
        tags: Vec::new(),
        text: text.join("\n"),
        claim: None,
        event: None,
        mentioned: moment_of(&record.created),
        ingested: now.clone(),
        place: None,
        evidence: Vec::new(),
        status: Status::Verified,
        supersedes: Vec::new(),
        superseded_by: None,
        conflicts: Vec::new(),
        confidence: Confidence { thousandths: 1_000, reason: "as the episode has it".to_owned() },
        activation: None,
        derived_from: Vec::new(),
    }
}

impl Memory {
    /// What this memory brings to an episode: everything current as far as it fits, profile and what is to be done first, then facts, then the
    /// latest of what was said. Times are those of a clock in `zone`.
    #[must_use]
    pub fn for_episode(&self, zone: &Zone) -> MemorySnapshot {
        let snapshot = self.snapshot();
        let mut current: Vec<&Unit> =
            snapshot.units().map(|(_, unit)| unit).filter(|unit| unit.status.is_current()).collect();
        let rank = |unit: &Unit| match unit.layer {
            Layer::Profile => 0,
            Layer::Prospective => 1,
            Layer::LongTerm => 2,
            Layer::Episodic => 3,
        };
        current.sort_by_key(|unit| (rank(unit), std::cmp::Reverse(unit.mentioned.seconds()), unit.id));
        let all = current.len();
        let mut records: Vec<MemoryRecord> =
            current.into_iter().filter_map(|unit| record_of(unit, zone)).take(RECORDS_MAX).collect();
        records.sort_by(|left, right| left.id.cmp(&right.id));
        let left_out = u32::try_from(all - records.len()).unwrap_or(u32::MAX);
        let content =
            serde_json::to_vec(&json!({"sequence": snapshot.sequence(), "records": records, "left_out": left_out}));
        MemorySnapshot { digest: MemoryDigest::of(&content.unwrap_or_default()), records, left_out }
    }
}

fn record_of(unit: &Unit, zone: &Zone) -> Option<MemoryRecord> {
    let civil = |moment: &Moment| {
        let here = Moment::new(moment.seconds(), zone.clone()).ok()?;
        CivilTime::of_clock(&here.to_string()).ok()
    };
    let fits = |text: &String, limit: usize| (1..=limit).contains(&text.len());
    let activation = unit.activation.as_ref();
    let record = MemoryRecord {
        id: MemoryId::new(unit.id.to_string()).ok()?,
        layer: unit.layer,
        category: unit.category.clone().filter(|category| fits(category, CATEGORY_BYTES_MAX)),
        content: unit.text.clone(),
        title: None,
        tags: unit.tags.iter().filter(|tag| fits(tag, TAG_BYTES_MAX)).take(TAGS_MAX).cloned().collect(),
        source: unit.place.as_ref().map_or(Role::User, |place| place.role),
        created: civil(&unit.mentioned)?,
        updated: civil(&unit.ingested)?,
        valid_until: activation.and_then(|activation| civil(activation.valid_until.as_ref()?)),
        due: activation.and_then(|activation| civil(&activation.due.as_ref()?.start)),
        fired: activation.and_then(|activation| civil(activation.fired.as_ref()?)),
        completed: false,
        supersedes: None,
        superseded_by: None,
        claim: unit
            .claim
            .as_ref()
            .filter(|claim| claim.arity == Arity::Single)
            .map(|claim| {
                let qualifier = claim.key.qualifier.as_ref().map_or_else(String::new, |found| format!("/{found}"));
                format!("{}/{}{qualifier}", claim.key.subject, claim.key.predicate)
            })
            .filter(|claim| fits(claim, TITLE_BYTES_MAX)),
    };
    record.check().ok()?;
    Some(record)
}

/// Opens the pool of the user's workspace; none when somebody else has it open. A pool is open only as long as it is told something, so that
/// sessions of one workspace do not exclude each other.
pub type OpenPool = Box<dyn Fn() -> Result<Option<Pool>, MemoryFault> + Send + Sync>;

/// A user's memory that episodes of the user's own sessions give back to.
pub struct Live {
    memory: Arc<Memory>,
    zone: Zone,
    pool: OpenPool,
}

impl Live {
    /// Keeps what comes from a phone in `zone`. What the user has it forget leaves the pool too.
    #[must_use]
    pub fn new(memory: Arc<Memory>, zone: Zone, pool: OpenPool) -> Self {
        Self { memory, zone, pool }
    }

    /// The place of something written down: that of the same record, if it was kept before, or else a new one.
    fn position(&self, session: &str, record: &MemoryRecord, mentioned: &Moment) -> u32 {
        let (snapshot, text) = (self.memory.snapshot(), cut(&record.content));
        let same = |unit: &&Unit| {
            let role = unit.place.as_ref().map(|place| place.role);
            role == Some(record.source) && unit.text == text && unit.mentioned == *mentioned
        };
        let known = snapshot.session(WRITTEN, session).find(same).and_then(|unit| unit.place.as_ref());
        known.map_or_else(|| snapshot.next_position(WRITTEN, session), |place| place.position)
    }

    /// When the phone's clock shows it.
    fn moment(&self, time: &CivilTime) -> Result<Moment, MemoryError> {
        let civil: jiff::civil::DateTime =
            time.as_str().parse().map_err(|_| MemoryError(format!("`{}` is no time", time.as_str())))?;
        Moment::of_civil(civil, self.zone.clone())
            .ok_or_else(|| MemoryError(format!("`{}` is out of range", time.as_str())))
    }

    fn unit(&self, snapshot: &Snapshot, id: &MemoryId) -> Option<UnitId> {
        let id: UnitId = id.as_str().parse().ok()?;
        snapshot.ordinal(&id).map(|_| id)
    }

    fn add(&self, record: &MemoryRecord) -> Result<(), MemoryError> {
        let mentioned = self.moment(&record.created)?;
        let session = mentioned.civil().date().to_string();
        let place = Place {
            dialogue: WRITTEN.to_owned(),
            position: self.position(&session, record, &mentioned),
            session,
            speaker: if record.source == Role::User { "user" } else { "assistant" }.to_owned(),
            role: record.source,
        };
        let message = Message { place, text: cut(&record.content), mentioned: mentioned.clone() };
        let capture = Capture {
            category: record.category.clone(),
            tags: record.tags.clone(),
            ..Capture::of(message, trust_of(record.source))
        };
        let understood = self.memory.capture(vec![capture], &mentioned).map_err(told)?;
        let Some(understood) = understood.first() else { return Ok(()) };
        let snapshot = self.memory.snapshot();
        let old = record.supersedes.as_ref().and_then(|old| self.unit(&snapshot, old));
        let replaced = |id: UnitId| {
            understood
                .derived
                .iter()
                .any(|(_, how)| matches!(how, Decision::Supersede { units } if units.contains(&id)))
        };
        if let (Some(old), Some(new)) = (old.filter(|old| !replaced(*old)), understood.message.at())
            && snapshot.ordinal(&old).and_then(|at| snapshot.unit(at)).is_some_and(|unit| unit.status.is_current())
        {
            // The user had it replaced, and it makes no claim by which that would show: the link alone says so.
            let mut transaction = Transaction::at(&snapshot);
            transaction.merge(old, new.id);
            self.memory.write(transaction, &mentioned).map_err(told)?;
        }
        Ok(())
    }
}

impl Remember for Live {
    fn change(&self, change: &MemoryChange) -> Result<(), MemoryError> {
        match (&change.before, &change.after) {
            (None, Some(record)) => self.add(record),
            (Some(before), Some(after)) => {
                let snapshot = self.memory.snapshot();
                let Some(id) = self.unit(&snapshot, &change.id) else { return Ok(()) };
                let at = self.moment(&after.updated)?;
                let mut transaction = Transaction::at(&snapshot);
                let activation =
                    snapshot.ordinal(&id).and_then(|at| snapshot.unit(at)).and_then(|unit| unit.activation.as_ref());
                let fires = before.fired.is_none() && activation.is_some_and(|activation| activation.fired.is_none());
                if let Some(fired) = after.fired.as_ref().filter(|_| fires) {
                    transaction.fire(id, self.moment(fired)?);
                }
                if after.completed && !before.completed && activation.is_some_and(|found| found.completed.is_none()) {
                    transaction.complete(id, at.clone());
                }
                self.memory.write(transaction, &at).map_err(told)
            }
            (Some(before), None) => self.forget(&change.id, &before.updated),
            (None, None) => Ok(()),
        }
    }

    fn capture(&self, captured: &Captured) -> Result<(), MemoryError> {
        let seconds = i64::try_from(captured.at_ns / 1_000_000_000).unwrap_or(i64::MAX);
        let zone = Zone::new(&captured.zone).unwrap_or_else(|_| self.zone.clone());
        let at = Moment::new(seconds, zone).map_err(|error| MemoryError(error.to_string()))?;
        let calls: Vec<String> = captured
            .done
            .iter()
            .take(CALLS_MAX)
            .map(|call| format!("{} {}", call.tool, loopwright_contract::json::canonical(&call.arguments)))
            .collect();
        let message = |position: u32, role: Role, text: String| Message {
            place: Place {
                dialogue: DONE.to_owned(),
                session: captured.episode.as_str().chars().take(200).collect(),
                position,
                speaker: if role == Role::User { "user" } else { "assistant" }.to_owned(),
                role,
            },
            text: cut(&text),
            mentioned: at.clone(),
        };
        let mut said = vec![(Role::User, captured.request.clone())];
        said.extend((!calls.is_empty()).then(|| (Role::Tool, calls.join("\n"))));
        said.extend((!captured.answer.trim().is_empty()).then(|| (Role::Assistant, captured.answer.clone())));
        let captures = (0..).zip(said).map(|(position, (role, text))| {
            let trust = if role == Role::User { crate::unit::Trust::Stated } else { crate::unit::Trust::Observed };
            Capture::of(message(position, role, text), trust)
        });
        self.memory.capture(captures.collect(), &at).map(|_| ()).map_err(told)
    }
}

impl Forget for Live {
    fn forget(&self, id: &MemoryId, at: &CivilTime) -> Result<(), MemoryError> {
        let snapshot = self.memory.snapshot();
        let Some(unit) = self.unit(&snapshot, id) else { return Ok(()) };
        let at = self.moment(at)?;
        let forgotten = self.memory.forget(&Selection::Units(vec![unit]), Sources::Purge, None, &at).map_err(told)?;
        // The user's own memory has it no more, whatever becomes of the pool now; it is kept in mind until the pool was told.
        if forgotten.pending > 0
            && let Some(pool) = (self.pool)().map_err(told)?
        {
            self.memory.settle(&pool, &at).map_err(told)?;
        }
        Ok(())
    }
}

/// The text as far as a message holds it.
fn cut(text: &str) -> String {
    text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or_default().to_owned()
}
