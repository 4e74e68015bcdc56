//! Rewrites JSON bodies as web frameworks do when they parse and serialize them again.

use std::fmt::Write;

use serde::de::IgnoredAny;
use serde_json::Value;

/// A text that a receiver signs instead of the received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyRewrite {
    /// An empty text, because the framework has already consumed the body.
    Empty,
    /// `[object Object]`, the text of a parsed body in JavaScript.
    ObjectName,
    /// The text of a parsed body in Python, such as `{'id': 'evt_1'}`.
    PythonText,
    /// The result of `JSON.stringify(body)`, such as `{"id":"evt_1"}`.
    Compact,
    /// The result of `json.dumps(body)`, such as `{"id": "evt_1"}`.
    Spaced,
    /// The result of `JSON.stringify(body, null, 2)`, indented by two spaces.
    IndentedByTwo,
    /// The result of `json.dumps(body, indent=4)`, indented by four spaces.
    IndentedByFour,
    /// Compact, with the keys in alphabetical order, as Go serializes a map.
    Sorted,
    /// The result of `json.dumps(body, sort_keys=True)`, with the keys in alphabetical order.
    SortedSpaced,
    /// Compact, with `<`, `>` and `&` escaped as `\u003c`, `\u003e` and `\u0026`, as Go serializes
    /// texts.
    HtmlEscaped,
}

/// The white space between the members of an object.
#[derive(Clone, Copy)]
enum Spacing {
    Compact,
    Spaced,
    Indented(usize),
}

/// The syntax of strings and literals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Json,
    /// JSON with all other characters than ASCII escaped.
    Ascii,
    Python,
}

impl BodyRewrite {
    /// All variants, most likely first.
    pub const ALL: [Self; 10] = [
        Self::Compact,
        Self::Spaced,
        Self::Sorted,
        Self::SortedSpaced,
        Self::Empty,
        Self::ObjectName,
        Self::PythonText,
        Self::IndentedByTwo,
        Self::IndentedByFour,
        Self::HtmlEscaped,
    ];

    /// Returns the body rewritten in this way. There are two results if it contains non-ASCII
    /// characters: unescaped and escaped. The list is empty if the body is not JSON.
    #[must_use]
    pub fn apply(self, body: &[u8]) -> Vec<String> {
        if self == Self::Empty {
            return vec![String::new()];
        }
        let Ok(text) = std::str::from_utf8(body) else { return Vec::new() };
        if serde_json::from_str::<IgnoredAny>(text).is_err() {
            return Vec::new();
        }
        match self {
            Self::Empty => vec![String::new()],
            Self::ObjectName => vec!["[object Object]".to_owned()],
            Self::PythonText => vec![rewrite(text, Spacing::Spaced, Syntax::Python)],
            Self::Compact => rewrite_twice(text, Spacing::Compact),
            Self::Spaced => rewrite_twice(text, Spacing::Spaced),
            Self::IndentedByTwo => rewrite_twice(text, Spacing::Indented(2)),
            Self::IndentedByFour => rewrite_twice(text, Spacing::Indented(4)),
            Self::Sorted => rewrite_twice(&sort(text), Spacing::Compact),
            Self::SortedSpaced => rewrite_twice(&sort(text), Spacing::Spaced),
            Self::HtmlEscaped => escape_html(text),
        }
    }

    /// Describes the signed text, as a continuation of the words "it signed".
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Empty => "an empty body, because the body had been read before",
            Self::ObjectName => "the text [object Object], which is what JavaScript makes of a parsed body",
            Self::PythonText => "the body as Python prints a dict, with single quotes",
            Self::Compact => "the body after it was parsed and written again without spaces, as JSON.stringify does",
            Self::Spaced => "the body after it was parsed and written again with spaces, as json.dumps does",
            Self::IndentedByTwo | Self::IndentedByFour => "the body after it was parsed and written again indented",
            Self::HtmlEscaped => {
                "the body after it was parsed and written again with <, > and & as \\u003c, \\u003e and \\u0026, as Go does"
            }
            Self::Sorted | Self::SortedSpaced => {
                "the body after it was parsed and written again with its keys in alphabetical order"
            }
        }
    }
}

/// Sorts the keys of a JSON text.
fn sort(json: &str) -> String {
    serde_json::from_str::<Value>(json).map(|value| value.to_string()).unwrap_or_default()
}

/// Rewrites a JSON text. Returns a second text with escapes if it contains non-ASCII characters.
fn rewrite_twice(json: &str, spacing: Spacing) -> Vec<String> {
    let mut both = vec![rewrite(json, spacing, Syntax::Json), rewrite(json, spacing, Syntax::Ascii)];
    both.dedup();
    both
}

/// Rewrites a JSON text as Go does: with the keys in their order, and in alphabetical order. Returns
/// nothing if the text contains no character that Go escapes.
fn escape_html(json: &str) -> Vec<String> {
    if !json.contains(['<', '>', '&']) {
        return Vec::new();
    }
    let mut both = Vec::from([json, &sort(json)].map(|text| {
        let compact = rewrite(text, Spacing::Compact, Syntax::Json);
        compact.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    }));
    both.dedup();
    both
}

