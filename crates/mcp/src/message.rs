use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::fault::{RpcFault, quoted};
use crate::json::{RawMembers, kind, string};
use crate::revision::Revision;

/// How large a message may be, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// An id is kept as long as its reply is, so it has a bound of its own.
const MAX_ID_BYTES: usize = 16 * 1024;

const EXAMPLE: &str = r#"for example {"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// One JSON-RPC 2.0 request, or a notification where there is no id.
pub(crate) struct Message<'a> {
    /// A string or a number, kept as it was written: it is echoed, never understood.
    pub(crate) id: Option<&'a RawValue>,
    pub(crate) method: Cow<'a, str>,
    params: Option<&'a RawValue>,
}

/// Bytes that are no message, and the id to say so under.
pub(crate) struct NotAMessage<'a> {
    pub(crate) id: &'a RawValue,
    pub(crate) fault: RpcFault,
}

impl NotAMessage<'_> {
    fn nameless(fault: RpcFault) -> Self {
        Self { id: RawValue::NULL, fault }
    }
}

impl<'a> Message<'a> {
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, NotAMessage<'a>> {
        let text = std::str::from_utf8(body)
            .map_err(|e| NotAMessage::nameless(RpcFault::parse(format!("the body is not UTF-8: {e}; {EXAMPLE}"))))?;
        let members = envelope(text).map_err(NotAMessage::nameless)?;
        let [jsonrpc, id, method, params] = members.values;
        let id = if members.repeated == Some("id") { Some(RawValue::NULL) } else { id };
        let refused = |fault| NotAMessage { id: id.filter(|id| is_id(id)).unwrap_or(RawValue::NULL), fault };

        if let Some(name) = members.repeated {
            return Err(refused(RpcFault::request(format!("{name} appears twice; {EXAMPLE}"))));
        }
        if let Some(id) = id.filter(|id| !is_id(id)) {
            return Err(refused(RpcFault::request(format!("id must be {}; {EXAMPLE}", id_instead_of(id)))));
        }
        if jsonrpc.and_then(string).as_deref() != Some("2.0") {
            let got = received(jsonrpc);
            return Err(refused(RpcFault::request(format!("jsonrpc must be \"2.0\", got {got}; {EXAMPLE}"))));
        }
        let Some(method) = method.and_then(string) else {
            let got = received(method);
            return Err(refused(RpcFault::request(format!("method must be a string, got {got}; {EXAMPLE}"))));
        };
        Ok(Self { id, method, params })
    }

    /// The id under which to answer `body`, whatever else may be wrong with it.
    pub(crate) fn id(body: &'a [u8]) -> &'a RawValue {
        match Self::parse(body) {
            Ok(message) => message.id.unwrap_or(RawValue::NULL),
            Err(not) => not.id,
        }
    }

    pub(crate) fn params(&self, assumed: Revision) -> Result<Params<'a>, RpcFault> {
        let Some(params) = self.params else { return Ok(Params::default()) };
        let names = [
            "_meta",
            "name",
            "arguments",
            "protocolVersion",
            "capabilities",
            "cursor",
            "uri",
            "ref",
            "argument",
            "context",
            "level",
            "inputResponses",
            "requestState",
        ];
        let members = RawMembers::read(params.get(), names).map_err(|_| {
            let got = kind(params);
            RpcFault::malformed(assumed, format!("params must be an object, got {got}; leave it out or send {{}}"))
        })?;
        once(members.repeated, "params")?;
        let [
            meta,
            name,
            arguments,
            protocol_version,
            capabilities,
            cursor,
            uri,
            reference,
            argument,
            context,
            level,
            answers,
            state,
        ] = members.values;
        let meta = meta.map(|meta| Meta::read(meta, assumed)).transpose()?.unwrap_or_default();
        if let Some(answers) = answers.filter(|answers| kind(answers) != "an object") {
            let detail = format!("params.inputResponses must be an object, got {}", kind(answers));
            return Err(RpcFault::malformed(assumed, detail));
        }
        Ok(Params {
            meta,
            name,
            arguments,
            protocol_version,
            capabilities,
            cursor,
            uri,
            reference,
            argument,
            context,
            level,
            input_responses: answers,
            request_state: state,
            whole: Some(params),
        })
    }
}

/// The members of `params` that any method reads, as they were written.
#[derive(Debug, Default)]
pub(crate) struct Params<'a> {
    pub(crate) meta: Meta<'a>,
    pub(crate) name: Option<&'a RawValue>,
    pub(crate) arguments: Option<&'a RawValue>,
    protocol_version: Option<&'a RawValue>,
    /// What the client of an `initialize` can do.
    pub(crate) capabilities: Option<&'a RawValue>,
    pub(crate) cursor: Option<&'a RawValue>,
    uri: Option<&'a RawValue>,
    pub(crate) reference: Option<&'a RawValue>,
    pub(crate) argument: Option<&'a RawValue>,
    pub(crate) context: Option<&'a RawValue>,
    pub(crate) level: Option<&'a RawValue>,
    pub(crate) input_responses: Option<&'a RawValue>,
    pub(crate) request_state: Option<&'a RawValue>,
    pub(crate) whole: Option<&'a RawValue>,
}

