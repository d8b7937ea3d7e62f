//! How a call ends that does not do what was asked: a refusal with a reason, or a fault of the plugin.

use core::fmt;

use serde_json::{Map, Value};

use crate::json::ShapeError;
use crate::state::StateError;

/// The code of a refusal: what kind of reason it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(u16);

impl Code {
    /// 400: an argument is wrong.
    pub const BAD_ARGUMENT: Self = Self(400);
    /// 403: a permission is missing.
    pub const DENIED: Self = Self(403);
    /// 404: the thing that was named does not exist.
    pub const NOT_FOUND: Self = Self(404);
    /// 409: the state speaks against it.
    pub const CONFLICT: Self = Self(409);
    /// 412: something must hold first, such as a network or a screen that is on.
    pub const PRECONDITION: Self = Self(412);
    /// 422: several things fit the words; `data.candidates` lists them.
    pub const AMBIGUOUS: Self = Self(422);
    /// 423: the device is locked, or the user has to confirm.
    pub const LOCKED: Self = Self(423);
    /// 429: a limit is reached.
    pub const LIMIT: Self = Self(429);
    /// 503: the service behind the tool is down.
    pub const UNAVAILABLE: Self = Self(503);
    /// 504: the service behind the tool did not answer in time.
    pub const TIMED_OUT: Self = Self(504);

    /// The number, as the contract documents it.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// A number that another plugin chose.
    #[cfg_attr(not(target_family = "wasm"), expect(dead_code, reason = "only the imports carry foreign codes"))]
    pub(crate) const fn from_host(code: u16) -> Self {
        Self(code)
    }
}

/// A fault of the plugin or of the data under it: nothing that a planner could mend by calling differently.
///
/// On the host it becomes an entry in the log and a trap: the call's writes are rolled back, and the trajectory records the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(String);

impl Fault {
    /// A fault, told to the log: what was attempted, on what, expected against found.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// What the log is told.
    pub fn message(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl core::error::Error for Fault {}

/// State that a plugin cannot reach is a fault where there is no way to refuse, as in a skill's check.
impl From<StateError> for Fault {
    fn from(error: StateError) -> Self {
        Self(error.to_string())
    }
}

impl From<ShapeError> for Fault {
    fn from(error: ShapeError) -> Self {
        Self(error.to_string())
    }
}

/// Why a call did not do what was asked. The host rolls back its writes.
///
/// Each constructor stands for one code of the contract and takes what a planner needs for its next try: what was found, and what is
/// allowed or has to be done first. [`with_allowed`](Self::with_allowed), [`with_candidates`](Self::with_candidates) and
/// [`with_data`](Self::with_data) add facts.
///
/// ```
/// use loopwright_sdk::{Code, Failure};
///
/// let failure = Failure::bad_argument("level", "0 to 100", 130);
/// assert_eq!(failure.code(), Some(Code::BAD_ARGUMENT));
/// assert_eq!(failure.message(), "argument `level` is 130, expected 0 to 100");
/// ```
///
/// # Errors of the state
/// `?` turns a [`StateError`] into a failure by this rule:
///
/// | state error | failure |
/// |---|---|
/// | `Denied` | 403, naming the collection |
/// | `NotFound` (a patch of an absent document) | 404 |
/// | `Conflict` | 409 |
/// | `Limit` | 429, naming the limit |
/// | `Invalid`, `Other`, `Shape`, `Missing` | a [`Fault`]: the plugin, or the data under it, is broken |
#[derive(Clone, Debug, PartialEq)]
pub struct Failure(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Refused { code: Code, message: String, data: Option<Value> },
    Fault(Fault),
}

/// The values that an argument may have: a description such as `"0 to 100"`, or a closed list.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowed(Value);

impl From<&str> for Allowed {
    fn from(description: &str) -> Self {
        Self(description.into())
    }
}

impl From<String> for Allowed {
    fn from(description: String) -> Self {
        Self(description.into())
    }
}

impl From<&[&str]> for Allowed {
    fn from(values: &[&str]) -> Self {
        Self(values.to_vec().into())
    }
}

impl<const N: usize> From<&[&str; N]> for Allowed {
    fn from(values: &[&str; N]) -> Self {
        Self(values.to_vec().into())
    }
}

impl<const N: usize> From<[&str; N]> for Allowed {
    fn from(values: [&str; N]) -> Self {
        Self(values.to_vec().into())
    }
}

impl From<Vec<String>> for Allowed {
    fn from(values: Vec<String>) -> Self {
        Self(values.into())
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Value::String(description) => formatter.write_str(description),
            Value::Array(values) => formatter.write_str(&listed(values)),
            other => write!(formatter, "{other}"),
        }
    }
}

/// Values as people read a list: each in backticks.
fn listed(values: &[Value]) -> String {
    let quoted: Vec<String> = values.iter().map(quoted).collect();
    match quoted.as_slice() {
        [] => "nothing (there is none)".to_owned(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} or {last}", head.join(", ")),
    }
}

fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => other.to_string(),
    }
}

