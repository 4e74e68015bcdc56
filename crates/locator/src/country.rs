//! Countries by code and name.

mod table;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize};

use crate::fold::fold;
use crate::stored_form::from_text;
use table::{COUNTRIES, CountryRow};

/// Every country by its codes in lower case and its folded names; of two meanings of one text, a code is meant.
static NAMED: LazyLock<HashMap<String, Country>> = LazyLock::new(|| {
    let country = |row: &CountryRow| Country(row.0.as_bytes().try_into().unwrap_or_default());
    let codes = COUNTRIES.iter().flat_map(|row| [row.0, row.1].map(|code| (code.to_ascii_lowercase(), country(row))));
    let mut named: HashMap<_, _> = codes.collect();
    for row in &COUNTRIES {
        for name in row.3 {
            named.entry((*name).to_owned()).or_insert_with(|| country(row));
        }
    }
    named
});

/// A country, by its ISO 3166-1 code of two letters. Written as that code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct Country([u8; 2]);

impl Country {
    /// Canada.
    pub const CANADA: Self = Self(*b"CA");
    /// The United States; its territories (Puerto Rico, Guam …) have codes of their own as countries, and are
    /// [`Region`](crate::Region)s of this one.
    pub const UNITED_STATES: Self = Self(*b"US");

    /// The country with this code of two or three letters or this English name, in any case.
    ///
    /// ```
    /// # use signpost_locator::Country;
    /// for text in ["us", "U.S.A.", " United States ", "America"] {
    ///     assert_eq!(Country::parse(text), Some(Country::UNITED_STATES));
    /// }
    /// assert_eq!(Country::parse("Atlantis"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let as_stored = |row: &CountryRow| row.0.cmp(text);
        match COUNTRIES.binary_search_by(as_stored) {
            Ok(_) => text.as_bytes().try_into().ok().map(Self),
            Err(_) => Self::parse_folded(text, &fold(text)),
        }
    }

    /// The same of a text whose folded form is known.
    pub(crate) fn parse_folded(text: &str, name: &str) -> Option<Self> {
        // Folding takes a code such as MT for an abbreviation.
        let code = text.trim();
        let of_code = || {
            let mut lower = [0; 3];
            let lower = lower.get_mut(..code.len())?;
            lower.copy_from_slice(code.as_bytes());
            lower.make_ascii_lowercase();
            NAMED.get(std::str::from_utf8(lower).ok()?)
        };
        of_code().or_else(|| NAMED.get(name)).copied()
    }

    /// The two letters, in upper case.
    #[must_use]
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The English name.
    #[must_use]
    pub fn name(self) -> &'static str {
        COUNTRIES.binary_search_by_key(&self.0.as_slice(), |row| row.0.as_bytes()).map_or("", |at| COUNTRIES[at].2)
    }
}

impl fmt::Debug for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Country({})", self.code())
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl From<Country> for String {
    fn from(country: Country) -> Self {
        country.code().to_owned()
    }
}

impl<'de> Deserialize<'de> for Country {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, |text| {
            Self::parse(text).ok_or_else(|| format!("{text:?} is not a country code of ISO 3166-1"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_country_is_found_by_its_codes_and_its_name() {
        assert!(COUNTRIES.is_sorted_by_key(|row| row.0));
        for (code, code3, name, names) in COUNTRIES {
            let country = Country::parse(code).unwrap();
            assert_eq!((country.code(), country.name()), (code, name));
            assert!(names.contains(&fold(name).as_str()), "{name}");
            for text in
                [code3, name, &name.to_uppercase(), &code.to_lowercase()].into_iter().chain(names.iter().copied())
            {
                assert_eq!(Country::parse(text), Some(country), "{text}");
            }
        }
    }

    #[test]
    fn what_is_not_a_country_is_none() {
        for text in ["", "  ", "U", "XX", "Texas", "U S A Z", "|", "usa|america"] {
            assert_eq!(Country::parse(text), None, "{text}");
        }
    }
}
