//! Diagnoses why a receiver rejects events, by posting test events that a receiver with a known
//! mistake would accept. Test events have no effect at the site.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use signpost_auth::diagnosis::{Framework, KnownSecret, Mistake, possible_mistakes, remedies};
use signpost_login::domains::SigningSecrets;
use signpost_platform::clock::Clock;
use signpost_store::random;
use tokio::time::timeout;

use super::sample::{SampleEvent, draw_secrets};
use super::{EventTarget, TargetReply};

/// Timeout of a diagnosis.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The reason why a receiver rejects an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RefusalCause {
    /// The receiver makes this mistake.
    Mistake(Mistake, Option<Framework>),
    /// The status shows that the signature is not the reason.
    Status(u16),
    /// The receiver accepts a test with a correct signature, so it rejects the event itself.
    Event,
    /// The receiver accepts a test with a wrong signature.
    SignatureUnchecked,
    /// The receiver rejects all tests.
    Unexplained,
    /// The receiver stopped answering, or is slow.
    Unresponsive,
}

/// Finds out why the receiver rejected an event with this reply. The body of a 5xx reply may contain the reason.
pub(crate) async fn diagnose(
    target: &EventTarget,
    refusal: &TargetReply,
    secrets: &SigningSecrets,
    others: &[KnownSecret],
) -> RefusalCause {
    if let Some(mistake) = &refusal.mistake {
        return RefusalCause::Mistake(mistake.clone(), refusal.framework);
    }
    if RefusalCause::Status(refusal.status).words().is_some() {
        return RefusalCause::Status(refusal.status);
    }
    match timeout(TIMEOUT, probe(target, refusal, secrets, others)).await {
        Ok(Ok(cause)) => cause,
        Ok(Err(_)) | Err(_) => RefusalCause::Unresponsive,
    }
}

/// Finds out why the receiver rejected an event, without the secrets of its domain: by the reply, and by a test event
/// with a wrong signature. `None` if only signed tests could show the reason.
pub(crate) async fn diagnose_without_secret(target: &EventTarget, refusal: &TargetReply) -> Option<RefusalCause> {
    if let Some(mistake) = &refusal.mistake {
        return Some(RefusalCause::Mistake(mistake.clone(), refusal.framework));
    }
    if RefusalCause::Status(refusal.status).words().is_some() {
        return Some(RefusalCause::Status(refusal.status));
    }
    match timeout(TIMEOUT, post_test(target, &test_event(), &draw_secrets())).await {
        Ok(Ok(reply)) if reply.is_success() => Some(RefusalCause::SignatureUnchecked),
        Ok(Ok(_)) => None,
        Ok(Err(_)) | Err(_) => Some(RefusalCause::Unresponsive),
    }
}

/// Posts test events until the reason is found.
async fn probe(
    target: &EventTarget,
    refusal: &TargetReply,
    secrets: &SigningSecrets,
    others: &[KnownSecret],
) -> Result<RefusalCause> {
    let refused = post_test(target, &test_event(), &draw_secrets()).await?;
    if refused.is_success() {
        return Ok(RefusalCause::SignatureUnchecked);
    }
    let plain = post_test(target, &test_event(), secrets).await?;
    let is_plain_accepted = is_signature_accepted(&plain, &refused);
    // A receiver that serializes the parsed body like the service accepts the plain test, but not this test.
    if is_plain_accepted {
        let unusual = post_test(target, &test_event().unusually_spelled(), secrets).await?;
        if is_signature_accepted(&unusual, &refused) {
            return Ok(RefusalCause::Event);
        }
    }
    for candidate in possible_mistakes(&secrets.current, others) {
        let is_about_body = candidate.changes_body();
        if is_plain_accepted && !is_about_body {
            continue;
        }
        let mut event = test_event();
        if is_about_body {
            event = event.unusually_spelled();
        }
        let fields = candidate.sign(event.id.as_str(), event.sent_at.as_second(), event.body.as_bytes());
        let Some(fields) = fields else { continue };
        let reply = target.post(event.body.as_bytes(), &fields).await?;
        if is_signature_accepted(&reply, &refused) {
            return Ok(RefusalCause::Mistake(candidate.mistake, reply.framework.or(refusal.framework)));
        }
    }
    Ok(RefusalCause::Unexplained)
}

