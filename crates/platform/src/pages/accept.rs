//! HTTP content negotiation (RFC 9110, section 12.5).

use std::cmp::Reverse;

use axum::http::{HeaderMap, HeaderName, header};

/// Maximum number of ranges of a header that are parsed.
const MAX_RANGES: usize = 32;

/// Returns the ranges of a header in order, each with its weight in thousandths. Omits invalid
/// ranges.
pub(super) fn ranges(headers: &HeaderMap, name: HeaderName) -> Vec<(&str, u16)> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).take(MAX_RANGES).filter_map(range).collect()
}

fn range(text: &str) -> Option<(&str, u16)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?;
    match parts.find_map(weight_parameter) {
        None => Some((name, 1000)),
        Some(weight) => Some((name, thousandths(weight)?)),
    }
}

fn weight_parameter(part: &str) -> Option<&str> {
    let (name, value) = part.split_once('=')?;
    if name.trim().eq_ignore_ascii_case("q") { Some(value.trim()) } else { None }
}

/// Parses a weight from `0` to `1` with at most three decimals, in thousandths.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, rest) = weight.split_once('.').unwrap_or((weight, ""));
    if !matches!(whole, "0" | "1") || rest.len() > 3 || !rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{whole}{rest:0<3}").parse().ok().filter(|weight| *weight <= 1000)
}

/// Returns `true` if the client prefers HTML: it accepts `text/html` by name, and JSON with no
/// higher weight.
#[must_use]
pub fn prefers_html(headers: &HeaderMap) -> bool {
    let html = weight(headers, "text/html");
    html > 0 && html >= weight(headers, "application/json")
}

/// Returns `true` if the client prefers JSON: it accepts `application/json` by name, and `text/html`
/// with a lower weight or not at all. Clients without a preference, such as `*/*`, do not.
#[must_use]
pub fn prefers_json(headers: &HeaderMap) -> bool {
    weight(headers, "application/json") > weight(headers, "text/html")
}

/// Returns `true` if the client accepts `text/html` by name, as browsers do for navigations; `*/*`
/// does not suffice.
#[must_use]
pub fn accepts_html_by_name(headers: &HeaderMap) -> bool {
    weight(headers, "text/html") > 0
}

/// Returns the language tags of `Accept-Language`, most preferred first. Omits `*` and tags of
/// weight 0.
#[must_use]
pub fn language_tags(headers: &HeaderMap) -> Vec<&str> {
    let mut found = ranges(headers, header::ACCEPT_LANGUAGE);
    found.retain(|(tag, weight)| *weight > 0 && *tag != "*");
    // The sort is stable, so the first of several equal weights is preferred.
    found.sort_by_key(|(_, weight)| Reverse(*weight));
    found.into_iter().map(|(tag, _)| tag).collect()
}

/// Returns the weight in thousandths of a media type that the client accepts by name.
fn weight(headers: &HeaderMap, name: &str) -> u16 {
    let ranges = ranges(headers, header::ACCEPT);
    let found = ranges.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
    found.map_or(0, |(_, weight)| *weight)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn accepts(lines: &[&str]) -> HeaderMap {
        lines.iter().map(|line| (header::ACCEPT, HeaderValue::from_str(line).unwrap())).collect()
    }

    #[test]
    fn ranges_have_weights() {
        let headers = accepts(&["a, B;q=0.5 , c ; x=1; Q=0.123", "d;q=0"]);
        assert_eq!(ranges(&headers, header::ACCEPT), [("a", 1000), ("B", 500), ("c", 123), ("d", 0)]);
        for wrong in ["a;q=2", "a;q=1.001", "a;q=0.1234", "a;q=-1", "a;q=", "a;q=nan", "a;q=.5", ";q=1", ""] {
            assert_eq!(ranges(&accepts(&[wrong]), header::ACCEPT), [], "{wrong}");
        }
        assert_eq!(ranges(&accepts(&[&"a,".repeat(100)]), header::ACCEPT).len(), MAX_RANGES);
    }

    #[test]
    fn language_tags_are_sorted_by_weight() {
        for (accepted, expected) in
            [("en;q=0.5, de-AT, *, fr;q=0, es;q=0.5", &["de-AT", "en", "es"][..]), ("*", &[]), ("", &[])]
        {
            let headers = HeaderMap::from_iter([(header::ACCEPT_LANGUAGE, HeaderValue::from_str(accepted).unwrap())]);
            assert_eq!(language_tags(&headers), expected, "{accepted}");
        }
    }

    #[test]
    fn json_is_preferred_by_name() {
        for (accept, is_preferred) in [
            ("application/json", true),
            ("application/json, text/html;q=0.9", true),
            ("application/json;q=0.5, */*", true),
            ("application/json;q=0", false),
            ("text/html, application/json", false),
            ("text/html,application/xhtml+xml,*/*;q=0.8", false),
            ("application/*", false),
            ("*/*", false),
            ("", false),
        ] {
            assert_eq!(prefers_json(&accepts(&[accept])), is_preferred, "{accept}");
        }
        assert!(!prefers_json(&HeaderMap::new()));
    }

    #[test]
    fn html_is_preferred_by_weight() {
        for (accept, is_preferred) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("Text/HTML", true),
            ("text/html, application/json;q=0.9", true),
            ("application/json, text/html;q=0.9", false),
            ("application/json", false),
            ("text/html;q=0", false),
            ("text/*", false),
            ("*/*", false),
            ("", false),
        ] {
            assert_eq!(prefers_html(&accepts(&[accept])), is_preferred, "{accept}");
        }
        assert!(!prefers_html(&HeaderMap::new()));
    }
}
