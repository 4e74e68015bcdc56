//! Tests challenges and QR data with `vectors/challenge.json`.

use serde::Deserialize;
use signpost_auth::{Challenge, DomainName, HostBoundChallenge, Mode, QrData, Signing};

#[derive(Deserialize)]
struct Vectors {
    challenges: Vec<ChallengeCase>,
    refused: Vec<NamedText>,
    through: Vec<HostBoundCase>,
    through_refused: Vec<NamedText>,
    qr_data: Vec<QrDataCase>,
    qr_data_read_alike: EquivalentTexts,
    qr_data_refused: Vec<NamedQrData>,
}

#[derive(Deserialize)]
struct ChallengeCase {
    mode: Mode,
    domain: DomainName,
    issued_at: i64,
    nonce: String,
    svc: String,
    sentence: String,
}

#[derive(Deserialize)]
struct NamedText {
    name: String,
    text: String,
}

#[derive(Deserialize)]
struct HostBoundCase {
    name: String,
    challenge: String,
    webhook: String,
    number: Option<String>,
    authority: String,
    text: String,
}

#[derive(Deserialize)]
struct QrDataCase {
    webhook: String,
    challenge: String,
    expires_at: i64,
    version: Option<u8>,
    number: Option<bool>,
    qr_data: String,
}

#[derive(Deserialize)]
struct EquivalentTexts {
    same_as: String,
    texts: Vec<NamedQrData>,
}

#[derive(Deserialize)]
struct NamedQrData {
    name: String,
    qr_data: String,
}

#[test]
fn challenge_has_two_renderings() {
    let vectors: Vectors = crate::read("challenge");
    for ChallengeCase { mode, domain, issued_at, nonce, svc, sentence } in vectors.challenges {
        let challenge = Challenge { mode, domain, issued_at, nonce: nonce.parse().unwrap() };
        assert_eq!((challenge.to_string(), challenge.sentence()), (svc.clone(), sentence.clone()));
        assert_eq!(Challenge::parse(&svc).as_ref(), Ok(&challenge));
        assert_eq!(Challenge::parse(&sentence), Ok(challenge));
    }
    for NamedText { name, text } in vectors.refused {
        assert!(Challenge::parse(&text).is_err(), "{name}");
    }
}

#[test]
fn host_bound_text_has_the_url_standard_host() {
    let vectors: Vectors = crate::read("challenge");
    for HostBoundCase { name, challenge, webhook, number, authority, text } in vectors.through {
        let (challenge, webhook) = (Challenge::parse(&challenge).unwrap(), webhook.parse().unwrap());
        assert_eq!(signpost_auth::authority(&webhook), authority, "{name}");
        let through = HostBoundChallenge::new(challenge.clone(), &webhook, number.as_deref());
        assert_eq!(through.to_string(), text, "{name}");
        let read = HostBoundChallenge::parse(&text).unwrap();
        assert_eq!(
            (read.challenge(), read.authority(), read.number()),
            (&challenge, &*authority, number.as_deref()),
            "{name}"
        );
        assert!(Challenge::parse(&text).is_err(), "{name}");
    }
    for NamedText { name, text } in vectors.through_refused {
        assert!(HostBoundChallenge::parse(&text).is_err(), "{name}");
    }
}

#[test]
fn code_parsing_is_strict() {
    let vectors: Vectors = crate::read("challenge");
    for QrDataCase { webhook, challenge, expires_at, version, number, qr_data } in vectors.qr_data {
        let signing = match version {
            Some(2) => Signing::HostBound { number: number == Some(true) },
            _ => Signing::Sentence,
        };
        let (webhook, challenge) = (webhook.parse().unwrap(), Challenge::parse(&challenge).unwrap());
        let code = QrData::with_signing(signing, webhook, challenge, expires_at).unwrap();
        assert_eq!(code.to_string(), qr_data);
        assert_eq!(QrData::parse(&qr_data), Ok(code));
    }
    let same = QrData::parse(&vectors.qr_data_read_alike.same_as);
    for NamedQrData { name, qr_data } in vectors.qr_data_read_alike.texts {
        assert_eq!(QrData::parse(&qr_data), same, "{name}");
    }
    for NamedQrData { name, qr_data } in vectors.qr_data_refused {
        assert!(QrData::parse(&qr_data).is_err(), "{name}");
    }
}
