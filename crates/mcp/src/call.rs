use std::borrow::Cow;
use std::error::Error;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::fault::RpcFault;
use crate::json::string;
use crate::message::Params;
use crate::notifications::{LogLevel, Notifications};
use crate::revision::Revision;

/// What a handler may want to know of the request besides its input, and how it tells what it is doing.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The revision by which it will be answered.
    pub revision: Revision,
    /// The id under which a failure is logged, where the transport has one.
    pub request_id: Option<&'a str>,
    pub(crate) params: &'a Params<'a>,
    pub(crate) notifications: Option<&'a Notifications>,
    /// What the client declared on this connection.
    pub(crate) capabilities: Option<&'a RawValue>,
    /// What the session asked for with `logging/setLevel`.
    pub(crate) log_level: Option<LogLevel>,
    /// Whether the server said that it logs.
    pub(crate) logs: bool,
}

/// What the client must find out before the request can be answered (2026-07-28, "multi round-trip requests"): it asks
/// its user or its model and sends the request again, with the answers and with `state`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputRequired {
    pub(crate) requests: Map<String, Value>,
    pub(crate) state: Option<String>,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// An argument makes no sense. The text says which, what was received, what is allowed, and gives an example that
    /// works. Of a tool it travels as the error -32602 up to 2025-06-18, and since then as a result the model sees and
    /// learns from.
    #[error("invalid params: {0}")]
    BadArgument(String),
    /// The arguments are fine, the answer is no. The text says what to try instead.
    #[error("{0}")]
    Failed(String),
    /// The request itself cannot be accepted (a `requestState` that is not ours): the error -32602 at every revision.
    #[error("invalid request: {0}")]
    Refused(String),
    /// The client must answer something first (2026-07-28); an older client is told that it cannot.
    #[error("input from the client is required")]
    InputRequired(InputRequired),
    /// The client would have to have a capability that it did not declare, such as `sampling`.
    #[error("the client lacks the capability {0}")]
    MissingCapability(&'static str),
    /// A fault of ours. It is logged; the client is told nothing of it.
    #[error("internal error")]
    Internal(#[source] Box<dyn Error + Send + Sync>),
}

impl InputRequired {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more thing to find out: `method` is `elicitation/create`, `sampling/createMessage` or `roots/list`, and the
    /// answer comes back as [`Call::input`] of `key`.
    #[must_use]
    pub fn ask(mut self, key: &str, method: &'static str, params: &Value) -> Self {
        self.requests.insert(key.to_owned(), json!({ "method": method, "params": params }));
        self
    }

    /// What the client is to send back unread, as [`Call::state`]. It comes through the client's hands: sign it if
    /// anything depends on it.
    #[must_use]
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// The capabilities that a client needs to answer.
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
    /// A fault of ours, from whatever caused it.
    pub fn internal(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }
}

impl<'a> Call<'a> {
    /// Whether the client declared a capability, such as `elicitation`: with this request since 2026-07-28, before that
    /// with `initialize`. Of a request to `/mcp` of an older revision it is false, for there is no session to remember it.
    #[must_use]
    pub fn supports(&self, capability: &str) -> bool {
        self.declared().is_some_and(|declared| declared.contains_key(capability))
    }

    /// What the client says of an extension that it has, such as `io.modelcontextprotocol/ui`; `None` where it did not
    /// declare it ([`Call::supports`] says when it can).
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

    /// Ends the call with an error unless the client declared the capability.
    ///
    /// # Errors
    /// [`CallError::MissingCapability`].
    pub fn require(&self, capability: &'static str) -> Result<(), CallError> {
        if self.supports(capability) { Ok(()) } else { Err(CallError::MissingCapability(capability)) }
    }

    /// The client's answer to what was asked under `key` ([`InputRequired::ask`]), if it gave one that is an object.
    #[must_use]
    pub fn input(&self, key: &str) -> Option<Map<String, Value>> {
        let answers: Map<String, Value> = serde_json::from_str(self.params.input_responses?.get()).ok()?;
        answers.get(key)?.as_object().cloned()
    }

    /// What the client sent back as it was told to ([`InputRequired::state`]). It may have been changed on the way.
    #[must_use]
    pub fn state(&self) -> Option<Cow<'a, str>> {
        self.params.request_state.and_then(string)
    }

    /// Tells the client how far the work is, if it asked to be told and can be. What cannot be sent is dropped.
    pub fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let (Some(notifications), Some(token)) = (self.notifications, self.params.meta.progress_token) else { return };
        let mut params = json!({ "progressToken": token, "progress": done, "message": message });
        if let Some(total) = total {
            params["total"] = json!(total);
        }
        notifications.push("notifications/progress", &params);
    }

    /// Tells the client something for its log, if it asked for that level. Since 2026-07-28 it asks with each request,
    /// before that once a session or not at all, which is taken for [`LogLevel::Info`]. The server must have said that
    /// it logs ([`Server::logs`](crate::Server::logs)).
    pub fn log(&self, level: LogLevel, logger: &str, data: &Value) {
        let Some(notifications) = self.notifications.filter(|_| self.logs) else { return };
        let asked = match self.params.meta.log_level.and_then(string) {
            Some(name) => LogLevel::parse(&name),
            None if self.revision.is_stateless() => None,
            None => Some(self.log_level.unwrap_or(LogLevel::Info)),
        };
        if asked.is_some_and(|asked| level >= asked) {
            let params = json!({ "level": level.as_str(), "logger": logger, "data": data });
            notifications.push("notifications/message", &params);
        }
    }

    /// What must be asked of the client, if it can be asked at all.
    pub(crate) fn may_ask(&self, asked: InputRequired) -> Result<InputRequired, RpcFault> {
        if !self.revision.is_stateless() {
            let reason = "this needs input from the client, which exists since revision 2026-07-28; use that revision";
            return Err(RpcFault::params(reason));
        }
        let missing = asked.capabilities().find(|capability| !self.supports(capability));
        match missing {
            Some(missing) => Err(RpcFault::missing_capability(missing)),
            None => Ok(asked),
        }
    }
}
