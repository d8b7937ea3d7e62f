//! The signals of one request, each for every row, before they are weighed.

use loopwright_contract::memory::Embedder;
use loopwright_text::{TokenKind, tokenize};

use super::RetrieveError;
use super::query::Parsed;
use super::settings::{BODY_WEIGHING, HOP_NAMES_MAX, HOP_SEEDS, HOP_SHARE_DIVISOR, PRESENCE_WEIGHING};
use crate::corpus::Corpus;
use crate::index::{Bm25, Searcher, TermField, name_terms};
use crate::vectors::Vectors;

/// Turns of a session whose mean cosine is the session's.
const SESSION_BEST: usize = 3;

/// The dense signals.
#[derive(Debug, Clone)]
pub(crate) struct Dense {
    /// The cosine of each row; none where there is no vector.
    pub(crate) rows: Vec<Option<f32>>,
    /// Of each row's session.
    pub(crate) sessions: Vec<f32>,
    /// The best of all.
    pub(crate) best: f32,
}

/// The signals of one request.
#[derive(Debug, Clone)]
pub(crate) struct Legs {
    pub(crate) visible: Vec<bool>,
    pub(crate) body: Vec<f32>,
    /// The BM25 of each row's session.
    pub(crate) sessions: Vec<f32>,
    pub(crate) dates: Vec<f32>,
    pub(crate) names: Vec<f32>,
    pub(crate) hop: Vec<f32>,
    pub(crate) spoken: Vec<bool>,
    pub(crate) window: Vec<bool>,
    pub(crate) asked: u8,
    /// What a text that has every term of the query would have.
    pub(crate) mass: f32,
    pub(crate) dense: Option<Dense>,
}

/// Where the signals come from.
pub(crate) struct From<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) vectors: Option<&'a Vectors>,
    pub(crate) embedder: Option<&'a dyn Embedder>,
}

impl Legs {
    pub(crate) fn of(from: &From<'_>, parsed: &Parsed, visible: Vec<bool>) -> Result<Self, RetrieveError> {
        let searcher = from.searcher;
        let body = score(searcher, TermField::Body, &parsed.terms, &visible, BODY_WEIGHING)?;
        let rows = |field, terms: &[(String, f32)]| {
            score(searcher, field, terms, &visible, PRESENCE_WEIGHING).map(|scores| scores.rows)
        };
        let sessions = searcher
            .rows()
            .iter()
            .zip(&visible)
            .map(|(row, visible)| body.sessions.get(row.session as usize).copied().filter(|_| *visible).unwrap_or(0.0))
            .collect();
        let spoken = searcher.rows().iter().map(|row| parsed.speaker == Some(row.speaker)).collect();
        let window = match parsed.window {
            Some((from, until)) => {
                searcher.happens(from, until).iter().zip(&visible).map(|(in_it, seen)| *in_it && *seen).collect()
            }
            None => vec![false; visible.len()],
        };
        Ok(Self {
            sessions,
            dates: rows(TermField::Dates, &parsed.dates)?,
            names: rows(TermField::Names, &parsed.names)?,
            hop: vec![0.0; searcher.rows().len()],
            spoken,
            window,
            asked: parsed.asked,
            mass: body.mass,
            dense: dense(from, parsed, &visible)?,
            body: body.rows,
            visible,
        })
    }

