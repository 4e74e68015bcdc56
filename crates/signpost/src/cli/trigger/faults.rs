//! What can go wrong with an event, and what a receiver answers then (docs/handlers.md, Events).

use clap::ValueEnum;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use signpost_auth::WebhookSecret;
use signpost_login::domains::SigningSecrets;
use signpost_login::events::signatures;

use crate::receiver::SignatureFields;
use crate::receiver::sample::SampleEvent;

/// How old an event is that is too old: twice what receivers allow.
const STALE: SignedDuration = SignedDuration::from_mins(10);

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
    /// Of a kind that no receiver knows
    UnknownKind,
    /// With members that no receiver knows
    UnknownMember,
    /// Sent twice
    Repeat,
    /// Spelled so that a body that was parsed and written again differs
    ParsedBody,
    /// Cut off in the body, then sent whole; over plain http alone
    Cut,
    /// Signed with two secrets, as between --rotate and --activate
    Rotation,
    /// Each of these, one after the other
    All,
}

/// What a receiver should answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedReply {
    /// 2xx.
    Success,
    /// 401.
    Unauthorised,
    /// Nothing: the connection is closed first.
    Nothing,
}

/// A request to be made.
#[derive(Clone, Debug)]
pub(super) struct PlannedPost {
    pub(super) body: String,
    pub(super) fields: SignatureFields,
    pub(super) expected: ExpectedReply,
}

impl EventFault {
    /// All that are one fault.
    pub(super) fn each() -> impl Iterator<Item = Self> {
        Self::value_variants().iter().copied().filter(|fault| *fault != Self::All)
    }

    /// Its name as the flag takes it.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The requests that show whether a receiver takes the fault as it should. `stranger` is a secret that it does not
    /// have.
    pub(super) fn plan(
        self,
        event: SampleEvent,
        secrets: &SigningSecrets,
        stranger: &WebhookSecret,
        now: Timestamp,
    ) -> Vec<PlannedPost> {
        let event = self.write(event);
        let signed = |secrets: &SigningSecrets, now| signatures(&event.id, event.body.as_bytes(), secrets, now);
        let two = |current: &WebhookSecret, next| SigningSecrets { current: current.clone(), next };
        let good =
            PlannedPost { body: event.body.clone(), fields: signed(secrets, now), expected: ExpectedReply::Success };
        let refused = |body: String, fields| vec![PlannedPost { body, fields, expected: ExpectedReply::Unauthorised }];
        match self {
            Self::BadSignature => {
                let fields = good.fields.into_iter().map(|(name, value)| (name, with_another_digit(name, value)));
                refused(good.body, fields.collect())
            }
            Self::OtherSecret => refused(good.body, signed(&two(stranger, None), now)),
            Self::NoSignature => refused(good.body, Vec::new()),
            Self::ChangedBody => refused(format!("{} ", good.body), good.fields),
            Self::Stale => refused(good.body, signed(secrets, now - STALE)),
            Self::Rotation => {
                let fields = signed(&two(&secrets.current, Some(stranger.clone())), now);
                vec![PlannedPost { fields, ..good }]
            }
            Self::UnknownKind | Self::UnknownMember | Self::ParsedBody => vec![good],
            Self::Repeat => vec![good.clone(), good],
            Self::Cut => vec![PlannedPost { expected: ExpectedReply::Nothing, ..good.clone() }, good],
            Self::All => Vec::new(),
        }
    }

    /// The event as this fault writes it.
    fn write(self, event: SampleEvent) -> SampleEvent {
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

/// A signature that is none; the other fields stay.
fn with_another_digit(name: &str, value: String) -> String {
    if !name.ends_with("signature") {
        return value;
    }
    // Behind "v1," as well as at the beginning of the hex.
    let at = value.len() / 2;
    let digit = if value.as_bytes()[at] == b'0' { "1" } else { "0" };
    format!("{}{digit}{}", &value[..at], &value[at + 1..])
}

fn changed(event: SampleEvent, change: impl FnOnce(&mut Map<String, Value>)) -> SampleEvent {
    let mut members: Map<String, Value> = serde_json::from_str(&event.body).expect("an event is an object");
    change(&mut members);
    SampleEvent { body: Value::Object(members).to_string(), ..event }
}

#[cfg(test)]
mod tests {
    use signpost_auth::receiver::{EventHeaders, EventRules, Post, classify};
    use signpost_auth::{DomainName, Event};
    use signpost_login::domains::HandlerKind;

    use super::*;
    use crate::receiver::sample::{SampleEntropy, SampleKind};

    const NOW: i64 = 1_700_000_000;

    /// What a receiver answers that follows the rules of the library.
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
    fn a_good_receiver_takes_every_fault_as_it_should() {
        let secrets = SigningSecrets { current: WebhookSecret::from_bytes(&[9; 32]), next: None };
        let (stranger, now) = (WebhookSecret::from_bytes(&[8; 32]), Timestamp::from_second(NOW).unwrap());
        let domain = DomainName::parse("shop.example").unwrap();
        for fault in EventFault::each() {
            for kind in SampleKind::value_variants() {
                let event = SampleEvent::new(*kind, &domain, HandlerKind::Hosted, now, SampleEntropy::draw());
                let posts = fault.plan(event, &secrets, &stranger, now);
                assert!(!posts.is_empty(), "{fault:?}");
                for post in posts {
                    let answered = status(&post, &secrets.current);
                    assert!(post.expected.is_met_by(answered), "{fault:?} {kind:?}: {answered}");
                }
            }
        }
    }

    #[test]
    fn what_is_expected_is_not_met_by_just_any_answer() {
        for (expected, met, missed) in [
            (ExpectedReply::Success, 204, &[199, 300, 401, 500][..]),
            (ExpectedReply::Unauthorised, 401, &[200, 400, 403, 500]),
        ] {
            assert!(expected.is_met_by(met));
            assert!(missed.iter().all(|status| !expected.is_met_by(*status)), "{expected:?}");
        }
    }
}
