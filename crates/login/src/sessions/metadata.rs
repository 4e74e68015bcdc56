//! Metadata of a session. The service validates it, and returns it to the integrator unchanged.

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use signpost_auth::DomainName;
use url::Url;

const MAX_RETURN_URL_LEN: usize = 2048;
const MAX_CUSTOM_DATA_LEN: usize = 4096;

/// Query parameters that the server adds to a `return_url`. If the URL had such a parameter already, the site might
/// read it.
const RESERVED_PARAMETERS: [&str; 3] = ["code", "session_id", "error"];

/// A JSON object in the integrator's spelling, including the order of members and the form of numbers.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Metadata(Box<RawValue>);

/// The metadata members that the server itself reads.
#[derive(Deserialize)]
struct KnownMembers<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    return_url: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    custom_data: Option<&'a RawValue>,
}

impl Metadata {
    /// Checks the metadata of a session on `domain`.
    ///
    /// # Errors
    /// Returns the wrong member and the reason. A `return_url` outside the domain would make the
    /// server an open redirector.
    pub fn new(object: Box<RawValue>, domain: &DomainName) -> Result<Self, (&'static str, String)> {
        // For repeated members, some parsers use the first and others the last.
        let known = serde_json::from_str::<KnownMembers<'_>>(object.get());
        let known = known.map_err(|_| ("metadata", "must not repeat a member".to_owned()))?;
        if let Some(text) = text(known.return_url, "metadata.return_url", MAX_RETURN_URL_LEN)?
            && let Err(reason) = check_return_url(&text, domain)
        {
            return Err(("metadata.return_url", reason.to_owned()));
        }
        text(known.custom_data, "metadata.custom_data", MAX_CUSTOM_DATA_LEN)?;
        Ok(Self(object))
    }

    /// Returns the return URL set by the integrator, if any.
    pub(crate) fn return_url(&self) -> Option<String> {
        let known = serde_json::from_str::<KnownMembers<'_>>(self.0.get()).ok()?;
        serde_json::from_str(known.return_url?.get()).ok()
    }

    pub(crate) fn from_stored(object: &str) -> serde_json::Result<Self> {
        RawValue::from_string(object.to_owned()).map(Self)
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.get()
    }
}

/// Deserializes a member that is present, including `null`.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(json: D) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(json).map(Some)
}

/// Parses a member that must be a string of at most `max` characters.
fn text(member: Option<&RawValue>, name: &'static str, max: usize) -> Result<Option<String>, (&'static str, String)> {
    let Some(member) = member else { return Ok(None) };
    let text: String = serde_json::from_str(member.get()).map_err(|_| (name, "must be a string".to_owned()))?;
    if text.chars().count() > max {
        return Err((name, format!("must have at most {max} characters")));
    }
    Ok(Some(text))
}

/// Checks that a browser that follows `text` stays on the domain, and that the query has no reserved parameter.
fn check_return_url(text: &str, domain: &DomainName) -> Result<(), &'static str> {
    let Some(url) = resolve_on_domain(text, domain) else {
        return Err(
            "must be a path such as /account, or an https URL on the domain or below it (for localhost also http)",
        );
    };
    if url.query_pairs().any(|(name, _)| RESERVED_PARAMETERS.contains(&&*name)) {
        return Err("must not have code, session_id or error in its query: they are added when the person returns");
    }
    let path = text.split(['?', '#']).next().unwrap_or_default();
    // The path is decoded before it is split, because a slash may be escaped.
    if percent_decode_str(path).decode_utf8_lossy().split(['/', '\\']).any(|segment| segment == "..") {
        return Err("must not have '..' in its path: write the path that it resolves to");
    }
    Ok(())
}

