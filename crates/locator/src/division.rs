//! Administrative divisions outside the United States and Canada: states, provinces, counties.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use crate::country::Country;
use crate::fold::fold;

/// The embedded table; `data/divisions.py` builds it.
const DIVISIONS: &str = include_str!("../data/divisions.tsv");

static TABLE: LazyLock<DivisionTable> = LazyLock::new(|| DivisionTable::read(DIVISIONS));

/// Folded generic words after a name, the longest first.
#[rustfmt::skip]
const AFTER: [&str; 14] = [
    "autonomousregion", "voivodeship", "governorate", "department", "prefecture", "territory", "province", "district",
    "emirate", "county", "canton", "region", "oblast", "state",
];
/// Folded generic words before a name, the longest first.
#[rustfmt::skip]
const BEFORE: [&str; 12] = [
    "departamentode", "communityof", "provinciade", "provinciadi", "provinceof", "districtof", "countyof", "regionof",
    "cantonof", "estadode", "stateof", "county",
];

/// An administrative division of a country other than the United States and Canada, whose [`Region`](crate::Region)s
/// are a type of their own: a first-level division such as Jalisco, a second-level division of some countries such as
/// Kent, or a well-known group of them such as West Yorkshire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Division(u16);

/// A row of the table.
struct DivisionRow {
    country: Country,
    /// The code of `GeoNames`, unique in the country.
    code: &'static str,
    name: &'static str,
    /// The code of the first-level division of a second-level division.
    parent: Option<Division>,
    /// The divisions of a group.
    members: Vec<Division>,
}

struct DivisionTable {
    /// Sorted by country and code.
    rows: Vec<DivisionRow>,
    /// By folded name, in the order of the table.
    by_name: HashMap<String, Vec<Division>>,
    /// By the code of ISO 3166-2 without the country, in the order of the table.
    by_iso_code: HashMap<&'static str, Vec<Division>>,
}

impl Division {
    /// Returns the division of a country with this code of `GeoNames`: `14`, or `ENG.G5` for the second level.
    #[must_use]
    pub fn of_code(country: Country, code: &str) -> Option<Self> {
        let found = TABLE.rows.binary_search_by(|row| (row.country, row.code).cmp(&(country, code)));
        u16::try_from(found.ok()?).ok().map(Self)
    }

    /// Returns the division that a place with these two codes of `GeoNames` lies in: the second-level division if it is
    /// known, else the first-level division.
    #[must_use]
    pub fn of_codes(country: Country, first: &str, second: &str) -> Option<Self> {
        let second_level = if second.is_empty() { None } else { Self::of_code(country, &format!("{first}.{second}")) };
        second_level.or_else(|| Self::of_code(country, first))
    }

    /// Returns the divisions of a [`fold`]ed name, with or without a generic word such as `Prefecture`, by country.
    #[must_use]
    pub fn named(folded: &str) -> &'static [Self] {
        if let Some(found) = TABLE.by_name.get(folded) {
            return found;
        }
        let after = AFTER.iter().find_map(|word| folded.strip_suffix(word));
        let name = after.or_else(|| BEFORE.iter().find_map(|word| folded.strip_prefix(word)));
        name.and_then(|name| TABLE.by_name.get(name)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the divisions with this code of ISO 3166-2 without the country, by country: `NSW`, `SP`. Codes of two
    /// letters are only recognized in capitals, because many are words.
    #[must_use]
    pub fn with_iso_code(code: &str) -> &'static [Self] {
        let code = code.trim().trim_end_matches('.');
        let is_code = match code.len() {
            2 => code.bytes().all(|letter| letter.is_ascii_uppercase()),
            3 => code.bytes().all(|letter| letter.is_ascii_alphabetic()),
            _ => false,
        };
        if !is_code {
            return &[];
        }
        TABLE.by_iso_code.get(code.to_ascii_uppercase().as_str()).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the divisions of one country out of a list that is sorted by country.
    #[must_use]
    pub fn of_country(divisions: &'static [Self], country: Country) -> &'static [Self] {
        let start = divisions.partition_point(|division| division.country() < country);
        let end = divisions.partition_point(|division| division.country() <= country);
        &divisions[start..end]
    }

    /// Returns `true` if the other division is this one or lies in it.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        let members = &other.row().members;
        if self != other && !members.is_empty() {
            return members.iter().all(|member| self.contains(*member));
        }
        let parent = other.row().parent;
        let is_within = |division: Self| division == other || Some(division) == parent;
        is_within(self) || self.row().members.iter().any(|member| is_within(*member))
    }

    /// Returns the displayed name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the code of `GeoNames`, unique in the country.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// Returns the country.
    #[must_use]
    pub fn country(self) -> Country {
        self.row().country
    }

    fn row(self) -> &'static DivisionRow {
        &TABLE.rows[usize::from(self.0)]
    }
}

