//! One macro for each world. On a native target it only checks that the trait is there, so that a plugin's tests link.

/// Exports a type that implements [`ToolPlugin`](crate::ToolPlugin) as the component's tool plugin. Once in a crate.
#[macro_export]
macro_rules! export_tool {
    ($plugin:ty) => {
        const _: fn() = || {
            fn implements_tool_plugin<P: $crate::ToolPlugin>() {}
            implements_tool_plugin::<$plugin>();
        };
        #[cfg(target_family = "wasm")]
        $crate::__export_tool_on_wasm!($plugin);
    };
}

/// Exports a type that implements [`EnvironmentPlugin`](crate::EnvironmentPlugin) as the component's environment plugin. Once in a crate.
#[macro_export]
macro_rules! export_environment {
    ($plugin:ty) => {
        const _: fn() = || {
            fn implements_environment_plugin<P: $crate::EnvironmentPlugin>() {}
            implements_environment_plugin::<$plugin>();
        };
        #[cfg(target_family = "wasm")]
        $crate::__export_environment_on_wasm!($plugin);
    };
}

/// Exports a type that implements [`VerifierPlugin`](crate::VerifierPlugin) as the component's verifier plugin. Once in a crate.
#[macro_export]
macro_rules! export_verifier {
    ($plugin:ty) => {
        const _: fn() = || {
            fn implements_verifier_plugin<P: $crate::VerifierPlugin>() {}
            implements_verifier_plugin::<$plugin>();
        };
        #[cfg(target_family = "wasm")]
        $crate::__export_verifier_on_wasm!($plugin);
    };
}

/// Exports a type that implements [`SkillPlugin`](crate::SkillPlugin) as the component's skill plugin. Once in a crate.
#[macro_export]
macro_rules! export_skill {
    ($plugin:ty) => {
        const _: fn() = || {
            fn implements_skill_plugin<P: $crate::SkillPlugin>() {}
            implements_skill_plugin::<$plugin>();
        };
        #[cfg(target_family = "wasm")]
        $crate::__export_skill_on_wasm!($plugin);
    };
}
