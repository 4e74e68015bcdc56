//! Builds the embedded gazetteer. `data/gazetteer.sh` runs it; `data/NOTICE.md` lists its sources.
//!
//! `cargo run --release --example build_gazetteer -- CITIES500_JSON ZCTA_JS US_TXT FSA_CSV OUTPUT`

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use serde::Deserialize;
use signpost_locator::gazetteer::{GeoName, GeonamesLine, Postcode, build, read_line};
use signpost_locator::{Point, Region};

/// Minimum population of a place outside the United States and Canada. In these two, all places of the data are
/// included: 500 people or more, and seats of counties.
const FEWEST: u32 = 5_000;

/// A place of `GeoNames`, in the format of its package.
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

/// A ZIP code tabulation area of the Census.
#[derive(Deserialize)]
struct Zcta {
    latitude: f64,
    longitude: f64,
    #[serde(rename = "zipCode")]
    code: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let [cities, census, post, areas, output] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "five paths, please")?;
    let cities: BTreeMap<u64, City> = serde_json::from_str(&fs::read_to_string(cities)?)?;
    let names: Vec<GeoName> = cities.into_iter().filter_map(name).collect();
    // The Census has the most exact centres of ZIP codes, so it comes first.
    let mut postcodes = zctas(&fs::read_to_string(census)?)?;
    postcodes.extend(fs::read_to_string(post)?.lines().filter_map(|line| match read_line(line)? {
        GeonamesLine::Postcode(postcode) => Some(postcode),
        _ => None,
    }));
    postcodes.extend(fs::read_to_string(areas)?.lines().filter_map(forward_sortation_area));
    println!("{} places, {} postcodes before they are sorted", names.len(), postcodes.len());
    let blob = build(names, &[], &postcodes, FEWEST)?;
    println!("{} bytes", blob.len());
    Ok(fs::write(output, blob)?)
}

fn name((id, city): (u64, City)) -> Option<GeoName> {
    Some(GeoName {
        id,
        point: Point::new(city.latitude, city.longitude)?,
        name: city.name,
        alternates: city.alternatenames,
        country: city.countrycode,
        division: city.admin1code,
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
