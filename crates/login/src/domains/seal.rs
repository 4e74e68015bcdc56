//! Encryption of stored webhook secrets and private keys with the operator's key, if any (AES-256-GCM, RFC
//! 5116).

use std::fmt;

use anyhow::{Result, bail};
use data_encoding::BASE64;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};

/// Prefix of an encrypted text.
const SEALED_PREFIX: &str = "sealed1:";
/// Label of the fingerprint of a key. It never changes: the fingerprint is stored.
const FINGERPRINT_LABEL: &[u8] = b"signpost encryption key";

/// Encrypts and decrypts signing secrets.
#[derive(Default)]
pub struct Seal {
    /// The key that encrypts and decrypts.
    key: Option<LessSafeKey>,
    /// The previous key. It only decrypts, while the key is being changed.
    old: Option<LessSafeKey>,
    fingerprint: Option<KeyFingerprint>,
    old_fingerprint: Option<KeyFingerprint>,
}

/// The fingerprint of an encryption key: its HMAC-SHA-256 of a fixed label, in hex. It identifies the key and does not
/// reveal it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFingerprint(String);

impl Seal {
    /// Creates a seal with the operator's key, and with the previous key while it is being changed. Without a key,
    /// nothing is encrypted.
    #[must_use]
    pub fn new(key: Option<&[u8; 32]>, old: Option<&[u8; 32]>) -> Self {
        Self {
            key: key.map(aead),
            old: old.map(aead),
            fingerprint: key.map(KeyFingerprint::new),
            old_fingerprint: old.map(KeyFingerprint::new),
        }
    }

    /// Returns the fingerprint of the operator's key.
    #[must_use]
    pub fn fingerprint(&self) -> Option<&KeyFingerprint> {
        self.fingerprint.as_ref()
    }

    /// Returns the fingerprint of the previous key, while the key is being changed.
    #[must_use]
    pub fn old_fingerprint(&self) -> Option<&KeyFingerprint> {
        self.old_fingerprint.as_ref()
    }

    /// Returns true if secrets are encrypted when they are written.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.key.is_some()
    }

    /// Encrypts a secret of `owner`. The owner is authenticated, so that a secret cannot be moved to another row.
    ///
    /// # Panics
    /// Never: a secret is far below the cipher's limit.
    #[must_use]
    pub fn encrypt(&self, secret: &str, owner: &str, nonce: [u8; NONCE_LEN]) -> String {
        let Some(key) = &self.key else { return secret.to_owned() };
        let mut sealed = secret.as_bytes().to_vec();
        let bound = Aad::from(owner.as_bytes());
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), bound, &mut sealed)
            .expect("a secret is short");
        format!("{SEALED_PREFIX}{}", BASE64.encode(&[&nonce[..], &sealed].concat()))
    }

    /// Decrypts a stored secret of `owner`. A secret in plain text is returned unchanged.
    ///
    /// # Errors
    /// Returns an error if the secret was encrypted with another key.
    pub fn decrypt(&self, stored: &str, owner: &str) -> Result<SecretString> {
        let Some(sealed) = stored.strip_prefix(SEALED_PREFIX) else { return Ok(stored.to_owned().into()) };
        let bytes = BASE64.decode(sealed.as_bytes()).unwrap_or_default();
        for key in [&self.key, &self.old].into_iter().flatten() {
            let Some((nonce, sealed)) = bytes.split_first_chunk::<NONCE_LEN>() else { break };
            let mut sealed = sealed.to_vec();
            let bound = Aad::from(owner.as_bytes());
            if let Ok(plain) = key.open_in_place(Nonce::assume_unique_for_key(*nonce), bound, &mut sealed) {
                return Ok(String::from_utf8(plain.to_vec())?.into());
            }
        }
        bail!("SIGNPOST_SEAL_KEY is not the key that this was encrypted with")
    }

    /// Returns true if a stored secret is in plain text or not encrypted with the operator's key.
    #[must_use]
    pub fn is_stale(&self, stored: &str, owner: &str) -> bool {
        let current = Self { key: self.key.clone(), ..Self::default() };
        self.is_enabled() && (!stored.starts_with(SEALED_PREFIX) || current.decrypt(stored, owner).is_err())
    }
}

impl KeyFingerprint {
    fn new(key: &[u8; 32]) -> Self {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), FINGERPRINT_LABEL);
        Self(data_encoding::HEXLOWER.encode(tag.as_ref()))
    }

    /// Returns the fingerprint in hex.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn aead(key: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("a key of this cipher has 32 bytes"))
}

