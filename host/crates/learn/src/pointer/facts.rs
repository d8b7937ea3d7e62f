//! The numbers of the tables, each in one place. All lie within -4 to 4; those that do not apply are 0.

use super::choice::{OPTION_FACTS, QUESTION_FACTS};

/// Facts about a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Asked {
    /// The schema demands a value.
    Required = 0,
    /// The place in a list, in quarters.
    Item = 1,
    /// The first unit of a raw span is asked for.
    First = 2,
    /// The last unit of a raw span is asked for.
    Last = 3,
    /// Whether a moment is to be moved is asked for.
    Shift = 4,
    /// The slot takes a text.
    Text = 5,
    /// The slot takes a number.
    Number = 6,
    /// The slot takes one of a closed list.
    Closed = 7,
    /// The slot takes a moment.
    Moment = 8,
    /// The slot is an act's own: a memory, an answer, a question.
    Own = 9,
    /// What was chosen so far needs the slot (1), or its description speaks of it (0.5).
    Wanted = 10,
    /// Decisions made so far, in eighths.
    Turn = 11,
    /// Calls in this decision so far, in quarters.
    Calls = 12,
    /// The share of the request that no call took up yet.
    Open = 13,
    /// What became of the last action: 1 it ran, -1 it did not.
    Last1 = 14,
    /// A call waits for the user's word: 1, or -1 once the user was asked for it.
    Waits = 15,
}

/// Facts about an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Told {
    /// Observed in the request.
    Request = 0,
    /// Observed in what the user said since.
    User = 1,
    /// Observed in the memory.
    Memory = 2,
    /// Observed in a result.
    Result = 3,
    /// Out of the schema or the clock.
    Schema = 4,
    /// The share of its words that the request has; terms count by how rare they are among the offered tools.
    Meets = 5,
    /// The share of the request's words that it has.
    Covers = 6,
    /// The share of those that no call took up yet.
    CoversOpen = 7,
    /// The words before it name the slot.
    Before = 8,
    /// The words after it name the slot.
    After = 9,
    /// What it is called where it was observed names the slot.
    Label = 10,
    /// The record that it is in meets the request.
    Record = 11,
    /// How early it stands: its place by recall, or where it was observed.
    Early = 12,
    /// How late it was observed.
    Late = 13,
    /// Its own: a length counted as the slot counts; a memory that holds (1) or not (-1); a record that was changed; asks whether, not what;
    /// no more than that all is done, after something was changed (1) or was not (-1); a stop word.
    Own = 14,
    /// Leaves out, ends, stays as it is.
    Leaves = 15,
    /// Opens further choices.
    Opens = 16,
    /// A number.
    Number = 17,
    /// A moment or a length of time.
    Time = 18,
    /// Quoted.
    Quote = 19,
    /// A name or a code.
    Name = 20,
    /// A clause, a whole text, or where one begins.
    Clause = 21,
    /// What a call does at most: 0 reads, 0.5 writes, 1 cannot be undone.
    Effect = 22,
    /// How often it was done before, in quarters.
    Again = 23,
    /// What came of it then: 1 it ran, -1 it did not.
    Outcome = 24,
    /// The value was used in an earlier call.
    Used = 25,
    /// The value is used in this decision already.
    Twice = 26,
    /// How long it is: the logarithm of its characters; of a raw span its units in eighths.
    Length = 27,
    /// Ends the episode.
    Ends = 28,
    /// Acts on the memory.
    Remembers = 29,
    /// Speaks to the user.
    Speaks = 30,
    /// A skill, with the share of the offered tools that it is about; later instead of earlier.
    Skill = 31,
}

/// Facts of a question.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Question([f32; QUESTION_FACTS]);

impl Question {
    /// Sets a fact.
    pub(super) fn set(mut self, fact: Asked, value: f32) -> Self {
        if let Some(place) = self.0.get_mut(fact as usize) {
            *place = bounded(value);
        }
        self
    }

    /// All of them.
    pub(super) fn all(self) -> [f32; QUESTION_FACTS] {
        self.0
    }
}

/// Facts of an option.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Option([f32; OPTION_FACTS]);

impl Option {
    /// Sets a fact.
    pub(super) fn set(mut self, fact: Told, value: f32) -> Self {
        if let Some(place) = self.0.get_mut(fact as usize) {
            *place = bounded(value);
        }
        self
    }

    /// All of them.
    pub(super) fn all(self) -> [f32; OPTION_FACTS] {
        self.0
    }
}

/// The greatest number of a table, and with its sign the least.
const FACT_MAX: f32 = 4.0;

fn bounded(value: f32) -> f32 {
    if value.is_finite() { value.clamp(-FACT_MAX, FACT_MAX) } else { 0.0 }
}

/// 1 or 0.
pub(super) fn flag(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_stay_within_their_bounds() {
        let facts = Option::default().set(Told::Length, 40.0).set(Told::Late, f32::NAN).set(Told::Own, -9.0);
        assert_eq!(facts.all()[Told::Length as usize], FACT_MAX);
        assert_eq!(facts.all()[Told::Late as usize], 0.0);
        assert_eq!(facts.all()[Told::Own as usize], -FACT_MAX);
        assert_eq!(Told::Skill as usize + 1, OPTION_FACTS);
        assert_eq!(Asked::Waits as usize + 1, QUESTION_FACTS);
    }
}
