//! The content of login QR codes (`qr_data`).

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;

use crate::challenge::Challenge;

/// Maximum number of bytes in a QR code (version 40, level L).
const MAX_SCANNED_LEN: usize = 2953;

/// The characters that are escaped: all except the query characters of RFC 3986, but including `&`,
/// `;`, `=` and `+`, which have a meaning in queries. Fewer escapes make a smaller QR code.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b':')
    .remove(b'@')
    .remove(b'/')
    .remove(b'?');

/// The content of a login QR code: the challenge to sign, the URL for the answer, and the time of
/// expiry.
///
/// It is written as `svc://auth?v=1&webhook=…&challenge=…&exp=…`, with at most 500 characters. It
/// contains nothing that gives access to the session, so a photo of the QR code reveals only the
/// challenge. With `v=2`, the service accepts only the
/// [`HostBoundChallenge`](crate::HostBoundChallenge) rendering, which includes the number that the
/// page displays if the content has `number=1`.
///
/// ```
/// use signpost_auth::QrData;
///
/// let text = "svc://auth?v=1&webhook=https://example.com/hook\
///             &challenge=svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAA&exp=1700000300";
/// let qr = QrData::parse(text)?;
/// assert_eq!(qr.webhook().host_str(), Some("example.com"));
/// assert_eq!(qr.expires_at(), 1_700_000_300);
/// assert_eq!(qr.to_string(), text);
/// # Ok::<(), signpost_auth::InvalidQrData>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QrData {
    webhook: Url,
    challenge: Challenge,
    expires_at: i64,
    signing: Signing,
}

/// The rendering of the challenge that wallets must sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signing {
    /// `v=1`: wallets sign [`Challenge::sentence`]. If the page displays a number, it is a separate
    /// field of the answer.
    Sentence,
    /// `v=2`: wallets sign a [`HostBoundChallenge`](crate::HostBoundChallenge), which contains the
    /// host that receives the answer.
    HostBound {
        /// Whether the signed text includes the number that the page displays: `number=1`.
        number: bool,
    },
}

/// Reason a text is not the content of a login QR code, or cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQrData {
    /// The created text would be too long for a QR code that is easy to scan.
    #[error("the QR data would have {0} characters, at most {max} are allowed: use a shorter webhook URL", max = QrData::MAX_LEN)]
    TooLong(usize),
    /// The text is longer than any QR code.
    #[error("the text has {0} bytes, more than any QR code can hold")]
    NotScanned(usize),
    /// The text is not the content of a login QR code.
    #[error("not a login code: it starts with svc://auth?")]
    Scheme,
    /// The version of the format is not supported.
    #[error("the login code has version {0}, this wallet reads versions 1 and 2: update the wallet")]
    Version(String),
    /// A parameter is missing.
    #[error("the login code is missing the parameter {0}: v, webhook, challenge and exp are required")]
    Missing(&'static str),
    /// A parameter is repeated, and parsers would interpret it differently.
    #[error("the login code has the parameter {0} more than once")]
    Duplicate(&'static str),
    /// The webhook URL is not allowed.
    #[error(
        "the login code's webhook is not allowed: it is an http or https URL in plain ASCII, without user name, \
         fragment, spaces or backslashes"
    )]
    Webhook,
    /// The challenge is malformed.
    #[error("the login code's challenge is not svc:<mode>:<domain>:<unix>:<nonce>")]
    Challenge,
    /// The parameter `number` is malformed.
    #[error("the login code's number is not 1: it is 1 or left out")]
    Number,
    /// The time of expiry is malformed.
    #[error("the login code's exp is not a whole number of Unix seconds")]
    Expiry,
}

impl QrData {
    /// Maximum number of characters of `qr_data`. QR codes with more modules are hard to scan.
    pub const MAX_LEN: usize = 500;

    /// Creates QR data of version 1. `expires_at` is in Unix seconds.
    ///
    /// # Errors
    /// Returns [`InvalidQrData::Webhook`] or [`InvalidQrData::TooLong`] if the webhook URL is not
    /// allowed or too long.
    pub fn new(webhook: Url, challenge: Challenge, expires_at: i64) -> Result<Self, InvalidQrData> {
        Self::with_signing(Signing::Sentence, webhook, challenge, expires_at)
    }

    /// Creates QR data that requires this rendering.
    ///
    /// # Errors
    /// Returns the errors of [`QrData::new`].
    pub fn with_signing(
        signing: Signing,
        webhook: Url,
        challenge: Challenge,
        expires_at: i64,
    ) -> Result<Self, InvalidQrData> {
        let qr = Self { webhook: allowed(webhook)?, challenge, expires_at, signing };
        match qr.to_string().len() {
            length if length > Self::MAX_LEN => Err(InvalidQrData::TooLong(length)),
            _ => Ok(qr),
        }
    }

