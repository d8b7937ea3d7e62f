//! The acting pass: a few symbols at a time for many rows, with keys and values kept. No gradients, no tensors.
//!
//! A row's choices depend on its own symbols, masks and seed alone, to the bit: who else is in the batch, and how a row's symbols were cut
//! into
//! calls, changes nothing.

use std::sync::Arc;

use super::error::DecoderError;
use super::sequence::check_mask;
use super::shape::Shape;
use crate::nn::kernel::{LANES, Packed, View, exp, vectorized};
use crate::nn::random::Stream;
use crate::nn::{Allowed, Angles, Parameters, Past, log_softmax_row, mix, rms_norm_rows, silu_gate_rows, weigh};

/// Rows of a session.
pub const ROWS_MAX: usize = 4096;

/// Weights laid out for acting. Cheap to clone; can be used by several threads at once.
#[derive(Debug, Clone)]
pub struct Actor(Arc<Weights>);

#[derive(Debug)]
struct Weights {
    shape: Shape,
    embed: Vec<f32>,
    layers: Vec<Layer>,
    norm: Vec<f32>,
    head: Packed,
    angles: Angles,
}

#[derive(Debug)]
struct Layer {
    attention_norm: Vec<f32>,
    attention_in: Packed,
    attention_out: Packed,
    gate_norm: Vec<f32>,
    gate_up: Packed,
    down: Packed,
}

/// Symbols for a row.
#[derive(Debug, Clone, Copy)]
pub struct Feed<'a> {
    /// The row.
    pub row: usize,
    /// Its next symbols.
    pub symbols: &'a [u8],
}

/// How a symbol is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The likeliest; of equal ones the first.
    Greedy,
    /// By chance, at temperature 1: a function of this seed and of how many symbols the row was fed.
    Sample {
        /// The row's own.
        seed: u64,
    },
}

/// A question for a row: which symbol comes next?
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// The row.
    pub row: usize,
    /// What may be chosen.
    pub allowed: Allowed,
    /// How.
    pub pick: Pick,
}

/// What was chosen for an [`Ask`]. It is not fed: that is the caller's next call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// The symbol.
    pub symbol: u8,
    /// Its log-probability in nats under the mask; also when it was chosen as the likeliest.
    pub log_prob: f32,
}

impl Actor {
    pub(super) fn new(shape: Shape, parameters: &Parameters) -> Result<Self, DecoderError> {
        parameters.check_finite()?;
        let values = |name: &str| Ok::<_, DecoderError>(parameters.get(name)?.flatten_all()?.to_vec1::<f32>()?);
        let packed =
            |name: &str, columns: usize| Ok::<_, DecoderError>(Packed::new(View::new(&values(name)?, columns)));
        let Shape { width, hidden, vocabulary, .. } = shape;
        let layer = |layer: usize| {
            let name = |part: &str| format!("layers.{layer}.{part}.weight");
            Ok::<_, DecoderError>(Layer {
                attention_norm: values(&name("attention_norm"))?,
                attention_in: packed(&name("attention_in"), 3 * width)?,
                attention_out: packed(&name("attention_out"), width)?,
                gate_norm: values(&name("gate_norm"))?,
                gate_up: packed(&name("gate_up"), 2 * hidden)?,
                down: packed(&name("down"), width)?,
            })
        };
        Ok(Self(Arc::new(Weights {
            shape,
            embed: values("embed.weight")?,
            layers: (0..shape.layers).map(layer).collect::<Result<_, _>>()?,
            norm: values("norm.weight")?,
            head: packed("head.weight", vocabulary)?,
            angles: Angles::new(shape.attention(), shape.positions),
        })))
    }

    /// Begins sequences in so many rows.
    ///
    /// # Errors
    /// More than [`ROWS_MAX`] rows.
    pub fn start(&self, rows: usize) -> Result<Session, DecoderError> {
        if rows > ROWS_MAX {
            return Err(DecoderError::TooMany { what: "rows", found: rows, limit: ROWS_MAX });
        }
        let shape = self.0.shape;
        let stride = shape.positions.next_multiple_of(LANES);
        let cache = || Cache {
            keys: vec![0.0; rows * shape.width * stride],
            values: vec![0.0; rows * shape.width * shape.positions],
        };
        let caches = (0..shape.layers).map(|_| cache()).collect();
        Ok(Session {
            weights: self.0.clone(),
            fed: vec![0; rows],
            caches,
            states: vec![0.0; rows * shape.width],
            work: Work::default(),
        })
    }
}

/// Sequences that are being written, one in each row. Rows may have different lengths, and end when nobody feeds them any more.
#[derive(Debug)]
pub struct Session {
    weights: Arc<Weights>,
    /// Symbols that each row was fed.
    fed: Vec<usize>,
    caches: Vec<Cache>,
    /// The state of each row after its last symbol, normalised: `[rows, width]`.
    states: Vec<f32>,
    work: Work,
}

/// What a layer remembers.
#[derive(Debug)]
struct Cache {
    /// `[rows, width, stride]`: each component of a head over the positions.
    keys: Vec<f32>,
    /// `[rows, positions, width]`.
    values: Vec<f32>,
}

