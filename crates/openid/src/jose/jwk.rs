//! Public keys as JSON Web Keys (RFC 7517), and their thumbprints (RFC 7638).

use data_encoding::BASE64URL_NOPAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::SigningAlgorithm;

/// Bytes in base64url without padding (RFC 7515, 2). Other encodings are rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base64Url(pub Vec<u8>);

/// A public key that verifies tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kty", deny_unknown_fields)]
pub enum PublicJwk {
    /// An RSA key for [`SigningAlgorithm::Rs256`]: exponent and modulus, big-endian and without
    /// leading zeros (RFC 7518, 6.3.1).
    #[serde(rename = "RSA")]
    #[expect(missing_docs, reason = "the names are the standard's")]
    Rsa { e: Base64Url, n: Base64Url },
    /// An elliptic curve key for [`SigningAlgorithm::Es256`]: the coordinates of a point of P-256,
    /// 32 bytes each (RFC 7518, 6.2.1).
    #[serde(rename = "EC")]
    #[expect(missing_docs, reason = "the names are the standard's")]
    Ec { crv: Curve, x: Base64Url, y: Base64Url },
}

/// The curve of an elliptic key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Curve {
    /// P-256.
    #[serde(rename = "P-256")]
    P256,
}

impl PublicJwk {
    /// Returns the algorithm.
    #[must_use]
    pub fn algorithm(&self) -> SigningAlgorithm {
        match self {
            Self::Rsa { .. } => SigningAlgorithm::Rs256,
            Self::Ec { .. } => SigningAlgorithm::Es256,
        }
    }

    /// Returns the thumbprint: the SHA-256 of the required members in the order of their names (RFC 7638, 3).
    #[must_use]
    pub fn thumbprint(&self) -> String {
        let text = match self {
            Self::Rsa { e, n } => format!(r#"{{"e":"{}","kty":"RSA","n":"{}"}}"#, e.encode(), n.encode()),
            Self::Ec { crv: Curve::P256, x, y } => {
                format!(r#"{{"crv":"P-256","kty":"EC","x":"{}","y":"{}"}}"#, x.encode(), y.encode())
            }
        };
        BASE64URL_NOPAD.encode(&Sha256::digest(text))
    }

    /// Returns the key as published in a JWK Set, with its ID, use and algorithm.
    #[must_use]
    pub fn published(&self) -> Value {
        let kid = self.thumbprint();
        let alg = self.algorithm();
        match self {
            Self::Rsa { e, n } => json!({ "kty": "RSA", "use": "sig", "alg": alg, "kid": kid, "n": n, "e": e }),
            Self::Ec { crv, x, y } => {
                json!({ "kty": "EC", "use": "sig", "alg": alg, "kid": kid, "crv": crv, "x": x, "y": y })
            }
        }
    }

    /// Verifies the signature of a message (RFC 7518, 3.3 and 3.4).
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Rsa { e, n } => {
                let key = RsaPublicKeyComponents { n: &n.0, e: &e.0 };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok()
            }
            Self::Ec { x, y, .. } => {
                let point = [&[4], &*x.0, &*y.0].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
        }
    }
}

impl Base64Url {
    fn encode(&self) -> String {
        BASE64URL_NOPAD.encode(&self.0)
    }
}

impl Serialize for Base64Url {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.encode())
    }
}

impl<'de> Deserialize<'de> for Base64Url {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        BASE64URL_NOPAD.decode(text.as_bytes()).map(Self).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7638, 3.1, without the members that the thumbprint leaves out.
    const RFC_7638: &str = r#"{"kty": "RSA", "e": "AQAB", "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"}"#;

    /// RFC 7515, A.3: key, signed text and signature of ES256.
    const RFC_7515_KEY: &str = r#"{"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;
    const RFC_7515_SIGNED: &str = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    const RFC_7515_SIGNATURE: &str =
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

    #[test]
    fn thumbprint_matches_rfc_7638() {
        let key: PublicJwk = serde_json::from_str(RFC_7638).unwrap();
        assert_eq!(key.thumbprint(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
        assert_eq!(key.published()["kid"], key.thumbprint());
    }

    #[test]
    fn only_the_rfc_7515_signature_verifies() {
        let key: PublicJwk = serde_json::from_str(RFC_7515_KEY).unwrap();
        let signature = BASE64URL_NOPAD.decode(RFC_7515_SIGNATURE.as_bytes()).unwrap();
        assert!(key.verifies(RFC_7515_SIGNED.as_bytes(), &signature));
        assert!(!key.verifies(b"another text", &signature));
        for bit in 0..signature.len() * 8 {
            let mut other = signature.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!key.verifies(RFC_7515_SIGNED.as_bytes(), &other), "{bit}");
        }
        assert!(!key.verifies(RFC_7515_SIGNED.as_bytes(), &signature[..63]) && !key.verifies(b"", &[]));
    }

    #[test]
    fn malformed_jwk_is_rejected() {
        let read = |text: &str| serde_json::from_str::<PublicJwk>(text).is_ok();
        assert!(read(RFC_7515_KEY) && read(RFC_7638));
        for (before, after) in [
            ("P-256", "P-384"),
            ("\"EC\"", "\"oct\""),
            ("5a0\"", "5a0=\""),
            ("5a0\"", "5a1\""),
            ("_FEz", "/FEz"),
            ("\"y\"", "\"z\""),
        ] {
            assert!(!read(&RFC_7515_KEY.replace(before, after)), "{after}");
        }
    }
}
