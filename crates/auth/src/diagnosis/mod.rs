//! Diagnoses receivers that reject valid events or accept invalid events. The module contains the
//! known mistakes of receivers, the signature that a receiver with each mistake computes, and how
//! to fix the mistake. All functions are pure.
//!
//! To test a receiver, send it events that are signed according to each of the
//! [`possible_mistakes`]. The event that it accepts identifies its mistake. To diagnose a received
//! event with the secret, call [`examine()`].

mod body_encoding;
mod body_rewrite;
mod examine;
#[cfg(test)]
mod examine_tests;
mod header_mistake;
mod python;
mod remedy;
mod secret_mistake;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use data_encoding::{BASE64, HEXLOWER, HEXUPPER};
use hmac::Mac;
use secrecy::{ExposeSecret, SecretSlice};

pub use body_encoding::BodyEncoding;
pub use body_rewrite::BodyRewrite;
pub use examine::{EventDiagnosis, examine};
pub use header_mistake::HeaderMistake;
pub use remedy::{Framework, remedies};
pub use secret_mistake::SecretMistake;

use crate::webhook::{
    WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP, WebhookSecret, signature_fields, standard_entry, x_svc_mac,
};

/// Secrets in documentation and tools, which some receivers contain by mistake.
const EXAMPLE_SECRETS: [(&str, &str); 2] = [
    ("the example of signpost conformance", "whsec_Y29uZm9ybWFuY2Uga2l0LCBub3QgYSBzZWNyZXQhIQ=="),
    ("the example of vectors/webhook.json", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
];

/// A mistake in a receiver that makes it compute a wrong signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// It computes the signature of the body after parsing and serializing it.
    ParsedBody(BodyRewrite),
    /// It computes the signature of the body in another encoding.
    EncodedBody(BodyEncoding),
    /// It passes a parsed body to the HMAC function, which fails because the body is not bytes.
    NotBytes,
    /// The received body has a line end that the signed body lacks, or the reverse.
    BodyEnd,
    /// Its configured secret has additional characters, or it derives the wrong key from the
    /// secret.
    Secret(SecretMistake),
    /// It has a different secret. The text describes the owner of that secret.
    OtherSecret(String),
    /// It expects a different form of the headers.
    Header(HeaderMistake),
}

/// A secret that a receiver may have been configured with by mistake.
#[derive(Clone, Debug)]
pub struct KnownSecret {
    /// The owner of the secret, as a continuation of the words "it has".
    pub owner: String,
    /// The secret.
    pub secret: WebhookSecret,
}

/// A possible mistake in a receiver, with the keys that such a receiver uses.
#[derive(Clone, Debug)]
pub struct PossibleMistake {
    /// The mistake that the keys belong to.
    pub mistake: Mistake,
    keys: SigningKeys,
}

/// The keys of a secret for the two signatures of an event.
#[derive(Clone, Debug)]
struct SigningKeys {
    x_svc: SecretSlice<u8>,
    standard: SecretSlice<u8>,
}

/// Returns the possible mistakes of a receiver that should have the secret `right`, most likely
/// first.
#[must_use]
pub fn possible_mistakes(right: &WebhookSecret, others: &[KnownSecret]) -> Vec<PossibleMistake> {
    let right_keys = SigningKeys::of(right);
    let mut candidates = Vec::new();
    for secret_mistake in SecretMistake::ALL {
        let keys = secret_mistake.keys(right);
        // Some secrets are equal in another alphabet.
        if !keys.are_equal(&right_keys) {
            candidates.push(PossibleMistake { mistake: Mistake::Secret(secret_mistake), keys });
        }
    }
    let examples: Vec<_> = examples().collect();
    for known in others.iter().chain(&examples) {
        if known.secret.reveal() != right.reveal() {
            let mistake = Mistake::OtherSecret(known.owner.clone());
            candidates.push(PossibleMistake { mistake, keys: SigningKeys::of(&known.secret) });
        }
    }
    let rewrites = BodyRewrite::ALL.map(Mistake::ParsedBody);
    let encodings = BodyEncoding::ALL.map(Mistake::EncodedBody);
    let headers = HeaderMistake::ALL.map(Mistake::Header);
    for mistake in rewrites.into_iter().chain(headers).chain(encodings) {
        candidates.push(PossibleMistake { mistake, keys: right_keys.clone() });
    }
    candidates
}

fn examples() -> impl Iterator<Item = KnownSecret> {
    EXAMPLE_SECRETS.into_iter().filter_map(|(owner, text)| {
        Some(KnownSecret { owner: owner.to_owned(), secret: WebhookSecret::parse(text).ok()? })
    })
}

