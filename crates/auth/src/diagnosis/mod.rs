//! Diagnoses receivers that refuse valid events, or accept invalid events: the known mistakes of receivers, each with
//! the signature that a receiver with this mistake computes, and with the repair. All functions are pure.
//!
//! To test a receiver, post events signed by each of the [`possible_mistakes`]: the accepted event identifies the
//! mistake. To diagnose a received event with the secret, call [`examine()`].

mod examine;
mod mending;
mod spelling;

use std::borrow::Cow;
use std::fmt;

use data_encoding::{BASE64, HEXLOWER, HEXUPPER};
use hmac::Mac;
use secrecy::{ExposeSecret, SecretSlice};

pub use examine::{Examination, examine};
pub use mending::{Framework, mend};
pub use spelling::BodySpelling;

use crate::webhook::{SECRET_PREFIX, WebhookSecret, signature_fields, standard_entry, x_svc_mac};

/// Secrets in documents and tools, which some receivers contain by mistake.
const EXAMPLES: [(&str, &str); 2] = [
    ("the example of signpost conformance", "whsec_Y29uZm9ybWFuY2Uga2l0LCBub3QgYSBzZWNyZXQhIQ=="),
    ("the example of vectors/webhook.json", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
];

/// A mistake of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// It signs the body after parsing it.
    ParsedBody(BodySpelling),
    /// It passes a parsed body to the HMAC, which fails.
    NoBytes,
    /// The body has a line end more or less than the signed body.
    BodyEnd,
    /// It has the secret with additional characters, or derives the wrong key from it.
    Secret(SecretMistake),
    /// It has another secret, which the text describes.
    OtherSecret(String),
    /// It expects another encoding of the signature.
    Form(SignatureForm),
}

/// A mistake in a secret, or in the key that is derived from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretMistake {
    /// A line feed at the end, as written by `echo` and editors.
    LineFeed,
    /// A carriage return and a line feed behind it.
    LineEnd,
    /// A space behind it.
    Space,
    /// Double quotes around it.
    DoubleQuotes,
    /// Single quotes around it.
    SingleQuotes,
    /// `whsec_` cut off.
    NoPrefix,
    /// The bytes after `whsec_` are used although the text is the key.
    Decoded,
    /// The text is used although the bytes after `whsec_` are the key.
    WholeText,
}

/// The encoding of the signature that a receiver compares with `X-Svc-Signature`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureForm {
    /// In base64.
    Base64,
    /// With `sha256=` in front.
    Prefixed,
    /// In capital letters.
    UpperCase,
}

/// A secret that a receiver may have by mistake.
#[derive(Clone, Debug)]
pub struct KnownSecret {
    /// The owner of the secret, as a continuation of "it has".
    pub owner: String,
    /// The secret.
    pub secret: WebhookSecret,
}

/// A possible mistake of a receiver, with the keys that such a receiver uses.
#[derive(Clone, Debug)]
pub struct PossibleMistake {
    /// The mistake.
    pub mistake: Mistake,
    keys: SigningKeys,
}

/// The two keys of a secret.
#[derive(Clone, Debug)]
struct SigningKeys {
    x_svc: SecretSlice<u8>,
    standard: SecretSlice<u8>,
}

/// Returns the possible mistakes of a receiver that should have the secret `right`, the most likely first.
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
    let bodies = BodySpelling::ALL.map(Mistake::ParsedBody);
    let forms = SignatureForm::ALL.map(Mistake::Form);
    for mistake in bodies.into_iter().chain(forms) {
        candidates.push(PossibleMistake { mistake, keys: SigningKeys::of(right) });
    }
    candidates
}

fn examples() -> impl Iterator<Item = KnownSecret> {
    EXAMPLES.into_iter().filter_map(|(owner, text)| {
        Some(KnownSecret { owner: owner.to_owned(), secret: WebhookSecret::parse(text).ok()? })
    })
}

