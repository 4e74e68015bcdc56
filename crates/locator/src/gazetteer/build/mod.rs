//! The builder of a gazetteer from `GeoNames` and Census data.

mod counties;
mod places_by_name;
mod post_offices;
mod stored;
mod subdivisions;

use std::collections::{BTreeSet, HashMap, HashSet};

use super::blob::{GazetteerError, PlaceArea, PlaceEntry, PostcodeEntry, encode};
use super::postal_county::PostalCounty;
use super::subdivision::Subdivision;
use crate::address::{parse_forward_sortation_area, parse_postcode};
use crate::country::Country;
use crate::division::Division;
use crate::fold::fold;
use crate::index::Index;
use crate::point::{Distance, Point};
use crate::region::Region;
use counties::{assign_counties, counties};
use post_offices::{mark_post_offices, new_places, offices};
use subdivisions::add_subdivisions;

/// Minimum population for including unrelated alternate names of a place, and names in other scripts. For smaller
/// places, such names are mostly historic and now belong to other places.
const MIN_FOR_OTHER_NAMES: u32 = 50_000;
/// Minimum population for including unrelated Latin names of a place in the United States or Canada, and alternate
/// names of two or three letters of any place.
const LARGE_POPULATION: u32 = 500_000;
/// Maximum distance between the post offices of one place and their common centre.
const MAX_SPREAD: Distance = Distance::miles(25.0);

/// A place in the `GeoNames` data.
#[derive(Clone, Debug, PartialEq)]
pub struct GeoName {
    /// The `GeoNames` ID.
    pub id: u64,
    /// The main name.
    pub name: String,
    /// The alternate names, in any language and script.
    pub alternates: Vec<String>,
    /// The centre.
    pub point: Point,
    /// The two-letter country code.
    pub country: String,
    /// The code of the first-level administrative division; a number in Canada.
    pub division: String,
    /// The code of the second-level administrative division; empty if it is unknown.
    pub second_division: String,
    /// The number of the county in its state, if the place is in the United States and the county is known.
    pub county: Option<u16>,
    /// The population.
    pub population: u32,
    /// The IANA name of the time zone.
    pub time_zone: String,
}

/// A postcode of the United States or Canada.
#[derive(Clone, Debug, PartialEq)]
pub struct Postcode {
    /// The code: `78701`, `M5V`, `M5V 2T6`.
    pub code: String,
    /// The name of the post office. In the United States, it is the name of a place.
    pub name: Option<String>,
    /// The region, if it is known.
    pub region: Option<Region>,
    /// The county, if it is known.
    pub county: Option<PostalCounty>,
    /// The centre.
    pub point: Point,
}

/// Builds and encodes a gazetteer, for [`Gazetteer::from_bytes`](super::Gazetteer::from_bytes). The first of duplicate
/// postcodes is used. Post offices with a new name are added as places of unknown population, then subdivisions of
/// counties are added.
///
/// `min_population` is the minimum population of a place outside the United States and Canada.
///
/// # Errors
/// [`GazetteerError`], if the input exceeds the limits of the format.
pub fn build(
    names: Vec<GeoName>,
    subdivisions: &[Subdivision],
    postcodes: &[Postcode],
    min_population: u32,
) -> Result<Vec<u8>, GazetteerError> {
    let mut places = Vec::new();
    let mut codes = Vec::new();
    for name in names {
        let code = name.county;
        if let Some(place) = place(name, min_population) {
            places.push(place);
            codes.push(code);
        }
    }
    let offices = offices(postcodes);
    let new = new_places(&places, &offices);
    let mut entries = entries(&places, postcodes);
    places.extend(new);
    codes.resize(places.len(), None);
    mark_post_offices(&mut places, &offices);
    let counties = counties(&mut entries, postcodes);
    assign_counties(&mut places, &codes, &offices, &entries, &counties);
    add_subdivisions(&mut places, codes, subdivisions, &entries, &counties);
    encode(places, entries, counties.entries())
}

fn place(name: GeoName, min_population: u32) -> Option<PlaceEntry> {
    let area = area(&name)?;
    let near = area.region.is_some();
    if !near && name.population < min_population {
        return None;
    }
    let main = fold(&name.name);
    let alternates = name.alternates.iter().filter(|other| is_known_by(&main, other, name.population, near));
    let alternates = alternates.cloned().collect();
    Some(PlaceEntry {
        alternates,
        area,
        point: name.point,
        population: name.population,
        time_zone: name.time_zone,
        name: name.name,
        county: None,
        has_post_office: false,
    })
}

