//! Derivation of the counties of a gazetteer from the county names in the table of postcodes.

use std::collections::BTreeMap;

use super::blob::CountyEntry;
use crate::point::Point;
use crate::region::Region;

/// The county of a postcode, as named in the table of postcodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostalCounty {
    /// The name, usually without its generic word: `Cook`, `Bristol (city)`, `City of Alexandria`.
    pub name: String,
    /// The number of the county in its state, as parsed by [`county_code`].
    pub code: u16,
}

/// A list of counties, sorted by region and code.
pub(super) struct CountyList(Vec<CountyEntry>);

/// Areas of Alaska that are not boroughs, with their generic words, because the table omits some of these words.
const ALASKA: [(&str, &str); 6] = [
    ("Hoonah-Angoon", "Census Area"),
    ("Kusilvak", "Census Area"),
    ("Prince of Wales-Hyder", "Census Area"),
    ("Skagway", "Municipality"),
    ("Skagway-Hoonah-Angoon", "Census Area"),
    ("Wade Hampton", "Census Area"),
];

/// The former counties of Connecticut. They are still used in addresses, although planning regions have replaced them
/// in the table. Each row has the code, the name, and the middle in degrees.
const CONNECTICUT: [(u16, &str, f64, f64); 8] = [
    (1, "Fairfield", 41.23, -73.37),
    (3, "Hartford", 41.81, -72.73),
    (5, "Litchfield", 41.79, -73.24),
    (7, "Middlesex", 41.46, -72.54),
    (9, "New Haven", 41.41, -72.93),
    (11, "New London", 41.48, -72.10),
    (13, "Tolland", 41.86, -72.34),
    (15, "Windham", 41.83, -71.99),
];

/// Planning regions of Connecticut with another name in the table, with their official names.
const PLANNING_REGIONS: [(&str, &str); 3] = [
    ("Capitol Region", "Capitol"),
    ("Connecticut Metropolitan", "Greater Bridgeport"),
    ("South Central Regional", "South Central Connecticut"),
];

/// Generic words at the end of county names.
const GENERIC_WORDS: [&str; 8] =
    ["Borough", "Census Area", "City and Borough", "County", "Municipality", "Municipio", "Parish", "Planning Region"];

/// Parses the three digits of a county in its state.
pub(super) fn county_code(digits: &str) -> Option<u16> {
    if digits.len() != 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

impl CountyList {
    pub(super) fn new(mut counties: Vec<CountyEntry>) -> Self {
        counties.sort_by_key(|county| (county.region, county.code));
        Self(counties)
    }

    /// Creates the list of all counties that occur in the given postcodes.
    pub(super) fn of_postcodes<'a>(postcodes: impl Iterator<Item = (&'a PostalCounty, Region, Point)>) -> Self {
        let mut found: BTreeMap<(Region, u16), (&str, Vec<Point>)> = BTreeMap::new();
        for (county, region, point) in postcodes {
            found.entry((region, county.code)).or_insert_with(|| (&county.name, Vec::new())).1.push(point);
        }
        if let Some(region) = found.keys().map(|(region, _)| *region).find(|region| region.code() == "CT") {
            for (code, name, lat, lon) in CONNECTICUT {
                found.insert((region, code), (name, Point::new(lat, lon).into_iter().collect()));
            }
        }
        let mut counties = Vec::with_capacity(found.len());
        for ((region, code), (written, points)) in found {
            let Some(point) = median(&points) else { continue };
            let (core, kind) = official_name(written, region);
            let name = if kind.is_empty() { core.to_owned() } else { format!("{core} {kind}") };
            counties.push(CountyEntry { name, bare_name: core.to_owned(), region, code, point });
        }
        Self(counties)
    }

    pub(super) fn entries(&self) -> &[CountyEntry] {
        &self.0
    }

    /// Returns the index of a county in the list.
    pub(super) fn number(&self, region: Region, code: u16) -> Option<usize> {
        self.0.binary_search_by_key(&(region, code), |county| (county.region, county.code)).ok()
    }
}

