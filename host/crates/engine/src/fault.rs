//! From what wasmtime reports to the contract's faults.

use loopwright_contract::fault::{Budget, GuestFault, HostFault};
use wasmtime::{PoolConcurrencyLimitError, Trap};

use crate::{classes::WASM_STACK_BYTES, limits::Stop, store::PluginState};

/// Bytes of a reason that is kept.
const REASON_BYTES_MAX: usize = 512;
/// How wasmtime words the end of what one crossing may carry; the error's type is not public.
const HOSTCALL_FUEL: &str = "fuel allocated for hostcalls has been exhausted";

/// Why a call of this store ended. `fuel` is what it was given.
pub(crate) fn of_call(error: &wasmtime::Error, state: &mut PluginState, fuel: u64) -> Stop {
    // What the host noted when it ended the guest says more than the trap that this became.
    if let Some(stop) = state.meter.take_stop() {
        return stop;
    }
    let spent = |budget, limit| Stop::Guest(GuestFault::Budget { budget, limit });
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => return spent(Budget::Fuel, fuel),
        Some(Trap::Interrupt) => return Stop::Host(state.deadline.passed()),
        Some(Trap::StackOverflow) => return spent(Budget::Stack, WASM_STACK_BYTES as u64),
        Some(trap) => return trapped(&trap.to_string()),
        None => {}
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return of_machine(error);
    }
    let root = error.root_cause().to_string();
    if root.contains(HOSTCALL_FUEL) {
        return spent(Budget::HostBytes, state.meter.limits().host_bytes);
    }
    trapped(&root)
}

/// A fault of the machine or of ours, before any guest code ran.
pub(crate) fn of_machine(error: &wasmtime::Error) -> Stop {
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        let hint = "hint: run fewer episodes at once, enlarge the pool, or let instances be dropped after each call";
        return Stop::Host(HostFault::Setup(format!("the instance pool is full: {}\n{hint}", error.root_cause())));
    }
    Stop::Host(HostFault::Internal(format!("{error:#}")))
}

/// An error with its causes, on one line.
pub(crate) fn one_line(error: &wasmtime::Error) -> String {
    let text = error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn trapped(text: &str) -> Stop {
    let line = text.lines().next().unwrap_or_default();
    let reason = line.strip_prefix("wasm trap: ").unwrap_or(line).to_owned();
    Stop::Guest(GuestFault::Trapped { reason: loopwright_bindings::convert::clipped(reason, REASON_BYTES_MAX) })
}
