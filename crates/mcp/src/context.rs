use std::borrow::Cow;

use data_encoding::BASE64;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;

use crate::argument_reading::ArgumentReading;
use crate::fault::{RpcFault, quoted};
use crate::json::{kind, string};
use crate::message::{Message, Meta, Params};
use crate::notifications::{LogLevel, Notifications};
use crate::revision::Revision;

const EXAMPLE: &str = concat!(
    r#"for example "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// The context of a message, provided by the transport.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The headers of the request.
    pub headers: Headers<'a>,
    /// Whether all headers are required for requests of 2026-07-28 (Streamable HTTP). Otherwise headers that are
    /// present must match the body.
    pub headers_required: bool,
    /// The revision if neither header nor body contains it: negotiated with `initialize`, or [`Revision::ASSUMED`].
    pub revision: Revision,
    /// The reading of parameters if neither header nor body contains a revision: lenient after `initialize` on this
    /// connection.
    pub argument_reading: ArgumentReading,
    /// The request id for logged and reported failures.
    pub request_id: Option<&'a str>,
    /// The capabilities declared with `initialize` on this connection. Requests of 2026-07-28 declare their own.
    pub capabilities: Option<&'a RawValue>,
    /// The level requested with `logging/setLevel` on this connection.
    pub log_level: Option<LogLevel>,
    /// The queue for notifications of handlers; without it they are dropped.
    pub notifications: Option<&'a Notifications>,
}

/// The headers of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers<'a>(pub Option<&'a HeaderMap>);

impl<'a> Headers<'a> {
    pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
    const METHOD: HeaderName = HeaderName::from_static("mcp-method");
    const NAME: HeaderName = HeaderName::from_static("mcp-name");

    /// Returns the value of a header. A duplicate header matches no value, because an intermediary may use a different
    /// value.
    pub(crate) fn get(self, name: &HeaderName) -> Option<&'a [u8]> {
        match single_header(self.0?, name) {
            Ok(value) => value.map(HeaderValue::as_bytes),
            Err(DuplicateHeader) => Some(b"(several values)"),
        }
    }
}

/// Error of a header that is sent more than once.
#[derive(Debug)]
pub(crate) struct DuplicateHeader;

/// Returns the value of a header that may be sent at most once.
pub(crate) fn single_header<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, DuplicateHeader> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(DuplicateHeader),
        (value, None) => Ok(value),
    }
}