/// Parses a key of 32 bytes in hex or base64.
#[must_use]
pub fn parse_key(text: &str) -> Option<SealKey> {
    let hex = data_encoding::HEXLOWER_PERMISSIVE.decode(text.trim().as_bytes());
    let bytes = hex.or_else(|_| BASE64.decode(text.trim().as_bytes())).ok()?;
    let bytes: [u8; 32] = bytes.try_into().ok()?;
    Some(SealKey(data_encoding::HEXLOWER.encode(&bytes).into()))
}

/// The operator's encryption key.
#[derive(Clone, Debug)]
pub struct SealKey(SecretString);

impl SealKey {
    /// Returns the bytes of the key.
    ///
    /// # Panics
    /// Never: [`parse_key`] checks that there are 32 bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; 32] {
        let bytes = data_encoding::HEXLOWER.decode(self.0.expose_secret().as_bytes());
        bytes.ok().and_then(|bytes| bytes.try_into().ok()).expect("made of 32 bytes")
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_enabled() { "Seal(on)" } else { "Seal(off)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_decrypts_with_its_key_and_owner() {
        let seal = Seal::new(Some(&[1; 32]), None);
        let encrypted = seal.encrypt("whsec_x", "dom_1", [9; 12]);
        assert!(encrypted.starts_with(SEALED_PREFIX) && !encrypted.contains("whsec"));
        assert_eq!(seal.decrypt(&encrypted, "dom_1").unwrap().expose_secret(), "whsec_x");
        assert!(seal.decrypt(&encrypted, "dom_2").is_err());
        assert!(Seal::new(Some(&[2; 32]), None).decrypt(&encrypted, "dom_1").is_err());
        assert!(Seal::default().decrypt(&encrypted, "dom_1").unwrap_err().to_string().contains("SIGNPOST_SEAL_KEY"));
        for broken in ["sealed1:", "sealed1:AAAA", "sealed1:!", &encrypted[..encrypted.len() - 4]] {
            assert!(seal.decrypt(broken, "dom_1").is_err(), "{broken}");
        }
    }

    #[test]
    fn old_key_decrypts_during_a_key_change() {
        let (old, changing) = (Seal::new(Some(&[1; 32]), None), Seal::new(Some(&[2; 32]), Some(&[1; 32])));
        let encrypted = old.encrypt("whsec_x", "dom_1", [9; 12]);
        assert_eq!(changing.decrypt(&encrypted, "dom_1").unwrap().expose_secret(), "whsec_x");
        assert!(changing.is_stale(&encrypted, "dom_1") && changing.is_stale("whsec_x", "dom_1"));
        let encrypted_again = changing.encrypt("whsec_x", "dom_1", [8; 12]);
        assert!(!changing.is_stale(&encrypted_again, "dom_1") && old.decrypt(&encrypted_again, "dom_1").is_err());
    }

    #[test]
    fn secrets_are_plain_without_a_key() {
        let seal = Seal::default();
        assert_eq!(seal.encrypt("whsec_x", "dom_1", [0; 12]), "whsec_x");
        assert_eq!(seal.decrypt("whsec_x", "dom_1").unwrap().expose_secret(), "whsec_x");
        assert!(!seal.is_stale("whsec_x", "dom_1"));
    }

    #[test]
    fn key_fingerprint_is_stable() {
        let seal = Seal::new(Some(&[1; 32]), Some(&[2; 32]));
        // printf 'signpost encryption key' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0101…
        let expected = "61d1f0f8da01b3003103b061c1cd1a7149699c735a0d9ec623860894010bb1cf";
        assert_eq!(seal.fingerprint().map(KeyFingerprint::as_str), Some(expected));
        assert_eq!(seal.old_fingerprint(), Seal::new(Some(&[2; 32]), None).fingerprint());
        assert!(Seal::default().fingerprint().is_none());
    }

    #[test]
    fn encryption_key_has_32_bytes() {
        assert_eq!(parse_key(&"ab".repeat(32)).unwrap().bytes(), [0xab; 32]);
        assert_eq!(parse_key(&BASE64.encode(&[7; 32])).unwrap().bytes(), [7; 32]);
        for text in ["", "secret", &"ab".repeat(31), &BASE64.encode(&[7; 33])] {
            assert!(parse_key(text).is_none(), "{text}");
        }
    }
}
