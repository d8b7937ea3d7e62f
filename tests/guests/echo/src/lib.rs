//! Sends back every value type of the contract, as wit-bindgen has it. It knows no plugin and no host.

#[cfg(target_family = "wasm")]
mod guest {
    #![allow(missing_docs, unreachable_pub, unsafe_code, reason = "generated code")]
    #![allow(clippy::all, clippy::allow_attributes_without_reason, reason = "generated code")]

    wit_bindgen::generate!({
        path: ["../../../wit", "wit"],
        world: "loopwright:echo/echo@0.1.0",
        generate_all,
    });

    use exports::loopwright::echo::values::*;

    struct Echo;

    macro_rules! echo {
        ($($name:ident: $type:ty),* $(,)?) => {
            impl Guest for Echo {
                $(fn $name(value: $type) -> $type {
                    value
                })*

                fn through_json(value: Json) -> Json {
                    crate::through_json(&value).unwrap_or(value)
                }
            }
        };
    }
    echo! {
        echo_instant: Instant,
        echo_localized: Vec<Localized>,
        echo_actor: Actor,
        echo_effects: Vec<Effect>,
        echo_rule: AccessRule,
        echo_tool_spec: ToolSpec,
        echo_collection_spec: CollectionSpec,
        echo_tool_call: ToolCall,
        echo_success: Success,
        echo_failure: Failure,
        echo_state_error: StateError,
        echo_query: Query,
        echo_page: Page,
        echo_identity: Identity,
        echo_needs: Option<AccessNeeds>,
        echo_tool_outcome: ToolOutcome,
        echo_change: (Vec<Change>, Option<u32>),
        echo_step: Step,
        echo_doubles: Vec<f64>,
        echo_numbers: (bool, u16, u32, i32),
        echo_bytes: Vec<u8>,
        echo_halves: (u32, u32),
        echo_strings: Vec<(String, Option<String>)>,
        echo_read: Result<Option<Json>, StateError>,
    }

    export!(Echo);
}

/// The text of a JSON value, read and written again; none when it is no JSON.
pub fn through_json(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(value.to_string())
}
