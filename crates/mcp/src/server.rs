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
use crate::message::{InvalidMessage, Message, Params};
use crate::method::Method;
use crate::notifications::LogLevel;
use crate::outcome::{CallOutcome, call_outcome};
use crate::prompt::{Prompt, Prompts};
use crate::resource::{Resource, Resources};
use crate::response::{Cacheable, RpcResponse, completed, input_required, rendered, tool_response};
use crate::revision::Revision;
use crate::tool::{Arguments, NormalizeArguments, Tool};
use crate::tools::Tools;

/// Default number of entries on a page of a list.
const PAGE_SIZE: usize = 100;

/// The name and description of a server.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    /// A name for programs.
    pub name: String,
    /// A name for people.
    pub title: String,
    /// A semantic version.
    pub version: String,
    /// Its purpose, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// URL with more information for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Its icons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Instructions for a model that uses the tools: order, units, warnings.
    #[serde(skip)]
    pub instructions: Option<String>,
}

/// A server with a state `S` for its handlers.
///
/// It is independent of transports: [`Server::handle`] returns the reply to a message, and [`router`](crate::router)
/// and [`serve_stdio`](crate::serve_stdio) transport them.
#[derive(Debug)]
pub struct Server<S> {
    info: ServerInfo,
    /// The `_meta` of every result of a stateless revision.
    meta: Box<RawValue>,
    page_size: usize,
    tools: Tools<S>,
    resources: Resources<S>,
    prompts: Prompts<S>,
    methods: Vec<Method<S>>,
    /// The settings of its extensions.
    extensions: Map<String, Value>,
    logs: bool,
    /// Whether any handler is asynchronous.
    has_async_handlers: bool,
}