fn test_event() -> SampleEvent {
    SampleEvent::test(Clock::System.now(), random())
}

async fn post_test(target: &EventTarget, event: &SampleEvent, secrets: &SigningSecrets) -> Result<TargetReply> {
    target.post(event.body.as_bytes(), &event.sign(secrets)).await
}

/// Posts a test event with a signature like the service's.
pub(crate) async fn post_signed_test(target: &EventTarget, secrets: &SigningSecrets) -> Result<TargetReply> {
    post_test(target, &test_event(), secrets).await
}

/// Returns true if the signature was accepted. A receiver without support for test events rejects all of them, but with
/// another status than `refused`, the reply to a wrong signature.
fn is_signature_accepted(reply: &TargetReply, refused: &TargetReply) -> bool {
    reply.status != refused.status && reply.status != 429 && reply.status < 500
}

impl RefusalCause {
    /// Returns true if the cause is a mistake of the receiver.
    pub(crate) fn is_mistake(&self) -> bool {
        matches!(self, Self::Mistake(..))
    }

    /// Returns the sentence for people. `None` for a status without a specific meaning.
    fn words(&self) -> Option<String> {
        Some(match self {
            Self::Mistake(mistake, _) => mistake.to_string(),
            Self::Status(404) => "not there: either this is the wrong path, or the receiver has no signing secret yet and takes no events".to_owned(),
            Self::Status(405) => "not there: the receiver takes no POST at this path".to_owned(),
            Self::Status(408) => "slow receiver: it says that the request took too long".to_owned(),
            Self::Status(410) => "gone: the receiver wants no more events here".to_owned(),
            Self::Status(413) => "body limit: the receiver takes no body of this size".to_owned(),
            Self::Status(415) => "content type: the receiver takes no application/json here".to_owned(),
            Self::Status(429) => "rate limit: the receiver wants fewer requests".to_owned(),
            Self::Status(_) => return None,
            Self::Event => {
                "not the signature: the receiver accepts a test event that is signed in the same way, so it refuses \
                 what this event says"
                    .to_owned()
            }
            Self::SignatureUnchecked => {
                "unchecked tests: the receiver accepts a test event with a wrong signature, so tests cannot show why \
                 it refuses this one"
                    .to_owned()
            }
            Self::Unexplained => {
                "unexplained: the receiver refuses test events too, and none of the known mistakes explains it"
                    .to_owned()
            }
            Self::Unresponsive => {
                "no answer: the receiver was too slow, or stopped answering, when it was asked for the reason"
                    .to_owned()
            }
        })
    }

    /// Returns a sentence that names the mistake.
    pub(crate) fn text(&self) -> String {
        self.words().unwrap_or_else(|| "unexplained".to_owned())
    }

    /// Returns the code for programs.
    fn code(&self) -> &'static str {
        match self {
            Self::Mistake(mistake, _) => mistake.code(),
            Self::Status(_) => "status",
            Self::Event => "event",
            Self::SignatureUnchecked => "unchecked",
            Self::Unexplained => "unexplained",
            Self::Unresponsive => "silent",
        }
    }

    /// Returns the fix, a line per possible framework.
    pub(crate) fn remedies(&self) -> Vec<String> {
        match self {
            Self::Mistake(mistake, framework) => remedies(mistake, *framework),
            Self::SignatureUnchecked => vec!["Check the signature before anything else, of test events too".to_owned()],
            Self::Unexplained => vec![
                "Log the bytes and the headers that came, and ask 'signpost webhook verify' what does not fit"
                    .to_owned(),
            ],
            Self::Status(_) | Self::Event | Self::Unresponsive => Vec::new(),
        }
    }

    pub(crate) fn document(&self) -> Value {
        json!({ "mistake": self.code(), "text": self.text(), "mending": self.remedies() })
    }
}
