//! The endpoint that takes events (specification, §5 and §6).

use anyhow::Result;
use jiff::Timestamp;
use serde_json::json;
use signpost_auth::{
    Challenge, DomainName, Mode, Nonce, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP, WebhookSecret,
    X_SVC_SIGNATURE, X_SVC_SIGNATURE_NEXT,
};
use url::Url;

use super::{Browser, Kit, Reply};
use crate::id::{self, EventId, SessionId};

/// An event as it is posted.
struct Posted {
    id: String,
    body: String,
    sent_at: i64,
}

pub(super) async fn run(kit: &mut Kit, webhook: &Url) -> Result<()> {
    let secret = kit.endpoints.secret.clone();
    let (other, url) = (WebhookSecret::from_bytes(&id::random()), kit.endpoints.events.clone());
    let event = kit.event("login");
    let reply = kit.post(&url, &event.body, Vec::new()).await?;
    kit.report.refused("an event without a signature is 401", 401, &reply);
    let reply = kit.post(&url, &event.body, signed(&other, &event)).await?;
    kit.report.refused("an event signed with another secret is 401", 401, &reply);
    let reply = kit.post(&url, &format!("{} ", event.body), signed(&secret, &event)).await?;
    kit.report.refused("an event that was changed on its way is 401", 401, &reply);
    let old = Posted { sent_at: event.sent_at - 301, ..kit.event("login") };
    let reply = kit.post(&url, &old.body, signed(&secret, &old)).await?;
    kit.report.refused("an event sent more than 5 minutes ago is 401", 401, &reply);
    let reply = kit.post(&url, &event.body, signed(&secret, &event)).await?;
    kit.report.note("a signed event is taken", reply.is_success(), "2xx", reply.shown());
    let reply = kit.post(&url, &event.body, signed(&secret, &event)).await?;
    kit.report.note("an event that comes again is 2xx", reply.is_success(), "2xx", reply.shown());
    let rotated = kit.event("register");
    let mut headers = signed(&secret, &rotated);
    let standard = other.standard_signature(&rotated.id, rotated.sent_at, rotated.body.as_bytes());
    headers[3].1 = format!("{} {standard}", headers[3].1);
    headers.push((X_SVC_SIGNATURE_NEXT, other.x_svc_signature(rotated.body.as_bytes())));
    let reply = kit.post(&url, &rotated.body, headers).await?;
    kit.report.note("during a rotation an event is taken by the old secret", reply.is_success(), "2xx", reply.shown());
    let only = kit.event("login");
    let bare = vec![(X_SVC_SIGNATURE, secret.x_svc_signature(only.body.as_bytes()))];
    let reply = kit.post(&url, &only.body, bare).await?;
    kit.report.note("X-Svc-Signature alone is enough", reply.is_success(), "2xx", reply.shown());
    let test = kit.test_event();
    let reply = kit.post(&url, &test.body, signed(&secret, &test)).await?;
    kit.report.note("a test event is taken", reply.is_success(), "2xx", reply.shown());
    let forged = kit.event("login");
    let reply = kit.post(webhook, &forged.body, Vec::new()).await?;
    let rule = "an unsigned event where wallets post is no login";
    kit.report.note(rule, reply.status >= 400, "an error", reply.shown());
    Ok(())
}

impl Kit {
    fn event(&self, kind: &str) -> Posted {
        let (wallet, now) = (Self::wallet(), self.clock.now());
        let domain = DomainName::parse("example.com").expect("a name");
        let nonce = Nonce(id::random());
        let challenge = Challenge { mode: Mode::Login, domain, issued_at: now.as_second(), nonce };
        let answer = wallet.answer(&challenge, now.as_second(), None);
        let data = json!({
            "public_key": answer.public_key, "signature": answer.signature, "challenge": challenge.to_string(),
            "signed_message": answer.challenge, "signed_at": now.as_second(), "device_info": {},
        });
        posted(kind, SessionId::new(now, id::random()).as_str(), &data, now)
    }

    fn test_event(&self) -> Posted {
        posted("test", "", &json!({}), self.clock.now())
    }

    async fn post(&self, url: &Url, body: &str, headers: Vec<(&'static str, String)>) -> Result<Reply> {
        let mut sender = Browser::with_headers(headers);
        self.send(reqwest::Method::POST, url, &mut sender, Some(body.to_owned())).await
    }
}

fn posted(kind: &str, session_id: &str, data: &serde_json::Value, now: Timestamp) -> Posted {
    let id = EventId::new(now, id::random()).to_string();
    let body = json!({ "id": id, "event": kind, "timestamp": now, "session_id": session_id, "data": data });
    Posted { id, body: body.to_string(), sent_at: now.as_second() }
}

/// The header fields that the service sends.
fn signed(secret: &WebhookSecret, event: &Posted) -> Vec<(&'static str, String)> {
    let Posted { id, body, sent_at } = event;
    vec![
        (X_SVC_SIGNATURE, secret.x_svc_signature(body.as_bytes())),
        (WEBHOOK_ID, id.clone()),
        (WEBHOOK_TIMESTAMP, sent_at.to_string()),
        (WEBHOOK_SIGNATURE, secret.standard_signature(id, *sent_at, body.as_bytes())),
    ]
}

impl Reply {
    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
