//! The key ring: the decrypted signing keys of an environment.

use anyhow::{Context, Result};
use data_encoding::BASE64;
use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde_json::Value;
use signpost_login::domains::seal::Seal;

use super::rules::{KeyTimes, find_signer, find_state};
use super::{StoredPrivateKey, StoredSigningKey};
use crate::jose::{PrivateKey, PublicJwk, SigningAlgorithm};

/// The keys of an environment, ready to sign and verify.
#[derive(Debug)]
pub struct KeyRing {
    rows: Vec<StoredSigningKey>,
    /// The keys of each algorithm.
    series: Vec<KeySeries>,
}

/// The ordered keys of an algorithm.
#[derive(Debug)]
struct KeySeries {
    algorithm: SigningAlgorithm,
    times: Vec<KeyTimes>,
    keys: Vec<ReadyKey>,
}

#[derive(Debug)]
struct ReadyKey {
    kid: String,
    public: PublicJwk,
    /// `None` for a key that was erased.
    private: Option<PrivateKey>,
}

impl KeyRing {
    /// Decrypts the ordered keys of an environment.
    ///
    /// # Errors
    /// Returns an error if a key cannot be decrypted or parsed.
    pub fn open(rows: Vec<StoredSigningKey>, seal: &Seal) -> Result<Self> {
        let series = SigningAlgorithm::ALL.into_iter().map(|algorithm| KeySeries::open(algorithm, &rows, seal));
        Ok(Self { series: series.collect::<Result<_>>()?, rows })
    }

    /// Returns true if it was created from these rows.
    #[must_use]
    pub fn matches(&self, rows: &[StoredSigningKey]) -> bool {
        self.rows == rows
    }

    /// Returns true if there is a key of an algorithm.
    #[must_use]
    pub fn has(&self, algorithm: SigningAlgorithm) -> bool {
        self.rows.iter().any(|row| row.algorithm == algorithm)
    }

    /// Returns the key that signs now. `None` without a key of this algorithm.
    #[must_use]
    pub fn find_signer(&self, algorithm: SigningAlgorithm, now: Timestamp) -> Option<&PrivateKey> {
        let KeySeries { times, keys, .. } = self.series.iter().find(|series| series.algorithm == algorithm)?;
        keys.get(find_signer(times, now)?)?.private.as_ref()
    }

    /// Returns the public key with this ID, retired keys included.
    #[must_use]
    pub fn find(&self, kid: &str) -> Option<&PublicJwk> {
        let mut all = self.series.iter().flat_map(|series| &series.keys);
        all.find(|key| key.kid == kid).map(|key| &key.public)
    }

    /// Returns the published keys, the members of a JWK Set (RFC 7517, 5).
    #[must_use]
    pub fn published(&self, now: Timestamp) -> Vec<Value> {
        self.find_published(now).map(|key| key.public.published()).collect()
    }

    /// Returns the IDs of the published keys. They determine the JWK Set.
    #[must_use]
    pub fn published_names(&self, now: Timestamp) -> Vec<String> {
        self.find_published(now).map(|key| key.kid.clone()).collect()
    }

    fn find_published(&self, now: Timestamp) -> impl Iterator<Item = &ReadyKey> {
        self.series.iter().flat_map(move |series| series.find_published(now))
    }
}

impl KeySeries {
    fn open(algorithm: SigningAlgorithm, rows: &[StoredSigningKey], seal: &Seal) -> Result<Self> {
        let mut series = Self { algorithm, times: Vec::new(), keys: Vec::new() };
        for row in rows.iter().filter(|row| row.algorithm == algorithm) {
            let private = if row.private_key.is_erased() { None } else { Some(decrypt_key(row, seal)?) };
            series.times.push(row.times());
            series.keys.push(ReadyKey { kid: row.kid.clone(), public: row.public_key.clone(), private });
        }
        Ok(series)
    }

    fn find_published(&self, now: Timestamp) -> impl Iterator<Item = &ReadyKey> {
        let keys = self.keys.iter().enumerate();
        keys.filter(move |(position, _)| find_state(&self.times, *position, now).is_published()).map(|(_, key)| key)
    }
}

/// Decrypts the private key of a row.
///
/// # Errors
/// Returns an error if it is encrypted with another key, was erased, or is not the private key of
/// this row.
pub fn decrypt_key(row: &StoredSigningKey, seal: &Seal) -> Result<PrivateKey> {
    decrypt(row, seal).with_context(|| format!("signing key {}", row.kid))
}