    /// Parses scanned text. Parameters may be in any order, and unknown parameters are ignored.
    ///
    /// # Errors
    /// Returns the reason if the text is not the content of a login QR code.
    pub fn parse(text: &str) -> Result<Self, InvalidQrData> {
        if text.len() > MAX_SCANNED_LEN {
            return Err(InvalidQrData::NotScanned(text.len()));
        }
        let query = text.strip_prefix("svc://auth?").ok_or(InvalidQrData::Scheme)?;
        let signing = match &*value(query, "v")? {
            "1" => Signing::Sentence,
            "2" => Signing::HostBound { number: requires_number(query)? },
            other => return Err(InvalidQrData::Version(other.to_owned())),
        };
        let webhook = value(query, "webhook")?;
        if !unambiguous(&webhook) {
            return Err(InvalidQrData::Webhook);
        }
        let webhook = Url::parse(&webhook).map_err(|_| InvalidQrData::Webhook)?;
        let text = value(query, "challenge")?;
        let challenge = Challenge::parse(&text).map_err(|_| InvalidQrData::Challenge)?;
        if challenge.to_string() != text {
            return Err(InvalidQrData::Challenge);
        }
        let expires_at = value(query, "exp")?.parse().map_err(|_| InvalidQrData::Expiry)?;
        Self::with_signing(signing, webhook, challenge, expires_at)
    }

    /// Returns the URL that the wallet posts its answer to.
    #[must_use]
    pub fn webhook(&self) -> &Url {
        &self.webhook
    }

    /// Returns the challenge to sign.
    #[must_use]
    pub fn challenge(&self) -> &Challenge {
        &self.challenge
    }

    /// Returns the rendering that the wallet must sign.
    #[must_use]
    pub fn signing(&self) -> Signing {
        self.signing
    }

    /// Returns the time of expiry in Unix seconds.
    #[must_use]
    pub fn expires_at(&self) -> i64 {
        self.expires_at
    }
}

impl fmt::Display for QrData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let webhook = utf8_percent_encode(self.webhook.as_str(), ESCAPED);
        let (version, number) = match self.signing {
            Signing::Sentence => (1, ""),
            Signing::HostBound { number: false } => (2, ""),
            Signing::HostBound { number: true } => (2, "&number=1"),
        };
        let Self { challenge, expires_at, .. } = self;
        write!(f, "svc://auth?v={version}&webhook={webhook}&challenge={challenge}&exp={expires_at}{number}")
    }
}

fn allowed(webhook: Url) -> Result<Url, InvalidQrData> {
    let plain = matches!(webhook.scheme(), "http" | "https")
        && webhook.has_host()
        && webhook.username().is_empty()
        && webhook.password().is_none()
        && webhook.fragment().is_none()
        && unambiguous(webhook.as_str());
    if plain { Ok(webhook) } else { Err(InvalidQrData::Webhook) }
}

