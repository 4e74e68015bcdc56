//! Tests of the signatures that receivers with a mistake compute.

use super::*;

const BODY: &str =
    r#"{ "id" : "evt_1" , "event" : "test", "timestamp" : "2026-11-20T12:00:00Z" , "session_id" : "", "data" : {}}"#;

/// Computes the signature of a body with a key, without any conversion.
fn hex(key: &[u8], body: &[u8]) -> String {
    HEXLOWER.encode(&x_svc_mac(key, body).finalize().into_bytes())
}

fn of(mistake: &Mistake) -> Option<String> {
    let right = WebhookSecret::from_bytes(&[9; 32]);
    let other = KnownSecret { owner: "that of b.test".to_owned(), secret: WebhookSecret::from_bytes(&[8; 32]) };
    let all = possible_mistakes(&right, &[other]);
    let found: Vec<_> = all.iter().filter(|one| one.mistake == *mistake).collect();
    let [one] = found[..] else { panic!("{mistake:?} is suspected {} times", found.len()) };
    one.sign("evt_1", 5, BODY.as_bytes()).map(|headers| headers[0].1.clone())
}

#[test]
fn mistakes_are_signed_as_receivers_compute() {
    let secret = WebhookSecret::from_bytes(&[9; 32]);
    let (text, body) = (secret.reveal(), BODY.as_bytes());
    let value: serde_json::Value = serde_json::from_str(BODY).unwrap();
    let secret_mistake = Mistake::Secret;
    for (mistake, expected) in [
        (secret_mistake(SecretMistake::LineFeed), hex(format!("{text}\n").as_bytes(), body)),
        (secret_mistake(SecretMistake::LineEnd), hex(format!("{text}\r\n").as_bytes(), body)),
        (secret_mistake(SecretMistake::DoubleQuotes), hex(format!("\"{text}\"").as_bytes(), body)),
        (secret_mistake(SecretMistake::NoPrefix), hex(&text.as_bytes()[6..], body)),
        (secret_mistake(SecretMistake::Decoded), hex(&[9; 32], body)),
        (secret_mistake(SecretMistake::WholeText), secret.x_svc_signature(body)),
        (Mistake::OtherSecret("that of b.test".to_owned()), WebhookSecret::from_bytes(&[8; 32]).x_svc_signature(body)),
        (Mistake::ParsedBody(BodyRewrite::Compact), secret.x_svc_signature(BODY.replace([' ', '\n'], "").as_bytes())),
        (Mistake::ParsedBody(BodyRewrite::Sorted), secret.x_svc_signature(value.to_string().as_bytes())),
        (Mistake::ParsedBody(BodyRewrite::Empty), secret.x_svc_signature(b"")),
        (Mistake::Header(HeaderMistake::Prefixed), format!("sha256={}", secret.x_svc_signature(body))),
        (Mistake::Header(HeaderMistake::UpperCase), secret.x_svc_signature(body).to_uppercase()),
    ] {
        assert_eq!(of(&mistake), Some(expected), "{mistake:?}");
    }
}

#[test]
fn signatures_of_possible_mistakes_differ() {
    let right = WebhookSecret::from_bytes(&[9; 32]);
    let signed = possible_mistakes(&right, &[]).into_iter().filter_map(|one| one.sign("evt_1", 5, BODY.as_bytes()));
    let mut all: Vec<_> = signed.map(|headers| format!("{headers:?}")).collect();
    let count = all.len();
    all.sort();
    all.dedup();
    // The secret has no character that differs in the URL-safe alphabet; the body has neither line breaks nor
    // characters beyond ASCII, nor characters that HTML escapes.
    let without_difference = ["UrlSafe", "CarriageReturns", "Latin1", "HtmlEscaped"].len();
    let total = SecretMistake::ALL.len()
        + EXAMPLE_SECRETS.len()
        + BodyRewrite::ALL.len()
        + BodyEncoding::ALL.len()
        + HeaderMistake::ALL.len();
    assert_eq!((all.len(), count), (count, total - without_difference));
}

#[test]
fn unchanged_body_is_not_suspected() {
    let right = WebhookSecret::from_bytes(&[9; 32]);
    let compact =
        possible_mistakes(&right, &[]).into_iter().find(|one| one.mistake == Mistake::ParsedBody(BodyRewrite::Compact));
    assert_eq!(compact.unwrap().sign("evt_1", 5, b"{\"id\":\"evt_1\"}"), None);
    let same = KnownSecret { owner: "the same".to_owned(), secret: right.clone() };
    assert!(
        possible_mistakes(&right, &[same]).iter().all(|one| one.mistake != Mistake::OtherSecret("the same".to_owned()))
    );
}

#[test]
fn debug_output_hides_the_key() {
    let debug = format!("{:?}", possible_mistakes(&WebhookSecret::from_bytes(&[9; 32]), &[]));
    assert!(debug.contains("REDACTED") && !debug.contains("CQkJ") && !debug.contains("[9, 9"), "{debug}");
}

#[test]
fn every_mistake_names_a_remedy() {
    let mut all: Vec<_> =
        possible_mistakes(&WebhookSecret::from_bytes(&[9; 32]), &[]).into_iter().map(|one| one.mistake).collect();
    all.extend([Mistake::BodyEnd, Mistake::NotBytes]);
    for mistake in all {
        let text = mistake.to_string();
        assert!(!text.ends_with('.') && text.contains(": "), "{text}");
        for framework in [None, Some(Framework::Express)] {
            assert!(!remedies(&mistake, framework).is_empty(), "{text}");
        }
    }
    let parsed = Mistake::ParsedBody(BodyRewrite::Compact);
    let [express] = &remedies(&parsed, Some(Framework::Express))[..] else { panic!("one line") };
    assert!(express.contains("express.raw("), "{express}");
    assert!(remedies(&parsed, None).len() > 1);
    let crash =
        "<pre>TypeError: The &quot;data&quot; argument must be of type string or an instance of Buffer, TypedArray";
    assert_eq!(Mistake::detect(crash), Some(Mistake::NotBytes));
    assert_eq!(Mistake::detect("TypeError: x is not a function"), None);
}

#[test]
fn framework_is_detected_by_its_response() {
    for (server, powered_by, expected) in [
        (None, Some("Express"), Some(Framework::Express)),
        (Some("uvicorn"), None, Some(Framework::FastApi)),
        (Some("Werkzeug/3.1.3 Python/3.13.5"), None, Some(Framework::Flask)),
        (Some("WSGIServer/0.2 CPython/3.13.5"), None, Some(Framework::Django)),
        (Some("nginx"), Some("PHP/8.4"), Some(Framework::Php)),
        (Some("nginx"), None, None),
        (None, None, None),
    ] {
        assert_eq!(Framework::detect(server, powered_by), expected, "{server:?} {powered_by:?}");
    }
}
