use ::http::StatusCode;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::fault::{Fault, shown};
use crate::message::{Message, NotAMessage, Params};
use crate::reply::CallResult;
use crate::tools::Tools;
use crate::{Call, Context, Reply, Revision, Tool};

/// For how long a client may keep what never changes while the process lives.
const TTL_MILLIS: u32 = 300_000;

/// Who the server is.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    /// A name for programs.
    pub name: String,
    /// A name for people.
    pub title: String,
    /// A semantic version.
    pub version: String,
    /// Where people read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// What a model should know before it uses the tools: which comes first, which units, what to beware of.
    #[serde(skip)]
    pub instructions: Option<String>,
}

/// A server: who it is and what it can do, over a state `S` that its tools read.
///
/// It knows nothing of transports; [`Server::answer`] turns one message into one reply, and [`router`](crate::router)
/// and [`serve_stdio`](crate::serve_stdio) carry them.
#[derive(Debug)]
pub struct Server<S> {
    info: Info,
    tools: Tools<S>,
    rendered: Rendered,
}

/// What is the same in every reply, rendered once.
#[derive(Debug)]
struct Rendered {
    initialize: [Box<RawValue>; Revision::ALL.len()],
    discover: Box<RawValue>,
    tools: Box<RawValue>,
    tools_stateless: Box<RawValue>,
    meta: Box<RawValue>,
}

impl<S> Server<S> {
    /// A server without tools.
    #[must_use]
    pub fn new(info: Info) -> Self {
        let tools = Tools::default();
        Self { rendered: Rendered::new(&info, &tools), info, tools }
    }

    /// The server with one more tool, listed last.
    ///
    /// # Panics
    /// If the name is taken, or is not 1 to 128 of `A-Z a-z 0-9 _ - .`.
    #[must_use]
    pub fn tool(mut self, tool: Tool<S>) -> Self {
        self.tools.add(tool);
        self.rendered = Rendered::new(&self.info, &self.tools);
        self
    }

    /// Who the server is.
    #[must_use]
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// The names of the tools, as listed.
    pub fn tool_names(&self) -> impl Iterator<Item = &'static str> {
        self.tools.names()
    }

    /// Answers the one message that `body` should be. It never fails: what is wrong with a message is its answer.
    pub fn answer(&self, state: &S, context: &Context<'_>, body: &[u8]) -> Reply {
        let message = match Message::parse(body) {
            Ok(message) => message,
            Err(NotAMessage { id, fault }) => return Reply::fault(&fault, id),
        };
        match message.id {
            None => Self::notified(context),
            Some(id) => self.respond(state, context, &message, id).unwrap_or_else(|fault| Reply::fault(&fault, id)),
        }
    }

    /// Nothing here depends on any notification; all are accepted, for the protocol has them answered with silence.
    fn notified(context: &Context<'_>) -> Reply {
        match context.header_revision() {
            Ok(_) => Reply { status: StatusCode::ACCEPTED, body: None, negotiated: None },
            Err(fault) => Reply::fault(&fault, RawValue::NULL),
        }
    }

    fn respond(&self, state: &S, context: &Context<'_>, message: &Message<'_>, id: &RawValue) -> Result<Reply, Fault> {
        let params = message.params(context.revision_without_body())?;
        let revision = context.revision(message, &params)?;
        let stateless = revision.is_stateless();
        match &*message.method {
            "tools/call" => {
                let call = Call { revision, request_id: context.request_id };
                let outcome = self.tools.call(state, &params, &call)?;
                Ok(Reply::result(id, &CallResult::new(&outcome, stateless.then_some(&*self.rendered.meta))))
            }
            "tools/list" => {
                Tools::<S>::check_cursor(&params)?;
                Ok(Reply::result(id, if stateless { &self.rendered.tools_stateless } else { &self.rendered.tools }))
            }
            "server/discover" if stateless => Ok(Reply::result(id, &self.rendered.discover)),
            "initialize" if !stateless => self.initialize(&params, id),
            "ping" if !stateless => Ok(Reply::result(id, &json!({}))),
            method => Err(unknown_method(method, revision)),
        }
    }

    fn initialize(&self, params: &Params<'_>, id: &RawValue) -> Result<Reply, Fault> {
        let revision = Revision::negotiate(params.protocol_version()?.as_deref());
        let result = &self.rendered.initialize[revision as usize];
        Ok(Reply { negotiated: Some(revision), ..Reply::result(id, result) })
    }
}

fn unknown_method(method: &str, revision: Revision) -> Fault {
    let methods = if revision.is_stateless() {
        "server/discover, tools/list, tools/call"
    } else {
        "initialize, ping, tools/list, tools/call"
    };
    let method = shown(method);
    Fault::method(revision, format!("{method} is not served; the methods of revision {revision} here are {methods}"))
}

impl Rendered {
    fn new<S>(info: &Info, tools: &Tools<S>) -> Self {
        let capabilities = json!({ "tools": {} });
        let meta = json!({ "io.modelcontextprotocol/serverInfo": info });
        let raw = |value: &Value| to_raw_value(value).expect("a value always serialises");
        let with_instructions = |mut value: Value| {
            if let Some(instructions) = &info.instructions {
                value["instructions"] = json!(instructions);
            }
            raw(&value)
        };
        let tools = tools.listed();
        let mut revisions = Revision::ALL;
        revisions.sort_unstable();
        Self {
            initialize: revisions.map(|revision| {
                let version = revision.as_str();
                with_instructions(json!({
                    "protocolVersion": version, "capabilities": capabilities, "serverInfo": info,
                }))
            }),
            discover: with_instructions(json!({
                "resultType": "complete", "supportedVersions": Revision::ALL.map(Revision::as_str),
                "capabilities": capabilities, "ttlMs": TTL_MILLIS, "cacheScope": "public", "_meta": meta,
            })),
            tools: raw(&json!({ "tools": tools })),
            tools_stateless: raw(&json!({
                "resultType": "complete", "tools": tools,
                "ttlMs": TTL_MILLIS, "cacheScope": "public", "_meta": meta,
            })),
            meta: raw(&meta),
        }
    }
}
