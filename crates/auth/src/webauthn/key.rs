//! Public keys of passkeys, and the verification of their signatures.

use std::fmt;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};

use super::curve::is_on_p256;
use super::spki::Spki;

/// The public key of a passkey: a point on P-256, or an RSA key of 2048 to 4096 bits.
///
/// It is stored as `SubjectPublicKeyInfo` in lower-case hex, a format that many libraries support.
///
/// ```
/// use signpost_auth::{PasskeyAlgorithm, PasskeyKey};
///
/// let hex = "3059301306072a8648ce3d020106082a8648ce3d03010703420004\
///            6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296\
///            4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
/// let key = PasskeyKey::parse_hex(&hex.to_uppercase())?;
/// assert_eq!((key.algorithm(), key.canonical()), (PasskeyAlgorithm::Es256, hex.to_owned()));
/// # Ok::<(), signpost_auth::MalformedPasskeyKey>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PasskeyKey(KeyParts);

#[derive(Clone, PartialEq, Eq, Hash)]
enum KeyParts {
    /// The uncompressed point: the byte `04`, then x and y.
    Es256([u8; 65]),
    /// The modulus and the exponent, big-endian without leading zeros.
    Rs256 { n: Vec<u8>, e: Vec<u8> },
}

/// The signature algorithms that are offered to authenticators, in order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PasskeyAlgorithm {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
}

/// Reason a text is not the public key of a passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedPasskeyKey {
    /// The bytes are not a `SubjectPublicKeyInfo` in DER with a supported algorithm.
    #[error("a passkey's public key is a SubjectPublicKeyInfo of P-256 or RSA in hex, DER")]
    NotSpki,
    /// The point is not on P-256, or is compressed.
    #[error("the public key is not an uncompressed point on P-256")]
    NotOnCurve,
    /// The modulus is too small, too large, even or padded.
    #[error("an RSA key has 2048 to 4096 bits and an odd modulus")]
    Modulus,
    /// The exponent is not supported by common verifiers.
    #[error("the exponent of an RSA key is odd, at least 3 and below 2^33")]
    Exponent,
}

impl PasskeyAlgorithm {
    /// Both algorithms.
    pub const ALL: [Self; 2] = [Self::Es256, Self::Rs256];

    /// Returns the number of the algorithm in the COSE registry, as used in `pubKeyCredParams`.
    #[must_use]
    pub fn cose(self) -> i64 {
        match self {
            Self::Es256 => -7,
            Self::Rs256 => -257,
        }
    }
}

impl PasskeyKey {
    /// Parses a `SubjectPublicKeyInfo` in hex of any case.
    ///
    /// # Errors
    /// Returns the reason if the text is not a public key.
    pub fn parse_hex(hex: &str) -> Result<Self, MalformedPasskeyKey> {
        // The largest supported key has 550 bytes.
        if hex.len() > 1_200 {
            return Err(MalformedPasskeyKey::NotSpki);
        }
        let der = HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).map_err(|_| MalformedPasskeyKey::NotSpki)?;
        match Spki::parse(&der).ok_or(MalformedPasskeyKey::NotSpki)? {
            Spki::P256(point) => Self::from_point(point),
            Spki::Rsa { n, e } => Self::from_rsa(n, e),
        }
    }

    /// Creates a key from an uncompressed point (SEC 1, section 2.3.4).
    pub(super) fn from_point(point: &[u8]) -> Result<Self, MalformedPasskeyKey> {
        let point: [u8; 65] = point.try_into().map_err(|_| MalformedPasskeyKey::NotOnCurve)?;
        let x = std::array::from_fn(|at| point[1 + at]);
        let y = std::array::from_fn(|at| point[33 + at]);
        if point[0] != 4 || !is_on_p256(&x, &y) {
            return Err(MalformedPasskeyKey::NotOnCurve);
        }
        Ok(Self(KeyParts::Es256(point)))
    }

    /// Creates a key from a modulus and an exponent, big-endian without leading zeros.
    pub(super) fn from_rsa(n: &[u8], e: &[u8]) -> Result<Self, MalformedPasskeyKey> {
        let bits = n.first().map_or(0, |first| 8 * n.len() - first.leading_zeros() as usize);
        if n.first() == Some(&0) || !(2048..=4096).contains(&bits) || n.last().is_none_or(|last| last % 2 == 0) {
            return Err(MalformedPasskeyKey::Modulus);
        }
        let exponent = (e.len() <= 5).then(|| e.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte)));
        if exponent.is_none_or(|number| !(3..1 << 33).contains(&number) || number % 2 == 0) || e[0] == 0 {
            return Err(MalformedPasskeyKey::Exponent);
        }
        Ok(Self(KeyParts::Rs256 { n: n.to_owned(), e: e.to_owned() }))
    }

    /// Returns the canonical form: `SubjectPublicKeyInfo` in DER, in lower-case hex.
    #[must_use]
    pub fn canonical(&self) -> String {
        let spki = match &self.0 {
            KeyParts::Es256(point) => Spki::P256(point),
            KeyParts::Rs256 { n, e } => Spki::Rsa { n, e },
        };
        HEXLOWER.encode(&spki.to_der())
    }

    /// Returns the signature algorithm.
    #[must_use]
    pub fn algorithm(&self) -> PasskeyAlgorithm {
        match self.0 {
            KeyParts::Es256(_) => PasskeyAlgorithm::Es256,
            KeyParts::Rs256 { .. } => PasskeyAlgorithm::Rs256,
        }
    }

    /// Verifies a signature over the SHA-256 hash of `message`. An ECDSA signature is DER; an RSA
    /// signature is as long as the modulus.
    #[must_use]
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.0 {
            KeyParts::Es256(point) => {
                let key = UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_ASN1, point);
                key.verify(message, signature).is_ok()
            }
            KeyParts::Rs256 { n, e } => {
                let key = RsaPublicKeyComponents { n, e };
                key.verify(&signature::RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok()
            }
        }
    }
}

impl fmt::Debug for PasskeyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PasskeyKey({})", self.canonical())
    }
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
