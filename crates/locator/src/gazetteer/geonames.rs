//! Parser of the `GeoNames` tables. They are tab-separated and have no header; a table is recognized by its number of
//! columns. Format: `https://download.geonames.org/export/dump/readme.txt` and `export/zip/readme.txt`.

use std::collections::HashSet;

use super::build::{GeoName, Postcode};
use super::postal_county::{PostalCounty, county_code};
use super::subdivision::{Subdivision, names};
use crate::country::Country;
use crate::point::Point;
use crate::region::Region;

/// A parsed line of a `GeoNames` table.
#[derive(Clone, Debug, PartialEq)]
pub enum GeonamesLine {
    /// A populated place (`cities500.txt`, `allCountries.txt`, or the file of a country).
    Place(GeoName),
    /// A subdivision of a US county, such as a township (`US.txt`, `allCountries.txt`).
    Subdivision(Subdivision),
    /// A postcode (`US.txt`, `CA.txt` and `CA_full.txt` in the postcode archive).
    Postcode(Postcode),
    /// An alternate name of a place (`alternateNamesV2.txt`).
    Name {
        /// The `GeoNames` ID of the place.
        of: u64,
        /// The name.
        name: String,
        /// Whether the name is historic, or not a name at all.
        is_dead: bool,
    },
    /// Any other entry, such as a mountain or a postcode of another country.
    Other,
}

/// Feature codes of abandoned and historical places.
const ABANDONED: [&str; 4] = ["PPLCH", "PPLH", "PPLQ", "PPLW"];
/// Values of the language column that mark entries other than names.
const NO_LANGUAGES: [&str; 8] = ["post", "link", "iata", "icao", "faac", "wkdt", "unlc", "tcid"];

/// Parses a line. Returns `None` if it does not belong to any of these tables.
#[must_use]
pub fn read_line(line: &str) -> Option<GeonamesLine> {
    let columns: Vec<&str> = line.split('\t').collect();
    match columns.len() {
        19 => place(&columns),
        12 => postcode(&columns),
        10 => name(&columns),
        _ => None,
    }
}

fn place(columns: &[&str]) -> Option<GeonamesLine> {
    let id = columns[0].parse().ok()?;
    let class = columns[6];
    let kind = columns[7];
    if columns[8] == "US" && class == "A" && ["ADM3", "ADM4"].contains(&kind) {
        return subdivision(columns);
    }
    if class != "P" || ABANDONED.contains(&kind) {
        return Some(GeonamesLine::Other);
    }
    Some(GeonamesLine::Place(GeoName {
        id,
        name: columns[1].to_owned(),
        alternates: columns[3].split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        point: Point::parse(columns[4], columns[5])?,
        country: columns[8].to_owned(),
        division: columns[10].to_owned(),
        second_division: columns[11].to_owned(),
        county: county_code(columns[11]),
        population: population(columns)?,
        time_zone: columns[17].to_owned(),
    }))
}

/// Parses a subdivision. Numbered subdivisions and those that exist only for elections are skipped, because they are
/// not used in addresses.
fn subdivision(columns: &[&str]) -> Option<GeonamesLine> {
    const NO_ADDRESS: [&str; 4] = ["Beat", "District", "Precinct", "Ward"];
    let written = columns[1];
    if written.contains(|letter: char| letter.is_ascii_digit())
        || written.split_whitespace().any(|word| NO_ADDRESS.contains(&word))
    {
        return Some(GeonamesLine::Other);
    }
    let Some(region) = Region::parse(columns[10]) else { return Some(GeonamesLine::Other) };
    let (name, alternates) = names(written);
    Some(GeonamesLine::Subdivision(Subdivision {
        name,
        alternates,
        region,
        county: county_code(columns[11]),
        point: Point::parse(columns[4], columns[5])?,
        population: population(columns)?,
    }))
}

/// Returns the population, at most `u32::MAX`.
fn population(columns: &[&str]) -> Option<u32> {
    Some(columns[14].parse::<u64>().ok()?.try_into().unwrap_or(u32::MAX))
}

