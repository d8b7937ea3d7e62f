//! What a call does to the state and what it requires of the world, decided by the call's own arguments.

use serde_json::Value;

/// What a call does to the state, from weakest to strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Changes state in a way that a further call can undo.
    Write,
    /// Cannot be undone, or costs money: needs the user's confirmation.
    Destructive,
}

/// What a call requires of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requirement<'a> {
    /// Wi-Fi is connected, or mobile data works.
    Network,
    /// The location service is on.
    Location,
    /// The screen is on and the device is unlocked.
    Unlocked,
    /// The user is asked even though the effect is not destructive.
    Confirm,
    /// The call works while the phone is off.
    PowerOffOk,
    /// The app permission of this name, such as `contacts`.
    Permission(&'a str),
    /// A requirement that this version does not know. An environment denies what it does not know.
    Other(&'a str),
}

impl<'a> Requirement<'a> {
    /// Reads the contract's text form, such as `network` or `perm:contacts`.
    ///
    /// ```
    /// use loopwright_sdk::Requirement;
    ///
    /// assert_eq!(Requirement::parse("perm:contacts"), Requirement::Permission("contacts"));
    /// assert_eq!(Requirement::parse("moonlight"), Requirement::Other("moonlight"));
    /// ```
    pub fn parse(text: &'a str) -> Self {
        match text {
            "network" => Self::Network,
            "location" => Self::Location,
            "unlocked" => Self::Unlocked,
            "confirm" => Self::Confirm,
            "power-off-ok" => Self::PowerOffOk,
            other => match other.strip_prefix("perm:") {
                Some(name) => Self::Permission(name),
                None => Self::Other(other),
            },
        }
    }

    /// The contract's text form.
    pub fn to_text(self) -> String {
        match self {
            Self::Network => "network".to_owned(),
            Self::Location => "location".to_owned(),
            Self::Unlocked => "unlocked".to_owned(),
            Self::Confirm => "confirm".to_owned(),
            Self::PowerOffOk => "power-off-ok".to_owned(),
            Self::Permission(name) => format!("perm:{name}"),
            Self::Other(other) => other.to_owned(),
        }
    }
}

/// The values of an argument that a rule matches. An absent argument equals `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentValues {
    /// Equal to one of these texts.
    Texts(&'static [&'static str]),
    /// This truth value.
    Flag(bool),
    /// Absent.
    Absent,
}

impl<const N: usize> From<&'static [&'static str; N]> for ArgumentValues {
    fn from(texts: &'static [&'static str; N]) -> Self {
        Self::Texts(texts)
    }
}

impl From<bool> for ArgumentValues {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl ArgumentValues {
    /// The values as JSON.
    pub(crate) fn to_values(self) -> Vec<Value> {
        match self {
            Self::Texts(texts) => texts.iter().map(|text| Value::from(*text)).collect(),
            Self::Flag(flag) => vec![flag.into()],
            Self::Absent => vec![Value::Null],
        }
    }
}

/// One access rule. The first that matches a call applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) when: Option<(&'static str, ArgumentValues)>,
    pub(crate) effect: Effect,
    pub(crate) requires: Vec<Requirement<'static>>,
}
