//! Whatever a model says, what is written is a call of an offered function with arguments that conform.

use loopwright_contract::json::{JsonLimits, parse};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use serde_json::{Value, json};

use crate::grammar::{Grammar, State, TokenTrie};
use crate::local::LocalError;
use crate::local::sample::Sampling;
use crate::local::write::{Tokens, Written, write};
use crate::offer::Function;

/// All bytes, and some longer tokens, among them parts of characters and pieces that cross the parts of a call.
struct Toy {
    tokens: Vec<Vec<u8>>,
    trie: TokenTrie,
}

impl Toy {
    fn new() -> Self {
        let longer = [
            "\", \"",
            "{\"name\": \"",
            "\"}}",
            "}}",
            ", \"",
            "\": ",
            "ar",
            "ask",
            "12",
            "99",
            "true",
            "null",
            "你",
            "好啊",
            "\\n",
            " \"",
            "[]",
            "{}",
            "wi",
        ];
        let tokens: Vec<Vec<u8>> = (0..=255_u8)
            .map(|byte| vec![byte])
            .chain(longer.iter().map(|text| text.as_bytes().to_vec()))
            .chain([vec![0xe4, 0xbd], vec![0xa0, b'"']])
            .collect();
        let trie = TokenTrie::new((0_u32..).zip(&tokens).map(|(id, bytes)| (bytes.clone(), id)));
        Self { tokens, trie }
    }
}

impl Tokens for Toy {
    fn trie(&self) -> &TokenTrie {
        &self.trie
    }

    fn bytes(&self, token: u32) -> &[u8] {
        &self.tokens[token as usize]
    }

    fn encode_inside(&self, text: &str) -> Result<Vec<u32>, LocalError> {
        let mut rest = text.as_bytes();
        let mut ids = Vec::new();
        while !rest.is_empty() {
            let (id, token) = (0_u32..)
                .zip(&self.tokens)
                .filter(|(_, token)| rest.starts_with(token))
                .max_by_key(|(_, token)| token.len())
                .unwrap();
            ids.push(id);
            rest = &rest[token.len()..];
        }
        Ok(ids)
    }
}

fn random_logits(random: &mut ChaCha8Rng, count: usize) -> Vec<f32> {
    (0..count).map(|_| (random.next_u32() % 1000) as f32 / 100.0).collect()
}

fn written(functions: &[Function], seed: u64, temperature: f32, extra: usize) -> (Written, usize) {
    let toy = Toy::new();
    let grammar = Grammar::new(functions, 12, "arguments");
    let tokens_max = State::start(&grammar).rest(&grammar) + extra;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let first = random_logits(&mut random, toy.tokens.len());
    let sampling = Sampling { temperature, top_p: 1.0 };
    let written = write(&grammar, &toy, (sampling, seed), tokens_max, first, &mut |_| {
        Ok(random_logits(&mut random, toy.tokens.len()))
    })
    .unwrap();
    (written, tokens_max)
}

/// Whether a value conforms to a schema of the forms below, written anew so that it shares nothing with the grammar.
fn conforms(schema: &Value, value: &Value) -> bool {
    if let Some(values) = schema.get("enum") {
        return values.as_array().unwrap().contains(value);
    }
    if let Some(options) = schema.get("anyOf") {
        return options.as_array().unwrap().iter().any(|option| conforms(option, value));
    }
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let within = |found: f64, least: &str, most: &str| {
        number(least).is_none_or(|least| found >= least) && number(most).is_none_or(|most| found <= most)
    };
    match (schema["type"].as_str().unwrap(), value) {
        ("string", Value::String(text)) => within(text.chars().count() as f64, "minLength", "maxLength"),
        ("integer", Value::Number(found)) => found.is_i64() && within(found.as_f64().unwrap(), "minimum", "maximum"),
        ("number", Value::Number(found)) => within(found.as_f64().unwrap(), "minimum", "maximum"),
        ("boolean", Value::Bool(_)) | ("null", Value::Null) => true,
        ("array", Value::Array(items)) => {
            within(items.len() as f64, "minItems", "maxItems")
                && items.iter().all(|item| conforms(&schema["items"], item))
        }
        ("object", Value::Object(fields)) => {
            fields
                .iter()
                .all(|(key, value)| schema["properties"].get(key).is_some_and(|schema| conforms(schema, value)))
                && schema["required"].as_array().unwrap().iter().all(|key| fields.contains_key(key.as_str().unwrap()))
        }
        _ => false,
    }
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        proptest::sample::subsequence(
            vec![
                json!("on"),
                json!("on_all"),
                json!("off"),
                json!("你好"),
                json!(1),
                json!(10),
                json!(true),
                json!(null)
            ],
            1..5
        )
        .prop_map(|values| json!({"enum": values})),
        (0..4_u32, 0..8_u32)
            .prop_map(|(least, more)| json!({"type": "string", "minLength": least, "maxLength": least + more})),
        Just(json!({"type": "string"})),
        (-200..200_i64, 0..500_i64)
            .prop_map(|(least, more)| json!({"type": "integer", "minimum": least, "maximum": least + more})),
        (-20..20_i64, 0..5_i64)
            .prop_map(|(least, more)| json!({"type": "number", "minimum": least, "maximum": least + more})),
        Just(json!({"type": "integer"})),
        Just(json!({"type": "number", "minimum": 0.25, "maximum": 0.5})),
        Just(json!({"type": "boolean"})),
    ]
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (proptest::collection::btree_map("[a-c]{1,3}", (value, any::<bool>()), 0..5)).prop_map(|fields| {
        let required: Vec<&String> =
            fields.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
        let properties: serde_json::Map<String, Value> =
            fields.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let value = leaf().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0..3_u32, 0..3_u32).prop_map(|(items, least, more)| json!({"type": "array", "items": items, "minItems": least, "maxItems": least + more})),
            object(inner.clone()),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"anyOf": [a, b, {"type": "null"}]})),
        ]
    });
    object(value)
}

