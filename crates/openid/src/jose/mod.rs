//! Signed tokens: JSON Web Signatures in the compact serialization (RFC 7515), and the JSON Web
//! Keys that verify them (RFC 7517).

mod generate;
mod jwk;
pub mod jws;
mod pem;
mod private;

use std::fmt;

use anyhow::Context;
use serde::{Deserialize, Serialize};

pub use generate::{RsaUnsupported, generate_pkcs8, supports_rsa};
pub use jwk::{Base64Url, PublicJwk};
pub use pem::{InvalidPem, read_pem};
pub use private::PrivateKey;

/// The signing algorithm of ID tokens (RFC 7518, 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SigningAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256, which all relying parties accept.
    #[default]
    #[serde(rename = "RS256")]
    Rs256,
    /// ECDSA on P-256 with SHA-256, for clients that request it.
    #[serde(rename = "ES256")]
    Es256,
}

impl SigningAlgorithm {
    /// Both algorithms, in the order of the discovery document.
    pub const ALL: [Self; 2] = [Self::Rs256, Self::Es256];

    /// Returns the name in headers, requests and the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }

    /// Parses the name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == text)
    }
}

impl fmt::Display for SigningAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

signpost_store::text_columns! {
    SigningAlgorithm: |algorithm| algorithm.as_str(), |text| SigningAlgorithm::parse(text).context("is no algorithm");
}