impl Context<'_> {
    /// Creates the context of a message on a connection without headers (stdio, a session over SSE) with this
    /// negotiated revision.
    #[must_use]
    pub fn session(revision: Revision) -> Self {
        Self {
            headers: Headers::default(),
            headers_required: false,
            revision,
            argument_reading: ArgumentReading::Strict,
            request_id: None,
            capabilities: None,
            log_level: None,
            notifications: None,
        }
    }

    /// Returns the revision of the version header, if it is present.
    pub(crate) fn header_revision(&self) -> Result<Option<Revision>, RpcFault> {
        let Some(version) = self.headers.get(&Headers::VERSION) else { return Ok(None) };
        let version = String::from_utf8_lossy(version);
        match Revision::parse(&version) {
            Some(revision) => Ok(Some(revision)),
            None => Err(RpcFault::unsupported_version(&version)),
        }
    }

    /// Returns the probable revision of a request before its body is parsed.
    pub(crate) fn revision_without_body(&self) -> Revision {
        self.header_revision().ok().flatten().unwrap_or(self.revision)
    }

    /// Returns the reading of the parameters before the body is parsed.
    pub(crate) fn reading_without_body(&self) -> ArgumentReading {
        ArgumentReading::without_body(self.argument_reading, self.headers.get(&Headers::VERSION).is_some())
    }

    /// Returns the revision of a request after checking the requirements of this revision.
    pub(crate) fn revision(&self, message: &Message<'_>, params: &Params<'_>) -> Result<Revision, RpcFault> {
        let Meta { version, capabilities, .. } = params.meta;
        let body = version.map(body_version).transpose()?;
        if let Some(body) = &body
            && let Some(header) = self.headers.get(&Headers::VERSION)
            && header != body.as_bytes()
        {
            return Err(mismatch("MCP-Protocol-Version", header, &format!("params._meta.{}", Meta::VERSION), body));
        }
        let named = match &body {
            Some(body) => Some(Revision::parse(body).ok_or_else(|| RpcFault::unsupported_version(body))?),
            None => self.header_revision()?,
        };
        // Both were introduced in 2026-07-28, so a request with either belongs to that revision.
        let stateless = capabilities.is_some() || message.method == "server/discover";
        let revision = named.unwrap_or(if stateless { Revision::V2026_07_28 } else { self.revision });
        if revision.is_stateless() {
            self.check_stateless(message, params)?;
        }
        Ok(revision)
    }

    fn check_stateless(&self, message: &Message<'_>, params: &Params<'_>) -> Result<(), RpcFault> {
        if params.meta.version.is_none() {
            return Err(missing_meta(Meta::VERSION));
        }
        let Some(capabilities) = params.meta.capabilities else {
            return Err(missing_meta(Meta::CAPABILITIES));
        };
        if kind(capabilities) != "an object" {
            return Err(wrong_meta(Meta::CAPABILITIES, "an object", capabilities));
        }
        self.required("MCP-Protocol-Version", &Headers::VERSION)?;
        let method = self.required("Mcp-Method", &Headers::METHOD)?;
        if let Some(method) = method.filter(|header| *header != message.method.as_bytes()) {
            return Err(mismatch("Mcp-Method", method, "method", &message.method));
        }
        let Some((member, name)) = params.mirrored_name(&message.method) else { return Ok(()) };
        match self.required("Mcp-Name", &Headers::NAME)? {
            Some(header) if decoded(header).as_deref() != Some(name.as_bytes()) => {
                Err(mismatch("Mcp-Name", header, member, &name))
            }
            _ => Ok(()),
        }
    }

    /// Returns the value of a header. It must be present if headers are required.
    fn required(&self, shown: &str, name: &HeaderName) -> Result<Option<&[u8]>, RpcFault> {
        let value = self.headers.get(name);
        if self.headers_required && value.is_none() {
            let detail =
                format!("the header {shown} is missing; revision 2026-07-28 requires it on every such request");
            return Err(RpcFault::header_mismatch(detail));
        }
        Ok(value)
    }
}

fn body_version(version: &RawValue) -> Result<Cow<'_, str>, RpcFault> {
    string(version).ok_or_else(|| wrong_meta(Meta::VERSION, "a string", version))
}

/// Creates the error for a missing member of `params._meta`.
fn missing_meta(key: &str) -> RpcFault {
    let detail = format!("params._meta.{key} is missing; every request carries it, {EXAMPLE}");
    RpcFault::malformed(Revision::V2026_07_28, detail)
}

/// Creates the error for a member of `params._meta` with the wrong type.
fn wrong_meta(key: &str, expected: &str, value: &RawValue) -> RpcFault {
    let detail = format!("params._meta.{key} must be {expected}, got {}; {EXAMPLE}", kind(value));
    RpcFault::malformed(Revision::V2026_07_28, detail)
}

fn mismatch(header: &str, sent: &[u8], member: &str, body: &str) -> RpcFault {
    let sent = quoted(&String::from_utf8_lossy(sent));
    let body = quoted(body);
    RpcFault::header_mismatch(format!("the header {header} is {sent} but {member} is {body}; send the same in both"))
}

/// Decodes the value of a header that mirrors a value of the body.
pub(crate) fn decoded(header: &[u8]) -> Option<Cow<'_, [u8]>> {
    match header.strip_prefix(b"=?base64?").and_then(|rest| rest.strip_suffix(b"?=")) {
        Some(encoded) => BASE64.decode(encoded).ok().map(Into::into),
        None => Some(header.into()),
    }
}
