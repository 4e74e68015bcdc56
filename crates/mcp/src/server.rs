use ::http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::fault::{Fault, shown};
use crate::message::{Message, NotAMessage, Params};
use crate::reply::{Cacheable, CallResult, rendered};
use crate::tools::Tools;
use crate::{Call, Context, Reply, Revision, Tool};

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
    /// What every result of a stateless revision says about the server.
    meta: Box<RawValue>,
    tools: Tools<S>,
    tools_listed: Cacheable,
}

impl<S> Server<S> {
    /// A server without tools.
    #[must_use]
    pub fn new(info: Info) -> Self {
        let meta = rendered(&json!({ "io.modelcontextprotocol/serverInfo": info }));
        let tools = Tools::default();
        Self { tools_listed: Cacheable::new(tools.listed(), &meta), info, meta, tools }
    }

    /// The server with one more tool, listed last.
    ///
    /// # Panics
    /// If the name is taken, or is not 1 to 128 of `A-Z a-z 0-9 _ - .`.
    #[must_use]
    pub fn tool(mut self, tool: Tool<S>) -> Self {
        self.tools.add(tool);
        self.tools_listed = Cacheable::new(self.tools.listed(), &self.meta);
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
        match (&*message.method, revision.is_stateless()) {
            ("tools/call", stateless) => {
                let call = Call { revision, request_id: context.request_id };
                let outcome = self.tools.call(state, &params, &call)?;
                Ok(Reply::result(id, &CallResult::new(&outcome, stateless.then_some(&*self.meta))))
            }
            ("tools/list", _) => {
                params.check_first_page()?;
                Ok(Reply::result(id, self.tools_listed.at(revision)))
            }
            ("server/discover", true) => Ok(Reply::result(id, self.discover().at(revision))),
            ("initialize", false) => self.initialize(&params, id),
            ("ping", false) => Ok(Reply::result(id, &json!({}))),
            (method, _) => Err(unknown_method(method, revision)),
        }
    }

    fn discover(&self) -> Cacheable {
        let versions = Revision::ALL.map(Revision::as_str);
        Cacheable::new(self.introduced(json!({ "supportedVersions": versions })), &self.meta)
    }

    fn initialize(&self, params: &Params<'_>, id: &RawValue) -> Result<Reply, Fault> {
        let revision = Revision::negotiate(params.protocol_version()?.as_deref());
        let result = self.introduced(json!({ "protocolVersion": revision.as_str(), "serverInfo": self.info }));
        Ok(Reply { negotiated: Some(revision), ..Reply::result(id, &result) })
    }

    /// `result` with what both ways of getting to know a server tell.
    fn introduced(&self, mut result: Value) -> Value {
        result["capabilities"] = json!({ "tools": {} });
        if let Some(instructions) = &self.info.instructions {
            result["instructions"] = json!(instructions);
        }
        result
    }
}

fn unknown_method(method: &str, revision: Revision) -> Fault {
    let served = if revision.is_stateless() { "server/discover" } else { "initialize, ping" };
    let method = shown(method);
    Fault::method(
        revision,
        format!("{method} is not served; at revision {revision} try {served}, tools/list, tools/call"),
    )
}
