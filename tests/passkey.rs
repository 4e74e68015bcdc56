//! An authenticator and its browser, for tests, which include this file by its path. Its answers are valid except for
//! the requested lies, and lies are signed correctly.

use std::fmt::Write as _;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::{Value, json};

/// A test-only key: its generation takes longer than all tests.
const RSA_KEY: &str = "\
    MIIEowIBAAKCAQEAtOZktacEE3UQYvKS8fAugiIjvwU6cOGI52umzeWbUyI/pc7v09l0iogobMyxisnKPR9twGWj+d4KvE496KeXVgvMirTUCA6y\
    6dqDj7oSNQBz+etSBLAiKljH33q4WX5aofIR1NG7roWwxznVBlMKGme1tFf7UzzmxgiokfWNatHNyMFXHyShGn8kN60B4b/VPhbTzUYMyP0u4DI9\
    R8fdVW5zvPwqtwZ8JF/TOtVEZjx9NsDUby4FTEF1iT86RqLt+cs6XMtrCIkES3W9FBoKJu5b3bQ/+BYMrelAMQfZCOIjTCWdJtffbD7IswzB/n7u\
    keUiIsBwfBdQx5CVKXnaTQIDAQABAoIBAAj4tCUI0FGaRRuN0KdhtDr/E8emyIFqbgO6XUIUZtOhGWttfahKsB1iRDDBJhJKrQD76SbZHHzCGIxt\
    UyrnGjK7l4OHv9p2ce9Ljo1wAdgKobXS3WbmHjZRpxRqQTedO0Qffa50T3draQz/d+p3C9GrbNOHEmSvvk6k2tdXncqCU2iQCo5RNPdO6p2+yhxp\
    dOZfZ+qRecFaVheeOIMmCAdrqQdIkmJGsFYWPJ4RD4t87nKi22P+Hfp+prKDwO+4rMf0s7IspmYYm2PZEcpPqin7bEs1qstdW1x5Vm3Jx6o6wCde\
    Niw6Qz1HTumgVzTmF1ufiY3nwio65nzmXVPTP/ECgYEA2CdWxeTJBiTbU4Qor9SP+gvdCgXO3WTiR/M8zaosNFAqLbtk+PMO0pUfngZBhgl1BdTO\
    jC9ZSl10gYgoW6symI5pf/ATVPxr9STNndEWucoznOHIs1VV8003btM/TDmuK16FE+NgXl4yr/P5cml63Ac6TveGVW9/Z9Lvolzdb5MCgYEA1j9f\
    VGla0lVtDdcB5h7UPy/tHpVm86hlFrrpCJb3cO5uoWujYp6r4NfcZv7Hz5PFdWLk0fvwuEtOqX1F7RIxWmArAYppfLbP0tWmu5zvJeAEf/DPCVn1\
    7xYKnB7uT+7VVYr37iJaCTHnJm4hSGDTFB83JE30ZyLO8/+NsdSU+p8CgYA8x3MC2j4cWCjD5xl5t490g/l3ZAKzBjcKfD7QpdUgMJprmZHe3pmA\
    ZSYqzR+HjQk2xov9pyK4YmbsNVkDzbPAaesIan1FHGVO3TZj9fMp8s1og6RnqMsuSrwXkZbu3Bk5YK6S1RC3+EzQZQ3zOe2uCOpAYiGHzH5Kt2li\
    gjJRuQKBgQC+UVM0n9Ye6+XRGoLEUfSHIOLJfTwUDC2ocGbby4eJGTTLTdu4mmzicb6G+6KxYXpRmYTch6pBfBwncXHxc2zF9JGfb73fHGImzsWq\
    +XBzO7mjkV3I19IhDXplTxCxjt6Re75cGsXSTzMfr0r/iYtX35bTODB4gbJHi2bqZoXkzwKBgD8sAox4zc5lGmy3vziYiXPWt3CJaTAdxWrvBYUO\
    mfw9Xjxo3meJAuxZB/Mf0W4OQ43DmpaPXP1ScObQnVybgARC24RF7PGdRHD199fHKXglvIVFbP7miRBdABaxpvbppsuWhUpyYJMz/r1BbsoAUkZt\
    lNyn/VbmdjE/xbFH2ZKn";

/// A usable passkey.
pub(crate) struct TestPasskey {
    id: Vec<u8>,
    key: TestKey,
    user_handle: String,
    sign_count: u32,
}

enum TestKey {
    Es256(Box<EcdsaKeyPair>),
    Rs256(Box<RsaKeyPair>),
}

