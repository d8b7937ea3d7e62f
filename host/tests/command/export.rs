//! What is exported, read as other trainers read it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use loopwright_contract::digest::ContentDigest;
use loopwright_learn::ablation::{Mark, Tool, shape};
use loopwright_learn::decoder::{Choice, Decoder, Sequence};
use loopwright_learn::nn::Allowed;
use loopwright_learn::rl::Policy as _;
use serde_json::Value;

use crate::train::{Runs, command, done, plugins_without};

/// Of what the cold start makes; all that is not said is the command's default.
fn export(runs: &Runs, arguments: &[&str]) -> String {
    let policy = runs.path("sft");
    let mut command = command(&["export", "--course", "ablation", "--policy", &policy]);
    let (code, lines, errors) = done({
        command.args(arguments);
        command
    });
    assert_eq!((code, lines.len()), (Some(0), 0), "{arguments:?}: {errors}");
    errors
}

/// The header of a file of safetensors: eight bytes of length, then JSON; what follows is the data.
fn tensors(bytes: &[u8]) -> (BTreeMap<String, Value>, usize) {
    let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let header: BTreeMap<String, Value> = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    (header, bytes.len() - 8 - length)
}

#[test]
fn weights_are_safetensors_with_plain_names_and_are_those_of_the_run() {
    let runs = Runs::new();
    runs.cold_start();
    let file = runs.path("out.safetensors");
    let told = export(&runs, &["--weights", &file]);
    let bytes = std::fs::read(&file).unwrap();
    let card: Value = serde_json::from_slice(&runs.bytes("sft", "policy.json")).unwrap();
    assert!(told.contains(card["digest"].as_str().unwrap()) && told.contains(&bytes.len().to_string()), "{told}");

    let (mut header, data) = tensors(&bytes);
    header.remove("__metadata__");
    let mut expected: BTreeMap<String, Vec<u64>> =
        [("embed.weight", vec![15, 48]), ("norm.weight", vec![48]), ("head.weight", vec![48, 15])]
            .map(|(name, shape)| (name.to_owned(), shape))
            .into();
    for layer in 0..2 {
        let parts = [
            ("attention_norm", vec![48]),
            ("attention_in", vec![48, 144]),
            ("attention_out", vec![48, 48]),
            ("gate_norm", vec![48]),
            ("gate_up", vec![48, 256]),
            ("down", vec![128, 48]),
        ];
        expected.extend(parts.map(|(part, shape)| (format!("layers.{layer}.{part}.weight"), shape)));
    }
    let shapes: BTreeMap<String, Vec<u64>> = header
        .iter()
        .map(|(name, tensor)| (name.clone(), serde_json::from_value(tensor["shape"].clone()).unwrap()))
        .collect();
    assert_eq!(shapes, expected);
    // Every tensor has its bytes, one behind the other, and nothing is left over.
    let mut spans: Vec<(u64, u64)> = header
        .iter()
        .map(|(name, tensor)| {
            assert_eq!(tensor["dtype"], "F32", "{name}");
            let (start, end): (u64, u64) = serde_json::from_value(tensor["data_offsets"].clone()).unwrap();
            assert_eq!(end - start, 4 * expected[name].iter().product::<u64>(), "{name}");
            (start, end)
        })
        .collect();
    spans.sort_unstable();
    assert!(spans.windows(2).all(|pair| pair[0].1 == pair[1].0), "{spans:?}");
    assert_eq!((spans[0].0, spans.last().unwrap().1), (0, data as u64));

    // They are the run's, and can be begun with again.
    assert!(bytes == runs.bytes("sft", "policy.safetensors"));
    let again = runs.path("again.safetensors");
    let (code, _, errors) = done(command(&["export", "--course", "ablation", "--policy", &file, "--weights", &again]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(bytes == std::fs::read(&again).unwrap());
}

fn numbers(line: &Value, key: &str) -> Vec<f64> {
    line[key].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn read(file: &str) -> Vec<Value> {
    std::fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The choices of a member up to its first verification, scored again by the exported weights. What is read, set or left answers always the same and
/// is not written, so that until then the choices are all that there is.
fn scored(policy: &Decoder, line: &Value) -> (Vec<f64>, Vec<f64>) {
    let mark = if line["prompt"].as_str().unwrap().contains("fragile") { Mark::Fragile } else { Mark::Reliable };
    let symbols = numbers(line, "response_ids");
    let verify = f64::from(Tool::Verify.symbol());
    let read = symbols.iter().position(|symbol| *symbol == verify).map_or(symbols.len(), |at| at + 1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "symbols are small whole numbers")]
    let taken = symbols[..read].iter().map(|symbol| *symbol as u8);
    let allowed = Allowed::of(&Tool::ALL.map(Tool::symbol)).unwrap();
    let sequence = Sequence {
        symbols: std::iter::once(mark.symbol()).chain(taken).collect(),
        choices: (1..=read).map(|at| Choice { at, allowed }).collect(),
    };
    let again = policy.log_probs(&[sequence]).unwrap().into_iter().map(f64::from).collect();
    (numbers(line, "old_log_probs")[..read].to_vec(), again)
}

#[test]
fn trajectories_are_groups_with_what_was_sampled_and_advantages_that_add_up_to_nothing() {
    let runs = Runs::new();
    runs.cold_start();
    let (file, weights) = (runs.path("groups.jsonl"), runs.path("w.safetensors"));
    let sizes = ["--groups", "4", "--group-size", "4", "--seed", "3"];
    let told = export(&runs, &[&["--trajectories", &file, "--weights", &weights][..], &sizes].concat());
    assert!(told.contains("16 members of 4 groups; 0 void, 0 groups too small"), "{told}");
    let lines = read(&file);
    let card: Value = serde_json::from_slice(&runs.bytes("sft", "policy.json")).unwrap();
    let policy = Decoder::from_bytes(shape(), &std::fs::read(&weights).unwrap()).unwrap();
    let mut groups: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    let mut choices = 0;
    for line in &lines {
        let keys: BTreeSet<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        let all =
            "uid task prompt response_ids response_mask old_log_probs advantages reward success progress cost policy";
        assert_eq!(keys, all.split(' ').collect());
        groups.entry(line["uid"].as_str().unwrap().to_owned()).or_default().push(line);
        let [ids, mask, log_probs, advantages] =
            ["response_ids", "response_mask", "old_log_probs", "advantages"].map(|key| numbers(line, key));
        let tokens = ids.len();
        assert!(tokens > 0 && [mask.len(), log_probs.len(), advantages.len()] == [tokens; 3], "{line}");
        assert!(mask.iter().all(|trained| *trained == 1.0) && log_probs.iter().all(|log| *log <= 0.0), "{line}");
        assert!(advantages.iter().all(|advantage| *advantage == advantages[0]), "{line}");
        assert_eq!(line["policy"], card["digest"], "{line}");
        // Each choice is a token, and 32 of them a cost of 1.
        assert_eq!(
            line["cost"].as_f64().unwrap(),
            (f64::from(u32::try_from(tokens).unwrap()) / 32.0).min(1.0),
            "{line}"
        );
        let (recorded, again) = scored(&policy, line);
        assert!(recorded.iter().zip(&again).all(|(one, other)| (one - other).abs() < 1e-4), "{recorded:?} {again:?}");
        choices += again.len();
    }
    assert!(choices > 3 * lines.len(), "{choices} choices were scored again");
    assert_eq!(groups.len(), 4);
    let told_apart = groups.values().filter(|members| care(members)).count();
    assert!(told_apart > 0, "no group has members that anything tells apart");

    // The same order is the same file, another seed is another.
    let again = runs.path("again.jsonl");
    export(&runs, &[&["--trajectories", &again][..], &sizes].concat());
    assert!(std::fs::read(&file).unwrap() == std::fs::read(&again).unwrap());
    export(&runs, &[&["--trajectories", &again][..], &sizes[..4], &["--seed", "4"]].concat());
    assert!(std::fs::read(&file).unwrap() != std::fs::read(&again).unwrap());
}

/// Checks the rewards and advantages of a group of four against CARE's equations with the command's defaults; whether they tell its members apart.
fn care(members: &[&Value]) -> bool {
    assert_eq!(members.len(), 4);
    assert!(members.iter().all(|line| line["task"] == members[0]["task"] && line["prompt"] == members[0]["prompt"]));
    let of = |line: &Value, key: &str| line[key].as_f64().unwrap();
    let success = |line: &Value| f64::from(u8::from(line["success"].as_bool().unwrap()));
    let share = members.iter().map(|line| success(line)).sum::<f64>() / 4.0;
    let reward = |line: &Value| {
        if share < 0.3 {
            success(line) + 0.1 * of(line, "progress")
        } else if share < 0.8 {
            success(line)
        } else {
            success(line) - 0.2 * of(line, "cost")
        }
    };
    let rewards: Vec<f64> = members.iter().map(|line| reward(line)).collect();
    let mean = rewards.iter().sum::<f64>() / 4.0;
    let deviation = (rewards.iter().map(|reward| (reward - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
    let divisor = deviation.max((0.8_f64 * 0.2).sqrt());
    let mut sum = 0.0;
    for (line, expected) in members.iter().zip(&rewards) {
        assert!((of(line, "reward") - expected).abs() < 1e-9, "{line}, expected {expected}");
        let advantage = numbers(line, "advantages")[0];
        assert!((advantage - (expected - mean) / divisor).abs() < 1e-4, "{line}, of {rewards:?}");
        sum += advantage;
    }
    assert!(sum.abs() < 1e-9, "{sum} of {rewards:?}");
    deviation > 1e-9
}

/// A member is void when its verifier gives a verdict that is none, here after an odd number of steps; after an even one it passes.
#[test]
fn a_void_member_is_left_out_and_counted() {
    let runs = Runs::new();
    runs.cold_start();
    let plugins = plugins_without(&runs, "");
    let judge = "(func $judge (param i32) (global.set $outcome (i32.const 0)) (global.set $score
        (select (f64.const nan) (f64.const 1) (i32.and (local.get 0) (i32.const 1)))))";
    let bytes = loopwright_testkit::guests::hostile::verifier("ablation-verdict", judge).unwrap();
    std::fs::write(Path::new(&plugins).join("ablation-verdict.wasm"), &bytes).unwrap();
    let index = Path::new(&plugins).join("index.json");
    let mut entries: Vec<Value> = serde_json::from_slice(&std::fs::read(&index).unwrap()).unwrap();
    let entry = entries.iter_mut().find(|entry| entry["name"] == "ablation-verdict").unwrap();
    entry["sha256"] = ContentDigest::of(&bytes).to_string().trim_start_matches("sha256:").into();
    entry["size"] = bytes.len().into();
    std::fs::write(&index, serde_json::to_vec(&entries).unwrap()).unwrap();

    let file = runs.path("groups.jsonl");
    let few = ["--trajectories", &file, "--groups", "4", "--group-size", "4", "--plugins", &plugins];
    let told = export(&runs, &few);
    let lines = read(&file);
    let mut sums: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for line in &lines {
        // What is left has an even number of steps: its calls, and one to finish where its budget did not end it.
        assert_eq!(line["success"], true, "{line}");
        let (sum, members) = sums.entry(line["uid"].as_str().unwrap()).or_default();
        *sum += numbers(line, "advantages")[0];
        *members += 1;
    }
    assert!(sums.values().all(|(sum, members)| sum.abs() < 1e-9 && (2..=4).contains(members)), "{sums:?}");
    let count = |what: &str| -> usize {
        let before = told.split_once(what).unwrap_or_else(|| panic!("no `{what}` in {told}")).0;
        before.split([' ', ';', ',']).rfind(|word| !word.is_empty()).unwrap().parse().unwrap()
    };
    let (written, void, small) = (count(" members of 4 groups"), count(" void"), count(" groups too small"));
    assert_eq!((written, sums.len()), (lines.len(), 4 - small), "{told}");
    // Each member is in one of three places: written, void, or alone in a group that is too small.
    assert!(void > 0 && written > 0 && (16 - written - void) <= small, "{told}");
}

#[test]
fn what_cannot_be_exported_is_said_with_what_to_do() {
    let runs = Runs::new();
    let refused = |arguments: &[&str], expected: &str| {
        let (code, _, errors) = done(command(&[&["export"][..], arguments].concat()));
        assert_eq!(code, Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{expected} is not in {errors}");
    };
    let shipped = "host/assets/phone-policy.safetensors";
    refused(&["--policy", shipped], "nothing to write");
    refused(&["--policy", &runs.path("none"), "--weights", &runs.path("w")], "no policy at");
    refused(&["--course", "ablation", "--policy", shipped, "--weights", &runs.path("w")], "the weights of");
    refused(&["--policy", shipped, "--trajectories", &runs.path("t"), "--group-size", "1"], "2 to");
    refused(&["--policy", shipped, "--weights", &runs.path("no/such/folder/w")], "cannot be written");
}
