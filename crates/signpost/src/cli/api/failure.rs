//! The errors of calls of a service's API, each with the URL, the status, the code and the remedy.

use std::fmt::Display;

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};
use url::Url;

use super::short_line;

/// An API call that failed. Its text never contains the key.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(in crate::cli) struct ApiFailure {
    status: Option<StatusCode>,
    code: Option<String>,
    details: Map<String, Value>,
    text: String,
}

/// The body of an error response.
#[derive(Deserialize)]
struct ErrorDocument {
    error: ErrorFields,
}

#[derive(Deserialize)]
struct ErrorFields {
    code: String,
    message: String,
    #[serde(default)]
    details: Map<String, Value>,
}

impl ApiFailure {
    /// Creates the error for a missing or incomplete response.
    pub(super) fn no_reply(url: &Url, error: &anyhow::Error) -> Self {
        let text = format!("{url}: {error:#}; {}", connection_remedy(error));
        Self { status: None, code: None, details: Map::new(), text }
    }

    /// Creates the error that an error response describes.
    pub(super) fn rejected(url: &Url, status: StatusCode, body: &[u8]) -> Self {
        let Ok(ErrorDocument { error: ErrorFields { code, message, details } }) = serde_json::from_slice(body) else {
            return Self::not_the_service(url, status, "has no error of the API");
        };
        let (code, message) = (short_line(&code), short_line(&message));
        let message = message.trim_end_matches('.');
        let remedy = code_remedy(&code).map(|remedy| format!("; {remedy}")).unwrap_or_default();
        let text = format!("{url}: {} {code}: {message}{remedy}", status.as_u16());
        Self { status: Some(status), code: Some(code), details, text }
    }

    /// Creates the error for a response that is not the service's.
    pub(super) fn not_the_service(url: &Url, status: StatusCode, reason: impl Display) -> Self {
        let remedy = if status.is_redirection() {
            "redirects are not followed, because they would get the key: use the final address"
        } else {
            "is this the address of a Signpost server of this version, without a path?"
        };
        let text = format!("{url}: {}: the reply {reason}; {remedy}", status.as_u16());
        Self { status: Some(status), code: None, details: Map::new(), text }
    }

    /// Returns true if the service rejected the call with this code.
    pub(in crate::cli) fn has_code(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code)
    }

    /// Returns true if the object of the call does not exist, or belongs to another account.
    pub(in crate::cli) fn is_not_found(&self) -> bool {
        self.status == Some(StatusCode::NOT_FOUND) && self.code.is_some()
    }

    /// Returns a member of the details.
    pub(in crate::cli) fn detail(&self, name: &str) -> Option<&Value> {
        self.details.get(name)
    }
}

/// Returns the remedy for a connection that failed.
fn connection_remedy(error: &anyhow::Error) -> &'static str {
    let is_timeout =
        error.chain().any(|cause| cause.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout));
    let text = format!("{error:#}").to_lowercase();
    if is_timeout {
        "the server did not answer in time: try again, and check the network"
    } else if text.contains("certificate") || text.contains("tls") {
        "the TLS connection failed: check the host name, the server's certificate and the clock of this machine"
    } else if text.contains("refused") {
        "no server listens there: check the address and the port, and that the server runs"
    } else if text.contains("dns") || text.contains("resolve") {
        "the host name does not resolve: check the address"
    } else {
        "check the address of --api, and that the server runs"
    }
}

/// Returns the remedy for an error that the command line can explain better than the service.
fn code_remedy(code: &str) -> Option<&'static str> {
    Some(match code {
        "invalid_api_key" => {
            "check that the key belongs to this server and was not revoked; 'signpost keys list' on the server shows \
             the keys"
        }
        "insufficient_scope" => "use a key with the required scope; 'signpost keys create' on the server makes one",
        "rate_limited" => "wait, and run the command again",
        "domain_not_found" => "'signpost domains list' shows the domains of the key's account",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url() -> Url {
        Url::parse("https://login.example/v1/domains").unwrap()
    }

    #[test]
    fn rejection_names_url_status_and_code() {
        let body = br#"{"error":{"code":"invalid_api_key","message":"The API key is not valid.","details":{"a":1}}}"#;
        let failure = ApiFailure::rejected(&url(), StatusCode::UNAUTHORIZED, body);
        let expected = "https://login.example/v1/domains: 401 invalid_api_key: The API key is not valid; check that";
        assert!(failure.to_string().starts_with(expected), "{failure}");
        assert!(failure.has_code("invalid_api_key") && !failure.is_not_found());
        assert_eq!(failure.detail("a"), Some(&Value::from(1)));
    }

    #[test]
    fn reply_of_another_server_is_named() {
        for (status, body, expected) in [
            (404, "<html>", "address of a Signpost server"),
            (502, r#"{"error": "x"}"#, "address of a Signpost server"),
            (301, "", "redirects are not followed"),
        ] {
            let failure = ApiFailure::rejected(&url(), StatusCode::from_u16(status).unwrap(), body.as_bytes());
            let text = failure.to_string();
            assert!(text.contains(expected) && text.contains(&status.to_string()), "{text}");
            assert!(!failure.is_not_found(), "{status}");
        }
    }

    #[test]
    fn connection_errors_have_a_remedy() {
        for (text, expected) in [
            ("tcp connect error: Connection refused (os error 111)", "no server listens there"),
            ("invalid peer certificate: UnknownIssuer", "TLS connection failed"),
            ("dns error: no record found", "does not resolve"),
            ("connection reset", "check the address"),
        ] {
            let failure = ApiFailure::no_reply(&url(), &anyhow::anyhow!(text));
            assert!(failure.to_string().contains(expected), "{failure}");
        }
    }
}
