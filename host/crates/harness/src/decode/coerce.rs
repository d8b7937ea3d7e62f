//! The one repair: text that spells the value which the schema asks for, such as `"5"` for 5, is taken as that value, and logged.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use loopwright_contract::json::{JsonLimits, parse};
use loopwright_contract::trajectory::Coercion;
use serde_json::Value;

use super::schema::Schema;

/// Repairs in one call; more is no slip.
const REPAIRS_MAX: usize = 32;

/// Tries to repair arguments that do not validate. Some: the repaired arguments, which validate, and what was changed.
pub(crate) fn repair(tool: &str, schema: &Schema, arguments: &Value) -> Option<(Value, Vec<Coercion>)> {
    let mut repaired = arguments.clone();
    let mut coercions = Vec::new();
    for error in schema.validator.iter_errors(arguments) {
        let Some(to) = spelled(&error) else { continue };
        let at = error.instance_path().as_str();
        if coercions.len() == REPAIRS_MAX {
            return None;
        }
        let place = repaired.pointer_mut(at)?;
        let from = std::mem::replace(place, to.clone());
        coercions.push(Coercion { tool: tool.to_owned(), at: at.to_owned(), from, to });
    }
    // The order of errors follows the schema's keys, whose order means nothing.
    coercions.sort_by(|left, right| left.at.cmp(&right.at));
    coercions.dedup_by(|left, right| left.at == right.at);
    (!coercions.is_empty() && schema.validator.is_valid(&repaired)).then_some((repaired, coercions))
}

/// The value that the text at an error spells, when it is of a type that the schema asks for there.
fn spelled(error: &ValidationError<'_>) -> Option<Value> {
    let text = error.instance().as_str()?;
    let value =
        parse(text.trim(), &JsonLimits::CONTRACT).ok().filter(|value| !value.is_string() && !value.is_null())?;
    let fits = match error.kind() {
        ValidationErrorKind::Type { kind: TypeKind::Single(wanted) } => is(&value, *wanted),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(wanted) } => wanted.contains_value_type(&value),
        ValidationErrorKind::Enum { options } => options.as_array().is_some_and(|options| options.contains(&value)),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => true,
        _ => false,
    };
    fits.then_some(value)
}

fn is(value: &Value, wanted: JsonType) -> bool {
    match wanted {
        JsonType::Array => value.is_array(),
        JsonType::Boolean => value.is_boolean(),
        // Normal values hold whole numbers as integers.
        JsonType::Integer => value.is_i64() || value.is_u64(),
        JsonType::Number => value.is_number(),
        JsonType::Object => value.is_object(),
        JsonType::Null | JsonType::String => false,
    }
}