proptest! {
    #[test]
    fn any_sampling_writes_a_conforming_call_within_the_bound(
        schemas in proptest::collection::btree_map("[a-z_]{1,6}", schema(), 1..5), seed in any::<u64>(), greedy in any::<bool>(), extra in 0..60_usize,
    ) {
        let functions: Vec<Function> =
            schemas.iter().map(|(name, schema)| Function { name: name.clone(), description: String::new(), parameters: schema.clone() }).collect();
        let (written, tokens_max) = written(&functions, seed, if greedy { 0.0 } else { 1.5 }, extra);
        prop_assert!(written.tokens.len() <= tokens_max, "{} tokens of {}", written.tokens.len(), tokens_max);
        prop_assert!(written.tokens.iter().all(|token| token.logprob <= 0.0 && token.logprob.is_finite()));
        let text = String::from_utf8(written.bytes).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let value = parse(&text, &JsonLimits::CONTRACT).map_err(|error| TestCaseError::fail(format!("`{text}`: {error}")))?;
        let schema = schemas.get(value["name"].as_str().unwrap_or_default());
        prop_assert!(schema.is_some_and(|schema| conforms(schema, &value["arguments"])), "`{}` for {:?}", text, schema);
    }
}

#[test]
fn a_budget_that_no_call_fits_is_an_error_and_not_half_a_call() {
    let toy = Toy::new();
    let function = Function {
        name: "wifi".to_owned(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": {}}),
    };
    let grammar = Grammar::new(&[function], 12, "arguments");
    let needed = State::start(&grammar).rest(&grammar);
    assert_eq!(needed, r#"{"name": "wifi", "arguments": {}}"#.len());
    let fault =
        write(&grammar, &toy, (Sampling::default(), 1), 3, vec![0.0; toy.tokens.len()], &mut |_| Ok(Vec::new()));
    assert!(fault.is_err_and(|error| error.to_string().contains("3 are allowed")));
}

#[test]
fn what_has_no_alternative_is_not_sampled() {
    let function = Function {
        name: "wifi".to_owned(),
        description: String::new(),
        parameters: json!({"type": "object", "required": ["on"], "properties": {"on": {"type": "boolean"}}}),
    };
    let (written, _) = written(&[function], 3, 1.0, 10);
    let sampled: Vec<f32> =
        written.tokens.iter().map(|token| token.logprob).filter(|logprob| *logprob != 0.0).collect();
    // The truth value, and the two places where a longer token could begin or end with what must stand there.
    assert!((1..=4).contains(&sampled.len()), "{sampled:?}");
}

#[test]
fn a_grammar_has_a_digest_that_follows_the_functions() {
    let function = |name: &str, schema: Value| Function {
        name: name.to_owned(),
        description: "any".to_owned(),
        parameters: schema,
    };
    let empty = || json!({"type": "object", "properties": {}});
    let digest = |functions: &[Function]| Grammar::new(functions, 9, "arguments").digest();
    assert_eq!(
        digest(&[function("a", empty())]),
        digest(&[Function { description: "other".to_owned(), ..function("a", empty()) }])
    );
    assert_ne!(digest(&[function("a", empty())]), digest(&[function("b", empty())]));
    assert_ne!(
        digest(&[function("a", empty())]),
        digest(&[function("a", json!({"type": "object", "properties": {"x": {"type": "null"}}}))])
    );
}

#[test]
fn what_a_schema_asks_beyond_the_grammar_is_named() {
    let function = |schema: Value| Function { name: "f".to_owned(), description: String::new(), parameters: schema };
    let grammar = Grammar::new(
        &[function(json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^x"}, "b": {}}}))],
        9,
        "arguments",
    );
    assert_eq!(grammar.loose(), ["f/a/pattern", "f/b without a type"]);
    let impossible = Grammar::new(
        &[function(
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "minimum": 2, "maximum": 1}}}),
        )],
        9,
        "arguments",
    );
    assert!(impossible.is_empty());
}
