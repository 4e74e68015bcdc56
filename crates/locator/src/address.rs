//! Postal addresses, with a parser for addresses of the United States and Canada.

use std::borrow::Cow;

use arcstr::ArcStr;
use serde::{Deserialize, Serialize};

use crate::country::Country;
use crate::region::Region;

/// A postal address. Unknown parts are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Address {
    /// The house number, the street and all other text before the city.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub street: Option<ArcStr>,
    /// The city.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<ArcStr>,
    /// The code of the [`Region`] in the United States and Canada; the text of the source in other countries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<ArcStr>,
    /// The postcode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postcode: Option<ArcStr>,
    /// The country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    /// The complete address on one line, as in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formatted: Option<ArcStr>,
}

impl Address {
    /// Returns `true` if all parts are unknown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the address on one line, as written in the source or joined from its parts. Returns `None` if only the
    /// country is known.
    ///
    /// ```
    /// # use signpost_locator::Address;
    /// let mut address = Address { street: Some("1 Main St".into()), ..Address::default() };
    /// address.city = Some("Austin".into());
    /// address.region = Some("TX".into());
    /// address.postcode = Some("78701".into());
    /// assert_eq!(address.one_line().as_deref(), Some("1 Main St, Austin, TX 78701"));
    /// ```
    #[must_use]
    pub fn one_line(&self) -> Option<Cow<'_, str>> {
        if let Some(written) = &self.formatted {
            return Some(Cow::Borrowed(written));
        }
        let end = join_present([self.region.as_deref(), self.postcode.as_deref()], " ");
        join_present([self.street.as_deref(), self.city.as_deref(), end.as_deref()], ", ").map(Cow::Owned)
    }

    /// Parses a one-line address of the United States or Canada. Returns `None` unless it ends in a region, optionally
    /// followed by a postcode and a country. `formatted` of the result is the line itself.
    ///
    /// ```
    /// # use signpost_locator::Address;
    /// let address = Address::parse("398 San Juan Ave, Alamosa, CO 81101").unwrap();
    /// assert_eq!(address.street.as_deref(), Some("398 San Juan Ave"));
    /// assert_eq!(address.city.as_deref(), Some("Alamosa"));
    /// assert_eq!(address.region.as_deref(), Some("CO"));
    /// assert_eq!(address.postcode.as_deref(), Some("81101"));
    /// ```
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut parts: Vec<&str> = line.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        if parts.len() > 1 && is_country_here(parts.last()?) {
            parts.pop();
        }
        let (rest, postcode) = split_postcode(parts.pop()?);
        let rest = if rest.is_empty() { parts.pop()? } else { rest };
        let (city, region) = split_region(rest, Region::parse)?;
        if postcode.as_ref().is_some_and(|(_, country)| *country != region.country()) {
            return None;
        }
        let city = if city.is_empty() { parts.pop() } else { Some(city) };
        Some(Self {
            street: Some(parts.join(", ")).filter(|street| !street.is_empty()).map(ArcStr::from),
            city: city.map(ArcStr::from),
            region: Some(region.code().into()),
            postcode: postcode.map(|(postcode, _)| postcode.into()),
            country: Some(region.country()),
            formatted: Some(line.trim().into()),
        })
    }
}

/// Joins the parts that are present. Returns `None` if the result is empty.
fn join_present<const N: usize>(parts: [Option<&str>; N], separator: &str) -> Option<String> {
    let line = parts.into_iter().flatten().collect::<Vec<_>>().join(separator);
    if line.is_empty() { None } else { Some(line) }
}

