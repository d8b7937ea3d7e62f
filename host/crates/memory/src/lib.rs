//! The persistent memory of the harness: four layers, a lifecycle with evidence for every unit, retrieval, and deletion that deletes.
//!
//! It knows no episode, no planner, no model and no terminal: embedders and model proposals are ports of the contract, and clocks and keys are
//! passed in. It is the only crate that knows tantivy.
//!
//! A [`Message`](message::Message) is captured into the log of one user; [`Unit`](unit::Unit)s are what is known from it. The log is the truth;
//! index and vectors are derived from it and can be thrown away.

pub mod bench;
pub mod corpus;
pub mod extract;
pub mod flags;
pub mod id;
pub mod index;
pub mod memory;
pub mod message;
pub mod moment;
pub mod names;
pub mod privacy;
pub mod prospective;
pub mod reconcile;
pub mod retrieve;
pub mod store;
pub mod unit;
pub mod vectors;
pub mod verify;
