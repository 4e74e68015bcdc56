//! Parsers of the embedded tables of landmarks and airports.

use super::{AirportCodes, Landmark, LandmarkKind, without_ending};
use crate::country::Country;
use crate::fold::fold;
use crate::point::{Distance, Point};
use crate::region::Region;

/// Radius assigned to every airport.
const AIRPORT_RADIUS: Distance = Distance::miles(2.0);
/// Maximum radius of a landmark.
const MAX_RADIUS_MILES: f64 = 1_000.0;

/// The error of an invalid line in an embedded table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct UnreadableRow {
    /// The line number, starting from 1.
    pub line: usize,
    /// The reason.
    pub reason: &'static str,
}

/// The folded names of an airport.
pub(super) struct AirportNames {
    /// Full names, starting with the display name.
    pub(super) names: Vec<String>,
    /// Names that are only valid with a word such as `Airport`: cities, and ambiguous names.
    pub(super) before: Vec<String>,
}

/// Parses the table of landmarks. Its columns are: names (the first is the display name, but a nickname displays its
/// city), kind, city, region, country, latitude, longitude, radius in miles.
pub(super) fn landmark_rows(
    table: &'static str,
) -> impl Iterator<Item = Result<(Landmark, Vec<String>), UnreadableRow>> {
    rows(table, |[names, kind, city, region, country, lat, lon, radius]| {
        let kind = LandmarkKind::parse(kind).filter(|kind| *kind != LandmarkKind::Airport).ok_or("no such kind")?;
        let radius: f64 = radius.parse().map_err(|_| "the radius is no number")?;
        if !(0.1..=MAX_RADIUS_MILES).contains(&radius) {
            return Err("the radius is 0.1 to 1000 miles");
        }
        let name = if kind == LandmarkKind::Nickname { city } else { names.split('|').next().unwrap_or_default() };
        let radius = Distance::miles(radius);
        let region = region_of(region, country)?;
        let country = country_of(country)?;
        let point = point_of(lat, lon)?;
        let called = folded(names);
        if city.is_empty() || called.iter().any(String::is_empty) {
            return Err("a name is empty");
        }
        Ok((Landmark { name, kind, city, region, country, point, radius, codes: None }, called))
    })
}

/// Parses the table of airports. Its columns are: IATA code, ICAO code, name, other full names, names that need the
/// word `Airport`, cities, region, country, latitude, longitude.
pub(super) fn airport_rows(
    table: &'static str,
) -> impl Iterator<Item = Result<(Landmark, AirportNames), UnreadableRow>> {
    rows(table, |[iata, icao, name, alone, before, cities, region, country, lat, lon]| {
        if !is_code(iata, 3) || !is_code(icao, 4) {
            return Err("a code is not three and four capitals");
        }
        let region = region_of(region, country)?;
        let country = country_of(country)?;
        let point = point_of(lat, lon)?;
        let city = cities.split('|').next().unwrap_or_default();
        let own = folded(name);
        let alone = folded_if_any(alone);
        let cities = folded(cities);
        let with_city: Vec<String> = cities.iter().flat_map(|city| with_city(city, iata, &own, &alone)).collect();
        let names: Vec<String> = own.into_iter().chain(alone).chain(with_city).collect();
        let before: Vec<String> = cities.into_iter().chain(folded_if_any(before)).collect();
        if names.iter().chain(&before).any(String::is_empty) {
            return Err("a name is empty");
        }
        let airport = Landmark {
            name,
            kind: LandmarkKind::Airport,
            city,
            region,
            country,
            point,
            radius: AIRPORT_RADIUS,
            codes: Some(AirportCodes { iata, icao }),
        };
        Ok((airport, AirportNames { names, before }))
    })
}

fn is_code(code: &str, length: usize) -> bool {
    code.len() == length && code.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Splits a list of names and folds each name.
fn folded(names: &str) -> Vec<String> {
    names.split('|').map(fold).collect()
}

/// Splits a list of names that may be empty and folds each name.
fn folded_if_any(names: &str) -> Vec<String> {
    if names.is_empty() { Vec::new() } else { folded(names) }
}

/// Returns the names of an airport combined with a city: `London Heathrow` for `London Heathrow Airport`, and each full
/// name before and after the city, as in `Tokyo Haneda` and `JFK New York`.
fn with_city<'a>(
    city: &'a str,
    iata: &'a str,
    own: &'a [String],
    alone: &'a [String],
) -> impl Iterator<Item = String> + 'a {
    /// Minimum number of letters after the city. Shorter rests may be a part of the city's name.
    const MIN_LETTERS: usize = 5;
    let code = if alone.is_empty() { None } else { Some(iata.to_ascii_lowercase()) };
    let beside = alone.iter().cloned().chain(code).filter(move |name| !name.starts_with(city));
    let both = beside.flat_map(move |name| [format!("{city}{name}"), format!("{name}{city}")]);
    let stems = own.iter().filter_map(|name| without_ending(name));
    let of_own = stems.filter(move |stem| {
        let rest = stem.strip_prefix(city).unwrap_or_default();
        rest.len() >= MIN_LETTERS && !rest.contains("county")
    });
    both.chain(of_own.map(str::to_owned))
}