/// Deviations from the answer of an honest browser and authenticator.
pub(crate) enum Lie {
    /// Another origin.
    Origin(&'static str),
    /// Another relying party ID.
    RpId(&'static str),
    /// The page was in a cross-origin frame.
    CrossOrigin,
    /// The origin of the frame's top-level page.
    TopOrigin(Value),
    /// Another challenge.
    Challenge([u8; 32]),
    /// Another type, such as `webauthn.create` for `webauthn.get`.
    Type(&'static str),
    /// Inverted flags.
    Flags(u8),
    /// Another credential ID in the browser's data.
    Id(Vec<u8>),
    /// The credential ID of another passkey in the authenticator's data.
    NamedAs(Vec<u8>),
    /// The user handle, in base64url.
    UserHandle(String),
    /// The public key in the authenticator's data.
    Key(Vec<u8>),
    /// Format and statement of the attestation, in CBOR.
    Statement(&'static str, Vec<u8>),
    /// A function that changes the client data.
    ClientData(fn(String) -> Vec<u8>),
    /// A function that changes the authenticator's data.
    AuthenticatorData(fn(Vec<u8>) -> Vec<u8>),
    /// A function that changes the attestation.
    Attestation(fn(Vec<u8>) -> Vec<u8>),
}

pub(crate) const USER_PRESENT: u8 = 1;
pub(crate) const USER_VERIFIED: u8 = 1 << 2;
pub(crate) const BACKED_UP: u8 = 1 << 4;
const HAS_CREDENTIAL: u8 = 1 << 6;

impl TestPasskey {
    /// Returns the passkey and the `RegistrationResponseJSON` of `navigator.credentials.create()` with these options on
    /// a page of this origin.
    pub(crate) fn create(options: &Value, origin: &str, lies: &[Lie]) -> (Self, Value) {
        let offered = options["pubKeyCredParams"].as_array().expect("the page offers algorithms");
        let key = offered.iter().find_map(|offer| TestKey::of(offer["alg"].as_i64()?)).expect("a supported algorithm");
        let mut id = vec![0; 16];
        SystemRandom::new().fill(&mut id).unwrap();
        let id =
            lies.iter().find_map(|lie| if let Lie::NamedAs(id) = lie { Some(id.clone()) } else { None }).unwrap_or(id);
        let user_handle = options["user"]["id"].as_str().expect("a user handle").to_owned();
        let passkey = Self { id, key, user_handle, sign_count: 0 };
        let client_data = client_data("webauthn.create", options, origin, lies);
        let rp_id = options["rp"]["id"].as_str().expect("an RP ID");
        let cose = lies.iter().find_map(|lie| if let Lie::Key(cose) = lie { Some(cose.clone()) } else { None });
        let length = u16::try_from(passkey.id.len()).unwrap().to_be_bytes();
        let attested = [&[0xaa; 16], &length[..], &passkey.id, &cose.unwrap_or_else(|| passkey.key.cose())].concat();
        let data = authenticator_data(rp_id, HAS_CREDENTIAL, 0, &attested, lies);
        let response = json!({
            "clientDataJSON": BASE64URL_NOPAD.encode(&client_data),
            "attestationObject": BASE64URL_NOPAD.encode(&attestation(&data, lies)),
            "authenticatorData": BASE64URL_NOPAD.encode(&data),
            "transports": ["internal", "hybrid"],
        });
        let json = passkey.json(&response, lies);
        (passkey, json)
    }

    /// Returns the `AuthenticationResponseJSON` of `navigator.credentials.get()` with these options on a page of this
    /// origin.
    pub(crate) fn get(&mut self, options: &Value, origin: &str, lies: &[Lie]) -> Value {
        let client_data = client_data("webauthn.get", options, origin, lies);
        self.sign_count += 1;
        let rp_id = options["rpId"].as_str().expect("an RP ID");
        let data = authenticator_data(rp_id, 0, self.sign_count, &[], lies);
        let signature = self.key.sign(&[&data, digest(&SHA256, &client_data).as_ref()].concat());
        let handle = lies.iter().find_map(|lie| if let Lie::UserHandle(handle) = lie { Some(handle) } else { None });
        let response = json!({
            "clientDataJSON": BASE64URL_NOPAD.encode(&client_data),
            "authenticatorData": BASE64URL_NOPAD.encode(&data),
            "signature": BASE64URL_NOPAD.encode(&signature),
            "userHandle": handle.unwrap_or(&self.user_handle),
        });
        self.json(&response, lies)
    }

    /// The credential ID in base64url.
    pub(crate) fn id(&self) -> String {
        BASE64URL_NOPAD.encode(&self.id)
    }

    fn json(&self, response: &Value, lies: &[Lie]) -> Value {
        let told = lies.iter().find_map(|lie| if let Lie::Id(id) = lie { Some(id) } else { None });
        let id = BASE64URL_NOPAD.encode(told.unwrap_or(&self.id));
        json!({
            "id": id, "rawId": id, "type": "public-key", "response": response,
            "authenticatorAttachment": "platform", "clientExtensionResults": {},
        })
    }
}

impl TestKey {
    fn of(algorithm: i64) -> Option<Self> {
        let random = SystemRandom::new();
        match algorithm {
            -7 => {
                let secret = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
                let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, secret.as_ref(), &random);
                Some(Self::Es256(Box::new(pair.unwrap())))
            }
            -257 => {
                let secret = BASE64.decode(RSA_KEY.as_bytes()).unwrap();
                Some(Self::Rs256(Box::new(RsaKeyPair::from_der(&secret).unwrap())))
            }
            _ => None,
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Es256(pair) => pair.sign(&random, message).unwrap().as_ref().to_owned(),
            Self::Rs256(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
        }
    }

    fn cose(&self) -> Vec<u8> {
        match self {
            Self::Es256(pair) => {
                let point = pair.public_key().as_ref();
                cose_of_point(-7, 1, &point[1..33], &point[33..])
            }
            Self::Rs256(pair) => {
                let RsaPublicKeyComponents { n, e } = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
                cose_of_rsa(&n, &e)
            }
        }
    }
}

/// Encodes a `COSE_Key` with two coordinates.
pub(crate) fn cose_of_point(algorithm: i8, curve: u8, x: &[u8], y: &[u8]) -> Vec<u8> {
    [&[0xa5, 1, 2, 3][..], &small(algorithm), &[0x20, curve, 0x21], &bytes(x), &[0x22], &bytes(y)].concat()
}

/// Encodes a `COSE_Key` with modulus and exponent, for RS256.
pub(crate) fn cose_of_rsa(n: &[u8], e: &[u8]) -> Vec<u8> {
    [&[0xa4, 1, 3, 3, 0x39, 1, 0, 0x20][..], &bytes(n), &[0x21], &bytes(e)].concat()
}

/// Encodes a negative number of at most eight bits in CBOR.
fn small(number: i8) -> Vec<u8> {
    match (-1 - number).cast_unsigned() {
        few @ 0..=23 => vec![0x20 + few],
        more => vec![0x38, more],
    }
}

/// Encodes a byte string in CBOR.
pub(crate) fn bytes(bytes: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(bytes.len()).unwrap().to_be_bytes();
    [&[0x59, high, low], bytes].concat()
}

fn attestation(data: &[u8], lies: &[Lie]) -> Vec<u8> {
    let honest = ("none", vec![0xa0]);
    let told = |lie: &Lie| if let Lie::Statement(format, map) = lie { Some((*format, map.clone())) } else { None };
    let (format, statement) = lies.iter().find_map(told).unwrap_or(honest);
    let length = 0x60 + u8::try_from(format.len()).unwrap();
    let head = [b"\xa3\x63fmt", &[length][..], format.as_bytes(), b"\x67attStmt", &statement, b"\x68authData"].concat();
    let object = [head, bytes(data)].concat();
    lies.iter().fold(object, |object, lie| if let Lie::Attestation(change) = lie { change(object) } else { object })
}

fn authenticator_data(rp_id: &str, flags: u8, sign_count: u32, attested: &[u8], lies: &[Lie]) -> Vec<u8> {
    let told = lies.iter().find_map(|lie| if let Lie::RpId(id) = lie { Some(*id) } else { None });
    let hash = digest(&SHA256, told.unwrap_or(rp_id).as_bytes());
    let turned = lies.iter().fold(0, |all, lie| if let Lie::Flags(bits) = lie { all ^ bits } else { all });
    let flags = (flags | USER_PRESENT | USER_VERIFIED) ^ turned;
    let data = [hash.as_ref(), &[flags], &sign_count.to_be_bytes(), attested].concat();
    lies.iter().fold(data, |data, lie| if let Lie::AuthenticatorData(change) = lie { change(data) } else { data })
}

/// In the order and format of Web Authentication, 5.8.1.1.
fn client_data(kind: &str, options: &Value, origin: &str, lies: &[Lie]) -> Vec<u8> {
    let mut challenge = options["challenge"].as_str().expect("a challenge").to_owned();
    let (mut kind, mut origin, mut cross_origin, mut more) = (kind, origin, false, String::new());
    for lie in lies {
        match lie {
            Lie::Type(told) => kind = told,
            Lie::Origin(told) => origin = told,
            Lie::Challenge(told) => challenge = BASE64URL_NOPAD.encode(told),
            Lie::CrossOrigin => cross_origin = true,
            Lie::TopOrigin(told) => write!(more, r#","topOrigin":{told}"#).unwrap(),
            _ => {}
        }
    }
    let [kind, challenge, origin] = [kind, &challenge, origin].map(|text| json!(text));
    let text =
        format!(r#"{{"type":{kind},"challenge":{challenge},"origin":{origin},"crossOrigin":{cross_origin}{more}}}"#);
    let change = lies.iter().find_map(|lie| if let Lie::ClientData(change) = lie { Some(change) } else { None });
    change.map_or_else(|| text.clone().into_bytes(), |change| change(text.clone()))
}
