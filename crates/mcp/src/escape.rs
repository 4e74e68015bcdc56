//! Fast escaping of JSON text for embedding it in a JSON string.

/// Number of bytes that are processed at a time.
const STEP: usize = size_of::<u64>();
/// A word with the number 1 in each byte.
const ONES: u64 = u64::MAX / 0xff;

/// Returns `true` if JSON contains control characters. They are allowed only between tokens.
pub(crate) fn has_controls(json: &[u8]) -> bool {
    has_any(json, |byte| byte < b' ')
}

/// Returns `true` if a text needs no escaping in a JSON string.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    !has_any(text, |byte| matches!(byte, 0..b' ' | b'"' | b'\\'))
}

/// Returns `true` if any byte matches. There is no early exit, so that the compiler can vectorize the loop.
fn has_any(bytes: &[u8], matches: impl Fn(u8) -> bool) -> bool {
    bytes.iter().fold(0, |found, byte| found | u8::from(matches(*byte))) != 0
}

/// Appends JSON without control characters, with quotation marks and backslashes escaped for a JSON string.
///
/// About every seventh byte of JSON needs escaping, so searching for the next one and copying the bytes before it would
/// be slower than processing all bytes.
pub(crate) fn push_escaped(out: &mut Vec<u8>, json: &[u8]) {
    let start = out.len();
    // In the worst case, every byte is escaped.
    out.resize(start + 2 * json.len(), 0);
    let escaped = &mut out[start..];
    let mut end = 0;
    let mut rest = json;
    while let Some(step) = rest.first_chunk::<STEP>()
        && let Some(space) = escaped[end..].first_chunk_mut::<STEP>()
    {
        *space = *step;
        let plain = plain_bytes(*step);
        end += plain;
        if plain < STEP {
            escaped[end] = b'\\';
            escaped[end + 1] = step[plain];
            end += 2;
            rest = &rest[plain + 1..];
        } else {
            rest = &rest[STEP..];
        }
    }
    for byte in rest {
        if matches!(byte, b'"' | b'\\') {
            escaped[end] = b'\\';
            end += 1;
        }
        escaped[end] = *byte;
        end += 1;
    }
    out.truncate(start + end);
}

/// Returns the number of bytes before the first quotation mark or backslash.
fn plain_bytes(step: [u8; STEP]) -> usize {
    let bytes = u64::from_le_bytes(step);
    let found = zero_bytes(bytes ^ (ONES * u64::from(b'"'))) | zero_bytes(bytes ^ (ONES * u64::from(b'\\')));
    (found.trailing_zeros() / u8::BITS) as usize
}

/// Returns a word with the highest bit set in each zero byte. Bits above the first zero byte may be set incorrectly.
fn zero_bytes(bytes: u64) -> u64 {
    bytes.wrapping_sub(ONES) & !bytes & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn escaping_equals_that_of_serde(text in r#"[ -~ä€𝄞"\\\u{80}-\u{ff}]{0,80}"#) {
            let mut out = b"before".to_vec();
            push_escaped(&mut out, text.as_bytes());
            let quoted = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(std::str::from_utf8(&out).unwrap(), format!("before{}", &quoted[1..quoted.len() - 1]));
            prop_assert_eq!(is_plain(text.as_bytes()), quoted.len() == text.len() + 2);
        }

        #[test]
        fn control_characters_are_found_at_any_position(text in "[ -~ä€]{0,70}", control in 0_u8..32, at in 0_usize..70) {
            let mut bytes = text.into_bytes();
            prop_assert!(!has_controls(&bytes));
            let at = at.min(bytes.len());
            bytes.insert(at, control);
            prop_assert!(has_controls(&bytes) && !is_plain(&bytes));
        }
    }
}