impl<S> Server<S> {
    /// Creates a server without tools, resources, prompts and methods.
    #[must_use]
    pub fn new(info: ServerInfo) -> Self {
        // It is part of every result, so it contains only the required members.
        let ServerInfo { name, title, version, .. } = &info;
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
            has_async_handlers: false,
        }
    }

    /// Adds a tool at the end of the list.
    ///
    /// # Panics
    /// If the name is used twice or is not 1 to 128 of `A-Z a-z 0-9 _ - .`; if an `x-mcp-header` is not a valid header.
    #[must_use]
    pub fn tool(mut self, tool: Tool<S>) -> Self {
        self.has_async_handlers |= tool.call.is_async();
        self.tools.add(tool);
        self.tools.listed.render(self.page_size, &self.meta);
        self
    }

    /// Adds a resource or template at the end of the list.
    ///
    /// # Panics
    /// If its URI is used twice.
    #[must_use]
    pub fn resource(mut self, resource: Resource<S>) -> Self {
        self.has_async_handlers |= resource.read.is_async();
        self.resources.add(resource);
        self.resources.listed.render(self.page_size, &self.meta);
        self.resources.templates.render(self.page_size, &self.meta);
        self
    }

    /// Adds a prompt at the end of the list.
    ///
    /// # Panics
    /// If its name is used twice.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt<S>) -> Self {
        self.has_async_handlers |= prompt.get.is_async();
        self.prompts.add(prompt);
        self.prompts.listed.render(self.page_size, &self.meta);
        self
    }

    /// Adds a method. The methods of this crate have precedence.
    #[must_use]
    pub fn method(mut self, method: Method<S>) -> Self {
        self.has_async_handlers |= method.call.is_async();
        self.methods.push(method);
        self
    }

    /// Declares an extension of the protocol, such as `io.modelcontextprotocol/ui`, with its settings. Its data about
    /// tools and resources is in their `meta`.
    #[must_use]
    pub fn extension(mut self, name: &'static str, settings: Map<String, Value>) -> Self {
        self.extensions.insert(name.to_owned(), Value::Object(settings));
        self
    }

    /// Declares that the server logs to its clients ([`Call::log`]), and supports `logging/setLevel` in revisions with
    /// it.
    #[must_use]
    pub fn logs(mut self) -> Self {
        self.logs = true;
        self
    }

    /// Sets the conversion of the arguments of all tools if they are read leniently
    /// ([`ArgumentReading`](crate::ArgumentReading)). Without it, handlers receive them as they were sent.
    #[must_use]
    pub fn normalize_arguments(mut self, normalize: NormalizeArguments) -> Self {
        self.tools.normalize = Some(normalize);
        self
    }

    /// Sets the number of entries on a page; the minimum is 1, the default 100.
    #[must_use]
    pub fn page_size(mut self, size: usize) -> Self {
        self.page_size = size.max(1);
        self.tools.listed.render(self.page_size, &self.meta);
        self.resources.listed.render(self.page_size, &self.meta);
        self.resources.templates.render(self.page_size, &self.meta);
        self.prompts.listed.render(self.page_size, &self.meta);
        self
    }

    /// Returns name and description.
    #[must_use]
    pub fn info(&self) -> &ServerInfo {
        &self.info
    }

    /// Returns the tools in the order of the list.
    pub fn tools(&self) -> impl Iterator<Item = &Tool<S>> {
        self.tools.iter()
    }

    /// Returns the capabilities declared to clients.
    #[must_use]
    pub fn capabilities(&self) -> Value {
        let mut capabilities = json!({});
        let completes = self.prompts.has_completions() || self.resources.has_completions();
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

    /// Checks whether any handler is asynchronous.
    pub(crate) fn has_async_handlers(&self) -> bool {
        self.has_async_handlers
    }

    fn discover(&self) -> Cacheable {
        let versions = Revision::ALL.map(Revision::as_str);
        Cacheable::new(self.with_introduction(json!({ "supportedVersions": versions })), &self.meta)
    }

    fn initialize(&self, params: &Params<'_>, id: &RawValue) -> Result<RpcResponse, RpcFault> {
        let revision = Revision::negotiate(params.protocol_version()?.as_deref());
        let result = self.with_introduction(json!({ "protocolVersion": revision.as_str(), "serverInfo": self.info }));
        let capabilities = params.capabilities.map(ToOwned::to_owned);
        Ok(RpcResponse { negotiated: Some(revision), capabilities, ..RpcResponse::result(id, &result) })
    }

    /// Adds the members that `initialize` and `server/discover` have in common.
    fn with_introduction(&self, mut result: Value) -> Value {
        result["capabilities"] = self.capabilities();
        if let Some(instructions) = &self.info.instructions {
            result["instructions"] = json!(instructions);
        }
        result
    }

    fn complete(&self, state: &S, params: &Params<'_>, revision: Revision) -> Result<Value, RpcFault> {
        let CompletionRequest { target, argument, typed, known } = CompletionRequest::read(params, revision)?;
        let values = match target {
            CompletionTarget::Prompt(name) => self.prompts.complete(state, &name, (&argument, &typed), &known),
            CompletionTarget::Resource(uri) => self.resources.complete(state, &uri, (&argument, &typed), &known),
        };
        Ok(json!({ "completion": values?.quoted() }))
    }

    /// Creates the error for an unknown method, with the methods of the revision.
    fn unknown_method(&self, method: &str, revision: Revision) -> RpcFault {
        let served = if revision.is_stateless() { "server/discover, ping" } else { "initialize, ping" };
        let mut all = vec![served.to_owned()];
        for (is_served, names) in [
            (!self.tools.listed.is_empty(), "tools/list, tools/call"),
            (!self.resources.is_empty(), "resources/list, resources/templates/list, resources/read"),
            (!self.prompts.listed.is_empty(), "prompts/list, prompts/get"),
        ] {
            if is_served {
                all.push(names.to_owned());
            }
        }
        let method = quoted(method);
        let all = all.join(", ");
        RpcFault::method(revision, format!("{method} is not supported; at revision {revision} try {all}"))
    }
}

