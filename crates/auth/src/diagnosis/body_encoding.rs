//! Encodings of a body that receivers, gateways and editors apply to it before its signature is
//! verified.

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};
use serde_json::Value;

use super::python;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// An encoding of a received body, whose bytes differ from the signed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEncoding {
    /// A byte order mark before the body.
    ByteOrderMark,
    /// Line breaks of Windows, CR LF, instead of LF.
    CarriageReturns,
    /// ISO 8859-1 instead of UTF-8.
    Latin1,
    /// UTF-16 instead of UTF-8.
    Utf16,
    /// The body as a JSON string: `"{\"id\": …}"`.
    JsonString,
    /// The body in base64, as API gateways pass it.
    Base64,
    /// The body as Python prints bytes: `b'{"id": …}'`.
    PythonBytes,
}

impl BodyEncoding {
    /// All encodings, the most likely first.
    pub const ALL: [Self; 7] = [
        Self::JsonString,
        Self::Base64,
        Self::PythonBytes,
        Self::ByteOrderMark,
        Self::CarriageReturns,
        Self::Latin1,
        Self::Utf16,
    ];

    /// Returns the body in this encoding. Returns `None` if the encoding does not change the body
    /// or cannot represent it.
    #[must_use]
    pub fn encode(self, body: &[u8]) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(body).ok()?;
        let encoded = match self {
            Self::ByteOrderMark => [BYTE_ORDER_MARK, body].concat(),
            Self::CarriageReturns => text.replace("\r\n", "\n").replace('\n', "\r\n").into_bytes(),
            Self::Latin1 => text.chars().map(|letter| u8::try_from(letter).ok()).collect::<Option<_>>()?,
            Self::Utf16 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::JsonString => Value::String(text.to_owned()).to_string().into_bytes(),
            Self::Base64 => BASE64.encode(body).into_bytes(),
            Self::PythonBytes => python::quote_bytes(body).into_bytes(),
        };
        if encoded == body { None } else { Some(encoded) }
    }

    /// Returns the signed body of a body in this encoding. Returns `None` if it is not in this
    /// encoding.
    #[must_use]
    pub fn decode(self, body: &[u8]) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(body);
        match self {
            Self::ByteOrderMark => body.strip_prefix(BYTE_ORDER_MARK).map(<[u8]>::to_vec),
            Self::CarriageReturns => {
                let text = text.ok().filter(|text| text.contains("\r\n"))?;
                Some(text.replace("\r\n", "\n").into_bytes())
            }
            Self::Latin1 => {
                let is_other = text.is_err() && !body.contains(&0);
                is_other.then(|| body.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes())
            }
            Self::Utf16 => decode_utf16(body),
            Self::JsonString => serde_json::from_slice::<String>(body).ok().map(String::into_bytes),
            Self::Base64 => {
                let text = body.trim_ascii();
                let encodings = [BASE64, BASE64URL, BASE64_NOPAD, BASE64URL_NOPAD];
                let decoded = encodings.iter().find_map(|encoding| encoding.decode(text).ok())?;
                if decoded.trim_ascii().starts_with(b"{") { Some(decoded) } else { None }
            }
            Self::PythonBytes => python::unquote_bytes(text.ok()?),
        }
    }

    /// Describes the encoded body, as a continuation of "it signed".
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "the body behind a byte order mark (U+FEFF)",
            Self::CarriageReturns => "the body with CR LF instead of its line breaks",
            Self::Latin1 => "the body in Latin-1",
            Self::Utf16 => "the body in UTF-16",
            Self::JsonString => "the body as a JSON string, in quotes and with escapes",
            Self::Base64 => "the body in base64, as API gateways pass it",
            Self::PythonBytes => "the body as Python prints bytes: b'…'",
        }
    }
}

/// Decodes UTF-16 with a byte order mark, or with a zero in every second byte.
fn decode_utf16(body: &[u8]) -> Option<Vec<u8>> {
    let (pairs, []) = body.as_chunks::<2>() else { return None };
    let is_big_endian = match pairs.first()? {
        [0xfe, 0xff] | [0, 1..=0xff] => true,
        [0xff, 0xfe] | [1..=0xff, 0] => false,
        _ => return None,
    };
    let read = if is_big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
    let units: Vec<u16> = pairs.iter().map(|pair| read(*pair)).collect();
    let text = String::from_utf16(&units).ok()?;
    Some(text.trim_start_matches('\u{feff}').as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "{\"id\":\"evt_1\",\n\"name\":\"Zoë's \\\\ \"}";

    #[test]
    fn encodings_are_reversible() {
        for encoding in BodyEncoding::ALL {
            let encoded = encoding.encode(BODY.as_bytes()).unwrap();
            assert_eq!(encoding.decode(&encoded).as_deref(), Some(BODY.as_bytes()), "{encoding:?}");
            assert_eq!(encoding.decode(b"{\"id\":1}"), None, "{encoding:?}");
        }
    }

    #[test]
    fn utf16_with_byte_order_mark_is_decoded() {
        for read in [u16::to_le_bytes, u16::to_be_bytes] {
            let encoded: Vec<u8> = format!("\u{feff}{BODY}").encode_utf16().flat_map(read).collect();
            assert_eq!(BodyEncoding::Utf16.decode(&encoded).as_deref(), Some(BODY.as_bytes()));
        }
        assert_eq!(BodyEncoding::Utf16.decode(b"{"), None);
        assert_eq!(BodyEncoding::Utf16.decode(b""), None);
    }

    #[test]
    fn ascii_body_is_equal_in_latin_1() {
        assert_eq!(BodyEncoding::Latin1.encode(b"{}"), None);
        assert_eq!(BodyEncoding::Latin1.encode("{\"name\":\"東京\"}".as_bytes()), None);
        assert_eq!(BodyEncoding::CarriageReturns.encode(b"{}"), None);
    }
}
