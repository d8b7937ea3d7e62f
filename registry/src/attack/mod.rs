//! Attacks on the registry's client, run against a server of our own that lies: `bench registry-attacks` shows the table, and the tests run the
//! same. Nothing here is part of pulling or publishing; it only uses them from outside.

mod cases;
mod logins;
mod server;
mod stage;

use std::fmt;

use serde::Serialize;

pub use server::{Answer, Payload, Request, Script, Server};
pub use stage::{honest, padded_component};

use crate::{RegistryError, place::PlaceError, refusal::Refusal};
use cases::{CASES, Case};
use logins::LOGINS;
use stage::Stage;

/// What an attack met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meets {
    /// Another digest than expected.
    Digest,
    /// Another length than declared.
    Length,
    /// More than allowed, as declared.
    TooLarge,
    /// More than allowed, as sent.
    PlaceTooLarge,
    /// A document that is not what it should be.
    Document,
    /// No signature that counts.
    Untrusted,
    /// Withdrawn by its publisher.
    Yanked,
    /// Locked to another manifest.
    Moved,
    /// No component.
    Component,
    /// Sent elsewhere.
    Redirect,
    /// Not let in, and not asked again.
    Denied,
    /// Too slow.
    TimedOut,
    /// The answer broke off.
    Unreachable,
    /// The first answer held, and the second was not asked for.
    KeptFirst,
    /// Something else went wrong.
    OtherError,
    /// Nothing: the attacker's release would be installed.
    Nothing,
}

impl fmt::Display for Meets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Digest => "digest",
            Self::Length => "length",
            Self::TooLarge => "too-large",
            Self::PlaceTooLarge => "place-too-large",
            Self::Document => "document",
            Self::Untrusted => "untrusted",
            Self::Yanked => "yanked",
            Self::Moved => "moved",
            Self::Component => "component",
            Self::Redirect => "redirect",
            Self::Denied => "denied",
            Self::TimedOut => "timed-out",
            Self::Unreachable => "unreachable",
            Self::KeptFirst => "kept-first",
            Self::OtherError => "other-error",
            Self::Nothing => "nothing",
        })
    }
}

/// One attack and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What was tried.
    pub attack: &'static str,
    /// What it has to meet.
    pub expected: Meets,
    /// What it met.
    pub seen: Meets,
    /// Whether nothing of the attacker's was accepted.
    pub refused: bool,
    /// The message, for people.
    #[serde(skip)]
    pub message: String,
}

impl Row {
    /// Whether the attack ended as it should.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.refused && self.expected == self.seen
    }
}

/// Runs every attack; some seconds, most of them waiting for servers that are slow on purpose.
///
/// # Errors
/// When an honest pull does not work, so that a refusal would say nothing.
pub fn run_all() -> Result<Vec<Row>, RegistryError> {
    Stage::published()?.pull(|_, answer| answer)?;
    logins::honest()?;
    CASES.iter().chain(LOGINS).map(run).collect()
}

fn run(case: &Case) -> Result<Row, RegistryError> {
    let mut stage = Stage::published()?;
    let outcome = (case.run)(&mut stage);
    let (seen, message) = match &outcome {
        // The honest component came although somebody tried to put another in its place.
        Ok(fetched) if case.expected == Meets::KeptFirst && fetched.component == stage.component => {
            (Meets::KeptFirst, "the first answer held".to_owned())
        }
        Ok(_) => (Meets::Nothing, "accepted".to_owned()),
        Err(error) => (meets(error), error.to_string()),
    };
    let refused = seen != Meets::Nothing && seen != Meets::OtherError;
    Ok(Row { attack: case.attack, expected: case.expected, seen, refused, message })
}

fn meets(error: &RegistryError) -> Meets {
    match error {
        RegistryError::Refused(refusal) => match refusal {
            Refusal::Digest { .. } => Meets::Digest,
            Refusal::Length { .. } => Meets::Length,
            Refusal::TooLarge { .. } | Refusal::TooMany { .. } => Meets::TooLarge,
            Refusal::Document { .. } => Meets::Document,
            Refusal::Untrusted { .. } => Meets::Untrusted,
            Refusal::Yanked { .. } => Meets::Yanked,
            Refusal::Moved { .. } => Meets::Moved,
            Refusal::Component { .. } => Meets::Component,
            Refusal::Published { .. }
            | Refusal::Incompatible { .. }
            | Refusal::NameTaken { .. }
            | Refusal::Ungranted { .. } => Meets::OtherError,
        },
        RegistryError::Place(place) => match place {
            PlaceError::Redirect { .. } | PlaceError::TokensElsewhere { .. } => Meets::Redirect,
            PlaceError::Denied { .. } => Meets::Denied,
            PlaceError::TimedOut { .. } => Meets::TimedOut,
            PlaceError::TooLarge { .. } => Meets::PlaceTooLarge,
            PlaceError::Unreachable { .. } => Meets::Unreachable,
            _ => Meets::OtherError,
        },
        _ => Meets::OtherError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attack_meets_what_it_should() {
        let rows = run_all().unwrap();
        let wrong: Vec<&Row> = rows.iter().filter(|row| !row.is_as_expected()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn a_failed_pull_leaves_nothing_and_an_honest_one_works_after_it() {
        let stage = Stage::published().unwrap();
        for _ in 0..2 {
            let spoiled = stage.pull(|request, answer| match request.path.contains("/blobs/") {
                true => Answer::of(200, padded_component(2_000, b'b')),
                false => answer,
            });
            assert!(spoiled.is_err());
            assert!(!stage.has_component().unwrap());
            assert!(stage.lock.borrow().locked().is_empty());
        }
        assert_eq!(stage.pull(|_, answer| answer).unwrap().component, stage.component);
        assert!(stage.has_component().unwrap());
        assert_eq!(stage.pull_locked().unwrap().component, stage.component);
    }

    #[test]
    fn an_attack_that_gets_through_is_seen() {
        let lame = Case { attack: "none at all", expected: Meets::Digest, run: |stage| stage.pull(|_, answer| answer) };
        let row = run(&lame).unwrap();
        assert_eq!((row.seen, row.refused, row.is_as_expected()), (Meets::Nothing, false, false));
    }
}
