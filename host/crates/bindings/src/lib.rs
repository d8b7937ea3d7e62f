//! Generated WIT bindings and their conversions to contract types.
