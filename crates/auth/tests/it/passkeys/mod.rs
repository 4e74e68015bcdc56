//! Tests registrations and logins with passkeys, with the vectors of the specification and with
//! generated responses.

mod fuzz;
mod refusals;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use signpost_auth::{
    PasskeyAlgorithm, PasskeyAssertion, PasskeyHandle, PasskeyKey, PasskeyRefusal, PasskeyRegistration, RelyingParty,
};

use crate::passkey::{Lie, TestPasskey};

const ORIGIN: &str = "https://login.test";
const CHALLENGE: [u8; 32] = [7; 32];

#[derive(Deserialize)]
pub(crate) struct Vectors {
    origin: String,
    pub(crate) cases: Vec<Case>,
}

#[derive(Deserialize)]
pub(crate) struct Case {
    name: String,
    cose_key: String,
    public_key: Option<String>,
    pub(crate) registration: Ceremony,
    pub(crate) assertion: Option<Ceremony>,
}

#[derive(Deserialize)]
pub(crate) struct Ceremony {
    challenge: String,
    refusal: Option<String>,
    pub(crate) response: Value,
}

impl Ceremony {
    /// Returns the first 32 bytes of the challenge. One test vector has a longer challenge, which
    /// the service never creates.
    fn challenge(&self) -> [u8; 32] {
        *HEXLOWER.decode(self.challenge.as_bytes()).unwrap().first_chunk().unwrap()
    }
}

pub(crate) fn vectors() -> Vectors {
    crate::read("webauthn")
}

fn rp() -> RelyingParty {
    RelyingParty::of(ORIGIN).unwrap()
}

fn creation_options(algorithms: &[i64]) -> Value {
    let offered: Vec<_> = algorithms.iter().map(|alg| json!({"type": "public-key", "alg": alg})).collect();
    json!({
        "challenge": BASE64URL_NOPAD.encode(&CHALLENGE), "rp": {"id": "login.test", "name": "login.test"},
        "user": {"id": PasskeyHandle::from_bytes([9; 32]).to_string(), "name": "a", "displayName": "a"},
        "pubKeyCredParams": offered,
    })
}

fn request() -> Value {
    json!({"challenge": BASE64URL_NOPAD.encode(&CHALLENGE), "rpId": "login.test", "userVerification": "required"})
}

fn register(lies: &[Lie]) -> Result<PasskeyKey, PasskeyRefusal> {
    let (_, answer) = TestPasskey::create(&creation_options(&[-7]), ORIGIN, lies);
    PasskeyRegistration::parse(&answer.to_string())?.verify(&rp(), &CHALLENGE).map(|new| new.key)
}

/// Creates a passkey, and returns it with its public key.
fn passkey(algorithm: i64) -> (TestPasskey, PasskeyKey) {
    let (passkey, answer) = TestPasskey::create(&creation_options(&[algorithm]), ORIGIN, &[]);
    let new = PasskeyRegistration::parse(&answer.to_string()).unwrap().verify(&rp(), &CHALLENGE).unwrap();
    assert_eq!((new.id.to_string(), new.sign_count), (passkey.id(), 0));
    assert_eq!(i64::from(new.key.algorithm() == PasskeyAlgorithm::Es256), i64::from(algorithm == -7));
    (passkey, new.key)
}

fn log_in(lies: &[Lie]) -> Result<u32, PasskeyRefusal> {
    let (mut passkey, key) = passkey(-7);
    let answer = passkey.get(&request(), ORIGIN, lies);
    PasskeyAssertion::parse(&answer.to_string())?.verify(&rp(), &CHALLENGE, &key).map(|asserted| asserted.sign_count)
}

fn refusal_name<T>(result: Result<T, PasskeyRefusal>) -> Option<String> {
    result.err().map(|refusal| refusal.as_str().to_owned())
}

