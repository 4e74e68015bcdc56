//! Proof Key for Code Exchange (RFC 7636): only the client that requested a code can exchange it. Only `S256` is
//! supported, because `plain` protects nothing.

use anyhow::Context;
use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The length of a verifier, in characters (RFC 7636, 4.1).
const VERIFIER_LEN: std::ops::RangeInclusive<usize> = 43..=128;

/// A `code_challenge`: the SHA-256 of a code verifier, in base64url.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeChallenge(String);

impl CodeChallenge {
    /// Parses a challenge.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hash = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        (hash.len() == 32).then(|| Self(text.to_owned()))
    }

    /// Returns true if this is the challenge for the given `code_verifier`. Compares in constant
    /// time.
    #[must_use]
    pub fn matches(&self, verifier: &str) -> bool {
        let is_verifier = VERIFIER_LEN.contains(&verifier.len()) && verifier.bytes().all(is_unreserved);
        let hash = BASE64URL_NOPAD.encode(&Sha256::digest(verifier));
        is_verifier && bool::from(hash.as_bytes().ct_eq(self.0.as_bytes()))
    }

    fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

signpost_store::text_columns! {
    CodeChallenge: CodeChallenge::as_str, |text| CodeChallenge::parse(text).context("is no code challenge");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn challenge_matches_only_its_verifier() {
        let challenge = CodeChallenge::parse(CHALLENGE).unwrap();
        assert!(challenge.matches(VERIFIER));
        for other in ["", CHALLENGE, &VERIFIER.to_lowercase(), &VERIFIER[1..], &format!("{VERIFIER}A")] {
            assert!(!challenge.matches(other), "{other}");
        }
    }

    #[test]
    fn verifier_has_the_specified_syntax() {
        for (verifier, is_match) in [
            ("a".repeat(42), false),
            ("a".repeat(43), true),
            ("a".repeat(128), true),
            ("a".repeat(129), false),
            ("~._-".repeat(11), true),
            (format!("{}+", "a".repeat(43)), false),
            (format!("{}é", "a".repeat(43)), false),
        ] {
            let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(&verifier));
            assert_eq!(CodeChallenge::parse(&challenge).unwrap().matches(&verifier), is_match, "{verifier}");
        }
    }

    #[test]
    fn challenge_must_be_a_hash() {
        for text in ["", "a", &CHALLENGE[1..], &format!("{CHALLENGE}="), &CHALLENGE.replace('-', "+")] {
            assert_eq!(CodeChallenge::parse(text), None, "{text}");
        }
    }
}
