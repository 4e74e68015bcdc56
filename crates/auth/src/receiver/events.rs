use std::net::IpAddr;

use ipnet::IpNet;

use super::host::Site;
use super::response::{HandlerRefusal, HandlerResponse};
use crate::event::{Event, EventKind};
use crate::webhook::WebhookSecret;

/// How far an attempt's `webhook-timestamp` may be from this server's time, in seconds, either way.
const ATTEMPT_TOLERANCE_SECS: u64 = 5 * 60;

/// How events are judged.
#[derive(Clone, Debug)]
pub struct EventRules {
    /// The domain's webhook secret; during a rotation the next one too.
    pub secrets: Vec<WebhookSecret>,
    /// The only addresses events may come from; from anywhere if empty.
    pub allowed_sources: Vec<IpNet>,
}

/// The headers of an event, as they are.
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

/// Accepts an event from the service: 200 `{status: "received"}` or `{error}`.
///
/// `X-Svc-Signature` must match; it covers the whole body, and with it the event's id. The service delivers at least
/// once: an event that comes again is 200 `{status: "received before"}` and has no second effect. A test is 200
/// without any effect. The Standard Webhooks
/// headers are checked where they are given: a sender that knows only the specification has none.
/// `source` is the address the request came from, if known; `now` is in Unix seconds.
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
    let allowed = |source: IpAddr| rules.allowed_sources.iter().any(|net| net.contains(&source.to_canonical()));
    if !rules.allowed_sources.is_empty() && !source.is_some_and(allowed) {
        return Err(HandlerRefusal::SourceNotAllowed);
    }
    let event = read_event(headers, body, rules, now)?;
    let is_new = match event.event {
        // Nothing happened: there is nothing to act on or to remember.
        EventKind::Test => true,
        EventKind::Login | EventKind::Register | EventKind::Link | EventKind::Other(_) => {
            site.accept_event(event).await?
        }
    };
    Ok(HandlerResponse::received(is_new))
}

/// The event in a body, if the service signed it: for a site whose endpoint is not [`handle_event`]. `allowed_sources` of the
/// rules is not looked at; `now` is in Unix seconds.
///
/// # Errors
/// [`HandlerRefusal::NotAuthentic`] where a signature is missing or wrong, or the attempt too old;
/// [`HandlerRefusal::InvalidEvent`] for a signed body that is no event.
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

pub(super) fn authenticate(
    headers: &EventHeaders<'_>,
    body: &[u8],
    rules: &EventRules,
    now: i64,
) -> Result<(), &'static str> {
    let signature = headers.x_svc_signature.ok_or("it has no X-Svc-Signature")?;
    let made = |secret: &WebhookSecret| {
        secret.made_x_svc_signature(signature, body)
            || headers.x_svc_signature_next.is_some_and(|next| secret.made_x_svc_signature(next, body))
    };
    if !rules.secrets.iter().any(made) {
        return Err("its X-Svc-Signature does not match");
    }
    let timestamp = headers.webhook_timestamp.map(str::parse::<i64>).transpose();
    let timestamp = timestamp.map_err(|_| "its webhook-timestamp is not a number")?;
    if timestamp.is_some_and(|timestamp| timestamp.abs_diff(now) > ATTEMPT_TOLERANCE_SECS) {
        return Err("its webhook-timestamp is more than 5 minutes from this server's time");
    }
    let Some(signature) = headers.webhook_signature else { return Ok(()) };
    let (Some(id), Some(timestamp)) = (headers.webhook_id, timestamp) else {
        return Err("it has a webhook-signature without webhook-id and webhook-timestamp");
    };
    let made = |secret: &WebhookSecret| secret.made_standard_signature(signature, id, timestamp, body);
    if rules.secrets.iter().any(made) { Ok(()) } else { Err("its webhook-signature does not match") }
}