fn postcode(columns: &[&str]) -> Option<GeonamesLine> {
    let point = Point::parse(columns[9], columns[10])?;
    let nation = Country::parse(columns[0])?;
    let region = match Region::of_territory(nation) {
        None => Region::parse(columns[4]).filter(|region| region.country() == nation),
        territory => territory,
    };
    let Some(region) = region else { return Some(GeonamesLine::Other) };
    let name = if columns[2].is_empty() { None } else { Some(columns[2].to_owned()) };
    let county = match (county_code(columns[6]), columns[5].trim()) {
        (None, _) | (_, "") => None,
        (Some(code), name) => Some(PostalCounty { name: name.to_owned(), code }),
    };
    Some(GeonamesLine::Postcode(Postcode { code: columns[1].to_owned(), name, region: Some(region), county, point }))
}

fn name(columns: &[&str]) -> Option<GeonamesLine> {
    let is_dead = columns[7] == "1" || NO_LANGUAGES.contains(&columns[2]);
    Some(GeonamesLine::Name { of: columns[1].parse().ok()?, name: columns[3].to_owned(), is_dead })
}

impl GeoName {
    /// Removes historic alternate names and adds missing alternate names.
    pub fn correct(&mut self, dead: &HashSet<String>, living: Vec<String>) {
        let used: HashSet<&String> = living.iter().collect();
        self.alternates.retain(|name| !dead.contains(name) || used.contains(name));
        let known: HashSet<&String> = self.alternates.iter().collect();
        let new: Vec<String> = living.into_iter().filter(|name| !known.contains(name)).collect();
        self.alternates.extend(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_recognized_by_their_columns() {
        let place = "1\tAustin\tAustin\tATX,Waterloo\t30.26715\t-97.74306\tP\tPPLA\tUS\t\tTX\t453\t\t\t931830\t149\t165\tAmerica/Chicago\t2024-01-01";
        let Some(GeonamesLine::Place(place)) = read_line(place) else { panic!("a place") };
        assert_eq!((place.name.as_str(), place.population, place.alternates.len()), ("Austin", 931_830, 2));
        let ghost = "2\tGone\tGone\t\t30.0\t-97.0\tP\tPPLH\tUS\t\tTX\t\t\t\t0\t\t1\tAmerica/Chicago\t2024-01-01";
        assert_eq!(read_line(ghost), Some(GeonamesLine::Other));
        let zip = "US\t78701\tAustin\tTexas\tTX\tTravis\t453\t\t\t30.2713\t-97.7426\t4";
        let Some(GeonamesLine::Postcode(zip)) = read_line(zip) else { panic!("a postcode") };
        assert_eq!((zip.code.as_str(), zip.region.map(Region::code)), ("78701", Some("TX")));
        let territory = "PR\t00601\tAdjuntas\t\t\tAdjuntas\t001\t\t\t18.1788\t-66.7516\t4";
        let Some(GeonamesLine::Postcode(zip)) = read_line(territory) else { panic!("a postcode") };
        assert_eq!(zip.region.map(Region::code), Some("PR"));
        let french = "FR\t75001\tParis 01\tÎle-de-France\t11\tParis\t75\t\t\t48.8592\t2.3417\t5";
        assert_eq!(read_line(french), Some(GeonamesLine::Other));
        let name = "9\t1\ten\tWaterloo\t\t\t\t1\t\t";
        assert_eq!(read_line(name), Some(GeonamesLine::Name { of: 1, name: "Waterloo".to_owned(), is_dead: true }));
        for line in ["", "a\tb", "x\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11"] {
            assert_eq!(read_line(line), None, "{line:?}");
        }
    }

    #[test]
    fn names_are_corrected() {
        let line = "1\tAustin\tAustin\tATX,Waterloo\t30.26715\t-97.74306\tP\tPPLA\tUS\t\tTX\t453\t\t\t931830\t149\t165\tAmerica/Chicago\t2024-01-01";
        let Some(GeonamesLine::Place(mut place)) = read_line(line) else { panic!("a place") };
        place.correct(&HashSet::from(["Waterloo".to_owned()]), vec!["ATX".to_owned(), "Остин".to_owned()]);
        assert_eq!(place.alternates, ["ATX", "Остин"]);
    }
}
