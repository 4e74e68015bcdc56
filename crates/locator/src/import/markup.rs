//! Converts cells with parts of web pages (character references, tags, line breaks) to plain text.

use std::borrow::Cow;

/// Names of the characters from U+00A0 to U+00FF in HTML, in this order.
const LATIN_1: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 \
                       sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute \
                       Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH \
                       Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN \
                       szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute \
                       icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml \
                       yacute thorn yuml";
/// Names of other characters in HTML.
const NAMED: [(&str, char); 19] = [
    ("amp", '&'),
    ("AMP", '&'),
    ("lt", '<'),
    ("LT", '<'),
    ("gt", '>'),
    ("GT", '>'),
    ("quot", '"'),
    ("QUOT", '"'),
    ("apos", '\''),
    ("euro", '€'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("hellip", '…'),
    ("bull", '•'),
    ("trade", '™'),
];
/// Characters of Windows-1252 for the numbers 128 to 159 (HTML, numeric character reference end state).
const WINDOWS_1252: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
/// Maximum length of a character reference after `&`, in bytes.
const MAX_REFERENCE: usize = 10;
/// Tags that begin or end a line.
const LINE_TAGS: [&str; 13] = ["br", "p", "div", "li", "ul", "ol", "tr", "h1", "h2", "h3", "h4", "h5", "h6"];

/// Returns the text of a cell with `\n` as its only line break: character references are decoded once, then tags are
/// removed. The line breaks of all systems, `<br>` and similar tags, and `\n` written as two characters become `\n`.
///
/// No tag remains, not even between the parts of another tag. Invisible characters remain: callers must remove
/// them afterwards.
pub(super) fn plain_text(cell: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| (byte >= b' ' || byte == b'\t') && byte < 0x80 && !b"&<\\".contains(&byte);
    if cell.bytes().all(is_plain) {
        return cell.into();
    }
    let decoded = decode_references(cell);
    let text = strip_tags(&decoded);
    let text = text.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\r\n", "\n");
    text.replace(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'], "\n").into()
}

/// Joins lines with a separator, without blank lines and without the separators at the ends of lines.
pub(super) fn join_lines(lines: &[String], separator: &str) -> String {
    let lines = lines.iter().map(|line| line.trim().trim_end_matches([',', ';']).trim_end());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(separator)
}

/// Decodes character references such as `&amp;`, `&#39;` and `&#x27;`, once. Unknown references remain unchanged.
fn decode_references(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return text.into();
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some((letter, length)) = reference(after) {
            decoded.push(letter);
            rest = &after[length..];
        } else {
            decoded.push('&');
            rest = after;
        }
    }
    decoded.push_str(rest);
    decoded.into()
}

/// Parses the character reference at the start of a text, after its `&`. Returns its character and its length.
fn reference(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(MAX_REFERENCE).position(|byte| byte == b';')?;
    let name = &text[..end];
    let letter = match name.strip_prefix('#') {
        Some(number) => numbered(number)?,
        None => named(name)?,
    };
    Some((letter, end + 1))
}

fn numbered(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
        None => number.parse().ok()?,
    };
    match code {
        128..=159 => WINDOWS_1252.chars().nth(usize::try_from(code).ok()? - 128),
        _ => char::from_u32(code),
    }
}

fn named(name: &str) -> Option<char> {
    if let Some((_, letter)) = NAMED.iter().find(|(known, _)| *known == name) {
        return Some(*letter);
    }
    let at = LATIN_1.split_ascii_whitespace().position(|known| known == name)?;
    char::from_u32(0xa0 + u32::try_from(at).ok()?)
}

/// Removes tags, and replaces each of [`LINE_TAGS`] with a line break.
fn strip_tags(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    // The positions of `<` in the result, each the possible start of a tag.
    let mut starts: Vec<usize> = Vec::new();
    for letter in text.chars() {
        if letter == '<' {
            starts.push(plain.len());
        }
        if letter == '>'
            && let Some(start) = last_tag(&plain, &mut starts)
        {
            let is_line_break = breaks_line(&plain[start + 1..]);
            plain.truncate(start);
            if is_line_break {
                plain.push('\n');
            }
            continue;
        }
        plain.push(letter);
    }
    plain.into()
}

/// Returns the start of the last tag in a text. Removes it and later positions from the list.
fn last_tag(plain: &str, starts: &mut Vec<usize>) -> Option<usize> {
    while let Some(start) = starts.pop() {
        let next = plain[start + 1..].chars().next();
        if next.is_some_and(|letter| letter.is_ascii_alphabetic() || "/!?".contains(letter)) {
            return Some(start);
        }
    }
    None
}

/// Checks whether a tag begins or ends a line, by its text between the angle brackets.
fn breaks_line(tag: &str) -> bool {
    let tag = tag.trim_start_matches('/');
    let end = tag.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(tag.len());
    LINE_TAGS.iter().any(|known| known.eq_ignore_ascii_case(&tag[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_decoded_once_before_tags_are_removed() {
        for (cell, expected) in [
            ("Tom &amp; Jerry&#39;s", "Tom & Jerry's"),
            ("Caf&eacute; &#x2013; &uuml;&Yuml;", "Café – ü&Yuml;"),
            ("&#146;&#8364;&yen;", "’€¥"),
            ("&amp;lt;b&amp;gt;", "&lt;b&gt;"),
            ("&lt;script&gt;alert(1)&lt;/script&gt;", "alert(1)"),
            ("<b>Corner</b> <i class=\"x\">Shop</i>", "Corner Shop"),
            ("AT&T, R&D; &nosuch; &#xD800; &#99999999; &;", "AT&T, R&D; &nosuch; &#xD800; &#99999999; &;"),
            ("fee < 5 > 3 and <3", "fee < 5 > 3 and <3"),
            ("<<b>b>x", "x"),
            ("<scr<b>ipt>x", "x"),
            ("<unclosed", "<unclosed"),
            ("a&", "a&"),
            ("é", "é"),
        ] {
            let plain = plain_text(cell);
            assert_eq!(plain, expected, "{cell}");
            assert_eq!(strip_tags(&plain), plain, "no tag is left of {cell}");
        }
    }

    fn joined(text: &str, separator: &str) -> String {
        join_lines(&text.split('\n').map(str::to_owned).collect::<Vec<_>>(), separator)
    }

    #[test]
    fn line_breaks_of_all_kinds_separate() {
        for cell in [
            "a\nb",
            "a\r\nb",
            "a\rb",
            "a<br>b",
            "a<BR />b",
            "a\\nb",
            "a\\r\\nb",
            "a\u{2028}b",
            "a&#10;b",
            "<p>a</p><p>b</p>",
        ] {
            assert_eq!(joined(&plain_text(cell), "; "), "a; b", "{cell}");
        }
        assert_eq!(joined("1 Main St,\n\n Austin ; \nTX", ", "), "1 Main St, Austin, TX");
        assert_eq!(joined("\n , \n", ", "), "");
    }

    #[test]
    fn hostile_markup_is_read_in_linear_time() {
        for part in ["<", ">", "&", "<a", "< >", "<b>", "&#", "&lt;", "<<b>"] {
            let cell = part.repeat(100_000);
            let plain = plain_text(&cell);
            assert!(plain.len() <= cell.len(), "{part}");
            assert_eq!(strip_tags(&plain), plain, "{part}");
        }
    }
}
