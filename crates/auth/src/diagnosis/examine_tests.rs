//! Tests of the diagnosis of received events.

use data_encoding::{BASE64, HEXLOWER};

use super::*;
use crate::webhook::X_SVC_SIGNATURE;

const BODY: &str =
    r#"{"id":"evt_1","event":"test","timestamp":"2026-11-20T12:00:00Z","session_id":"Zoë's <b>","data":{}}"#;

fn secret(byte: u8) -> WebhookSecret {
    WebhookSecret::from_bytes(&[byte; 32])
}

/// Returns a secret whose base64 text contains `+` and `/`.
fn secret_with_symbols() -> WebhookSecret {
    WebhookSecret::from_bytes(&[0xfb; 32].map(|byte: u8| byte | 0x04))
}

fn diagnose(fields: &[(&str, &str)], body: impl AsRef<[u8]>, secret: impl AsRef<[u8]>) -> EventDiagnosis {
    let field = |name: &str| fields.iter().find(|(field, _)| *field == name).map(|(_, value)| *value);
    examine(field, body.as_ref(), secret.as_ref(), &[])
}

/// Diagnoses a body that was received with the `X-Svc-Signature` of [`BODY`].
fn diagnose_body(body: impl AsRef<[u8]>) -> EventDiagnosis {
    diagnose(&[(X_SVC_SIGNATURE, &secret(9).x_svc_signature(BODY.as_bytes()))], body, secret(9).reveal())
}

fn explained(mistake: Mistake) -> EventDiagnosis {
    EventDiagnosis::Explained(vec![mistake])
}

#[test]
fn mistakes_in_the_secret_are_found() {
    let right = secret_with_symbols();
    let text = right.reveal();
    let signature = right.x_svc_signature(BODY.as_bytes());
    let diagnosed = |configured: &[u8]| diagnose(&[(X_SVC_SIGNATURE, &signature)], BODY, configured);
    assert_eq!(diagnosed(text.as_bytes()), EventDiagnosis::Valid);
    for (configured, expected) in [
        (format!("{text}\n"), SecretMistake::LineFeed),
        (format!("{text}\r\n"), SecretMistake::LineEnd),
        (format!("{text} "), SecretMistake::Space),
        (format!(" {text}"), SecretMistake::LeadingSpace),
        (format!("\u{feff}{text}"), SecretMistake::ByteOrderMark),
        (format!("\"{text}\""), SecretMistake::DoubleQuotes),
        (format!("'{text}'"), SecretMistake::SingleQuotes),
        (format!("WEBHOOK_SECRET={text}"), SecretMistake::VariableName),
        (format!("export SECRET={text}"), SecretMistake::VariableName),
        (format!("Bearer {text}"), SecretMistake::Bearer),
        (format!("v1,{text}"), SecretMistake::Version),
        (text.replace('+', "-").replace('/', "_"), SecretMistake::UrlSafe),
        (text.replace('+', "%2B").replace('/', "%2f").replace('=', "%3D"), SecretMistake::PercentEncoded),
        (text["whsec_".len()..].to_owned(), SecretMistake::NoPrefix),
        (HEXLOWER.encode(&right.decoded()), SecretMistake::Decoded),
    ] {
        assert_eq!(diagnosed(configured.as_bytes()), explained(Mistake::Secret(expected)), "{configured:?}");
    }
    assert_eq!(diagnosed(&right.decoded()), explained(Mistake::Secret(SecretMistake::Decoded)));
    let two = diagnosed(format!("\"{text}\"\n").as_bytes());
    let expected = [SecretMistake::LineFeed, SecretMistake::DoubleQuotes].map(Mistake::Secret).to_vec();
    assert_eq!(two, EventDiagnosis::Explained(expected));
    for unknown in ["", "whsec_", "Bearer", "=", "%", "\"", "v1,"] {
        assert!(matches!(diagnosed(unknown.as_bytes()), EventDiagnosis::Unexplained(_)), "{unknown}");
    }
}

#[test]
fn secret_of_another_domain_is_found() {
    let signature = secret(9).x_svc_signature(BODY.as_bytes());
    let others = [KnownSecret { owner: "that of b.test".to_owned(), secret: secret(9) }];
    let found = examine(
        |name| (name == X_SVC_SIGNATURE).then_some(&*signature),
        BODY.as_bytes(),
        secret(7).reveal().as_bytes(),
        &others,
    );
    assert_eq!(found, explained(Mistake::OtherSecret("that of b.test".to_owned())));
}

#[test]
fn changed_bodies_are_found() {
    let body = BODY.as_bytes();
    let rewritten = |rewrite: BodyRewrite| rewrite.apply(body).remove(0);
    assert_eq!(diagnose_body(BODY), EventDiagnosis::Valid);
    for rewrite in [
        BodyRewrite::Spaced,
        BodyRewrite::Sorted,
        BodyRewrite::SortedSpaced,
        BodyRewrite::IndentedByTwo,
        BodyRewrite::IndentedByFour,
        BodyRewrite::HtmlEscaped,
        BodyRewrite::PythonText,
    ] {
        assert_eq!(diagnose_body(rewritten(rewrite)), explained(Mistake::ParsedBody(rewrite)), "{rewrite:?}");
    }
    let ascii = BodyRewrite::Compact.apply(body).remove(1);
    assert_eq!(diagnose_body(ascii), explained(Mistake::ParsedBody(BodyRewrite::Compact)));
    for encoding in BodyEncoding::ALL {
        let Some(encoded) = encoding.encode(body) else { continue };
        assert_eq!(diagnose_body(encoded), explained(Mistake::EncodedBody(encoding)), "{encoding:?}");
    }
    for end in ["\n", "\r\n"] {
        assert_eq!(diagnose_body(format!("{BODY}{end}")), explained(Mistake::BodyEnd));
    }
    assert_eq!(diagnose_body(""), explained(Mistake::ParsedBody(BodyRewrite::Empty)));
    assert_eq!(diagnose_body("[object Object]"), explained(Mistake::ParsedBody(BodyRewrite::ObjectName)));
}

