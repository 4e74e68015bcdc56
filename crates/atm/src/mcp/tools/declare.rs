//! Arguments of tools. Each is declared once; its schema, its parser and its help on the command line are generated
//! from the declaration. An error text contains the argument, its value, the allowed values, and a valid call.

use serde_json::{Map, Value, json};
use signpost_mcp::CallError;

use super::kinds::{ArgumentKind, Constant, Integer, Number};

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

/// The arguments of a call. Each is removed when it is read; the rest are unknown.
pub(super) struct CallArguments<'a> {
    sent: &'a Map<String, Value>,
    taken: Vec<&'static str>,
    example: &'static str,
}

impl<'a> CallArguments<'a> {
    /// `example` is a valid call of the tool.
    pub(super) fn new(sent: &'a Map<String, Value>, example: &'static str) -> Self {
        // Enough for every tool.
        Self { sent, taken: Vec::with_capacity(12), example }
    }

    /// Returns the value of an argument. `null` counts as absent, as some clients send it.
    pub(super) fn take<T: FromCall>(&mut self, argument: &T) -> Result<T::Value, CallError> {
        self.taken.push(argument.name());
        argument.read(self.sent.get(argument.name()).filter(|value| !value.is_null()), self)
    }

    /// Returns the value of an argument as it was sent.
    pub(super) fn sent(&self, argument: &impl Declared) -> Option<&'a Value> {
        self.sent.get(argument.name())
    }

    /// Returns the error for an invalid argument.
    pub(super) fn refuse(&self, argument: &impl Declared, allowed: &str) -> CallError {
        let name = argument.name();
        let text = self.sent(argument).map(Value::to_string).unwrap_or_default();
        let text = signpost_text::clean_line(&text);
        let mut shown: String = text.chars().take(MAX_SHOWN_CHARS).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        self.bad(&format!("{name} must be {allowed}, received {shown}"))
    }

    /// Returns an error with this reason and a valid call.
    pub(super) fn bad(&self, reason: &str) -> CallError {
        CallError::InvalidArgument(format!("{reason}; for example {}", self.example))
    }

    /// Checks that no unknown argument is left.
    pub(super) fn done(self) -> Result<(), CallError> {
        let Some(unknown) = self.sent.keys().find(|name| !self.taken.contains(&name.as_str())) else { return Ok(()) };
        let unknown: String = signpost_text::clean_line(unknown).chars().take(MAX_SHOWN_CHARS).collect();
        Err(self.bad(&format!("there is no argument '{unknown}'; allowed are {}", self.taken.join(", "))))
    }
}
