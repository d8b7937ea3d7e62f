//! A phone, an environment's world and a verifier's evidence in memory, so that a plugin's logic is tested natively with no engine.
//!
//! The state follows the rules of the host: the same queries, limits and grants, and a call that fails leaves no write behind. What differs
//! is said on each item; and a collection that nobody declared is empty here, where the host answers that it is invalid. This module exists only where the target is not Wasm.
//!
//! ```
//! use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
//! # use loopwright_sdk::{Collection, Failure, Identity, NoArguments, Phone, Reply, Storage, Tool, ToolPlugin, identity};
//! # struct Lamp;
//! # fn toggle(phone: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
//! #     let on: bool = phone.require("lamp", "on")?;
//! #     phone.put("lamp", "on", &!on)?;
//! #     Ok(Reply::new("toggled", serde_json::json!({"on": !on})))
//! # }
//! # impl ToolPlugin for Lamp {
//! #     const IDENTITY: Identity = identity!("lamp");
//! #     fn tools() -> Vec<Tool> {
//! #         vec![Tool::new("toggle_lamp", toggle).domain("home").en("Toggles the lamp.", "lamp").writes()]
//! #     }
//! #     fn storage() -> Storage {
//! #         Storage::new().owns(Collection::new("lamp").initial("on", false.into()))
//! #     }
//! # }
//! use serde_json::json;
//!
//! assert_valid_plugin::<Lamp>();
//! let mut test = TestPhone::new().plugin::<Lamp>();
//! let reply = test.call("toggle_lamp", json!({}))?;
//! assert_eq!(reply.data, json!({"on": true}));
//! assert_eq!(test.document("lamp", "on"), Some(json!(true)));
//! # Ok::<(), loopwright_sdk::Failure>(())
//! ```

pub(crate) mod calls;
pub(crate) mod documents;
pub(crate) mod evidence;
mod find;
pub(crate) mod kept;
mod specs;
mod values;
pub(crate) mod world;

pub use evidence::TestEvidence;
pub use specs::{Problem, assert_valid_plugin, problems_of, specs};
pub use world::TestPhone;