/// Parses the tab-separated lines after the header.
fn rows<const N: usize, T>(
    table: &'static str,
    read: impl Fn([&'static str; N]) -> Result<T, &'static str>,
) -> impl Iterator<Item = Result<T, UnreadableRow>> {
    table.lines().enumerate().skip(1).map(move |(at, line)| {
        let cells: Vec<&'static str> = line.split('\t').collect();
        let row = <[&'static str; N]>::try_from(cells).map_err(|_| "wrong number of columns").and_then(&read);
        row.map_err(|reason| UnreadableRow { line: at + 1, reason })
    })
}

fn region_of(code: &str, country: &str) -> Result<Option<Region>, &'static str> {
    let region = Region::all().find(|region| region.code() == code && region.country().code() == country);
    match region {
        None if !code.is_empty() => Err("no such region in that country"),
        None if country == "US" || country == "CA" => Err("the region is missing"),
        region => Ok(region),
    }
}

fn country_of(code: &str) -> Result<Country, &'static str> {
    Country::parse(code).filter(|country| country.code() == code).ok_or("no such country")
}

fn point_of(lat: &str, lon: &str) -> Result<Point, &'static str> {
    Point::parse(lat, lon).ok_or("these are no coordinates")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the errors of a table with a header and one row.
    fn collect_errors<T>(rows: impl Iterator<Item = Result<T, UnreadableRow>>) -> Vec<UnreadableRow> {
        rows.filter_map(Result::err).collect()
    }

    #[test]
    fn invalid_row_is_named() {
        for (row, reason) in [
            ("", "wrong number of columns"),
            ("A|B\tlandmark\tReno\tNV\tUS\t39.5\t-119.8", "wrong number of columns"),
            ("A\tairport\tReno\tNV\tUS\t39.5\t-119.8\t1", "no such kind"),
            ("A\tLandmark\tReno\tNV\tUS\t39.5\t-119.8\t1", "no such kind"),
            ("A\tlandmark\tReno\tNV\tCA\t39.5\t-119.8\t1", "no such region in that country"),
            ("A\tlandmark\tReno\t\tUS\t39.5\t-119.8\t1", "the region is missing"),
            ("A\tlandmark\tReno\tNevada\tUS\t39.5\t-119.8\t1", "no such region in that country"),
            ("A\tlandmark\tParis\t\tFrance\t39.5\t-119.8\t1", "no such country"),
            ("A\tlandmark\tReno\tNV\tUS\t139.5\t-119.8\t1", "these are no coordinates"),
            ("A\tlandmark\tReno\tNV\tUS\tNaN\t-119.8\t1", "these are no coordinates"),
            ("A\tlandmark\tReno\tNV\tUS\t39.5\t-119.8\t0", "the radius is 0.1 to 1000 miles"),
            ("A\tlandmark\tReno\tNV\tUS\t39.5\t-119.8\tNaN", "the radius is 0.1 to 1000 miles"),
            ("A\tlandmark\tReno\tNV\tUS\t39.5\t-119.8\t", "the radius is no number"),
            ("A||B\tlandmark\tReno\tNV\tUS\t39.5\t-119.8\t1", "a name is empty"),
            ("A\tlandmark\t\tNV\tUS\t39.5\t-119.8\t1", "a name is empty"),
        ] {
            let table: &'static str = Box::leak(format!("names\n{row}\n").into_boxed_str());
            assert_eq!(collect_errors(landmark_rows(table)), [UnreadableRow { line: 2, reason }], "{row}");
        }
    }

    #[test]
    fn invalid_airport_is_named() {
        for (row, reason) in [
            ("RNO\tKRNO\tReno\tReno\tNV\tUS\t39.5\t-119.8", "wrong number of columns"),
            ("rno\tKRNO\tReno\t\t\tReno\tNV\tUS\t39.5\t-119.8", "a code is not three and four capitals"),
            ("RNO\tRNO\tReno\t\t\tReno\tNV\tUS\t39.5\t-119.8", "a code is not three and four capitals"),
            ("RNO\tKRNO\t\t\t\tReno\tNV\tUS\t39.5\t-119.8", "a name is empty"),
            ("RNO\tKRNO\tReno\tA||B\t\tReno\tNV\tUS\t39.5\t-119.8", "a name is empty"),
            ("RNO\tKRNO\tReno\t\t|A\tReno\tNV\tUS\t39.5\t-119.8", "a name is empty"),
            ("RNO\tKRNO\tReno\t\t\t\tNV\tUS\t39.5\t-119.8", "a name is empty"),
            ("RNO\tKRNO\tReno\t\t\tReno\tNV\tUS\t\t-119.8", "these are no coordinates"),
        ] {
            let table: &'static str = Box::leak(format!("codes\n{row}\n").into_boxed_str());
            assert_eq!(collect_errors(airport_rows(table)), [UnreadableRow { line: 2, reason }], "{row}");
        }
    }
}
