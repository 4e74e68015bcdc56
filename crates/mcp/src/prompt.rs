use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::completion::{Complete, Completion, Texts, unknown};
use crate::content::{Content, Icon};
use crate::fault::{RpcFault, quoted};
use crate::handler::Handler;
use crate::json::kind;
use crate::list::PagedList;
use crate::message::Params;
use crate::outcome::{CallOutcome, settle};

/// A way to begin a conversation, which people choose from a menu.
#[derive(Debug)]
pub struct Prompt<S> {
    /// What it is called by, unique in its server.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// What it is good for.
    pub description: &'static str,
    /// What it asks for.
    pub arguments: Vec<PromptArgument<S>>,
    /// By which people recognise it.
    pub icons: Vec<Icon>,
    /// The messages that it begins with, given its arguments: the required ones are there, others may be.
    pub get: Handler<S, Texts, Vec<PromptMessage>>,
}

/// Something a prompt asks for; always a text.
#[derive(Debug)]
pub struct PromptArgument<S> {
    /// What it is called by.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// What to write there.
    pub description: &'static str,
    /// Whether the prompt needs it.
    pub required: bool,
    /// How it is completed while somebody types.
    pub complete: Option<Complete<S>>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

/// Who says something in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
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
    /// Something the person says.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, content: Content::Text(text.into()) }
    }
}

impl<S> Prompt<S> {
    fn entry(&self) -> Value {
        let argument = |argument: &PromptArgument<S>| {
            json!({ "name": argument.name, "title": argument.title, "description": argument.description,
                    "required": argument.required })
        };
        let arguments: Vec<_> = self.arguments.iter().map(argument).collect();
        let mut entry = json!({ "name": self.name, "title": self.title, "description": self.description,
                                "arguments": arguments });
        if !self.icons.is_empty() {
            entry["icons"] = json!(self.icons);
        }
        entry
    }

    /// The arguments sent, if they are those the prompt asks for.
    fn arguments(&self, params: &Params<'_>, call: &Call<'_>) -> Result<Texts, RpcFault> {
        let asked = || match &*self.arguments {
            [] => "it takes none".to_owned(),
            some => format!("it takes {}", some.iter().map(|one| one.name).collect::<Vec<_>>().join(", ")),
        };
        let mut texts = Texts::new();
        if let Some(sent) = params.arguments.filter(|sent| kind(sent) != "null") {
            let sent: Map<String, Value> = serde_json::from_str(sent.get()).map_err(|_| {
                RpcFault::malformed(call.revision, format!("params.arguments must be an object, got {}", kind(sent)))
            })?;
            for (name, value) in sent {
                let known = self.arguments.iter().any(|argument| argument.name == name);
                match value {
                    Value::String(text) if known => texts.insert(name, text),
                    _ if known => {
                        return Err(RpcFault::params(format!("the argument {} must be a string", quoted(&name))));
                    }
                    _ => return Err(RpcFault::params(format!("there is no argument {}; {}", quoted(&name), asked()))),
                };
            }
        }
        let missing = self.arguments.iter().find(|argument| argument.required && !texts.contains_key(argument.name));
        match missing {
            Some(missing) => {
                Err(RpcFault::params(format!("the argument \"{}\" is missing; {}", missing.name, asked())))
            }
            None => Ok(texts),
        }
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

    pub(crate) fn complete_anything(&self) -> bool {
        self.all.iter().flat_map(|prompt| &prompt.arguments).any(|argument| argument.complete.is_some())
    }

    pub(crate) fn complete(
        &self,
        state: &S,
        name: &str,
        (argument, typed): (&str, &str),
        known: &Texts,
    ) -> Result<Completion, RpcFault> {
        let prompt = self.find(name).ok_or_else(|| unknown("the prompt", name))?;
        let found = prompt.arguments.iter().find(|one| one.name == argument);
        let found = found.ok_or_else(|| unknown("the argument", argument))?;
        Ok(found.complete.map(|complete| complete(state, typed, known)).unwrap_or_default())
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
        Ok(match settle(got, prompt.name, call, RpcFault::params)? {
            CallOutcome::Done(messages) => {
                CallOutcome::Done(json!({ "description": prompt.description, "messages": messages }))
            }
            CallOutcome::Input(asked) => CallOutcome::Input(asked),
        })
    }
}
