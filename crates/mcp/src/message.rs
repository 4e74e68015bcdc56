use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::argument_reading::ArgumentReading;
use crate::fault::{RpcFault, quoted};
use crate::json::{RawMembers, kind, string};
use crate::revision::Revision;

/// Maximum size of a message in bytes.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// Maximum size of an ID. It is stored until the reply is sent.
const MAX_ID_BYTES: usize = 16 * 1024;

const EXAMPLE: &str = r#"for example {"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// A JSON-RPC 2.0 request, or a notification if there is no id.
pub(crate) struct Message<'a> {
    /// A string or a number, returned unchanged in the reply.
    pub(crate) id: Option<&'a RawValue>,
    pub(crate) method: Cow<'a, str>,
    params: Option<&'a RawValue>,
}

/// Error of parsing a message, with the id for the reply.
pub(crate) struct InvalidMessage<'a> {
    pub(crate) id: &'a RawValue,
    pub(crate) fault: RpcFault,
}

impl InvalidMessage<'_> {
    fn without_id(fault: RpcFault) -> Self {
        Self { id: RawValue::NULL, fault }
    }
}

impl<'a> Message<'a> {
    /// Parses a message. A byte order mark before it is skipped (RFC 8259, section 8.1).
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, InvalidMessage<'a>> {
        let text = match str::from_utf8(without_byte_order_mark(body)) {
            Ok(text) => text,
            Err(error) => {
                let detail = format!("the body is not UTF-8: {error}; {EXAMPLE}");
                return Err(InvalidMessage::without_id(RpcFault::parse(detail)));
            }
        };
        let members = envelope(text).map_err(InvalidMessage::without_id)?;
        let [_, id, _, params] = members.values;
        match check_envelope(&members) {
            Ok(method) => Ok(Self { id, method, params }),
            Err(fault) if members.repeated == Some("id") => Err(InvalidMessage::without_id(fault)),
            Err(fault) => Err(InvalidMessage { id: id.filter(|id| is_id(id)).unwrap_or(RawValue::NULL), fault }),
        }
    }

    /// Returns the id for the reply to `body`, whether it is valid or not.
    pub(crate) fn id(body: &'a [u8]) -> &'a RawValue {
        match Self::parse(body) {
            Ok(message) => message.id.unwrap_or(RawValue::NULL),
            Err(invalid) => invalid.id,
        }
    }

    /// Parses the members of `params`. `reading` is the reading without the body, which may contain a stateless
    /// revision.
    pub(crate) fn params(&self, assumed: Revision, reading: ArgumentReading) -> Result<Params<'a>, RpcFault> {
        let Some(params) = reading.object(self.params) else {
            return Ok(Params { reading, ..Params::default() });
        };
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
        let meta = match reading.object(meta) {
            Some(meta) => Meta::read(meta, assumed)?,
            None => Meta::default(),
        };
        let reading = reading.with_body_version(meta.version);
        if let Some(answers) = answers.filter(|answers| kind(answers) != "an object") {
            let detail = format!("params.inputResponses must be an object, got {}", kind(answers));
            return Err(RpcFault::malformed(assumed, detail));
        }
        Ok(Params {
            reading,
            meta,
            name,
            arguments: reading.object(arguments),
            protocol_version,
            capabilities,
            cursor: reading.value(cursor),
            uri,
            reference,
            argument,
            context: reading.object(context),
            level,
            input_responses: answers,
            request_state: state,
            whole: Some(params),
        })
    }
}

