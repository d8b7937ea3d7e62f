//! Declaring a tool: its handler, its texts and its access rules.
//!
//! A declaration is a chain of types, so that one that lacks something does not compile: [`Tool::new`], then
//! [`domain`](NeedsDomain::domain), then [`en`](NeedsEnglish::en), then further languages and conditional rules, and last the rule for
//! all other calls.

use core::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::{ArgumentValues, Effect, Requirement, Rule};
use crate::call::{Reply, Success};
use crate::failure::Failure;
use crate::json::Json;
use crate::phone::Phone;
use crate::schema::{self, Describe};

/// A function that serves a tool: `fn(&mut Phone, Arguments) -> Result<Reply<Data>, Failure>`.
///
/// It is implemented for every such function where `Arguments` can be deserialised and described by a schema, and `Data` serialised and
/// described.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot serve a tool",
    label = "not a tool handler",
    note = "a handler is `fn(&mut Phone, Arguments) -> Result<Reply<Data>, Failure>`",
    note = "`Arguments` derives `serde::Deserialize` and `schemars::JsonSchema`; use `NoArguments` where there are none",
    note = "`Data` derives `serde::Serialize` and `schemars::JsonSchema`; leave it out (`Reply`) for an open object"
)]
pub trait Handler<A, D>: Send + Sync + 'static {
    /// Serves one call.
    ///
    /// # Errors
    /// When the call is refused or the plugin is at fault.
    fn handle(&self, phone: &mut Phone, arguments: A) -> Result<Reply<D>, Failure>;
}

#[diagnostic::do_not_recommend]
impl<F, A, D> Handler<A, D> for F
where
    F: Fn(&mut Phone, A) -> Result<Reply<D>, Failure> + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema,
    D: Serialize + JsonSchema,
{
    fn handle(&self, phone: &mut Phone, arguments: A) -> Result<Reply<D>, Failure> {
        self(phone, arguments)
    }
}

/// The arguments of a tool that takes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

type Serve = Box<dyn Fn(&mut Phone, &Json) -> Result<Success, Failure> + Send + Sync>;

/// A declared tool.
///
/// ```
/// use loopwright_sdk::{Failure, NoArguments, Phone, Reply, Requirement, Tool};
///
/// fn speed(_: &mut Phone, _: NoArguments) -> Result<Reply, Failure> {
///     Ok(Reply::new("fast", serde_json::json!({"mbit": 100})))
/// }
///
/// let tool = Tool::new("run_network_test", speed)
///     .domain("network_connectivity")
///     .en("Measures the speed of the connection.", "speed test, bandwidth, latency")
///     .zh("测试网络速度。", "测速 网速 带宽")
///     .reads()
///     .requires(Requirement::Network);
/// # let _ = tool;
/// ```
#[must_use = "a tool is served only when the plugin's `tools` returns it"]
pub struct Tool {
    pub(crate) name: &'static str,
    pub(crate) domain: &'static str,
    pub(crate) texts: Vec<Text>,
    pub(crate) rules: Vec<Rule>,
    arguments: Describe,
    result: Describe,
    serve: Serve,
}

/// What a tool does and the words people use for it, in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) lang: &'static str,
    pub(crate) description: &'static str,
    pub(crate) keywords: &'static str,
}

