//! A new instance finds nothing of an earlier one: not in memory, not in tables, not in globals, whichever way instances are allocated.

use std::sync::Arc;

use loopwright_engine::{Allocator, Candidate, EngineConfig, Engines, Outcome, PluginHost, PoolSize, Scratch};
use loopwright_testkit::guests::hostile::{HOSTILE, build_as, rows};
use serde_json::json;

use crate::support::{call, candidate, config, host_with, start};

/// A guest that looks for a mark in everything that it has, then leaves one in all of it.
fn marker(name: &str) -> Candidate {
    let rows = rows().unwrap();
    let row = rows.iter().find(|row| row.guest == "leftover-memory").unwrap();
    candidate(name, build_as(row, name).unwrap())
}

/// The code of its failure when it found a mark.
fn found(scratch: &mut Scratch) -> Option<u16> {
    match scratch.call(&call("k", HOSTILE, json!({}))).unwrap().outcome {
        Outcome::Ok(_) => None,
        Outcome::Failed(failure) => Some(failure.code),
        Outcome::Faulted(fault) => panic!("{fault}"),
    }
}

#[test]
fn nothing_of_an_instance_is_left_in_the_next_one() {
    // One slot in each pool, so that the next instance has no other.
    let pool = PoolSize { tools: 1, environments: 1, verifiers: 1, ..PoolSize::default() };
    for (mode, allocator, keep_resident_bytes) in [
        ("on demand", Allocator::OnDemand, 0),
        ("pooled", Allocator::Pooling, 0),
        ("pooled, 64 KiB kept resident", Allocator::Pooling, 64 * 1024),
        // More than the guest has: all of its memory is cleared in place.
        ("pooled, 16 MiB kept resident", Allocator::Pooling, 16 * 1024 * 1024),
    ] {
        let config = EngineConfig { allocator, pool: PoolSize { keep_resident_bytes, ..pool }, ..config() };
        let engines = Arc::new(Engines::new(&config).unwrap());
        let hosts: [PluginHost; 2] =
            ["first", "second"].map(|name| host_with(Arc::clone(&engines), config.clone(), &[marker(name)]));
        // The same component after itself, and another component in the same slot.
        for (round, host) in [0, 0, 1, 0, 1, 1, 0].into_iter().enumerate() {
            let mut scratch = Scratch::new(&hosts[host], &start(), None).unwrap();
            assert_eq!(found(&mut scratch), None, "{mode}, round {round}");
            // The same instance again: it would have been noticed.
            assert_eq!(found(&mut scratch), Some(418), "{mode}, round {round}");
            assert_eq!(
                engines.pool_use().map(|held| held.component_instances),
                (allocator == Allocator::Pooling).then_some(1)
            );
        }
        assert_eq!(
            engines.pool_use().map(|held| (held.component_instances, held.memories, held.tables)),
            engines.is_pooled().then_some((0, 0, 0))
        );
    }
}
