//! `log`: lines for the trace.

use loopwright_bindings::{afv::log, convert::clipped};
use loopwright_contract::{limits::MESSAGE_BYTES_MAX, plain::Plain};

use crate::store::PluginState;

impl log::Host for PluginState {
    fn write(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.cross(message.len())?;
        let message = clipped(message, MESSAGE_BYTES_MAX);
        let kept = self.meter.limits().log_bytes;
        if self.log.written() + message.len() as u64 > kept as u64 {
            self.log.push(message, kept);
            return Ok(());
        }
        let plugin = self.plugin.record.name.as_str();
        // A trace ends on somebody's terminal.
        let line = Plain(&message);
        match level {
            log::Level::Debug => tracing::debug!(target: "loopwright::plugin", plugin, message = %line),
            log::Level::Info => tracing::info!(target: "loopwright::plugin", plugin, message = %line),
            log::Level::Warn => tracing::warn!(target: "loopwright::plugin", plugin, message = %line),
            log::Level::Error => tracing::error!(target: "loopwright::plugin", plugin, message = %line),
        }
        self.log.push(message, kept);
        Ok(())
    }
}