/// Returns `true` if a URL has no characters that parsers treat differently, so that the displayed
/// host is the contacted host.
fn unambiguous(url: &str) -> bool {
    url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// Returns `true` if content of version 2 requires the number that the page displays. Unknown
/// values are an error.
fn requires_number(query: &str) -> Result<bool, InvalidQrData> {
    match value(query, "number") {
        Ok(text) if text == "1" => Ok(true),
        Ok(_) => Err(InvalidQrData::Number),
        Err(InvalidQrData::Missing(_)) => Ok(false),
        Err(other) => Err(other),
    }
}

fn value(query: &str, name: &'static str) -> Result<String, InvalidQrData> {
    let mut values = query.split('&').filter_map(|pair| pair.split_once('=')).filter(|(key, _)| *key == name);
    let (_, value) = values.next().ok_or(InvalidQrData::Missing(name))?;
    if values.next().is_some() {
        return Err(InvalidQrData::Duplicate(name));
    }
    // Invalid UTF-8 becomes U+FFFD, which is not valid in any parameter.
    Ok(percent_decode_str(value).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::form_urlencoded;

    use super::*;
    use crate::challenge::tests::challenges;

    const CHALLENGE: &str = "svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAA";

    #[test]
    fn typical_code_is_small() {
        let webhook = Url::parse("https://example.com/webhooks/login").unwrap();
        let qr = QrData::new(webhook, Challenge::parse(CHALLENGE).unwrap(), 1_700_000_300).unwrap();
        let text =
            format!("svc://auth?v=1&webhook=https://example.com/webhooks/login&challenge={CHALLENGE}&exp=1700000300");
        assert_eq!(qr.to_string(), text);
        // At level M, version 7 (45 modules per side) has 122 bytes, and version 8 (49 modules) has
        // 152.
        assert!(text.len() <= 152, "{}", text.len());
    }

    #[test]
    fn query_delimiters_are_escaped() {
        let webhook = Url::parse("https://example.com/a+b;c%20d?x=1&y=2'(3)").unwrap();
        let qr = QrData::new(webhook, Challenge::parse(CHALLENGE).unwrap(), 0).unwrap();
        assert!(qr.to_string().contains("&webhook=https://example.com/a%2Bb%3Bc%2520d?x%3D1%26y%3D2%2527(3)&"), "{qr}");
        assert_eq!(QrData::parse(&qr.to_string()), Ok(qr));
    }

    #[test]
    fn oversized_webhook_is_an_error() {
        let challenge = Challenge::parse(CHALLENGE).unwrap();
        let base = "svc://auth?v=1&webhook=https://example.com/&challenge=&exp=0".len() + CHALLENGE.len();
        let webhook = |n: usize| Url::parse(&format!("https://example.com/{}", "a".repeat(n))).unwrap();
        assert_eq!(QrData::new(webhook(500 - base), challenge.clone(), 0).unwrap().to_string().len(), 500);
        assert_eq!(QrData::new(webhook(501 - base), challenge, 0), Err(InvalidQrData::TooLong(501)));
    }

    #[test]
    fn invalid_code_has_a_reason() {
        use InvalidQrData::{Challenge as C, Duplicate, Expiry, Missing, Number, Scheme, Version, Webhook};
        let good = format!("svc://auth?v=1&webhook=https://example.com/hook&challenge={CHALLENGE}&exp=1700000300");
        assert!(QrData::parse(&good).is_ok());
        assert!(QrData::parse(&good.replace("v=1&", "v=1&later=x&later=y&")).is_ok());
        let webhook = |text: &str| good.replace("https://example.com/hook", text);
        for (text, reason) in [
            (String::new(), Scheme),
            ("https://example.com/".to_owned(), Scheme),
            (good.replace("svc:", "svx:"), Scheme),
            (good.replace("auth?", "auth.example?"), Scheme),
            (good.replace("v=1", "v=3"), Version("3".to_owned())),
            (good.replace("v=1", "v=2") + "&number=0", Number),
            (good.replace("v=1", "v=2") + "&number=", Number),
            (good.replace("v=1", "v=2") + "&number=1&number=1", Duplicate("number")),
            (good.replace("v=1&", ""), Missing("v")),
            (good.replace("webhook=", "hook="), Missing("webhook")),
            (good.replace("&challenge", "&Challenge"), Missing("challenge")),
            (good.replace("&exp=", "&exp"), Missing("exp")),
            (format!("{good}&exp=1700009999"), Duplicate("exp")),
            (format!("{good}&webhook=https://evil.example/"), Duplicate("webhook")),
            (format!("{good}0x"), Expiry),
            (format!("{good}#a"), Expiry),
            (good.replace(CHALLENGE, "svc:login:example.com"), C),
            (good.replace(CHALLENGE, "Sign%20this%20to%20login%20to%20example.com%20at%201:AAAAAAAAAAAAAAAAAAAAAA"), C),
            (webhook(""), Webhook),
            (webhook("/hook"), Webhook),
            (webhook("ftp://example.com/hook"), Webhook),
            (webhook("javascript:alert(1)"), Webhook),
            (webhook("https://me@example.com/hook"), Webhook),
            (webhook("https://me:pw@example.com/hook"), Webhook),
            (webhook("https://evil.example\\@example.com/"), Webhook),
            (webhook("https://evil.example%5C@example.com/"), Webhook),
            (webhook("https://example.com/%20hook"), Webhook),
            (webhook("https://example.com/%0Ahook"), Webhook),
            (webhook("https://example.com/%23top"), Webhook),
            (webhook("https://ex%C3%A4mple.com/"), Webhook),
            (webhook("https://example.com/%FF"), Webhook),
        ] {
            assert_eq!(QrData::parse(&text), Err(reason), "{text}");
        }
        assert_eq!(QrData::parse(&"a".repeat(3000)), Err(InvalidQrData::NotScanned(3000)));
    }

    proptest! {
        #[test]
        fn code_round_trips_in_any_query_parser(
            challenge in challenges(), path in "(/[!-~äß ]{0,12}){0,4}", query in "(\\?[!-~é]{0,12})?", expires_at: i64,
        ) {
            let Ok(mut webhook) = Url::parse(&format!("https://example.com{path}{query}")) else { return Ok(()) };
            webhook.set_fragment(None);
            let Ok(qr) = QrData::new(webhook, challenge, expires_at) else { return Ok(()) };
            let text = qr.to_string();
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*,=:@/?%".contains(&b);
            prop_assert!(text.bytes().all(plain), "{}", text);
            prop_assert_eq!(QrData::parse(&text), Ok(qr.clone()));
            let read: Vec<_> = form_urlencoded::parse(text.split_once('?').unwrap().1.as_bytes()).collect();
            let exp = expires_at.to_string();
            let challenge = qr.challenge.to_string();
            let expected = [("v", "1"), ("webhook", qr.webhook.as_str()), ("challenge", &challenge), ("exp", &exp)];
            prop_assert!(read.iter().map(|(k, v)| (&**k, &**v)).eq(expected));
        }

        #[test]
        fn arbitrary_text_never_panics(text in "(svc://auth\\?)?\\PC{0,80}") {
            let _ = QrData::parse(&text);
        }
    }
}