    /// Adds the second hop: rows that have names of the first hits which the query does not have.
    pub(crate) fn hop(
        &mut self,
        searcher: &Searcher,
        corpus: &dyn Corpus,
        parsed: &Parsed,
        hits: &[usize],
    ) -> Result<(), RetrieveError> {
        let mut names: Vec<String> = Vec::new();
        for row in hits.iter().take(HOP_SEEDS) {
            let Some(unit) = searcher.rows().get(*row).and_then(|row| corpus.unit(row.ordinal)) else { continue };
            let speaker: Vec<String> =
                unit.place.iter().flat_map(|place| name_terms(&format!("x {}", place.speaker))).collect();
            for name in name_terms(&unit.text) {
                let known = names.contains(&name) || speaker.contains(&name);
                if !known && !parsed.terms.iter().any(|(term, _)| *term == name) {
                    names.push(name);
                }
            }
        }
        let often = searcher.rows().len() / HOP_SHARE_DIVISOR + 1;
        let mut telling = Vec::new();
        for name in names {
            let times = searcher.frequency(TermField::Names, &name, &self.visible).map_err(RetrieveError::Index)?;
            if times > 1 && times <= often {
                telling.push((times, name));
            }
        }
        telling.sort();
        let terms: Vec<(String, f32)> = telling.into_iter().take(HOP_NAMES_MAX).map(|(_, name)| (name, 1.0)).collect();
        self.hop = score(searcher, TermField::Names, &terms, &self.visible, PRESENCE_WEIGHING)?.rows;
        Ok(())
    }

    /// The share of the query's weight in terms that the best row has, 0 to 1.
    pub(crate) fn coverage(&self) -> f32 {
        let best = self.body.iter().copied().fold(0.0, f32::max);
        if self.mass > 0.0 { (best / self.mass).min(1.0) } else { 0.0 }
    }
}

fn score(
    searcher: &Searcher,
    field: TermField,
    terms: &[(String, f32)],
    visible: &[bool],
    weighing: Bm25,
) -> Result<crate::index::Scores, RetrieveError> {
    searcher.bm25(field, terms, visible, weighing).map_err(RetrieveError::Index)
}

/// Whether a text has a Chinese, Japanese or Korean character, which the English model does not know.
fn has_han(text: &str) -> bool {
    tokenize(text).iter().any(|token| token.kind == TokenKind::Unigram)
}

fn dense(from: &From<'_>, parsed: &Parsed, visible: &[bool]) -> Result<Option<Dense>, RetrieveError> {
    let (Some(vectors), Some(embedder)) = (from.vectors, from.embedder) else { return Ok(None) };
    let text = parsed.stripped.as_str();
    let usable = vectors.fingerprint() == embedder.fingerprint() && !vectors.is_empty();
    if !usable || text.is_empty() || !embedder.covers(text) || (has_han(text) && !embedder.covers("我们")) {
        return Ok(None);
    }
    let embedded = embedder.embed(&[text]).map_err(RetrieveError::Embedder)?;
    let Some(query) = embedded.first().filter(|query| query.len() == vectors.width()) else {
        return Err(RetrieveError::Width { expected: vectors.width(), found: embedded.first().map_or(0, Vec::len) });
    };
    let mut rows = vec![None; from.searcher.rows().len()];
    for ((ordinal, _), dot) in vectors.iter().zip(vectors.dots(query)) {
        if let Some(row) = from.searcher.row(ordinal).filter(|row| visible.get(*row).copied().unwrap_or(false))
            && let Some(slot) = rows.get_mut(row)
        {
            *slot = Some(dot);
        }
    }
    Ok(Some(Dense {
        sessions: session_means(from.searcher, &rows),
        best: rows.iter().flatten().copied().fold(f32::NEG_INFINITY, f32::max),
        rows,
    }))
}

/// For each row, the mean of the best cosines of its session.
fn session_means(searcher: &Searcher, rows: &[Option<f32>]) -> Vec<f32> {
    let mut best = vec![[f32::NEG_INFINITY; SESSION_BEST]; searcher.sessions()];
    for (row, cosine) in searcher.rows().iter().zip(rows) {
        let (Some(cosine), Some(best)) = (cosine, best.get_mut(row.session as usize)) else { continue };
        let mut left = *cosine;
        for kept in best.iter_mut() {
            if left > *kept {
                std::mem::swap(&mut left, kept);
            }
        }
    }
    let means: Vec<f32> = best
        .iter()
        .map(|best| {
            let known: Vec<f32> = best.iter().copied().filter(|cosine| cosine.is_finite()).collect();
            if known.is_empty() { 0.0 } else { known.iter().sum::<f32>() / known.len() as f32 }
        })
        .collect();
    searcher.rows().iter().map(|row| means.get(row.session as usize).copied().unwrap_or(0.0)).collect()
}
