use subtle::ConstantTimeEq;

use super::{BodySpelling, KnownSecret, Mistake, SECRET_PREFIX, SecretSlip, SignatureForm, SigningKeys, examples};
use crate::event::Event;
use crate::receiver::{EventHeaders, EventRules, HandlerRefusal, read_event};
use crate::webhook::WebhookSecret;

/// What is known of an event that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Examination {
    /// It is signed as it should be.
    Signed,
    /// It would be, but for this, one mistake or two.
    Mistaken(Vec<Mistake>),
    /// It is not, and no known mistake explains it; the text says what does not fit.
    Unexplained(&'static str),
}

/// A value, and the mistake that made another of it.
type Mended<T> = (Option<Mistake>, T);

/// Checks an event's signature with a secret as it is configured, and names the mistake where it does not fit. What
/// `webhook-timestamp` says is not compared with any clock.
#[must_use]
pub fn examine(headers: &EventHeaders<'_>, body: &[u8], secret: &str, others: &[KnownSecret]) -> Examination {
    let secrets = mended_secrets(secret, others);
    let sent_at = headers.webhook_timestamp.and_then(|text| text.parse().ok()).unwrap_or_default();
    let mut reason = "its X-Svc-Signature does not match";
    if let Ok(secret) = WebhookSecret::parse(secret) {
        let rules = EventRules { secrets: vec![secret], allowed_sources: Vec::new() };
        match read_event(headers, body, &rules, sent_at) {
            Err(HandlerRefusal::NotAuthentic(why)) => reason = why,
            // What is signed need not be an event.
            _ => return Examination::Signed,
        }
    }
    let bodies = mended_bodies(body);
    let mut found: Option<((usize, bool), Vec<Mistake>)> = None;
    for (slip, secret) in &secrets {
        for (changed, body) in &bodies {
            for (made, x_svc, standard) in computed(secret, body, headers, sent_at) {
                let mistakes: Vec<_> = [slip, changed, &made].into_iter().flatten().cloned().collect();
                // Of as many mistakes, one in what is configured or kept is likelier than one of who signed.
                let rank = (mistakes.len(), made.is_some());
                let is_better = found.as_ref().is_none_or(|(best, _)| rank < *best);
                if is_better && mistakes.len() <= 2 && is_signed(headers, &x_svc, &standard) {
                    found = Some((rank, mistakes));
                }
            }
        }
    }
    match found.map(|(_, mistakes)| mistakes) {
        // One signature fits and the other does not.
        Some(mistakes) if mistakes.is_empty() => Examination::Unexplained(reason),
        Some(mistakes) => Examination::Mistaken(mistakes),
        None => Examination::Unexplained(reason),
    }
}

/// Whether the header fields have one of these signatures.
fn is_signed(headers: &EventHeaders<'_>, x_svc: &str, standard: &str) -> bool {
    let is = |header: &str, made: &str| bool::from(header.as_bytes().ct_eq(made.as_bytes()));
    let x_svcs = [headers.x_svc_signature, headers.x_svc_signature_next];
    let mut standards = headers.webhook_signature.unwrap_or_default().split(' ');
    match headers.x_svc_signature {
        Some(_) => x_svcs.into_iter().flatten().any(|header| is(header, x_svc)),
        None => standards.any(|header| is(header, standard)),
    }
}

/// The secrets that may be meant: as it is, without what stands around it, and those of others.
fn mended_secrets(text: &str, others: &[KnownSecret]) -> Vec<Mended<WebhookSecret>> {
    let bare = text.trim().trim_matches(['"', '\'']).trim();
    let slip = match (text, bare) {
        _ if text == bare => None,
        _ if text.contains('"') => Some(SecretSlip::DoubleQuotes),
        _ if text.contains('\'') => Some(SecretSlip::SingleQuotes),
        _ if text.ends_with("\r\n") => Some(SecretSlip::LineEnd),
        _ if text.ends_with('\n') => Some(SecretSlip::LineFeed),
        _ => Some(SecretSlip::Space),
    };
    let mut secrets: Vec<Mended<WebhookSecret>> = Vec::new();
    if let Ok(secret) = WebhookSecret::parse(bare) {
        secrets.push((slip.map(Mistake::Secret), secret));
    } else if let Ok(secret) = WebhookSecret::parse(&format!("{SECRET_PREFIX}{bare}")) {
        secrets.push((Some(Mistake::Secret(SecretSlip::NoPrefix)), secret));
    }
    let examples: Vec<_> = examples().collect();
    let other = |known: &KnownSecret| (Some(Mistake::OtherSecret(known.whose.clone())), known.secret.clone());
    secrets.extend(others.iter().chain(&examples).map(other));
    secrets
}