impl<S: Sync> Server<S> {
    /// Handles the message in `body`. Errors are returned as responses.
    pub async fn handle(&self, state: &S, context: &Context<'_>, body: &[u8]) -> RpcResponse {
        let message = match Message::parse(body) {
            Ok(message) => message,
            Err(InvalidMessage { id, fault }) => return RpcResponse::fault(&fault, id),
        };
        match message.id {
            None => Self::notified(context),
            Some(id) => {
                self.respond(state, context, &message, id).await.unwrap_or_else(|fault| RpcResponse::fault(&fault, id))
            }
        }
    }

    /// Accepts a notification without an effect: none is needed here, and the protocol does not allow a reply.
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
        let params = &message.params(context.revision_without_body(), context.reading_without_body())?;
        let revision = context.revision(message, params)?;
        let Context { request_id, notifications, capabilities, log_level, .. } = *context;
        let call = &Call {
            revision,
            request_id,
            notices: &[],
            params,
            notifications,
            capabilities,
            log_level,
            logs: self.logs,
        };
        let meta = revision.is_stateless().then_some(&*self.meta);
        match (&*message.method, revision.is_stateless()) {
            ("tools/call", _) => match self.tools.call(state, context, params, call).await? {
                CallOutcome::Done(result) => Ok(tool_response(id, &result, meta)),
                CallOutcome::Input(asked) => Ok(RpcResponse::result(id, &input_required(&asked, &self.meta))),
            },
            ("tools/list", _) if !self.tools.listed.is_empty() => {
                Ok(RpcResponse::result(id, self.tools.listed.page(params, revision)?))
            }
            ("resources/list", _) if !self.resources.is_empty() => {
                Ok(RpcResponse::result(id, self.resources.listed.page(params, revision)?))
            }
            ("resources/templates/list", _) if !self.resources.is_empty() => {
                Ok(RpcResponse::result(id, self.resources.templates.page(params, revision)?))
            }
            ("resources/read", _) if !self.resources.is_empty() => {
                Ok(self.settled(id, self.resources.read(state, params, call).await?, meta))
            }
            ("prompts/list", _) if !self.prompts.listed.is_empty() => {
                Ok(RpcResponse::result(id, self.prompts.listed.page(params, revision)?))
            }
            ("prompts/get", _) if !self.prompts.listed.is_empty() => {
                Ok(self.settled(id, self.prompts.get(state, params, call).await?, meta))
            }
            ("completion/complete", _) => {
                Ok(RpcResponse::result(id, &completed(self.complete(state, params, revision)?, meta)))
            }
            ("server/discover", true) => Ok(RpcResponse::result(id, self.discover().at(revision))),
            ("initialize", false) => self.initialize(params, id),
            // Removed from the protocol with 2026-07-28, but hosts still send it and treat an error as a broken
            // connection.
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
        let params: Arguments = match call.params.whole {
            Some(raw) => serde_json::from_str(raw.get())
                .map_err(|error| RpcFault::malformed(call.revision, format!("params: {error}")))?,
            None => Arguments::new(),
        };
        let result = method.call.run(state, &params, call).await;
        Ok(self.settled(id, call_outcome(result, method.name, call, RpcFault::params)?, meta))
    }

    fn settled(&self, id: &RawValue, outcome: CallOutcome<Value>, meta: Option<&RawValue>) -> RpcResponse {
        match outcome {
            CallOutcome::Done(result) => RpcResponse::result(id, &completed(result, meta)),
            CallOutcome::Input(asked) => RpcResponse::result(id, &input_required(&asked, &self.meta)),
        }
    }
}

fn set_level(params: &Params<'_>, id: &RawValue) -> Result<RpcResponse, RpcFault> {
    let Some(level) = params.level.and_then(string).and_then(|name| LogLevel::parse(&name)) else {
        let all = LogLevel::ALL.map(LogLevel::as_str).join(", ");
        return Err(RpcFault::params(format!("params.level must be one of {all}")));
    };
    Ok(RpcResponse { log_level: Some(level), ..RpcResponse::result(id, &json!({})) })
}
