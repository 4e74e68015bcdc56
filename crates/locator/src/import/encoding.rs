//! Encodings of files: UTF-16 with a byte order mark becomes UTF-8, and the tokens for numbers that JSON lacks become
//! null.

use std::borrow::Cow;

use super::error::ImportError;

/// The tokens that Python writes for numbers that JSON does not have.
const NOT_JSON: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

/// Converts UTF-16 with a byte order mark to UTF-8. Other files are returned as they are.
///
/// # Errors
/// [`ImportError::NotUtf8`], if the file is damaged UTF-16 or UTF-32.
pub(super) fn to_utf8(bytes: Cow<'_, [u8]>) -> Result<Cow<'_, [u8]>, ImportError> {
    let from_bytes = match bytes.first_chunk::<2>() {
        Some(b"\xff\xfe") => u16::from_le_bytes,
        Some(b"\xfe\xff") => u16::from_be_bytes,
        _ => return Ok(bytes),
    };
    if bytes.starts_with(b"\xff\xfe\0\0") {
        return Err(ImportError::NotUtf8 { line: 1, looks_like: "it looks like UTF-32" });
    }
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len() / 2);
    for letter in char::decode_utf16(pairs.iter().map(|pair| from_bytes(*pair))) {
        let Ok(letter) = letter else {
            return Err(ImportError::NotUtf8 { line: line_of(&text), looks_like: "it is damaged UTF-16" });
        };
        text.push(letter);
    }
    if !rest.is_empty() {
        return Err(ImportError::NotUtf8 { line: line_of(&text), looks_like: "it is truncated UTF-16" });
    }
    Ok(text.into_bytes().into())
}

/// Returns the number of the last line of a text, from 1.
fn line_of(text: &str) -> usize {
    1 + super::text::line_breaks(text.as_bytes())
}

/// Returns `true` if a file begins like JSON, or like a sequence of JSON texts (RFC 7464).
pub(super) fn looks_like_json(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'[' | 0x1e))
}

/// Replaces the tokens `NaN`, `Infinity` and `-Infinity` in a JSON document by null, so that only the values are
/// missing, and not the whole document. Python writes these tokens, which JSON does not allow.
pub(super) fn without_not_a_number(bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if !looks_like_json(&bytes) || !contains_token(&bytes) {
        return bytes;
    }
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut rest = &bytes[..];
    let mut in_string = false;
    while let Some(first) = rest.first() {
        let token = NOT_JSON.iter().find(|token| !in_string && rest.starts_with(token));
        if let Some(token) = token {
            replaced.extend_from_slice(b"null");
            rest = &rest[token.len()..];
            continue;
        }
        let length = if in_string && *first == b'\\' { 2 } else { 1 };
        in_string ^= *first == b'"';
        let (copied, after) = rest.split_at(length.min(rest.len()));
        replaced.extend_from_slice(copied);
        rest = after;
    }
    replaced.into()
}

fn contains_token(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text.contains("NaN") || text.contains("Infinity"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(to_bytes).collect()
    }

    #[test]
    fn utf_16_becomes_utf_8() {
        let text = "name,lat\nCafé 東京 👩,1\n";
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(to_utf8(utf16(text, to_bytes).into()).unwrap(), text.as_bytes());
        }
        assert_eq!(to_utf8(b"plain".into()).unwrap(), &b"plain"[..]);
        assert_eq!(to_utf8(b"\xff\xfe".into()).unwrap(), &b""[..]);
    }

    #[test]
    fn damaged_utf_16_is_rejected_with_its_line() {
        let mut lone = utf16("a\nb", u16::to_le_bytes);
        lone.extend([0x00, 0xd8, b'c', 0]);
        let mut cut = utf16("a\nb\n", u16::to_be_bytes);
        cut.push(0);
        for (bytes, line, looks_like) in [
            (lone, 2, "it is damaged UTF-16"),
            (cut, 3, "it is truncated UTF-16"),
            (b"\xff\xfe\0\0a\0\0\0".to_vec(), 1, "it looks like UTF-32"),
        ] {
            assert_eq!(to_utf8(bytes.into()), Err(ImportError::NotUtf8 { line, looks_like }));
        }
    }

    #[test]
    fn tokens_of_python_become_null() {
        let replace =
            |text: &'static str| String::from_utf8(without_not_a_number(text.as_bytes().into()).into()).unwrap();
        for (text, expected) in [
            (r#"[{"lat": NaN, "lon": -Infinity, "x": Infinity}]"#, r#"[{"lat": null, "lon": null, "x": null}]"#),
            (r#"{"a": "NaN, \"NaN\" \\", "b": NaN}"#, r#"{"a": "NaN, \"NaN\" \\", "b": null}"#),
            ("lat,lon\nNaN,1\n", "lat,lon\nNaN,1\n"),
            (r#"{"open": "NaN \"#, r#"{"open": "NaN \"#),
        ] {
            assert_eq!(replace(text), expected);
        }
    }
}
