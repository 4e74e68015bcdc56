//! Distinguishes answers from events at a URL that receives both.

use serde::Deserialize;

use super::events::{EventHeaders, EventRules, authenticate};
use super::response::HandlerRefusal;

/// The kind of a request to a webhook that receives answers of wallets and events of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Post {
    /// A wallet's answer, which is not verified yet, for [`super::handle_login`] or
    /// [`super::handle_register`].
    Answer,
    /// An event of the service with a valid signature, for [`super::handle_event`], which ignores
    /// repeated events.
    Event,
}

/// Distinguishes a wallet's answer from an event of the service. A body with the member `event`
/// must be signed; an unsigned event is rejected instead of being treated as an answer.
///
/// # Errors
/// Returns [`HandlerRefusal::NotAuthentic`] if the signature of an event is missing or wrong.
///
/// ```
/// use signpost_auth::receiver::{EventHeaders, EventRules, Post, classify};
///
/// let rules = EventRules { secrets: Vec::new(), allowed_sources: Vec::new() };
/// let answer = br#"{"public_key": "02", "signature": "30", "challenge": "svc:login", "timestamp": 1}"#;
/// assert_eq!(classify(&EventHeaders::default(), answer, &rules, 0), Ok(Post::Answer));
/// assert!(classify(&EventHeaders::default(), br#"{"event": "login"}"#, &rules, 0).is_err());
/// ```
pub fn classify(headers: &EventHeaders<'_>, body: &[u8], rules: &EventRules, now: i64) -> Result<Post, HandlerRefusal> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        event: Option<serde::de::IgnoredAny>,
    }
    let is_signed = headers.x_svc_signature.is_some() || headers.webhook_signature.is_some();
    let has_event = serde_json::from_slice::<Named>(body).is_ok_and(|named| named.event.is_some());
    if !is_signed && !has_event {
        return Ok(Post::Answer);
    }
    authenticate(headers, body, rules, now).map_err(HandlerRefusal::NotAuthentic)?;
    Ok(Post::Event)
}
