use ::http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::completion::{CompletionRequest, CompletionTarget};
use crate::content::Icon;
use crate::context::Context;
use crate::fault::{RpcFault, quoted};
use crate::json::string;
use crate::message::{Message, NotAMessage, Params};
use crate::method::Method;
use crate::notifications::LogLevel;
use crate::outcome::{CallOutcome, settle};
use crate::prompt::{Prompt, Prompts};
use crate::resource::{Resource, Resources};
use crate::response::{Cacheable, RpcResponse, completed, input_required, rendered, tool_response};
use crate::revision::Revision;
use crate::tool::{Arguments, Tool};
use crate::tools::Tools;

/// How many entries a page of a list has, unless it is set.
const PAGE_SIZE: usize = 100;

/// Who the server is.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    /// A name for programs.
    pub name: String,
    /// A name for people.
    pub title: String,
    /// A semantic version.
    pub version: String,
    /// What it is good for, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where people read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// By which people recognise it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// What a model should know before it uses the tools: which comes first, which units, what to beware of.
    #[serde(skip)]
    pub instructions: Option<String>,
}

/// A server: who it is and what it can do, over a state `S` that its handlers read.
///
/// It knows nothing of transports; [`Server::handle`] turns one message into one reply, and [`router`](crate::router)
/// and [`serve_stdio`](crate::serve_stdio) carry them.
#[derive(Debug)]
pub struct Server<S> {
    info: Info,
    /// What every result of a stateless revision says about the server.
    meta: Box<RawValue>,
    page_size: usize,
    tools: Tools<S>,
    resources: Resources<S>,
    prompts: Prompts<S>,
    methods: Vec<Method<S>>,
    /// What it says of each extension that it has.
    extensions: Map<String, Value>,
    logs: bool,
    /// Whether any handler does.
    waits: bool,
}

impl<S> Server<S> {
    /// A server that can do nothing yet.
    #[must_use]
    pub fn new(info: Info) -> Self {
        // It goes with every result, so it holds no more than it must.
        let Info { name, title, version, .. } = &info;
        let meta =
            json!({ "io.modelcontextprotocol/serverInfo": { "name": name, "title": title, "version": version } });
        let meta = rendered(&meta);
        Self {
            info,
            meta,
            page_size: PAGE_SIZE,
            tools: Tools::default(),
            resources: Resources::default(),
            prompts: Prompts::default(),
            methods: Vec::new(),
            extensions: Map::new(),
            logs: false,
            waits: false,
        }
    }

    /// The server with one more tool, listed last.
    ///
    /// # Panics
    /// If the name is taken, or is not 1 to 128 of `A-Z a-z 0-9 _ - .`; if a mark `x-mcp-header` makes no header.
    #[must_use]
    pub fn tool(mut self, tool: Tool<S>) -> Self {
        self.waits |= tool.call.waits();
        self.tools.add(tool);
        self.tools.listed.render(self.page_size, &self.meta);
        self
    }

    /// The server with one more resource or template, listed last.
    ///
    /// # Panics
    /// If its URI is taken.
    #[must_use]
    pub fn resource(mut self, resource: Resource<S>) -> Self {
        self.waits |= resource.read.waits();
        self.resources.add(resource);
        self.resources.listed.render(self.page_size, &self.meta);
        self.resources.templates.render(self.page_size, &self.meta);
        self
    }

