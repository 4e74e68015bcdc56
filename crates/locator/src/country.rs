//! Countries, and their lookup by code and name.

mod table;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize};

use crate::fold::fold;
use crate::stored_form::from_text;
use table::{COUNTRIES, CountryRow};

/// All countries by their codes in lower case and their folded names. Codes take precedence over names.
static NAMED: LazyLock<HashMap<String, Country>> = LazyLock::new(|| {
    let mut named = HashMap::new();
    for row in &COUNTRIES {
        for code in [row.0, row.1] {
            named.insert(code.to_ascii_lowercase(), Country::of_row(row));
        }
    }
    for row in &COUNTRIES {
        for name in row.3 {
            named.entry((*name).to_owned()).or_insert(Country::of_row(row));
        }
    }
    named
});

/// A country, represented and serialized as its ISO 3166-1 alpha-2 code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct Country([u8; 2]);

impl Country {
    /// Canada.
    pub const CANADA: Self = Self(*b"CA");
    /// The United States. Its territories (Puerto Rico, Guam …) have country codes of their own, and are
    /// [`Region`](crate::Region)s of this country.
    pub const UNITED_STATES: Self = Self(*b"US");

    /// Parses a code of two or three letters or an English name, in any case.
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
        match COUNTRIES.binary_search_by(|row| row.0.cmp(text)) {
            Ok(_) => text.as_bytes().try_into().ok().map(Self),
            Err(_) => Self::parse_folded(text, &fold(text)),
        }
    }

    /// Parses a text like [`Country::parse`], given its folded form.
    pub(crate) fn parse_folded(text: &str, name: &str) -> Option<Self> {
        // Short texts are looked up unfolded, because folding would expand a code such as MT as an abbreviation.
        Self::of_short_text(text.trim()).or_else(|| NAMED.get(name).copied())
    }

    /// Looks up a country by a code or name of at most three letters, in any case.
    fn of_short_text(text: &str) -> Option<Self> {
        // Only in upper case, because `dr` in an address is an abbreviation of "drive".
        if text == "DR" {
            return Some(Self(*b"DO"));
        }
        let mut lower = [0; 3];
        let lower = lower.get_mut(..text.len())?;
        lower.copy_from_slice(text.as_bytes());
        lower.make_ascii_lowercase();
        NAMED.get(std::str::from_utf8(lower).ok()?).copied()
    }

    fn of_row(row: &CountryRow) -> Self {
        Self(row.0.as_bytes().try_into().unwrap_or_default())
    }

    /// Returns the two-letter code in upper case.
    #[must_use]
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the English name.
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
    fn countries_are_found_by_code_and_name() {
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
    fn countries_are_found_by_names_in_other_languages() {
        for (text, code) in [
            ("EE.UU.", "US"),
            ("EEUU", "US"),
            ("Estados Unidos", "US"),
            ("États-Unis", "US"),
            ("Vereinigte Staaten", "US"),
            ("Alemania", "DE"),
            ("Allemagne", "DE"),
            ("España", "ES"),
            ("Reino Unido", "GB"),
            ("Royaume-Uni", "GB"),
            ("Great Britain", "GB"),
            ("Holanda", "NL"),
            ("Dominican Rep.", "DO"),
            ("DR", "DO"),
            ("U.A.E.", "AE"),
            ("Czech Rep", "CZ"),
            ("Türkiye", "TR"),
            ("Viet Nam", "VN"),
            ("日本", "JP"),
            ("대한민국", "KR"),
            ("Россия", "RU"),
            ("ประเทศไทย", "TH"),
            ("भारत", "IN"),
            ("مصر", "EG"),
            ("ישראל", "IL"),
            ("Ελλάδα", "GR"),
        ] {
            assert_eq!(Country::parse(text).map(|country| country.code().to_owned()).as_deref(), Some(code), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_countries() {
        for text in ["", "  ", "U", "XX", "Texas", "U S A Z", "|", "usa|america", "Dr", "dr"] {
            assert_eq!(Country::parse(text), None, "{text}");
        }
    }
}
