//! The pieces of an address on one line.

use super::postal_code::{is_district_number, is_label_word};

/// Maximum pieces of a line.
const MAX_PIECES: usize = 24;
/// Maximum words of the name of a country or division at the end of a piece.
const MAX_WORDS_AT_END: usize = 4;
/// Separators of pieces.
const SEPARATORS: [&str; 9] = [",", ";", "，", "、", " - ", " – ", " — ", " | ", " · "];

/// A piece of a line between separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AddressPiece<'a> {
    /// The text, without spaces at its ends; not empty.
    pub(super) text: &'a str,
    /// Its start in the line, in bytes.
    pub(super) start: usize,
}

/// Splits a line into its pieces. Those before the last 24 are a single piece.
pub(super) fn split_line(line: &str) -> Vec<AddressPiece<'_>> {
    let mut pieces = Vec::new();
    let mut end = line.len();
    while pieces.len() + 1 < MAX_PIECES {
        let rest = &line[..end];
        let last = SEPARATORS.iter().filter_map(|separator| Some((rest.rfind(separator)?, separator.len()))).max();
        let Some((at, length)) = last else { break };
        push_piece(&mut pieces, line, at + length, end);
        end = at;
    }
    push_piece(&mut pieces, line, 0, end);
    pieces.reverse();
    pieces
}

fn push_piece<'a>(pieces: &mut Vec<AddressPiece<'a>>, line: &'a str, start: usize, end: usize) {
    let text = &line[start..end];
    let start = start + text.len() - text.trim_start().len();
    let text = text.trim();
    if !text.is_empty() {
        pieces.push(AddressPiece { text, start });
    }
}

/// Returns the possible splits of a piece into a postcode at its start or end and the other words, the longest codes
/// first. The words are not checked.
pub(super) fn code_splits(text: &str) -> Vec<(&str, &str)> {
    let words = word_spans(text);
    let mut splits = Vec::new();
    for length in [2, 1] {
        if words.len() < length {
            continue;
        }
        let at_end = words.len() - length;
        let code = text[words[at_end].0..].trim_start_matches('〒');
        let before = if at_end > 0 && is_label_word(slice(text, words[at_end - 1])) { at_end - 1 } else { at_end };
        let rest = if before == 0 { "" } else { &text[..words[before - 1].1] };
        splits.push((code, rest));
        let start = usize::from(words.len() > length && is_label_word(slice(text, words[0])));
        let end = start + length;
        if end < words.len() {
            let code = text[words[start].0..words[end - 1].1].trim_start_matches('〒');
            splits.push((code, &text[words[end].0..]));
        }
    }
    splits.retain(|(code, _)| has_digits(code));
    splits
}

/// Returns the splits of a text before its last words, the longest end first.
pub(super) fn words_at_end(text: &str) -> Vec<(&str, &str)> {
    let words = word_spans(text);
    let first = words.len().saturating_sub(MAX_WORDS_AT_END).max(1);
    let starts = words.get(first..).unwrap_or_default();
    starts.iter().map(|(start, _)| (text[..*start].trim_end(), &text[*start..])).collect()
}

/// Returns a text without full stops and parentheses around it.
pub(super) fn without_code_marks(text: &str) -> &str {
    let text = text.trim_matches(['.', ' ']);
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inner.unwrap_or(text).trim()
}

/// Splits a name in parentheses off the end of a text, as in `Milano (MI)`.
pub(super) fn split_parentheses(text: &str) -> Option<(&str, &str)> {
    let (name, inner) = text.strip_suffix(')')?.rsplit_once('(')?;
    let name = name.trim_end();
    if name.is_empty() { None } else { Some((name, inner.trim())) }
}

/// Returns a city without the number of a district at its end, as in `Praha 1`.
pub(super) fn without_district(text: &str) -> &str {
    match text.rsplit_once(char::is_whitespace) {
        Some((city, number)) if is_district_number(number) => city.trim_end(),
        _ => text,
    }
}

pub(super) fn has_digits(text: &str) -> bool {
    text.contains(|letter: char| letter.is_numeric())
}

/// Returns the start and end of each word.
fn word_spans(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut end = 0;
    for word in text.split_whitespace() {
        let start = end + text[end..].find(word).unwrap_or_default();
        end = start + word.len();
        spans.push((start, end));
    }
    spans
}

fn slice(text: &str, (start, end): (usize, usize)) -> &str {
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<&str> {
        split_line(line).iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn line_is_split_at_its_separators() {
        for (line, expected) in [
            ("1 Main St, Austin", &["1 Main St", "Austin"][..]),
            ("Av. Paulista 1000, São Paulo - SP , 01310-100", &["Av. Paulista 1000", "São Paulo", "SP", "01310-100"]),
            (" , a ,, b; ", &["a", "b"]),
            ("東京都，日本", &["東京都", "日本"]),
            ("Boulogne-Billancourt", &["Boulogne-Billancourt"]),
            ("", &[]),
        ] {
            assert_eq!(texts(line), expected, "{line}");
            for piece in split_line(line) {
                assert!(line[piece.start..].starts_with(piece.text), "{line}");
            }
        }
        assert_eq!(split_line(&"a,".repeat(1_000)).len(), MAX_PIECES);
    }

    #[test]
    fn postcode_is_split_off_both_ends() {
        assert_eq!(code_splits("10178 Berlin"), [("10178 Berlin", ""), ("10178", "Berlin")]);
        assert_eq!(code_splits("London SW1A 1AA")[0], ("SW1A 1AA", "London"));
        assert_eq!(code_splits("CEP 01310-100"), [("CEP 01310-100", ""), ("01310-100", "")]);
        assert_eq!(code_splits("〒100-0005 Tokyo")[1], ("100-0005", "Tokyo"));
        assert_eq!(code_splits("C.P. 64000 Monterrey").last(), Some(&("64000", "Monterrey")));
        assert_eq!(code_splits("Berlin"), []);
        assert_eq!(code_splits(""), []);
    }

    #[test]
    fn words_at_the_end_are_split_longest_first() {
        assert_eq!(words_at_end("a b c"), [("a", "b c"), ("a b", "c")]);
        assert_eq!(words_at_end("a b c d e f").len(), MAX_WORDS_AT_END);
        assert_eq!((words_at_end("a"), words_at_end("")), (vec![], vec![]));
    }
}
