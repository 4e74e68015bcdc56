//! Private keys that sign tokens: parsing PKCS #8 and signing messages.

use std::fmt;

use anyhow::{Result, anyhow};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents,
};

use super::jwk::Curve;
use super::{Base64Url, PublicJwk, SigningAlgorithm};

/// A private key that signs tokens, with its public key.
pub struct PrivateKey {
    half: PrivateHalf,
    public: PublicJwk,
    kid: String,
}

enum PrivateHalf {
    Rsa(Box<RsaKeyPair>),
    Ec(Box<EcdsaKeyPair>),
}

impl PrivateKey {
    /// Parses PKCS #8 (RFC 5958): RSA of 2048 to 4096 bits, or P-256 with its public key.
    ///
    /// # Errors
    /// Returns an error if the text is not a private key for this algorithm.
    pub fn from_pkcs8(algorithm: SigningAlgorithm, pkcs8: &[u8]) -> Result<Self> {
        let (half, public) = match algorithm {
            SigningAlgorithm::Rs256 => {
                let pair = RsaKeyPair::from_pkcs8(pkcs8).map_err(|why| anyhow!("no RSA key for RS256: {why}"))?;
                let RsaPublicKeyComponents::<Vec<u8>> { n, e } = pair.public_key().into();
                (PrivateHalf::Rsa(Box::new(pair)), PublicJwk::Rsa { e: Base64Url(e), n: Base64Url(n) })
            }
            SigningAlgorithm::Es256 => {
                let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new());
                let pair = pair.map_err(|why| anyhow!("no P-256 key for ES256: {why}"))?;
                // The public key is an uncompressed point: the byte 4, and then the two
                // coordinates.
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                let public = PublicJwk::Ec { crv: Curve::P256, x: Base64Url(x.to_vec()), y: Base64Url(y.to_vec()) };
                (PrivateHalf::Ec(Box::new(pair)), public)
            }
        };
        let kid = public.thumbprint();
        Ok(Self { half, public, kid })
    }

    /// Returns the algorithm.
    #[must_use]
    pub fn algorithm(&self) -> SigningAlgorithm {
        self.public.algorithm()
    }

    /// Returns the public key.
    #[must_use]
    pub fn public(&self) -> &PublicJwk {
        &self.public
    }

    /// Returns the key ID, the thumbprint of the public key.
    #[must_use]
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// Signs a message (RFC 7518, 3.3 and 3.4).
    ///
    /// # Errors
    /// Returns an error if the parts of the key contradict each other, which is detected only here.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>> {
        let random = SystemRandom::new();
        let signature = match &self.half {
            PrivateHalf::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).map(|()| signature)
            }
            PrivateHalf::Ec(pair) => pair.sign(&random, message).map(|signature| signature.as_ref().to_vec()),
        };
        signature.map_err(|_| anyhow!("the signing key {} does not sign", self.kid))
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.kid)
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64;

    use super::*;

    /// An RSA key of 1024 bits, created by `openssl genpkey`.
    const RSA_1024: &str = "MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAOhSh2xeZQUv3+JX+6NPrwi4JHnNLm1h9FHs+xvE42qS3K2MRDnP \
        Ykd+lTac/Miqr7r81wkzq9Ld/a3hX8nNxXHaYnePlmf5aPqVN7FcUQgy7D/er5SOoMW0dl3pi0AJ8feoGpbfA8WSry4yf1nQtPfR \
        2vjHOKIW2ault+FNUGkzAgMBAAECgYEAhcU/hP61XE88sq/GjTqMppChMCEc4o7Mh3/U9yBfcjYuKx/hCQiIpnIUqOWsCD+AAEMl \
        7n56KWj5cO2coi6ByPvF8liuVFPwD5leazSD9aq6zeXVh77bYbv89sAV0elWeLrSxLNhaHG/nc9WY3zAgyhNkeoGhj5FuB2z2iEI \
        7MECQQD+UXrNwFXdJ1JWaO2I7XRBaPYgkHhOvkIHhnf+ny9AvzvvAbl554XWIUZmug8xjXR13UAMuPlHOsBkNTkBxukVAkEA6dvQ \
        UWFoHaNEpZykHHHIRTJdVJgLV10Ac10TCZvkgYCnTt0PgBikHjBYCYDjz0QrUzGy7JarOIBSE+UpbcMLJwJAG0e2OpflHgH3zRkY \
        UdXW4KVXsYqNvTSfdJsyB/gfY3yf+zVeJft12dBb8u0GcDRSR8ph8nttEfz1YkprQQuLOQJAEDbtercGQQfQ+qqhtlctS57yWasx \
        Hh2UqmsJpuDoNxJ0h0NMj9Uli/JOKFqHcReI6XvIrB7GQGSlTDvXY4TigQJACI3la/EAynnr9XHEW64+1VhrXYm8Ybt6BZHqMMD8 \
        w9xchDGTNYNU0fr3suKRmpbAoQtqmu8yM5h1XaxI6sqmPg==";
    /// A P-384 key, created by `openssl genpkey`.
    const P_384: &str = "MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAwPmU4Q8ZGp+iQLMlcUOFG/1r2Y67pW4Uwxja7VUm0A9LNkDzhcpzJ \
        RU782sF0UiOhZANiAAToSd11ArmT6Tk12r2oX1tu46TpRSdnEMkt6XmvEAoCTCTP0ZRp3PCazcTvvrVBMfOsX2q1gn28pCeHOplr \
        yrobkALN9A2iJsqnv4zNg47kgQvvZ9R3UivgfePOddDDhAw=";
    /// A P-256 key, created by `openssl genpkey`.
    const P_256: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg0C8lXEspc+bahwVoAE+1fWU+HcV9USpu1VPgQNZ/nbqhRANCAAR4 \
        P+aJtzNVm8/MHavUPFvD3gnrtIZ1uoXsqu6OZ4sXmM1aGWpOqMYBsYYy4z3MJlFjbCDsZATtT6Ba2eyw0fD8";

    fn read(algorithm: SigningAlgorithm, key: &str) -> Result<PrivateKey> {
        let key: String = key.split_whitespace().collect();
        PrivateKey::from_pkcs8(algorithm, &BASE64.decode(key.as_bytes()).unwrap())
    }

    #[test]
    fn short_or_foreign_keys_are_rejected() {
        use SigningAlgorithm::{Es256, Rs256};

        assert!(read(Es256, P_256).is_ok());
        for (algorithm, key, expected) in [
            (Rs256, RSA_1024, "no RSA key for RS256: TooSmall"),
            (Rs256, P_256, "no RSA key for RS256"),
            (Es256, P_384, "no P-256 key for ES256"),
            (Es256, RSA_1024, "no P-256 key for ES256"),
            (Es256, "", "no P-256 key for ES256"),
        ] {
            let error = read(algorithm, key).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        // Replaces the public part by the public part of another key.
        let mut altered = BASE64.decode(P_256.split_whitespace().collect::<String>().as_bytes()).unwrap();
        *altered.last_mut().unwrap() ^= 1;
        assert!(PrivateKey::from_pkcs8(Es256, &altered).is_err());
    }
}