impl DivisionTable {
    /// Reads the embedded table, in milliseconds.
    ///
    /// # Panics
    /// If a row is invalid: a test reads the embedded table.
    fn read(table: &'static str) -> Self {
        let lines: Vec<[&str; 6]> = table.lines().map(columns).collect();
        let position = |country: &str, code: &str| {
            let found = lines.binary_search_by(|line| (line[0], line[1]).cmp(&(country, code))).ok()?;
            u16::try_from(found).ok().map(Division)
        };
        let mut rows = Vec::with_capacity(lines.len());
        let mut by_name: HashMap<String, Vec<Division>> = HashMap::with_capacity(2 * lines.len());
        let mut by_iso_code: HashMap<&str, Vec<Division>> = HashMap::with_capacity(lines.len());
        for (&[country, code, iso_code, name, other_names, members], number) in lines.iter().zip(0..) {
            let division = Division(number);
            for name in std::iter::once(name).chain(other_names.split('|')) {
                let divisions = by_name.entry(fold(name)).or_default();
                if divisions.last() != Some(&division) {
                    divisions.push(division);
                }
            }
            if !iso_code.is_empty() {
                by_iso_code.entry(iso_code).or_default().push(division);
            }
            rows.push(DivisionRow {
                country: Country::parse(country).expect("a country code"),
                code,
                name,
                parent: code.split_once('.').and_then(|(first, _)| position(country, first)),
                members: members.split_whitespace().filter_map(|member| position(country, member)).collect(),
            });
        }
        by_name.remove("");
        Self { rows, by_name, by_iso_code }
    }
}

fn columns(line: &'static str) -> [&'static str; 6] {
    let mut columns = line.split('\t');
    std::array::from_fn(|_| columns.next().expect("six columns"))
}

/// Reads the table, so that the first request does not wait for it.
pub(crate) fn load() {
    LazyLock::force(&TABLE);
}

impl fmt::Debug for Division {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Division({}-{})", self.country(), self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn division(country: &str, code: &str) -> Division {
        Division::of_code(Country::parse(country).unwrap(), code).unwrap()
    }

    #[test]
    fn divisions_are_found_by_name_and_code() {
        for (name, expected) in [
            ("Jalisco", &["Division(MX-14)"][..]),
            ("Toscana", &["Division(IT-16)"]),
            ("Kent", &["Division(GB-ENG.G5)"]),
            ("West Yorkshire", &["Division(GB-+West Yorkshire)"]),
            ("Osaka Prefecture", &["Division(JP-32)"]),
            ("Province of Cádiz", &["Division(ES-51.CA)"]),
            ("Punjab", &["Division(IN-23)", "Division(PK-04)"]),
            ("Texas", &[]),
            ("", &[]),
        ] {
            let found: Vec<String> = Division::named(&fold(name)).iter().map(|found| format!("{found:?}")).collect();
            assert_eq!(found, expected, "{name}");
        }
        let country = Country::parse("AU").unwrap();
        for (code, is_known) in [("NSW", true), ("nsw", true), ("WA", true), ("wa", false), ("W", false), ("é", false)]
        {
            let found = Division::of_country(Division::with_iso_code(code), country);
            assert_eq!(found.len(), usize::from(is_known), "{code}");
        }
    }

    #[test]
    fn division_contains_its_parts() {
        let england = division("GB", "ENG");
        let leeds = division("GB", "ENG.H3");
        let west_yorkshire = division("GB", "+West Yorkshire");
        assert!(england.contains(leeds) && west_yorkshire.contains(leeds) && leeds.contains(leeds));
        assert!(england.contains(west_yorkshire) && !division("GB", "SCT").contains(west_yorkshire));
        assert!(!leeds.contains(england) && !division("GB", "SCT").contains(leeds));
        assert!(division("ID", "+Java").contains(division("ID", "07")));
        assert!(!division("ID", "+Java").contains(division("ID", "02")));
    }

    #[test]
    fn table_is_sorted_and_complete() {
        assert!(TABLE.rows.is_sorted_by(|one, other| (one.country, one.code) < (other.country, other.code)));
        assert!(TABLE.rows.len() > 4_000, "{}", TABLE.rows.len());
        for line in DIVISIONS.lines().map(columns) {
            let country = Country::parse(line[0]).unwrap();
            let division = Division::of_code(country, line[1]).unwrap();
            assert_eq!(division.row().members.len(), line[5].split_whitespace().count(), "{line:?}");
            assert_eq!(division.row().parent.is_some(), line[1].contains('.'), "{line:?}");
            assert!(Division::named(&fold(line[3])).contains(&division), "{line:?}");
        }
    }
}
