//! The bech32 encoding of URLs (LUD-01).

use std::fmt;

use bech32::primitives::decode::{CheckedHrpstring, CheckedHrpstringError, ChecksumError};
use bech32::{Bech32, Hrp};

/// The human-readable part of a URL in bech32.
const PREFIX: Hrp = Hrp::parse_unchecked("lnurl");
/// Maximum number of characters for which the bech32 checksum reliably detects errors.
pub(super) const MAX_CHARS: usize = 1023;
/// Maximum number of bytes of a URL in [`MAX_CHARS`] characters, which encode five bits each,
/// except for the prefix and the checksum.
const MAX_BYTES: usize = 631;

/// A URL in bech32 (LUD-01), the only encoding that all Lightning wallets support.
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

/// Reason a text is not a URL in bech32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLnurl {
    /// The text is empty, or longer than the maximum for bech32.
    #[error("an LNURL has 1 to 1023 characters, not {0}: copy the whole text of the code and nothing else")]
    Length(usize),
    /// The text mixes upper and lower case.
    #[error("an LNURL is all in upper case or all in lower case: copy it again without changes")]
    MixedCase,
    /// The text contains characters that bech32 does not use.
    #[error("an LNURL has letters and digits alone, and no 1, b, i or o after lnurl1: copy the whole text again")]
    Characters,
    /// The checksum is wrong, because of a typing error or an incomplete text.
    #[error("the LNURL has a mistake or is cut off, by its checksum: copy the whole text again")]
    Checksum,
    /// The text is bech32 with another prefix, such as a Bitcoin address.
    #[error("not an LNURL: in bech32 it begins with lnurl1")]
    Prefix,
    /// The decoded bytes are not text.
    #[error("the LNURL contains no text: it contains a URL")]
    NotText,
}

impl Lnurl {
    /// Encodes a URL. Returns `None` if it has more than 631 bytes, because wallets may not support
    /// longer URLs.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Option<Self> {
        let url = url.into();
        (url.len() <= MAX_BYTES).then_some(Self { url })
    }

    /// Decodes bech32 in upper or lower case and returns the text, without checking that it is a
    /// URL.
    ///
    /// # Errors
    /// Returns the reason if the text is not valid bech32.
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

    /// Returns the text for a QR code. Upper case makes the code smaller. It has no scheme, because
    /// wallets do not support schemes in upper case.
    #[must_use]
    pub fn qr_text(&self) -> String {
        self.to_string().to_ascii_uppercase()
    }

    /// Returns a link that opens a wallet on the same device.
    #[must_use]
    pub fn link(&self) -> String {
        format!("lightning:{self}")
    }
}

impl fmt::Display for Lnurl {
    /// Writes the bech32 text in lower case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        bech32::encode_lower_to_fmt::<Bech32, _>(f, PREFIX, self.url.as_bytes()).map_err(|_| fmt::Error)
    }
}
