//! What a verdict was given on: one digest over the check and the evidence up to a step, so that two verdicts can be told to be on the same.

use loopwright_contract::{digest::InputDigest, evidence::Step, json::canonical_of};
use loopwright_world::{GoOn, World};
use sha2::{Digest, Sha256};

use crate::record::{Record, StepTextOf};

/// What stands before the parts, so that the digest is of nothing else.
const DOMAIN: &[u8] = b"loopwright-verdict-input/1\0";

/// The digests of what is judged at each prefix, in the order of `upto`; none: given up, since a state may have many changes.
pub(crate) fn input_digests(record: &Record, check: &str, upto: &[u32], go_on: GoOn<'_>) -> Option<Vec<InputDigest>> {
    let mut chain = Sha256::new();
    chain.update(DOMAIN);
    part(&mut chain, check.as_bytes());
    let digest = |world: Option<&World>| match world {
        Some(world) => world.digest_while(go_on).map(|digest| digest.0),
        None => Some([0; 32]),
    };
    chain.update(digest(record.worlds.first())?);
    chain.update(digest(record.target.as_ref().map(|target| &target.world))?);
    let mut done = 0;
    upto.iter()
        .map(|upto| {
            let upto = usize::try_from(*upto).unwrap_or(usize::MAX);
            for step in (done..upto).map_while(|at| record.text(at)) {
                add(&mut chain, &step);
            }
            done = upto;
            let mut here = chain.clone();
            here.update(digest(record.worlds.get(upto))?);
            Some(InputDigest(here.finalize().into()))
        })
        .collect()
}

/// A step in three parts. The time as text: as a number it would be rounded.
fn add(chain: &mut Sha256, step: &StepTextOf<'_>) {
    let Step { index, turn, at_ns, by, ok, .. } = step.step;
    let head = canonical_of(&(index, turn, at_ns.to_string(), by, ok)).unwrap_or_else(|_| "null".to_owned());
    for text in [&head, step.deed(), &step.shown().answer] {
        part(chain, text.as_bytes());
    }
}

/// A part with its length before it, so that two parts cannot be read as others.
fn part(chain: &mut Sha256, bytes: &[u8]) {
    chain.update((bytes.len() as u64).to_be_bytes());
    chain.update(bytes);
}
