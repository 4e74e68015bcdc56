//! Faults of sample events, and the expected answers of a correct receiver (docs/handlers.md,
//! Events).

use clap::ValueEnum;
use jiff::SignedDuration;
use serde_json::{Map, Value, json};
use signpost_auth::WebhookSecret;
use signpost_login::domains::SigningSecrets;

use crate::receiver::SignatureFields;
use crate::receiver::sample::SampleEvent;

/// Age of a stale event: twice the tolerance of receivers.
const STALE_AGE: SignedDuration = SignedDuration::from_mins(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum EventFault {
    /// A signature with another digit
    BadSignature,
    /// Signed with another secret
    OtherSecret,
    /// Without a signature
    NoSignature,
    /// Changed after it was signed
    ChangedBody,
    /// Signed ten minutes ago
    Stale,
    /// Of an unknown kind
    UnknownKind,
    /// With unknown members
    UnknownMember,
    /// Sent twice
    Repeat,
    /// Formatted so that the body changes if it is parsed and serialized
    ParsedBody,
    /// Cut off in the body, then sent completely; only over plain http
    Cut,
    /// Signed with two secrets, as between --rotate and --activate
    Rotation,
    /// All faults, one after the other
    All,
}

/// The expected answer of a correct receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedReply {
    /// 2xx.
    Success,
    /// 401.
    Unauthorised,
    /// No response: the connection is closed first.
    Nothing,
}

/// A request that is to be sent to the receiver, with the expected answer.
#[derive(Clone, Debug)]
pub(super) struct PlannedPost {
    pub(super) body: String,
    pub(super) fields: SignatureFields,
    pub(super) expected: ExpectedReply,
}

impl EventFault {
    /// Returns all faults but [`Self::All`].
    pub(super) fn each() -> impl Iterator<Item = Self> {
        Self::value_variants().iter().copied().filter(|fault| *fault != Self::All)
    }

    /// Returns the value of `--fault`.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Returns the requests that test how a receiver handles the fault. `unknown_secret` is a secret that it does not have.
    pub(super) fn plan(
        self,
        event: SampleEvent,
        secrets: &SigningSecrets,
        unknown_secret: &WebhookSecret,
    ) -> Vec<PlannedPost> {
        let event = self.change_body(event);
        let mut post = PlannedPost::new(&event, secrets);
        if self.must_be_rejected() {
            post.expected = ExpectedReply::Unauthorised;
        }
        match self {
            Self::BadSignature => post.fields.iter_mut().for_each(|(name, value)| change_digit(name, value)),
            Self::OtherSecret => {
                post.fields = event.sign(&SigningSecrets { current: unknown_secret.clone(), next: None });
            }
            Self::NoSignature => post.fields.clear(),
            Self::ChangedBody => post.body.push(' '),
            Self::Stale => post.fields = SampleEvent { sent_at: event.sent_at - STALE_AGE, ..event }.sign(secrets),
            Self::Rotation => {
                let next = Some(unknown_secret.clone());
                post.fields = event.sign(&SigningSecrets { current: secrets.current.clone(), next });
            }
            Self::Repeat => return vec![post.clone(), post],
            Self::Cut => return vec![PlannedPost { expected: ExpectedReply::Nothing, ..post.clone() }, post],
            Self::UnknownKind | Self::UnknownMember | Self::ParsedBody => {}
            Self::All => return Vec::new(),
        }
        vec![post]
    }

    /// Returns true if a correct receiver rejects an event with this fault.
    fn must_be_rejected(self) -> bool {
        matches!(self, Self::BadSignature | Self::OtherSecret | Self::NoSignature | Self::ChangedBody | Self::Stale)
    }

    /// Applies the faults of the signed body.
    fn change_body(self, event: SampleEvent) -> SampleEvent {
        match self {
            Self::UnknownKind => {
                changed(event, |members| drop(members.insert("event".to_owned(), json!("sample.later"))))
            }
            Self::UnknownMember => changed(event, |members| {
                members.insert("later".to_owned(), json!({ "a": [1, null, "x"] }));
                if let Some(data) = members.get_mut("data").and_then(Value::as_object_mut) {
                    data.insert("later".to_owned(), json!(true));
                }
            }),
            Self::ParsedBody => event.unusually_spelled(),
            _ => event,
        }
    }
}

