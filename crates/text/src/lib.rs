//! Removes invisible characters from untrusted text.
//!
//! A name, an address or a server's response may contain characters that are not displayed but have an effect: they
//! change the direction of a line, move a terminal's cursor, split a word that a user searches for, or contain text
//! that only programs read. They are removed; letters, marks, spaces and emoji stay:
//!
//! - control characters (C0, C1) and line breaks that are not allowed become a space;
//! - characters that Unicode calls *default ignorable* (bidirectional controls, zero-width characters, tags, variation
//!   selectors, fillers, the soft hyphen) and annotation marks are removed, unless they are part of the spelling:
//!   - a joiner or non-joiner that changes how letters join: after a virama, a non-joiner also between letters that
//!     would join (RFC 5892, appendix A; Persian, Hindi and others need them),
//!   - a joiner between emoji (UAX #29, GB11),
//!   - the text or emoji presentation selector after an emoji or in a keycap,
//!   - the first variation selector or vowel separator after a Mongolian letter.
//!
//! The flags of England, Scotland and Wales are spelt with tags and become black flags; Japanese names lose the
//! variant of an ideograph, not the ideograph.
//!
//! ```
//! assert_eq!(signpost_text::clean_line("Corner\u{200b} Shop\u{202e} \u{1f468}\u{200d}\u{1f469}"), "Corner Shop \u{1f468}\u{200d}\u{1f469}");
//! assert_eq!(signpost_text::clean_line("two\nlines\u{9b}31m"), "two lines 31m");
//! assert_eq!(signpost_text::escape_json("{\"name\":\"a\u{202e}b\"}"), r#"{"name":"a\u202eb"}"#);
//! ```

mod spelling;

use std::borrow::Cow;
use std::fmt::Write as _;

use spelling::Spelling;

/// Returns the text as a single line without invisible characters. Line breaks become spaces.
#[must_use]
pub fn clean_line(text: &str) -> Cow<'_, str> {
    rewritten(text, "", replacement)
}

/// Returns the text without invisible characters. Line feeds and tabs are preserved.
#[must_use]
pub fn clean_text(text: &str) -> Cow<'_, str> {
    rewritten(text, "\n\t", replacement)
}

/// Escapes invisible characters in a JSON document. The strings that it contains do not change.
#[must_use]
pub fn escape_json(document: &str) -> Cow<'_, str> {
    rewritten(document, "\r\n\t", |letter, out| {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}").expect("writing to a String cannot fail");
        }
    })
}

/// Appends the replacement of a removed character: a space for a line break or control character,
/// and nothing otherwise.
fn replacement(letter: char, out: &mut String) {
    if spelling::breaks_lines(letter) {
        out.push(' ');
    }
}

/// Number of bytes that are checked at once.
const BLOCK_BYTES: usize = 64;

/// Returns the text with the result of `replace` in place of each character that is neither
/// visible, nor part of the spelling of a word or an emoji, nor in `allowed`.
fn rewritten<'a>(text: &'a str, allowed: &str, replace: impl Fn(char, &mut String)) -> Cow<'a, str> {
    let bytes = text.as_bytes();
    // Most texts are plain ASCII, and checking a block costs as much as checking a few single
    // bytes.
    let plain = BLOCK_BYTES * bytes.chunks_exact(BLOCK_BYTES).take_while(|block| is_printable_ascii(block)).count();
    let first =
        bytes[plain..].iter().position(|byte| !matches!(byte, b' '..=b'~') && !allowed.as_bytes().contains(byte));
    let Some(first) = first else { return text.into() };
    // Only the last character of the preceding ASCII text can affect the spelling.
    let start = (plain + first).saturating_sub(1);
    let mut spelling = Spelling::default();
    let mut out = None::<String>;
    for (offset, letter) in text[start..].char_indices() {
        let position = start + offset;
        let after = &text[position + letter.len_utf8()..];
        if allowed.contains(letter) || spelling.allows(letter, after) {
            spelling.push(letter);
            if let Some(out) = &mut out {
                out.push(letter);
            }
        } else {
            let out = out.get_or_insert_with(|| text[..position].to_owned());
            let before = out.len();
            replace(letter, out);
            out[before..].chars().for_each(|letter| spelling.push(letter));
        }
    }
    out.map_or(text.into(), Into::into)
}

/// Returns `true` if all bytes are printable ASCII. It has no branch for each byte, so the compiler
/// can vectorize it.
fn is_printable_ascii(block: &[u8]) -> bool {
    block.iter().fold(true, |all, byte| all & matches!(*byte, b' '..=b'~'))
}
