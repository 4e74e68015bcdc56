//! Makes the embedded gazetteer. `data/gazetteer.sh` runs it; `data/NOTICE.md` says what of.
//!
//! `cargo run --release --example build_gazetteer -- CITIES500_JSON ZIPS_JS OUTPUT`

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs;

use serde::Deserialize;
use signpost_locator::gazetteer::{Area, PlaceEntry, PostcodeEntry, encode};
use signpost_locator::{Country, Distance, Index, Point, Region, fold};

/// Fewest people of a place outside the United States and Canada. There, all places of the data are taken: 500 people
/// or more, and seats of counties.
const FEWEST: u32 = 5_000;
/// Fewest people of a place there that is known by quite other names too. Those of small places are mostly from
/// history, and are the names of other places now.
const FEWEST_FOR_OTHER_NAMES: u32 = 50_000;
/// The same in the United States and Canada; and fewest people of a place that is known by two or three letters.
const LARGE: u32 = 500_000;

/// What `GeoNames` says of a place.
#[derive(Deserialize)]
struct GeoName {
    name: String,
    latitude: f64,
    longitude: f64,
    countrycode: String,
    population: u32,
    timezone: String,
    admin1code: String,
    alternatenames: Vec<String>,
}

/// What the Census says of a ZIP code tabulation area.
#[derive(Deserialize)]
struct Zip {
    latitude: f64,
    longitude: f64,
    #[serde(rename = "zipCode")]
    code: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let [cities, zips, output] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "three paths, please")?;
    let cities: BTreeMap<u64, GeoName> = serde_json::from_str(&fs::read_to_string(cities)?)?;
    let places: Vec<PlaceEntry> = cities.into_values().filter_map(place).collect();
    let zips = fs::read_to_string(zips)?;
    let list = zips.find('[').zip(zips.rfind(']')).ok_or("no list of ZIP codes")?;
    let zips: Vec<Zip> = serde_json::from_str(&zips[list.0..=list.1])?;
    let postcodes = postcodes(&zips, &places);
    println!("{} places, {} postcodes", places.len(), postcodes.len());
    let blob = encode(places, postcodes)?;
    println!("{} bytes", blob.len());
    Ok(fs::write(output, blob)?)
}

fn place(city: GeoName) -> Option<PlaceEntry> {
    let area = area(&city)?;
    let near = area.region.is_some();
    if !near && city.population < FEWEST {
        return None;
    }
    let main = fold(&city.name);
    let large = city.population >= LARGE;
    let fewest = if near { LARGE } else { FEWEST_FOR_OTHER_NAMES };
    let known_by = |name: &String| {
        let folded = fold(name);
        // Three letters are mostly the code of an airport.
        let latin =
            folded.len() >= if large { 2 } else { 4 } && folded.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let alike = folded.contains(&main) || main.contains(&folded);
        // Transliterations are written in lower case, and nobody types them.
        latin && name.starts_with(char::is_uppercase) && (alike || city.population >= fewest)
    };
    let alternates = city.alternatenames.iter().filter(|name| known_by(name)).cloned().collect();
    Some(PlaceEntry {
        alternates,
        area,
        point: Point::new(city.latitude, city.longitude)?,
        population: city.population,
        time_zone: city.timezone,
        name: city.name,
    })
}

fn area(city: &GeoName) -> Option<Area> {
    let country = Country::parse(&city.countrycode)?;
    let region = match country {
        Country::UNITED_STATES => Region::parse(&city.admin1code),
        Country::CANADA => province(&city.admin1code),
        // Territories of the United States have country codes of their own.
        other => Region::parse(other.code()).filter(|region| is_a_territory(*region)),
    };
    Some(Area { country: region.map_or(country, Region::country), region })
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

/// ZIP codes with their regions, which the Census does not give: that of the places nearest to most of the codes that
/// share the first three digits, as these are assigned by state.
fn postcodes(zips: &[Zip], places: &[PlaceEntry]) -> Vec<PostcodeEntry> {
    let here: Vec<&PlaceEntry> = places.iter().filter(|place| place.area.country == Country::UNITED_STATES).collect();
    let index = Index::build(&here.iter().map(|place| place.point).collect::<Vec<_>>());
    let nearest = |point: Point| {
        let near = index.nearest(point, Distance::metres(f64::INFINITY), 1, |_| true);
        near.first().map(|near| here[near.at as usize].area)
    };
    let mut votes: HashMap<&str, BTreeMap<Area, usize>> = HashMap::new();
    let mut points = Vec::new();
    for zip in zips {
        if let (Some(point), Ok(code), Some(prefix)) =
            (Point::new(zip.latitude, zip.longitude), zip.code.parse(), zip.code.get(..3))
        {
            points.push((code, point, prefix));
            *votes.entry(prefix).or_default().entry(nearest(point).expect("there are places")).or_default() += 1;
        }
    }
    let most = |prefix: &str| *votes[prefix].iter().max_by_key(|(_, votes)| **votes).expect("a vote was cast").0;
    points.into_iter().map(|(code, point, prefix)| PostcodeEntry { code, point, area: most(prefix) }).collect()
}
