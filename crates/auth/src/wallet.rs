//! A software wallet that signs challenges.

use data_encoding::HEXLOWER;
use secp256k1::SecretKey;
use secrecy::{ExposeSecret, SecretBox};

use crate::answer::{Answer, DeviceInfo};
use crate::challenge::Challenge;
use crate::host_bound::HostBoundChallenge;
use crate::keys::{PublicKey, digest};
use crate::qr::{QrData, Signing};

/// A software wallet: a secret key that signs challenges.
///
/// ```
/// use signpost_auth::{Challenge, Wallet};
///
/// let wallet = Wallet::from_bytes([1; 32])?;
/// let challenge = Challenge::parse("svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAA")?;
/// let answer = wallet.answer(&challenge, 1_700_000_005, None);
/// assert!(answer.challenge.starts_with("Sign this to login to example.com"));
/// assert_eq!(&answer.verify()?, wallet.public_key());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Wallet {
    secret: SecretBox<[u8; 32]>,
    public_key: PublicKey,
}

/// Error that the bytes of a secret key are zero or not below the order of secp256k1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a secret key is 32 bytes, not all zero and below the order of secp256k1: generate another")]
pub struct InvalidSecretKey;

impl Wallet {
    /// Creates a wallet from a secret key. Virtually all values of 32 random bytes are valid.
    ///
    /// # Errors
    /// Returns [`InvalidSecretKey`] for zero and for numbers not below the order of the group.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, InvalidSecretKey> {
        let secret = SecretBox::new(Box::new(bytes));
        let key = SecretKey::from_secret_bytes(*secret.expose_secret()).map_err(|_| InvalidSecretKey)?;
        Ok(Self { public_key: PublicKey::from_secret(&key), secret })
    }

    /// Returns the public key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.public_key
    }

    /// Signs the UTF-8 bytes of a text. Returns DER in lower-case hex, with a low `s`. The
    /// signature is deterministic (RFC 6979).
    #[must_use]
    pub fn sign(&self, text: &str) -> String {
        HEXLOWER.encode(&self.key().sign_ecdsa(digest(text.as_bytes())).serialize_der())
    }

    /// Creates an answer by signing [`Challenge::sentence`]. `timestamp` is the current time in
    /// Unix seconds.
    #[must_use]
    pub fn answer(&self, challenge: &Challenge, timestamp: i64, device_info: Option<DeviceInfo>) -> Answer {
        self.answer_text(challenge.sentence(), timestamp, device_info)
    }

    /// Creates an answer to scanned QR data. `number` is the number that the page displays, if any.
    /// It is part of the signed text for QR data of version 2 with `number=1`, and a separate field
    /// for QR data of version 1.
    #[must_use]
    pub fn answer_code(
        &self,
        code: &QrData,
        number: Option<&str>,
        timestamp: i64,
        device_info: Option<DeviceInfo>,
    ) -> Answer {
        match code.signing() {
            Signing::Sentence => {
                let answer = self.answer(code.challenge(), timestamp, device_info);
                Answer { confirm_code: number.map(ToOwned::to_owned), ..answer }
            }
            Signing::HostBound { number: is_requested } => {
                let number = number.filter(|_| is_requested);
                let text = HostBoundChallenge::new(code.challenge().clone(), code.webhook(), number);
                self.answer_text(text.to_string(), timestamp, device_info)
            }
        }
    }

    /// Creates an answer by signing exactly this text, such as the `svc:` rendering of a challenge.
    #[must_use]
    pub fn answer_text(&self, challenge: String, timestamp: i64, device_info: Option<DeviceInfo>) -> Answer {
        Answer {
            public_key: self.public_key.canonical(),
            signature: self.sign(&challenge),
            challenge,
            timestamp,
            device_info,
            confirm_code: None,
        }
    }

    pub(crate) fn key(&self) -> SecretKey {
        SecretKey::from_secret_bytes(*self.secret.expose_secret()).expect("checked when the wallet was made")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::VerificationError;
    use crate::challenge::Mode;

    #[test]
    fn private_keys_are_in_range() {
        assert_eq!(Wallet::from_bytes([0; 32]).unwrap_err(), InvalidSecretKey);
        assert_eq!(Wallet::from_bytes([255; 32]).unwrap_err(), InvalidSecretKey);
    }

    #[test]
    fn answer_verifies_in_both_renderings() {
        let wallet = Wallet::from_bytes([7; 32]).unwrap();
        let text = "svc:register:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAA";
        let mut challenge = Challenge::parse(text).unwrap();
        let short = wallet.answer_text(text.to_owned(), 5, None);
        assert_eq!(short.verify().as_ref(), Ok(wallet.public_key()));
        let mut answer = wallet.answer(&challenge, 5, None);
        assert_eq!(answer.verify().as_ref(), Ok(wallet.public_key()));
        assert_ne!(answer.signature, short.signature);
        challenge.mode = Mode::Login;
        answer.challenge = challenge.sentence();
        assert_eq!(answer.verify(), Err(VerificationError::Mismatch));
    }

    #[test]
    fn answer_uses_the_version_of_the_code() {
        let wallet = Wallet::from_bytes([7; 32]).unwrap();
        let rest =
            "webhook=https://LOGIN.example.com:443/x&challenge=svc:login:example.com:1:AAAAAAAAAAAAAAAAAAAAAA&exp=9";
        let sentence = "Sign this to login to example.com at 1:AAAAAAAAAAAAAAAAAAAAAA";
        for (version, number, signed, beside) in [
            ("v=1", None, sentence.to_owned(), None),
            ("v=1", Some("42"), sentence.to_owned(), Some("42")),
            ("v=2", Some("42"), format!("{sentence} through login.example.com"), None),
            ("v=2&number=1", Some("42"), format!("{sentence} through login.example.com with 42"), None),
            ("v=2&number=1", None, format!("{sentence} through login.example.com"), None),
        ] {
            let code = QrData::parse(&format!("svc://auth?{version}&{rest}")).unwrap();
            let answer = wallet.answer_code(&code, number, 5, None);
            assert_eq!((&answer.challenge, answer.confirm_code.as_deref()), (&signed, beside));
            assert_eq!(answer.verify().as_ref(), Ok(wallet.public_key()));
        }
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let debug = format!("{:?}", Wallet::from_bytes([7; 32]).unwrap());
        assert!(debug.contains("REDACTED") && !debug.contains("7, 7") && !debug.contains("0707"), "{debug}");
    }
}