impl Failure {
    /// 400: `argument` has a value that it must not have. `found` may be `None` where it is absent.
    ///
    /// ```
    /// use loopwright_sdk::Failure;
    ///
    /// let failure = Failure::bad_argument("mode", ["ring", "vibrate", "silent"], "loud");
    /// assert_eq!(failure.message(), "argument `mode` is `loud`, expected `ring`, `vibrate` or `silent`");
    /// assert_eq!(failure.data().and_then(|data| data.pointer("/allowed/2")), Some(&"silent".into()));
    /// ```
    pub fn bad_argument(argument: &str, allowed: impl Into<Allowed>, found: impl Into<Value>) -> Self {
        let (allowed, found) = (allowed.into(), found.into());
        let message = match &found {
            Value::Null => format!("argument `{argument}` is missing, expected {allowed}"),
            found => format!("argument `{argument}` is {}, expected {allowed}", quoted(found)),
        };
        Self::refused(Code::BAD_ARGUMENT, message)
            .with_data("argument", argument)
            .with_data("found", found)
            .with_data("allowed", allowed.0)
    }

    /// 400: `argument` is absent, and `needed_by` (such as "action `create`") cannot do without it. `allowed` says what it may be.
    pub fn missing_argument(argument: &str, allowed: impl Into<Allowed>, needed_by: &str) -> Self {
        let allowed = allowed.into();
        Self::refused(
            Code::BAD_ARGUMENT,
            format!("argument `{argument}` is missing: {needed_by} needs it, expected {allowed}"),
        )
        .with_data("argument", argument)
        .with_data("allowed", allowed.0)
    }

    /// 400: the arguments do not fit the handler's type. The host validates first, so only a caller without a host sees this.
    pub(crate) fn malformed_arguments(error: &ShapeError) -> Self {
        let failure = Self::refused(Code::BAD_ARGUMENT, format!("arguments do not fit: {error}"));
        match error.field() {
            Some(argument) => failure.with_data("argument", argument),
            None => failure,
        }
    }

    /// 403: `what` is not permitted; `remedy` says who can permit it.
    pub fn denied(what: &str, remedy: &str) -> Self {
        Self::refused(Code::DENIED, format!("{what} is not permitted: {remedy}"))
    }

    /// 404: there is no `what` (such as "note") called `found`. Add [`with_allowed`](Self::with_allowed) where the names are few.
    pub fn not_found(what: &str, found: impl Into<Value>) -> Self {
        let found = found.into();
        Self::refused(Code::NOT_FOUND, format!("there is no {what} {}", quoted(&found))).with_data("found", found)
    }

    /// 409: `found` is the state that speaks against the call, `remedy` what to do first.
    pub fn conflict(found: &str, remedy: &str) -> Self {
        Self::refused(Code::CONFLICT, format!("{found}: {remedy}"))
    }

    /// 412: `found` is what does not hold yet, `remedy` what to do first.
    pub fn precondition(found: &str, remedy: &str) -> Self {
        Self::refused(Code::PRECONDITION, format!("{found}: {remedy}"))
    }

    /// 422: several things fit what `argument` says; each candidate should carry an id that the next call can name.
    pub fn ambiguous<C: Into<Value>>(
        argument: &str,
        found: impl Into<Value>,
        candidates: impl IntoIterator<Item = C>,
    ) -> Self {
        let found = found.into();
        let candidates: Vec<Value> = candidates.into_iter().map(Into::into).collect();
        let message = format!(
            "argument `{argument}` is {}, which fits {}: name one of `candidates`",
            quoted(&found),
            candidates.len()
        );
        Self::refused(Code::AMBIGUOUS, message).with_data("argument", argument).with_candidates(candidates)
    }

    /// 423: `found` (such as "the screen is locked") keeps the call from running; `remedy` says what to do first.
    pub fn locked(found: &str, remedy: &str) -> Self {
        Self::refused(Code::LOCKED, format!("{found}: {remedy}"))
    }

