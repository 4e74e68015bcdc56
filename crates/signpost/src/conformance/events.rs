//! The endpoint that takes events (specification, §5 and §6).

use anyhow::Result;
use jiff::Timestamp;
use signpost_auth::{
    Challenge, DeviceInfo, DomainName, Event, EventData, EventKind, Mode, Nonce, WEBHOOK_ID, WEBHOOK_SIGNATURE,
    WEBHOOK_TIMESTAMP, WebhookSecret, X_SVC_SIGNATURE, X_SVC_SIGNATURE_NEXT,
};
use signpost_login::ids::{EventId, SessionId};
use signpost_store::random;
use url::Url;

use super::{FakeBrowser, Kit, SiteResponse};

/// An event as it is posted.
struct PostedEvent {
    id: String,
    body: String,
    sent_at: i64,
}

pub(super) async fn run(kit: &mut Kit, webhook: &Url) -> Result<()> {
    let secret = kit.endpoints.secret.clone();
    let (other, url) = (WebhookSecret::from_bytes(&random()), kit.endpoints.events.clone());
    let event = kit.event(Mode::Login);
    let reply = kit.post(&url, &event.body, Vec::new()).await?;
    kit.report.expect_refusal("an event without a signature is 401", 401, &reply);
    let reply = kit.post(&url, &event.body, signed(&other, &event)).await?;
    kit.report.expect_refusal("an event signed with another secret is 401", 401, &reply);
    let reply = kit.post(&url, &format!("{} ", event.body), signed(&secret, &event)).await?;
    kit.report.expect_refusal("a modified event is 401", 401, &reply);
    let old = PostedEvent { sent_at: event.sent_at - 301, ..kit.event(Mode::Login) };
    let reply = kit.post(&url, &old.body, signed(&secret, &old)).await?;
    kit.report.expect_refusal("an event sent more than 5 minutes ago is 401", 401, &reply);
    let reply = kit.post(&url, &event.body, signed(&secret, &event)).await?;
    kit.report.note("a signed event is accepted", reply.is_success(), "2xx", reply.describe());
    let reply = kit.post(&url, &event.body, signed(&secret, &event)).await?;
    kit.report.note("a repeated event is 2xx", reply.is_success(), "2xx", reply.describe());
    let rotated = kit.event(Mode::Register);
    let mut headers = signed(&secret, &rotated);
    let standard = other.standard_signature(&rotated.id, rotated.sent_at, rotated.body.as_bytes());
    headers[3].1 = format!("{} {standard}", headers[3].1);
    headers.push((X_SVC_SIGNATURE_NEXT, other.x_svc_signature(rotated.body.as_bytes())));
    let reply = kit.post(&url, &rotated.body, headers).await?;
    kit.report.note("during a rotation the old secret is accepted", reply.is_success(), "2xx", reply.describe());
    let only = kit.event(Mode::Login);
    let bare = vec![(X_SVC_SIGNATURE, secret.x_svc_signature(only.body.as_bytes()))];
    let reply = kit.post(&url, &only.body, bare).await?;
    kit.report.note("X-Svc-Signature alone is enough", reply.is_success(), "2xx", reply.describe());
    let test = kit.test_event();
    let reply = kit.post(&url, &test.body, signed(&secret, &test)).await?;
    kit.report.note("a test event is accepted", reply.is_success(), "2xx", reply.describe());
    let forged = kit.event(Mode::Login);
    let reply = kit.post(webhook, &forged.body, Vec::new()).await?;
    let rule = "an unsigned event at the webhook URL is not a login";
    kit.report.note(rule, reply.status >= 400, "an error", reply.describe());
    Ok(())
}

impl Kit {
    fn event(&self, mode: Mode) -> PostedEvent {
        let (wallet, now) = (Self::wallet(), self.clock.now());
        let domain = DomainName::parse("example.com").expect("a name");
        let nonce = Nonce(random());
        let challenge = Challenge { mode, domain, issued_at: now.as_second(), nonce };
        let answer = wallet.answer(&challenge, now.as_second(), None);
        let data = EventData {
            public_key: answer.public_key,
            signature: answer.signature,
            challenge: challenge.to_string(),
            signed_message: answer.challenge,
            signed_at: answer.timestamp,
            device_info: DeviceInfo::default(),
            user_id: None,
            method: None,
            webauthn: None,
        };
        posted(mode.into(), SessionId::new(now, random()).to_string(), Some(data), now)
    }

    fn test_event(&self) -> PostedEvent {
        posted(EventKind::Test, String::new(), None, self.clock.now())
    }

    async fn post(&self, url: &Url, body: &str, headers: Vec<(&'static str, String)>) -> Result<SiteResponse> {
        let mut sender = FakeBrowser::with_headers(headers);
        self.send(reqwest::Method::POST, url, &mut sender, Some(body.to_owned())).await
    }
}

fn posted(event: EventKind, session_id: String, data: Option<EventData>, now: Timestamp) -> PostedEvent {
    let id = EventId::new(now, random()).to_string();
    let event = Event { id: id.clone(), event, timestamp: now.to_string(), session_id, data };
    let body = serde_json::to_string(&event).expect("an event is JSON");
    PostedEvent { id, body, sent_at: now.as_second() }
}

/// The header fields that the service sends.
fn signed(secret: &WebhookSecret, event: &PostedEvent) -> Vec<(&'static str, String)> {
    let PostedEvent { id, body, sent_at } = event;
    vec![
        (X_SVC_SIGNATURE, secret.x_svc_signature(body.as_bytes())),
        (WEBHOOK_ID, id.clone()),
        (WEBHOOK_TIMESTAMP, sent_at.to_string()),
        (WEBHOOK_SIGNATURE, secret.standard_signature(id, *sent_at, body.as_bytes())),
    ]
}

impl SiteResponse {
    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