impl PossibleMistake {
    /// Returns the header fields that a receiver with this mistake accepts for this body. `None` if the mistake makes
    /// no difference for it.
    #[must_use]
    pub fn sign(&self, id: &str, sent_at: i64, body: &[u8]) -> Option<Vec<(&'static str, String)>> {
        let mut signed = Cow::Borrowed(body);
        let mut form = None;
        match self.mistake {
            Mistake::ParsedBody(spelling) => {
                signed = Cow::Owned(spelling.spell(body).into_iter().next()?.into_bytes());
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
    /// All values, the most likely first.
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

    /// Returns the keys that a receiver with this mistake derives from a secret. Libraries for Standard Webhooks ignore
    /// characters around the base64, so that their key stays correct.
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
    /// All values.
    pub const ALL: [Self; 3] = [Self::Base64, Self::Prefixed, Self::UpperCase];
}

/// The error texts of an HMAC in JavaScript and in Python for an argument that is not bytes.
const NO_BYTES: [&str; 4] = [
    "must be of type string or an instance of Buffer",
    "object supporting the buffer API required",
    "a bytes-like object is required",
    "Strings must be encoded before hashing",
];

impl Mistake {
    /// Recognises a mistake by the error text of a receiver.
    #[must_use]
    pub fn recognise(text: &str) -> Option<Self> {
        NO_BYTES.iter().any(|known| text.contains(known)).then_some(Self::NoBytes)
    }

    /// Returns the code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::ParsedBody(_) | Self::NoBytes => "parsed_body",
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
    /// Describes the mistake, in a sentence without a full stop.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ParsedBody(spelling) => {
                write!(f, "parsed body: the receiver signed {}, not the bytes that came", spelling.describe())
            }
            Self::NoBytes => {
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

    /// Computes the signature of a key and a body without any conversion.
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
                Mistake::ParsedBody(BodySpelling::Compact),
                secret.x_svc_signature(BODY.replace([' ', '\n'], "").as_bytes()),
            ),
            (Mistake::ParsedBody(BodySpelling::Sorted), secret.x_svc_signature(value.to_string().as_bytes())),
            (Mistake::ParsedBody(BodySpelling::Empty), secret.x_svc_signature(b"")),
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
        assert_eq!((all.len(), count), (count, SecretMistake::ALL.len() + 2 + BodySpelling::ALL.len() + 3));
    }

    #[test]
    fn unchanged_spelling_is_not_suspected() {
        let right = WebhookSecret::from_bytes(&[9; 32]);
        let compact = possible_mistakes(&right, &[])
            .into_iter()
            .find(|one| one.mistake == Mistake::ParsedBody(BodySpelling::Compact));
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
        all.extend([Mistake::BodyEnd, Mistake::NoBytes]);
        for mistake in all {
            let text = mistake.to_string();
            assert!(!text.ends_with('.') && text.contains(": "), "{text}");
            for framework in [None, Some(Framework::Express)] {
                assert!(!mend(&mistake, framework).is_empty(), "{text}");
            }
        }
        let parsed = Mistake::ParsedBody(BodySpelling::Compact);
        let [express] = &mend(&parsed, Some(Framework::Express))[..] else { panic!("one line") };
        assert!(express.contains("express.raw("), "{express}");
        assert!(mend(&parsed, None).len() > 1);
        let crash =
            "<pre>TypeError: The &quot;data&quot; argument must be of type string or an instance of Buffer, TypedArray";
        assert_eq!(Mistake::recognise(crash), Some(Mistake::NoBytes));
        assert_eq!(Mistake::recognise("TypeError: x is not a function"), None);
    }

    #[test]
    fn framework_is_recognized_by_its_response() {
        for (server, powered_by, expected) in [
            (None, Some("Express"), Some(Framework::Express)),
            (Some("uvicorn"), None, Some(Framework::FastApi)),
            (Some("Werkzeug/3.1.3 Python/3.13.5"), None, Some(Framework::Flask)),
            (Some("WSGIServer/0.2 CPython/3.13.5"), None, Some(Framework::Django)),
            (Some("nginx"), Some("PHP/8.4"), Some(Framework::Php)),
            (Some("nginx"), None, None),
            (None, None, None),
        ] {
            assert_eq!(Framework::recognise(server, powered_by), expected, "{server:?} {powered_by:?}");
        }
    }
}
