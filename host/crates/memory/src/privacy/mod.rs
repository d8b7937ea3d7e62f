//! Takes what identifies somebody out of a text before it may leave for the shared pool, in English and Chinese.
//!
//! Rules find names, numbers, addresses and accounts and put typed placeholders in their place; a [`gate`] refuses what still holds a token of the
//! user's entity table, and hands doubtful texts to a person. This lowers the risk and does not end it: **the result is not anonymous**. Who was
//! where, said what and knew whom can identify somebody without any of these marks, and detectors miss what they have no form for; the rates in
//! the tests are of planted identifiers. It knows no store, no user id and no pool.

mod addresses;
mod amounts;
mod dates;
mod names;
mod numbers;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::extract::view::View;
use crate::names::{KnownNames, fold};

/// The longest text that is de-identified, in bytes; a longer one is refused.
pub const SHARED_BYTES_MAX: usize = 16 * 1024;
/// The most removals of one text; a text with more is refused.
pub const REMOVALS_MAX: usize = 512;
/// Below this confidence, in thousandths, a person looks at the text.
pub const SURE_ENOUGH: u16 = 800;

/// What kind of identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdentifierKind {
    /// A person's name.
    Name,
    /// A telephone number.
    Phone,
    /// A number of an identity document with its check digit, or in its form.
    IdNumber,
    /// A bank card or account number.
    BankCard,
    /// An e-mail address.
    Email,
    /// A postal address.
    Address,
    /// A vehicle's plate.
    Plate,
    /// A handle, a user name, an account.
    Account,
    /// A link or a network address.
    Url,
    /// A passport's number.
    Passport,
    /// A date to the day.
    Date,
    /// An amount of money to the last digit.
    Amount,
}

impl IdentifierKind {
    /// All kinds.
    pub const ALL: [Self; 12] = [
        Self::Name,
        Self::Phone,
        Self::IdNumber,
        Self::BankCard,
        Self::Email,
        Self::Address,
        Self::Plate,
        Self::Account,
        Self::Url,
        Self::Passport,
        Self::Date,
        Self::Amount,
    ];

    /// The word in its placeholder.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "NAME",
            Self::Phone => "PHONE",
            Self::IdNumber => "ID",
            Self::BankCard => "CARD",
            Self::Email => "EMAIL",
            Self::Address => "ADDRESS",
            Self::Plate => "PLATE",
            Self::Account => "ACCOUNT",
            Self::Url => "URL",
            Self::Passport => "PASSPORT",
            Self::Date => "DATE",
            Self::Amount => "AMOUNT",
        }
    }
}

/// Something that a detector found in a view.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    range: Range<usize>,
    kind: IdentifierKind,
    /// In thousandths.
    sure: u16,
    /// What is left of it: a month, a round sum.
    coarse: Option<String>,
}

impl Found {
    fn new(kind: IdentifierKind, range: Range<usize>, sure: u16) -> Self {
        Self { range, kind, sure, coarse: None }
    }
}

/// Something that was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// What kind of identifier.
    pub kind: IdentifierKind,
    /// Its bytes in the original text.
    pub range: Range<usize>,
    /// What stands in its place: `[NAME-1]`, the same for the same name; `[DATE 2025-03]`.
    pub placeholder: String,
    /// How sure the detector is, in thousandths.
    pub sure: u16,
}

/// A place of the original text that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// Its bytes in the original text.
    pub range: Range<usize>,
    /// What it may be.
    pub kind: IdentifierKind,
    /// Whether it was taken out.
    pub removed: bool,
    /// Why it is in doubt.
    pub reason: &'static str,
}

/// A text without what was found in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeIdentified {
    /// With placeholders.
    pub text: String,
    /// What was taken out, in order.
    pub removals: Vec<Removal>,
    /// What is doubtful, in order.
    pub doubts: Vec<Doubt>,
    /// How sure the whole is, in thousandths: of its least sure place.
    pub confidence: u16,
}

/// Why a text was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrivacyError {
    /// The text is too long to be looked through.
    #[error("the text has {found} bytes: expected at most {SHARED_BYTES_MAX}\nhint: share a summary of it")]
    TooLong {
        /// Its bytes.
        found: usize,
    },
    /// There is too much in it.
    #[error(
        "the text has more than {REMOVALS_MAX} identifiers\nhint: a list of people or numbers does not belong into the shared pool"
    )]
    TooMany,
}

/// Takes out of a text what identifies somebody.
///
/// # Errors
/// [`PrivacyError`] when it is too long or holds too much.
pub fn deidentify(text: &str, entities: &KnownNames) -> Result<DeIdentified, PrivacyError> {
    if text.len() > SHARED_BYTES_MAX {
        return Err(PrivacyError::TooLong { found: text.len() });
    }
    let view = View::new(text, SHARED_BYTES_MAX);
    let found = chosen(detect(&view, entities));
    if found.len() > REMOVALS_MAX {
        return Err(PrivacyError::TooMany);
    }
    Ok(replaced(text, &view, found))
}

