//! The guest SDK: write a tool, environment, verifier or skill plugin.
