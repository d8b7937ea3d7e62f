//! Seeds and a small generator. Everything random is a pure function of a seed.

use loopwright_contract::digest::{LineDigest, TaskDigest};

/// The seed of one decision: of the run's seed, the task and the turn, and of nothing else.
#[must_use]
pub(crate) fn seed_of(run: u64, task: &TaskDigest, turn: u32) -> u64 {
    labelled(&format!("{run}\n{task}\n{turn}"))
}

fn labelled(label: &str) -> u64 {
    // Any SHA-256 does; the type of digest carries no meaning here.
    let digest = LineDigest::of(label.as_bytes());
    digest.0.iter().take(8).fold(0, |seed, byte| (seed << 8) | u64::from(*byte))
}

/// The seed of one member of a group, or of the whole group: of the run's seed, the task and its place among the groups of the same task.
#[must_use]
pub(crate) fn member_seed_of(run: u64, task: &TaskDigest, group: u32, member: Option<u32>) -> u64 {
    let member = member.map_or_else(|| "all".to_owned(), |member| member.to_string());
    labelled(&format!("{run}\n{task}\ngroup {group}\nmember {member}"))
}

/// The seed of a world's noise, for an episode or a group that has this seed.
#[must_use]
pub(crate) fn world_seed_of(own: u64, task: &TaskDigest) -> u64 {
    labelled(&format!("{own}\n{task}\nworld"))
}

/// `SplitMix64` (Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators*, 2014): small, and the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Generator {
    state: u64,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, 0 for a bound of 0. The bias of the remainder is below 2^-32 for bounds that occur.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    /// True in `part` of `whole` cases.
    pub(crate) fn chance(&mut self, part: u64, whole: u64) -> bool {
        self.below(whole) < part
    }

    /// One element.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let index = self.below(items.len() as u64);
        items.get(usize::try_from(index).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_numbers() {
        // First outputs for seed 1234567, as listed for SplitMix64 on Rosetta Code.
        let mut generator = Generator::new(1_234_567);
        assert_eq!(
            [generator.next(), generator.next(), generator.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn members_groups_and_their_worlds_have_seeds_of_their_own() {
        let (a, b) = (TaskDigest::of(b"a"), TaskDigest::of(b"b"));
        let own = [
            member_seed_of(1, &a, 0, Some(0)),
            member_seed_of(1, &a, 0, Some(1)),
            member_seed_of(1, &a, 1, Some(0)),
            member_seed_of(1, &a, 0, None),
            member_seed_of(1, &b, 0, Some(0)),
            member_seed_of(2, &a, 0, Some(0)),
            seed_of(1, &a, 0),
        ];
        let worlds = own.map(|own| world_seed_of(own, &a));
        let distinct: std::collections::BTreeSet<u64> = own.into_iter().chain(worlds).collect();
        assert_eq!(distinct.len(), 14);
    }

    #[test]
    fn each_turn_of_each_task_has_a_seed_of_its_own() {
        let (a, b) = (TaskDigest::of(b"a"), TaskDigest::of(b"b"));
        let seeds = [seed_of(1, &a, 0), seed_of(1, &a, 1), seed_of(1, &b, 0), seed_of(2, &a, 0)];
        let distinct: std::collections::BTreeSet<u64> = seeds.into_iter().collect();
        assert_eq!(distinct.len(), 4);
    }
}
