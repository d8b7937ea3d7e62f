//! The weights, laid out for acting. It knows no choice.

use super::error::PointerError;
use super::shape::Shape;
use crate::nn::kernel::{Packed, View};
use crate::nn::{Angles, Parameters, rms_norm_rows, silu_gate_rows};
use crate::pointer::choice::UNITS_MAX;

/// All of them.
#[derive(Debug)]
pub(super) struct Weights {
    pub(super) shape: Shape,
    pub(super) embed: Vec<f32>,
    pub(super) bag_norm: Norm,
    pub(super) unit_in: Map,
    pub(super) unit_types: Map,
    pub(super) layers: Vec<Layer>,
    pub(super) unit_norm: Norm,
    pub(super) past_bag: Map,
    pub(super) past_facts: Map,
    pub(super) past_norm: Norm,
    pub(super) question_bag: Map,
    pub(super) question_facts: Map,
    pub(super) read_past: Reading,
    pub(super) read_request: Reading,
    pub(super) question_gate: Gate,
    pub(super) question_norm: Norm,
    pub(super) answer_bag: Map,
    pub(super) answer_overlap: Map,
    pub(super) answer_facts: Map,
    pub(super) answer_span: Map,
    pub(super) answer_norm: Norm,
    pub(super) joint_query: Map,
    pub(super) joint_question: Map,
    pub(super) joint_answer: Map,
    pub(super) joint_product: Map,
    pub(super) joint_facts: Map,
    pub(super) score_hidden: Map,
    pub(super) score_product: Map,
    pub(super) angles: Angles,
}

/// A layer of the encoder.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) norm: Norm,
    pub(super) packed: Map,
    pub(super) out: Map,
    pub(super) gate: Gate,
}

/// What a question reads rows with.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) norm: Norm,
    pub(super) query: Map,
    pub(super) pair: Map,
    pub(super) out: Map,
}

/// A feed-forward block.
#[derive(Debug)]
pub(super) struct Gate {
    norm: Norm,
    gate_up: Map,
    down: Map,
}

impl Gate {
    /// Adds to states what the block says of them.
    pub(super) fn add_to(&self, states: &mut [f32]) {
        let gates = self.gate_up.of(&self.norm.of(states));
        add(states, &self.down.of(&gated(&gates, self.down.inputs)));
    }
}

/// A linear map.
#[derive(Debug)]
pub(super) struct Map {
    packed: Packed,
    inputs: usize,
    outputs: usize,
}

impl Map {
    /// What it makes of rows.
    pub(super) fn of(&self, rows: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; rows.len() / self.inputs.max(1) * self.outputs];
        self.packed.add_product(View::new(rows, self.inputs), &mut out);
        out
    }
}

/// The weight of a normalisation.
#[derive(Debug)]
pub(super) struct Norm(Vec<f32>);

impl Norm {
    /// Rows, normalised.
    pub(super) fn of(&self, rows: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; rows.len()];
        rms_norm_rows(rows, &self.0, &mut out);
        out
    }
}

/// Adds rows to rows.
pub(super) fn add(to: &mut [f32], rows: &[f32]) {
    to.iter_mut().zip(rows).for_each(|(to, value)| *to += value);
}

/// The gated halves of rows.
pub(super) fn gated(rows: &[f32], hidden: usize) -> Vec<f32> {
    let mut out = vec![0.0; rows.len() / 2];
    silu_gate_rows(rows, hidden, &mut out);
    out
}

/// Takes weights by name.
struct Load<'a>(&'a Parameters);

impl Load<'_> {
    fn values(&self, name: &str) -> Result<Vec<f32>, PointerError> {
        Ok(self.0.get(&format!("{name}.weight"))?.flatten_all()?.to_vec1::<f32>()?)
    }

    fn map(&self, name: &str) -> Result<Map, PointerError> {
        let (inputs, outputs) = self.0.get(&format!("{name}.weight"))?.dims2()?;
        Ok(Map { packed: Packed::new(View::new(&self.values(name)?, outputs)), inputs, outputs })
    }

    fn norm(&self, name: &str) -> Result<Norm, PointerError> {
        Ok(Norm(self.values(name)?))
    }

    fn gate(&self, [norm, gate_up, down]: [&str; 3]) -> Result<Gate, PointerError> {
        Ok(Gate { norm: self.norm(norm)?, gate_up: self.map(gate_up)?, down: self.map(down)? })
    }

    fn layer(&self, layer: usize) -> Result<Layer, PointerError> {
        let name = |part: &str| format!("layers.{layer}.{part}");
        Ok(Layer {
            norm: self.norm(&name("attention_norm"))?,
            packed: self.map(&name("attention_in"))?,
            out: self.map(&name("attention_out"))?,
            gate: self.gate([&name("gate_norm"), &name("gate_up"), &name("down")])?,
        })
    }

    fn reading(&self, of: &str) -> Result<Reading, PointerError> {
        let name = |part: &str| format!("read_{of}.{part}");
        Ok(Reading {
            norm: self.norm(&name("norm"))?,
            query: self.map(&name("query"))?,
            pair: self.map(&name("pair"))?,
            out: self.map(&name("out"))?,
        })
    }
}

impl Weights {
    pub(super) fn new(shape: Shape, parameters: &Parameters) -> Result<Self, PointerError> {
        parameters.check_finite()?;
        let load = Load(parameters);
        Ok(Self {
            shape,
            embed: load.values("embed")?,
            bag_norm: load.norm("bag_norm")?,
            unit_in: load.map("unit_in")?,
            unit_types: load.map("unit_types")?,
            layers: (0..shape.layers).map(|layer| load.layer(layer)).collect::<Result<_, _>>()?,
            unit_norm: load.norm("unit_norm")?,
            past_bag: load.map("past_bag")?,
            past_facts: load.map("past_facts")?,
            past_norm: load.norm("past_norm")?,
            question_bag: load.map("question_bag")?,
            question_facts: load.map("question_facts")?,
            read_past: load.reading("past")?,
            read_request: load.reading("request")?,
            question_gate: load.gate(["question_gate.norm", "question_gate.gate_up", "question_gate.down"])?,
            question_norm: load.norm("question_norm")?,
            answer_bag: load.map("answer_bag")?,
            answer_overlap: load.map("answer_overlap")?,
            answer_facts: load.map("answer_facts")?,
            answer_span: load.map("answer_span")?,
            answer_norm: load.norm("answer_norm")?,
            joint_query: load.map("joint_query")?,
            joint_question: load.map("joint_question")?,
            joint_answer: load.map("joint_answer")?,
            joint_product: load.map("joint_product")?,
            joint_facts: load.map("joint_facts")?,
            score_hidden: load.map("score_hidden")?,
            score_product: load.map("score_product")?,
            angles: Angles::new(shape.attention(), UNITS_MAX),
        })
    }
}