#[test]
fn specification_vectors_are_evaluated() {
    let Vectors { origin, cases } = vectors();
    let rp = RelyingParty::of(&origin).unwrap();
    for Case { name, cose_key, public_key, registration, assertion } in cases {
        let cose_key = HEXLOWER.decode(cose_key.as_bytes()).unwrap();
        let offered = public_key.as_deref().map(|hex| PasskeyKey::parse_hex(hex).unwrap());
        assert_eq!(register(&[Lie::Key(cose_key)]), offered.ok_or(PasskeyRefusal::Algorithm), "{name}");
        let parsed = PasskeyRegistration::parse(&registration.response.to_string()).unwrap();
        let verified = parsed.verify(&rp, &registration.challenge());
        assert_eq!(refusal_name(verified.clone()), registration.refusal, "{name}");
        let (Some(hex), Some(assertion)) = (public_key, assertion) else { continue };
        let key = PasskeyKey::parse_hex(&hex).unwrap();
        if let Ok(new) = verified {
            assert_eq!(new.key, key, "{name}");
            assert_eq!(new.id.to_string(), registration.response["id"], "{name}");
        }
        let parsed = PasskeyAssertion::parse(&assertion.response.to_string()).unwrap();
        assert_eq!(refusal_name(parsed.verify(&rp, &assertion.challenge(), &key)), assertion.refusal, "{name}");
        // Without this flag, the signature is still valid.
        let part = |name: &str| {
            BASE64URL_NOPAD.decode(assertion.response["response"][name].as_str().unwrap().as_bytes()).unwrap()
        };
        let signed = [part("authenticatorData"), Sha256::digest(part("clientDataJSON")).to_vec()].concat();
        assert!(key.verify(&signed, &part("signature")), "{name}");
        assert!(!key.verify(&signed[1..], &part("signature")), "{name}");
    }
}

#[test]
fn both_key_types_register_and_log_in() {
    for algorithm in [-7, -257] {
        let (mut passkey, key) = passkey(algorithm);
        assert_eq!(PasskeyKey::parse_hex(&key.canonical()), Ok(key.clone()));
        for count in [1, 2] {
            let answer = passkey.get(&request(), ORIGIN, &[]);
            let parsed = PasskeyAssertion::parse(&answer.to_string()).unwrap();
            assert_eq!(parsed.id().to_string(), passkey.id());
            assert_eq!(parsed.user_handle(), Some(&PasskeyHandle::from_bytes([9; 32])));
            let asserted = parsed.verify(&rp(), &CHALLENGE, &key).unwrap();
            assert_eq!(asserted.sign_count, count);
            // The returned parts suffice to verify the signature again.
            let signed = [asserted.authenticator_data, Sha256::digest(asserted.client_data_json).to_vec()].concat();
            assert!(key.verify(&signed, &asserted.signature));
        }
    }
}

