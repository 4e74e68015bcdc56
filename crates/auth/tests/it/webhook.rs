//! Tests webhook secrets and event signatures with `vectors/webhook.json`.

use serde::Deserialize;
use serde_json::Value;
use signpost_auth::{Event, WebhookSecret};

#[derive(Deserialize)]
struct Vectors {
    made: Vec<SignedEvent>,
    x_svc_signature: Vec<XSvcCase>,
    webhook_signature: Vec<StandardCase>,
    malformed_secrets: Vec<MalformedSecret>,
    event: Value,
}

#[derive(Deserialize)]
struct SignedEvent {
    name: String,
    secret: String,
    id: String,
    timestamp: i64,
    body: String,
    x_svc_signature: String,
    webhook_signature: String,
}

#[derive(Deserialize)]
struct XSvcCase {
    name: String,
    secret: String,
    header: String,
    body: String,
    valid: bool,
}

#[derive(Deserialize)]
struct StandardCase {
    id: String,
    timestamp: i64,
    #[serde(flatten)]
    received: XSvcCase,
}

#[derive(Deserialize)]
struct MalformedSecret {
    name: String,
    secret: String,
}

#[test]
fn secret_makes_two_signatures() {
    for made in crate::read::<Vectors>("webhook").made {
        let SignedEvent { name, secret, id, timestamp, body, x_svc_signature, webhook_signature } = made;
        let secret = WebhookSecret::parse(&secret).unwrap();
        assert_eq!(secret.x_svc_signature(body.as_bytes()), x_svc_signature, "{name}");
        assert_eq!(secret.standard_signature(&id, timestamp, body.as_bytes()), webhook_signature, "{name}");
    }
}

#[test]
fn header_verifies_only_its_secret_and_body() {
    let vectors: Vectors = crate::read("webhook");
    for XSvcCase { name, secret, header, body, valid } in vectors.x_svc_signature {
        let secret = WebhookSecret::parse(&secret).unwrap();
        assert_eq!(secret.verify_x_svc_signature(&header, body.as_bytes()), valid, "{name}");
    }
    for StandardCase { id, timestamp, received: XSvcCase { name, secret, header, body, valid } } in
        vectors.webhook_signature
    {
        let secret = WebhookSecret::parse(&secret).unwrap();
        assert_eq!(secret.verify_standard_signature(&header, &id, timestamp, body.as_bytes()), valid, "{name}");
    }
}

#[test]
fn malformed_secret_is_rejected() {
    for MalformedSecret { name, secret } in crate::read::<Vectors>("webhook").malformed_secrets {
        assert!(WebhookSecret::parse(&secret).is_err(), "{name}");
    }
}

#[test]
fn event_has_the_documented_members() {
    let event = crate::read::<Vectors>("webhook").event;
    let read: Event = serde_json::from_value(event.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), event);
}
