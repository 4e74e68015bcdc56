use std::net::IpAddr;

use ipnet::IpNet;

use super::host::Site;
use super::response::{HandlerRefusal, HandlerResponse};
use crate::event::{Event, EventKind};
use crate::webhook::{
    WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP, WebhookSecret, X_SVC_SIGNATURE, X_SVC_SIGNATURE_NEXT,
};

/// Maximum difference of `webhook-timestamp` from this server's time, in seconds.
const ATTEMPT_TOLERANCE_SECS: u64 = 5 * 60;

/// The rules for accepting events.
#[derive(Clone, Debug)]
pub struct EventRules {
    /// The domain's webhook secret, and during a rotation also the next secret.
    pub secrets: Vec<WebhookSecret>,
    /// The IP addresses that events are accepted from; all if empty.
    pub allowed_sources: Vec<IpNet>,
}

/// The header fields of an event, as received.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventHeaders<'a> {
    /// `X-Svc-Signature`.
    pub x_svc_signature: Option<&'a str>,
    /// `X-Svc-Signature-Next`, sent during a rotation.
    pub x_svc_signature_next: Option<&'a str>,
    /// `webhook-id`.
    pub webhook_id: Option<&'a str>,
    /// `webhook-timestamp`.
    pub webhook_timestamp: Option<&'a str>,
    /// `webhook-signature`.
    pub webhook_signature: Option<&'a str>,
}

impl<'a> EventHeaders<'a> {
    /// Reads the header fields by their names in lower case.
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

/// Accepts an event from the service: 200 `{status: "received"}` or `{error}`.
///
/// `X-Svc-Signature` must match; it covers the whole body, including the event's ID. The service delivers events at
/// least once: a repeated event is 200 `{status: "received before"}` and has no second effect. A test is 200 without
/// any effect. The Standard Webhooks headers are checked if they are present: a sender that implements only the
/// specification has none. `source` is the client IP of the request, if known; `now` is in Unix seconds.
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
        // A test has no effect, so it is not recorded.
        EventKind::Test => true,
        EventKind::Login | EventKind::Register | EventKind::Link | EventKind::Other(_) => {
            site.accept_event(event).await?
        }
    };
    Ok(HandlerResponse::received(is_new))
}

/// Returns the event in a body, if the service signed it: for a site whose endpoint is not [`handle_event`]. Ignores
/// `allowed_sources` of the rules. `now` is in Unix seconds.
///
/// # Errors
/// [`HandlerRefusal::NotAuthentic`] if a signature is missing or wrong, or the attempt is too old;
/// [`HandlerRefusal::InvalidEvent`] if a signed body is not an event.
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

/// Checks the signatures of an event.
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
