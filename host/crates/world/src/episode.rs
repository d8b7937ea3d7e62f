//! Everything that an episode's next observation depends on, in one value that forks as a whole.

use loopwright_contract::{digest::StateDigest, state::StateError};

use crate::{Clock, Ids, Savepoint, SeededRandom, World};

/// The label of an episode's own random stream.
const STREAM: &str = "episode";

/// The state of an episode: world, clock, randomness and ids. A clone is a fork and costs the same whatever the size.
#[derive(Debug, Clone)]
pub struct EpisodeState {
    /// The documents.
    pub world: World,
    /// The virtual clock.
    pub clock: Clock,
    /// The stream that plugins draw from.
    pub random: SeededRandom,
    /// The ids issued so far.
    pub ids: Ids,
}

/// A point that an episode's state can be rolled back to.
#[derive(Debug)]
#[must_use = "a savepoint stays open until it is committed or rolled back"]
pub struct EpisodeSavepoint {
    world: Savepoint,
    random: SeededRandom,
    ids: Ids,
}

impl EpisodeSavepoint {
    /// The savepoint of the world inside, for [`World::changes_since`].
    pub fn world(&self) -> &Savepoint {
        &self.world
    }
}

impl EpisodeState {
    /// The start of an episode on a prepared world: ids start after those that the world holds.
    ///
    /// # Errors
    /// As [`SeededRandom::new`].
    pub fn new(world: World, clock: Clock, seed: u64) -> Result<Self, StateError> {
        let ids = Ids::after(&world);
        Ok(Self { random: SeededRandom::new(seed, STREAM)?, world, clock, ids })
    }

    /// The same state with the random stream of another seed, at its beginning.
    ///
    /// # Errors
    /// As [`SeededRandom::new`].
    pub fn reseed(&mut self, seed: u64) -> Result<(), StateError> {
        self.random = SeededRandom::new(seed, STREAM)?;
        Ok(())
    }

    /// A state that shares everything with this one and goes its own way.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// Makes the present content the base of digests and comparisons, ids included: what was issued so far is no longer renamed.
    ///
    /// # Errors
    /// As [`World::seal`].
    pub fn seal(&mut self) -> Result<(), StateError> {
        self.world.seal()?;
        self.ids.seal();
        Ok(())
    }

    /// Opens a transaction for one call.
    ///
    /// # Errors
    /// As [`World::begin`].
    pub fn begin(&mut self) -> Result<EpisodeSavepoint, StateError> {
        Ok(EpisodeSavepoint { world: self.world.begin()?, random: self.random.clone(), ids: self.ids.clone() })
    }

    /// Keeps what the call did.
    ///
    /// # Errors
    /// As [`World::commit`].
    pub fn commit(&mut self, savepoint: EpisodeSavepoint) -> Result<(), StateError> {
        self.world.commit(savepoint.world)
    }

    /// Undoes what the call did: documents, ids and random draws are as they were. The clock stays, because no call moves it.
    ///
    /// # Errors
    /// As [`World::rollback`].
    pub fn rollback(&mut self, savepoint: EpisodeSavepoint) -> Result<(), StateError> {
        self.world.rollback(savepoint.world)?;
        self.random = savepoint.random;
        self.ids = savepoint.ids;
        Ok(())
    }

    /// The digest of the world's documents, as [`World::digest`].
    #[must_use]
    pub fn digest(&self) -> StateDigest {
        self.world.digest()
    }
}
