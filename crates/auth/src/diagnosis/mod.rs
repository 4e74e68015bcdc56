//! Diagnoses receivers that reject valid events or accept invalid events. The module contains the
//! known mistakes of receivers, the signature that a receiver with each mistake computes, and how
//! to fix the mistake. All functions are pure.
//!
//! To test a receiver, send it events that are signed according to each of the
//! [`possible_mistakes`]. The event that it accepts identifies its mistake. To diagnose a received
//! event with the secret, call [`examine()`].

mod body_rewrite;
mod examine;
mod remedy;

use std::borrow::Cow;
use std::fmt;

use data_encoding::{BASE64, HEXLOWER, HEXUPPER};
use hmac::Mac;
use secrecy::{ExposeSecret, SecretSlice};

pub use body_rewrite::BodyRewrite;
pub use examine::{EventDiagnosis, examine};
pub use remedy::{Framework, remedies};

use crate::webhook::{SECRET_PREFIX, WebhookSecret, signature_fields, standard_entry, x_svc_mac};

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
    /// It passes a parsed body to the HMAC function, which fails because the body is not bytes.
    NotBytes,
    /// The received body has a line end that the signed body lacks, or the reverse.
    BodyEnd,
    /// Its configured secret has additional characters, or it derives the wrong key from the
    /// secret.
    Secret(SecretMistake),
    /// It has a different secret. The text describes the owner of that secret.
    OtherSecret(String),
    /// It expects a different encoding of the signature.
    Form(SignatureForm),
}

/// A mistake in a configured secret, or in the key that is derived from the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretMistake {
    /// A line feed at the end of the secret, as written by `echo` and editors.
    LineFeed,
    /// A carriage return and a line feed at the end of the secret.
    LineEnd,
    /// A space at the end of the secret.
    Space,
    /// Double quotes around the secret.
    DoubleQuotes,
    /// Single quotes around the secret.
    SingleQuotes,
    /// The prefix `whsec_` is missing.
    NoPrefix,
    /// The decoded bytes after `whsec_` are used as the key instead of the whole text.
    Decoded,
    /// The whole text is used as the key instead of the decoded bytes after `whsec_`.
    WholeText,
}

/// The encoding that a receiver expects of the signature in `X-Svc-Signature`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureForm {
    /// Base64 instead of hex.
    Base64,
    /// The prefix `sha256=` before the hex digits.
    Prefixed,
    /// Upper-case hex digits.
    UpperCase,
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
    let mut candidates = Vec::new();
    for secret_mistake in SecretMistake::ALL {
        candidates.push(PossibleMistake { mistake: Mistake::Secret(secret_mistake), keys: secret_mistake.keys(right) });
    }
    let examples: Vec<_> = examples().collect();
    for known in others.iter().chain(&examples) {
        if known.secret.reveal() != right.reveal() {
            let mistake = Mistake::OtherSecret(known.owner.clone());
            candidates.push(PossibleMistake { mistake, keys: SigningKeys::of(&known.secret) });
        }
    }
    let bodies = BodyRewrite::ALL.map(Mistake::ParsedBody);
    let forms = SignatureForm::ALL.map(Mistake::Form);
    for mistake in bodies.into_iter().chain(forms) {
        candidates.push(PossibleMistake { mistake, keys: SigningKeys::of(right) });
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
        let mut signed = Cow::Borrowed(body);
        let mut form = None;
        match self.mistake {
            Mistake::ParsedBody(rewrite) => {
                signed = Cow::Owned(rewrite.apply(body).into_iter().next()?.into_bytes());
                if *signed == *body {
                    return None;
                }
            }
            Mistake::Form(wrong) => form = Some(wrong),
            _ => {}
        }
        let x_svc = self.keys.x_svc_signature(&signed, form);
        Some(signature_fields(id, sent_at, x_svc, self.keys.standard_signature(id, sent_at, &signed)))
    }
}

impl SigningKeys {
    fn of(secret: &WebhookSecret) -> Self {
        Self { x_svc: secret.reveal().as_bytes().to_vec().into(), standard: secret.decoded().into() }
    }

    fn x_svc_signature(&self, body: &[u8], form: Option<SignatureForm>) -> String {
        let tag = x_svc_mac(self.x_svc.expose_secret(), body).finalize().into_bytes();
        match form {
            None => HEXLOWER.encode(&tag),
            Some(SignatureForm::Base64) => BASE64.encode(&tag),
            Some(SignatureForm::Prefixed) => format!("sha256={}", HEXLOWER.encode(&tag)),
            Some(SignatureForm::UpperCase) => HEXUPPER.encode(&tag),
        }
    }

    fn standard_signature(&self, id: &str, sent_at: i64, body: &[u8]) -> String {
        standard_entry(self.standard.expose_secret(), id, sent_at, body)
    }
}

