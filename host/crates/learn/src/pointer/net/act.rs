//! The acting pass: one choice at a time, with what comes again kept. No gradients, no tensors.
//!
//! A choice's log-probabilities depend on it, on its request and on the weights alone, to the bit: what was scored before changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::batch::{answer_input, check_choice, check_units, past_input, question_input, types_of};
use super::error::PointerError;
use super::shape::Shape;
use super::weights::{Reading, Weights, add, gated};
use crate::nn::kernel::vectorized;
use crate::nn::{Heads, Parameters, Share, full_attention_rows, log_softmax_of, read_rows, sum_rows};
use crate::pointer::choice::{Bag, Choice, Past, Unit};
use crate::pointer::variation::Renumbering;

/// Bags that a scorer keeps the sums of; beyond it, all are summed anew.
pub const BAGS_KEPT_MAX: usize = 8_192;
/// Distinct answers, and spans, that are kept of a request; beyond it, all are made anew.
pub const ANSWERS_KEPT_MAX: usize = 1_024;

/// Weights laid out for acting, and the sums of the bags that it met.
#[derive(Debug)]
pub struct Scorer {
    weights: Arc<Weights>,
    /// Each normalised.
    bags: BTreeMap<Bag, Arc<[f32]>>,
    numbering: Option<Renumbering>,
}

/// A request, encoded once for all choices of its episode by the scorer that is to score them.
#[derive(Debug)]
pub struct Encoded {
    units: usize,
    /// The words of each unit, twice: as key and as value.
    words: Vec<f32>,
    /// Each unit in the light of the others.
    states: Vec<f32>,
    /// What questions read: keys and values.
    pairs: Vec<f32>,
    /// What a bag and its overlap with the request add to an answer.
    answers: BTreeMap<Bag, Vec<f32>>,
    /// What a span adds.
    spans: BTreeMap<(usize, usize), Vec<f32>>,
    /// The earlier calls that the last choice looked back on, and their keys and values.
    past: Option<(Arc<[Past]>, Vec<f32>)>,
}

impl Scorer {
    pub(super) fn new(shape: Shape, parameters: &Parameters) -> Result<Self, PointerError> {
        Ok(Self { weights: Arc::new(Weights::new(shape, parameters)?), bags: BTreeMap::new(), numbering: None })
    }

    /// The same, reading every bag under another numbering: it scores as it would score the tables that [`Renumbering::apply`] makes.
    #[must_use]
    pub fn renumbered(self, numbering: Renumbering) -> Self {
        Self { bags: BTreeMap::new(), numbering: Some(numbering), ..self }
    }

    /// Encodes a request.
    ///
    /// # Errors
    /// More units than a request can have.
    pub fn encode(&mut self, units: &[Unit]) -> Result<Encoded, PointerError> {
        check_units(units, || "the request".to_owned())?;
        let words: Vec<Arc<[f32]>> = units.iter().map(|unit| self.bag(&unit.bag)).collect();
        let types: Vec<f32> = units.iter().flat_map(types_of).collect();
        let weights = &self.weights;
        let heads = weights.shape.attention();
        let mut states = weights.unit_in.of(&words.iter().flat_map(|words| words.iter().copied()).collect::<Vec<_>>());
        add(&mut states, &weights.unit_types.of(&types));
        for layer in &weights.layers {
            let mut packed = layer.packed.of(&layer.norm.of(&states));
            vectorized(
                #[inline(always)]
                || {
                    for (position, row) in packed.chunks_exact_mut(heads.row() * 3).enumerate() {
                        weights.angles.turn(row, position, false);
                    }
                },
            );
            add(&mut states, &layer.out.of(&full_attention_rows(&packed, heads)));
            layer.gate.add_to(&mut states);
        }
        let states = weights.unit_norm.of(&states);
        Ok(Encoded {
            units: units.len(),
            words: words.iter().flat_map(|words| words.iter().chain(words.iter()).copied()).collect(),
            pairs: weights.read_request.pair.of(&states),
            states,
            answers: BTreeMap::new(),
            spans: BTreeMap::new(),
            past: None,
        })
    }

    /// The log-probability of each answer of a choice in nats, for the request that was encoded.
    ///
    /// # Errors
    /// A choice that does not fit the network or the request; weights that give no probabilities.
    pub fn score(&mut self, request: &mut Encoded, choice: &Choice) -> Result<Vec<f32>, PointerError> {
        check_choice(choice, request.units, || "the choice".to_owned())?;
        let question = self.question(request, choice);
        let facts: Vec<f32> = choice.answers.iter().flat_map(answer_input).collect();
        let answers = self.answers(request, choice, &facts);
        let weights = &self.weights;
        let width = weights.shape.width;
        let query = weights.joint_query.of(&question);
        let mut product = answers.clone();
        for row in product.chunks_exact_mut(width) {
            row.iter_mut().zip(&query).for_each(|(value, query)| *value *= query);
        }
        let mut joint = weights.joint_product.of(&product);
        add(&mut joint, &weights.joint_answer.of(&answers));
        add(&mut joint, &weights.joint_facts.of(&facts));
        let of_question = weights.joint_question.of(&question);
        joint.chunks_exact_mut(of_question.len()).for_each(|row| add(row, &of_question));
        let mut logits = weights.score_hidden.of(&gated(&joint, weights.shape.joint));
        add(&mut logits, &weights.score_product.of(&product));
        let mut log_probs = vec![0.0; logits.len()];
        vectorized(
            #[inline(always)]
            || log_softmax_of(&logits, &mut log_probs),
        );
        if log_probs.iter().all(|value| value.is_finite()) { Ok(log_probs) } else { Err(PointerError::NotFinite) }
    }

