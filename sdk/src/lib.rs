//! The guest SDK: write a tool, environment, verifier or skill plugin. It knows the contract in `wit/` and no host.
//!
//! A plugin is a type that implements one of four traits, and one macro that exports it:
//!
//! | kind | trait | macro | what its code gets |
//! |---|---|---|---|
//! | tool | [`ToolPlugin`] | [`export_tool!`] | a [`Phone`]: state, time, randomness, ids, log |
//! | environment | [`EnvironmentPlugin`] | [`export_environment!`] | a [`World`]: the phone, the installed tools, consent, the clock |
//! | verifier | [`VerifierPlugin`] | [`export_verifier!`] | [`Evidence`]: snapshots, changes, steps |
//! | skill | [`SkillPlugin`] | [`export_skill!`] | a [`PhoneView`]: state to read, log |
//!
//! # Two tools in forty lines
//!
//! ```
//! use loopwright_sdk::{Collection, Failure, Identity, NoArguments, Phone, Reply, Storage};
//! use loopwright_sdk::{Tool, ToolPlugin, export_tool, identity};
//!
//! /// The lamp: what a call sets, what is stored and what is answered.
//! #[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! pub struct Lamp {
//!     /// How bright, from 0 (off) to 255.
//!     level: u8,
//! }
//!
//! fn set(phone: &mut Phone, lamp: Lamp) -> Result<Reply<Lamp>, Failure> {
//!     phone.put("lamp", "main", &lamp)?;
//!     Ok(Reply::new("the lamp is set", lamp))
//! }
//! fn get(phone: &mut Phone, _: NoArguments) -> Result<Reply<Lamp>, Failure> {
//!     Ok(Reply::new("the lamp", phone.require("lamp", "main")?))
//! }
//!
//! impl ToolPlugin for Lamp {
//!     const IDENTITY: Identity = identity!("lamp");
//!     fn tools() -> Vec<Tool> {
//!         let set = Tool::new("set_lamp", set).domain("home");
//!         let get = Tool::new("get_lamp", get).domain("home");
//!         vec![
//!             set.en("Sets the lamp.", "light, lamp, dim, bright")
//!                 .zh("调节台灯亮度。", "台灯 灯 亮度 调亮 调暗")
//!                 .writes(),
//!             get.en("Says how bright the lamp is.", "light, lamp").zh("查询台灯亮度。", "台灯 灯 亮度").reads(),
//!         ]
//!     }
//!
//!     fn storage() -> Storage {
//!         let lamp = Collection::new("lamp");
//!         Storage::new().owns(lamp.initial("main", serde_json::json!({"level": 0})))
//!     }
//! }
//!
//! export_tool!(Lamp);
//! ```
//!
//! The schemas of arguments and result come from the handlers' types. The host validates a call's arguments against the schema before the
//! plugin sees it.
//!
//! # Layout of a plugin
//!
//! Logic lives in plain functions over [`Phone`] and its kin; `lib.rs` holds the declarations and the macro. The crate is a `cdylib`, which
//! becomes the component, and an `rlib`, which the tests link. The generated bindings exist on Wasm alone, so that on every other target a
//! plugin is ordinary Rust. [`testing`] stands in for the host there:
//!
//! ```
//! # #[cfg(not(target_family = "wasm"))] {
//! use loopwright_sdk::testing::TestPhone;
//! use serde_json::json;
//!
//! let test = TestPhone::new().state(json!({"lamp": {"main": {"level": 7}}}));
//! let level: Option<serde_json::Value> = test.phone().get("lamp", "main")?;
//! assert_eq!(level, Some(json!({"level": 7})));
//! # }
//! # Ok::<(), loopwright_sdk::StateError>(())
//! ```
//!
//! # State and transactions
//!
//! A tool plugin declares in its [`Storage`] which collections it owns and which of others it touches; [`Phone`] reads and writes documents in
//! them as any type that serde knows. A call is a transaction: a [`Failure`] or a trap rolls back its writes. A plugin keeps nothing in its
//! own memory between calls.
//!
//! # Failures and faults
//!
//! A handler answers [`Reply`] or [`Failure`]. A failure is something that a planner can act on: it has a [`Code`] and says what was found
//! and what is allowed. A [`Fault`] is a bug or broken data: the SDK logs it and traps. State errors become one or the other by the table on
//! [`Failure`], so that `?` is all that a handler writes. A panic is logged and traps too.
//!
//! # An environment, a verifier and a skill
//!
//! ```
//! use loopwright_sdk::{Answer, EnvironmentPlugin, Failure, Feedback, Identity, NoArguments, Observation, Outcome, Turn, TurnResult, World};
//! use loopwright_sdk::{export_environment, identity};
//!
//! struct Open;
//!
//! impl EnvironmentPlugin for Open {
//!     const IDENTITY: Identity = identity!("open");
//!     type Setup = NoArguments;
//!
//!     fn reset(_: &mut World, _: NoArguments) -> Result<Observation, Failure> {
//!         Ok(Observation::default())
//!     }
//!
//!     fn step(world: &mut World, turn: Turn) -> Result<TurnResult, Failure> {
//!         let mut feedback = Vec::new();
//!         for call in &turn.calls {
//!             let answer = match world.invoke(call, turn.actor) {
//!                 Outcome::Done(success) => Answer::Done(success),
//!                 Outcome::Failed(failure) => Answer::Failed(failure),
//!                 Outcome::Faulted(_) => Answer::Failed(Failure::unavailable("the app")),
//!             };
//!             feedback.push(Feedback { call_id: call.id.clone(), answer, effects: Vec::new() });
//!         }
//!         Ok(TurnResult { feedback, observation: Observation::default() })
//!     }
//! }
//!
//! export_environment!(Open);
//! ```
//!
//! ```
//! use loopwright_sdk::{Criterion, Evidence, Identity, JudgeError, Verdict, VerifierPlugin, export_verifier, identity};
//!
//! /// Passes when the agent claimed exactly this.
//! struct Claimed;
//!
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Check {
//!     answer: String,
//! }
//!
//! impl VerifierPlugin for Claimed {
//!     const IDENTITY: Identity = identity!("claimed");
//!     type Check = Check;
//!
//!     fn judge(evidence: &Evidence, check: &Check, upto: &[u32]) -> Result<Vec<Verdict>, JudgeError> {
//!         let claims = upto.iter().map(|count| evidence.steps(0, *count).iter().find_map(|step| step.claim()));
//!         let verdicts = claims.map(|claim| {
//!             let criterion = Criterion {
//!                 id: "answer".to_owned(),
//!                 passed: claim.as_ref() == Some(&check.answer),
//!                 held_at_reset: false,
//!                 weight: 1.0,
//!                 reason: format!("expected `{}`, found {claim:?}", check.answer),
//!             };
//!             Verdict::of(vec![criterion])
//!         });
//!         Ok(verdicts.collect())
//!     }
//! }
//!
//! export_verifier!(Claimed);
//! ```
//!
//! ```
//! use loopwright_sdk::{Advice, Card, Fault, Guidance, Identity, PhoneView, SkillPlugin, ToolCall, export_skill, identity};
//!
//! struct FanFirst;
//!
//! impl SkillPlugin for FanFirst {
//!     const IDENTITY: Identity = identity!("fan-first");
//!
//!     fn card() -> Card {
//!         Card::new("fan-first", "Load before changing the performance mode.").about(&["manage_battery"])
//!     }
//!
//!     fn guidance(offered: &[String], lang: &str) -> String {
//!         Guidance::new(offered, lang).rule(&["control_cooling_fan"], "Turn the fan on first.", "先打开风扇。").render()
//!     }
//!
//!     fn check(phone: &PhoneView, call: &ToolCall) -> Result<Advice, Fault> {
//!         let on: Option<bool> = phone.get("fan", "on")?;
//!         Ok(match (call.tool.as_str(), on) {
//!             ("manage_battery", Some(false)) => Advice::Warn("the fan is off".to_owned()),
//!             _ => Advice::Allow,
//!         })
//!     }
//! }
//!
//! export_skill!(FanFirst);
//! ```
//!
//! # What does not compile
//!
//! A tool without an access rule for every call is not a tool:
//!
//! ```compile_fail,E0308
//! # use loopwright_sdk::{Failure, NoArguments, Phone, Reply, Tool};
//! # fn lamp(_: &mut Phone, _: NoArguments) -> Result<Reply, Failure> { Err(Failure::unavailable("lamp")) }
//! let tool: Tool = Tool::new("lamp", lamp).domain("home").en("A lamp.", "lamp").when("action", &["query"]).reads();
//! ```
//!
//! A type without the trait is not a plugin, and the message says what to write:
//!
//! ```compile_fail,E0277
//! struct Nothing;
//! loopwright_sdk::export_tool!(Nothing);
//! ```
//!
//! A function that takes something else is not a handler:
//!
//! ```compile_fail,E0277
//! # use loopwright_sdk::{Failure, Phone, Reply, Tool};
//! struct NotDescribed;
//! fn lamp(_: &mut Phone, _: NotDescribed) -> Result<Reply, Failure> { Err(Failure::unavailable("lamp")) }
//! let tool = Tool::new("lamp", lamp);
//! ```

mod access;
pub mod arithmetic;
mod call;
mod environment;
mod evidence;
mod export;
mod failure;
mod host;
mod json;
mod phone;
mod plugin;
mod query;
mod schema;
mod skill;
mod state;
mod storage;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod time;
mod tool;
mod update;
mod verifier;

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod bindings;
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod glue;

pub use access::{ArgumentValues, Effect, Requirement};
pub use call::{Actor, Reply, Success, ToolCall};
pub use environment::{
    AccessNeeds, Answer, EnvironmentPlugin, Feedback, Observation, Outcome, ToolFault, Turn, TurnResult, World,
};
pub use evidence::{Action, Bookkeeping, Change, Evidence, Snapshot, Step};
pub use failure::{Allowed, Code, Failure, Fault};
pub use json::{Json, ShapeError};
pub use phone::{Level, Phone, PhoneView};
pub use plugin::{Identity, ToolPlugin};
pub use query::Query;
pub use skill::{Advice, Card, Guidance, SkillPlugin};
pub use state::{Cursor, Doc, Page, StateError};
pub use storage::{Collection, Storage};
pub use time::{Date, DateTime, Instant, TimeOfDay, Weekday};
pub use tool::{Handler, NeedsAccess, NeedsDomain, NeedsEffect, NeedsEnglish, NeedsLastRule, NoArguments, Tool};
pub use update::Updated;
pub use verifier::{Criterion, JudgeError, Verdict, VerifierPlugin};
