//! Telephone numbers, web pages and email addresses in cells. Of several, the first is used.

use arcstr::ArcStr;

/// Minimum digits of each of several telephone numbers that are separated by a character of numbers.
const MIN_DIGITS_OF_SEVERAL: usize = 7;
/// Words and characters between telephone numbers that also occur inside of a number: `030/123456`.
const UNCERTAIN_SEPARATORS: [&str; 5] = [",", "/", " or ", " and ", " & "];
/// Words and characters between URLs.
const BETWEEN_URLS: [&str; 4] = ["or", "and", "&", "/"];

/// Parses the first telephone number of a text.
pub(super) fn phone(text: &str) -> Option<ArcStr> {
    text.split([';', '|']).map(first_number).find(|number| is_phone(number)).map(ArcStr::from)
}

/// Returns the text before the second telephone number.
fn first_number(text: &str) -> &str {
    let mut number = text.trim();
    number = number.strip_prefix("tel:").unwrap_or(number);
    // Some programs read telephone numbers as numbers with a fraction.
    number =
        number.strip_suffix(".0").filter(|whole| whole.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or(number);
    for separator in UNCERTAIN_SEPARATORS {
        if let Some((first, others)) = number.split_once(separator)
            && has_digits_of_several(first)
            && has_digits_of_several(others)
        {
            number = first.trim_end();
        }
    }
    // `+1 305 555 0100 +1 305 555 0101`
    let second = number.match_indices('+').map(|(at, _)| at).find(|at| *at > 0);
    match second {
        Some(at) if has_digits_of_several(&number[..at]) => number[..at].trim_end(),
        _ => number,
    }
}

fn has_digits_of_several(text: &str) -> bool {
    digits(text) >= MIN_DIGITS_OF_SEVERAL
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

fn is_phone(text: &str) -> bool {
    // The letters introduce extensions.
    (5..=20).contains(&digits(text))
        // A spreadsheet has rounded the number.
        && !text.contains("E+")
        && text.chars().all(|letter| letter.is_ascii_digit() || " +-().,/#:extEXT".contains(letter))
}

/// Parses the first of the `http` or `https` URLs of a text. A missing scheme is `https`.
pub(super) fn website(text: &str) -> Option<ArcStr> {
    let urls: Vec<&str> = text
        .split(|letter: char| letter.is_whitespace() || letter == '|')
        .map(|word| first_url(word.trim_matches([',', ';'])))
        .filter(|word| !word.is_empty() && !BETWEEN_URLS.contains(word))
        .collect();
    let (first, others) = urls.split_first()?;
    // Words beside a URL show that the text is something else.
    if others.iter().any(|other| parse_url(other).is_none()) {
        return None;
    }
    parse_url(first)
}

/// Returns the text before the second URL of a word. Commas and semicolons also occur in URLs.
fn first_url(word: &str) -> &str {
    const STARTS: [&str; 3] = ["http://", "https://", "www."];
    for (at, _) in word.match_indices([',', ';']) {
        let after = &word[at + 1..];
        if STARTS.iter().any(|start| after.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))) {
            return &word[..at];
        }
    }
    if parse_url(word).is_some() {
        return word;
    }
    match word.split_once([',', ';']) {
        Some((first, others)) if parse_url(first).is_some() && parse_url(others).is_some() => first,
        _ => word,
    }
}

fn parse_url(text: &str) -> Option<ArcStr> {
    let lower = text.to_ascii_lowercase();
    let without_scheme = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    let host = without_scheme.unwrap_or(&lower).split(['/', '?', '#']).next().unwrap_or_default();
    if !host.contains('.') || host.starts_with('.') || text.contains(' ') {
        return None;
    }
    if host.bytes().any(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b".-:".contains(&byte)) {
        return None;
    }
    Some(if without_scheme.is_some() { text.into() } else { format!("https://{text}").into() })
}

/// Parses the first email address of a text.
pub(super) fn email(text: &str) -> Option<ArcStr> {
    let separates = |letter: char| letter.is_whitespace() || ",;|".contains(letter);
    let mut addresses = text.split(separates).filter(|address| !address.is_empty());
    let first = addresses.next()?;
    if addresses.all(is_email) && is_email(first) { Some(first.into()) } else { None }
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else { return false };
    !name.is_empty()
        && host.contains('.')
        && !host.contains('@')
        && !text.contains(|letter: char| "<>()[]:\"".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_telephone_number_is_used() {
        for (text, expected) in [
            ("+1 305 555 0100", Some("+1 305 555 0100")),
            ("+1 305 555 0100; +1 305 555 0101", Some("+1 305 555 0100")),
            ("+1 305 555 0100;+1 305 555 0101", Some("+1 305 555 0100")),
            ("(305) 555-0100, (305) 555-0101", Some("(305) 555-0100")),
            ("305 555 0100 / 305 555 0101", Some("305 555 0100")),
            ("305 555 0100 or 305 555 0101", Some("305 555 0100")),
            ("+1 305 555 0100 +1 305 555 0101", Some("+1 305 555 0100")),
            ("305 555 0100 +1 305 555 0101", Some("305 555 0100")),
            ("call us; 305 555 0100", Some("305 555 0100")),
            ("tel:+1-305-555-0100", Some("+1-305-555-0100")),
            ("+1-305-555-0100;ext=5", Some("+1-305-555-0100")),
            ("030/1234567", Some("030/1234567")),
            ("+49 711 123456-7/8", Some("+49 711 123456-7/8")),
            ("555-0100, ext. 5", Some("555-0100, ext. 5")),
            ("00(+49) 30 1234567", Some("00(+49) 30 1234567")),
            ("5125550100.0", Some("5125550100")),
            ("512.555.0100", Some("512.555.0100")),
            ("5.12555E+09", None),
            ("call us", None),
            ("1234", None),
            ("", None),
        ] {
            assert_eq!(phone(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn first_url_is_used() {
        for (text, expected) in [
            ("https://example.com/a", Some("https://example.com/a")),
            ("example.com", Some("https://example.com")),
            ("https://example.com/a;https://example.com/b", Some("https://example.com/a")),
            ("https://example.com, http://example.org", Some("https://example.com")),
            ("example.com; example.org", Some("https://example.com")),
            ("example.com;example.org", Some("https://example.com")),
            ("www.example.com|www.example.org", Some("https://www.example.com")),
            ("https://example.com or https://example.org", Some("https://example.com")),
            ("https://example.com/@30.27,-97.74;z=5", Some("https://example.com/@30.27,-97.74;z=5")),
            ("https://example.com/?next=https://example.org", Some("https://example.com/?next=https://example.org")),
            ("see example.com", None),
            ("https://example.com and our shop", None),
            ("javascript:alert(1)", None),
            ("", None),
            (" ; ", None),
        ] {
            assert_eq!(website(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn first_email_address_is_used() {
        for (text, expected) in [
            ("a@example.com", Some("a@example.com")),
            ("a@example.com; b@example.com", Some("a@example.com")),
            ("a@example.com,b@example.com", Some("a@example.com")),
            ("write to a@example.com", None),
            ("a@b@example.com", None),
            ("a:b@example.com", None),
            ("@example.com", None),
        ] {
            assert_eq!(email(text).as_deref(), expected, "{text}");
        }
    }
}
