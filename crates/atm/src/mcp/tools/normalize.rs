//! Lenient reading of the arguments of real clients: values with a single meaning are converted to the types of the
//! schema. All other values are left to the declared arguments, which reject them.

use serde_json::{Map, Number, Value};
use signpost_mcp::{Arguments, CLIENT_ARGUMENTS, NormalizedArguments};

use super::declare::shorten;
use super::kinds::{ArgumentKind, Integer};

/// Maximum length of a number that is sent as text, in characters.
const MAX_NUMBER_CHARS: usize = 32;

/// Maximum length of a list that is sent as JSON text, in bytes. The longest list of IDs is shorter.
const MAX_LIST_BYTES: usize = 1024;

/// Whole numbers below are ZIP codes as `location`: they have five digits, and a number has lost its leading zeros.
const ZIP_CODES: u64 = 100_000;

/// The largest exact integer of `f64`, 2^53.
const MAX_EXACT: u64 = 1 << 53;

/// Converts the arguments of a call to the types of `schema`, the schema of its tool:
///
/// - text with a JSON number, `true`, `false` or a JSON array becomes that value if the schema requires its type;
/// - a number as `location` becomes text, a whole number below 100,000 a ZIP code of five digits;
/// - `null` and empty text of optional arguments are removed, and so are `lat: 0, lon: 0` beside a `location`;
/// - arguments that client libraries add ([`CLIENT_ARGUMENTS`]) are removed if the tool does not declare them.
///
/// # Errors
/// The text for the caller if a number is required and the text is none.
pub(crate) fn normalize(schema: &Value, sent: Arguments) -> Result<NormalizedArguments, String> {
    let mut arguments = Map::new();
    for (name, value) in sent {
        let Some(declared) = schema["properties"].get(&name) else {
            if !CLIENT_ARGUMENTS.contains(&name.as_str()) {
                arguments.insert(name, value);
            }
            continue;
        };
        if is_blank(&value) && !is_required(schema, &name) {
            continue;
        }
        let value = convert(&name, declared, value).map_err(|reason| with_example(&reason, schema))?;
        arguments.insert(name, value);
    }
    let mut notices = Vec::new();
    if let Some(location) = arguments.get_mut("location")
        && let Value::Number(number) = location
    {
        let (text, notice) = location_text(number);
        *location = Value::String(text);
        notices.extend(notice);
    }
    if arguments.contains_key("location") && is_zero(arguments.get("lat")) && is_zero(arguments.get("lon")) {
        arguments.remove("lat");
        arguments.remove("lon");
    }
    Ok(NormalizedArguments { arguments, notices })
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value == ""
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().into_iter().flatten().any(|required| required == name)
}

fn is_zero(value: Option<&Value>) -> bool {
    value.and_then(Value::as_f64) == Some(0.0)
}

/// Converts text to the type that the schema of the argument requires, also in arrays.
fn convert(name: &str, declared: &Value, value: Value) -> Result<Value, String> {
    match (declared["type"].as_str(), value) {
        (Some("number" | "integer"), Value::String(text)) => number(name, text),
        (Some("boolean"), Value::String(text)) if text == "true" || text == "false" => Ok(Value::Bool(text == "true")),
        (Some("array"), Value::String(text)) => match list(&text) {
            Some(items) => convert_items(name, declared, items),
            None => Ok(Value::String(text)),
        },
        (Some("array"), Value::Array(items)) => convert_items(name, declared, items),
        (_, value) => Ok(value),
    }
}

fn convert_items(name: &str, declared: &Value, items: Vec<Value>) -> Result<Value, String> {
    let items = items.into_iter().map(|item| convert(name, &declared["items"], item));
    Ok(Value::Array(items.collect::<Result<_, _>>()?))
}

/// Parses text with a JSON array. Some clients send lists in this form.
fn list(text: &str) -> Option<Vec<Value>> {
    if text.len() > MAX_LIST_BYTES || !text.starts_with('[') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// Parses text with a JSON number (RFC 8259, section 6): no space, sign `+`, leading zero, `NaN` or hexadecimal digits.
fn number(name: &str, text: String) -> Result<Value, String> {
    let has_number_ends = text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && text.ends_with(|last: char| last.is_ascii_digit());
    if has_number_ends
        && text.len() <= MAX_NUMBER_CHARS
        && let Ok(number) = serde_json::from_str(&text)
    {
        return Ok(Value::Number(number));
    }
    let received = shorten(&Value::String(text));
    Err(format!(
        "{name} must be a number such as 10 or -97.74, or text with such a number in at most {MAX_NUMBER_CHARS} \
         characters, received {received}"
    ))
}

/// Returns a number as the text of a location, and the notice about added zeros.
fn location_text(number: &Number) -> (String, Option<String>) {
    let whole = Integer { min: 0, max: MAX_EXACT }.read(&Value::Number(number.clone()));
    let Some(whole) = whole else { return (number.to_string(), None) };
    if whole >= ZIP_CODES {
        return (whole.to_string(), None);
    }
    let zip_code = format!("{whole:05}");
    let has_lost_zeros = zip_code != whole.to_string();
    let notice = has_lost_zeros.then(|| {
        format!("The number {whole} as location was read as the ZIP code {zip_code}; send text to avoid this.")
    });
    (zip_code, notice)
}

/// Appends a valid call to an error text.
fn with_example(reason: &str, schema: &Value) -> String {
    format!("{reason}; for example {}", schema["examples"][0])
}

#[cfg(test)]
#[path = "normalize_tests.rs"]
mod tests;
