//! An episode's state: persistent collections, fork, diff, digest; virtual clock, seeded random, ids.