/// The members of `params` that are used by any method, unparsed.
#[derive(Debug, Default)]
pub(crate) struct Params<'a> {
    pub(crate) reading: ArgumentReading,
    pub(crate) meta: Meta<'a>,
    pub(crate) name: Option<&'a RawValue>,
    pub(crate) arguments: Option<&'a RawValue>,
    protocol_version: Option<&'a RawValue>,
    /// The capabilities of the client in an `initialize`.
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
    /// Returns the name of the tool or prompt; `entity` is `a tool` or `a prompt`.
    pub(crate) fn name(&self, entity: &str, revision: Revision) -> Result<Cow<'a, str>, RpcFault> {
        self.name.and_then(string).ok_or_else(|| {
            let got = self.name.map_or("nothing", kind);
            RpcFault::malformed(revision, format!("params.name must be the name of {entity}, got {got}"))
        })
    }

    /// Returns the URI of the resource.
    pub(crate) fn uri(&self, revision: Revision) -> Result<Cow<'a, str>, RpcFault> {
        self.uri.and_then(string).ok_or_else(|| {
            let got = self.uri.map_or("nothing", kind);
            RpcFault::malformed(revision, format!("params.uri must be the URI of a resource, got {got}"))
        })
    }

    /// Returns the value that is also sent as the header `Mcp-Name`, and its place in the body.
    pub(crate) fn mirrored_name(&self, method: &str) -> Option<(&'static str, Cow<'a, str>)> {
        match method {
            "tools/call" | "prompts/get" => Some(("params.name", self.name.and_then(string)?)),
            "resources/read" => Some(("params.uri", self.uri.and_then(string)?)),
            _ => None,
        }
    }

    /// Returns the revision requested by `initialize`.
    pub(crate) fn protocol_version(&self) -> Result<Option<Cow<'a, str>>, RpcFault> {
        let Some(version) = self.protocol_version else { return Ok(None) };
        match string(version) {
            Some(version) => Ok(Some(version)),
            None => Err(RpcFault::params(format!(
                "params.protocolVersion must be a string, got {}; for example \"{}\"",
                kind(version),
                Revision::newest_stateful()
            ))),
        }
    }
}

/// The members of `params._meta` in requests of 2026-07-28 or later.
#[derive(Debug, Default)]
pub(crate) struct Meta<'a> {
    pub(crate) version: Option<&'a RawValue>,
    pub(crate) capabilities: Option<&'a RawValue>,
    /// Token for progress notifications; a string or a number, returned unchanged.
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

/// Returns the body without a UTF-8 byte order mark at its start.
pub(crate) fn without_byte_order_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)
}

fn envelope(text: &str) -> Result<RawMembers<'_, 4>, RpcFault> {
    let trimmed = text.trim_start_matches([' ', '\t', '\r', '\n']);
    if trimmed.starts_with('{') {
        return RawMembers::read(text, ["jsonrpc", "id", "method", "params"]).map_err(|error| not_json(&error));
    }
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| not_json(&error))?;
    Err(RpcFault::request(if trimmed.starts_with('[') {
        format!("batches are not accepted (the protocol removed them in 2025-06-18), send one message each; {EXAMPLE}")
    } else {
        format!("a message is an object, got {}; {EXAMPLE}", quoted(trimmed.trim_end()))
    }))
}

fn not_json(error: &serde_json::Error) -> RpcFault {
    RpcFault::parse(format!("the body is not JSON: {error}; {EXAMPLE}"))
}

/// Checks the members of a message and returns the method.
fn check_envelope<'a>(members: &RawMembers<'a, 4>) -> Result<Cow<'a, str>, RpcFault> {
    let [jsonrpc, id, method, _] = members.values;
    if let Some(name) = members.repeated {
        return Err(RpcFault::request(format!("{name} appears twice; {EXAMPLE}")));
    }
    if let Some(id) = id.filter(|id| !is_id(id)) {
        return Err(RpcFault::request(format!("id must be {}; {EXAMPLE}", id_instead_of(id))));
    }
    if jsonrpc.and_then(string).as_deref() != Some("2.0") {
        return Err(RpcFault::request(format!("jsonrpc must be \"2.0\", got {}; {EXAMPLE}", received(jsonrpc))));
    }
    match method.and_then(string) {
        Some(method) => Ok(method),
        None => Err(RpcFault::request(format!("method must be a string, got {}; {EXAMPLE}", received(method)))),
    }
}

fn once(repeated: Option<&str>, place: &str) -> Result<(), RpcFault> {
    match repeated {
        Some(name) => Err(RpcFault::request(format!("{place}.{name} appears twice; send it once"))),
        None => Ok(()),
    }
}

/// Checks an id. MCP does not allow `null`; strings with lone surrogates cannot be returned.
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