    /// The server with one more prompt, listed last.
    ///
    /// # Panics
    /// If its name is taken.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt<S>) -> Self {
        self.waits |= prompt.get.waits();
        self.prompts.add(prompt);
        self.prompts.listed.render(self.page_size, &self.meta);
        self
    }

    /// The server with one more method. What this crate serves by itself comes first.
    #[must_use]
    pub fn method(mut self, method: Method<S>) -> Self {
        self.waits |= method.call.waits();
        self.methods.push(method);
        self
    }

    /// The server saying that it has an extension of the protocol, such as `io.modelcontextprotocol/ui`, and how. What the
    /// extension adds to tools and resources stands in their `meta`.
    #[must_use]
    pub fn extension(mut self, name: &'static str, settings: Map<String, Value>) -> Self {
        self.extensions.insert(name.to_owned(), Value::Object(settings));
        self
    }

    /// The server saying that it logs to its clients ([`Call::log`]), and taking `logging/setLevel` where there is one.
    #[must_use]
    pub fn logs(mut self) -> Self {
        self.logs = true;
        self
    }

    /// The server with lists in pages of `size` entries, at least one; 100 unless set.
    #[must_use]
    pub fn page_size(mut self, size: usize) -> Self {
        self.page_size = size.max(1);
        self.tools.listed.render(self.page_size, &self.meta);
        self.resources.listed.render(self.page_size, &self.meta);
        self.resources.templates.render(self.page_size, &self.meta);
        self.prompts.listed.render(self.page_size, &self.meta);
        self
    }

    /// Who the server is.
    #[must_use]
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// The tools, as listed.
    pub fn tools(&self) -> impl Iterator<Item = &Tool<S>> {
        self.tools.iter()
    }

    /// What the server tells clients that it can do.
    #[must_use]
    pub fn capabilities(&self) -> Value {
        let mut capabilities = json!({});
        let completes = self.prompts.complete_anything() || self.resources.complete_anything();
        for (name, is_there) in [
            ("tools", !self.tools.listed.is_empty()),
            ("resources", !self.resources.is_empty()),
            ("prompts", !self.prompts.listed.is_empty()),
            ("completions", completes),
            ("logging", self.logs),
        ] {
            if is_there {
                capabilities[name] = json!({});
            }
        }
        if !self.extensions.is_empty() {
            capabilities["extensions"] = json!(self.extensions);
        }
        capabilities
    }

    /// Whether an answer may take longer than computing it.
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    fn discover(&self) -> Cacheable {
        let versions = Revision::ALL.map(Revision::as_str);
        Cacheable::new(self.introduced(json!({ "supportedVersions": versions })), &self.meta)
    }

    fn initialize(&self, params: &Params<'_>, id: &RawValue) -> Result<RpcResponse, RpcFault> {
        let revision = Revision::negotiate(params.protocol_version()?.as_deref());
        let result = self.introduced(json!({ "protocolVersion": revision.as_str(), "serverInfo": self.info }));
        let capabilities = params.capabilities.map(ToOwned::to_owned);
        Ok(RpcResponse { negotiated: Some(revision), capabilities, ..RpcResponse::result(id, &result) })
    }

    /// `result` with what both ways of getting to know a server tell.
    fn introduced(&self, mut result: Value) -> Value {
        result["capabilities"] = self.capabilities();
        if let Some(instructions) = &self.info.instructions {
            result["instructions"] = json!(instructions);
        }
        result
    }

    fn complete(&self, state: &S, params: &Params<'_>, revision: Revision) -> Result<Value, RpcFault> {
        let CompletionRequest { of, argument, typed, known } = CompletionRequest::read(params, revision)?;
        let asked = (&*argument, &*typed);
        let values = match of {
            CompletionTarget::Prompt(name) => self.prompts.complete(state, &name, asked, &known),
            CompletionTarget::Resource(uri) => self.resources.complete(state, &uri, asked, &known),
        };
        Ok(json!({ "completion": values?.quoted() }))
    }

    /// The methods served at a revision, for whoever asked for another.
    fn unknown_method(&self, method: &str, revision: Revision) -> RpcFault {
        let served = if revision.is_stateless() { "server/discover, ping" } else { "initialize, ping" };
        let mut all = vec![served.to_owned()];
        for (list, names) in [
            (!self.tools.listed.is_empty(), "tools/list, tools/call"),
            (!self.resources.is_empty(), "resources/list, resources/templates/list, resources/read"),
            (!self.prompts.listed.is_empty(), "prompts/list, prompts/get"),
        ] {
            if list {
                all.push(names.to_owned());
            }
        }
        let (method, all) = (quoted(method), all.join(", "));
        RpcFault::method(revision, format!("{method} is not supported; at revision {revision} try {all}"))
    }
}

impl<S: Sync> Server<S> {
    /// Handles the one message that `body` should be. It never fails: an error is a response too.
    pub async fn handle(&self, state: &S, context: &Context<'_>, body: &[u8]) -> RpcResponse {
        let message = match Message::parse(body) {
            Ok(message) => message,
            Err(NotAMessage { id, fault }) => return RpcResponse::fault(&fault, id),
        };
        match message.id {
            None => Self::notified(context),
            Some(id) => {
                self.respond(state, context, &message, id).await.unwrap_or_else(|fault| RpcResponse::fault(&fault, id))
            }
        }
    }