impl<'a> Params<'a> {
    /// The name of what the request is about: `a tool`, `a prompt`.
    pub(crate) fn name(&self, of: &str, revision: Revision) -> Result<Cow<'a, str>, RpcFault> {
        self.name.and_then(string).ok_or_else(|| {
            let got = self.name.map_or("nothing", kind);
            RpcFault::malformed(revision, format!("params.name must be the name of {of}, got {got}"))
        })
    }

    /// The resource that the request is about.
    pub(crate) fn uri(&self, revision: Revision) -> Result<Cow<'a, str>, RpcFault> {
        self.uri.and_then(string).ok_or_else(|| {
            let got = self.uri.map_or("nothing", kind);
            RpcFault::malformed(revision, format!("params.uri must be the URI of a resource, got {got}"))
        })
    }

    /// What is also sent as the header `Mcp-Name`, and where it stands in the body.
    pub(crate) fn mirrored_name(&self, method: &str) -> Option<(&'static str, Cow<'a, str>)> {
        match method {
            "tools/call" | "prompts/get" => Some(("params.name", self.name.and_then(string)?)),
            "resources/read" => Some(("params.uri", self.uri.and_then(string)?)),
            _ => None,
        }
    }

    /// The revision that `initialize` asks for.
    pub(crate) fn protocol_version(&self) -> Result<Option<Cow<'a, str>>, RpcFault> {
        let Some(version) = self.protocol_version else { return Ok(None) };
        string(version).map(Some).ok_or_else(|| {
            let (got, latest) = (kind(version), Revision::newest_stateful());
            RpcFault::params(format!("params.protocolVersion must be a string, got {got}; for example \"{latest}\""))
        })
    }
}

/// What a request of 2026-07-28 or later says about itself in `params._meta`.
#[derive(Debug, Default)]
pub(crate) struct Meta<'a> {
    pub(crate) version: Option<&'a RawValue>,
    pub(crate) capabilities: Option<&'a RawValue>,
    /// By which a client recognises news of how far its request is; a string or a number, echoed as it is.
    pub(crate) progress_token: Option<&'a RawValue>,
    pub(crate) log_level: Option<&'a RawValue>,
}

impl<'a> Meta<'a> {
    pub(crate) const VERSION: &'static str = "io.modelcontextprotocol/protocolVersion";
    pub(crate) const CAPABILITIES: &'static str = "io.modelcontextprotocol/clientCapabilities";

    fn read(meta: &'a RawValue, assumed: Revision) -> Result<Self, RpcFault> {
        let names = [Self::VERSION, Self::CAPABILITIES, "progressToken", "io.modelcontextprotocol/logLevel"];
        let members = RawMembers::read(meta.get(), names).map_err(|_| {
            RpcFault::malformed(
                assumed,
                format!("params._meta must be an object, got {}; leave it out or send {{}}", kind(meta)),
            )
        })?;
        once(members.repeated, "params._meta")?;
        let [version, capabilities, progress_token, log_level] = members.values;
        let progress_token = progress_token.filter(|token| matches!(kind(token), "a string" | "a number"));
        Ok(Self { version, capabilities, progress_token, log_level })
    }
}

fn envelope(text: &str) -> Result<RawMembers<'_, 4>, RpcFault> {
    let not_json = |e| RpcFault::parse(format!("the body is not JSON: {e}; {EXAMPLE}"));
    let begins = text.trim_start_matches([' ', '\t', '\r', '\n']);
    if begins.starts_with('{') {
        return RawMembers::read(text, ["jsonrpc", "id", "method", "params"]).map_err(not_json);
    }
    serde_json::from_str::<IgnoredAny>(text).map_err(not_json)?;
    Err(RpcFault::request(if begins.starts_with('[') {
        format!("batches are not accepted (the protocol removed them in 2025-06-18), send one message each; {EXAMPLE}")
    } else {
        format!("a message is an object, got {}; {EXAMPLE}", quoted(begins.trim_end()))
    }))
}

fn once(repeated: Option<&str>, place: &str) -> Result<(), RpcFault> {
    match repeated {
        Some(name) => Err(RpcFault::request(format!("{place}.{name} appears twice; send it once"))),
        None => Ok(()),
    }
}

/// MCP narrows JSON-RPC: `null` is no id. A string that is not Unicode could not be read back by anyone.
fn is_id(value: &RawValue) -> bool {
    let fits = match value.get().as_bytes().first() {
        Some(b'"') => string(value).is_some(),
        Some(b'-' | b'0'..=b'9') => true,
        _ => false,
    };
    fits && value.get().len() <= MAX_ID_BYTES
}

fn id_instead_of(value: &RawValue) -> String {
    let got = match kind(value) {
        _ if value.get().len() > MAX_ID_BYTES => "a longer one",
        "a string" => "a lone surrogate",
        kind => kind,
    };
    format!("a string or a number of at most {MAX_ID_BYTES} bytes, not {got}; a notification has none")
}

fn received(value: Option<&RawValue>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(value) => match string(value) {
            Some(text) => quoted(&text),
            None => kind(value).to_owned(),
        },
    }
}
