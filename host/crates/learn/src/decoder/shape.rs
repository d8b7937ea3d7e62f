//! The dimensions of a decoder and the names of its weights.

use serde::{Deserialize, Serialize};

use super::error::DecoderError;
use crate::nn::{Heads, Init, Slot, VOCABULARY_MAX};

/// Values of a state.
pub const WIDTH_MAX: usize = 512;
/// Layers.
pub const LAYERS_MAX: usize = 16;
/// Hidden values of a feed-forward block.
pub const HIDDEN_MAX: usize = 2048;
/// Positions of a sequence.
pub const POSITIONS_MAX: usize = 256;

/// Dimensions of a decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Symbols; 2 to [`VOCABULARY_MAX`].
    pub vocabulary: usize,
    /// Values of a state; a multiple of twice the heads, up to [`WIDTH_MAX`].
    pub width: usize,
    /// Layers; 1 to [`LAYERS_MAX`].
    pub layers: usize,
    /// Heads of each attention layer.
    pub heads: usize,
    /// Hidden values of each feed-forward block; 1 to [`HIDDEN_MAX`].
    pub hidden: usize,
    /// The longest sequence that is read; 1 to [`POSITIONS_MAX`].
    pub positions: usize,
}

impl Shape {
    /// The decoder of the ablation: width 48, two layers, 64 positions; 0.06 million weights with 64 symbols.
    #[must_use]
    pub fn tiny(vocabulary: usize) -> Self {
        Self { vocabulary, width: 48, layers: 2, heads: 3, hidden: 128, positions: 64 }
    }

    /// That every dimension is in its range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), DecoderError> {
        let ranges = [
            ("vocabulary", 2, VOCABULARY_MAX, self.vocabulary),
            ("width", 2, WIDTH_MAX, self.width),
            ("layers", 1, LAYERS_MAX, self.layers),
            ("heads", 1, self.width / 2, self.heads),
            ("hidden", 1, HIDDEN_MAX, self.hidden),
            ("positions", 1, POSITIONS_MAX, self.positions),
        ];
        for (name, least, most, found) in ranges {
            if !(least..=most).contains(&found) {
                return Err(DecoderError::Shape { name, expected: format!("between {least} and {most}"), found });
            }
        }
        if !self.width.is_multiple_of(self.heads * 2) {
            let expected = format!("a multiple of {}, twice the heads", self.heads * 2);
            return Err(DecoderError::Shape { name: "width", expected, found: self.width });
        }
        Ok(())
    }

    /// The heads of an attention layer.
    #[must_use]
    pub fn attention(&self) -> Heads {
        Heads { count: self.heads, width: self.width / self.heads.max(1) }
    }

    /// The weights of the architecture, in order. Matrices are `[inputs, outputs]`.
    #[must_use]
    pub fn slots(&self) -> Vec<Slot> {
        let &Self { vocabulary, width, layers, hidden, .. } = self;
        let slot = |name: String, shape: &[usize], init| Slot { name, shape: shape.to_vec(), init };
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let normal = |inputs: usize, share: f64| Init::Normal(share / (inputs as f64).sqrt());
        // What is added to the state grows with the layers; each adds so much less.
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let share = 1.0 / (2.0 * layers as f64).sqrt();
        let mut slots = vec![slot("embed.weight".into(), &[vocabulary, width], normal(width, 1.0))];
        for layer in 0..layers {
            let name = |part: &str| format!("layers.{layer}.{part}.weight");
            slots.extend([
                slot(name("attention_norm"), &[width], Init::Ones),
                slot(name("attention_in"), &[width, 3 * width], normal(width, 1.0)),
                slot(name("attention_out"), &[width, width], normal(width, share)),
                slot(name("gate_norm"), &[width], Init::Ones),
                slot(name("gate_up"), &[width, 2 * hidden], normal(width, 1.0)),
                slot(name("down"), &[hidden, width], normal(hidden, share)),
            ]);
        }
        slots.push(slot("norm.weight".into(), &[width], Init::Ones));
        // Small, so that a fresh policy is nearly indifferent.
        slots.push(slot("head.weight".into(), &[width, vocabulary], normal(width, 0.1)));
        slots
    }
}
