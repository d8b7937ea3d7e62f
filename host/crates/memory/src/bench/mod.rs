//! Measures retrieval without a language model: does the evidence that people marked come back? It knows no terminal and no file but what it is given.
//!
//! Recall is strict: the share of a question's marked turns among the first k, averaged over questions with at least one marked turn that exists. The
//! weights of the ranking are fitted on the other conversations, never on the one that is measured.

mod abstain;
mod answer;
mod beam;
mod corpus;
mod evaluate;
mod fit;
mod locomo;
mod memdaily;
mod memdaily_file;
mod metrics;
mod speed;
pub mod synthetic;

pub use abstain::{Abstention, abstention};
pub use answer::{ANSWER_ITEMS, AnswerRow, Answered, Answering, answer_rows};
pub use beam::{BEAM_BYTES_MAX, load_beam};
pub use corpus::Listed;
pub use evaluate::{Options, Report, run, texts};
pub use locomo::{BYTES_MAX, Conversation, LoadError, QUESTIONS_MAX, Question, TURNS_MAX, load_locomo};
pub use memdaily::{ChineseRow, Trajectory, chinese, mix};
pub use memdaily_file::load_memdaily;
pub use metrics::{CATEGORY_OVERALL, Form, KS, Leg, Row};
pub use speed::{Drawing, SpeedError, SpeedRow, speed};

#[cfg(test)]
mod tests;
