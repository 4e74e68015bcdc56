//! Builds the embedded gazetteer from public data. `data/gazetteer.sh` runs this program; `data/NOTICE.md` lists the
//! sources.
//!
//! `cargo run --release --example build_gazetteer -- CITIES500_JSON CITIES_JSON ZCTA_JS US_TXT FSA_CSV OUTPUT`

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs;

use serde::Deserialize;
use signpost_locator::gazetteer::{GeoName, GeonamesLine, Postcode, build, read_line};
use signpost_locator::{Distance, Point, Region};

/// Minimum population of a place outside the United States and Canada. For these two countries, all places in the
/// source are included: places with at least 500 people, and county seats.
const MIN_POPULATION: u32 = 5_000;
/// Maximum distance between the points of one place in the two packages of `GeoNames` data.
const SAME_PLACE: Distance = Distance::miles(3.0);

/// A `GeoNames` place in the first package.
#[derive(Deserialize)]
struct City {
    name: String,
    latitude: f64,
    longitude: f64,
    countrycode: String,
    population: u32,
    timezone: String,
    admin1code: String,
    alternatenames: Vec<String>,
}

/// A `GeoNames` place in the second package. Only this package contains the second-level administrative division.
#[derive(Deserialize)]
struct LocatedCity {
    name: String,
    lat: String,
    lng: String,
    country: String,
    admin1: String,
    admin2: String,
}

/// The second-level administrative divisions of places, by country, first-level division and name.
type SecondDivisions = HashMap<(String, String, String), Vec<(Point, String)>>;

/// A ZIP code tabulation area of the Census.
#[derive(Deserialize)]
struct Zcta {
    latitude: f64,
    longitude: f64,
    #[serde(rename = "zipCode")]
    code: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let [cities, located, census, post, areas, output] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "six paths, please")?;
    let cities: BTreeMap<u64, City> = serde_json::from_str(&fs::read_to_string(cities)?)?;
    let divisions = second_divisions(serde_json::from_str(&fs::read_to_string(located)?)?);
    let names: Vec<GeoName> = cities.into_iter().filter_map(|(id, city)| name(id, city, &divisions)).collect();
    // The Census data comes first, because it has the most exact centres of ZIP codes.
    let mut postcodes = zctas(&fs::read_to_string(census)?)?;
    postcodes.extend(fs::read_to_string(post)?.lines().filter_map(|line| match read_line(line)? {
        GeonamesLine::Postcode(postcode) => Some(postcode),
        _ => None,
    }));
    postcodes.extend(fs::read_to_string(areas)?.lines().filter_map(forward_sortation_area));
    println!("{} places, {} postcodes before they are sorted", names.len(), postcodes.len());
    let blob = build(names, &[], &postcodes, MIN_POPULATION)?;
    println!("{} bytes", blob.len());
    Ok(fs::write(output, blob)?)
}

fn second_divisions(cities: Vec<LocatedCity>) -> SecondDivisions {
    let mut divisions = SecondDivisions::new();
    for city in cities {
        if let (Ok(lat), Ok(lon)) = (city.lat.parse(), city.lng.parse())
            && let Some(point) = Point::new(lat, lon)
        {
            divisions.entry((city.country, city.admin1, city.name)).or_default().push((point, city.admin2));
        }
    }
    divisions
}

fn name(id: u64, city: City, divisions: &SecondDivisions) -> Option<GeoName> {
    let point = Point::new(city.latitude, city.longitude)?;
    let key = (city.countrycode, city.admin1code, city.name);
    let namesakes = divisions.get(&key).map(Vec::as_slice).unwrap_or_default();
    let same = namesakes.iter().find(|(other, _)| other.distance(point) <= SAME_PLACE);
    let second_division = same.map(|(_, code)| code.clone()).unwrap_or_default();
    let (country, division, name) = key;
    Some(GeoName {
        id,
        point,
        second_division,
        name,
        alternates: city.alternatenames,
        country,
        division,
        county: None,
        population: city.population,
        time_zone: city.timezone,
    })
}

fn zctas(script: &str) -> Result<Vec<Postcode>, Box<dyn Error>> {
    let list = script.find('[').zip(script.rfind(']')).ok_or("no list of ZIP codes")?;
    let zctas: Vec<Zcta> = serde_json::from_str(&script[list.0..=list.1])?;
    let postcode = |zcta: Zcta| {
        let point = Point::new(zcta.latitude, zcta.longitude)?;
        Some(Postcode { code: zcta.code, name: None, region: None, county: None, point })
    };
    Ok(zctas.into_iter().filter_map(postcode).collect())
}

/// Parses a line of `code,province,latitude,longitude`.
fn forward_sortation_area(line: &str) -> Option<Postcode> {
    let [code, province, lat, lon] = line.split(',').collect::<Vec<_>>().try_into().ok()?;
    let point = Point::new(lat.parse().ok()?, lon.parse().ok()?)?;
    Some(Postcode { code: code.to_owned(), name: None, region: Some(Region::parse(province)?), county: None, point })
}
