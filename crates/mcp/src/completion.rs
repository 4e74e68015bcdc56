use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::argument_reading::ArgumentReading;
use crate::fault::{RpcFault, quoted};
use crate::json::{RawMembers, kind, string};
use crate::message::Params;
use crate::revision::Revision;

/// Strings by name: the arguments of a prompt, the variables of a resource.
pub type StringMap = BTreeMap<String, String>;

/// Completes a value, given the state, the text typed so far, and the other arguments.
pub type Complete<S> = fn(&S, &str, &StringMap) -> Completion;

/// Suggested values, collected from an iterator, best first: the first 100 and the total number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    values: Vec<String>,
    total: usize,
}

const MAX_VALUES: usize = 100;

const EXAMPLE: &str =
    concat!(r#"for example {"ref":{"type":"ref/prompt","name":"…"},"#, r#""argument":{"name":"…","value":"…"}}"#);

/// A request for completion.
pub(crate) struct CompletionRequest<'a> {
    pub(crate) target: CompletionTarget<'a>,
    pub(crate) argument: Cow<'a, str>,
    pub(crate) typed: Cow<'a, str>,
    pub(crate) known: StringMap,
}

/// The prompt or resource of the argument.
pub(crate) enum CompletionTarget<'a> {
    Prompt(Cow<'a, str>),
    Resource(Cow<'a, str>),
}

impl<'a> CompletionRequest<'a> {
    pub(crate) fn read(params: &Params<'a>, revision: Revision) -> Result<Self, RpcFault> {
        Self::parse(params).map_err(|detail| RpcFault::malformed(revision, format!("{detail}; {EXAMPLE}")))
    }

    fn parse(params: &Params<'a>) -> Result<Self, String> {
        let [kind, name, uri] = object_members(params.reference, ["type", "name", "uri"], "ref")?;
        let target = match (kind.and_then(string).as_deref(), name.and_then(string), uri.and_then(string)) {
            (Some("ref/prompt"), Some(name), _) => CompletionTarget::Prompt(name),
            (Some("ref/resource"), _, Some(uri)) => CompletionTarget::Resource(uri),
            _ => return Err("params.ref must be a ref/prompt with a name or a ref/resource with a uri".to_owned()),
        };
        let [name, value] = object_members(params.argument, ["name", "value"], "argument")?;
        match (name.and_then(string), value.and_then(string)) {
            (Some(argument), Some(typed)) => {
                Ok(Self { target, argument, typed, known: known_arguments(params.context, params.reading)? })
            }
            _ => Err("params.argument needs the strings name and value".to_owned()),
        }
    }
}

/// Returns the values of these names in a member of `params`. The member must be an object.
fn object_members<'a, const N: usize>(
    member: Option<&'a RawValue>,
    names: [&'static str; N],
    member_name: &str,
) -> Result<[Option<&'a RawValue>; N], String> {
    match member.map(|raw| RawMembers::read(raw.get(), names)) {
        Some(Ok(members)) => Ok(members.values),
        _ => Err(format!("params.{member_name} must be an object")),
    }
}

/// Returns `context.arguments`, if the client sent it.
fn known_arguments(context: Option<&RawValue>, reading: ArgumentReading) -> Result<StringMap, String> {
    let Some(context) = context else { return Ok(StringMap::new()) };
    let [arguments] = RawMembers::<1>::read(context.get(), ["arguments"])
        .map_err(|_| format!("params.context must be an object, got {}", kind(context)))?
        .values;
    let Some(arguments) = reading.value(arguments) else { return Ok(StringMap::new()) };
    let known: BTreeMap<String, Option<String>> = serde_json::from_str(arguments.get()).map_err(|_| not_strings())?;
    if !reading.is_lenient() && known.values().any(Option::is_none) {
        return Err(not_strings());
    }
    Ok(known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

fn not_strings() -> String {
    "params.context.arguments must contain strings".to_owned()
}

impl<T: ToString> FromIterator<T> for Completion {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut all = all.into_iter();
        let values: Vec<_> = all.by_ref().take(MAX_VALUES).map(|value| value.to_string()).collect();
        Self { total: values.len() + all.count(), values }
    }
}

impl Completion {
    /// Returns the member `completion` of the result.
    pub(crate) fn quoted(&self) -> Value {
        json!({ "values": self.values, "total": self.total, "hasMore": self.total > self.values.len() })
    }
}

/// Creates the error for an unknown name in `completion/complete`.
pub(crate) fn unknown(what: &str, name: &str) -> RpcFault {
    RpcFault::params(format!("{what} {} is unknown; the lists have all that are", quoted(name)))
}