/// Splits the name of a county into the name without its generic word, and the generic word (empty for an independent
/// city).
fn official_name(written: &str, region: Region) -> (&str, &'static str) {
    let written = written.trim();
    for (before, kind) in
        [("City and County of ", "County"), ("City and Borough of ", "City and Borough"), ("City of ", "")]
    {
        if let Some(bare) = written.strip_prefix(before) {
            return (bare, kind);
        }
    }
    // The table truncates names, so the closing bracket may be missing.
    for (behind, kind) in [(" (city", ""), (" (CA", "Census Area")] {
        if let Some(bare) = written.trim_end_matches(')').strip_suffix(behind) {
            return (bare, kind);
        }
    }
    for kind in GENERIC_WORDS.into_iter().rev() {
        if let Some(bare) = written.strip_suffix(kind).and_then(|bare| bare.strip_suffix(' ')) {
            return (bare, kind);
        }
    }
    match region.code() {
        "AK" => (written, find(&ALASKA, written).unwrap_or("Borough")),
        "CT" if CONNECTICUT.iter().all(|(_, name, ..)| *name != written) => {
            (find(&PLANNING_REGIONS, written).unwrap_or(written), "Planning Region")
        }
        "LA" => (written, "Parish"),
        "PR" => (written, "Municipio"),
        "AS" | "DC" | "GU" | "MP" | "VI" => (written, ""),
        _ => (written, "County"),
    }
}

fn find(list: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    list.iter().find(|(listed, _)| *listed == name).map(|(_, other)| *other)
}

/// Returns the point with the median latitude and the median longitude.
fn median(points: &[Point]) -> Option<Point> {
    let lat = median_number(points.iter().map(|point| point.lat()).collect())?;
    let lon = median_number(points.iter().map(|point| point.lon()).collect())?;
    Point::new(lat, lon)
}

fn median_number(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let upper = *numbers.get(middle)?;
    Some(if numbers.len().is_multiple_of(2) { f64::midpoint(numbers[middle - 1], upper) } else { upper })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counties_have_their_kinds() {
        for (region, written, expected) in [
            ("IL", "Cook", "Cook County"),
            ("FL", "Miami-Dade", "Miami-Dade County"),
            ("CA", "City and County of San Francisco", "San Francisco County"),
            ("SD", "Oglala Lakota County", "Oglala Lakota County"),
            ("LA", "Orleans", "Orleans Parish"),
            ("LA", "Caddo Parish", "Caddo Parish"),
            ("AK", "Matanuska-Susitna Borough", "Matanuska-Susitna Borough"),
            ("AK", "Denali", "Denali Borough"),
            ("AK", "Juneau City and Borough", "Juneau City and Borough"),
            ("AK", "City and Borough of Wrangell", "Wrangell City and Borough"),
            ("AK", "Nome (CA)", "Nome Census Area"),
            ("AK", "Kusilvak", "Kusilvak Census Area"),
            ("AK", "Anchorage Municipality", "Anchorage Municipality"),
            ("VA", "Bristol (city)", "Bristol"),
            ("VA", "Colonial Heights (city", "Colonial Heights"),
            ("VA", "City of Alexandria", "Alexandria"),
            ("VA", "Charles City", "Charles City County"),
            ("MD", "Baltimore", "Baltimore County"),
            ("NV", "Carson City (city)", "Carson City"),
            ("DC", "District of Columbia", "District of Columbia"),
            ("PR", "Adjuntas", "Adjuntas Municipio"),
            ("CT", "Fairfield", "Fairfield County"),
            ("CT", "Capitol Region", "Capitol Planning Region"),
            ("CT", "Northwest Hills", "Northwest Hills Planning Region"),
        ] {
            let (bare, kind) = official_name(written, Region::parse(region).unwrap());
            assert_eq!(format!("{bare} {kind}").trim_end(), expected, "{written}, {region}");
        }
    }

    #[test]
    fn county_lies_near_most_of_its_postcodes() {
        let point = |lat, lon| Point::new(lat, lon).unwrap();
        assert_eq!(median(&[point(1.0, 9.0), point(2.0, 8.0), point(60.0, 7.0)]), Some(point(2.0, 8.0)));
        assert_eq!(median(&[point(1.0, 9.0), point(2.0, 8.0)]), Some(point(1.5, 8.5)));
        assert_eq!(median(&[]), None);
    }
}