impl PossibleMistake {
    /// Returns the headers that a receiver with this mistake accepts for this body. Returns `None`
    /// if the mistake makes no difference for the body.
    #[must_use]
    pub fn sign(&self, id: &str, sent_at: i64, body: &[u8]) -> Option<Vec<(&'static str, String)>> {
        let signed = match self.mistake {
            Mistake::ParsedBody(rewrite) => {
                let rewritten = rewrite.apply(body).into_iter().next()?.into_bytes();
                if rewritten == body {
                    return None;
                }
                Cow::Owned(rewritten)
            }
            Mistake::EncodedBody(encoding) => Cow::Owned(encoding.encode(body)?),
            _ => Cow::Borrowed(body),
        };
        if let Mistake::Header(header_mistake) = self.mistake {
            return Some(self.keys.sign_headers(header_mistake, id, sent_at, &signed));
        }
        let x_svc = HEXLOWER.encode(&self.keys.x_svc_tag(&signed));
        Some(signature_fields(id, sent_at, x_svc, self.keys.standard_signature(id, sent_at, &signed)))
    }

    /// Returns `true` if the receiver signs another body than the service.
    #[must_use]
    pub fn changes_body(&self) -> bool {
        matches!(self.mistake, Mistake::ParsedBody(_) | Mistake::EncodedBody(_))
    }
}

impl SigningKeys {
    fn of(secret: &WebhookSecret) -> Self {
        Self { x_svc: secret.reveal().as_bytes().to_vec().into(), standard: secret.decoded().into() }
    }

    fn are_equal(&self, other: &Self) -> bool {
        self.x_svc.expose_secret() == other.x_svc.expose_secret()
            && self.standard.expose_secret() == other.standard.expose_secret()
    }

    fn x_svc_tag(&self, body: &[u8]) -> [u8; 32] {
        x_svc_mac(self.x_svc.expose_secret(), body).finalize().into_bytes().into()
    }

    fn standard_signature(&self, id: &str, sent_at: i64, body: &[u8]) -> String {
        standard_entry(self.standard.expose_secret(), id, sent_at, body)
    }

    /// Returns the headers that a receiver with this mistake expects.
    fn sign_headers(&self, mistake: HeaderMistake, id: &str, sent_at: i64, body: &[u8]) -> Vec<(&'static str, String)> {
        let tag = self.x_svc_tag(body);
        let hex = HEXLOWER.encode(&tag);
        let standard = self.standard_signature(id, sent_at, body);
        match mistake {
            HeaderMistake::Base64 => signature_fields(id, sent_at, BASE64.encode(&tag), standard),
            HeaderMistake::Prefixed => signature_fields(id, sent_at, format!("sha256={hex}"), standard),
            HeaderMistake::UpperCase => signature_fields(id, sent_at, HEXUPPER.encode(&tag), standard),
            HeaderMistake::Quoted => signature_fields(id, sent_at, format!("\"{hex}\""), format!("\"{standard}\"")),
            HeaderMistake::NoVersion => signature_fields(id, sent_at, hex, standard.replacen("v1,", "", 1)),
            HeaderMistake::SvixNames => {
                let mut fields = signature_fields(id, sent_at, hex, standard);
                for (name, _) in &mut fields {
                    *name = match *name {
                        WEBHOOK_ID => "svix-id",
                        WEBHOOK_TIMESTAMP => "svix-timestamp",
                        WEBHOOK_SIGNATURE => "svix-signature",
                        other => other,
                    };
                }
                fields
            }
            HeaderMistake::Milliseconds => {
                let millis = sent_at.saturating_mul(1000);
                signature_fields(id, millis, hex, self.standard_signature(id, millis, body))
            }
        }
    }
}

/// Error messages of the HMAC functions of JavaScript and Python for an argument that is not bytes.
const NOT_BYTES_ERRORS: [&str; 4] = [
    "must be of type string or an instance of Buffer",
    "object supporting the buffer API required",
    "a bytes-like object is required",
    "Strings must be encoded before hashing",
];

impl Mistake {
    /// Detects a mistake by the error message in a receiver's response.
    #[must_use]
    pub fn detect(text: &str) -> Option<Self> {
        NOT_BYTES_ERRORS.iter().any(|known| text.contains(known)).then_some(Self::NotBytes)
    }

    /// Returns the stable code of the mistake, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::ParsedBody(_) | Self::NotBytes => "parsed_body",
            Self::EncodedBody(_) => "encoded_body",
            Self::BodyEnd => "body_end",
            Self::Secret(secret_mistake) => secret_mistake.code(),
            Self::OtherSecret(_) => "other_secret",
            Self::Header(header_mistake) => header_mistake.code(),
        }
    }
}

impl fmt::Display for Mistake {
    /// Describes the mistake in a sentence without a full stop.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ParsedBody(rewrite) => {
                write!(f, "parsed body: the receiver signed {}, not the bytes that came", rewrite.describe())
            }
            Self::EncodedBody(encoding) => {
                write!(f, "encoded body: the receiver signed {}, not the bytes that came", encoding.describe())
            }
            Self::NotBytes => {
                f.write_str("parsed body: the receiver gives a parsed body to the HMAC, which takes bytes")
            }
            Self::BodyEnd => f.write_str("changed body: a line end at the end of the body was added or lost"),
            Self::Secret(secret_mistake) => f.write_str(secret_mistake.describe()),
            Self::OtherSecret(owner) => write!(f, "other secret: the receiver has {owner}"),
            Self::Header(header_mistake) => f.write_str(header_mistake.describe()),
        }
    }
}
