//! What wit-bindgen makes of `wit/`: the imports of all worlds once, and the exports of each world over them.
//!
//! A component imports only what its code reaches, so that the union of imports costs nothing.
#![allow(missing_docs, unreachable_pub, unsafe_code, reason = "generated code")]
#![allow(clippy::all, clippy::allow_attributes_without_reason, reason = "generated code")]

wit_bindgen::generate!({
    path: "../wit",
    inline: "
        package loopwright:sdk@0.1.0;
        world imports {
            import loopwright:afv/log@0.1.0;
            import loopwright:afv/context@0.1.0;
            import loopwright:afv/state-read@0.1.0;
            import loopwright:afv/state-write@0.1.0;
            import loopwright:afv/clock-control@0.1.0;
            import loopwright:afv/tools@0.1.0;
            import loopwright:afv/consent@0.1.0;
            import loopwright:afv/evidence@0.1.0;
            import loopwright:afv/plugin@0.1.0;
            import loopwright:afv/tool-caller@0.1.0;
            import loopwright:afv/scratch@0.1.0;
        }
    ",
    world: "loopwright:sdk/imports@0.1.0",
    generate_all,
});

pub use loopwright::afv::{
    clock_control, consent, context, evidence, log, plugin, scratch, state_read, state_write, tool_caller, tools, types,
};

pub mod tool {
    wit_bindgen::generate!({
        path: "../wit",
        world: "loopwright:afv/tool-plugin@0.1.0",
        with: {
            "loopwright:afv/types@0.1.0": crate::bindings::types,
            "loopwright:afv/plugin@0.1.0": crate::bindings::plugin,
            "loopwright:afv/log@0.1.0": crate::bindings::log,
            "loopwright:afv/context@0.1.0": crate::bindings::context,
            "loopwright:afv/state-read@0.1.0": crate::bindings::state_read,
            "loopwright:afv/state-write@0.1.0": crate::bindings::state_write,
        },
        pub_export_macro: true,
        export_macro_name: "__export_tool_world",
        default_bindings_module: "loopwright_sdk::bindings::tool",
    });

    pub use exports::loopwright::afv::tool::*;
}

pub mod environment {
    wit_bindgen::generate!({
        path: "../wit",
        world: "loopwright:afv/environment-plugin@0.1.0",
        with: {
            "loopwright:afv/types@0.1.0": crate::bindings::types,
            "loopwright:afv/plugin@0.1.0": crate::bindings::plugin,
            "loopwright:afv/log@0.1.0": crate::bindings::log,
            "loopwright:afv/context@0.1.0": crate::bindings::context,
            "loopwright:afv/clock-control@0.1.0": crate::bindings::clock_control,
            "loopwright:afv/state-read@0.1.0": crate::bindings::state_read,
            "loopwright:afv/state-write@0.1.0": crate::bindings::state_write,
            "loopwright:afv/tools@0.1.0": crate::bindings::tools,
            "loopwright:afv/consent@0.1.0": crate::bindings::consent,
        },
        pub_export_macro: true,
        export_macro_name: "__export_environment_world",
        default_bindings_module: "loopwright_sdk::bindings::environment",
    });

    pub use exports::loopwright::afv::environment::*;
}

pub mod verifier {
    wit_bindgen::generate!({
        path: "../wit",
        world: "loopwright:afv/verifier-plugin@0.1.0",
        with: {
            "loopwright:afv/types@0.1.0": crate::bindings::types,
            "loopwright:afv/plugin@0.1.0": crate::bindings::plugin,
            "loopwright:afv/log@0.1.0": crate::bindings::log,
            "loopwright:afv/evidence@0.1.0": crate::bindings::evidence,
        },
        pub_export_macro: true,
        export_macro_name: "__export_verifier_world",
        default_bindings_module: "loopwright_sdk::bindings::verifier",
    });

    pub use exports::loopwright::afv::verifier::*;
}

pub mod skill {
    wit_bindgen::generate!({
        path: "../wit",
        world: "loopwright:afv/skill-plugin@0.1.0",
        with: {
            "loopwright:afv/types@0.1.0": crate::bindings::types,
            "loopwright:afv/plugin@0.1.0": crate::bindings::plugin,
            "loopwright:afv/log@0.1.0": crate::bindings::log,
            "loopwright:afv/state-read@0.1.0": crate::bindings::state_read,
        },
        pub_export_macro: true,
        export_macro_name: "__export_skill_world",
        default_bindings_module: "loopwright_sdk::bindings::skill",
    });

    pub use exports::loopwright::afv::skill::*;
}
