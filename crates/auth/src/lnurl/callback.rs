use std::collections::HashSet;

use url::form_urlencoded;

use super::k1::{K1, NotAK1};
use crate::challenge::Challenge;
use crate::keys::{PublicKey, Signature, verify};

/// The longest query that is read. A wallet's has some 330 bytes.
const MAX_QUERY_LEN: usize = 2048;

/// What a Lightning wallet sends (LUD-04): the query of its request.
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

/// The query is not that of a Lightning wallet. Each text has at most 90 characters, which is what wallets show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAuthCallback {
    /// More than any wallet sends.
    #[error("the request is too long: send tag, k1, action, sig and key alone")]
    TooLong,
    /// A parameter that stands there twice.
    #[error("a parameter stands there twice: send each once")]
    Twice,
    /// Neither signature nor key: somebody opened the link.
    #[error("open this with a Lightning wallet: the wallet signs k1 and adds sig and key")]
    Unsigned,
    /// One of the two.
    #[error("{0} is missing: send the signature as sig and the public key as key")]
    Missing(&'static str),
    /// Not the `k1` of any code.
    #[error("k1 must have 64 hex digits: send it as it stands in the code")]
    K1,
    /// Not a public key.
    #[error("key must be a public key on secp256k1: 33 bytes, 66 hex digits")]
    Key,
    /// Not a signature.
    #[error("sig must be an ECDSA signature: DER in hex digits, 140 to 144 of them")]
    Signature,
}

impl AuthCallback {
    /// Reads the query, the part of the URL behind `?`. The order of the parameters makes no difference, unknown ones are
    /// ignored, hex is of any case. `k1` may be missing: some wallets drop what stood in the URL.
    ///
    /// # Errors
    /// [`InvalidAuthCallback`] says what is wrong.
    pub fn parse(query: &str) -> Result<Self, InvalidAuthCallback> {
        if query.len() > MAX_QUERY_LEN {
            return Err(InvalidAuthCallback::TooLong);
        }
        let (mut names, mut k1, mut key, mut sig) = (HashSet::new(), None, None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "k1" => k1 = Some(value),
                "key" => key = Some(value),
                "sig" => sig = Some(value),
                _ => {}
            }
            if !names.insert(name) {
                return Err(InvalidAuthCallback::Twice);
            }
        }
        let (key, sig) = match (key, sig) {
            (Some(key), Some(sig)) => (key, sig),
            (None, None) => return Err(InvalidAuthCallback::Unsigned),
            (None, Some(_)) => return Err(InvalidAuthCallback::Missing("key")),
            (Some(_), None) => return Err(InvalidAuthCallback::Missing("sig")),
        };
        Ok(Self {
            k1: k1.map(|k1| k1.parse().map_err(|NotAK1| InvalidAuthCallback::K1)).transpose()?,
            key: PublicKey::parse(&key).map_err(|_| InvalidAuthCallback::Key)?,
            signature: Signature::parse(&sig).map_err(|_| InvalidAuthCallback::Signature)?,
            signature_hex: sig.into_owned(),
        })
    }

    /// What the wallet says that it signed, if it says so.
    #[must_use]
    pub fn k1(&self) -> Option<K1> {
        self.k1
    }

    /// Whose signature it says to be.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The signature as it was sent, DER in hex.
    #[must_use]
    pub fn signature_hex(&self) -> &str {
        &self.signature_hex
    }

    /// Whether the wallet means this challenge and signed it: `k1`, where it stands there, is the challenge's, and the
    /// signature is one over the challenge's `svc:` text.
    #[must_use]
    pub fn signs(&self, challenge: &Challenge) -> bool {
        let is_meant = self.k1.is_none_or(|k1| k1 == K1::of(challenge));
        is_meant && verify(&self.key, &self.signature, challenge.to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_fits_a_wallets_window() {
        use InvalidAuthCallback::{K1, Key, Missing, Signature, TooLong, Twice, Unsigned};
        for reason in [TooLong, Twice, Unsigned, Missing("key"), K1, Key, Signature] {
            let text = reason.to_string();
            assert!(text.chars().count() <= 90 && !text.contains('<'), "{text}");
        }
    }
}
