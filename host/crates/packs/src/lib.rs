//! Task packs: the format, the built-in generators and the importers.