/// Checks whether an alternate name of a place is likely in use. `main` is the folded main name.
fn is_known_by(main: &str, other: &str, population: u32, near: bool) -> bool {
    let folded = fold(other);
    let alike = folded.contains(main) || main.contains(&folded);
    if folded.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        let threshold = if near { LARGE_POPULATION } else { MIN_FOR_OTHER_NAMES };
        // Names of three letters are usually airport codes.
        let long_enough = folded.len() >= if population >= LARGE_POPULATION { 2 } else { 4 };
        // Names in lower case are transliterations that are not in use.
        long_enough && other.starts_with(char::is_uppercase) && (alike || population >= threshold)
    } else {
        population >= MIN_FOR_OTHER_NAMES && !folded.is_empty() && !folded.contains(char::is_numeric)
    }
}

fn area(name: &GeoName) -> Option<PlaceArea> {
    let country = Country::parse(&name.country)?;
    let region = match country {
        Country::UNITED_STATES => Region::parse(&name.division),
        Country::CANADA => province(&name.division),
        // Territories of the United States have their own country codes.
        other => Region::of_territory(other),
    };
    if let Some(region) = region {
        return Some(PlaceArea::of_region(region));
    }
    let division = Division::of_codes(country, &name.division, &name.second_division);
    Some(PlaceArea { country, region: None, division })
}

/// Returns the Canadian province with this `GeoNames` code (FIPS 10-4).
fn province(code: &str) -> Option<Region> {
    const CODES: [(&str, &str); 13] = [
        ("01", "AB"),
        ("02", "BC"),
        ("03", "MB"),
        ("04", "NB"),
        ("05", "NL"),
        ("07", "NS"),
        ("08", "ON"),
        ("09", "PE"),
        ("10", "QC"),
        ("11", "SK"),
        ("12", "YT"),
        ("13", "NT"),
        ("14", "NU"),
    ];
    CODES.iter().find(|(number, _)| *number == code).and_then(|(_, code)| Region::parse(code))
}

/// Returns each postcode once. Postcodes without a region are assigned to the region of the nearest place.
fn entries(places: &[PlaceEntry], postcodes: &[Postcode]) -> Vec<PostcodeEntry> {
    let regions: HashMap<&str, Region> =
        postcodes.iter().filter_map(|postcode| Some((postcode.code.as_str(), postcode.region?))).collect();
    let nearest = NearestPlace::new(places);
    let mut seen = BTreeSet::new();
    let mut entries = Vec::new();
    for postcode in postcodes {
        let code = &postcode.code;
        let parsed = parse_postcode(code).or_else(|| parse_forward_sortation_area(code));
        let Some((usual, country)) = parsed else { continue };
        let Some(number) = number(&usual) else { continue };
        let known = regions.get(code.as_str()).copied();
        let Some(region) = known.or_else(|| nearest.place(postcode.point)?.area.region) else { continue };
        if region.country() == country && seen.insert(number) {
            let area = PlaceArea::of_region(region);
            entries.push(PostcodeEntry { code: number, point: postcode.point, area, county: None });
        }
    }
    entries
}

/// Encodes a postcode as a number. The ranges are, in this order: ZIP codes by their five digits, first halves of
/// Canadian codes, and whole Canadian codes.
pub(super) fn number(code: &str) -> Option<u32> {
    const AREAS: u32 = 100_000;
    const WHOLE: u32 = 1_000_000;
    let characters: Vec<char> = code.chars().filter(|letter| !letter.is_whitespace()).collect();
    match characters[..] {
        [first, digit, last] => Some(AREAS + area_number(first, digit, last)?),
        [first, digit, last, unit_first, letter, unit_last] => {
            let unit = (unit_first.to_digit(10)? * 26 + letter_number(letter)?) * 10 + unit_last.to_digit(10)?;
            Some(WHOLE + area_number(first, digit, last)? * 2_600 + unit)
        }
        _ => code.get(..5).filter(|zip| zip.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok(),
    }
}

/// Encodes the first half of a Canadian code as a number.
fn area_number(first: char, digit: char, last: char) -> Option<u32> {
    Some((letter_number(first)? * 10 + digit.to_digit(10)?) * 26 + letter_number(last)?)
}

fn letter_number(letter: char) -> Option<u32> {
    if letter.is_ascii_uppercase() { Some(u32::from(letter) - u32::from('A')) } else { None }
}

/// Returns the middle of points, if all of them are near it.
pub(super) fn middle(points: &[Point]) -> Option<Point> {
    let count = u32::try_from(points.len()).ok().filter(|count| *count > 0)?;
    let lat: f64 = points.iter().map(|point| point.lat()).sum();
    let lon: f64 = points.iter().map(|point| point.lon()).sum();
    let middle = Point::new(lat / f64::from(count), lon / f64::from(count))?;
    points.iter().all(|point| point.distance(middle) <= MAX_SPREAD).then_some(middle)
}

/// A lookup of the place nearest to a point. If several places are at one point, only the first is in the index,
/// because a search would visit all of them.
struct NearestPlace<'a> {
    places: Vec<&'a PlaceEntry>,
    index: Index,
}

