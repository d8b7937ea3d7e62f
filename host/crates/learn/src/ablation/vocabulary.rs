//! The symbols. They know no context.

use std::num::NonZeroU64;

use crate::decoder::Shape;

/// Tokens that a cost of 1 stands for; why it is less than an episode's budget says the [module](super).
pub const COST_BUDGET_TOKENS: NonZeroU64 = NonZeroU64::new(32).unwrap();
/// Symbols: two marks, five tools, eight codes.
pub const VOCABULARY: usize = 15;
/// The longest sequence that is read: the mark, then a tool and a code for each of 49 calls, which is more than an episode's budget allows.
pub const POSITIONS: usize = 104;

const TOOL_FIRST: u8 = 2;
const CODE_FIRST: u8 = 7;

/// The decoder of the ablation: width 48, two layers.
#[must_use]
pub fn shape() -> Shape {
    Shape { positions: POSITIONS, ..Shape::tiny(VOCABULARY) }
}

/// What the request says of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Writes rarely fail.
    Reliable,
    /// Writes often fail.
    Fragile,
}

impl Mark {
    /// Its symbol.
    #[must_use]
    pub const fn symbol(self) -> u8 {
        match self {
            Self::Reliable => 0,
            Self::Fragile => 1,
        }
    }
}

/// The two requests of the task, word by word: a closed vocabulary has symbols for these and for no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requests {
    /// That of [`Mark::Reliable`].
    pub reliable: String,
    /// That of [`Mark::Fragile`].
    pub fragile: String,
}

impl Requests {
    /// The mark of a request; none: it is not of this task.
    #[must_use]
    pub fn mark(&self, request: &str) -> Option<Mark> {
        if request == self.reliable { Some(Mark::Reliable) } else { (request == self.fragile).then_some(Mark::Fragile) }
    }
}

/// The tools of the world `ablation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// Does nothing.
    Think,
    /// Reads a setting.
    Read,
    /// Writes it.
    Set,
    /// Tells whether the last write took.
    Verify,
    /// Goes on to the next one.
    Next,
}

impl Tool {
    /// All of them, in the order of their symbols.
    pub const ALL: [Self; 5] = [Self::Think, Self::Read, Self::Set, Self::Verify, Self::Next];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Think => "think",
            Self::Read => "read_setting",
            Self::Set => "set_setting",
            Self::Verify => "verify_setting",
            Self::Next => "next_setting",
        }
    }

    /// The tool of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Its symbol.
    #[must_use]
    pub const fn symbol(self) -> u8 {
        TOOL_FIRST
            + match self {
                Self::Think => 0,
                Self::Read => 1,
                Self::Set => 2,
                Self::Verify => 3,
                Self::Next => 4,
            }
    }

    /// The tool of a symbol.
    #[must_use]
    pub fn of(symbol: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.symbol() == symbol)
    }

    /// The code that it answers while all goes well, where there is but one: it is then not written, because the tool says it already.
    #[must_use]
    pub const fn usual(self) -> Option<Code> {
        match self {
            Self::Think => Some(Code::Thought),
            Self::Read => Some(Code::Read),
            Self::Set => Some(Code::Set),
            Self::Verify => None,
            Self::Next => Some(Code::Next),
        }
    }
}

/// What the world answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// To a thought.
    Thought,
    /// To a read.
    Read,
    /// To a write, whether it took or not.
    Set,
    /// The last write took.
    Ok,
    /// It did not.
    Bad,
    /// The next setting.
    Next,
    /// There is no further one.
    Over,
    /// A refusal, an output that could not be taken, or an answer that is not of this world.
    Failed,
}

impl Code {
    /// All of them, in the order of their symbols.
    pub const ALL: [Self; 8] =
        [Self::Thought, Self::Read, Self::Set, Self::Ok, Self::Bad, Self::Next, Self::Over, Self::Failed];

    /// The world's word for it; `failed` is ours.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Thought => "thought",
            Self::Read => "read",
            Self::Set => "set",
            Self::Ok => "ok",
            Self::Bad => "bad",
            Self::Next => "next",
            Self::Over => "over",
            Self::Failed => "failed",
        }
    }

    /// The code of a result envelope: its `data.code`, and [`Code::Failed`] for every other answer.
    #[must_use]
    pub fn of_envelope(envelope: &serde_json::Value) -> Self {
        let word = envelope.get("data").and_then(|data| data.get("code")).and_then(serde_json::Value::as_str);
        Self::ALL.into_iter().find(|code| Some(code.word()) == word).unwrap_or(Self::Failed)
    }

    /// Its symbol.
    #[must_use]
    pub const fn symbol(self) -> u8 {
        CODE_FIRST
            + match self {
                Self::Thought => 0,
                Self::Read => 1,
                Self::Set => 2,
                Self::Ok => 3,
                Self::Bad => 4,
                Self::Next => 5,
                Self::Over => 6,
                Self::Failed => 7,
            }
    }
}
