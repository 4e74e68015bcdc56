//! Finds out why a receiver refuses events, by asking it: test events that a receiver with this or that mistake would
//! accept. A test has no effect.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use signpost_auth::WebhookSecret;
use signpost_auth::diagnosis::{Framework, KnownSecret, Mistake, mend, suspect};
use signpost_login::domains::SigningSecrets;
use signpost_login::events::signatures;
use signpost_platform::clock::Clock;
use signpost_store::random;
use tokio::time::timeout;

use super::sample::SampleEvent;
use super::{EventTarget, SignatureFields, TargetReply};

/// How long all of it may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RefusalCause {
    /// The receiver makes this mistake.
    Mistake(Mistake, Option<Framework>),
    /// The status itself says that the signature has no part in it.
    Status(u16),
    /// It accepts a test that is signed like this: it is the event that it refuses.
    Event,
    /// It accepts a test that nobody signed.
    Unchecked,
    /// It refuses each test that was tried.
    Unexplained,
    /// It stopped answering, or is slow.
    Silent,
}

/// Asks the receiver that did not accept an event, and answered this. Where it failed (5xx), its words may say why.
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
    let asked = timeout(PATIENCE, asked(target, refusal, secrets, others)).await;
    asked.ok().and_then(Result::ok).unwrap_or(RefusalCause::Silent)
}

async fn asked(
    target: &EventTarget,
    refusal: &TargetReply,
    secrets: &SigningSecrets,
    others: &[KnownSecret],
) -> Result<RefusalCause> {
    let stranger = SigningSecrets { current: WebhookSecret::from_bytes(&random()), next: None };
    let (plain, unsigned) = test(&stranger, false);
    let wrong = target.post(plain.body.as_bytes(), &unsigned).await?;
    if wrong.is_success() {
        return Ok(RefusalCause::Unchecked);
    }
    // Who does not know tests refuses them all, but for another reason where the signature is right.
    let is_accepted = |reply: &TargetReply| reply.status != wrong.status && reply.status != 429 && reply.status < 500;
    let (plain, signed) = test(secrets, false);
    let is_plain_accepted = is_accepted(&target.post(plain.body.as_bytes(), &signed).await?);
    // Whoever writes a parsed body as the service does is found out by another spelling alone.
    let (unusual, signed) = test(secrets, true);
    if is_plain_accepted && is_accepted(&target.post(unusual.body.as_bytes(), &signed).await?) {
        return Ok(RefusalCause::Event);
    }
    let is_about_bytes = |mistake: &Mistake| matches!(mistake, Mistake::ParsedBody(_));
    for suspicion in suspect(&secrets.current, others) {
        if is_plain_accepted && !is_about_bytes(&suspicion.mistake) {
            continue;
        }
        let now = Clock::System.now();
        let plain = SampleEvent::test(now, random());
        let probe = if is_about_bytes(&suspicion.mistake) { plain.unusually_spelled() } else { plain };
        let signed = suspicion.sign(probe.id.as_str(), now.as_second(), probe.body.as_bytes());
        let Some(signed) = signed else { continue };
        let reply = target.post(probe.body.as_bytes(), &signed).await?;
        if is_accepted(&reply) {
            return Ok(RefusalCause::Mistake(suspicion.mistake, reply.framework.or(refusal.framework)));
        }
    }
    Ok(RefusalCause::Unexplained)
}

/// A test event, signed as the service does.
pub(crate) fn sign_test(secrets: &SigningSecrets) -> (SampleEvent, SignatureFields) {
    test(secrets, false)
}

fn test(secrets: &SigningSecrets, is_unusual: bool) -> (SampleEvent, SignatureFields) {
    let now = Clock::System.now();
    let event = SampleEvent::test(now, random());
    let event = if is_unusual { event.unusually_spelled() } else { event };
    let signed = signatures(&event.id, event.body.as_bytes(), secrets, now);
    (event, signed)
}

impl RefusalCause {
    /// Whether it names what the receiver does wrong.
    pub(crate) fn is_mistake(&self) -> bool {
        matches!(self, Self::Mistake(..))
    }

    /// Its sentence; none for a status that says nothing by itself.
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
            Self::Unchecked => {
                "unchecked tests: the receiver accepts a test event with a wrong signature, so tests cannot show why \
                 it refuses this one"
                    .to_owned()
            }
            Self::Unexplained => {
                "unexplained: the receiver refuses test events too, and none of the known mistakes explains it"
                    .to_owned()
            }
            Self::Silent => {
                "no answer: the receiver was too slow, or stopped answering, when it was asked for the reason"
                    .to_owned()
            }
        })
    }

    /// A sentence that names the mistake.
    pub(crate) fn text(&self) -> String {
        self.words().unwrap_or_else(|| "unexplained".to_owned())
    }

    /// A word for programs.
    fn code(&self) -> &'static str {
        match self {
            Self::Mistake(mistake, _) => mistake.code(),
            Self::Status(_) => "status",
            Self::Event => "event",
            Self::Unchecked => "unchecked",
            Self::Unexplained => "unexplained",
            Self::Silent => "silent",
        }
    }

    /// How to mend it, a line for each framework that it may be.
    pub(crate) fn mending(&self) -> Vec<String> {
        match self {
            Self::Mistake(mistake, framework) => mend(mistake, *framework),
            Self::Unchecked => vec!["Check the signature before anything else, of test events too".to_owned()],
            Self::Unexplained => vec![
                "Log the bytes and the headers that came, and ask 'signpost webhook verify' what does not fit"
                    .to_owned(),
            ],
            Self::Status(_) | Self::Event | Self::Silent => Vec::new(),
        }
    }

    pub(crate) fn document(&self) -> Value {
        json!({ "mistake": self.code(), "text": self.text(), "mending": self.mending() })
    }
}
