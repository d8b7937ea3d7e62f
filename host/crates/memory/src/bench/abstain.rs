//! How well the ledger knows that it has nothing: questions of one conversation are asked of another.

use loopwright_contract::memory::Embedder;
use serde::Serialize;

use super::evaluate::Prepared;
use super::locomo::Conversation;
use crate::retrieve::{RetrieveError, Settings};

/// What the thresholds of a setting do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Abstention {
    /// Of the questions that the conversation answers (categories 1 to 4), the share for which the ledger does not say that it has nothing.
    pub own_kept: f64,
    /// Of questions of another conversation, its speakers' names taken out, the share for which it does.
    pub foreign_refused: f64,
    /// Coverage, and cosine where there is one, at the 5th, 50th and 95th of 100 own questions.
    pub own: [[f32; 3]; 2],
    /// Of foreign ones.
    pub foreign: [[f32; 3]; 2],
}

/// Asks each conversation its own questions, and those of the next one; one result for each setting.
///
/// # Errors
/// [`RetrieveError`] when the index or the embedder fails.
pub fn abstention(
    conversations: &[Conversation],
    settings: &[Settings],
    embedder: Option<&dyn Embedder>,
) -> Result<Vec<Abstention>, RetrieveError> {
    let (mut own, mut foreign) = (Vec::new(), Vec::new());
    for (number, conversation) in conversations.iter().enumerate() {
        let prepared = Prepared::of(conversation, embedder)?;
        let Some(other) = conversations.get((number + 1) % conversations.len().max(1)) else { continue };
        own.extend(prepared.asked.iter().filter(|asked| asked.question.category < 5).map(|asked| signs(&asked.legs)));
        for question in other.questions.iter().filter(|question| question.category < 5) {
            let legs = prepared.legs(&prepared.query(&question.text, &other.speakers), embedder)?;
            foreign.push(signs(&legs));
        }
    }
    Ok(settings.iter().map(|settings| judged(&own, &foreign, settings)).collect())
}

type Signs = (f32, Option<f32>);

fn judged(own: &[Signs], foreign: &[Signs], settings: &Settings) -> Abstention {
    let speaks = |signs: &&Signs| settings.speaks(signs.0, signs.1);
    let share = |count: usize, all: usize| count as f64 / all.max(1) as f64;
    Abstention {
        own_kept: share(own.iter().filter(speaks).count(), own.len()),
        foreign_refused: share(foreign.iter().filter(|signs| !speaks(signs)).count(), foreign.len()),
        own: quantiles(own),
        foreign: quantiles(foreign),
    }
}

fn signs(legs: &crate::retrieve::legs::Legs) -> Signs {
    (legs.coverage(), legs.dense.as_ref().map(|dense| dense.best))
}

fn quantiles(signs: &[Signs]) -> [[f32; 3]; 2] {
    let of = |mut values: Vec<f32>| {
        values.sort_by(f32::total_cmp);
        [5, 50, 95].map(|share| values.get(values.len() * share / 100).copied().unwrap_or_default())
    };
    [of(signs.iter().map(|signs| signs.0).collect()), of(signs.iter().filter_map(|signs| signs.1).collect())]
}