#[test]
fn changed_line_breaks_are_found() {
    let body = "{\"id\": \"evt_1\",\n \"event\": \"test\"}";
    let signature = secret(9).x_svc_signature(body.as_bytes());
    let found = diagnose(&[(X_SVC_SIGNATURE, &signature)], body.replace('\n', "\r\n"), secret(9).reveal());
    assert_eq!(found, explained(Mistake::EncodedBody(BodyEncoding::CarriageReturns)));
}

#[test]
fn signatures_of_wrong_signers_are_found() {
    let right = secret(9);
    let diagnosed = |signature: &str| diagnose(&[(X_SVC_SIGNATURE, signature)], BODY, right.reveal());
    let sign = |keys: SigningKeys, body: &[u8]| HEXLOWER.encode(&keys.x_svc_tag(body));
    for mistake in [SecretMistake::Decoded, SecretMistake::Bearer, SecretMistake::NoPrefix] {
        let signature = sign(mistake.keys(&right), BODY.as_bytes());
        assert_eq!(diagnosed(&signature), explained(Mistake::Secret(mistake)));
    }
    assert_eq!(diagnosed(&right.x_svc_signature(b"")), explained(Mistake::ParsedBody(BodyRewrite::Empty)));
    let base64 = BASE64.encode(BODY.as_bytes());
    let expected = explained(Mistake::EncodedBody(BodyEncoding::Base64));
    assert_eq!(diagnosed(&right.x_svc_signature(base64.as_bytes())), expected);
    for signature in ["", "00", &secret(1).x_svc_signature(BODY.as_bytes())] {
        assert!(matches!(diagnosed(signature), EventDiagnosis::Unexplained(_)), "{signature}");
    }
}

#[test]
fn mistakes_in_headers_are_found() {
    let right = secret(9);
    let hex = right.x_svc_signature(BODY.as_bytes());
    let base64 = BASE64.encode(&HEXLOWER.decode(hex.as_bytes()).unwrap());
    for (signature, expected) in [
        (format!("sha256={hex}"), HeaderMistake::Prefixed),
        (hex.to_uppercase(), HeaderMistake::UpperCase),
        (base64, HeaderMistake::Base64),
        (format!("\"{hex}\""), HeaderMistake::Quoted),
    ] {
        let found = diagnose(&[(X_SVC_SIGNATURE, &signature)], BODY, right.reveal());
        assert_eq!(found, explained(Mistake::Header(expected)), "{signature}");
    }
    let standard = right.standard_signature("evt_1", 1_700_000_000, BODY.as_bytes());
    let bare = standard.trim_start_matches("v1,");
    for (prefix, at, signature, expected) in [
        ("webhook", "1700000000", bare, HeaderMistake::NoVersion),
        ("webhook", "1700000000000", &standard, HeaderMistake::Milliseconds),
        ("svix", "1700000000", &standard, HeaderMistake::SvixNames),
    ] {
        let names = ["id", "timestamp", "signature"].map(|name| format!("{prefix}-{name}"));
        let fields = [(&*names[0], "evt_1"), (&*names[1], at), (&*names[2], signature)];
        let found = diagnose(&fields, BODY, right.reveal());
        assert_eq!(found, explained(Mistake::Header(expected)), "{fields:?}");
    }
}

#[test]
fn headers_of_standard_webhooks_are_valid_alone() {
    let right = secret(9);
    let standard = right.standard_signature("evt_1", 5, BODY.as_bytes());
    let several = format!("v1,AAAA {standard} v1a,BBBB");
    let x_svc = right.x_svc_signature(BODY.as_bytes());
    for signature in [&standard, &several] {
        let fields = [("webhook-id", "evt_1"), ("webhook-timestamp", "5"), ("webhook-signature", &**signature)];
        assert_eq!(diagnose(&fields, BODY, right.reveal()), EventDiagnosis::Valid);
        let both = [&fields[..], &[(X_SVC_SIGNATURE, &*x_svc)]].concat();
        assert_eq!(diagnose(&both, BODY, right.reveal()), EventDiagnosis::Valid);
    }
    let other_time = [("webhook-id", "evt_1"), ("webhook-timestamp", "6"), ("webhook-signature", &*standard)];
    let expected = EventDiagnosis::Unexplained("its webhook-signature does not match");
    assert_eq!(diagnose(&other_time, BODY, right.reveal()), expected);
    let both = [&other_time[..], &[(X_SVC_SIGNATURE, &*x_svc)]].concat();
    assert_eq!(diagnose(&both, BODY, right.reveal()), expected);
    let expected = EventDiagnosis::Unexplained("it has no signature");
    assert_eq!(diagnose(&[], BODY, right.reveal()), expected);
}

#[test]
fn two_mistakes_are_found_together() {
    let right = secret(9);
    let signature = right.x_svc_signature(BODY.as_bytes()).to_uppercase();
    let found = diagnose(&[(X_SVC_SIGNATURE, &signature)], format!("{BODY}\n"), right.reveal());
    let expected = vec![Mistake::BodyEnd, Mistake::Header(HeaderMistake::UpperCase)];
    assert_eq!(found, EventDiagnosis::Explained(expected));
}