#[test]
fn malformed_answer_is_rejected() {
    let malformed = |json: &str| {
        let registration = PasskeyRegistration::parse(json).unwrap_err();
        let assertion = PasskeyAssertion::parse(json).unwrap_err();
        assert_eq!((registration.as_str(), assertion.as_str()), ("malformed", "malformed"), "{json:.200}");
    };
    for text in ["", "null", "[]", "{}", "\u{feff}{}", r#"{"id":"AA"}"#, "\u{0}"] {
        malformed(text);
    }
    let (mut passkey, created) = TestPasskey::create(&creation_options(&[-7]), ORIGIN, &[]);
    for mut answer in [created, passkey.get(&request(), ORIGIN, &[])] {
        let text = answer.to_string();
        malformed(&format!("{text}{}", " ".repeat(32 * 1024)));
        malformed(&format!("{text}{{}}"));
        malformed(&text.replacen('{', r#"{"id":"AA","#, 1));
        malformed(&text.replace(r#""response":{"#, r#""response":{"clientDataJSON":"e30","#));
        malformed(&text.replace("public-key", "password"));
        malformed(&text.replacen(&passkey.id(), "AAAA", 1));
        malformed(&text.replace(&passkey.id(), ""));
        malformed(&text.replace(&passkey.id(), &"AAAA".repeat(342)));
        malformed(&text.replace(&passkey.id(), &format!("{}==", passkey.id())));
        for member in ["clientDataJSON", "attestationObject", "authenticatorData", "signature"] {
            if member == "authenticatorData" && answer["response"]["attestationObject"].is_string() {
                continue;
            }
            if let Some(value) = answer["response"].get(member).cloned() {
                for bad in [json!("%"), json!(1), json!(null)] {
                    answer["response"][member] = bad;
                    assert!(PasskeyRegistration::parse(&answer.to_string()).is_err(), "{member}");
                    assert!(PasskeyAssertion::parse(&answer.to_string()).is_err(), "{member}");
                }
                answer["response"][member] = value;
            }
        }
    }
}

#[test]
fn user_handle_is_valid_or_absent() {
    let (mut passkey, _) = passkey(-7);
    let mut answer = passkey.get(&request(), ORIGIN, &[]);
    for none in [json!(null), json!("")] {
        answer["response"]["userHandle"] = none;
        assert_eq!(PasskeyAssertion::parse(&answer.to_string()).unwrap().user_handle(), None);
    }
    answer["response"].as_object_mut().unwrap().remove("userHandle");
    assert_eq!(PasskeyAssertion::parse(&answer.to_string()).unwrap().user_handle(), None);
    let refusal = PasskeyRefusal::Malformed("userHandle is not one of this server");
    for bad in ["AAAA", "%", &PasskeyHandle::from_bytes([9; 32]).to_string()[1..]] {
        let answer = passkey.get(&request(), ORIGIN, &[Lie::UserHandle(bad.to_owned())]);
        assert_eq!(PasskeyAssertion::parse(&answer.to_string()).unwrap_err(), refusal, "{bad}");
    }
}

#[test]
fn signature_of_another_key_is_rejected() {
    let ((mut first, key), (mut other, other_key)) = (passkey(-7), passkey(-7));
    let (mut rsa, rsa_key) = passkey(-257);
    let verify = |answer: &Value, key: &PasskeyKey| {
        PasskeyAssertion::parse(&answer.to_string()).unwrap().verify(&rp(), &CHALLENGE, key).map(drop)
    };
    let refused = Err(PasskeyRefusal::Signature);
    assert_eq!(verify(&other.get(&request(), ORIGIN, &[]), &key), refused);
    assert_eq!(verify(&first.get(&request(), ORIGIN, &[]), &other_key), refused);
    assert_eq!(verify(&rsa.get(&request(), ORIGIN, &[]), &key), refused);
    assert_eq!(verify(&first.get(&request(), ORIGIN, &[]), &rsa_key), refused);
    for signature in ["", "AAAA", "MAYCAQECAQE"] {
        let mut answer = first.get(&request(), ORIGIN, &[]);
        answer["response"]["signature"] = json!(signature);
        assert_eq!(verify(&answer, &key), refused, "{signature}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn changed_signed_byte_is_rejected(rsa: bool, client: bool, index: prop::sample::Index, bit in 0..8_u8) {
        let (mut passkey, key) = passkey(if rsa { -257 } else { -7 });
        let mut answer = passkey.get(&request(), ORIGIN, &[]);
        let part = &mut answer["response"][if client { "clientDataJSON" } else { "authenticatorData" }];
        let mut bytes = BASE64URL_NOPAD.decode(part.as_str().unwrap().as_bytes()).unwrap();
        let index = index.index(bytes.len());
        bytes[index] ^= 1 << bit;
        *part = json!(BASE64URL_NOPAD.encode(&bytes));
        let result = PasskeyAssertion::parse(&answer.to_string())
            .and_then(|parsed| parsed.verify(&rp(), &CHALLENGE, &key));
        prop_assert!(result.is_err());
    }

    #[test]
    fn answer_matches_only_its_challenge(challenge: [u8; 32]) {
        prop_assume!(challenge != CHALLENGE);
        let (mut passkey, key) = passkey(-7);
        let parsed = PasskeyAssertion::parse(&passkey.get(&request(), ORIGIN, &[]).to_string()).unwrap();
        prop_assert_eq!(parsed.verify(&rp(), &challenge, &key), Err(PasskeyRefusal::Challenge));
        prop_assert!(parsed.verify(&rp(), &CHALLENGE, &key).is_ok());
    }
}
