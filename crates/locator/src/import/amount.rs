//! Amounts of money and percentages in the notations of several countries: `1,000.50`, `1.000,50 €`, `12,5 %`.

use crate::terms::Decimal;

/// Digits of a group of thousands.
const GROUP: usize = 3;

/// Parses an amount of money, with or without its currency.
///
/// The last of two different separators is the decimal separator. `1.000` may be one or a thousand, and is not read:
/// programs write amounts of money with two decimals or none.
pub(super) fn parse_amount(text: &str) -> Option<Decimal> {
    let number = without_currency(text);
    match number.rsplit_once(['.', ',']) {
        Some((whole, last))
            if last.len() == GROUP
                && number.contains('.')
                && !whole.contains(['.', ','])
                && !whole.starts_with('0') =>
        {
            None
        }
        _ => parse_decimal(number),
    }
}

/// Parses a percentage. A single comma is a decimal separator, because no percentage has thousands.
pub(super) fn parse_percent(text: &str) -> Option<Decimal> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.split_once(',') {
        Some((whole, decimals)) if !decimals.contains([',', '.']) => Decimal::parse(&format!("{whole}.{decimals}")),
        _ => Decimal::parse(number),
    }
}

/// Removes a currency sign or code at the start or the end.
fn without_currency(text: &str) -> &str {
    text.trim_matches(|letter: char| {
        letter.is_whitespace() || letter.is_alphabetic() || "$€£¥₩₹₺₽₴₪฿₫₱".contains(letter)
    })
}

/// Parses a number with thousands between commas or full stops, also with a space or an apostrophe.
fn parse_decimal(number: &str) -> Option<Decimal> {
    let number = number.replace(['\u{a0}', '\u{202f}', ' ', '\'', '’'], "");
    let Some(at) = number.rfind(['.', ',']) else { return Decimal::parse(&number) };
    let (whole, last) = (&number[..at], &number[at + 1..]);
    let separator = &number[at..=at];
    let is_repeated = whole.contains(separator);
    let other = if separator == "," { "." } else { "," };
    if is_repeated && whole.contains(other) {
        return None;
    }
    // `1,000,000`, `1.000.000` and `3,000` have no decimals.
    if is_repeated || (separator == "," && last.len() == GROUP && !whole.contains(other)) {
        return Decimal::parse(&number.replace('.', ","));
    }
    Decimal::parse(&format!("{}.{last}", whole.replace('.', ",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_parsed_in_several_notations() {
        for (text, expected) in [
            ("3000", Some("3000")),
            ("$3,000", Some("3000")),
            ("1,000.50", Some("1000.50")),
            ("1.000,50 €", Some("1000.50")),
            ("20,00", Some("20.00")),
            ("20.00", Some("20.00")),
            ("2.5", Some("2.5")),
            ("0.001", Some("0.001")),
            ("1.000.000", Some("1000000")),
            ("1,000,000", Some("1000000")),
            ("1 000 PLN", Some("1000")),
            ("CHF 1'000.00", Some("1000.00")),
            ("EUR 900", Some("900")),
            ("1.000", None),
            ("1.000 €", None),
            ("1,00,0", None),
            ("1.0.0", None),
            ("1,000.000,00", None),
            ("-5", None),
            ("none", None),
            ("", None),
            (",", None),
        ] {
            assert_eq!(parse_amount(text).as_ref().map(Decimal::as_str), expected, "{text}");
        }
    }

    #[test]
    fn percentages_have_a_decimal_comma_or_point() {
        for (text, expected) in [
            ("12.5%", Some("12.5")),
            ("12,5 %", Some("12.5")),
            ("12,500", Some("12.500")),
            ("12", Some("12")),
            ("1,2,3", None),
            ("5 to 9 %", None),
            ("%", None),
        ] {
            assert_eq!(parse_percent(text).as_ref().map(Decimal::as_str), expected, "{text}");
        }
    }
}