/// Rewrites a valid JSON text without changing its values.
fn rewrite(json: &str, spacing: Spacing, syntax: Syntax) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let (token, behind) = rest.split_at(token_len(rest, first));
        rest = behind;
        match first {
            '{' | '[' => {
                out.push(first);
                // An empty object or array contains no line break.
                if let Some(closed) = rest.trim_start().strip_prefix(['}', ']']) {
                    out.push(if first == '{' { '}' } else { ']' });
                    rest = closed;
                } else {
                    depth += 1;
                    spacing.break_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                spacing.break_line(&mut out, depth);
                out.push(first);
            }
            ',' => {
                out.push(',');
                if let Spacing::Spaced = spacing {
                    out.push(' ');
                }
                spacing.break_line(&mut out, depth);
            }
            ':' => out.push_str(if let Spacing::Compact = spacing { ":" } else { ": " }),
            '"' => write_text(&mut out, token, syntax),
            _ if first.is_whitespace() => {}
            _ => out.push_str(match (syntax, token) {
                (Syntax::Python, "true") => "True",
                (Syntax::Python, "false") => "False",
                (Syntax::Python, "null") => "None",
                _ => token,
            }),
        }
    }
    out
}

impl Spacing {
    /// Writes a line break and the indentation if the spacing has line breaks.
    fn break_line(self, out: &mut String, depth: usize) {
        if let Self::Indented(by) = self {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', by * depth));
        }
    }
}

/// Returns the length in bytes of the first token of `text`.
fn token_len(text: &str, first: char) -> usize {
    match first {
        '"' => {
            let mut is_escaped = false;
            let end = text[1..].find(|letter: char| {
                let is_end = letter == '"' && !is_escaped;
                is_escaped = letter == '\\' && !is_escaped;
                is_end
            });
            end.map_or(text.len(), |end| end + 2)
        }
        '{' | '}' | '[' | ']' | ',' | ':' => 1,
        _ if first.is_whitespace() => first.len_utf8(),
        _ => text
            .find(|letter: char| letter.is_whitespace() || matches!(letter, '{' | '}' | '[' | ']' | ',' | ':'))
            .unwrap_or(text.len()),
    }
}

/// Writes a string with the escape sequences of the target syntax.
fn write_text(out: &mut String, token: &str, syntax: Syntax) {
    let Ok(text) = serde_json::from_str::<String>(token) else { return out.push_str(token) };
    if syntax == Syntax::Python {
        let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
        let text = text.replace('\\', "\\\\").replace('\n', "\\n").replace(quote, &format!("\\{quote}"));
        write!(out, "{quote}{text}{quote}").expect("writing to a String cannot fail");
        return;
    }
    let written = Value::String(text).to_string();
    if syntax == Syntax::Json {
        return out.push_str(&written);
    }
    for letter in written.chars() {
        if letter.is_ascii() {
            out.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("writing to a String cannot fail");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = " { \"id\" :\"\\u0065vt\",\n \"event\":\"test\", \"data\":{ }, \"b\":[1, 2.50,true , null], \"a\":{\"x\":\"ü\\n\\\"{\"} } ";

    #[test]
    fn rewrites_match_their_languages() {
        let applied = |body_rewrite: BodyRewrite| body_rewrite.apply(BODY.as_bytes());
        for (body_rewrite, expected) in [
            (BodyRewrite::Empty, &[""][..]),
            (BodyRewrite::ObjectName, &["[object Object]"]),
            (
                BodyRewrite::PythonText,
                &[r#"{'id': 'evt', 'event': 'test', 'data': {}, 'b': [1, 2.50, True, None], 'a': {'x': 'ü\n"{'}}"#],
            ),
            (
                BodyRewrite::Compact,
                &[
                    r#"{"id":"evt","event":"test","data":{},"b":[1,2.50,true,null],"a":{"x":"ü\n\"{"}}"#,
                    r#"{"id":"evt","event":"test","data":{},"b":[1,2.50,true,null],"a":{"x":"\u00fc\n\"{"}}"#,
                ],
            ),
            (
                BodyRewrite::SortedSpaced,
                &[
                    r#"{"a": {"x": "ü\n\"{"}, "b": [1, 2.5, true, null], "data": {}, "event": "test", "id": "evt"}"#,
                    r#"{"a": {"x": "\u00fc\n\"{"}, "b": [1, 2.5, true, null], "data": {}, "event": "test", "id": "evt"}"#,
                ],
            ),
        ] {
            assert_eq!(applied(body_rewrite), expected, "{body_rewrite:?}");
        }
        let indented = BodyRewrite::IndentedByTwo.apply(br#"{"a":1,"b":[2,{}],"c":[]}"#);
        assert_eq!(indented, ["{\n  \"a\": 1,\n  \"b\": [\n    2,\n    {}\n  ],\n  \"c\": []\n}"]);
        let beyond = BodyRewrite::Spaced.apply("{\"a\":\"😀\"}".as_bytes());
        assert_eq!(beyond[1], r#"{"a": "\ud83d\ude00"}"#);
    }

    #[test]
    fn invalid_json_is_not_rewritten() {
        for body in [&b"Gru\xdfe"[..], b"", b"{", b"{\"a\":1}x"] {
            for body_rewrite in BodyRewrite::ALL {
                let expected = if body_rewrite == BodyRewrite::Empty { vec![String::new()] } else { Vec::new() };
                assert_eq!(body_rewrite.apply(body), expected, "{body_rewrite:?}");
            }
        }
    }
}
