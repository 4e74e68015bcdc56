use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::fault::{RpcFault, quoted};
use crate::json::{RawMembers, kind, string};
use crate::message::Params;
use crate::revision::Revision;

/// Texts by name: the arguments of a prompt, the variables of a resource.
pub type Texts = BTreeMap<String, String>;

/// What a half-typed value could become: a function of the state, what is typed so far, and the arguments that are
/// known already.
pub type Complete<S> = fn(&S, &str, &Texts) -> Completion;

/// Values to choose from, collected from an iterator, best first: the first 100, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    values: Vec<String>,
    total: usize,
}

const MAX_VALUES: usize = 100;

const EXAMPLE: &str =
    concat!(r#"for example {"ref":{"type":"ref/prompt","name":"…"},"#, r#""argument":{"name":"…","value":"…"}}"#);

/// What is to be completed.
pub(crate) struct CompletionRequest<'a> {
    pub(crate) of: CompletionTarget<'a>,
    pub(crate) argument: std::borrow::Cow<'a, str>,
    pub(crate) typed: std::borrow::Cow<'a, str>,
    pub(crate) known: Texts,
}

/// What the argument belongs to.
pub(crate) enum CompletionTarget<'a> {
    Prompt(std::borrow::Cow<'a, str>),
    Resource(std::borrow::Cow<'a, str>),
}

impl<'a> CompletionRequest<'a> {
    pub(crate) fn read(params: &Params<'a>, revision: Revision) -> Result<Self, RpcFault> {
        let malformed = |what: &str| RpcFault::malformed(revision, format!("{what}; {EXAMPLE}"));
        let members = |raw: Option<&'a RawValue>, names, what| {
            let read = raw.and_then(|raw| RawMembers::<3>::read(raw.get(), names).ok());
            read.map(|members| members.values).ok_or_else(|| malformed(&format!("params.{what} must be an object")))
        };
        let [kind, name, uri] = members(params.reference, ["type", "name", "uri"], "ref")?;
        let of = match (kind.and_then(string).as_deref(), name.and_then(string), uri.and_then(string)) {
            (Some("ref/prompt"), Some(name), _) => CompletionTarget::Prompt(name),
            (Some("ref/resource"), _, Some(uri)) => CompletionTarget::Resource(uri),
            _ => return Err(malformed("params.ref must be a ref/prompt with a name or a ref/resource with a uri")),
        };
        let [name, value, _] = members(params.argument, ["name", "value", ""], "argument")?;
        let (Some(argument), Some(typed)) = (name.and_then(string), value.and_then(string)) else {
            return Err(malformed("params.argument needs the strings name and value"));
        };
        Ok(Self { of, argument, typed, known: known_arguments(params.context).map_err(|what| malformed(&what))? })
    }
}

/// `context.arguments`, where a client sends it.
fn known_arguments(context: Option<&RawValue>) -> Result<Texts, String> {
    let Some(context) = context else { return Ok(Texts::new()) };
    let [arguments] = RawMembers::<1>::read(context.get(), ["arguments"])
        .map_err(|_| format!("params.context must be an object, got {}", kind(context)))?
        .values;
    let Some(arguments) = arguments else { return Ok(Texts::new()) };
    serde_json::from_str(arguments.get()).map_err(|_| "params.context.arguments must contain strings".to_owned())
}

impl<T: ToString> FromIterator<T> for Completion {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut all = all.into_iter();
        let values: Vec<_> = all.by_ref().take(MAX_VALUES).map(|value| value.to_string()).collect();
        Self { total: values.len() + all.count(), values }
    }
}

impl Completion {
    /// The `completion` member of the result.
    pub(crate) fn quoted(&self) -> Value {
        json!({ "values": self.values, "total": self.total, "hasMore": self.total > self.values.len() })
    }
}

/// A name in `completion/complete` that is nowhere.
pub(crate) fn unknown(what: &str, name: &str) -> RpcFault {
    RpcFault::params(format!("{what} {} is unknown; the lists have all that are", quoted(name)))
}
