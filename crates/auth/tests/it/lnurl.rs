//! Tests logins by Lightning wallet with `vectors/lnurl.json`.

use serde::Deserialize;
use signpost_auth::{
    AuthCallback, AuthUrl, Challenge, InvalidAuthUrl, InvalidLnurl, K1, Lnurl, PublicKey, Signature, Wallet, verify,
};

use crate::signature::wallet;

#[derive(Deserialize)]
struct Vectors {
    signed: Vec<Signed>,
    spelled: Vec<EncodedUrl>,
    read: Vec<ParsedUrl>,
    refused: Vec<RejectedUrl>,
    linking: Vec<LinkingKey>,
    callbacks: Vec<Callback>,
    refused_callbacks: Vec<RejectedCallback>,
}

#[derive(Deserialize)]
struct Signed {
    challenge: String,
    k1: String,
    secret_key: String,
    public_key: String,
    signature: String,
}

#[derive(Deserialize)]
struct EncodedUrl {
    url: String,
    lnurl: String,
}

#[derive(Deserialize)]
struct ParsedUrl {
    name: String,
    text: String,
    url: String,
    host: String,
    k1: String,
    action: String,
}

#[derive(Deserialize)]
struct RejectedUrl {
    name: String,
    text: String,
    reason: String,
}

#[derive(Deserialize)]
struct LinkingKey {
    secret_key: String,
    host: String,
    public_key: String,
}

#[derive(Deserialize)]
struct Callback {
    name: String,
    challenge: String,
    query: String,
    signs: bool,
}

#[derive(Deserialize)]
struct RejectedCallback {
    name: String,
    query: String,
    reason: String,
}

fn vectors() -> Vectors {
    crate::read("lnurl")
}

#[test]
fn lightning_wallet_signs_the_challenge() {
    for Signed { challenge, k1, secret_key, public_key, signature } in vectors().signed {
        let parsed = Challenge::parse(&challenge).unwrap();
        assert_eq!(K1::of(&parsed).to_string(), k1);
        assert_eq!(k1.parse(), Ok(K1::of(&parsed)));
        assert_eq!(wallet(&secret_key).sign_k1(K1::of(&parsed)), signature, "{challenge}");
        let (key, signature) = (PublicKey::parse(&public_key).unwrap(), Signature::parse(&signature).unwrap());
        assert!(verify(&key, &signature, challenge.as_bytes()), "{challenge}");
        assert!(!verify(&key, &signature, parsed.sentence().as_bytes()), "{challenge}");
    }
}

#[test]
fn lnurl_matches_other_encoders() {
    for EncodedUrl { url, lnurl } in vectors().spelled {
        let spelled = Lnurl::new(&url).unwrap();
        assert_eq!((spelled.to_string(), spelled.qr_text()), (lnurl.to_lowercase(), lnurl.to_uppercase()));
        assert_eq!(Lnurl::decode(&lnurl), Ok(url));
    }
    let longest = format!("https://example.com/{}", "x".repeat(611));
    assert_eq!(Lnurl::decode(&Lnurl::new(&longest).unwrap().qr_text()), Ok(longest.clone()));
    assert_eq!(Lnurl::new(format!("{longest}x")), None);
}

#[test]
fn every_wallet_spelling_parses() {
    for ParsedUrl { name, text, url, host, k1, action } in vectors().read {
        let read = AuthUrl::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((read.url().as_str(), read.host()), (&*url, host), "{name}");
        assert_eq!((read.k1().to_string(), read.action().as_str()), (k1, &*action), "{name}");
        let key = Wallet::from_bytes([1; 32]).unwrap();
        let signed = read.signed_by(&key);
        assert!(signed.as_str().starts_with(&format!("{url}&sig=30")), "{name}: {signed}");
        let callback = AuthCallback::parse(signed.query().unwrap()).unwrap();
        assert_eq!((callback.k1(), callback.key()), (Some(read.k1()), key.public_key()), "{name}");
    }
}

#[test]
fn invalid_login_url_has_a_reason() {
    for RejectedUrl { name, text, reason } in vectors().refused {
        let error = AuthUrl::parse(&text).map(|read| panic!("{name}: {read:?}")).unwrap_err();
        let rule = match error {
            InvalidAuthUrl::Bech32(InvalidLnurl::Length(_)) => "Length".to_owned(),
            InvalidAuthUrl::Bech32(error) => format!("{error:?}"),
            error => format!("{error:?}"),
        };
        assert_eq!(rule, reason, "{name}");
        assert_eq!(error.to_string().lines().count(), 1, "{name}");
    }
}

#[test]
fn linking_key_matches_other_wallets() {
    for LinkingKey { secret_key, host, public_key } in vectors().linking {
        let key = wallet(&secret_key).linking_key(&host).unwrap();
        assert_eq!(key.public_key().canonical(), public_key, "{host}");
    }
}

#[test]
fn request_answers_only_its_challenge() {
    for Callback { name, challenge, query, signs } in vectors().callbacks {
        let callback = AuthCallback::parse(&query).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(callback.signs(&Challenge::parse(&challenge).unwrap()), signs, "{name}");
        // The values are stored as received.
        let sent = [callback.signature_hex(), callback.key().as_given()];
        assert!(sent.iter().all(|sent| query.contains(&sent[1..])), "{name}");
    }
    for RejectedCallback { name, query, reason } in vectors().refused_callbacks {
        let error = AuthCallback::parse(&query).unwrap_err();
        assert_eq!(format!("{error:?}"), reason, "{name}");
    }
}
