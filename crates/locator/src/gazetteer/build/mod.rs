//! From what `GeoNames` and post offices know to the places of a gazetteer.

mod counties;
mod places_by_name;
mod post_offices;
mod stored;
mod subdivisions;

use std::collections::{BTreeSet, HashMap, HashSet};

use super::blob::{Damaged, PlaceArea, PlaceEntry, PostcodeEntry, encode};
use super::postal_county::PostalCounty;
use super::subdivision::Subdivision;
use crate::address::{parse_forward_sortation_area, parse_postcode};
use crate::country::Country;
use crate::fold::fold;
use crate::index::Index;
use crate::point::{Distance, Point};
use crate::region::Region;
use counties::{counties, put_counties};
use post_offices::{mark_post_offices, new_places, offices};
use subdivisions::add_subdivisions;

/// Fewest people of a place that is known by quite other names too, and by its name in other scripts. Those of smaller
/// places are mostly from history, and are the names of other places now.
const FEWEST_FOR_OTHER_NAMES: u32 = 50_000;
/// The same for other Latin names in the United States and Canada; and fewest people of a place that is known by two or
/// three letters.
const LARGE: u32 = 500_000;
/// Post offices of one name this close to their middle are one place.
const TOGETHER: Distance = Distance::miles(25.0);

/// What `GeoNames` says of a place.
#[derive(Clone, Debug, PartialEq)]
pub struct GeoName {
    /// Its number.
    pub id: u64,
    /// Its main name.
    pub name: String,
    /// Other names, in any language and script.
    pub alternates: Vec<String>,
    /// Its centre.
    pub point: Point,
    /// The country's code of two letters.
    pub country: String,
    /// The code of the first administrative division; of Canada a number.
    pub division: String,
    /// The number of the county among those of its state, in the United States, if it is known.
    pub county: Option<u16>,
    /// How many people live there.
    pub population: u32,
    /// The IANA name of its time zone.
    pub time_zone: String,
}

/// A postcode of the United States or Canada.
#[derive(Clone, Debug, PartialEq)]
pub struct Postcode {
    /// As it is written: `78701`, `M5V`, `M5V 2T6`.
    pub code: String,
    /// The name of the post office, which is that of a place in the United States.
    pub name: Option<String>,
    /// Where it belongs, where that is known.
    pub region: Option<Region>,
    /// Its county, where that is known.
    pub county: Option<PostalCounty>,
    /// Its centre.
    pub point: Point,
}

/// Makes a gazetteer of places and postcodes: see [`Gazetteer::from_bytes`](super::Gazetteer::from_bytes). Of a postcode
/// that is there twice the first counts. Post offices whose names are no places yet become some of unknown size; then so
/// do subdivisions of counties.
///
/// `fewest` is the fewest people of a place outside the United States and Canada.
///
/// # Errors
/// [`Damaged`], if there is more than the format can count.
pub fn build(
    names: Vec<GeoName>,
    subdivisions: &[Subdivision],
    postcodes: &[Postcode],
    fewest: u32,
) -> Result<Vec<u8>, Damaged> {
    let place = |name: GeoName| {
        let code = name.county;
        Some((place(name, fewest)?, code))
    };
    let (mut places, mut codes): (Vec<PlaceEntry>, Vec<Option<u16>>) = names.into_iter().filter_map(place).unzip();
    let offices = offices(postcodes);
    let new = new_places(&places, &offices);
    let mut entries = entries(&places, postcodes);
    places.extend(new);
    codes.resize(places.len(), None);
    mark_post_offices(&mut places, &offices);
    let counties = counties(&mut entries, postcodes);
    put_counties(&mut places, &codes, &offices, &entries, &counties);
    add_subdivisions(&mut places, codes, subdivisions, &entries, &counties);
    encode(places, entries, counties.entries())
}

fn place(name: GeoName, fewest: u32) -> Option<PlaceEntry> {
    let area = area(&name)?;
    let near = area.region.is_some();
    if !near && name.population < fewest {
        return None;
    }
    let main = fold(&name.name);
    let known_by = |other: &String| is_known_by(&main, other, name.population, near);
    let alternates = name.alternates.iter().filter(|name| known_by(name)).cloned().collect();
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

/// Whether people may type this other name for a place with a folded name.
fn is_known_by(main: &str, other: &str, population: u32, near: bool) -> bool {
    let folded = fold(other);
    let alike = folded.contains(main) || main.contains(&folded);
    if folded.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        let fewest = if near { LARGE } else { FEWEST_FOR_OTHER_NAMES };
        // Three letters are mostly the code of an airport.
        let long_enough = folded.len() >= if population >= LARGE { 2 } else { 4 };
        // Transliterations are written in lower case, and nobody types them.
        long_enough && other.starts_with(char::is_uppercase) && (alike || population >= fewest)
    } else {
        population >= FEWEST_FOR_OTHER_NAMES && !folded.is_empty() && !folded.contains(char::is_numeric)
    }
}

