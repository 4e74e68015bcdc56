use data_encoding::BASE64;
use http::{HeaderMap, HeaderName};
use serde_json::value::RawValue;

use crate::fault::{RpcFault, quoted};
use crate::json::{kind, string};
use crate::message::{Message, Meta, Params};
use crate::notifications::{LogLevel, Notifications};
use crate::revision::Revision;

const EXAMPLE: &str = concat!(
    r#"for example "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// What a transport knows of a message besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The headers it came with.
    pub headers: Headers<'a>,
    /// Whether a request of 2026-07-28 must carry all of them (Streamable HTTP); if not, those that are there must
    /// still agree with the body.
    pub headers_required: bool,
    /// What counts where neither header nor body says: the revision `initialize` agreed on, or [`Revision::ASSUMED`].
    pub revision: Revision,
    /// Under which id a failure of ours is logged and reported.
    pub request_id: Option<&'a str>,
    /// What the client declared with `initialize` on this connection. A request of 2026-07-28 declares its own.
    pub capabilities: Option<&'a RawValue>,
    /// What `logging/setLevel` asked for on this connection.
    pub log_level: Option<LogLevel>,
    /// Where handlers leave notifications; without it they are dropped.
    pub notifications: Option<&'a Notifications>,
}

/// The headers of a request, of which the protocol defines some.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers<'a>(pub Option<&'a HeaderMap>);

impl<'a> Headers<'a> {
    pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
    const METHOD: HeaderName = HeaderName::from_static("mcp-method");
    const NAME: HeaderName = HeaderName::from_static("mcp-name");

    /// A header's value. One that is sent twice is like neither of its values, so that what stands between client and
    /// server cannot have read another than we.
    pub(crate) fn get(self, name: &HeaderName) -> Option<&'a [u8]> {
        let mut sent = self.0?.get_all(name).iter();
        match (sent.next(), sent.next()) {
            (Some(value), None) => Some(value.as_bytes()),
            (Some(_), Some(_)) => Some(b"(several values)"),
            (None, _) => None,
        }
    }
}

impl Context<'_> {
    /// A message on a connection without headers (stdio, a session over SSE) on which `revision` was agreed.
    #[must_use]
    pub fn session(revision: Revision) -> Self {
        Self {
            headers: Headers::default(),
            headers_required: false,
            revision,
            request_id: None,
            capabilities: None,
            log_level: None,
            notifications: None,
        }
    }

    /// The revision that the version header names, if there is one.
    pub(crate) fn header_revision(&self) -> Result<Option<Revision>, RpcFault> {
        let Some(version) = self.headers.get(&Headers::VERSION) else { return Ok(None) };
        let version = String::from_utf8_lossy(version);
        Revision::parse(&version).map(Some).ok_or_else(|| RpcFault::unsupported_version(&version))
    }

    /// The best guess at the revision of a request whose body does not say.
    pub(crate) fn revision_without_body(&self) -> Revision {
        self.header_revision().ok().flatten().unwrap_or(self.revision)
    }

    /// The revision by which a request is to be answered, once everything that revision asks of it holds.
    pub(crate) fn revision(&self, message: &Message<'_>, params: &Params<'_>) -> Result<Revision, RpcFault> {
        let Meta { version, capabilities, .. } = params.meta;
        let body = version.map(body_version).transpose()?;
        if let (Some(header), Some(body)) = (self.headers.get(&Headers::VERSION), &body)
            && header != body.as_bytes()
        {
            return Err(mismatch("MCP-Protocol-Version", header, &format!("params._meta.{}", Meta::VERSION), body));
        }
        let named = match &body {
            Some(body) => Some(Revision::parse(body).ok_or_else(|| RpcFault::unsupported_version(body))?),
            None => self.header_revision()?,
        };
        // Both exist since 2026-07-28 only, so a request that has them but names no revision is a faulty one of that.
        let stateless = capabilities.is_some() || message.method == "server/discover";
        let revision = named.unwrap_or(if stateless { Revision::V2026_07_28 } else { self.revision });
        if revision.is_stateless() {
            self.check_stateless(message, params)?;
        }
        Ok(revision)
    }

    fn check_stateless(&self, message: &Message<'_>, params: &Params<'_>) -> Result<(), RpcFault> {
        let missing = |key| {
            let detail = format!("params._meta.{key} is missing; every request carries it, {EXAMPLE}");
            RpcFault::malformed(Revision::V2026_07_28, detail)
        };
        params.meta.version.ok_or_else(|| missing(Meta::VERSION))?;
        let capabilities = params.meta.capabilities.ok_or_else(|| missing(Meta::CAPABILITIES))?;
        if kind(capabilities) != "an object" {
            let (key, got) = (Meta::CAPABILITIES, kind(capabilities));
            let detail = format!("params._meta.{key} must be an object, got {got}; {EXAMPLE}");
            return Err(RpcFault::malformed(Revision::V2026_07_28, detail));
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

    /// A header that must be there where headers count.
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

fn body_version(version: &RawValue) -> Result<std::borrow::Cow<'_, str>, RpcFault> {
    string(version).ok_or_else(|| {
        let (key, got) = (Meta::VERSION, kind(version));
        let detail = format!("params._meta.{key} must be a string, got {got}; {EXAMPLE}");
        RpcFault::malformed(Revision::V2026_07_28, detail)
    })
}

fn mismatch(header: &str, sent: &[u8], member: &str, body: &str) -> RpcFault {
    let (sent, body) = (quoted(&String::from_utf8_lossy(sent)), quoted(body));
    RpcFault::header_mismatch(format!("the header {header} is {sent} but {member} is {body}; send the same in both"))
}

/// A value as it was before it was made fit for a header.
pub(crate) fn decoded(header: &[u8]) -> Option<std::borrow::Cow<'_, [u8]>> {
    match header.strip_prefix(b"=?base64?").and_then(|rest| rest.strip_suffix(b"?=")) {
        Some(encoded) => BASE64.decode(encoded).ok().map(Into::into),
        None => Some(header.into()),
    }
}