    /// 423: the user has to confirm `what` before it runs.
    pub fn confirmation_needed(what: &str) -> Self {
        Self::refused(
            Code::LOCKED,
            format!("{what} needs the user's confirmation: ask the user, then repeat the same call"),
        )
        .with_data("confirmation", true)
    }

    /// 429: `what` is limited to `allowed`, and the call would make it `found`.
    pub fn limit(what: &str, allowed: impl Into<Value>, found: impl Into<Value>) -> Self {
        let (allowed, found) = (allowed.into(), found.into());
        Self::refused(Code::LIMIT, format!("{what} is limited to {}, found {}", quoted(&allowed), quoted(&found)))
            .with_data("allowed", allowed)
            .with_data("found", found)
    }

    /// 503: the service `what` behind the tool is down.
    pub fn unavailable(what: &str) -> Self {
        Self::refused(Code::UNAVAILABLE, format!("{what} is down: try again later"))
    }

    /// 504: the service `what` behind the tool did not answer in time.
    pub fn timed_out(what: &str) -> Self {
        Self::refused(Code::TIMED_OUT, format!("{what} did not answer in time: try again later"))
    }

    /// A fault of the plugin: the host logs `message` and records a trap.
    pub fn fault(message: impl Into<String>) -> Self {
        Self(Kind::Fault(Fault::new(message)))
    }

    /// Appends the values that would have been right, to the message and as `data.allowed`.
    #[must_use]
    pub fn with_allowed(self, allowed: impl Into<Allowed>) -> Self {
        let allowed = allowed.into();
        let mut failure = self;
        if let Kind::Refused { message, .. } = &mut failure.0 {
            message.push_str(&format!(", expected {allowed}"));
        }
        failure.with_data("allowed", allowed.0)
    }

    /// Sets `data.candidates`: what the words may have meant.
    #[must_use]
    pub fn with_candidates<C: Into<Value>>(self, candidates: impl IntoIterator<Item = C>) -> Self {
        let candidates: Vec<Value> = candidates.into_iter().map(Into::into).collect();
        self.with_data("candidates", candidates)
    }

    /// Sets one field of `data`. A fault has no data and stays as it is.
    #[must_use]
    pub fn with_data(mut self, key: &str, value: impl Into<Value>) -> Self {
        if let Kind::Refused { data, .. } = &mut self.0 {
            let object = match data {
                Some(Value::Object(object)) => object,
                other => match other.insert(Value::Object(Map::new())) {
                    Value::Object(object) => object,
                    _ => return self,
                },
            };
            object.insert(key.to_owned(), value.into());
        }
        self
    }

    /// The code; none for a fault.
    pub fn code(&self) -> Option<Code> {
        match &self.0 {
            Kind::Refused { code, .. } => Some(*code),
            Kind::Fault(_) => None,
        }
    }

    /// What was wrong, where, and what is allowed.
    pub fn message(&self) -> &str {
        match &self.0 {
            Kind::Refused { message, .. } => message,
            Kind::Fault(fault) => fault.message(),
        }
    }

    /// The facts for the next try.
    pub fn data(&self) -> Option<&Value> {
        match &self.0 {
            Kind::Refused { data, .. } => data.as_ref(),
            Kind::Fault(_) => None,
        }
    }

    /// The fault, where it is one.
    pub fn as_fault(&self) -> Option<&Fault> {
        match &self.0 {
            Kind::Refused { .. } => None,
            Kind::Fault(fault) => Some(fault),
        }
    }

    fn refused(code: Code, message: String) -> Self {
        Self(Kind::Refused { code, message, data: None })
    }

    /// A refusal as another plugin or the host gave it.
    pub(crate) fn from_host(code: Code, message: String, data: Option<Value>) -> Self {
        Self(Kind::Refused { code, message, data })
    }

    /// The refusal's parts, or the fault.
    #[cfg_attr(not(target_family = "wasm"), expect(dead_code, reason = "only the export glue takes a failure apart"))]
    pub(crate) fn into_parts(self) -> Result<(Code, String, Option<Value>), Fault> {
        match self.0 {
            Kind::Refused { code, message, data } => Ok((code, message, data)),
            Kind::Fault(fault) => Err(fault),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Refused { code, message, .. } => write!(formatter, "{}: {message}", code.get()),
            Kind::Fault(fault) => write!(formatter, "fault: {fault}"),
        }
    }
}

impl core::error::Error for Failure {}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self(Kind::Fault(fault))
    }
}