impl<'a> NearestPlace<'a> {
    fn new(places: &'a [PlaceEntry]) -> Self {
        let mut seen = HashSet::new();
        let places: Vec<&PlaceEntry> = places.iter().filter(|place| seen.insert(point_key(place.point))).collect();
        let index = Index::build(&places.iter().map(|place| place.point).collect::<Vec<_>>());
        Self { places, index }
    }

    fn place(&self, point: Point) -> Option<&'a PlaceEntry> {
        let near = self.index.nearest(point, Distance::metres(f64::INFINITY), 1, |_| true);
        near.first().map(|near| self.places[near.at as usize])
    }
}

/// Returns a key that only equal points share.
fn point_key(point: Point) -> [u64; 2] {
    [point.lat(), point.lon()].map(f64::to_bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gazetteer::Gazetteer;

    fn point(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).expect("on the earth")
    }

    fn name(name: &str, alternates: &[&str], country: &str, division: &str, people: u32, at: Point) -> GeoName {
        GeoName {
            id: 1,
            name: name.to_owned(),
            alternates: alternates.iter().map(|name| (*name).to_owned()).collect(),
            point: at,
            country: country.to_owned(),
            division: division.to_owned(),
            second_division: String::new(),
            county: None,
            population: people,
            time_zone: "America/Toronto".to_owned(),
        }
    }

    fn postcode(code: &str, name: Option<&str>, region: Option<&str>, at: Point) -> Postcode {
        let region = region.and_then(Region::parse);
        Postcode { code: code.to_owned(), name: name.map(str::to_owned), region, county: None, point: at }
    }

    #[test]
    fn postcodes_of_two_countries_are_distinct() {
        let codes = ["00501", "99950", "A0A", "Z9Z", "A0A 0A0", "Z9Z9Z9"];
        let numbers: Vec<u32> = codes.iter().map(|code| number(code).unwrap()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        for wrong in ["", "123", "AAA", "M5", "M5V2T", "MMV 2T6", "m5v", "ÄÖÜ"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn post_offices_fill_gaps_and_first_postcode_wins() {
        let toronto = point(43.70, -79.40);
        let names = vec![
            name("Toronto", &["TOR", "Торонто", "toronto x"], "CA", "08", 2_600_000, toronto),
            name("Hamlet", &["Otherham"], "US", "NY", 700, point(43.0, -78.0)),
            name("Village", &[], "FR", "11", 4_999, point(48.0, 2.0)),
        ];
        let postcodes = [
            postcode("14001", None, None, point(43.01, -78.0)),
            postcode("14001", Some("Hamlet"), Some("NY"), point(43.5, -78.0)),
            postcode("14002", Some("Corners"), Some("NY"), point(43.1, -78.0)),
            postcode("14003", Some("Corners"), Some("NY"), point(43.3, -78.0)),
            postcode("M5V", Some("Fort York"), Some("ON"), point(43.64, -79.39)),
            postcode("nonsense", None, None, toronto),
        ];
        let gazetteer = Gazetteer::from_bytes(&build(names, &[], &postcodes, 5_000).unwrap()).unwrap();
        let lat = |text: &str| gazetteer.resolve(text).map(|found| (found.point.lat() * 100.0).round() / 100.0).ok();
        assert_eq!((lat("14001"), lat("Corners, NY"), lat("Hamlet")), (Some(43.01), Some(43.2), Some(43.0)));
        assert_eq!((lat("M5V 2T6"), lat("Торонто"), lat("Tor")), (Some(43.64), Some(43.7), Some(43.7)));
        assert_eq!((lat("Otherham"), lat("Village"), lat("Fort York")), (None, None, None));
    }
}
