//! The state of one episode and how it changes, as plain functions over numbers that are passed in.

use serde::{Deserialize, Serialize};

use crate::Setup;

/// Settings of one episode.
pub(crate) const SETTINGS: usize = 3;
/// What chances are parts of.
pub(crate) const WHOLE: u32 = 10_000;

/// What can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Think,
    Read,
    Set,
    Verify,
    Next,
}

impl Deed {
    /// What a tool does.
    pub(crate) fn of(tool: &str) -> Option<Self> {
        match tool {
            "think" => Some(Self::Think),
            "read_setting" => Some(Self::Read),
            "set_setting" => Some(Self::Set),
            "verify_setting" => Some(Self::Verify),
            "next_setting" => Some(Self::Next),
            _ => None,
        }
    }
}

/// What shows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Thought,
    Read,
    Set,
    Ok,
    Bad,
    Next,
    Over,
}

impl Code {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Thought => "thought",
            Self::Read => "read",
            Self::Set => "set",
            Self::Ok => "ok",
            Self::Bad => "bad",
            Self::Next => "next",
            Self::Over => "over",
        }
    }
}

/// Where an episode stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Course {
    setup: Setup,
    /// The setting that one stands at, from 0; [`SETTINGS`] when all is over.
    at: usize,
    /// Whether this setting was read.
    read: bool,
    /// Which settings are really set.
    really: [bool; SETTINGS],
}

impl Course {
    pub(crate) fn new(setup: Setup) -> Self {
        Self { setup, at: 0, read: false, really: [false; SETTINGS] }
    }

    /// The setting that one stands at, from 1; the last one also when all is over.
    pub(crate) fn at(&self) -> usize {
        self.at.saturating_add(1).min(SETTINGS)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.at >= SETTINGS
    }

    /// Does one thing. `random` gives 64 random bits; it is asked once for each write.
    pub(crate) fn run(&mut self, deed: Deed, mut random: impl FnMut() -> u64) -> Code {
        let took = self.chance();
        let Some(really) = self.really.get_mut(self.at) else { return Code::Over };
        match deed {
            Deed::Think => Code::Thought,
            Deed::Read => {
                self.read = true;
                Code::Read
            }
            Deed::Set => {
                *really = happens(took, random());
                Code::Set
            }
            Deed::Verify if *really => Code::Ok,
            Deed::Verify => Code::Bad,
            Deed::Next => {
                self.at += 1;
                self.read = false;
                if self.is_over() { Code::Over } else { Code::Next }
            }
        }
    }

    /// The chance that a write takes now, in parts of `WHOLE * WHOLE`.
    fn chance(&self) -> u64 {
        let informed = if self.read { WHOLE } else { self.setup.blind };
        u64::from(informed) * u64::from(WHOLE.saturating_sub(self.setup.silent))
    }
}

/// Whether something of that chance happens. The bias of the remainder is below 2^-37.
fn happens(chance: u64, random: u64) -> bool {
    random % (u64::from(WHOLE) * u64::from(WHOLE)) < chance
}