/// The bodies that may have been signed: as it is, without the line end that an editor added, and as the service writes
/// an event.
fn mended_bodies(body: &[u8]) -> Vec<Mended<Vec<u8>>> {
    let mut bodies: Vec<Mended<Vec<u8>>> = vec![(None, body.to_vec())];
    let mut add = |mistake: Mistake, body: Vec<u8>| {
        if bodies.iter().all(|(_, known)| *known != body) {
            bodies.push((Some(mistake), body));
        }
    };
    let without_end = body.strip_suffix(b"\n").map(|body| body.strip_suffix(b"\r").unwrap_or(body));
    if let Some(body) = without_end {
        add(Mistake::BodyEnd, body.to_vec());
    }
    add(Mistake::BodyEnd, [body, b"\n"].concat());
    let spelling = spelling_of(body).unwrap_or(BodySpelling::Sorted);
    let event = serde_json::from_slice::<Event>(body).ok();
    let written = event.and_then(|event| serde_json::to_vec(&event).ok());
    if let Some(body) = written {
        add(Mistake::ParsedBody(spelling), body);
    }
    for compact in BodySpelling::Compact.spell(body) {
        add(Mistake::ParsedBody(spelling), compact.into_bytes());
    }
    bodies
}

/// Which spelling a body has that was not written by the service.
fn spelling_of(body: &[u8]) -> Option<BodySpelling> {
    let body = body.trim_ascii();
    let is_it = |spelling: &BodySpelling| spelling.spell(body).iter().any(|spelled| spelled.as_bytes() == body);
    let written = [BodySpelling::Sorted, BodySpelling::SortedSpaced];
    let order = [BodySpelling::Spaced, BodySpelling::IndentedByTwo, BodySpelling::IndentedByFour];
    written.into_iter().chain(order).find(is_it)
}

