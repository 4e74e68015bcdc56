//! Arguments of tools. Each is declared once; its schema, its parser and its help on the command line are generated
//! from the declaration. An error text contains the argument, its value, the allowed values, and a valid call.

use serde_json::{Map, Value, json};
use signpost_mcp::CallError;

use super::kinds::{ArgumentKind, Constant, Integer, Number};
use super::similar_name::similar_name;

/// Maximum characters of a value in an error text.
const MAX_SHOWN_CHARS: usize = 80;

/// An optional argument.
#[derive(Debug)]
pub struct Argument<K> {
    name: &'static str,
    description: &'static str,
    kind: K,
}

/// An optional argument with a default value.
#[derive(Debug)]
pub struct WithDefault<K: ArgumentKind> {
    argument: Argument<K>,
    default: K::Value,
}

/// A required argument.
#[derive(Debug)]
pub struct Required<K>(Argument<K>);

/// An argument in the schema of a tool.
pub(super) trait Declared {
    fn name(&self) -> &'static str;
    fn schema(&self) -> Value;

    fn is_required(&self) -> bool {
        false
    }
}

/// An argument that is read from a call.
pub(super) trait FromCall: Declared {
    type Value;

    /// Parses the value, if any.
    fn read(&self, sent: Option<&Value>, call: &CallArguments<'_>) -> Result<Self::Value, CallError>;
}

impl<K: ArgumentKind> Argument<K> {
    pub(crate) const fn new(name: &'static str, description: &'static str, kind: K) -> Self {
        Self { name, description, kind }
    }

    pub(crate) const fn or(self, default: K::Value) -> WithDefault<K> {
        WithDefault { argument: self, default }
    }

    pub(crate) const fn required(self) -> Required<K> {
        Required(self)
    }
}

impl<K: ArgumentKind<Value: Copy>> WithDefault<K> {
    /// Returns the default value.
    #[must_use]
    pub const fn default(&self) -> K::Value {
        self.default
    }
}

impl<K> Required<K> {
    /// Returns the argument for calls that may leave it out although the schema requires it.
    pub(super) const fn optional(&self) -> &Argument<K> {
        &self.0
    }
}

impl WithDefault<Integer> {
    /// Returns the minimum and the maximum for the help of a command, such as `1 to 50`.
    #[must_use]
    pub fn range(&self) -> String {
        let Integer { min, max } = self.argument.kind;
        format!("{min} to {max}")
    }
}

impl WithDefault<Number> {
    /// Returns the minimum and the maximum with their unit for the help of a command, such as `1 to 100 miles`.
    #[must_use]
    pub fn range(&self) -> String {
        let Number { unit, min, max } = self.argument.kind;
        format!("{min} to {max} {unit}")
    }
}

impl<K: ArgumentKind> Declared for Argument<K> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn schema(&self) -> Value {
        let mut schema = self.kind.schema();
        schema["description"] = self.description.into();
        schema
    }
}

impl<K: Constant> Declared for WithDefault<K> {
    fn name(&self) -> &'static str {
        self.argument.name
    }

    fn schema(&self) -> Value {
        let mut schema = self.argument.schema();
        schema["default"] = self.argument.kind.write(&self.default);
        schema
    }
}

impl<K: ArgumentKind> Declared for Required<K> {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn schema(&self) -> Value {
        self.0.schema()
    }

    fn is_required(&self) -> bool {
        true
    }
}

impl<K: ArgumentKind> FromCall for Argument<K> {
    type Value = Option<K::Value>;

    fn read(&self, sent: Option<&Value>, call: &CallArguments<'_>) -> Result<Self::Value, CallError> {
        let Some(sent) = sent else { return Ok(None) };
        self.kind.read(sent).map(Some).ok_or_else(|| call.refuse(self, &self.kind.allowed()))
    }
}

impl<K: Constant<Value: Copy>> FromCall for WithDefault<K> {
    type Value = K::Value;

    fn read(&self, sent: Option<&Value>, call: &CallArguments<'_>) -> Result<K::Value, CallError> {
        Ok(self.argument.read(sent, call)?.unwrap_or(self.default))
    }
}

impl<K: ArgumentKind> FromCall for Required<K> {
    type Value = K::Value;

    fn read(&self, sent: Option<&Value>, call: &CallArguments<'_>) -> Result<K::Value, CallError> {
        self.0.read(sent, call)?.ok_or_else(|| call.bad(&format!("{} is required", self.0.name)))
    }
}

/// Returns the schema of a tool's arguments. `example` is a valid call.
pub(super) fn schema(arguments: &[&dyn Declared], example: &str) -> Value {
    let properties: Map<_, _> =
        arguments.iter().map(|argument| (argument.name().to_owned(), argument.schema())).collect();
    let required: Vec<_> =
        arguments.iter().filter(|argument| argument.is_required()).map(|argument| argument.name()).collect();
    let example: Value = serde_json::from_str(example).expect("an example is JSON");
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
        "examples": [example],
    })
}

/// The arguments of a call. All of them are declared by the tool.
pub(super) struct CallArguments<'a> {
    sent: &'a Map<String, Value>,
    example: &'static str,
}

impl<'a> CallArguments<'a> {
    /// Checks that all arguments of a call are declared. `example` is a valid call of the tool.
    pub(super) fn declared(
        sent: &'a Map<String, Value>,
        all: &[&dyn Declared],
        example: &'static str,
    ) -> Result<Self, CallError> {
        let arguments = Self { sent, example };
        match sent.keys().find(|name| all.iter().all(|argument| argument.name() != **name)) {
            None => Ok(arguments),
            Some(unknown) => {
                let names: Vec<_> = all.iter().map(|argument| argument.name()).collect();
                Err(arguments.unknown(unknown, &names))
            }
        }
    }

    /// Returns the value of an argument. `null` counts as absent, as some clients send it.
    pub(super) fn get<T: FromCall>(&self, argument: &T) -> Result<T::Value, CallError> {
        argument.read(self.sent.get(argument.name()).filter(|value| !value.is_null()), self)
    }

    /// Returns the value of an argument as it was sent.
    pub(super) fn sent(&self, argument: &impl Declared) -> Option<&'a Value> {
        self.sent.get(argument.name())
    }

    /// Returns the error for an invalid argument.
    pub(super) fn refuse(&self, argument: &impl Declared, allowed: &str) -> CallError {
        let name = argument.name();
        let received = self.sent(argument).map(shorten).unwrap_or_default();
        self.bad(&format!("{name} must be {allowed}, received {received}"))
    }

    /// Returns an error with this reason and a valid call.
    pub(super) fn bad(&self, reason: &str) -> CallError {
        CallError::InvalidArgument(format!("{reason}; for example {}", self.example))
    }

    /// Returns the error for an unknown argument; `names` are the names of the declared arguments.
    fn unknown(&self, unknown: &str, names: &[&str]) -> CallError {
        let shown: String = signpost_text::clean_line(unknown).chars().take(MAX_SHOWN_CHARS).collect();
        let allowed = names.join(", ");
        match similar_name(unknown, names) {
            Some(name) => {
                self.bad(&format!("there is no argument '{shown}', did you mean '{name}'? Allowed are {allowed}"))
            }
            None => self.bad(&format!("there is no argument '{shown}'; allowed are {allowed}")),
        }
    }
}

/// Returns a received value as JSON on one line, shortened for an error text.
pub(super) fn shorten(received: &Value) -> String {
    let json = received.to_string();
    let line = signpost_text::clean_line(&json);
    let mut shown: String = line.chars().take(MAX_SHOWN_CHARS).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}