impl SecretMistake {
    /// All mistakes, most likely first.
    pub const ALL: [Self; 8] = [
        Self::LineFeed,
        Self::LineEnd,
        Self::Space,
        Self::DoubleQuotes,
        Self::SingleQuotes,
        Self::NoPrefix,
        Self::Decoded,
        Self::WholeText,
    ];

    /// Returns the keys that a receiver with this mistake derives from a secret. Libraries for
    /// Standard Webhooks ignore characters around the base64 text, so their key stays correct.
    fn keys(self, secret: &WebhookSecret) -> SigningKeys {
        let text = secret.reveal();
        let right = SigningKeys::of(secret);
        let x_svc = match self {
            Self::LineFeed => format!("{text}\n").into_bytes(),
            Self::LineEnd => format!("{text}\r\n").into_bytes(),
            Self::Space => format!("{text} ").into_bytes(),
            Self::DoubleQuotes => format!("\"{text}\"").into_bytes(),
            Self::SingleQuotes => format!("'{text}'").into_bytes(),
            Self::NoPrefix => text.trim_start_matches(SECRET_PREFIX).as_bytes().to_vec(),
            Self::Decoded => secret.decoded(),
            Self::WholeText => return SigningKeys { standard: right.x_svc.clone(), ..right },
        };
        SigningKeys { x_svc: x_svc.into(), ..right }
    }
}

