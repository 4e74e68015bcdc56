//! The response of a Lightning wallet to a login URL.

use std::collections::HashSet;

use url::form_urlencoded;

use super::k1::{InvalidK1, K1};
use crate::challenge::Challenge;
use crate::keys::{PublicKey, Signature, verify};

/// Maximum length of the query in bytes. Wallets send about 330 bytes.
const MAX_QUERY_LEN: usize = 2048;

/// The parsed query of a Lightning wallet's request (LUD-04).
///
/// ```
/// use signpost_auth::{AuthCallback, AuthUrl, Challenge, K1, Wallet};
///
/// let challenge = Challenge::parse("svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAA")?;
/// let url = format!("https://login.example.com/lnurl/x?tag=login&k1={}", K1::of(&challenge));
/// let sent = AuthUrl::parse(&url)?.signed_by(&Wallet::from_bytes([1; 32])?);
/// let callback = AuthCallback::parse(sent.query().unwrap())?;
/// assert!(callback.signs(&challenge));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AuthCallback {
    k1: Option<K1>,
    key: PublicKey,
    signature: Signature,
    signature_hex: String,
}

/// Reason a query is not the answer of a Lightning wallet. Each message has at most 90 characters,
/// the number that wallets display.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAuthCallback {
    /// The query is longer than the query of any wallet.
    #[error("the request is too long: send tag, k1, action, sig and key alone")]
    TooLong,
    /// The query repeats a parameter.
    #[error("duplicate parameter: send each parameter once")]
    Duplicate,
    /// Both the signature and the key are missing, because the link was opened in a browser.
    #[error("open this with a Lightning wallet: the wallet signs k1 and adds sig and key")]
    Unsigned,
    /// Either the signature or the key is missing.
    #[error("{0} is missing: send the signature as sig and the public key as key")]
    Missing(&'static str),
    /// The parameter `k1` is malformed.
    #[error("k1 must have 64 hex digits: send it exactly as in the code")]
    K1,
    /// The public key is malformed.
    #[error("key must be a public key on secp256k1: 33 bytes, 66 hex digits")]
    Key,
    /// The signature is malformed.
    #[error("sig must be an ECDSA signature: DER in hex digits, 140 to 144 of them")]
    Signature,
}

impl AuthCallback {
    /// Parses a query, the part of the URL after `?`. Parameters may be in any order, unknown
    /// parameters are ignored, and hex may have any case. `k1` may be missing, because some wallets
    /// drop the parameters of the URL.
    ///
    /// # Errors
    /// Returns the reason if the query is not valid.
    pub fn parse(query: &str) -> Result<Self, InvalidAuthCallback> {
        if query.len() > MAX_QUERY_LEN {
            return Err(InvalidAuthCallback::TooLong);
        }
        let mut names = HashSet::new();
        let mut k1 = None;
        let mut key = None;
        let mut sig = None;
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "k1" => k1 = Some(value),
                "key" => key = Some(value),
                "sig" => sig = Some(value),
                _ => {}
            }
            if !names.insert(name) {
                return Err(InvalidAuthCallback::Duplicate);
            }
        }
        let (key, sig) = match (key, sig) {
            (Some(key), Some(sig)) => (key, sig),
            (None, None) => return Err(InvalidAuthCallback::Unsigned),
            (None, Some(_)) => return Err(InvalidAuthCallback::Missing("key")),
            (Some(_), None) => return Err(InvalidAuthCallback::Missing("sig")),
        };
        Ok(Self {
            k1: k1.map(|k1| k1.parse().map_err(|InvalidK1| InvalidAuthCallback::K1)).transpose()?,
            key: PublicKey::parse(&key).map_err(|_| InvalidAuthCallback::Key)?,
            signature: Signature::parse(&sig).map_err(|_| InvalidAuthCallback::Signature)?,
            signature_hex: sig.into_owned(),
        })
    }

    /// Returns `k1` if the wallet sent it.
    #[must_use]
    pub fn k1(&self) -> Option<K1> {
        self.k1
    }

    /// Returns the public key of the wallet.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Returns the signature as received: DER in hex.
    #[must_use]
    pub fn signature_hex(&self) -> &str {
        &self.signature_hex
    }

    /// Returns `true` if the signature is valid for the `svc:` rendering of this challenge, and
    /// `k1`, if present, belongs to it.
    #[must_use]
    pub fn signs(&self, challenge: &Challenge) -> bool {
        let is_same = self.k1.is_none_or(|k1| k1 == K1::of(challenge));
        is_same && verify(&self.key, &self.signature, challenge.to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_fits_a_wallet_message() {
        use InvalidAuthCallback::{Duplicate, K1, Key, Missing, Signature, TooLong, Unsigned};
        for reason in [TooLong, Duplicate, Unsigned, Missing("key"), K1, Key, Signature] {
            let text = reason.to_string();
            assert!(text.chars().count() <= 90 && !text.contains('<'), "{text}");
        }
    }
}
