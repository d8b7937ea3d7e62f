//! The dimensions of the network and the names of its weights.

use serde::{Deserialize, Serialize};

use super::error::PointerError;
use crate::nn::{Heads, Init, Slot};
use crate::pointer::choice::{BUCKETS, Kind, OPTION_FACTS, PAST_MAX, QUESTION_FACTS, STATUSES, TYPE_BITS};

/// Values of a state.
pub const WIDTH_MAX: usize = 256;
/// Layers of the encoder.
pub const LAYERS_MAX: usize = 8;
/// Hidden values of a layer of the encoder.
pub const HIDDEN_MAX: usize = 1024;
/// Hidden values of what compares a question with an answer.
pub const JOINT_MAX: usize = 512;

/// Numbers that describe a question: its kind, one of [`Kind::ALL`] being 1, then its facts.
pub(super) const QUESTION_INPUT: usize = Kind::ALL.len() + QUESTION_FACTS;
/// Numbers that describe an earlier call: its status, whether it changed something, its age, each of the two as a one among zeros.
pub(super) const PAST_INPUT: usize = STATUSES + 1 + PAST_MAX;
/// Numbers that describe an answer: a one, whether it points to a span, then its facts.
pub(super) const ANSWER_INPUT: usize = 2 + OPTION_FACTS;
/// How small what scores begins, so that a fresh policy is nearly indifferent.
const SCORE_SHARE: f64 = 0.1;

/// Dimensions of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Values of a state; a multiple of twice the heads, up to [`WIDTH_MAX`].
    pub width: usize,
    /// Layers of the encoder; 1 to [`LAYERS_MAX`].
    pub layers: usize,
    /// Heads of each attention.
    pub heads: usize,
    /// Hidden values of each layer of the encoder; 1 to [`HIDDEN_MAX`].
    pub hidden: usize,
    /// Hidden values of what compares a question with an answer; 1 to [`JOINT_MAX`].
    pub joint: usize,
}

impl Shape {
    /// The phone policy: 0.71 million weights, 0.52 million of them the table of n-grams.
    #[must_use]
    pub fn phone() -> Self {
        Self { width: 64, layers: 2, heads: 4, hidden: 128, joint: 48 }
    }

    /// That every dimension is in its range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), PointerError> {
        let ranges = [
            ("width", 2, WIDTH_MAX, self.width),
            ("layers", 1, LAYERS_MAX, self.layers),
            ("heads", 1, self.width / 2, self.heads),
            ("hidden", 1, HIDDEN_MAX, self.hidden),
            ("joint", 1, JOINT_MAX, self.joint),
        ];
        for (name, least, most, found) in ranges {
            if !(least..=most).contains(&found) {
                return Err(PointerError::Shape { name, expected: format!("between {least} and {most}"), found });
            }
        }
        if !self.width.is_multiple_of(self.heads * 2) {
            let expected = format!("a multiple of {}, twice the heads", self.heads * 2);
            return Err(PointerError::Shape { name: "width", expected, found: self.width });
        }
        Ok(())
    }

    /// The heads of the encoder's and of the question's attention.
    #[must_use]
    pub fn attention(&self) -> Heads {
        Heads { count: self.heads, width: self.width / self.heads.max(1) }
    }

    /// The one head by which an answer's words find theirs in the request.
    #[must_use]
    pub fn matching(&self) -> Heads {
        Heads { count: 1, width: self.width }
    }

    /// The weights of the architecture, in order. Matrices are `[inputs, outputs]`.
    #[must_use]
    pub fn slots(&self) -> Vec<Slot> {
        let &Self { width, layers, hidden, joint, .. } = self;
        let table = BUCKETS as usize;
        // What is added to a state grows with what was added before; each adds so much less.
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let share = 1.0 / (2.0 * layers as f64).sqrt();
        let mut slots = vec![
            normal("embed", [table, width], width, 1.0),
            ones("bag_norm", width),
            normal("unit_in", [width, width], width, 1.0),
            normal("unit_types", [TYPE_BITS, width], 1, 0.5),
        ];
        for layer in 0..layers {
            let name = |part: &str| format!("layers.{layer}.{part}");
            slots.extend([
                ones(&name("attention_norm"), width),
                normal(&name("attention_in"), [width, 3 * width], width, 1.0),
                normal(&name("attention_out"), [width, width], width, share),
                ones(&name("gate_norm"), width),
                normal(&name("gate_up"), [width, 2 * hidden], width, 1.0),
                normal(&name("down"), [hidden, width], hidden, share),
            ]);
        }
        slots.extend([
            ones("unit_norm", width),
            normal("past_bag", [width, width], width, 1.0),
            normal("past_facts", [PAST_INPUT, width], 1, 0.5),
            ones("past_norm", width),
            normal("question_bag", [width, width], width, 1.0),
            normal("question_facts", [QUESTION_INPUT, width], 1, 0.5),
        ]);
        for read in ["past", "request"] {
            slots.extend([
                ones(&format!("read_{read}.norm"), width),
                normal(&format!("read_{read}.query"), [width, width], width, 1.0),
                normal(&format!("read_{read}.pair"), [width, 2 * width], width, 1.0),
                normal(&format!("read_{read}.out"), [width, width], width, 1.0),
            ]);
        }
        slots.extend([
            ones("question_gate.norm", width),
            normal("question_gate.gate_up", [width, 2 * width], width, 1.0),
            normal("question_gate.down", [width, width], width, share),
            ones("question_norm", width),
            normal("answer_bag", [width, width], width, 1.0),
            normal("answer_overlap", [width, width], width, 1.0),
            normal("answer_facts", [ANSWER_INPUT, width], 1, 0.5),
            normal("answer_span", [width, width], width, 1.0),
            ones("answer_norm", width),
            normal("joint_query", [width, width], width, 1.0),
            normal("joint_question", [width, 2 * joint], width, 1.0),
            normal("joint_answer", [width, 2 * joint], width, 1.0),
            normal("joint_product", [width, 2 * joint], width, 1.0),
            normal("joint_facts", [ANSWER_INPUT, 2 * joint], 1, 0.3),
            normal("score_hidden", [joint, 1], joint, SCORE_SHARE),
            normal("score_product", [width, 1], width, SCORE_SHARE),
        ]);
        slots
    }
}

fn slot(name: &str, shape: &[usize], init: Init) -> Slot {
    Slot { name: format!("{name}.weight"), shape: shape.to_vec(), init }
}

fn ones(name: &str, width: usize) -> Slot {
    slot(name, &[width], Init::Ones)
}

/// A matrix whose outputs begin about `share` long for inputs of length 1 each.
fn normal(name: &str, shape: [usize; 2], inputs: usize, share: f64) -> Slot {
    #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
    let deviation = share / (inputs as f64).sqrt();
    slot(name, &shape, Init::Normal(deviation))
}
