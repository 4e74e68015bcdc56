//! Reads and writes literals as Python prints them, because some receivers sign the text of a
//! Python value instead of the received bytes.

use std::fmt::Write;

/// Returns bytes as Python prints them: `b'…'`.
pub(super) fn quote_bytes(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    let mut text = format!("b{quote}");
    for byte in bytes {
        match *byte {
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b'\\' => text.push_str("\\\\"),
            byte if char::from(byte) == quote => {
                text.push('\\');
                text.push(quote);
            }
            b' '..=b'~' => text.push(char::from(*byte)),
            byte => write!(text, "\\x{byte:02x}").expect("writing to a String cannot fail"),
        }
    }
    text.push(quote);
    text
}

/// Returns the bytes of a literal `b'…'`.
pub(super) fn unquote_bytes(text: &str) -> Option<Vec<u8>> {
    let literal = text.trim().strip_prefix('b')?;
    let quote = literal.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let (bytes, rest) = read_string(&literal[1..], quote)?;
    if rest.is_empty() { Some(bytes) } else { None }
}

/// Returns the JSON text of a printed dict: `{'id': 'evt_1'}`. Returns `None` for other texts.
pub(super) fn dict_to_json(text: &str) -> Option<String> {
    if !text.trim_start().starts_with("{'") {
        return None;
    }
    let mut json = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if matches!(first, '\'' | '"') {
            let (bytes, after) = read_string(&rest[1..], first)?;
            json.push_str(&serde_json::Value::String(String::from_utf8(bytes).ok()?).to_string());
            rest = after;
            continue;
        }
        let literals = [("True", "true"), ("False", "false"), ("None", "null")];
        let literal = literals.into_iter().find(|(python, _)| rest.starts_with(python));
        let (python, written) = literal.unwrap_or((&rest[..first.len_utf8()], &rest[..first.len_utf8()]));
        json.push_str(written);
        rest = &rest[python.len()..];
    }
    Some(json)
}

/// Reads a string literal after its first quote. Returns its bytes and the text after its last
/// quote.
fn read_string(text: &str, quote: char) -> Option<(Vec<u8>, &str)> {
    let mut bytes = Vec::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter == quote {
            return Some((bytes, &text[at + letter.len_utf8()..]));
        }
        if letter != '\\' {
            bytes.extend(letter.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        match letters.next()?.1 {
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'x' => {
                let digits = text.get(at + 2..at + 4)?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                letters.nth(1);
            }
            escaped => bytes.extend(escaped.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_python_prints_them() {
        assert_eq!(quote_bytes("{\"a\": \"ü\"}\n".as_bytes()), r#"b'{"a": "\xc3\xbc"}\n'"#);
        assert_eq!(quote_bytes(b"it's"), r#"b"it's""#);
        assert_eq!(unquote_bytes(r#"b'{"a": "\xc3\xbc"}\n'"#).unwrap(), "{\"a\": \"ü\"}\n".as_bytes());
        for text in ["", "b", "b'", "b'a", "b'a'b", "'a'", r"b'\x", r"b'\xg0'", "bü"] {
            assert_eq!(unquote_bytes(text), None, "{text}");
        }
    }

    #[test]
    fn printed_dict_is_converted_to_json() {
        let printed = r#"{'id': 'evt', "it's": [1, 2.5, True, None], 'text': 'ü "x" \\ \''}"#;
        let json = r#"{"id": "evt", "it's": [1, 2.5, true, null], "text": "ü \"x\" \\ '"}"#;
        assert_eq!(dict_to_json(printed).as_deref(), Some(json));
        for text in ["", "[object Object]", "{'id", "[1]", r#"{"id": 1}"#] {
            assert_eq!(dict_to_json(text), None, "{text}");
        }
    }
}