fn area(name: &GeoName) -> Option<PlaceArea> {
    let country = Country::parse(&name.country)?;
    let region = match country {
        Country::UNITED_STATES => Region::parse(&name.division),
        Country::CANADA => province(&name.division),
        // Territories of the United States have country codes of their own.
        other => Region::parse(other.code()).filter(|region| is_a_territory(*region)),
    };
    Some(PlaceArea { country: region.map_or(country, Region::country), region })
}

fn is_a_territory(region: Region) -> bool {
    ["AS", "GU", "MP", "PR", "VI"].contains(&region.code())
}

/// `GeoNames` numbers the Canadian provinces as FIPS 10-4 did.
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

/// Each postcode once, in the region that is known for it, else in that of the place nearest to it.
fn entries(places: &[PlaceEntry], postcodes: &[Postcode]) -> Vec<PostcodeEntry> {
    let regions: HashMap<&str, Region> =
        postcodes.iter().filter_map(|postcode| Some((postcode.code.as_str(), postcode.region?))).collect();
    let nearest = NearestPlace::new(places);
    let mut seen = BTreeSet::new();
    let entry = |postcode: &Postcode| {
        let written = &postcode.code;
        let (code, country) = parse_postcode(written).or_else(|| parse_forward_sortation_area(written))?;
        let number = number(&code)?;
        let known = regions.get(postcode.code.as_str()).copied();
        let region = known.or_else(|| nearest.place(postcode.point)?.area.region)?;
        let area = PlaceArea { country, region: Some(region) };
        (region.country() == country && seen.insert(number)).then_some(PostcodeEntry {
            code: number,
            point: postcode.point,
            area,
            county: None,
        })
    };
    postcodes.iter().filter_map(entry).collect()
}

/// The number under which a postcode is kept: that of the five digits of a ZIP code; above those, of the first three
/// characters of a Canadian code; above those, of all six.
pub(super) fn number(code: &str) -> Option<u32> {
    const AREAS: u32 = 100_000;
    const WHOLE: u32 = 1_000_000;
    let characters: Vec<char> = code.chars().filter(|letter| !letter.is_whitespace()).collect();
    let letter = |at: usize| {
        let letter: char = *characters.get(at)?;
        letter.is_ascii_uppercase().then(|| u32::from(letter) - u32::from('A'))
    };
    let digit = |at: usize| characters.get(at)?.to_digit(10);
    let area = || Some((letter(0)? * 10 + digit(1)?) * 26 + letter(2)?);
    let unit = || Some((digit(3)? * 26 + letter(4)?) * 10 + digit(5)?);
    match characters.len() {
        3 => Some(AREAS + area()?),
        6 => Some(WHOLE + area()? * 2_600 + unit()?),
        _ => code.get(..5).filter(|zip| zip.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok(),
    }
}

/// The middle of points, if they lie together.
pub(super) fn middle(points: &[Point]) -> Option<Point> {
    let mean = |along: fn(Point) -> f64| {
        let sum: f64 = points.iter().map(|point| along(*point)).sum();
        u32::try_from(points.len()).ok().filter(|count| *count > 0).map(|count| sum / f64::from(count))
    };
    let middle = Point::new(mean(Point::lat)?, mean(Point::lon)?)?;
    points.iter().all(|point| point.distance(middle) <= TOGETHER).then_some(middle)
}

/// Finds the place nearest to a point. Of places at one point the first counts, and only it is in the index: a search
/// would visit all of them.
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
    fn postcodes_of_both_countries_have_numbers_of_their_own() {
        let codes = ["00501", "99950", "A0A", "Z9Z", "A0A 0A0", "Z9Z9Z9"];
        let numbers: Vec<u32> = codes.iter().map(|code| number(code).unwrap()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        for wrong in ["", "123", "AAA", "M5", "M5V2T", "MMV 2T6", "m5v", "ÄÖÜ"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn post_offices_fill_the_gaps_and_the_first_of_two_postcodes_counts() {
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