impl PlannedPost {
    /// Signs an event that a receiver should accept.
    pub(super) fn new(event: &SampleEvent, secrets: &SigningSecrets) -> Self {
        Self { body: event.body.clone(), fields: event.sign(secrets), expected: ExpectedReply::Success }
    }
}

impl ExpectedReply {
    pub(super) fn is_met_by(self, status: u16) -> bool {
        match self {
            Self::Success => (200..300).contains(&status),
            Self::Unauthorised => status == 401,
            Self::Nothing => true,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Success => "2xx",
            Self::Unauthorised => "401",
            Self::Nothing => "nothing",
        }
    }
}

/// Changes a digit of a signature. Other header fields stay unchanged.
fn change_digit(name: &str, value: &mut String) {
    if !name.ends_with("signature") {
        return;
    }
    // The character in the middle is a digit of the signature, both in hex and in base64 after
    // "v1,".
    let at = value.len() / 2;
    let digit = if value.as_bytes()[at] == b'0' { "1" } else { "0" };
    value.replace_range(at..=at, digit);
}

fn changed(event: SampleEvent, change: impl FnOnce(&mut Map<String, Value>)) -> SampleEvent {
    let mut members: Map<String, Value> = serde_json::from_str(&event.body).expect("an event is an object");
    change(&mut members);
    SampleEvent { body: Value::Object(members).to_string(), ..event }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use signpost_auth::receiver::{EventHeaders, EventRules, Post, classify};
    use signpost_auth::{DomainName, Event};
    use signpost_login::domains::HandlerKind;

    use super::*;
    use crate::receiver::sample::{SampleEntropy, SampleKind};

    const NOW: i64 = 1_700_000_000;

    /// Returns the status of a receiver that follows the rules of the library.
    fn status(post: &PlannedPost, secret: &WebhookSecret) -> u16 {
        let field = |name: &str| post.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_str());
        let headers = EventHeaders {
            x_svc_signature: field("x-svc-signature"),
            x_svc_signature_next: field("x-svc-signature-next"),
            webhook_id: field("webhook-id"),
            webhook_timestamp: field("webhook-timestamp"),
            webhook_signature: field("webhook-signature"),
        };
        let rules = EventRules { secrets: vec![secret.clone()], allowed_sources: Vec::new() };
        match classify(&headers, post.body.as_bytes(), &rules, NOW) {
            Err(_) => 401,
            Ok(Post::Event) if serde_json::from_str::<Event>(&post.body).is_ok() => 200,
            Ok(_) => 400,
        }
    }

    #[test]
    fn correct_receiver_handles_every_fault() {
        let secrets = SigningSecrets { current: WebhookSecret::from_bytes(&[9; 32]), next: None };
        let (unknown_secret, now) = (WebhookSecret::from_bytes(&[8; 32]), Timestamp::from_second(NOW).unwrap());
        let domain = DomainName::parse("shop.example").unwrap();
        for fault in EventFault::each() {
            for kind in SampleKind::value_variants() {
                let event = SampleEvent::new(*kind, &domain, HandlerKind::Hosted, now, SampleEntropy::draw());
                let posts = fault.plan(event, &secrets, &unknown_secret);
                assert!(!posts.is_empty(), "{fault:?}");
                for post in posts {
                    let answered = status(&post, &secrets.current);
                    assert!(post.expected.is_met_by(answered), "{fault:?} {kind:?}: {answered}");
                }
            }
        }
    }

    #[test]
    fn other_statuses_are_not_expected() {
        for (expected, met, missed) in [
            (ExpectedReply::Success, 204, &[199, 300, 401, 500][..]),
            (ExpectedReply::Unauthorised, 401, &[200, 400, 403, 500]),
        ] {
            assert!(expected.is_met_by(met));
            assert!(missed.iter().all(|status| !expected.is_met_by(*status)), "{expected:?}");
        }
    }
}
