//! Text that strangers wrote, without what a reader cannot see.
//!
//! A name, an address or a server's answer may carry characters that show nothing and do something: they turn the
//! direction of a line, move a terminal's cursor, split a word that somebody searches, or hold words that only a machine
//! reads. All of them go; letters, marks, spaces and emoji stay:
//!
//! - control characters (C0, C1) and line breaks that are none of the place's become a space;
//! - characters that Unicode calls *default ignorable* (bidirectional controls, zero-width characters, tags, variation
//!   selectors, fillers, the soft hyphen) and the marks of annotations are left out, except where they are spelling:
//!   - a joiner or non-joiner where it changes how letters join: after a virama, a non-joiner also between letters that
//!     would join (RFC 5892, appendix A; Persian, Hindi and others need them),
//!   - a joiner between emoji (UAX #29, GB11),
//!   - the choice between text and picture behind an emoji, and that of a keycap,
//!   - the one selector or vowel separator behind a Mongolian letter.
//!
//! The flags of England, Scotland and Wales are spelt with tags and become black flags; Japanese names lose which variant
//! of an ideograph is drawn, not the ideograph.
//!
//! ```
//! assert_eq!(signpost_text::line("Corner\u{200b} Shop\u{202e} \u{1f468}\u{200d}\u{1f469}"), "Corner Shop \u{1f468}\u{200d}\u{1f469}");
//! assert_eq!(signpost_text::line("two\nlines\u{9b}31m"), "two lines 31m");
//! assert_eq!(signpost_text::json("{\"name\":\"a\u{202e}b\"}"), r#"{"name":"a\u202eb"}"#);
//! ```

mod spelling;

use std::borrow::Cow;
use std::fmt::Write as _;

use spelling::Spelling;

/// A text on one line.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    rewritten(text, "", replacement)
}

/// A text on lines of its own: line feeds and tabs stay.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    rewritten(text, "\n\t", replacement)
}

/// A JSON document whose strings hold the same as before, with what cannot be seen written as escapes.
#[must_use]
pub fn json(document: &str) -> Cow<'_, str> {
    rewritten(document, "\r\n\t", |letter, out| {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}").expect("a string takes all that is written to it");
        }
    })
}

/// What stands for a character that does not stay.
fn replacement(letter: char, out: &mut String) {
    if spelling::breaks_lines(letter) {
        out.push(' ');
    }
}

/// How many bytes are looked at together.
const BLOCK: usize = 64;

/// The text with `instead` of each character that is neither visible, nor spelling, nor one of `allowed`.
fn rewritten<'a>(text: &'a str, allowed: &str, instead: impl Fn(char, &mut String)) -> Cow<'a, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') || allowed.as_bytes().contains(&byte);
    // Nearly all texts are plain ASCII, and a block is looked at as fast as a few bytes one by one.
    let is_ascii = |block: &&[u8]| block.iter().fold(true, |all, byte| all & matches!(*byte, b' '..=b'~'));
    let plain = BLOCK * text.as_bytes().chunks_exact(BLOCK).take_while(is_ascii).count();
    let rest = &text.as_bytes()[plain..];
    let Some(first) = rest.iter().position(|byte| !is_plain(*byte)).map(|at| plain + at) else { return text.into() };
    // ASCII before it is no spelling of what follows, but for the one character that it follows at once.
    let start = first.saturating_sub(1);
    let (mut spelling, mut out) = (Spelling::default(), None::<String>);
    for (at, letter) in text[start..].char_indices() {
        let (at, after) = (start + at, &text[start + at + letter.len_utf8()..]);
        if allowed.contains(letter) || spelling.keeps(letter, after) {
            spelling.kept(letter);
            if let Some(out) = &mut out {
                out.push(letter);
            }
        } else {
            let out = out.get_or_insert_with(|| text[..at].to_owned());
            let before = out.len();
            instead(letter, out);
            out[before..].chars().for_each(|letter| spelling.kept(letter));
        }
    }
    out.map_or(text.into(), Into::into)
}