fn detect(view: &View, entities: &KnownNames) -> Vec<Found> {
    let text = view.text();
    let mut found = numbers::find(text);
    found.extend(addresses::find(text));
    found.extend(names::find(text, entities));
    found.extend(dates::find(text));
    found.extend(amounts::find(text));
    found
}

/// Without overlaps: the surer one wins, then the longer one, then the earlier one.
fn chosen(mut found: Vec<Found>) -> Vec<Found> {
    found.retain(|one| !one.range.is_empty());
    found.sort_by(|left, right| {
        right
            .sure
            .cmp(&left.sure)
            .then(right.range.len().cmp(&left.range.len()))
            .then(left.range.start.cmp(&right.range.start))
    });
    // By start, so that a neighbour is all that can overlap.
    let mut kept: BTreeMap<usize, Found> = BTreeMap::new();
    for one in found {
        let before = kept.range(..one.range.end).next_back().map(|(_, other)| other.range.end);
        if before.is_none_or(|end| end <= one.range.start) {
            kept.insert(one.range.start, one);
        }
    }
    kept.into_values().collect()
}

fn replaced(original: &str, view: &View, found: Vec<Found>) -> DeIdentified {
    let (mut text, mut removals, mut doubts) = (String::with_capacity(original.len()), Vec::new(), Vec::new());
    let mut numbers: BTreeMap<(IdentifierKind, String), usize> = BTreeMap::new();
    let mut counts: BTreeMap<IdentifierKind, usize> = BTreeMap::new();
    let mut done = 0;
    for one in found {
        let range = view.origin(one.range.clone());
        let said = fold(view.text().get(one.range.clone()).unwrap_or_default());
        let placeholder = match one.coarse {
            Some(coarse) => format!("[{} {coarse}]", one.kind.as_str()),
            None => {
                let number = *numbers.entry((one.kind, said)).or_insert_with(|| {
                    let count = counts.entry(one.kind).or_default();
                    *count += 1;
                    *count
                });
                format!("[{}-{number}]", one.kind.as_str())
            }
        };
        text.push_str(original.get(done..range.start).unwrap_or_default());
        text.push_str(&placeholder);
        done = range.end;
        if one.sure < SURE_ENOUGH {
            doubts.push(Doubt {
                range: range.clone(),
                kind: one.kind,
                removed: true,
                reason: "found by its form alone",
            });
        }
        removals.push(Removal { kind: one.kind, range, placeholder, sure: one.sure });
    }
    text.push_str(original.get(done..).unwrap_or_default());
    doubts.extend(left_over(original, view, &removals));
    doubts.sort_by_key(|doubt| doubt.range.start);
    let least = removals.iter().map(|removal| removal.sure).min().unwrap_or(1_000);
    let confidence = if doubts.iter().any(|doubt| !doubt.removed) { least.min(500) } else { least };
    DeIdentified { text, removals, doubts, confidence }
}

/// What was not taken out and looks as if it should have been.
fn left_over(original: &str, view: &View, removals: &[Removal]) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let suspects = numbers::suspects(view.text())
        .into_iter()
        .map(|range| (range, IdentifierKind::Account, "a number or a code that no detector knows"));
    let capitals = names::suspects(view.text())
        .into_iter()
        .map(|range| (range, IdentifierKind::Name, "a capitalised word that may be a name"));
    let han = names::suspects_han(view.text())
        .into_iter()
        .chain(names::suspects_in_han(view.text()))
        .map(|range| (range, IdentifierKind::Name, "characters that may be a name"));
    for (range, kind, reason) in suspects.chain(capitals).chain(han) {
        let range = view.origin(range);
        let taken = removals.iter().any(|removal| removal.range.start < range.end && range.start < removal.range.end);
        if !taken && original.get(range.clone()).is_some() {
            doubts.push(Doubt { range, kind, removed: false, reason });
        }
    }
    doubts
}

/// What the gate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing of the entity table is in it, and nothing is doubtful.
    Pass(DeIdentified),
    /// A person has to look at the doubtful places first.
    Review {
        /// The text with placeholders, and its doubts.
        text: DeIdentified,
    },
    /// It still holds tokens of the entity table: it does not leave.
    Refuse {
        /// How many different tokens. Which ones is not said, since the refusal may be logged.
        tokens: usize,
    },
}

/// Decides whether a text may leave. Every token of the user's entity table is looked for in it: words, runs of Han characters, and digits with
/// whatever stands between them.
#[must_use]
pub fn gate(text: DeIdentified, entities: &KnownNames) -> Outcome {
    let tokens = names::survivors(&text.text, entities);
    if tokens > 0 {
        return Outcome::Refuse { tokens };
    }
    if text.confidence < SURE_ENOUGH || !text.doubts.is_empty() {
        Outcome::Review { text }
    } else {
        Outcome::Pass(text)
    }
}
