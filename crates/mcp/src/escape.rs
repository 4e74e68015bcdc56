//! JSON inside of JSON.

/// How many bytes are looked at at a time.
const STEP: usize = size_of::<u64>();

/// Whether any byte is a control character, which JSON has nowhere but between its tokens.
pub(crate) fn has_controls(json: &[u8]) -> bool {
    has_any(json, |byte| byte < b' ')
}

/// Whether a text stands in a JSON string as it is.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    !has_any(text, |byte| matches!(byte, 0..b' ' | b'"' | b'\\'))
}

/// Looks at all bytes, whatever it finds: without an end before the last, several are compared at a time.
fn has_any(bytes: &[u8], is_one: impl Fn(u8) -> bool) -> bool {
    bytes.iter().fold(0, |found, byte| found | u8::from(is_one(*byte))) != 0
}

/// Appends JSON without control characters as it stands in a JSON string: with quotation marks and backslashes escaped.
///
/// About every seventh byte of JSON is one of them: a search for the next, and a copy of what is between, each cost more
/// than looking at all.
pub(crate) fn push_escaped(out: &mut Vec<u8>, json: &[u8]) {
    let start = out.len();
    // Every byte may be one to escape.
    out.resize(start + 2 * json.len(), 0);
    let (escaped, mut end) = (&mut out[start..], 0);
    let mut rest = json;
    while let (Some(step), Some(space)) = (rest.first_chunk::<STEP>(), escaped[end..].first_chunk_mut::<STEP>()) {
        *space = *step;
        let plain = plain_bytes(*step);
        end += plain;
        if plain < STEP {
            escaped[end] = b'\\';
            escaped[end + 1] = step[plain];
            (end, rest) = (end + 2, &rest[plain + 1..]);
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

/// How many bytes stand before the first quotation mark or backslash.
fn plain_bytes(step: [u8; STEP]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    let bytes = u64::from_le_bytes(step);
    // Of a byte that is zero the highest bit is set; of one behind it, it may be.
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes & HIGH;
    let found = zero(bytes ^ (ONES * u64::from(b'"'))) | zero(bytes ^ (ONES * u64::from(b'\\')));
    (found.trailing_zeros() / u8::BITS) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_is_escaped_as_serde_does(text in r#"[ -~ä€𝄞"\\\u{80}-\u{ff}]{0,80}"#) {
            let mut out = b"before".to_vec();
            push_escaped(&mut out, text.as_bytes());
            let quoted = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(std::str::from_utf8(&out).unwrap(), format!("before{}", &quoted[1..quoted.len() - 1]));
            prop_assert_eq!(is_plain(text.as_bytes()), quoted.len() == text.len() + 2);
        }

        #[test]
        fn control_characters_are_found_wherever_they_are(text in "[ -~ä€]{0,70}", control in 0_u8..32, at in 0_usize..70) {
            let mut bytes = text.into_bytes();
            prop_assert!(!has_controls(&bytes));
            let at = at.min(bytes.len());
            bytes.insert(at, control);
            prop_assert!(has_controls(&bytes) && !is_plain(&bytes));
        }
    }
}
