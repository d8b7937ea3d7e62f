//! Measures a model file: `cargo run --release -p loopwright-models --example measure -- FILE`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

use std::time::Instant;

use loopwright_models::local::{LocalConfig, LocalPlanner};

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("expected the path of a GGUF file");
        return;
    };
    let start = Instant::now();
    let result = LocalPlanner::load(LocalConfig::new(path)).and_then(|planner| {
        println!("{:?}", planner.describe());
        println!("loaded in {:?}", start.elapsed());
        planner.speed(&|| start.elapsed())
    });
    match result {
        Ok(speed) => {
            println!("reads {:.1} tokens a second, writes {:.1}", speed.read_per_second, speed.written_per_second)
        }
        Err(error) => eprintln!("{}", loopwright_contract::fault::chain(&error)),
    }
}
