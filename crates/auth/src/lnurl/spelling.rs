use std::fmt;

use bech32::primitives::decode::{CheckedHrpstring, CheckedHrpstringError, ChecksumError};
use bech32::{Bech32, Hrp};

/// What stands before a URL in bech32.
const PREFIX: Hrp = Hrp::parse_unchecked("lnurl");
/// The length for which bech32's checksum is made: in more characters it does not find every mistake.
pub(super) const MAX_CHARS: usize = 1023;
/// The bytes of a URL that so many characters have room for: five bits in each that is not of the prefix or the checksum.
const MAX_BYTES: usize = 631;

/// A URL in bech32 (LUD-01): the only spelling that all Lightning wallets read.
///
/// ```
/// use signpost_auth::Lnurl;
///
/// let lnurl = Lnurl::new("https://example.com/?tag=login").unwrap();
/// assert!(lnurl.qr_text().starts_with("LNURL1"));
/// assert!(lnurl.link().starts_with("lightning:lnurl1"));
/// assert_eq!(Lnurl::decode(&lnurl.qr_text())?, "https://example.com/?tag=login");
/// # Ok::<(), signpost_auth::InvalidLnurl>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lnurl {
    url: String,
}

/// The text is not a URL in bech32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLnurl {
    /// Nothing, or more than bech32 is made for.
    #[error("an LNURL has 1 to 1023 characters, not {0}: copy the whole text of the code and nothing else")]
    Length(usize),
    /// Upper and lower case in one text.
    #[error("an LNURL is all in upper case or all in lower case: copy it again as it stands")]
    MixedCase,
    /// Letters that bech32 does not have.
    #[error("an LNURL has letters and digits alone, and no 1, b, i or o after lnurl1: copy the whole text again")]
    Characters,
    /// A mistake, or not the whole text.
    #[error("the LNURL has a mistake or is cut off, by its checksum: copy the whole text again")]
    Checksum,
    /// Bech32 of something else, such as an address.
    #[error("not an LNURL: in bech32 it begins with lnurl1")]
    Prefix,
    /// What is inside is no text.
    #[error("the LNURL contains no text: it contains a URL")]
    NotText,
}

impl Lnurl {
    /// The spelling of a URL; `None` where it is longer than 631 bytes, which no wallet has to read. It is spelled when it is
    /// shown.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Option<Self> {
        Some(Self { url: url.into() }).filter(|lnurl| lnurl.url.len() <= MAX_BYTES)
    }

    /// The text in bech32 of upper or lower case, which should be a URL.
    ///
    /// # Errors
    /// [`InvalidLnurl`] says what is wrong.
    pub fn decode(text: &str) -> Result<String, InvalidLnurl> {
        if text.is_empty() || text.len() > MAX_CHARS {
            return Err(InvalidLnurl::Length(text.chars().count()));
        }
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) && text.bytes().any(|byte| byte.is_ascii_lowercase()) {
            return Err(InvalidLnurl::MixedCase);
        }
        let read = CheckedHrpstring::new::<Bech32>(text).map_err(|error| match error {
            CheckedHrpstringError::Checksum(ChecksumError::InvalidResidue(_)) => InvalidLnurl::Checksum,
            _ => InvalidLnurl::Characters,
        })?;
        if read.hrp() != PREFIX {
            return Err(InvalidLnurl::Prefix);
        }
        String::from_utf8(read.byte_iter().collect()).map_err(|_| InvalidLnurl::NotText)
    }

    /// What a QR code contains: upper case, which makes it smaller, and no scheme, because wallets fail on one in upper
    /// case.
    #[must_use]
    pub fn qr_text(&self) -> String {
        self.to_string().to_ascii_uppercase()
    }

    /// The link that opens a wallet on the same device.
    #[must_use]
    pub fn link(&self) -> String {
        format!("lightning:{self}")
    }
}

impl fmt::Display for Lnurl {
    /// In lower case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        bech32::encode_lower_to_fmt::<Bech32, _>(f, PREFIX, self.url.as_bytes()).map_err(|_| fmt::Error)
    }
}