impl Tool {
    /// Starts the declaration of the tool `name` (1 to 64 characters out of `a-z`, `A-Z`, `0-9`, `_` and `-`), served by `handler`.
    ///
    /// The schemas come from the handler's types: doc comments become descriptions, closed objects stay closed, and an `Option` is an
    /// argument that may be absent.
    #[expect(clippy::new_ret_no_self, reason = "a declaration is a chain of types that ends in a `Tool`")]
    pub fn new<A, D>(name: &'static str, handler: impl Handler<A, D>) -> NeedsDomain
    where
        A: DeserializeOwned + JsonSchema,
        D: Serialize + JsonSchema,
    {
        let serve: Serve = Box::new(move |phone, text| match text.parse() {
            Ok(arguments) => {
                let reply = handler.handle(phone, arguments)?;
                Ok(Success { message: reply.message, data: Json::of(&reply.data)? })
            }
            Err(error) => Err(Failure::malformed_arguments(&error)),
        });
        NeedsDomain(Self {
            name,
            domain: "",
            texts: Vec::new(),
            rules: Vec::new(),
            arguments: A::json_schema,
            result: D::json_schema,
            serve,
        })
    }

    /// Adds a requirement to the rule for all other calls.
    pub fn requires(mut self, requirement: Requirement<'static>) -> Self {
        self.require(requirement);
        self
    }

    /// Runs a call with arguments as JSON text.
    pub(crate) fn serve(&self, phone: &mut Phone, arguments: &Json) -> Result<Success, Failure> {
        (self.serve)(phone, arguments)
    }

    /// The schema of the arguments.
    pub(crate) fn arguments_schema(&self) -> Value {
        schema::of_arguments(self.arguments)
    }

    /// The schema of the data that a reply carries.
    pub(crate) fn result_schema(&self) -> Value {
        schema::of_result(self.result)
    }

    fn require(&mut self, requirement: Requirement<'static>) {
        if let Some(rule) = self.rules.last_mut() {
            rule.requires.push(requirement);
        }
    }

    fn rule(mut self, when: Option<(&'static str, ArgumentValues)>, effect: Effect) -> Self {
        self.rules.push(Rule { when, effect, requires: Vec::new() });
        self
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tool")
            .field("name", &self.name)
            .field("domain", &self.domain)
            .field("texts", &self.texts)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

/// A declaration that lacks its domain.
#[derive(Debug)]
#[must_use]
pub struct NeedsDomain(Tool);

impl NeedsDomain {
    /// Says the functional domain, such as `network_connectivity`.
    pub fn domain(mut self, domain: &'static str) -> NeedsEnglish {
        self.0.domain = domain;
        NeedsEnglish(self.0)
    }
}

/// A declaration that lacks its English text.
#[derive(Debug)]
#[must_use]
pub struct NeedsEnglish(Tool);

impl NeedsEnglish {
    /// Says in English what the tool does, and the words that people use when they mean it, separated by spaces or commas.
    /// At most 2,048 bytes each.
    pub fn en(self, description: &'static str, keywords: &'static str) -> NeedsAccess {
        NeedsAccess(self.0).text("en", description, keywords)
    }
}

/// A declaration that has its texts and lacks access rules.
#[derive(Debug)]
#[must_use]
pub struct NeedsAccess(Tool);

impl NeedsAccess {
    /// Says the same in Chinese.
    pub fn zh(self, description: &'static str, keywords: &'static str) -> Self {
        self.text("zh", description, keywords)
    }

    /// Says the same in another language, given as a BCP 47 tag.
    pub fn text(mut self, lang: &'static str, description: &'static str, keywords: &'static str) -> Self {
        self.0.texts.push(Text { lang, description, keywords });
        self
    }

    /// Begins the rule for calls in which `argument` has one of `values`: `&["query"]`, `true` or [`ArgumentValues::Absent`].
    pub fn when(self, argument: &'static str, values: impl Into<ArgumentValues>) -> NeedsEffect {
        NeedsEffect(self.0, argument, values.into())
    }

    /// Every call only reads.
    pub fn reads(self) -> Tool {
        self.0.rule(None, Effect::Read)
    }

    /// Every call may write.
    pub fn writes(self) -> Tool {
        self.0.rule(None, Effect::Write)
    }

    /// Every call is destructive or costs money.
    pub fn destructive(self) -> Tool {
        self.0.rule(None, Effect::Destructive)
    }
}

/// A conditional rule that lacks its effect.
#[derive(Debug)]
#[must_use]
pub struct NeedsEffect(Tool, &'static str, ArgumentValues);

impl NeedsEffect {
    /// Matching calls only read.
    pub fn reads(self) -> NeedsLastRule {
        self.rule(Effect::Read)
    }

    /// Matching calls may write.
    pub fn writes(self) -> NeedsLastRule {
        self.rule(Effect::Write)
    }

    /// Matching calls are destructive or cost money.
    pub fn destructive(self) -> NeedsLastRule {
        self.rule(Effect::Destructive)
    }

    fn rule(self, effect: Effect) -> NeedsLastRule {
        NeedsLastRule(self.0.rule(Some((self.1, self.2)), effect))
    }
}

/// A declaration with conditional rules that lacks the rule for all other calls.
#[derive(Debug)]
#[must_use]
pub struct NeedsLastRule(Tool);

impl NeedsLastRule {
    /// Adds a requirement to the conditional rule just given.
    pub fn requires(mut self, requirement: Requirement<'static>) -> Self {
        self.0.require(requirement);
        self
    }

    /// Begins a further conditional rule. Rules are tried in the order in which they were given.
    pub fn when(self, argument: &'static str, values: impl Into<ArgumentValues>) -> NeedsEffect {
        NeedsEffect(self.0, argument, values.into())
    }

    /// All other calls only read.
    pub fn reads(self) -> Tool {
        self.0.rule(None, Effect::Read)
    }

    /// All other calls may write.
    pub fn writes(self) -> Tool {
        self.0.rule(None, Effect::Write)
    }

    /// All other calls are destructive or cost money.
    pub fn destructive(self) -> Tool {
        self.0.rule(None, Effect::Destructive)
    }
}
