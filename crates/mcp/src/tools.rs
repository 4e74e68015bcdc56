use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::fault::{Fault, shown};
use crate::json::{Object, kind, string};
use crate::message::Params;
use crate::{Arguments, Call, Revision, Structured, Tool, ToolError};

/// The tools of a server, in the order in which they are listed.
#[derive(Debug)]
pub(crate) struct Tools<S>(Vec<Tool<S>>);

/// How a call ended.
pub(crate) enum Outcome {
    Done(Structured),
    /// Told to the model: what went wrong and what to do about it.
    Failed(String),
}

impl<S> Default for Tools<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S> Tools<S> {
    pub(crate) fn add(&mut self, tool: Tool<S>) {
        let name = tool.name;
        let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        assert!((1..=128).contains(&name.len()) && name.chars().all(fits), "{name:?} is no name for a tool");
        assert!(self.find(name).is_none(), "two tools are called {name:?}");
        self.0.push(tool);
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|tool| tool.name)
    }

    /// The result of `tools/list`.
    pub(crate) fn listed(&self) -> Value {
        json!({ "tools": self.0.iter().map(Tool::listed).collect::<Vec<_>>() })
    }

    pub(crate) fn call(&self, state: &S, params: &Params<'_>, call: &Call<'_>) -> Result<Outcome, Fault> {
        let tool = self.named(params.name, call.revision)?;
        let result = match arguments(tool, params.arguments, call.revision)? {
            // A panic is a fault like any other: it costs one reply, not the connection and all that runs on it.
            Ok(arguments) => catch_unwind(AssertUnwindSafe(|| (tool.call)(state, &arguments, call)))
                .unwrap_or_else(|_| Err(ToolError::internal("the tool panicked"))),
            Err(bad) => Err(ToolError::BadArgument(bad)),
        };
        match result {
            Ok(structured) => Ok(Outcome::Done(structured)),
            Err(ToolError::BadArgument(detail)) if call.revision < Revision::V2025_11_25 => Err(Fault::params(detail)),
            Err(ToolError::BadArgument(detail)) => Ok(Outcome::Failed(Fault::params(detail).message())),
            Err(ToolError::Failed(text)) => Ok(Outcome::Failed(text)),
            Err(ToolError::Internal(source)) => {
                let error: &(dyn Error + 'static) = &*source;
                tracing::error!(tool = tool.name, request_id = call.request_id, error, "tool failed");
                Err(Fault::internal(call.request_id))
            }
        }
    }

    fn find(&self, name: &str) -> Option<&Tool<S>> {
        self.0.iter().find(|tool| tool.name == name)
    }

    fn named(&self, name: Option<&RawValue>, revision: Revision) -> Result<&Tool<S>, Fault> {
        let Some(name) = name.and_then(string) else {
            let got = name.map_or("nothing", kind);
            let detail = format!("params.name must be the name of a tool, got {got}; {}", self.advice());
            return Err(Fault::malformed(revision, detail));
        };
        self.find(&name)
            .ok_or_else(|| Fault::params(format!("params.name: there is no tool {}; {}", shown(&name), self.advice())))
    }

    fn advice(&self) -> String {
        let names: Vec<_> = self.names().collect();
        match self.0.first() {
            Some(tool) => format!("the tools are {}; {}", names.join(", "), tool.example()),
            None => "this server has none".to_owned(),
        }
    }
}

/// The arguments of a call. The outer error is a request of the wrong shape; the inner one a value that is JSON but
/// cannot be held, which is a bad argument.
fn arguments<S>(
    tool: &Tool<S>,
    sent: Option<&RawValue>,
    revision: Revision,
) -> Result<Result<Arguments, String>, Fault> {
    let Some(sent) = sent else { return Ok(Ok(Arguments::new())) };
    if kind(sent) != "an object" {
        let (got, example) = (kind(sent), tool.example());
        let detail = format!("params.arguments must be an object, got {got}; {example}");
        return Err(Fault::malformed(revision, detail));
    }
    match serde_json::from_str::<Object>(sent.get()) {
        Ok(Object { repeated: Some(name), .. }) => {
            let name = shown(&name);
            Err(Fault::request(format!("params.arguments has {name} twice; send it once, {}", tool.example())))
        }
        Ok(object) => Ok(Ok(object.members)),
        // serde_json has no kind of its own for this error; a test holds the words.
        Err(e) if e.to_string().starts_with("recursion limit") => {
            Err(Fault::request("params.arguments is nested more than 127 levels deep; flatten it"))
        }
        Err(e) => Ok(Err(format!("params.arguments: {e}; {}", tool.example()))),
    }
}
