//! JSON Web Signatures in the compact serialization (RFC 7515, 3.1).

use anyhow::Result;
use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{PrivateKey, PublicJwk, SigningAlgorithm};

/// Maximum length of a parsed token, in bytes: several times the longest token of this server.
pub const MAX_TOKEN_BYTES: usize = 16 << 10;

#[derive(Serialize)]
struct WrittenHeader<'a> {
    alg: SigningAlgorithm,
    kid: &'a str,
    typ: &'a str,
}

/// A parsed header. `none`, HS256 and all other algorithms are unknown, so that their tokens do not parse.
#[derive(Deserialize)]
struct ReadHeader {
    alg: SigningAlgorithm,
    kid: String,
    /// Required extensions (RFC 7515, 4.1.11), of which none is supported.
    crit: Option<Value>,
    /// Marks an unencoded payload (RFC 7797), which is not supported.
    b64: Option<Value>,
}

/// A token before the verification of its signature.
#[derive(Debug)]
pub struct UnverifiedToken<'a> {
    /// The ID of the key that signed it, according to its header.
    pub kid: String,
    algorithm: SigningAlgorithm,
    signed: &'a str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

/// Signs claims. `typ` is the type of the token (`JWT`, `at+jwt`).
///
/// # Errors
/// Returns the errors of [`PrivateKey::sign`], or an error if the claims do not serialize.
pub fn sign(key: &PrivateKey, typ: &str, claims: &impl Serialize) -> Result<String> {
    let header = serde_json::to_vec(&WrittenHeader { alg: key.algorithm(), kid: key.kid(), typ })?;
    let mut token = BASE64URL_NOPAD.encode(&header);
    token.push('.');
    BASE64URL_NOPAD.encode_append(&serde_json::to_vec(claims)?, &mut token);
    let signature = key.sign(token.as_bytes())?;
    token.push('.');
    BASE64URL_NOPAD.encode_append(&signature, &mut token);
    Ok(token)
}

/// Parses a token. `None` if it is not in the compact serialization, or has another algorithm.
#[must_use]
pub fn parse(token: &str) -> Option<UnverifiedToken<'_>> {
    if token.len() > MAX_TOKEN_BYTES {
        return None;
    }
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, payload) = signed.split_once('.')?;
    let ReadHeader { alg, kid, crit, b64 } = serde_json::from_slice(&decode(header)?).ok()?;
    if crit.is_some() || b64.is_some() {
        return None;
    }
    Some(UnverifiedToken { kid, algorithm: alg, signed, payload: decode(payload)?, signature: decode(signature)? })
}

/// Decodes a part. A second encoding of the same bytes, padding or another dot is rejected.
fn decode(part: &str) -> Option<Vec<u8>> {
    BASE64URL_NOPAD.decode(part.as_bytes()).ok()
}

impl UnverifiedToken<'_> {
    /// Returns the claims, if this key signed them with its own algorithm. Does not check their expiry or audience.
    #[must_use]
    pub fn verify(&self, key: &PublicJwk) -> Option<Value> {
        if self.algorithm != key.algorithm() || !key.verifies(self.signed.as_bytes(), &self.signature) {
            return None;
        }
        serde_json::from_slice(&self.payload).ok().filter(Value::is_object)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use secrecy::ExposeSecret;
    use serde_json::json;

    use super::*;
    use crate::jose::generate_pkcs8;

    fn key() -> PrivateKey {
        let pkcs8 = generate_pkcs8(SigningAlgorithm::Es256).unwrap();
        PrivateKey::from_pkcs8(SigningAlgorithm::Es256, pkcs8.expose_secret()).unwrap()
    }

    fn with_header(token: &str, header: &Value) -> String {
        let (_, rest) = token.split_once('.').unwrap();
        format!("{}.{rest}", BASE64URL_NOPAD.encode(header.to_string().as_bytes()))
    }

    #[test]
    fn only_the_signing_key_verifies() {
        let (key, other, claims) = (key(), key(), json!({ "sub": "usr_1", "exp": 1 }));
        let token = sign(&key, "JWT", &claims).unwrap();
        let parsed = parse(&token).unwrap();
        assert_eq!((parsed.kid.as_str(), parsed.verify(key.public())), (key.kid(), Some(claims)));
        assert_eq!(parsed.verify(other.public()), None);
        let header = BASE64URL_NOPAD.decode(token.split('.').next().unwrap().as_bytes()).unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        assert_eq!(header, json!({ "alg": "ES256", "kid": key.kid(), "typ": "JWT" }));
    }

    #[test]
    fn changed_token_does_not_verify() {
        let key = key();
        let token = sign(&key, "JWT", &json!({ "sub": "usr_1" })).unwrap();
        for at in 0..token.len() {
            for other in ['A', '.', '=', '-'] {
                let mut altered = token.clone();
                altered.replace_range(at..=at, &other.to_string());
                let verified = parse(&altered).and_then(|parsed| parsed.verify(key.public()));
                assert!(altered == token || verified.is_none(), "{at} {altered}");
            }
        }
        for text in ["", ".", "..", "...", &token[..token.len() - 1], &format!("{token}="), &format!("{token}.x")] {
            assert!(parse(text).and_then(|parsed| parsed.verify(key.public())).is_none(), "{text}");
        }
        assert!(parse(&"a".repeat(MAX_TOKEN_BYTES + 1)).is_none());
    }

    #[test]
    fn algorithm_comes_from_the_key() {
        let key = key();
        let token = sign(&key, "JWT", &json!({})).unwrap();
        for alg in ["none", "None", "HS256", "HS512", "ES384", "PS256", "", "es256"] {
            assert!(parse(&with_header(&token, &json!({ "alg": alg, "kid": key.kid() }))).is_none(), "{alg}");
        }
        let mismatched = with_header(&token, &json!({ "alg": "RS256", "kid": key.kid() }));
        assert_eq!(parse(&mismatched).unwrap().verify(key.public()), None);
        for header in [
            json!({ "alg": "ES256" }),
            json!({ "alg": "ES256", "kid": key.kid(), "crit": ["exp"] }),
            json!({ "alg": "ES256", "kid": key.kid(), "b64": false }),
            json!({ "alg": "ES256", "kid": 1 }),
            json!([]),
        ] {
            assert!(parse(&with_header(&token, &header)).is_none(), "{header}");
        }
    }

    /// A verifier that uses a public key as an HMAC secret would accept forged tokens (RFC 8725, 2.1).
    #[test]
    fn public_key_as_hmac_secret_is_rejected() {
        use hmac::{Hmac, KeyInit, Mac};

        let key = key();
        let part = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let signed =
            format!("{}.{}", part(json!({ "alg": "HS256", "kid": key.kid() })), part(json!({ "sub": "usr_1" })));
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key.public().published().to_string().as_bytes()).unwrap();
        mac.update(signed.as_bytes());
        let token = format!("{signed}.{}", BASE64URL_NOPAD.encode(&mac.finalize().into_bytes()));
        assert!(parse(&token).is_none());
    }

    proptest! {
        #[test]
        fn arbitrary_text_neither_verifies_nor_panics(text in "[a-zA-Z0-9_.=-]{0,200}|.{0,80}") {
            let verified = parse(&text).and_then(|parsed| parsed.verify(key().public()));
            prop_assert!(verified.is_none());
        }
    }
}
