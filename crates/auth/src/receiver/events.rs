//! The endpoint of a receiver that accepts the service's events.

use std::net::IpAddr;

use ipnet::IpNet;

use super::host::Site;
use super::response::{HandlerRefusal, HandlerResponse};
use crate::event::{Event, EventKind};
use crate::webhook::{
    WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP, WebhookSecret, X_SVC_SIGNATURE, X_SVC_SIGNATURE_NEXT,
};

/// Maximum difference between `webhook-timestamp` and the time of this server, in seconds.
const ATTEMPT_TOLERANCE_SECS: u64 = 5 * 60;

/// The rules of a receiver for accepting events.
#[derive(Clone, Debug)]
pub struct EventRules {
    /// The webhook secrets of the domain: the current secret and, during a rotation, the next
    /// secret.
    pub secrets: Vec<WebhookSecret>,
    /// The networks that events are accepted from. If the list is empty, events are accepted from
    /// all addresses.
    pub allowed_sources: Vec<IpNet>,
}

/// The headers of an event, as received.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventHeaders<'a> {
    /// The header `X-Svc-Signature`.
    pub x_svc_signature: Option<&'a str>,
    /// The header `X-Svc-Signature-Next`, sent during a rotation.
    pub x_svc_signature_next: Option<&'a str>,
    /// The header `webhook-id`.
    pub webhook_id: Option<&'a str>,
    /// The header `webhook-timestamp`.
    pub webhook_timestamp: Option<&'a str>,
    /// The header `webhook-signature`.
    pub webhook_signature: Option<&'a str>,
}

impl<'a> EventHeaders<'a> {
    /// Reads the headers with a function that returns the value of a header, given its name in
    /// lower case.
    pub fn from_fields(field: impl Fn(&str) -> Option<&'a str>) -> Self {
        Self {
            x_svc_signature: field(X_SVC_SIGNATURE),
            x_svc_signature_next: field(X_SVC_SIGNATURE_NEXT),
            webhook_id: field(WEBHOOK_ID),
            webhook_timestamp: field(WEBHOOK_TIMESTAMP),
            webhook_signature: field(WEBHOOK_SIGNATURE),
        }
    }
}

/// Handles an event from the service. Responds with 200 `{status: "received"}` or with `{error}`.
///
/// `X-Svc-Signature` must be valid; it covers the whole body, including the event ID. The service
/// delivers events at least once: a repeated event gets 200 `{status: "received before"}` and has
/// no further effect. A test event gets 200 and has no effect. The headers of Standard Webhooks are
/// verified only if present, because senders that implement only the specification omit them.
/// `source` is the client address of the request, if known. `now` is the current time in Unix
/// seconds.
pub async fn handle_event<S: Site>(
    site: &S,
    source: Option<IpAddr>,
    headers: &EventHeaders<'_>,
    body: &[u8],
    rules: &EventRules,
    now: i64,
) -> HandlerResponse {
    accept(site, source, headers, body, rules, now).await.into()
}

async fn accept<S: Site>(
    site: &S,
    source: Option<IpAddr>,
    headers: &EventHeaders<'_>,
    body: &[u8],
    rules: &EventRules,
    now: i64,
) -> Result<HandlerResponse, HandlerRefusal> {
    if !rules.allowed_sources.is_empty() {
        let source = source.ok_or(HandlerRefusal::SourceNotAllowed)?.to_canonical();
        if !rules.allowed_sources.iter().any(|net| net.contains(&source)) {
            return Err(HandlerRefusal::SourceNotAllowed);
        }
    }
    let event = read_event(headers, body, rules, now)?;
    let is_new = match event.event {
        // A test event has no effect, so it is not recorded.
        EventKind::Test => true,
        _ => site.accept_event(event).await?,
    };
    Ok(HandlerResponse::received(is_new))
}

/// Returns the event in a body if it was signed by the service, for sites that do not use
/// [`handle_event`]. Ignores `allowed_sources` of the rules. `now` is the current time in Unix
/// seconds.
///
/// # Errors
/// Returns [`HandlerRefusal::NotAuthentic`] if a signature is missing or wrong or the attempt is
/// too old, or [`HandlerRefusal::InvalidEvent`] if a signed body is not an event.
///
/// ```
/// use signpost_auth::WebhookSecret;
/// use signpost_auth::receiver::{EventHeaders, EventRules, read_event};
///
/// let secret = WebhookSecret::from_bytes(&[0; 32]);
/// let body = br#"{"event": "test", "timestamp": "2026-11-20T12:00:00Z", "session_id": "", "data": {}}"#;
/// let signature = secret.x_svc_signature(body);
/// let headers = EventHeaders { x_svc_signature: Some(&signature), ..EventHeaders::default() };
/// let rules = EventRules { secrets: vec![secret], allowed_sources: Vec::new() };
/// assert_eq!(read_event(&headers, body, &rules, 1_700_000_000).unwrap().event.as_str(), "test");
/// assert!(read_event(&EventHeaders::default(), body, &rules, 1_700_000_000).is_err());
/// ```
pub fn read_event(
    headers: &EventHeaders<'_>,
    body: &[u8],
    rules: &EventRules,
    now: i64,
) -> Result<Event, HandlerRefusal> {
    authenticate(headers, body, rules, now).map_err(HandlerRefusal::NotAuthentic)?;
    serde_json::from_slice(body).map_err(|_| HandlerRefusal::InvalidEvent)
}

/// Verifies the signatures of an event.
pub(super) fn authenticate(
    headers: &EventHeaders<'_>,
    body: &[u8],
    rules: &EventRules,
    now: i64,
) -> Result<(), &'static str> {
    let signature = headers.x_svc_signature.ok_or("it has no X-Svc-Signature")?;
    let signatures = [Some(signature), headers.x_svc_signature_next];
    let mut signatures = signatures.into_iter().flatten();
    if !signatures.any(|signature| rules.secrets.iter().any(|secret| secret.verify_x_svc_signature(signature, body))) {
        return Err("its X-Svc-Signature does not match");
    }
    let mut timestamp = None;
    if let Some(text) = headers.webhook_timestamp {
        let sent_at: i64 = text.parse().map_err(|_| "its webhook-timestamp is not a number")?;
        if sent_at.abs_diff(now) > ATTEMPT_TOLERANCE_SECS {
            return Err("its webhook-timestamp is more than 5 minutes from this server's time");
        }
        timestamp = Some(sent_at);
    }
    let Some(signature) = headers.webhook_signature else { return Ok(()) };
    let (Some(id), Some(sent_at)) = (headers.webhook_id, timestamp) else {
        return Err("it has a webhook-signature without webhook-id and webhook-timestamp");
    };
    if rules.secrets.iter().any(|secret| secret.verify_standard_signature(signature, id, sent_at, body)) {
        return Ok(());
    }
    Err("its webhook-signature does not match")
}