/// Room that is used again from call to call.
#[derive(Debug, Default)]
struct Work {
    /// `[symbols, width]`.
    states: Vec<f32>,
    normed: Vec<f32>,
    mixed: Vec<f32>,
    added: Vec<f32>,
    /// `[symbols, 3 * width]`.
    packed: Vec<f32>,
    /// `[symbols, 2 * hidden]`.
    gates: Vec<f32>,
    /// `[symbols, hidden]`.
    gated: Vec<f32>,
    /// `[stride]`.
    weights: Vec<f32>,
}

/// A symbol on its way through the layers.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    position: usize,
    symbol: u8,
}

impl Session {
    /// Symbols that a row was fed so far.
    #[must_use]
    pub fn fed(&self, row: usize) -> Option<usize> {
        self.fed.get(row).copied()
    }

    /// Begins a new sequence in a row; what it was fed is forgotten.
    ///
    /// # Errors
    /// A row that is not there.
    pub fn restart(&mut self, row: usize) -> Result<(), DecoderError> {
        let rows = self.fed.len();
        // Keys and values of later positions are never read before they are written again.
        *self.fed.get_mut(row).ok_or(DecoderError::Row { row, rows })? = 0;
        Ok(())
    }

    /// Reads symbols. Rows that are not named stay as they are.
    ///
    /// # Errors
    /// A row that is not there, a symbol beyond the vocabulary, more symbols than positions. Nothing is then read.
    pub fn feed(&mut self, feeds: &[Feed<'_>]) -> Result<(), DecoderError> {
        let (places, fed) = self.places(feeds)?;
        if places.is_empty() {
            return Ok(());
        }
        let weights = Arc::clone(&self.weights);
        let Shape { width, hidden, .. } = weights.shape;
        let work = &mut self.work;
        work.resize(&weights.shape, places.len());
        for (state, place) in work.states.chunks_exact_mut(width).zip(&places) {
            let from = usize::from(place.symbol) * width;
            state.copy_from_slice(weights.embed.get(from..from + width).unwrap_or_default());
        }
        for (layer, cache) in weights.layers.iter().zip(&mut self.caches) {
            rms_norm_rows(&work.states, &layer.attention_norm, &mut work.normed);
            product(&layer.attention_in, &work.normed, width, &mut work.packed);
            attend(&weights, cache, &places, work);
            product(&layer.attention_out, &work.mixed, width, &mut work.added);
            add(&mut work.states, &work.added);
            rms_norm_rows(&work.states, &layer.gate_norm, &mut work.normed);
            product(&layer.gate_up, &work.normed, width, &mut work.gates);
            silu_gate_rows(&work.gates, hidden, &mut work.gated);
            product(&layer.down, &work.gated, hidden, &mut work.added);
            add(&mut work.states, &work.added);
        }
        rms_norm_rows(&work.states, &weights.norm, &mut work.normed);
        // Of several symbols of a row, the last one stays.
        for (state, place) in work.normed.chunks_exact(width).zip(&places) {
            if let Some(kept) = self.states.get_mut(place.row * width..(place.row + 1) * width) {
                kept.copy_from_slice(state);
            }
        }
        self.fed = fed;
        Ok(())
    }

    /// Chooses the next symbol of rows.
    ///
    /// # Errors
    /// A row that is not there or was fed nothing, a mask that allows nothing or more than the vocabulary, weights that give no
    /// probabilities.
    pub fn choose(&self, asks: &[Ask]) -> Result<Vec<Chosen>, DecoderError> {
        let Shape { width, vocabulary, .. } = self.weights.shape;
        let mut states = Vec::with_capacity(asks.len() * width);
        for ask in asks {
            match self.fed(ask.row) {
                None => return Err(DecoderError::Row { row: ask.row, rows: self.fed.len() }),
                Some(0) => return Err(DecoderError::NothingFed { row: ask.row }),
                Some(_) => {}
            }
            check_mask(&self.weights.shape, ask.allowed, || format!("row {}", ask.row))?;
            states.extend(self.states.get(ask.row * width..(ask.row + 1) * width).unwrap_or_default());
        }
        let mut logits = vec![0.0; asks.len() * vocabulary];
        self.weights.head.add_product(View::new(&states, width), &mut logits);
        let mut log_probs = vec![0.0; logits.len()];
        vectorized(
            #[inline(always)]
            || {
                let rows = logits.chunks_exact(vocabulary).zip(log_probs.chunks_exact_mut(vocabulary));
                for ((logits, log_probs), ask) in rows.zip(asks) {
                    log_softmax_row(logits, ask.allowed, log_probs);
                }
            },
        );
        let rows = log_probs.chunks_exact(vocabulary).zip(asks);
        rows.map(|(log_probs, ask)| {
            let fed = self.fed(ask.row).unwrap_or(0);
            pick(log_probs, ask, fed).ok_or(DecoderError::NotFinite { row: ask.row })
        })
        .collect()
    }

    /// Where each symbol goes, and how many each row will have been fed.
    fn places(&self, feeds: &[Feed<'_>]) -> Result<(Vec<Place>, Vec<usize>), DecoderError> {
        let Shape { vocabulary, positions, .. } = self.weights.shape;
        let mut fed = self.fed.clone();
        let mut places = Vec::with_capacity(feeds.len());
        for Feed { row, symbols } in feeds {
            let place = || format!("row {row}");
            let rows = fed.len();
            let count = fed.get_mut(*row).ok_or(DecoderError::Row { row: *row, rows })?;
            if *count + symbols.len() > positions {
                let found = *count + symbols.len();
                return Err(DecoderError::TooLong { place: place(), found, limit: positions });
            }
            for symbol in *symbols {
                if usize::from(*symbol) >= vocabulary {
                    return Err(DecoderError::Symbol { place: place(), found: usize::from(*symbol), vocabulary });
                }
                places.push(Place { row: *row, position: *count, symbol: *symbol });
                *count += 1;
            }
        }
        Ok((places, fed))
    }
}

impl Work {
    fn resize(&mut self, shape: &Shape, symbols: usize) {
        let Shape { width, hidden, positions, .. } = *shape;
        for narrow in [&mut self.states, &mut self.normed, &mut self.mixed, &mut self.added] {
            narrow.resize(symbols * width, 0.0);
        }
        self.packed.resize(symbols * 3 * width, 0.0);
        self.gates.resize(symbols * 2 * hidden, 0.0);
        self.gated.resize(symbols * hidden, 0.0);
        self.weights.resize(positions.next_multiple_of(LANES), 0.0);
    }
}

/// Rows of `depth` values times a matrix, in place of what was in `out`.
fn product(matrix: &Packed, rows: &[f32], depth: usize, out: &mut [f32]) {
    out.fill(0.0);
    matrix.add_product(View::new(rows, depth), out);
}

fn add(states: &mut [f32], added: &[f32]) {
    states.iter_mut().zip(added).for_each(|(state, added)| *state += added);
}

/// Turns queries and keys, remembers keys and values, and mixes the values of each row's past.
fn attend(weights: &Weights, cache: &mut Cache, places: &[Place], work: &mut Work) {
    let Shape { width, positions, .. } = weights.shape;
    let heads = weights.shape.attention();
    let stride = positions.next_multiple_of(LANES);
    let Work { packed, mixed, weights: line, .. } = work;
    mixed.fill(0.0);
    vectorized(
        #[inline(always)]
        || {
            for (packed, place) in packed.chunks_exact_mut(3 * width).zip(places) {
                weights.angles.turn(packed, place.position, false);
                let (_, rest) = packed.split_at(width);
                let (keys, values) = rest.split_at(width);
                let from = place.row * width * stride + place.position;
                let kept = cache.keys.get_mut(from..).unwrap_or_default().iter_mut().step_by(stride);
                kept.zip(keys).for_each(|(kept, key)| *kept = *key);
                let from = (place.row * positions + place.position) * width;
                let kept = cache.values.get_mut(from..from + width).unwrap_or_default();
                kept.iter_mut().zip(values).for_each(|(kept, value)| *kept = *value);
            }
            for ((packed, place), mixed) in
                packed.chunks_exact(3 * width).zip(places).zip(mixed.chunks_exact_mut(width))
            {
                let keys =
                    cache.keys.get(place.row * width * stride..(place.row + 1) * width * stride).unwrap_or_default();
                let values = cache.values.get(place.row * positions * width..).unwrap_or_default();
                let heads_of = packed.chunks_exact(heads.width).zip(mixed.chunks_exact_mut(heads.width));
                for ((head, (query, out)), keys) in heads_of.enumerate().zip(keys.chunks_exact(heads.width * stride)) {
                    let values = values.get(head * heads.width..).unwrap_or_default();
                    let past = Past { keys, key_stride: stride, values, value_stride: width };
                    weigh(query, past, place.position + 1, heads.scale(), line);
                    mix(line, past, place.position + 1, out);
                }
            }
        },
    );
}

/// Chooses by the log-probabilities of a row; nothing when they are not finite.
fn pick(log_probs: &[f32], ask: &Ask, fed: usize) -> Option<Chosen> {
    let likely = |symbol: usize| log_probs.get(symbol).copied().unwrap_or(f32::NAN);
    if !ask.allowed.symbols().all(|symbol| likely(symbol).is_finite()) {
        return None;
    }
    let symbol = match ask.pick {
        Pick::Greedy => {
            ask.allowed.symbols().reduce(|best, next| if likely(next) > likely(best) { next } else { best })
        }
        Pick::Sample { seed } => {
            let weight = |symbol: usize| f64::from(exp(likely(symbol)));
            let total: f64 = ask.allowed.symbols().map(weight).sum();
            let mut left = Stream::numbered(seed, fed as u64).uniform() * total;
            // Rounding can leave a rest after the last one, which then is it.
            let found = ask.allowed.symbols().find(|symbol| {
                left -= weight(*symbol);
                left < 0.0
            });
            found.or_else(|| ask.allowed.symbols().last())
        }
    }?;
    Some(Chosen { symbol: u8::try_from(symbol).ok()?, log_prob: likely(symbol) })
}