/// The signatures that a program makes of this secret and body: as it should, and by each mistake.
fn computed(
    secret: &WebhookSecret,
    body: &[u8],
    headers: &EventHeaders<'_>,
    sent_at: i64,
) -> Vec<(Option<Mistake>, String, String)> {
    let id = headers.webhook_id.unwrap_or_default();
    let keys = SigningKeys::of(secret);
    let made = |mistake, keys: &SigningKeys, body: &[u8], form| {
        (mistake, keys.x_svc_signature(body, form), keys.standard_signature(id, sent_at, body))
    };
    let mut all = vec![made(None, &keys, body, None)];
    for slip in SecretSlip::ALL {
        all.push(made(Some(Mistake::Secret(slip)), &slip.keys(secret), body, None));
    }
    for form in SignatureForm::ALL {
        all.push(made(Some(Mistake::Form(form)), &keys, body, Some(form)));
    }
    for spelling in BodySpelling::ALL {
        for spelled in spelling.spell(body).into_iter().filter(|spelled| spelled.as_bytes() != body) {
            all.push(made(Some(Mistake::ParsedBody(spelling)), &keys, spelled.as_bytes(), None));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"id":"evt_1","event":"test","timestamp":"2026-11-20T12:00:00Z","session_id":"","data":{}}"#;

    fn secret(byte: u8) -> WebhookSecret {
        WebhookSecret::from_bytes(&[byte; 32])
    }

    /// What is found where the service signed `BODY` with the secret of nines.
    fn found(body: &str, configured: &str) -> Examination {
        let signature = secret(9).x_svc_signature(BODY.as_bytes());
        let headers = EventHeaders { x_svc_signature: Some(&signature), ..EventHeaders::default() };
        let others = [KnownSecret { whose: "that of b.test".to_owned(), secret: secret(9) }];
        let is_other = configured == secret(7).reveal();
        examine(&headers, body.as_bytes(), configured, if is_other { &others } else { &[] })
    }

    #[test]
    fn what_the_service_signed_is_found_behind_each_mistake() {
        let right = secret(9).reveal().to_owned();
        let value: serde_json::Value = serde_json::from_str(BODY).unwrap();
        let spaced = BodySpelling::Spaced.spell(BODY.as_bytes()).remove(0);
        let pretty = BodySpelling::IndentedByTwo.spell(BODY.as_bytes()).remove(0);
        assert_eq!(found(BODY, &right), Examination::Signed);
        for (body, configured, expected) in [
            (BODY, format!("{right}\n"), Mistake::Secret(SecretSlip::LineFeed)),
            (BODY, format!("{right}\r\n"), Mistake::Secret(SecretSlip::LineEnd)),
            (BODY, format!(" {right}"), Mistake::Secret(SecretSlip::Space)),
            (BODY, format!("\"{right}\""), Mistake::Secret(SecretSlip::DoubleQuotes)),
            (BODY, right[6..].to_owned(), Mistake::Secret(SecretSlip::NoPrefix)),
            (BODY, secret(7).reveal().to_owned(), Mistake::OtherSecret("that of b.test".to_owned())),
            (&format!("{BODY}\n"), right.clone(), Mistake::BodyEnd),
            (&format!("{BODY}\r\n"), right.clone(), Mistake::BodyEnd),
            (&spaced, right.clone(), Mistake::ParsedBody(BodySpelling::Spaced)),
            (&pretty, right.clone(), Mistake::ParsedBody(BodySpelling::IndentedByTwo)),
            (&value.to_string(), right.clone(), Mistake::ParsedBody(BodySpelling::Sorted)),
        ] {
            assert_eq!(found(body, &configured), Examination::Mistaken(vec![expected]), "{body} {configured:?}");
        }
        let two = found(&format!("{BODY}\n"), &format!("{right}\n"));
        assert_eq!(two, Examination::Mistaken(vec![Mistake::Secret(SecretSlip::LineFeed), Mistake::BodyEnd]));
    }

    #[test]
    fn what_somebody_signed_by_hand_is_found_too() {
        let right = secret(9);
        let examined = |signature: &str| {
            let headers = EventHeaders { x_svc_signature: Some(signature), ..EventHeaders::default() };
            examine(&headers, BODY.as_bytes(), right.reveal(), &[])
        };
        let hex = right.x_svc_signature(BODY.as_bytes());
        for (signature, expected) in [
            (format!("sha256={hex}"), Mistake::Form(SignatureForm::Prefixed)),
            (hex.to_uppercase(), Mistake::Form(SignatureForm::UpperCase)),
            (
                SecretSlip::Decoded.keys(&right).x_svc_signature(BODY.as_bytes(), None),
                Mistake::Secret(SecretSlip::Decoded),
            ),
            (right.x_svc_signature(b""), Mistake::ParsedBody(BodySpelling::Empty)),
        ] {
            assert_eq!(examined(&signature), Examination::Mistaken(vec![expected]), "{signature}");
        }
        for signature in ["", "00", &secret(1).x_svc_signature(BODY.as_bytes())] {
            assert!(matches!(examined(signature), Examination::Unexplained(_)), "{signature}");
        }
    }

    #[test]
    fn the_standard_signature_is_examined_where_it_stands_alone_or_beside() {
        let right = secret(9);
        let standard = right.standard_signature("evt_1", 5, BODY.as_bytes());
        let x_svc = right.x_svc_signature(BODY.as_bytes());
        let (id, at) = (Some("evt_1"), Some("5"));
        let fields = EventHeaders {
            webhook_id: id,
            webhook_timestamp: at,
            webhook_signature: Some(&standard),
            ..EventHeaders::default()
        };
        let examined = |headers: &EventHeaders<'_>, secret: &str| examine(headers, BODY.as_bytes(), secret, &[]);
        // The contract wants X-Svc-Signature.
        assert_eq!(examined(&fields, right.reveal()), Examination::Unexplained("it has no X-Svc-Signature"));
        let both = EventHeaders { x_svc_signature: Some(&x_svc), ..fields };
        assert_eq!(examined(&both, right.reveal()), Examination::Signed);
        let moved = EventHeaders { webhook_timestamp: Some("6"), ..both };
        let expected = Examination::Unexplained("its webhook-signature does not match");
        assert_eq!(examined(&moved, right.reveal()), expected);
    }
}
