//! JSON text as it crosses the boundary, and what is said when it does not fit a type.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use core::fmt;

/// JSON text in the contract's I-JSON profile: at most 262,144 bytes and 32 levels deep, integers within 2^53 - 1.
///
/// Text that a plugin only hands on stays text, so that it is neither parsed nor printed again.
///
/// ```
/// use loopwright_sdk::Json;
///
/// let text = Json::of(&vec![1, 2, 3])?;
/// assert_eq!(text.as_str(), "[1,2,3]");
/// let numbers: Vec<u8> = text.parse()?;
/// assert_eq!(numbers, [1, 2, 3]);
/// # Ok::<(), loopwright_sdk::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Json(String);

impl Json {
    /// Prints a value. A float that is not finite has no JSON form and prints as `null`.
    ///
    /// # Errors
    /// When the value has no JSON form, such as a map whose keys are not strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, ShapeError> {
        match serde_json::to_string(value) {
            Ok(text) => Ok(Self(text)),
            Err(error) => Err(ShapeError::unprintable(&error)),
        }
    }

    /// Reads the text as a `T`.
    ///
    /// # Errors
    /// When it does not fit: the error points at the field.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ShapeError> {
        match serde_json::from_str(&self.0) {
            Ok(value) => Ok(value),
            Err(error) => Err(ShapeError::locate(&self.0, &error)),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, given away.
    #[cfg_attr(not(target_family = "wasm"), expect(dead_code, reason = "only the export glue hands text to the host"))]
    pub(crate) fn into_string(self) -> String {
        self.0
    }

    /// Text that a plugin kept as bytes; whether it is JSON is for [`parse`](Self::parse) to say.
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Result<Self, ShapeError> {
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self(text)),
            Err(error) => Err(ShapeError { pointer: String::new(), message: format!("expected JSON text: {error}") }),
        }
    }

    /// Text that came from the host, which has checked it.
    #[cfg_attr(
        not(target_family = "wasm"),
        expect(dead_code, reason = "only the export glue takes text from the host")
    )]
    pub(crate) fn from_host(text: String) -> Self {
        Self(text)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Self(value.to_string())
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self(value.to_string())
    }
}

/// A JSON text and a Rust type that do not fit each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    /// The JSON pointer of the place, such as `/level`; empty for the whole text or where the place is not known.
    pub pointer: String,
    /// What was expected and what was found there.
    pub message: String,
}

impl ShapeError {
    #[cold]
    fn unprintable(error: &serde_json::Error) -> Self {
        Self { pointer: String::new(), message: error.to_string() }
    }

    /// Finds the place of a parse error by reading the text up to where the parser stopped.
    #[cold]
    fn locate(text: &str, error: &serde_json::Error) -> Self {
        let whole = error.to_string();
        let message = match whole.rfind(" at line ") {
            Some(end) => whole.get(..end).unwrap_or(&whole).to_owned(),
            None => whole,
        };
        let pointer = match error.line() {
            0 => String::new(),
            line => pointer_at(text, offset_of(text, line, error.column())),
        };
        Self { pointer, message }
    }

    /// The first name of the pointer: the argument, where the text was a call's arguments.
    pub(crate) fn field(&self) -> Option<String> {
        let name = self.pointer.strip_prefix('/')?.split('/').next()?;
        Some(name.replace("~1", "/").replace("~0", "~"))
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => formatter.write_str(&self.message),
            pointer => write!(formatter, "`{pointer}`: {}", self.message),
        }
    }
}

impl core::error::Error for ShapeError {}

/// The byte offset of a one-based line and column.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column).min(text.len())
}

/// One level of nesting on the way to a place.
enum Level {
    Object(Option<String>),
    Array(usize),
}

/// The JSON pointer of the value that is being read at byte `end` of `text`.
fn pointer_at(text: &str, end: usize) -> String {
    let mut levels: Vec<Level> = Vec::new();
    let mut last_string = String::new();
    let mut bytes = text.bytes().enumerate();
    while let Some((_, byte)) = bytes.next().filter(|(at, _)| *at < end) {
        match byte {
            b'{' => levels.push(Level::Object(None)),
            b'[' => levels.push(Level::Array(0)),
            b'}' | b']' => {
                levels.pop();
            }
            b'"' => last_string = string_from(&mut bytes),
            b':' => {
                if let Some(Level::Object(key)) = levels.last_mut() {
                    *key = Some(core::mem::take(&mut last_string));
                }
            }
            b',' => match levels.last_mut() {
                Some(Level::Object(key)) => *key = None,
                Some(Level::Array(index)) => *index += 1,
                None => {}
            },
            _ => {}
        }
    }
    render(&levels)
}

/// The rest of a string whose opening quote was read. Escapes other than quotes and backslashes stay as they are written.
fn string_from(bytes: &mut impl Iterator<Item = (usize, u8)>) -> String {
    let mut string = Vec::new();
    while let Some((_, byte)) = bytes.next() {
        match byte {
            b'"' => break,
            b'\\' => string.extend(bytes.next().map(|(_, escaped)| escaped)),
            other => string.push(other),
        }
    }
    String::from_utf8_lossy(&string).into_owned()
}

/// Prints levels as a pointer, up to the first object whose key is not known yet.
fn render(levels: &[Level]) -> String {
    let mut pointer = String::new();
    for level in levels {
        match level {
            Level::Object(None) => break,
            Level::Object(Some(key)) => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Level::Array(index) => {
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the shape matters")]
    struct Outer {
        level: u8,
        #[serde(default)]
        rows: Vec<Row>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only the shape matters")]
    struct Row {
        name: String,
    }

    fn error(text: &str) -> ShapeError {
        Json(text.to_owned()).parse::<Outer>().unwrap_err()
    }

    #[test]
    fn a_wrong_type_is_located_by_its_field() {
        assert_eq!(error(r#"{"rows":[], "level" : "x"}"#).pointer, "/level");
        assert_eq!(error(r#"{"level":300}"#).pointer, "/level");
        assert_eq!(error("{\n  \"level\": true\n}").pointer, "/level");
    }

    #[test]
    fn a_nested_place_is_located_by_index_and_name() {
        let text = r#"{"level":1,"rows":[{"name":"a,b:{\"[\\"},{"name":7}]}"#;
        assert_eq!(error(text).pointer, "/rows/1/name");
        assert_eq!(error(text).field().as_deref(), Some("rows"));
    }

    #[test]
    fn missing_and_unknown_fields_are_named_in_the_message() {
        assert_eq!(error("{}").to_string(), "missing field `level`");
        let unknown = error(r#"{"level":1,"levle":2}"#);
        assert!(unknown.message.starts_with("unknown field `levle`"), "{unknown}");
        assert_eq!(error(r#"{"level":1,"rows":[{}]}"#).pointer, "/rows/0");
    }

    #[test]
    fn a_message_carries_no_line_and_column() {
        assert!(!error(r#"{"level":"x"}"#).message.contains("line"));
    }

    #[test]
    fn names_with_slashes_are_escaped_and_given_back() {
        let found: Result<std::collections::BTreeMap<String, u8>, _> = Json(r#"{"a/b~c":"x"}"#.to_owned()).parse();
        let error = found.unwrap_err();
        assert_eq!(error.pointer, "/a~1b~0c");
        assert_eq!(error.field().as_deref(), Some("a/b~c"));
    }

    #[test]
    fn a_value_without_a_json_form_is_an_error() {
        let map = std::collections::BTreeMap::from([(vec![1_u8], 1_u8)]);
        assert!(Json::of(&map).is_err());
    }
}
