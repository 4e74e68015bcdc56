//! The message that Lightning wallets sign.

use std::fmt;
use std::str::FromStr;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use sha2::{Digest, Sha256};

use crate::challenge::Challenge;

/// The 32 bytes that a Lightning wallet signs without hashing them.
///
/// ```
/// use signpost_auth::{Challenge, K1, PublicKey, Signature, Wallet, verify};
///
/// let challenge = Challenge::parse("svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAA")?;
/// let wallet = Wallet::from_bytes([1; 32])?.linking_key("login.example.com")?;
/// let signature = Signature::parse(&wallet.sign_k1(K1::of(&challenge)))?;
/// assert!(verify(wallet.public_key(), &signature, challenge.to_string().as_bytes()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct K1(pub(crate) [u8; 32]);

/// Error that a text is not a [`K1`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("k1 is 64 hex digits, as they stand in the code")]
pub struct InvalidK1;

impl K1 {
    /// Computes the SHA-256 hash of the `svc:` rendering of a challenge. It is unpredictable
    /// because of the nonce.
    #[must_use]
    pub fn of(challenge: &Challenge) -> Self {
        Self(Sha256::digest(challenge.to_string().as_bytes()).into())
    }

    /// Returns the 32 bytes, which are also the challenge for passkeys.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for K1 {
    type Err = InvalidK1;

    fn from_str(text: &str) -> Result<Self, InvalidK1> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| InvalidK1)?;
        bytes.try_into().map(Self).map_err(|_| InvalidK1)
    }
}

impl fmt::Display for K1 {
    /// Writes 64 lower-case hex digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for K1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "K1({self})")
    }
}