impl SignatureForm {
    /// All encodings.
    pub const ALL: [Self; 3] = [Self::Base64, Self::Prefixed, Self::UpperCase];
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
            Self::BodyEnd => "body_end",
            Self::Secret(SecretMistake::LineFeed | SecretMistake::LineEnd) => "secret_line_end",
            Self::Secret(SecretMistake::Space) => "secret_space",
            Self::Secret(SecretMistake::DoubleQuotes | SecretMistake::SingleQuotes) => "secret_quotes",
            Self::Secret(SecretMistake::NoPrefix | SecretMistake::Decoded | SecretMistake::WholeText) => "secret_key",
            Self::OtherSecret(_) => "other_secret",
            Self::Form(_) => "signature_form",
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
            Self::NotBytes => {
                f.write_str("parsed body: the receiver gives a parsed body to the HMAC, which takes bytes")
            }
            Self::BodyEnd => f.write_str("changed body: a line end at the end of the body was added or lost"),
            Self::Secret(secret_mistake) => f.write_str(match secret_mistake {
                SecretMistake::LineFeed => "secret with a line end: the receiver's secret ends with \\n",
                SecretMistake::LineEnd => "secret with a line end: the receiver's secret ends with \\r\\n",
                SecretMistake::Space => "secret with a space: the receiver's secret ends with a space",
                SecretMistake::DoubleQuotes => "secret with quotes: the receiver's secret is in \"double quotes\"",
                SecretMistake::SingleQuotes => "secret with quotes: the receiver's secret is in 'single quotes'",
                SecretMistake::NoPrefix => "wrong key: the receiver keys X-Svc-Signature without whsec_",
                SecretMistake::Decoded => "wrong key: the receiver keys X-Svc-Signature with the bytes behind whsec_",
                SecretMistake::WholeText => "wrong key: the receiver keys webhook-signature with the whole text",
            }),
            Self::OtherSecret(owner) => write!(f, "other secret: the receiver has {owner}"),
            Self::Form(form) => f.write_str(match form {
                SignatureForm::Base64 => "wrong form: the receiver expects X-Svc-Signature in base64",
                SignatureForm::Prefixed => "wrong form: the receiver expects sha256= before X-Svc-Signature",
                SignatureForm::UpperCase => "wrong form: the receiver expects X-Svc-Signature in capital letters",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{ "id" : "evt_1" , "event" : "test", "timestamp" : "2026-11-20T12:00:00Z" , "session_id" : "", "data" : {}}"#;

    /// Computes the signature of a body with a key, without any conversion.
    fn hex(key: &[u8], body: &[u8]) -> String {
        HEXLOWER.encode(&x_svc_mac(key, body).finalize().into_bytes())
    }

    fn of(mistake: &Mistake) -> Option<String> {
        let right = WebhookSecret::from_bytes(&[9; 32]);
        let other = KnownSecret { owner: "that of b.test".to_owned(), secret: WebhookSecret::from_bytes(&[8; 32]) };
        let all = possible_mistakes(&right, &[other]);
        let found: Vec<_> = all.iter().filter(|one| one.mistake == *mistake).collect();
        let [one] = found[..] else { panic!("{mistake:?} is suspected {} times", found.len()) };
        one.sign("evt_1", 5, BODY.as_bytes()).map(|headers| headers[0].1.clone())
    }

    #[test]
    fn mistakes_are_signed_as_receivers_compute() {
        let secret = WebhookSecret::from_bytes(&[9; 32]);
        let (text, body) = (secret.reveal(), BODY.as_bytes());
        let value: serde_json::Value = serde_json::from_str(BODY).unwrap();
        let secret_mistake = Mistake::Secret;
        for (mistake, expected) in [
            (secret_mistake(SecretMistake::LineFeed), hex(format!("{text}\n").as_bytes(), body)),
            (secret_mistake(SecretMistake::LineEnd), hex(format!("{text}\r\n").as_bytes(), body)),
            (secret_mistake(SecretMistake::DoubleQuotes), hex(format!("\"{text}\"").as_bytes(), body)),
            (secret_mistake(SecretMistake::NoPrefix), hex(&text.as_bytes()[6..], body)),
            (secret_mistake(SecretMistake::Decoded), hex(&[9; 32], body)),
            (secret_mistake(SecretMistake::WholeText), secret.x_svc_signature(body)),
            (
                Mistake::OtherSecret("that of b.test".to_owned()),
                WebhookSecret::from_bytes(&[8; 32]).x_svc_signature(body),
            ),
            (
                Mistake::ParsedBody(BodyRewrite::Compact),
                secret.x_svc_signature(BODY.replace([' ', '\n'], "").as_bytes()),
            ),
            (Mistake::ParsedBody(BodyRewrite::Sorted), secret.x_svc_signature(value.to_string().as_bytes())),
            (Mistake::ParsedBody(BodyRewrite::Empty), secret.x_svc_signature(b"")),
            (Mistake::Form(SignatureForm::Prefixed), format!("sha256={}", secret.x_svc_signature(body))),
            (Mistake::Form(SignatureForm::UpperCase), secret.x_svc_signature(body).to_uppercase()),
        ] {
            assert_eq!(of(&mistake), Some(expected), "{mistake:?}");
        }
    }

    #[test]
    fn signatures_of_possible_mistakes_differ() {
        let right = WebhookSecret::from_bytes(&[9; 32]);
        let signed = possible_mistakes(&right, &[]).into_iter().filter_map(|one| one.sign("evt_1", 5, BODY.as_bytes()));
        let mut all: Vec<_> = signed.map(|headers| headers[0].1.clone() + &headers[3].1).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!((all.len(), count), (count, SecretMistake::ALL.len() + 2 + BodyRewrite::ALL.len() + 3));
    }

    #[test]
    fn unchanged_body_is_not_suspected() {
        let right = WebhookSecret::from_bytes(&[9; 32]);
        let compact = possible_mistakes(&right, &[])
            .into_iter()
            .find(|one| one.mistake == Mistake::ParsedBody(BodyRewrite::Compact));
        assert_eq!(compact.unwrap().sign("evt_1", 5, b"{\"id\":\"evt_1\"}"), None);
        let same = KnownSecret { owner: "the same".to_owned(), secret: right.clone() };
        assert!(
            possible_mistakes(&right, &[same])
                .iter()
                .all(|one| one.mistake != Mistake::OtherSecret("the same".to_owned()))
        );
    }

    #[test]
    fn debug_output_hides_the_key() {
        let debug = format!("{:?}", possible_mistakes(&WebhookSecret::from_bytes(&[9; 32]), &[]));
        assert!(debug.contains("REDACTED") && !debug.contains("CQkJ") && !debug.contains("[9, 9"), "{debug}");
    }

    #[test]
    fn every_mistake_names_a_remedy() {
        let mut all: Vec<_> =
            possible_mistakes(&WebhookSecret::from_bytes(&[9; 32]), &[]).into_iter().map(|one| one.mistake).collect();
        all.extend([Mistake::BodyEnd, Mistake::NotBytes]);
        for mistake in all {
            let text = mistake.to_string();
            assert!(!text.ends_with('.') && text.contains(": "), "{text}");
            for framework in [None, Some(Framework::Express)] {
                assert!(!remedies(&mistake, framework).is_empty(), "{text}");
            }
        }
        let parsed = Mistake::ParsedBody(BodyRewrite::Compact);
        let [express] = &remedies(&parsed, Some(Framework::Express))[..] else { panic!("one line") };
        assert!(express.contains("express.raw("), "{express}");
        assert!(remedies(&parsed, None).len() > 1);
        let crash =
            "<pre>TypeError: The &quot;data&quot; argument must be of type string or an instance of Buffer, TypedArray";
        assert_eq!(Mistake::detect(crash), Some(Mistake::NotBytes));
        assert_eq!(Mistake::detect("TypeError: x is not a function"), None);
    }

    #[test]
    fn framework_is_detected_by_its_response() {
        for (server, powered_by, expected) in [
            (None, Some("Express"), Some(Framework::Express)),
            (Some("uvicorn"), None, Some(Framework::FastApi)),
            (Some("Werkzeug/3.1.3 Python/3.13.5"), None, Some(Framework::Flask)),
            (Some("WSGIServer/0.2 CPython/3.13.5"), None, Some(Framework::Django)),
            (Some("nginx"), Some("PHP/8.4"), Some(Framework::Php)),
            (Some("nginx"), None, None),
            (None, None, None),
        ] {
            assert_eq!(Framework::detect(server, powered_by), expected, "{server:?} {powered_by:?}");
        }
    }
}
