//! New keys. RSA is made by graviola, since ring makes none; all else is ring's.

use anyhow::{Result, anyhow};
use graviola::signing::rsa::{KeySize, SigningKey};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use secrecy::SecretSlice;

use super::SigningAlgorithm;

/// More than the PKCS #8 form of an RSA key of 2048 bits takes.
const MAX_PKCS8_BYTES: usize = 2048;

/// The features without which graviola panics (its `cpu.rs`).
#[cfg(target_arch = "x86_64")]
const NEEDED: &str = "ADX, AES, AVX, AVX2, BMI1 and PCLMULQDQ";
#[cfg(target_arch = "aarch64")]
const NEEDED: &str = "NEON, AES, PMULL and SHA-2";
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const NEEDED: &str = "those of x86-64 or AArch64";

/// This machine's processor cannot make RSA keys.
#[derive(Debug, thiserror::Error)]
#[error(
    "this processor cannot make RSA keys, which takes the features {NEEDED}: make one with 'openssl genpkey -algorithm \
     RSA -pkeyopt rsa_keygen_bits:2048 -out key.pem' and pass it on with 'signpost signing-keys rotate --pem key.pem'"
)]
pub struct Unable;

/// A new key as PKCS #8: RSA of 2048 bits, or P-256. RSA takes up to a quarter of a second of a core.
///
/// # Errors
/// [`Unable`], or where the system has no randomness.
pub fn generate_pkcs8(algorithm: SigningAlgorithm) -> Result<SecretSlice<u8>> {
    match algorithm {
        SigningAlgorithm::Rs256 => {
            if !makes_rsa() {
                return Err(Unable.into());
            }
            let key = SigningKey::generate(KeySize::Rsa2048).map_err(|why| anyhow!("no RSA key was made: {why:?}"))?;
            let mut room = vec![0; MAX_PKCS8_BYTES];
            let length = key.to_pkcs8_der(&mut room).map_err(|why| anyhow!("no RSA key was written: {why:?}"))?.len();
            room.truncate(length);
            Ok(room.into())
        }
        SigningAlgorithm::Es256 => {
            let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
            Ok(pkcs8.map_err(|_| anyhow!("no P-256 key was made"))?.as_ref().to_vec().into())
        }
    }
}

/// Whether this processor has the features that it takes to make RSA keys.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn makes_rsa() -> bool {
    is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("adx")
        && is_x86_feature_detected!("avx")
        && is_x86_feature_detected!("avx2")
}

/// Whether this processor has the features that it takes to make RSA keys.
#[cfg(target_arch = "aarch64")]
#[must_use]
pub fn makes_rsa() -> bool {
    use std::arch::is_aarch64_feature_detected;
    is_aarch64_feature_detected!("neon")
        && is_aarch64_feature_detected!("aes")
        && is_aarch64_feature_detected!("pmull")
        && is_aarch64_feature_detected!("sha2")
}

/// Whether this processor has the features that it takes to make RSA keys.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[must_use]
pub fn makes_rsa() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;
    use crate::jose::PrivateKey;

    #[test]
    fn a_key_is_made_or_the_operator_is_told_what_to_do() {
        for algorithm in SigningAlgorithm::ALL {
            match generate_pkcs8(algorithm) {
                Ok(pkcs8) => {
                    let key = PrivateKey::from_pkcs8(algorithm, pkcs8.expose_secret()).unwrap();
                    assert_eq!((key.algorithm(), key.kid()), (algorithm, &*key.public().thumbprint()));
                    assert!(key.public().verifies(b"text", &key.sign(b"text").unwrap()));
                    assert!(!format!("{pkcs8:?} {key:?}").contains("48, 130"));
                }
                Err(error) => {
                    assert!(!makes_rsa() && algorithm == SigningAlgorithm::Rs256, "{error:#}");
                    assert!(error.is::<Unable>() && error.to_string().contains("--pem"), "{error:#}");
                }
            }
        }
    }
}