fn decrypt(row: &StoredSigningKey, seal: &Seal) -> Result<PrivateKey> {
    let text = seal.decrypt(&row.private_key.0, &row.kid)?;
    let pkcs8 = secrecy::SecretSlice::from(BASE64.decode(text.expose_secret().as_bytes())?);
    let key = PrivateKey::from_pkcs8(row.algorithm, pkcs8.expose_secret())?;
    anyhow::ensure!(key.kid() == row.kid, "the private key is another key's");
    Ok(key)
}

/// Encrypts a private key for the database.
#[must_use]
pub fn encrypt_key(pkcs8: &[u8], kid: &str, seal: &Seal, nonce: [u8; 12]) -> StoredPrivateKey {
    let text = secrecy::SecretString::from(BASE64.encode(pkcs8));
    StoredPrivateKey(seal.encrypt(text.expose_secret(), kid, nonce))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use signpost_platform::accounts::Environment;

    use super::*;
    use crate::jose::generate_pkcs8;

    fn row(number: i64, active_from: Timestamp, seal: &Seal) -> StoredSigningKey {
        let pkcs8 = generate_pkcs8(SigningAlgorithm::Es256).unwrap();
        let key = PrivateKey::from_pkcs8(SigningAlgorithm::Es256, pkcs8.expose_secret()).unwrap();
        StoredSigningKey {
            kid: key.kid().to_owned(),
            environment: Environment::Live,
            algorithm: SigningAlgorithm::Es256,
            number,
            private_key: encrypt_key(pkcs8.expose_secret(), key.kid(), seal, [7; 12]),
            public_key: key.public().clone(),
            created_at: active_from,
            active_from,
        }
    }

    #[test]
    fn ring_publishes_the_keys_of_its_tokens() {
        let (seal, start) = (Seal::new(Some(&[1; 32]), None), Timestamp::UNIX_EPOCH);
        let day = SignedDuration::from_hours(24);
        let rows = vec![row(1, start, &seal), row(2, start + day, &seal)];
        let (first, second) = (rows[0].kid.clone(), rows[1].kid.clone());
        let ring = KeyRing::open(rows.clone(), &seal).unwrap();
        let signer = |now| ring.find_signer(SigningAlgorithm::Es256, now).unwrap().kid();
        assert_eq!((signer(start), signer(start + day)), (&*first, &*second));
        let published = |now| -> Vec<_> { ring.published(now).iter().map(|key| key["kid"].clone()).collect() };
        assert_eq!(published(start), [&*first, &*second]);
        assert_eq!(published(start + day * 3), [&*second]);
        assert_eq!(ring.published_names(start), [&*first, &*second]);
        assert!(ring.find(&first).is_some() && ring.find("x").is_none());
        assert!(ring.find_signer(SigningAlgorithm::Rs256, start).is_none() && !ring.has(SigningAlgorithm::Rs256));
        assert!(ring.matches(&rows) && !ring.matches(&rows[..1]));
    }

    #[test]
    fn key_decrypts_only_in_its_row() {
        let seal = Seal::new(Some(&[1; 32]), None);
        let (one, other) = (row(1, Timestamp::UNIX_EPOCH, &seal), row(2, Timestamp::UNIX_EPOCH, &seal));
        assert!(decrypt_key(&one, &seal).is_ok());
        let error = decrypt_key(&one, &Seal::new(Some(&[2; 32]), None)).unwrap_err();
        assert!(format!("{error:#}").contains("SIGNPOST_SEAL_KEY"), "{error:#}");
        for plain in [Seal::default(), seal] {
            let [one, other] = [&one, &other].map(|_| row(1, Timestamp::UNIX_EPOCH, &plain));
            let swapped = StoredSigningKey { private_key: other.private_key.clone(), ..one };
            assert!(decrypt_key(&swapped, &plain).is_err());
        }
        let erased = StoredSigningKey { private_key: StoredPrivateKey(String::new()), ..other };
        assert!(decrypt_key(&erased, &Seal::default()).is_err());
    }

    #[test]
    fn private_keys_are_not_printed() {
        let row = row(1, Timestamp::UNIX_EPOCH, &Seal::default());
        let stored = row.private_key.0.clone();
        let shown = format!("{row:?} {:?}", KeyRing::open(vec![row.clone()], &Seal::default()).unwrap());
        assert!(!shown.contains(&stored));
    }
}
