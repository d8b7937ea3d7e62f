//! The layers of the training pass, over tensors.

use std::sync::Arc;

use candle_core::{Device, Tensor};

use super::batch::Batch;
use super::error::PointerError;
use super::shape::{ANSWER_INPUT, PAST_INPUT, QUESTION_INPUT, Shape};
use crate::nn::{
    Heads, Parameters, Segments, full_attention, linear, list_sums, read, rms_norm, rope, segment_log_softmax,
    silu_gate,
};
use crate::pointer::choice::TYPE_BITS;

type Result<T> = std::result::Result<T, PointerError>;

/// One pass over a part of a batch.
pub(super) struct Pass<'a> {
    shape: &'a Shape,
    parameters: &'a Parameters,
    batch: Batch,
}

impl<'a> Pass<'a> {
    pub(super) fn new(shape: &'a Shape, parameters: &'a Parameters, batch: Batch) -> Self {
        Self { shape, parameters, batch }
    }

    /// The log-probability of every answer: `[answers]`.
    pub(super) fn log_probs(&mut self) -> Result<Tensor> {
        let bags = self.bags()?;
        let units = self.rows(&bags, &self.batch.unit_bags)?; // [units, width]
        let encoded = self.encode(&units)?;
        let questions = self.questions(&bags, &encoded)?;
        let answers = self.answers(&bags, &units, &encoded)?;
        self.scores(&questions, &answers)
    }

    /// What was taken, among all answers.
    pub(super) fn taken(&self) -> &[u32] {
        &self.batch.taken
    }

    fn weight(&self, name: &str) -> Result<&Tensor> {
        Ok(self.parameters.get(&format!("{name}.weight"))?)
    }

    /// Rows times the weight of this name.
    fn map(&self, rows: &Tensor, name: &str) -> Result<Tensor> {
        Ok(linear(rows, self.weight(name)?)?)
    }

    fn norm(&self, rows: &Tensor, name: &str) -> Result<Tensor> {
        Ok(rms_norm(rows, self.weight(name)?)?)
    }

    fn rows(&self, table: &Tensor, places: &[u32]) -> Result<Tensor> {
        Ok(table.index_select(&Tensor::from_slice(places, places.len(), &Device::Cpu)?, 0)?)
    }

    /// Each distinct bag: `[bags, width]`.
    fn bags(&mut self) -> Result<Tensor> {
        let lists = Arc::new(std::mem::take(&mut self.batch.bags));
        self.norm(&list_sums(self.weight("embed")?, &lists)?, "bag_norm")
    }

    /// The requests, each unit in the light of the others: `[units, width]`.
    fn encode(&self, units: &Tensor) -> Result<Tensor> {
        let segments = Segments::new(&self.batch.requests);
        let types = matrix(&self.batch.unit_types, TYPE_BITS)?;
        let mut states = self.map(units, "unit_in")?.add(&self.map(&types, "unit_types")?)?;
        for layer in 0..self.shape.layers {
            let name = |part: &str| format!("layers.{layer}.{part}");
            let heads = self.shape.attention();
            let packed = self.map(&self.norm(&states, &name("attention_norm"))?, &name("attention_in"))?;
            let mixed = full_attention(&rope(&packed, heads, &segments)?, heads, &segments)?;
            states = states.add(&self.map(&mixed, &name("attention_out"))?)?;
            states = self.gated(&states, [&name("gate_norm"), &name("gate_up"), &name("down")])?;
        }
        self.norm(&states, "unit_norm")
    }

    /// States and what a feed-forward block adds to them.
    fn gated(&self, states: &Tensor, [norm, gate_up, down]: [&str; 3]) -> Result<Tensor> {
        let gated = silu_gate(&self.map(&self.norm(states, norm)?, gate_up)?)?;
        Ok(states.add(&self.map(&gated, down)?)?)
    }

    /// The questions, having read the past and the request: `[questions, width]`.
    fn questions(&self, bags: &Tensor, encoded: &Tensor) -> Result<Tensor> {
        let batch = &self.batch;
        let past = self.map(&self.rows(bags, &batch.past_bags)?, "past_bag")?;
        let past = past.add(&self.map(&matrix(&batch.past_facts, PAST_INPUT)?, "past_facts")?)?;
        let past = self.norm(&past, "past_norm")?; // [earlier calls, width]
        let facts = matrix(&batch.question_facts, QUESTION_INPUT)?;
        let states = self.map(&self.rows(bags, &batch.question_bags)?, "question_bag")?;
        let mut states = states.add(&self.map(&facts, "question_facts")?)?;
        for (of, rows, ranges) in [("past", &past, &batch.question_past), ("request", encoded, &batch.question_units)] {
            let name = |part: &str| format!("read_{of}.{part}");
            let queries = self.map(&self.norm(&states, &name("norm"))?, &name("query"))?;
            let pairs = self.map(rows, &name("pair"))?;
            let found = read(&queries, &pairs, self.shape.attention(), &ranges.as_slice().into())?;
            states = states.add(&self.map(&found, &name("out"))?)?;
        }
        let states = self.gated(&states, ["question_gate.norm", "question_gate.gate_up", "question_gate.down"])?;
        self.norm(&states, "question_norm")
    }

    /// The answers: `[answers, width]`.
    fn answers(&self, bags: &Tensor, units: &Tensor, encoded: &Tensor) -> Result<Tensor> {
        let batch = &self.batch;
        let words = self.rows(bags, &batch.pair_bags)?; // [pairs, width]
        let heads: Heads = self.shape.matching();
        let twice = Tensor::cat(&[units, units], 1)?;
        let found = read(&words, &twice, heads, &batch.pair_units.as_slice().into())?;
        let overlap = self.map(&words.mul(&found)?, "answer_overlap")?;
        let pairs = self.map(&words, "answer_bag")?.add(&overlap)?;
        let spans = self.map(&list_sums(encoded, &Arc::new(batch.spans.clone()))?, "answer_span")?; // [spans, width]
        let facts = matrix(&batch.answer_facts, ANSWER_INPUT)?;
        let states = self.rows(&pairs, &batch.answer_pairs)?.add(&self.map(&facts, "answer_facts")?)?;
        let states = states.add(&list_sums(&spans, &Arc::new(batch.answer_spans.clone()))?)?;
        self.norm(&states, "answer_norm")
    }

    /// Each answer against its question: `[answers]`.
    fn scores(&self, questions: &Tensor, answers: &Tensor) -> Result<Tensor> {
        let batch = &self.batch;
        let of = |rows: &Tensor| self.rows(rows, &batch.answer_questions);
        let product = answers.mul(&of(&self.map(questions, "joint_query")?)?)?;
        let joint = self.map(&product, "joint_product")?.add(&self.map(answers, "joint_answer")?)?;
        let joint = joint.add(&self.map(&matrix(&batch.answer_facts, ANSWER_INPUT)?, "joint_facts")?)?;
        let joint = joint.add(&of(&self.map(questions, "joint_question")?)?)?;
        let logits = self.map(&silu_gate(&joint)?, "score_hidden")?.add(&self.map(&product, "score_product")?)?;
        Ok(segment_log_softmax(&logits.squeeze(1)?, &batch.segments())?)
    }
}

/// Rows of numbers.
fn matrix(values: &[f32], columns: usize) -> Result<Tensor> {
    Ok(Tensor::from_slice(values, (values.len() / columns, columns), &Device::Cpu)?)
}
