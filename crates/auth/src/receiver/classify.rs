use serde::Deserialize;

use super::events::{EventHeaders, EventRules, authenticate};
use super::response::HandlerRefusal;

/// What was posted to a webhook that wallets and the service share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Post {
    /// A wallet's answer, not yet checked: give it to [`super::handle_login`] or [`super::handle_register`].
    Answer,
    /// The service's event, its signature checked: give it to [`super::handle_event`], which acts on each one once.
    Event,
}

/// Tells a wallet's answer from the service's event. What calls itself an event must be signed: an unsigned one is
/// nobody's, and is not looked at as an answer either.
///
/// # Errors
/// [`HandlerRefusal::NotAuthentic`] for an event whose signature is missing or wrong.
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
    let calls_itself_one = serde_json::from_slice::<Named>(body).is_ok_and(|named| named.event.is_some());
    if !is_signed && !calls_itself_one {
        return Ok(Post::Answer);
    }
    authenticate(headers, body, rules, now).map_err(HandlerRefusal::NotAuthentic)?;
    Ok(Post::Event)
}