/// Parses a postcode of the United States or Canada. Returns it in its usual form (`78701`, `78701-1234`, `M5V 2T6`)
/// with its country.
pub(crate) fn parse_postcode(text: &str) -> Option<(String, Country)> {
    if !text.contains(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let bare: String = text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>().to_ascii_uppercase();
    let shape: String = bare
        .chars()
        .map(|letter| match letter {
            '0'..='9' => '9',
            'A'..='Z' => 'A',
            other => other,
        })
        .collect();
    match shape.as_str() {
        "99999" | "99999-9999" => Some((bare, Country::UNITED_STATES)),
        "A9A9A9" => Some((format!("{} {}", &bare[..3], &bare[3..]), Country::CANADA)),
        _ => None,
    }
}

/// Parses the first half of a Canadian postal code, such as `M5V`. The first letter cannot be D, F, I, O, Q, U, W or Z.
pub(crate) fn parse_forward_sortation_area(text: &str) -> Option<(String, Country)> {
    let text = text.trim();
    if text.len() != 3 {
        return None;
    }
    let code = text.to_ascii_uppercase();
    let [first, digit, last] = code.as_bytes().try_into().ok()?;
    let begins = first.is_ascii_uppercase() && !b"DFIOQUWZ".contains(&first);
    (begins && digit.is_ascii_digit() && last.is_ascii_uppercase()).then_some((code, Country::CANADA))
}

/// Checks whether a text names the United States or Canada and cannot be a region: `CA` in an address is California.
fn is_country_here(text: &str) -> bool {
    let here = !text.contains(|letter: char| letter.is_ascii_digit())
        && matches!(Country::parse(text), Some(Country::UNITED_STATES | Country::CANADA));
    here && Region::parse(text).is_none()
}

/// Splits a postcode off the end of a text.
pub(crate) fn split_postcode(text: &str) -> (&str, Option<(String, Country)>) {
    // A Canadian postcode is written as one or two words.
    let mut breaks = text.rmatch_indices(char::is_whitespace).map(|(at, _)| at);
    let starts = [breaks.next(), breaks.next(), Some(0)];
    for start in starts.into_iter().flatten() {
        if let Some(postcode) = parse_postcode(&text[start..]) {
            return (text[..start].trim(), Some(postcode));
        }
    }
    (text, None)
}

/// Splits a region off the end of a text. `parse` is [`Region::parse`], or [`Region::parse_ending`] if the name may be
/// abbreviated, as in `Boston Mass`.
pub(crate) fn split_region(text: &str, parse: fn(&str) -> Option<Region>) -> Option<(&str, Region)> {
    if let Some(region) = parse(text) {
        return Some(("", region));
    }
    // The longest match takes precedence: West Virginia is not Virginia. No region has more than three words.
    let breaks: Vec<usize> = text.rmatch_indices(char::is_whitespace).map(|(at, _)| at).take(3).collect();
    breaks.into_iter().rev().find_map(|at| Some((text[..at].trim(), parse(&text[at..])?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line, and the expected street, city, region, postcode and country.
    #[rustfmt::skip]
    const LINES: [(&str, [&str; 5]); 18] = [
        ("398 San Juan Ave, Alamosa, CO 81101", ["398 San Juan Ave", "Alamosa", "CO", "81101", "US"]),
        ("1 Main St, Suite 4, Austin, TX 78701-1234", ["1 Main St, Suite 4", "Austin", "TX", "78701-1234", "US"]),
        ("1 Main St, Austin, TX, 78701, USA", ["1 Main St", "Austin", "TX", "78701", "US"]),
        ("1 Main St, Austin, Texas 78701", ["1 Main St", "Austin", "TX", "78701", "US"]),
        ("1 Main St, Austin TX 78701", ["1 Main St", "Austin", "TX", "78701", "US"]),
        ("1 Main St, Austin, TX", ["1 Main St", "Austin", "TX", "", "US"]),
        ("5 Broadway, New York, New York 10004", ["5 Broadway", "New York", "NY", "10004", "US"]),
        ("5 Broadway, New York, NY 10004, United States", ["5 Broadway", "New York", "NY", "10004", "US"]),
        ("1 Main St, Charleston West Virginia", ["1 Main St", "Charleston", "WV", "", "US"]),
        ("Taber, ID 83221", ["", "Taber", "ID", "83221", "US"]),
        ("Austin TX", ["", "Austin", "TX", "", "US"]),
        ("TX", ["", "", "TX", "", "US"]),
        ("100 King St W, Toronto, ON M5X 1A9", ["100 King St W", "Toronto", "ON", "M5X 1A9", "CA"]),
        ("100 King St W, Toronto, ON M5X1A9, Canada", ["100 King St W", "Toronto", "ON", "M5X 1A9", "CA"]),
        ("100 King St W, Toronto, Ontario, m5x 1a9", ["100 King St W", "Toronto", "ON", "M5X 1A9", "CA"]),
        ("1 Rue X, Montréal, Québec H2X 1Y4", ["1 Rue X", "Montréal", "QC", "H2X 1Y4", "CA"]),
        ("1 Pine St, San Francisco, CA", ["1 Pine St", "San Francisco", "CA", "", "US"]),
        (" , 1 Main St ,, Austin ,  TX  78701 , ", ["1 Main St", "Austin", "TX", "78701", "US"]),
    ];

    #[test]
    fn us_and_canadian_addresses_are_parsed() {
        for (line, expected) in LINES {
            let address = Address::parse(line).unwrap_or_else(|| panic!("{line}"));
            let country = address.country.map(|country| country.code().into());
            let parts = [address.street, address.city, address.region, address.postcode, country];
            assert_eq!(parts.map(Option::unwrap_or_default), expected, "{line}");
            assert_eq!(address.formatted.as_deref(), Some(line.trim()));
        }
    }

    #[test]
    fn other_texts_are_not_addresses() {
        for line in [
            "",
            " , ,",
            "Unter den Linden 1, 10117 Berlin",
            "Main St",
            "USA",
            "78701",
            "1 Main St, Austin, TX M5X 1A9",
            "é",
        ] {
            assert_eq!(Address::parse(line), None, "{line}");
        }
    }

    #[test]
    fn address_line_is_original_or_assembled() {
        let known = |text: &str| Some(text.into());
        for (address, expected) in [
            (Address::default(), None),
            (Address { country: Some(Country::CANADA), ..Address::default() }, None),
            (Address { city: known("Austin"), region: known("TX"), ..Address::default() }, Some("Austin, TX")),
            (Address { city: known("Austin"), formatted: known("as given"), ..Address::default() }, Some("as given")),
        ] {
            assert_eq!(address.one_line().as_deref(), expected);
        }
    }
}
