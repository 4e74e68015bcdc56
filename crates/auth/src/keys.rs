//! Public keys and ECDSA signatures on secp256k1.

use std::fmt;
use std::hash::{Hash, Hasher};

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use secp256k1::{Message, SecretKey, ecdsa};
use sha2::{Digest, Sha256};

/// A user's public key: a point on secp256k1.
///
/// Different encodings of a point are equal, whether compressed or not and in any hex case. The
/// original text is preserved, because the API returns it unchanged.
///
/// ```
/// use signpost_auth::PublicKey;
///
/// let key = PublicKey::parse("0279BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798")?;
/// assert_eq!(key.canonical(), "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
/// # Ok::<(), signpost_auth::MalformedPublicKey>(())
/// ```
#[derive(Clone)]
pub struct PublicKey {
    point: secp256k1::PublicKey,
    given: String,
}

/// An ECDSA signature that was parsed from strict DER.
///
/// It does not implement `PartialEq`, because anyone can change a valid signature into another
/// valid signature of the same text. Do not identify answers by their signatures.
#[derive(Clone, Copy, Debug)]
pub struct Signature(ecdsa::Signature);

/// Reason a text is not a public key (SEC 1, section 2.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedPublicKey {
    /// The key has neither 33 nor 65 bytes.
    #[error("a public key is 66 hex digits (compressed) or 130 (uncompressed), not {0} characters")]
    Length(usize),
    /// The text contains a character that is not a hex digit.
    #[error("a public key is written in hex digits alone, without 0x or spaces")]
    NotHex,
    /// The first byte is wrong for this length. The hybrid forms 06 and 07 are not accepted.
    #[error("a public key starts with 02 or 03 when it has 66 hex digits and with 04 when it has 130")]
    Prefix,
    /// The coordinates are not a point on the curve.
    #[error("the public key is not a point on secp256k1")]
    NotOnCurve,
}

/// Reason a text is not a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedSignature {
    /// The signature is too short, or longer than the DER encoding of two 32-byte numbers.
    #[error("a signature has 16 to 144 hex digits, not {0} characters")]
    Length(usize),
    /// The text contains a character that is not a hex digit, or an odd number of digits.
    #[error("a signature is written in pairs of hex digits alone, without 0x or spaces")]
    NotHex,
    /// The bytes are not the DER encoding of two numbers, for example because of trailing bytes,
    /// long-form lengths, padding or a wrong tag.
    #[error("a signature is strict DER: 30 <length> 02 <length> <r> 02 <length> <s> and nothing after it")]
    NotDer,
    /// `r` or `s` is zero, negative or not below the order of the group.
    #[error("both numbers of a signature are at least 1 and below the order of secp256k1")]
    OutOfRange,
}

impl PublicKey {
    /// Parses a public key: 33 or 65 bytes in the encoding of SEC 1, in hex of any case.
    ///
    /// # Errors
    /// Returns the reason if the text is not a public key.
    pub fn parse(hex: &str) -> Result<Self, MalformedPublicKey> {
        if ![66, 130].contains(&hex.len()) {
            return Err(MalformedPublicKey::Length(hex.chars().count()));
        }
        let bytes = HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).map_err(|_| MalformedPublicKey::NotHex)?;
        // libsecp256k1 accepts the hybrid forms 06 and 07, which would allow a third encoding of a
        // key.
        if !matches!((bytes.len(), bytes[0]), (33, 2 | 3) | (65, 4)) {
            return Err(MalformedPublicKey::Prefix);
        }
        let point = secp256k1::PublicKey::from_slice(&bytes).map_err(|_| MalformedPublicKey::NotOnCurve)?;
        Ok(Self { point, given: hex.to_owned() })
    }

    pub(crate) fn from_secret(secret: &SecretKey) -> Self {
        let point = secret.public_key();
        Self { point, given: HEXLOWER.encode(&point.serialize()) }
    }

    /// Returns the canonical form, 66 lower-case hex digits, which is used to store and compare
    /// users.
    #[must_use]
    pub fn canonical(&self) -> String {
        HEXLOWER.encode(&self.point.serialize())
    }

    /// Returns the text that the key was parsed from.
    #[must_use]
    pub fn as_given(&self) -> &str {
        &self.given
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.point == other.point
    }
}

impl Eq for PublicKey {}

impl Hash for PublicKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.point.serialize().hash(state);
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.given)
    }
}

impl Signature {
    /// Parses strict DER in hex of any case, at most 72 bytes.
    ///
    /// Values of `s` above half of the order are accepted. Many signers produce them, and they
    /// allow no replay, because a challenge is accepted only once.
    ///
    /// # Errors
    /// Returns the reason if the text is not a signature.
    pub fn parse(hex: &str) -> Result<Self, MalformedSignature> {
        if !(16..=144).contains(&hex.len()) {
            return Err(MalformedSignature::Length(hex.chars().count()));
        }
        let bytes = HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).map_err(|_| MalformedSignature::NotHex)?;
        let mut signature = ecdsa::Signature::from_der(&bytes).map_err(|_| MalformedSignature::NotDer)?;
        // libsecp256k1 replaces numbers that are out of range by zero.
        let numbers = signature.serialize_compact();
        if numbers.chunks(32).any(|number| number.iter().all(|&byte| byte == 0)) {
            return Err(MalformedSignature::OutOfRange);
        }
        signature.normalize_s();
        Ok(Self(signature))
    }
}

/// Verifies an ECDSA signature on secp256k1 over the SHA-256 hash of the message.
#[must_use]
pub fn verify(key: &PublicKey, signature: &Signature, message: &[u8]) -> bool {
    signature.0.verify(digest(message), &key.point).is_ok()
}

/// Returns the signed hash in the format of `POST /verify`: `sha256:` and 64 lower-case hex digits.
#[must_use]
pub fn message_hash(message: &[u8]) -> String {
    format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(message)))
}

pub(crate) fn digest(message: &[u8]) -> Message {
    Message::from_digest(Sha256::digest(message).into())
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