    /// Bags whose sums it keeps.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.bags.len()
    }

    /// The normalised sum of a bag.
    fn bag(&mut self, bag: &Bag) -> Arc<[f32]> {
        if let Some(known) = self.bags.get(bag) {
            return known.clone();
        }
        let mut sum = vec![0.0; self.weights.shape.width];
        let read = self.numbering.map_or_else(|| bag.clone(), |numbering| numbering.bag(bag));
        vectorized(
            #[inline(always)]
            || sum_rows(&self.weights.embed, read.grams(), Share::Root, &mut sum),
        );
        let sum: Arc<[f32]> = self.weights.bag_norm.of(&sum).into();
        if self.bags.len() >= BAGS_KEPT_MAX {
            self.bags.clear();
        }
        self.bags.insert(bag.clone(), sum.clone());
        sum
    }

    /// The question, having read the past and the request.
    fn question(&mut self, request: &mut Encoded, choice: &Choice) -> Vec<f32> {
        let bag = self.bag(&choice.question.bag);
        let past = match request.past.take() {
            Some((known, pairs)) if Arc::ptr_eq(&known, &choice.past) => pairs,
            _ => self.past(&choice.past),
        };
        let weights = &self.weights;
        let mut states = weights.question_bag.of(&bag);
        add(&mut states, &weights.question_facts.of(&question_input(&choice.question).collect::<Vec<_>>()));
        let heads = weights.shape.attention();
        read_into(&mut states, &weights.read_past, &past, heads, choice.past.len());
        read_into(&mut states, &weights.read_request, &request.pairs, heads, request.units);
        request.past = Some((choice.past.clone(), past));
        weights.question_gate.add_to(&mut states);
        weights.question_norm.of(&states)
    }

    /// The keys and values of earlier calls.
    fn past(&mut self, past: &[Past]) -> Vec<f32> {
        let bags: Vec<f32> = past.iter().flat_map(|call| self.bag(&call.bag).to_vec()).collect();
        let facts = past.iter().rev().enumerate().rev().flat_map(|(age, call)| past_input(call, age));
        let weights = &self.weights;
        let mut states = weights.past_bag.of(&bags);
        add(&mut states, &weights.past_facts.of(&facts.collect::<Vec<_>>()));
        weights.read_past.pair.of(&weights.past_norm.of(&states))
    }

    /// The answers, row after row.
    fn answers(&mut self, request: &mut Encoded, choice: &Choice, facts: &[f32]) -> Vec<f32> {
        self.meet(request, choice);
        let weights = &self.weights;
        let width = weights.shape.width;
        let mut states = Vec::with_capacity(choice.answers.len() * width);
        for answer in &choice.answers {
            states.extend(request.answers.get(&answer.bag).map(Vec::as_slice).unwrap_or_default());
        }
        add(&mut states, &weights.answer_facts.of(facts));
        for (row, answer) in states.chunks_exact_mut(width).zip(&choice.answers) {
            let span = answer.span.as_ref().and_then(|span| request.spans.get(&(span.start, span.end)));
            add(row, span.map(Vec::as_slice).unwrap_or_default());
        }
        weights.answer_norm.of(&states)
    }

    /// Makes what answers are made of, as far as the request does not have it yet.
    fn meet(&mut self, request: &mut Encoded, choice: &Choice) {
        if request.answers.len() + choice.answers.len() > ANSWERS_KEPT_MAX {
            request.answers.clear();
        }
        if request.spans.len() + choice.answers.len() > ANSWERS_KEPT_MAX {
            request.spans.clear();
        }
        let width = self.weights.shape.width;
        let (mut bags, mut words) = (Vec::new(), Vec::new());
        for answer in &choice.answers {
            if !request.answers.contains_key(&answer.bag) {
                // Filled below.
                request.answers.insert(answer.bag.clone(), Vec::new());
                words.extend_from_slice(&self.bag(&answer.bag));
                bags.push(&answer.bag);
            }
        }
        let weights = &self.weights;
        let ranges = vec![0..request.units; bags.len()];
        let mut found = read_rows(&words, &request.words, weights.shape.matching(), &ranges);
        found.iter_mut().zip(&words).for_each(|(found, word)| *found *= word);
        let mut states = weights.answer_bag.of(&words);
        add(&mut states, &weights.answer_overlap.of(&found));
        for (bag, state) in bags.into_iter().zip(states.chunks_exact(width)) {
            request.answers.insert(bag.clone(), state.to_vec());
        }
        for span in choice.answers.iter().filter_map(|answer| answer.span.clone()) {
            let key = (span.start, span.end);
            if !request.spans.contains_key(&key) {
                #[expect(clippy::cast_possible_truncation, reason = "a request has few units")]
                let units: Vec<u32> = span.map(|unit| unit as u32).collect();
                let mut mean = vec![0.0; width];
                vectorized(
                    #[inline(always)]
                    || sum_rows(&request.states, &units, Share::Mean, &mut mean),
                );
                request.spans.insert(key, weights.answer_span.of(&mean));
            }
        }
    }
}

#[cfg(test)]
impl Encoded {
    /// Answers, or spans, that it keeps.
    pub(super) fn kept(&self) -> usize {
        self.answers.len().max(self.spans.len())
    }
}

/// Adds to a state what it reads of some rows.
fn read_into(state: &mut [f32], reading: &Reading, pairs: &[f32], heads: Heads, rows: usize) {
    let query = reading.query.of(&reading.norm.of(state));
    let found = read_rows(&query, pairs, heads, std::slice::from_ref(&(0..rows)));
    add(state, &reading.out.of(&found));
}
