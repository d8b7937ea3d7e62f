//! The macro calls, and nothing else.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    reason = "generated from wit/, where every item is documented"
)]

mod shared {
    wasmtime::component::bindgen!({
        path: "../../../wit",
        interfaces: "
            import loopwright:afv/plugin@0.1.0;
            import loopwright:afv/log@0.1.0;
            import loopwright:afv/context@0.1.0;
            import loopwright:afv/state-read@0.1.0;
            import loopwright:afv/state-write@0.1.0;
            import loopwright:afv/clock-control@0.1.0;
            import loopwright:afv/tools@0.1.0;
            import loopwright:afv/consent@0.1.0;
            import loopwright:afv/evidence@0.1.0;
            import loopwright:afv/tool-caller@0.1.0;
            import loopwright:afv/scratch@0.1.0;
        ",
        imports: { default: trappable },
        with: { "loopwright:afv/evidence.snapshot": crate::SnapshotHandle },
    });
}

/// The interfaces that the host serves.
pub use shared::loopwright::afv;

macro_rules! world {
    ($(#[$doc:meta])* $module:ident, $world:literal) => {
        $(#[$doc])*
        pub mod $module {
            wasmtime::component::bindgen!({
                path: "../../../wit",
                world: $world,
                with: { "loopwright:afv": crate::afv },
            });
        }
    };
}

world!(
    /// What a tool plugin exports.
    tool, "loopwright:afv/tool-plugin@0.1.0"
);
world!(
    /// What an environment plugin exports.
    environment, "loopwright:afv/environment-plugin@0.1.0"
);
world!(
    /// What a verifier plugin exports.
    verifier, "loopwright:afv/verifier-plugin@0.1.0"
);
world!(
    /// What a skill plugin exports.
    skill, "loopwright:afv/skill-plugin@0.1.0"
);
