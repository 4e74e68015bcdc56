//! Mistakes in the configured secret of a receiver, and in the keys that a receiver derives from
//! its secret.

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};

use super::SigningKeys;
use crate::webhook::{SECRET_PREFIX, WebhookSecret};

/// The prefix of a signature in `webhook-signature`, which some users copy before the secret.
const VERSION_PREFIX: &str = "v1,";
/// The scheme of the `Authorization` header, which some users write before the secret.
const BEARER_PREFIX: &str = "Bearer ";
/// The variable name that [`SecretMistake::VariableName`] assumes when it signs events.
const VARIABLE_PREFIX: &str = "WEBHOOK_SECRET=";
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A mistake in a configured secret, or in the key that is derived from the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretMistake {
    /// A line feed at the end of the secret, as written by `echo` and editors.
    LineFeed,
    /// A carriage return and a line feed at the end of the secret.
    LineEnd,
    /// A space at the end of the secret.
    Space,
    /// A space or a line break before the secret.
    LeadingSpace,
    /// A byte order mark before the secret, as written by editors on Windows.
    ByteOrderMark,
    /// Double quotes around the secret.
    DoubleQuotes,
    /// Single quotes around the secret.
    SingleQuotes,
    /// The name of the variable before the secret, as in `NAME=whsec_…`.
    VariableName,
    /// `Bearer` before the secret.
    Bearer,
    /// `v1,` before the secret.
    Version,
    /// The base64 text is in the URL-safe alphabet.
    UrlSafe,
    /// The secret is percent-encoded, as in a URL.
    PercentEncoded,
    /// The prefix `whsec_` is missing.
    NoPrefix,
    /// The decoded bytes after `whsec_` are used as the key instead of the whole text.
    Decoded,
    /// The whole text is used as the key instead of the decoded bytes after `whsec_`.
    WholeText,
}

impl SecretMistake {
    /// All mistakes, most likely first.
    pub const ALL: [Self; 15] = [
        Self::LineFeed,
        Self::LineEnd,
        Self::Space,
        Self::DoubleQuotes,
        Self::SingleQuotes,
        Self::NoPrefix,
        Self::Decoded,
        Self::WholeText,
        Self::LeadingSpace,
        Self::ByteOrderMark,
        Self::VariableName,
        Self::Bearer,
        Self::Version,
        Self::UrlSafe,
        Self::PercentEncoded,
    ];

    /// Returns the keys that a receiver with this mistake derives from a secret. Libraries for
    /// Standard Webhooks ignore characters around the base64 text, so their key stays correct.
    pub(super) fn keys(self, secret: &WebhookSecret) -> SigningKeys {
        let text = secret.reveal();
        let right = SigningKeys::of(secret);
        let x_svc = match self {
            Self::LineFeed => format!("{text}\n").into_bytes(),
            Self::LineEnd => format!("{text}\r\n").into_bytes(),
            Self::Space => format!("{text} ").into_bytes(),
            Self::LeadingSpace => format!(" {text}").into_bytes(),
            Self::ByteOrderMark => format!("{BYTE_ORDER_MARK}{text}").into_bytes(),
            Self::DoubleQuotes => format!("\"{text}\"").into_bytes(),
            Self::SingleQuotes => format!("'{text}'").into_bytes(),
            Self::VariableName => format!("{VARIABLE_PREFIX}{text}").into_bytes(),
            Self::Bearer => format!("{BEARER_PREFIX}{text}").into_bytes(),
            Self::Version => format!("{VERSION_PREFIX}{text}").into_bytes(),
            Self::UrlSafe => text.replace('+', "-").replace('/', "_").into_bytes(),
            Self::PercentEncoded => percent_encode(text).into_bytes(),
            Self::NoPrefix => text.trim_start_matches(SECRET_PREFIX).as_bytes().to_vec(),
            Self::Decoded => secret.decoded(),
            Self::WholeText => return SigningKeys { standard: right.x_svc.clone(), ..right },
        };
        SigningKeys { x_svc: x_svc.into(), ..right }
    }

    /// Returns the secret that a configured value contains, with the mistakes in the value.
    pub(super) fn correct(configured: &[u8]) -> Option<(Vec<Self>, WebhookSecret)> {
        let Ok(text) = std::str::from_utf8(configured) else {
            return Some((vec![Self::Decoded], secret_from_key(configured)?));
        };
        let mut mistakes = Vec::new();
        let mut rest = text;
        for (mistake, strip) in STRIPS {
            if let Some(stripped) = strip(rest) {
                mistakes.push(mistake);
                rest = stripped;
            }
        }
        if let Ok(secret) = WebhookSecret::parse(rest) {
            return Some((mistakes, secret));
        }
        let decoded = percent_decode(rest);
        if decoded != rest {
            mistakes.push(Self::PercentEncoded);
        }
        if let Ok(key) = HEXLOWER_PERMISSIVE.decode(decoded.as_bytes())
            && let Some(secret) = secret_from_key(&key)
        {
            mistakes.push(Self::Decoded);
            return Some((mistakes, secret));
        }
        let base64 = decoded.strip_prefix(SECRET_PREFIX);
        if base64.is_none() {
            mistakes.push(Self::NoPrefix);
        }
        let base64 = base64.unwrap_or(&decoded);
        let standard = base64.replace('-', "+").replace('_', "/");
        if standard != base64 {
            mistakes.push(Self::UrlSafe);
        }
        let secret = WebhookSecret::parse(&format!("{SECRET_PREFIX}{standard}")).ok()?;
        Some((mistakes, secret))
    }