    /// Nothing here depends on any notification; all are accepted, for the protocol has them answered with silence.
    fn notified(context: &Context<'_>) -> RpcResponse {
        match context.header_revision() {
            Ok(_) => RpcResponse::sent(StatusCode::ACCEPTED, None),
            Err(fault) => RpcResponse::fault(&fault, RawValue::NULL),
        }
    }

    async fn respond(
        &self,
        state: &S,
        context: &Context<'_>,
        message: &Message<'_>,
        id: &RawValue,
    ) -> Result<RpcResponse, RpcFault> {
        let params = &message.params(context.revision_without_body())?;
        let revision = context.revision(message, params)?;
        let Context { request_id, notifications, capabilities, log_level, .. } = *context;
        let call = &Call { revision, request_id, params, notifications, capabilities, log_level, logs: self.logs };
        let meta = revision.is_stateless().then_some(&*self.meta);
        let list = |page: Result<&RawValue, RpcFault>| page.map(|page| RpcResponse::result(id, page));
        let value = |value| Ok(RpcResponse::result(id, &completed(value, meta)));
        match (&*message.method, revision.is_stateless()) {
            ("tools/call", _) => match self.tools.call(state, context, params, call).await? {
                CallOutcome::Done(result) => Ok(tool_response(id, &result, meta)),
                CallOutcome::Input(asked) => Ok(RpcResponse::result(id, &input_required(&asked, &self.meta))),
            },
            ("tools/list", _) if !self.tools.listed.is_empty() => list(self.tools.listed.page(params, revision)),
            ("resources/list", _) if !self.resources.is_empty() => list(self.resources.listed.page(params, revision)),
            ("resources/templates/list", _) if !self.resources.is_empty() => {
                list(self.resources.templates.page(params, revision))
            }
            ("resources/read", _) if !self.resources.is_empty() => {
                Ok(self.settled(id, self.resources.read(state, params, call).await?, meta))
            }
            ("prompts/list", _) if !self.prompts.listed.is_empty() => list(self.prompts.listed.page(params, revision)),
            ("prompts/get", _) if !self.prompts.listed.is_empty() => {
                Ok(self.settled(id, self.prompts.get(state, params, call).await?, meta))
            }
            ("completion/complete", _) => value(self.complete(state, params, revision)?),
            ("server/discover", true) => Ok(RpcResponse::result(id, self.discover().at(revision))),
            ("initialize", false) => self.initialize(params, id),
            // It left the protocol with 2026-07-28. Hosts send it at every revision, and take an error for a dead server.
            ("ping", _) => Ok(RpcResponse::result(id, &json!({}))),
            ("logging/setLevel", false) if self.logs => set_level(params, id),
            (name, _) => match self.methods.iter().find(|one| one.name == name && one.revisions.contains(&revision)) {
                Some(method) => self.extended(state, method, call, id, meta).await,
                None => Err(self.unknown_method(name, revision)),
            },
        }
    }

    async fn extended(
        &self,
        state: &S,
        method: &Method<S>,
        call: &Call<'_>,
        id: &RawValue,
        meta: Option<&RawValue>,
    ) -> Result<RpcResponse, RpcFault> {
        let params = call.params.whole.map_or(Ok(Arguments::new()), |raw| serde_json::from_str(raw.get()));
        let params = params.map_err(|error| RpcFault::malformed(call.revision, format!("params: {error}")))?;
        let result = method.call.run(state, &params, call).await;
        Ok(self.settled(id, settle(result, method.name, call, RpcFault::params)?, meta))
    }

    fn settled(&self, id: &RawValue, outcome: CallOutcome<Value>, meta: Option<&RawValue>) -> RpcResponse {
        match outcome {
            CallOutcome::Done(result) => RpcResponse::result(id, &completed(result, meta)),
            CallOutcome::Input(asked) => RpcResponse::result(id, &input_required(&asked, &self.meta)),
        }
    }
}

fn set_level(params: &Params<'_>, id: &RawValue) -> Result<RpcResponse, RpcFault> {
    let asked = params.level.and_then(string).and_then(|name| LogLevel::parse(&name));
    let level = asked.ok_or_else(|| {
        let all = LogLevel::ALL.map(LogLevel::as_str).join(", ");
        RpcFault::params(format!("params.level must be one of {all}"))
    })?;
    Ok(RpcResponse { log_level: Some(level), ..RpcResponse::result(id, &json!({})) })
}
