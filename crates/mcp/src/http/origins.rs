//! Validation of the `Origin` header against a list of allowed origins.

use http::header::ORIGIN;
use http::{HeaderMap, HeaderValue};

use crate::context::{DuplicateHeader, single_header};

/// The web origins (RFC 6454) with access to the server. Requests without an `Origin` header are always allowed.
///
/// ```
/// # use signpost_mcp::Origins;
/// let origins = Origins::parse(["http://localhost:3000", "https://*.example.com"])?;
/// assert!(origins.allow("https://chat.eu.example.com"));
/// assert!(!origins.allow("https://example.com"));
/// # Ok::<(), signpost_mcp::OriginParseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Origins(Vec<Rule>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    Exact(String),
    /// All subdomains of a domain. The text starts with a dot.
    Subdomains(String),
}

/// The error of an invalid origin or origin pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{given}' is not an allowed origin: {reason}; write a whole origin such as http://localhost:3000, or \
     https://*.example.com for everything below example.com"
)]
pub struct OriginParseError {
    given: String,
    reason: &'static str,
}

/// The result of checking the `Origin` header.
#[derive(Clone, Copy)]
pub(crate) enum OriginVerdict<'a> {
    Absent,
    Allowed(&'a HeaderValue),
    Forbidden,
}

impl Origins {
    /// Parses a list of origins (`scheme://host[:port]`) and patterns. The pattern `https://*.example.com` matches one
    /// or more labels below example.com over HTTPS, but not example.com itself.
    ///
    /// # Errors
    /// [`OriginParseError`] with the first invalid entry and the reason.
    pub fn parse<'a>(list: impl IntoIterator<Item = &'a str>) -> Result<Self, OriginParseError> {
        list.into_iter()
            .map(|text| Rule::parse(text).map_err(|reason| OriginParseError { given: text.to_owned(), reason }))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns the union of both lists.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Returns `true` if scripts of `origin`, as sent by a browser, may access the server.
    #[must_use]
    pub fn allow(&self, origin: &str) -> bool {
        self.0.iter().any(|rule| rule.allows(origin))
    }

    pub(crate) fn check<'a>(&self, headers: &'a HeaderMap) -> OriginVerdict<'a> {
        match single_header(headers, &ORIGIN) {
            Ok(None) => OriginVerdict::Absent,
            Ok(Some(origin)) if origin.to_str().is_ok_and(|origin| self.allow(origin)) => {
                OriginVerdict::Allowed(origin)
            }
            Ok(Some(_)) | Err(DuplicateHeader) => OriginVerdict::Forbidden,
        }
    }
}

impl Rule {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim().to_ascii_lowercase();
        let (scheme, host) = text.split_once("://").ok_or("the scheme is missing")?;
        if scheme.is_empty() || host.is_empty() {
            return Err("scheme and host are both needed");
        }
        if !host.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:[]*".contains(c)) {
            return Err("an origin is a host and perhaps a port, in ASCII, without user, path or slash");
        }
        let port = if host.ends_with(']') { None } else { host.rsplit_once(':') };
        if port.is_some_and(|(_, port)| port.parse::<u16>().is_err()) {
            return Err("the port is not a number up to 65535");
        }
        match host.strip_prefix('*') {
            None if host.contains('*') => Err("the star replaces whole labels, only at the beginning"),
            None => Ok(Self::Exact(without_default_port(text))),
            Some(_) if scheme != "https" => Err("patterns are https only"),
            Some(domain) if !domain.starts_with('.') || domain.contains('*') => Err("the star is followed by a dot"),
            Some(domain) if domain[1..].split('.').count() < 2 || domain.split('.').skip(1).any(str::is_empty) => {
                Err("a pattern needs a domain of two labels or more")
            }
            Some(domain) => {
                Ok(Self::Subdomains(without_default_port(format!("https://{domain}"))["https://".len()..].to_owned()))
            }
        }
    }

    fn allows(&self, origin: &str) -> bool {
        match self {
            Self::Exact(allowed) => allowed == origin,
            Self::Subdomains(domain) => {
                let Some(host) = origin.strip_prefix("https://") else { return false };
                host.strip_suffix(domain.as_str()).is_some_and(|labels| labels.split('.').all(is_label))
            }
        }
    }
}

/// Removes the default port, as browsers do.
fn without_default_port(origin: String) -> String {
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    origin.strip_suffix(port).map(str::to_owned).unwrap_or(origin)
}

fn is_label(label: &str) -> bool {
    !label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
}