/// A value that has no JSON form, or a document that is not what the plugin wrote, is a fault.
impl From<ShapeError> for Failure {
    fn from(error: ShapeError) -> Self {
        Self(Kind::Fault(error.into()))
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        let message = error.to_string();
        match error {
            StateError::Denied { collection } => {
                Self::refused(Code::DENIED, message).with_data("collection", collection)
            }
            StateError::NotFound { .. } => Self::refused(Code::NOT_FOUND, message),
            StateError::Conflict { .. } => Self::refused(Code::CONFLICT, message),
            StateError::Limit(_) => Self::refused(Code::LIMIT, message),
            StateError::Invalid(_) | StateError::Other(_) | StateError::Shape { .. } | StateError::Missing { .. } => {
                Self::fault(message)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_constructor_has_its_documented_code() {
        let codes = [
            (Failure::bad_argument("a", "b", 1), 400),
            (Failure::missing_argument("a", "b", "c"), 400),
            (Failure::denied("reading contacts", "grant it"), 403),
            (Failure::not_found("note", "n"), 404),
            (Failure::conflict("a", "b"), 409),
            (Failure::precondition("a", "b"), 412),
            (Failure::ambiguous("a", "b", ["c"]), 422),
            (Failure::locked("a", "b"), 423),
            (Failure::confirmation_needed("a"), 423),
            (Failure::limit("a", 1, 2), 429),
            (Failure::unavailable("a"), 503),
            (Failure::timed_out("a"), 504),
        ];
        for (failure, code) in codes {
            assert_eq!(failure.code().map(Code::get), Some(code), "{failure}");
        }
    }

    #[test]
    fn messages_name_the_argument_what_was_found_and_what_is_allowed() {
        let absent: Option<u8> = None;
        let cases = [
            (Failure::bad_argument("level", "0 to 100", absent), "argument `level` is missing, expected 0 to 100"),
            (Failure::bad_argument("on", ["a"], true), "argument `on` is true, expected `a`"),
            (
                Failure::missing_argument("title", "a text", "action `create`"),
                "argument `title` is missing: action `create` needs it, expected a text",
            ),
            (
                Failure::not_found("folder", "Wrok").with_allowed(["Work", "Home"]),
                "there is no folder `Wrok`, expected `Work` or `Home`",
            ),
            (Failure::limit("a title", 80, 81), "a title is limited to 80, found 81"),
            (
                Failure::ambiguous("name", "Li", [json!({"id": 1}), json!({"id": 2})]),
                "argument `name` is `Li`, which fits 2: name one of `candidates`",
            ),
        ];
        for (failure, message) in cases {
            assert_eq!(failure.message(), message);
        }
    }

    #[test]
    fn data_carries_allowed_and_candidates() {
        let failure = Failure::not_found("note", "n-9").with_allowed(vec!["n-1".to_owned()]);
        assert_eq!(failure.data(), Some(&json!({"found": "n-9", "allowed": ["n-1"]})));
        let failure = Failure::ambiguous("name", "Li", ["a", "b"]);
        assert_eq!(failure.data(), Some(&json!({"argument": "name", "candidates": ["a", "b"]})));
    }

    #[test]
    fn data_that_is_no_object_gives_way_to_one() {
        let failure = Failure::from_host(Code::CONFLICT, "x".into(), Some(json!([1]))).with_data("a", 1);
        assert_eq!(failure.data(), Some(&json!({"a": 1})));
    }

    #[test]
    fn state_errors_refuse_or_fault_by_the_table() {
        let place = || ("notes".to_owned(), "n-1".to_owned());
        let (collection, key) = place();
        let shape = ShapeError { pointer: "/a".into(), message: "b".into() };
        let cases = [
            (StateError::Denied { collection: collection.clone() }, Some(403)),
            (StateError::NotFound { collection: collection.clone(), key: key.clone() }, Some(404)),
            (StateError::Conflict { collection: collection.clone(), key: key.clone() }, Some(409)),
            (StateError::Limit("bytes".into()), Some(429)),
            (StateError::Invalid("key".into()), None),
            (StateError::Other("x".into()), None),
            (StateError::Missing { collection: collection.clone(), key: key.clone() }, None),
            (StateError::Shape { collection, key, error: shape }, None),
        ];
        for (error, code) in cases {
            let failure = Failure::from(error.clone());
            assert_eq!(failure.code().map(Code::get), code, "{error}");
            assert_eq!(failure.as_fault().is_some(), code.is_none());
            assert_eq!(failure.message(), error.to_string());
        }
    }

    #[test]
    fn a_fault_has_no_data() {
        assert_eq!(Failure::fault("x").with_data("a", 1).data(), None);
    }
}
