//! `types` and `plugin` have no functions.

use loopwright_bindings::afv::{plugin, types};

use crate::store::PluginState;

impl types::Host for PluginState {}
impl plugin::Host for PluginState {}
