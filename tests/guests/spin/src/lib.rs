//! A tool that never returns. It knows nothing; it is what limits are measured on.

use loopwright_sdk::{Failure, Identity, NoArguments, Phone, Reply, Storage, Tool, ToolPlugin, export_tool, identity};

/// The plugin.
#[derive(Debug)]
pub struct Spin;

impl ToolPlugin for Spin {
    const IDENTITY: Identity = identity!("spin");

    fn tools() -> Vec<Tool> {
        vec![Tool::new("spin", spin).domain("test").en("Never returns.", "spin").reads()]
    }

    fn storage() -> Storage {
        Storage::new()
    }
}

fn spin(_: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
    let mut turns = 0_u64;
    loop {
        turns = core::hint::black_box(turns.wrapping_add(1));
    }
}

export_tool!(Spin);
