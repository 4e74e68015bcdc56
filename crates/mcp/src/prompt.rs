use serde::Serialize;
use serde_json::{Value, json};

use crate::argument_reading::CLIENT_ARGUMENTS;
use crate::call::Call;
use crate::completion::{Complete, Completion, StringMap, unknown};
use crate::content::{Content, Icon};
use crate::fault::{RpcFault, quoted};
use crate::handler::Handler;
use crate::json::{StrictObject, kind};
use crate::list::PagedList;
use crate::message::Params;
use crate::outcome::{CallOutcome, call_outcome};
use crate::tool::Arguments;

/// A prompt: the start of a conversation, chosen by people from a menu.
#[derive(Debug)]
pub struct Prompt<S> {
    /// Its name, unique in the server.
    pub name: &'static str,
    /// Its title for people.
    pub title: &'static str,
    /// Its purpose.
    pub description: &'static str,
    /// Its arguments.
    pub arguments: Vec<PromptArgument<S>>,
    /// Its icons.
    pub icons: Vec<Icon>,
    /// Returns the messages for the arguments. All required arguments are present.
    pub get: Handler<S, StringMap, Vec<PromptMessage>>,
}

/// An argument of a prompt, always a text.
#[derive(Debug)]
pub struct PromptArgument<S> {
    /// Its name.
    pub name: &'static str,
    /// Its title for people.
    pub title: &'static str,
    /// Its description.
    pub description: &'static str,
    /// Whether it is required.
    pub required: bool,
    /// Completes it, if supported.
    pub complete: Option<Complete<S>>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptMessage {
    /// The author.
    pub role: Role,
    /// The content.
    pub content: Content,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// The prompts of a server.
#[derive(Debug)]
pub(crate) struct Prompts<S> {
    all: Vec<Prompt<S>>,
    pub(crate) listed: PagedList,
}

impl PromptMessage {
    /// Creates a message of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, content: Content::Text(text.into()) }
    }
}

impl<S> Prompt<S> {
    /// Returns the entry of `prompts/list`.
    fn entry(&self) -> Value {
        let arguments: Vec<_> = self.arguments.iter().map(PromptArgument::entry).collect();
        let mut entry = json!({ "name": self.name, "title": self.title, "description": self.description,
                                "arguments": arguments });
        if !self.icons.is_empty() {
            entry["icons"] = json!(self.icons);
        }
        entry
    }

    /// Returns the sent arguments after checking names and types.
    fn arguments(&self, params: &Params<'_>, call: &Call<'_>) -> Result<StringMap, RpcFault> {
        let is_lenient = params.reading.is_lenient();
        let mut texts = StringMap::new();
        for (name, value) in Self::sent(params, call)? {
            let Some(argument) = self.arguments.iter().find(|argument| argument.name == name) else {
                if is_lenient && CLIENT_ARGUMENTS.contains(&&*name) {
                    continue;
                }
                let detail = format!("there is no argument {}; {}", quoted(&name), self.advice());
                return Err(RpcFault::params(detail));
            };
            if is_lenient && !argument.required && (value.is_null() || value == "") {
                continue;
            }
            let Value::String(text) = value else {
                return Err(RpcFault::params(format!("the argument {} must be a string", quoted(&name))));
            };
            texts.insert(name, text);
        }
        for argument in &self.arguments {
            if argument.required && !texts.contains_key(argument.name) {
                let detail = format!("the argument \"{}\" is missing; {}", argument.name, self.advice());
                return Err(RpcFault::params(detail));
            }
        }
        Ok(texts)
    }

    /// Parses `params.arguments`. Absent arguments and `null` are an empty map.
    fn sent(params: &Params<'_>, call: &Call<'_>) -> Result<Arguments, RpcFault> {
        let Some(sent) = params.arguments.filter(|sent| kind(sent) != "null") else { return Ok(Arguments::new()) };
        let not_an_object =
            |got: &str| RpcFault::malformed(call.revision, format!("params.arguments must be an object, got {got}"));
        let json = params.reading.object_json(sent).map_err(not_an_object)?;
        let object: StrictObject = serde_json::from_str(&json).map_err(|_| not_an_object("invalid JSON"))?;
        match object.repeated.filter(|_| params.reading.is_lenient()) {
            Some(name) => {
                let detail = format!("params.arguments has {} twice; send it once", quoted(&name));
                Err(RpcFault::request(detail))
            }
            None => Ok(object.members),
        }
    }

    /// Returns the names of the arguments, for error texts.
    fn advice(&self) -> String {
        match &*self.arguments {
            [] => "it takes none".to_owned(),
            some => format!("it takes {}", some.iter().map(|one| one.name).collect::<Vec<_>>().join(", ")),
        }
    }
}

impl<S> PromptArgument<S> {
    fn entry(&self) -> Value {
        json!({ "name": self.name, "title": self.title, "description": self.description, "required": self.required })
    }
}

impl<S> Default for Prompts<S> {
    fn default() -> Self {
        Self { all: Vec::new(), listed: PagedList::new("prompts") }
    }
}

impl<S> Prompts<S> {
    pub(crate) fn add(&mut self, prompt: Prompt<S>) {
        assert!(self.find(prompt.name).is_none(), "two prompts are called {:?}", prompt.name);
        self.listed.push(prompt.entry());
        self.all.push(prompt);
    }

    pub(crate) fn has_completions(&self) -> bool {
        self.all.iter().flat_map(|prompt| &prompt.arguments).any(|argument| argument.complete.is_some())
    }

    pub(crate) fn complete(
        &self,
        state: &S,
        name: &str,
        (argument, typed): (&str, &str),
        known: &StringMap,
    ) -> Result<Completion, RpcFault> {
        let Some(prompt) = self.find(name) else {
            return Err(unknown("the prompt", name));
        };
        let Some(argument) = prompt.arguments.iter().find(|one| one.name == argument) else {
            return Err(unknown("the argument", argument));
        };
        Ok(argument.complete.map(|complete| complete(state, typed, known)).unwrap_or_default())
    }

    fn find(&self, name: &str) -> Option<&Prompt<S>> {
        self.all.iter().find(|prompt| prompt.name == name)
    }
}

impl<S: Sync> Prompts<S> {
    pub(crate) async fn get(
        &self,
        state: &S,
        params: &Params<'_>,
        call: &Call<'_>,
    ) -> Result<CallOutcome<Value>, RpcFault> {
        let name = params.name("a prompt", call.revision)?;
        let prompt = self.find(&name).ok_or_else(|| {
            let all: Vec<_> = self.all.iter().map(|prompt| prompt.name).collect();
            RpcFault::params(format!("params.name: there is no prompt {}; there are {}", quoted(&name), all.join(", ")))
        })?;
        let arguments = prompt.arguments(params, call)?;
        let got = prompt.get.run(state, &arguments, call).await;
        Ok(match call_outcome(got, prompt.name, call, RpcFault::params)? {
            CallOutcome::Done(messages) => {
                CallOutcome::Done(json!({ "description": prompt.description, "messages": messages }))
            }
            CallOutcome::Input(asked) => CallOutcome::Input(asked),
        })
    }
}
