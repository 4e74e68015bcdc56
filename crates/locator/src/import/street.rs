//! Streets of several columns, and ZIP codes that a program has read as numbers.

use arcstr::ArcStr;

use crate::country::Country;

/// Countries that write the number of a house after the street.
#[rustfmt::skip]
const NUMBER_LAST: [&str; 30] = [
    "AR", "AT", "BE", "BG", "BR", "CH", "CL", "CO", "CZ", "DE", "DK", "EE", "ES", "FI", "GR", "HR", "HU", "IT", "LT",
    "LV", "MX", "NL", "NO", "PL", "PT", "RO", "SE", "SI", "SK", "TR",
];
/// States and territories whose ZIP codes begin with a zero.
const ZIP_WITH_ZERO: [&str; 9] = ["CT", "MA", "ME", "NH", "NJ", "PR", "RI", "VI", "VT"];
/// Digits of a ZIP code.
const ZIP_DIGITS: usize = 5;

/// Returns a street with the number of the house, in the order of the country, and with its second line.
pub(super) fn join_street(
    street: &str,
    number: Option<&str>,
    second: Option<&str>,
    country: Option<Country>,
) -> ArcStr {
    let mut whole = street.to_owned();
    if let Some(number) = number
        && !street.split([' ', ',']).any(|word| word == number)
    {
        let is_last = country.is_some_and(|country| NUMBER_LAST.contains(&country.code()));
        whole = if is_last { format!("{street} {number}") } else { format!("{number} {street}") };
    }
    if let Some(second) = second
        && second != whole
    {
        whole = format!("{whole}, {second}");
    }
    whole.into()
}

/// Returns the ZIP code of a number: `2134` in Massachusetts is 02134, and `78701.0` is 78701.
pub(super) fn zip_of_number(text: &str, region: Option<&str>) -> Option<ArcStr> {
    let digits = text.strip_suffix(".0").unwrap_or(text);
    if !(3..=ZIP_DIGITS).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let may_be_padded = region.is_some_and(|region| ZIP_WITH_ZERO.contains(&region)) && !digits.starts_with('0');
    if digits.len() < ZIP_DIGITS && !may_be_padded {
        return None;
    }
    Some(format!("{digits:0>ZIP_DIGITS$}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn street_has_its_number_once() {
        let germany = Country::parse("DE");
        for (street, number, second, country, expected) in [
            ("Main St", Some("100"), None, Some(Country::UNITED_STATES), "100 Main St"),
            ("Main St", Some("100"), Some("Suite 5"), None, "100 Main St, Suite 5"),
            ("Alexanderplatz", Some("1"), None, germany, "Alexanderplatz 1"),
            ("Alexanderplatz 1", Some("1"), None, germany, "Alexanderplatz 1"),
            ("100 Main St", None, Some("100 Main St"), None, "100 Main St"),
            ("Main St", None, None, None, "Main St"),
        ] {
            assert_eq!(join_street(street, number, second, country), expected);
        }
    }

    #[test]
    fn zeros_of_zip_codes_are_restored() {
        for (text, region, expected) in [
            ("2134", Some("MA"), Some("02134")),
            ("2134.0", Some("MA"), Some("02134")),
            ("901", Some("PR"), Some("00901")),
            ("78701.0", Some("TX"), Some("78701")),
            ("78701", None, Some("78701")),
            ("2134", Some("TX"), None),
            ("2134", None, None),
            ("21", Some("MA"), None),
            ("0213", Some("MA"), None),
            ("78701-1234", Some("TX"), None),
        ] {
            assert_eq!(zip_of_number(text, region).as_deref(), expected, "{text}");
        }
    }
}
