//! Countries by code and name.

use std::fmt;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::fold::fold;

/// Code, three-letter code, name, and folded names separated by `|`; ordered by code.
const TABLE: &str = include_str!("../data/countries.tsv");

/// A country, by its ISO 3166-1 code of two letters. Written as that code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
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
    /// for text in ["us", "USA", " United States ", "America"] {
    ///     assert_eq!(Country::parse(text), Some(Country::UNITED_STATES));
    /// }
    /// assert_eq!(Country::parse("Atlantis"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() <= 3 {
            let code = text.to_ascii_uppercase();
            if let Some(row) = row_with(&code, |row| row.code == code || row.code3 == code) {
                return Some(row.country());
            }
        }
        let name = fold(text);
        row_with(&name, |row| row.names.split('|').any(|known| known == name)).map(|row| row.country())
    }

    /// The country of a code that is known to be one.
    pub(crate) const fn of_code(code: [u8; 2]) -> Self {
        Self(code)
    }

    /// The two letters, in upper case.
    #[must_use]
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The English name.
    #[must_use]
    pub fn name(self) -> &'static str {
        row_with(self.code(), |row| row.code.as_bytes() == self.0).map_or("", |row| row.name)
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

impl TryFrom<String> for Country {
    type Error = String;

    fn try_from(code: String) -> Result<Self, String> {
        Self::parse(&code).ok_or_else(|| format!("{code:?} is not a country code of ISO 3166-1"))
    }
}

/// A line of the table.
struct Row {
    code: &'static str,
    code3: &'static str,
    name: &'static str,
    names: &'static str,
}

impl Row {
    fn country(&self) -> Country {
        Country(self.code.as_bytes().try_into().unwrap_or_default())
    }
}

/// The line that holds `text` and is the one meant. Asked for every location: to look for the text in the whole table is
/// a hundred times quicker than to take every line apart.
fn row_with(text: &str, is_meant: impl Fn(&Row) -> bool) -> Option<Row> {
    if text.is_empty() {
        return None;
    }
    memmem::find_iter(TABLE.as_bytes(), text.as_bytes()).map(|at| row(line_at(at))).find(is_meant)
}

fn line_at(at: usize) -> &'static str {
    let start = TABLE[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = TABLE[at..].find('\n').map_or(TABLE.len(), |end| at + end);
    &TABLE[start..end]
}

fn row(line: &'static str) -> Row {
    let mut cells = line.split('\t');
    let mut next = || cells.next().unwrap_or_default();
    Row { code: next(), code3: next(), name: next(), names: next() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_country_is_found_by_its_codes_and_its_name() {
        assert_eq!(TABLE.lines().count(), 250);
        for row in TABLE.lines().map(row) {
            let country = row.country();
            assert_eq!((country.code(), country.name()), (row.code, row.name));
            for text in [row.code, row.code3, row.name, &row.name.to_uppercase(), &row.code.to_lowercase()] {
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