/// Resolves `text` as a browser does, if the result is on the domain. Browsers read `//host` and `/\host` as other
/// hosts, and remove tabs and line ends first.
fn resolve_on_domain(text: &str, domain: &DomainName) -> Option<Url> {
    if text.chars().any(char::is_control) || text.contains('\\') {
        return None;
    }
    if text.starts_with("//") {
        return None;
    }
    if text.starts_with('/') {
        return Url::parse(&format!("https://{domain}/")).ok()?.join(text).ok();
    }
    let url = Url::parse(text).ok()?;
    let has_user = !url.username().is_empty() || url.password().is_some();
    // A site in development on localhost has no TLS.
    let is_secure = url.scheme() == "https" || url.scheme() == "http" && domain.as_str() == "localhost";
    let is_on_domain = is_secure && !has_user && url.host_str().is_some_and(|host| domain.covers(host));
    is_on_domain.then_some(url)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(object: &str) -> Result<Metadata, (&'static str, String)> {
        Metadata::new(RawValue::from_string(object.to_owned()).unwrap(), &DomainName::parse("example.com").unwrap())
    }

    #[test]
    fn return_url_stays_on_the_domain() {
        for (text, ok) in [
            ("/account", true),
            ("/", true),
            ("/a?next=//b", true),
            ("https://example.com/account", true),
            ("https://shop.example.com/", true),
            ("//evil.example", false),
            ("/\\evil.example", false),
            ("/\t/evil.example", false),
            ("https://example.com.evil.example/", false),
            ("https://evilexample.com/", false),
            ("https://example.com@evil.example/", false),
            ("https://user@example.com/", false),
            ("http://example.com/", false),
            ("javascript:alert(1)", false),
            ("account", false),
            ("", false),
            ("/in?code=1", false),
            ("/in?a=1&c%6fde=", false),
            ("/in?session_id", false),
            ("https://example.com/in?error=access_denied", false),
            ("/in?codes=1&Code=2&a=code", true),
            ("/in#code=1", true),
            ("/a/../b", false),
            ("/..", false),
            ("https://example.com/a/..", false),
            ("/a/%2e%2E/b", false),
            ("/a/.%2e?x", false),
            ("/a%2f..%2Fb", false),
            ("/a%5C..%5Cb", false),
            ("/a/...", true),
            ("/a..b/.c", true),
            ("/in?next=/../x", true),
        ] {
            assert_eq!(metadata(&json!({ "return_url": text }).to_string()).is_ok(), ok, "{text}");
        }
    }

    #[test]
    fn localhost_return_url_may_use_http() {
        let localhost = DomainName::parse("localhost").unwrap();
        for (text, ok) in [
            ("http://localhost:9001/return", true),
            ("https://localhost:9001/return", true),
            ("http://shop.localhost:9001/return", true),
            ("http://127.0.0.1:9001/return", false),
            ("http://localhost.evil.example/", false),
            ("http://localhost@evil.example/", false),
            ("http://user@localhost:9001/", false),
            ("ftp://localhost/", false),
            ("http://localhost:9001/return?code=1", false),
        ] {
            let object = RawValue::from_string(json!({ "return_url": text }).to_string()).unwrap();
            assert_eq!(Metadata::new(object, &localhost).is_ok(), ok, "{text}");
        }
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        for (member, max) in [("custom_data", 4096), ("return_url", 2048)] {
            for (length, ok) in [(max, true), (max + 1, false)] {
                let text = format!("/{}", "é".repeat(length - 1));
                assert_eq!(metadata(&json!({ member: text }).to_string()).is_ok(), ok, "{member} {length}");
            }
        }
        assert!(metadata(r#"{"custom_data":1}"#).is_err());
        assert!(metadata(r#"{"return_url":null}"#).is_err());
        assert!(metadata(r#"{"return_url":"/a","return_url":"/b"}"#).is_err());
    }

    #[test]
    fn metadata_preserves_its_text() {
        for object in [r#"{"z": 1, "a": 18446744073709551617}"#, r#"{"n":1.00,"e":1e400}"#] {
            assert_eq!(serde_json::to_string(&metadata(object).unwrap()).unwrap(), object);
        }
    }
}