    /// Describes the mistake in a sentence without a full stop.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::LineFeed => "secret with a line end: the receiver's secret ends with \\n",
            Self::LineEnd => "secret with a line end: the receiver's secret ends with \\r\\n",
            Self::Space => "secret with a space: the receiver's secret ends with a space",
            Self::LeadingSpace => "secret with a space: the receiver's secret begins with white space",
            Self::ByteOrderMark => "secret with a byte order mark: the receiver's secret begins with U+FEFF",
            Self::DoubleQuotes => "secret with quotes: the receiver's secret is in \"double quotes\"",
            Self::SingleQuotes => "secret with quotes: the receiver's secret is in 'single quotes'",
            Self::VariableName => "secret with its name: the receiver's secret begins with the variable's name and =",
            Self::Bearer => "secret with a scheme: the receiver's secret begins with Bearer",
            Self::Version => "secret with a version: the receiver's secret begins with v1,",
            Self::UrlSafe => "changed secret: the receiver's secret has - and _ instead of + and /",
            Self::PercentEncoded => "changed secret: the receiver's secret is percent-encoded",
            Self::NoPrefix => "wrong key: the receiver keys X-Svc-Signature without whsec_",
            Self::Decoded => "wrong key: the receiver keys X-Svc-Signature with the bytes behind whsec_",
            Self::WholeText => "wrong key: the receiver keys webhook-signature with the whole text",
        }
    }

    /// Returns the stable code of the mistake, for programs.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::LineFeed | Self::LineEnd => "secret_line_end",
            Self::Space | Self::LeadingSpace => "secret_space",
            Self::DoubleQuotes | Self::SingleQuotes => "secret_quotes",
            Self::ByteOrderMark | Self::VariableName | Self::Bearer | Self::Version => "secret_prefix",
            Self::UrlSafe | Self::PercentEncoded => "secret_encoding",
            Self::NoPrefix | Self::Decoded | Self::WholeText => "secret_key",
        }
    }
}

/// Removes the characters that a mistake adds around a secret. Returns `None` if there are none.
type Strip = fn(&str) -> Option<&str>;

/// The mistakes that add characters around a secret, the outermost characters first.
const STRIPS: [(SecretMistake, Strip); 10] = [
    (SecretMistake::ByteOrderMark, |text| text.strip_prefix(BYTE_ORDER_MARK)),
    (SecretMistake::LineEnd, |text| text.strip_suffix("\r\n")),
    (SecretMistake::LineFeed, |text| text.strip_suffix('\n')),
    (SecretMistake::Space, |text| Some(text.trim_end()).filter(|rest| *rest != text)),
    (SecretMistake::LeadingSpace, |text| Some(text.trim_start()).filter(|rest| *rest != text)),
    (SecretMistake::VariableName, strip_variable_name),
    (SecretMistake::DoubleQuotes, |text| text.strip_prefix('"')?.strip_suffix('"')),
    (SecretMistake::SingleQuotes, |text| text.strip_prefix('\'')?.strip_suffix('\'')),
    (SecretMistake::Bearer, strip_bearer),
    (SecretMistake::Version, |text| text.strip_prefix(VERSION_PREFIX)),
];

/// Removes `NAME=`, also after `export`.
fn strip_variable_name(text: &str) -> Option<&str> {
    let (name, value) = text.split_once('=')?;
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // The padding of base64 is no assignment.
    if is_name && value.contains(SECRET_PREFIX) { Some(value.trim_start()) } else { None }
}

fn strip_bearer(text: &str) -> Option<&str> {
    let (scheme, secret) = text.split_at_checked(BEARER_PREFIX.len())?;
    if scheme.eq_ignore_ascii_case(BEARER_PREFIX) { Some(secret.trim_start()) } else { None }
}

/// Encodes the characters of base64 that have a meaning in a URL.
fn percent_encode(text: &str) -> String {
    text.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
}

fn percent_decode(text: &str) -> String {
    [("%2B", "+"), ("%2b", "+"), ("%2F", "/"), ("%2f", "/"), ("%3D", "="), ("%3d", "=")]
        .into_iter()
        .fold(text.to_owned(), |text, (escape, letter)| text.replace(escape, letter))
}

/// Returns the secret with these decoded bytes.
fn secret_from_key(key: &[u8]) -> Option<WebhookSecret> {
    WebhookSecret::parse(&format!("{SECRET_PREFIX}{}", BASE64.encode(key))).ok()
}
