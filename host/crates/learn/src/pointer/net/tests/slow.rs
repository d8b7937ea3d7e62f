//! The network once more, in f64 and plain loops: a choice at a time, nothing kept, as its definition reads.

use std::collections::BTreeMap;

use crate::nn::Parameters;
use crate::pointer::net::Shape;
use crate::pointer::{Answer, Bag, Choice, Kind, Play, Unit};

type Row = Vec<f64>;

pub(super) struct Slow {
    shape: Shape,
    /// By name, without its end.
    pub(super) weights: BTreeMap<String, Row>,
}

fn add(a: &[f64], b: &[f64]) -> Row {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn scaled(a: &[f64], factor: f64) -> Row {
    a.iter().map(|a| a * factor).collect()
}

fn times(a: &[f64], b: &[f64]) -> Row {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

fn softmax(scores: &[f64]) -> Row {
    let highest = scores.iter().copied().fold(f64::MIN, f64::max);
    let powers: Row = scores.iter().map(|score| (score - highest).exp()).collect();
    let total: f64 = powers.iter().sum();
    scaled(&powers, 1.0 / total)
}

fn one_of(count: usize, place: usize) -> Row {
    (0..count).map(|other| if other == place { 1.0 } else { 0.0 }).collect()
}

fn wide(facts: &[f32]) -> Row {
    facts.iter().map(|fact| f64::from(*fact)).collect()
}

/// What a query finds among keys and values.
fn read(query: &[f64], keys: &[Row], values: &[Row], heads: usize) -> Row {
    let width = query.len() / heads;
    let mut found = vec![0.0; query.len()];
    if keys.is_empty() {
        return found;
    }
    for head in 0..heads {
        let part = head * width..(head + 1) * width;
        let score = |key: &Row| times(&query[part.clone()], &key[part.clone()]).iter().sum::<f64>();
        let scores: Row = keys.iter().map(|key| score(key) / (width as f64).sqrt()).collect();
        for (weight, value) in softmax(&scores).iter().zip(values) {
            for place in part.clone() {
                found[place] += weight * value[place];
            }
        }
    }
    found
}

fn turned(row: &[f64], heads: usize, position: usize) -> Row {
    let (width, mut out) = (row.len() / heads, row.to_vec());
    let half = width / 2;
    for head in 0..heads {
        for pair in 0..half {
            let angle = position as f64 * 10_000_f64.powf(-(pair as f64) / half as f64);
            let (a, b) = (head * width + pair, head * width + half + pair);
            out[a] = row[a] * angle.cos() - row[b] * angle.sin();
            out[b] = row[a] * angle.sin() + row[b] * angle.cos();
        }
    }
    out
}

impl Slow {
    pub(super) fn new(shape: Shape, parameters: &Parameters) -> Self {
        let values = parameters.values().unwrap();
        let named = parameters.slots().iter().zip(values);
        let weights = named.map(|(slot, values)| (slot.name.replace(".weight", ""), wide(&values))).collect();
        Self { shape, weights }
    }

    fn map(&self, name: &str, row: &[f64]) -> Row {
        let weight = &self.weights[name];
        let columns = weight.len() / row.len();
        (0..columns)
            .map(|column| row.iter().enumerate().map(|(place, value)| value * weight[place * columns + column]).sum())
            .collect()
    }

    fn norm(&self, name: &str, row: &[f64]) -> Row {
        let mean = row.iter().map(|value| value * value).sum::<f64>() / row.len() as f64;
        times(&scaled(row, 1.0 / (mean + 1e-5).sqrt()), &self.weights[name])
    }

    fn gated(&self, row: &[f64], [norm, gate_up, down]: [&str; 3]) -> Row {
        let packed = self.map(gate_up, &self.norm(norm, row));
        add(row, &self.map(down, &silu(&packed)))
    }

    fn bag(&self, bag: &Bag) -> Row {
        let width = self.shape.width;
        let mut sum = vec![0.0; width];
        for gram in bag.grams() {
            sum = add(&sum, &self.weights["embed"][*gram as usize * width..][..width]);
        }
        let count = bag.grams().len().max(1) as f64;
        self.norm("bag_norm", &scaled(&sum, 1.0 / count.sqrt()))
    }

    fn encode(&self, units: &[Unit]) -> Vec<Row> {
        let Shape { width, heads, .. } = self.shape;
        let begin = |unit: &Unit| {
            let types: Row = (0..16).map(|bit| f64::from(unit.types >> bit & 1)).collect();
            add(&self.map("unit_in", &self.bag(&unit.bag)), &self.map("unit_types", &types))
        };
        let mut states: Vec<Row> = units.iter().map(begin).collect();
        for layer in 0..self.shape.layers {
            let name = |part: &str| format!("layers.{layer}.{part}");
            let normed = states.iter().map(|row| self.norm(&name("attention_norm"), row));
            let packed: Vec<Row> = normed.map(|row| self.map(&name("attention_in"), &row)).collect();
            let part = |part: usize| packed.iter().map(move |row| row[part * width..(part + 1) * width].to_vec());
            let turn = |part: Vec<Row>| -> Vec<Row> {
                part.iter().enumerate().map(|(place, row)| turned(row, heads, place)).collect()
            };
            let (queries, keys, values) =
                (turn(part(0).collect()), turn(part(1).collect()), part(2).collect::<Vec<_>>());
            for (state, query) in states.iter_mut().zip(&queries) {
                *state = add(state, &self.map(&name("attention_out"), &read(query, &keys, &values, heads)));
                *state = self.gated(state, [&name("gate_norm"), &name("gate_up"), &name("down")]);
            }
        }
        states.iter().map(|row| self.norm("unit_norm", row)).collect()
    }

    fn reads(&self, of: &str, state: &[f64], rows: &[Row]) -> Row {
        let name = |part: &str| format!("read_{of}.{part}");
        let query = self.map(&name("query"), &self.norm(&name("norm"), state));
        let pairs = rows.iter().map(|row| self.map(&name("pair"), row));
        let (keys, values): (Vec<Row>, Vec<Row>) =
            pairs.map(|pair| (pair[..query.len()].to_vec(), pair[query.len()..].to_vec())).unzip();
        add(state, &self.map(&name("out"), &read(&query, &keys, &values, self.shape.heads)))
    }

    fn question(&self, choice: &Choice, encoded: &[Row]) -> Row {
        let past = choice.past.iter().rev().enumerate().map(|(age, call)| {
            let facts =
                [one_of(8, call.status.into()), vec![f64::from(u8::from(call.changed))], one_of(8, age)].concat();
            let state = add(&self.map("past_bag", &self.bag(&call.bag)), &self.map("past_facts", &facts));
            self.norm("past_norm", &state)
        });
        let past: Vec<Row> = past.collect();
        let question = &choice.question;
        let kind = Kind::ALL.iter().position(|kind| *kind == question.kind).unwrap();
        let facts = [one_of(3, kind), wide(&question.facts)].concat();
        let state = add(&self.map("question_bag", &self.bag(&question.bag)), &self.map("question_facts", &facts));
        let state = self.reads("request", &self.reads("past", &state, &past), encoded);
        self.norm(
            "question_norm",
            &self.gated(&state, ["question_gate.norm", "question_gate.gate_up", "question_gate.down"]),
        )
    }

    fn logit(&self, answer: &Answer, question: &[f64], words: &[Row], encoded: &[Row]) -> f64 {
        let bag = self.bag(&answer.bag);
        let overlap = times(&bag, &read(&bag, words, words, 1));
        let span = answer.span.clone().unwrap_or(0..0);
        let facts = [vec![1.0, f64::from(u8::from(!span.is_empty()))], wide(&answer.facts)].concat();
        let mut state = add(&self.map("answer_bag", &bag), &self.map("answer_overlap", &overlap));
        state = add(&state, &self.map("answer_facts", &facts));
        for unit in span.clone() {
            state = add(&state, &scaled(&self.map("answer_span", &encoded[unit]), 1.0 / span.len() as f64));
        }
        let state = self.norm("answer_norm", &state);
        let product = times(&state, &self.map("joint_query", question));
        let parts = [("joint_product", &product), ("joint_answer", &state), ("joint_facts", &facts)];
        let joint =
            parts.iter().fold(self.map("joint_question", question), |sum, (name, row)| add(&sum, &self.map(name, row)));
        self.map("score_hidden", &silu(&joint))[0] + self.map("score_product", &product)[0]
    }

    /// The log-probabilities of what was taken.
    pub(super) fn log_probs(&self, play: &Play) -> Row {
        let (encoded, words) =
            (self.encode(&play.units), play.units.iter().map(|unit| self.bag(&unit.bag)).collect::<Vec<_>>());
        let each = play.choices.iter().map(|taken| {
            let question = self.question(&taken.choice, &encoded);
            let logits = taken.choice.answers.iter().map(|answer| self.logit(answer, &question, &words, &encoded));
            softmax(&logits.collect::<Row>())[taken.answer].ln()
        });
        each.collect()
    }
}

fn silu(packed: &[f64]) -> Row {
    let (gates, ups) = packed.split_at(packed.len() / 2);
    gates.iter().zip(ups).map(|(gate, up)| gate / (1.0 + (-gate).exp()) * up).collect()
}
