//! Posts events to a receiver, and diagnoses why it rejects them.

pub(crate) mod diagnose;
pub(crate) mod known_secrets;
pub(crate) mod sample;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, SERVER};
use signpost_auth::diagnosis::{Framework, Mistake};
use signpost_platform::outbound::{EgressPolicy, NameResolver, Outbound, Request};
use url::Url;

/// Timeout of a request, as for a delivery (docs/handlers.md, Delivery).
const TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum bytes that are read of an answer.
const MAX_ANSWER_LEN: usize = 2048;
/// Maximum characters that are shown of an answer.
const MAX_SHOWN: usize = 120;

/// The header fields that sign an event.
pub(crate) type SignatureFields = Vec<(&'static str, String)>;

/// A receiver of events.
#[derive(Debug)]
pub(crate) struct EventTarget {
    pub(crate) url: Url,
    egress: EgressPolicy,
    outbound: Outbound,
}

/// The answer of a receiver.
#[derive(Debug)]
pub(crate) struct TargetReply {
    pub(crate) status: u16,
    pub(crate) elapsed: Duration,
    /// The beginning of the body, on a single line.
    pub(crate) excerpt: String,
    pub(crate) framework: Option<Framework>,
    /// The mistake of a failed receiver, if its body names a mistake.
    pub(crate) mistake: Option<Mistake>,
}

/// Parses the URL of a receiver: on this machine, with or without a scheme, or on the internet with https.
pub(crate) fn parse_target(text: &str) -> Result<Url, String> {
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&whole).map_err(|error| format!("{error}: use a URL such as localhost:3000/events"))?;
    EgressPolicy::Loopback.check(&url)?;
    Ok(url)
}

impl EventTarget {
    /// Creates a target with a new HTTP client. `egress` limits the addresses of resolved names.
    pub(crate) fn new(url: Url, egress: EgressPolicy) -> Self {
        Self::by(Outbound::new(&NameResolver::System), url, egress)
    }

    /// Creates a target that uses an existing HTTP client.
    pub(crate) fn by(outbound: Outbound, url: Url, egress: EgressPolicy) -> Self {
        Self { url, egress, outbound }
    }

    /// Posts an event.
    pub(crate) async fn post(&self, body: &[u8], fields: &SignatureFields) -> Result<TargetReply> {
        let began = Instant::now();
        let answer = self.outbound.send_for_status(self.egress, self.request(body, fields)?).await?;
        let text = String::from_utf8_lossy(&answer.body);
        let server = answer.headers.get(SERVER).and_then(|value| value.to_str().ok());
        let powered_by = answer.headers.get("x-powered-by").and_then(|value| value.to_str().ok());
        Ok(TargetReply {
            status: answer.status,
            elapsed: began.elapsed(),
            excerpt: first_words(&text),
            mistake: if answer.status >= 500 { Mistake::detect(&text) } else { None },
            framework: Framework::detect(server, powered_by),
        })
    }

    /// Posts half of an event, and closes the connection.
    pub(crate) async fn post_half(&self, body: &[u8], fields: &SignatureFields) -> Result<()> {
        self.outbound.send_aborted(self.egress, self.request(body, fields)?).await
    }

    fn request(&self, body: &[u8], fields: &SignatureFields) -> Result<Request<'_>> {
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        for (name, value) in fields {
            let value = HeaderValue::from_str(value).context("a header field cannot have this value")?;
            headers.insert(HeaderName::from_static(name), value);
        }
        let body = Some(Bytes::copy_from_slice(body));
        Ok(Request { method: Method::POST, url: &self.url, headers, body, timeout: TIMEOUT, max_body: MAX_ANSWER_LEN })
    }
}

/// Returns the beginning of an answer on a single line, without HTML tags.
fn first_words(text: &str) -> String {
    let is_page = text.trim_start().starts_with('<');
    let bare: String = text.split('<').map(|part| part.split_once('>').map_or(part, |(_, behind)| behind)).collect();
    let words: Vec<_> = if is_page { &bare } else { text }.split_whitespace().collect();
    signpost_text::clean_line(&words.join(" ")).chars().take(MAX_SHOWN).collect()
}

impl TargetReply {
    /// Returns true if the receiver rejected the event, or failed because of a known mistake.
    pub(crate) fn is_refusal(&self) -> bool {
        (400..500).contains(&self.status) || self.mistake.is_some()
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn millis(&self) -> u64 {
        u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_shortened() {
        for (text, expected) in [
            ("", ""),
            (" {\"error\":\n \"a < b\"}\n", "{\"error\": \"a < b\"}"),
            ("<!DOCTYPE html>\n<html><head>\n<title>Error</title></head><pre>TypeError: x", "ErrorTypeError: x"),
            ("\u{1b}[31mred\u{202e}", " [31mred"),
        ] {
            assert_eq!(first_words(text), expected, "{text:?}");
        }
        assert_eq!(first_words(&"x".repeat(5000)).len(), MAX_SHOWN);
    }

    #[test]
    fn receiver_is_loopback_or_public() {
        for (text, expected) in [
            ("localhost:3000/events", Some("http://localhost:3000/events")),
            ("127.0.0.1:3000", Some("http://127.0.0.1:3000/")),
            ("[::1]:3000/e", Some("http://[::1]:3000/e")),
            ("http://localhost:3000/events?x=1", Some("http://localhost:3000/events?x=1")),
            ("https://shop.example/events", Some("https://shop.example/events")),
            ("http://shop.example/events", None),
            ("http://192.168.1.2/events", None),
            ("https://10.0.0.1/", None),
            ("ftp://localhost/", None),
            ("http://me:x@localhost/", None),
            ("", None),
        ] {
            assert_eq!(parse_target(text).ok().as_ref().map(Url::as_str), expected, "{text}");
        }
    }
}
