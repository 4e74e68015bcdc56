use std::borrow::Cow;
use std::error::Error;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::fault::RpcFault;
use crate::json::string;
use crate::message::Params;
use crate::notifications::{LogLevel, Notifications};
use crate::revision::Revision;

/// The request of a handler besides its input, and the means to report progress and to log.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The protocol revision of the response.
    pub revision: Revision,
    /// The request id for logged failures, if the transport provides it.
    pub request_id: Option<&'a str>,
    /// Sentences about converted arguments for the reply of a tool
    /// ([`Server::normalize_arguments`](crate::Server::normalize_arguments)).
    pub notices: &'a [String],
    pub(crate) params: &'a Params<'a>,
    pub(crate) notifications: Option<&'a Notifications>,
    /// The capabilities declared by the client on this connection.
    pub(crate) capabilities: Option<&'a RawValue>,
    /// The level requested by the session with `logging/setLevel`.
    pub(crate) log_level: Option<LogLevel>,
    /// Whether the server declared the capability `logging`.
    pub(crate) logs: bool,
}

/// Input that the client must provide before the request can be answered (2026-07-28, "multi round-trip requests"): it
/// asks its user or its model and sends the request again, with the answers and with `state`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputRequired {
    pub(crate) requests: Map<String, Value>,
    pub(crate) state: Option<String>,
}

/// Error of a handler.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// An argument is not valid. The text contains its name, the received value, the allowed values and a valid
    /// example. For a tool it is sent as the error -32602 up to 2025-06-18, and since then as a result for the model.
    #[error("invalid params: {0}")]
    InvalidArgument(String),
    /// The arguments are valid, but the call failed. The text contains an alternative.
    #[error("{0}")]
    Failed(String),
    /// The request is not acceptable, such as a `requestState` of another server: the error -32602 in every revision.
    #[error("invalid request: {0}")]
    InvalidRequest(String),
    /// Input from the client is required (2026-07-28); an error for older clients.
    #[error("input from the client is required")]
    InputRequired(InputRequired),
    /// The client did not declare a required capability, such as `sampling`.
    #[error("the client lacks the capability {0}")]
    MissingCapability(&'static str),
    /// An error of the server. It is logged and not sent to the client.
    #[error("internal error")]
    Internal(#[source] Box<dyn Error + Send + Sync>),
}

impl InputRequired {
    /// Creates an empty list of requests.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a request: `method` is `elicitation/create`, `sampling/createMessage` or `roots/list`; [`Call::input`]
    /// returns the answer for `key`.
    #[must_use]
    pub fn request(mut self, key: &str, method: &'static str, params: &Value) -> Self {
        self.requests.insert(key.to_owned(), json!({ "method": method, "params": params }));
        self
    }

    /// Sets an opaque state that the client sends back, see [`Call::state`]. The client can change it: sign it if this
    /// matters.
    #[must_use]
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// Returns the capabilities that a client needs to answer.
    fn capabilities(&self) -> impl Iterator<Item = &'static str> {
        self.requests.values().filter_map(|request| match request["method"].as_str() {
            Some("elicitation/create") => Some("elicitation"),
            Some("sampling/createMessage") => Some("sampling"),
            Some("roots/list") => Some("roots"),
            _ => None,
        })
    }
}

impl CallError {
    /// Creates an error of the server from its cause.
    pub fn internal(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }
}

impl<'a> Call<'a> {
    /// Checks whether the client declared a capability, such as `elicitation`: with this request since 2026-07-28,
    /// before that with `initialize`. It is false for requests of older revisions to `/mcp`, because it has no
    /// sessions.
    #[must_use]
    pub fn supports(&self, capability: &str) -> bool {
        self.declared().is_some_and(|declared| declared.contains_key(capability))
    }

    /// Returns the client's settings of an extension, such as `io.modelcontextprotocol/ui`; `None` if it was not
    /// declared (see [`Call::supports`]).
    #[must_use]
    pub fn extension(&self, name: &str) -> Option<Map<String, Value>> {
        match self.declared()?.get_mut("extensions")?.get_mut(name)?.take() {
            Value::Object(settings) => Some(settings),
            _ => None,
        }
    }

    fn declared(&self) -> Option<Map<String, Value>> {
        let raw = self.params.meta.capabilities.or(self.capabilities)?;
        serde_json::from_str(raw.get()).ok()
    }

    /// Checks that the client declared the capability.
    ///
    /// # Errors
    /// [`CallError::MissingCapability`].
    pub fn require(&self, capability: &'static str) -> Result<(), CallError> {
        if self.supports(capability) { Ok(()) } else { Err(CallError::MissingCapability(capability)) }
    }

    /// Returns the client's answer for `key` ([`InputRequired::request`]), if it is an object.
    #[must_use]
    pub fn input(&self, key: &str) -> Option<Map<String, Value>> {
        let answers: Map<String, Value> = serde_json::from_str(self.params.input_responses?.get()).ok()?;
        answers.get(key)?.as_object().cloned()
    }

    /// Returns the state sent back by the client ([`InputRequired::state`]). The client may have changed it.
    #[must_use]
    pub fn state(&self) -> Option<Cow<'a, str>> {
        self.params.request_state.and_then(string)
    }

    /// Sends a progress notification if the client requested them and the transport can send it.
    pub fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let Some(notifications) = self.notifications else { return };
        let Some(token) = self.params.meta.progress_token else { return };
        let mut params = json!({ "progressToken": token, "progress": done, "message": message });
        if let Some(total) = total {
            params["total"] = json!(total);
        }
        notifications.push("notifications/progress", &params);
    }

    /// Sends a log notification if the client requested its level: since 2026-07-28 with each request, before that once
    /// per session, with [`LogLevel::Info`] as the default. Requires [`Server::logs`](crate::Server::logs).
    pub fn log(&self, level: LogLevel, logger: &str, data: &Value) {
        let Some(notifications) = self.notifications.filter(|_| self.logs) else { return };
        let requested = match self.params.meta.log_level.and_then(string) {
            Some(name) => LogLevel::parse(&name),
            None if self.revision.is_stateless() => None,
            None => Some(self.log_level.unwrap_or(LogLevel::Info)),
        };
        if requested.is_some_and(|requested| level >= requested) {
            let params = json!({ "level": level.as_str(), "logger": logger, "data": data });
            notifications.push("notifications/message", &params);
        }
    }

    /// Checks that the client can provide this input.
    pub(crate) fn check_input(&self, required: InputRequired) -> Result<InputRequired, RpcFault> {
        if !self.revision.is_stateless() {
            let reason = "this needs input from the client, which exists since revision 2026-07-28; use that revision";
            return Err(RpcFault::params(reason));
        }
        let declared = self.declared().unwrap_or_default();
        let missing = required.capabilities().find(|capability| !declared.contains_key(*capability));
        match missing {
            Some(missing) => Err(RpcFault::missing_capability(missing)),
            None => Ok(required),
        }
    }
}
