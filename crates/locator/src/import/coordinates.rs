//! Coordinates in cells: in two columns, or both in one column.

use std::borrow::Cow;

use super::field::Field;
use super::placeholders::is_placeholder;
use crate::gazetteer::coordinates::{Axis, parse, parse_degrees};
use crate::point::Point;

/// The names of columns with both coordinates, the best first: in lower case, letters and digits only.
pub(super) const COLUMNS: [&str; 22] = [
    "coordinates",
    "coordinate",
    "coords",
    "latlng",
    "latlon",
    "latlong",
    "latitudelongitude",
    "gpscoordinates",
    "gps",
    "geopoint",
    "geopoint2d",
    "geolocation",
    "geocoordinates",
    "wkt",
    "thegeom",
    "geom",
    "geometry",
    "geo",
    "point",
    "position",
    "locationcoordinates",
    "location",
];

/// The first words of geometries in Well-Known Text.
const WKT: [&str; 7] = ["SRID=", "POINT", "MULTIPOINT", "LINESTRING", "MULTILINESTRING", "POLYGON", "MULTIPOLYGON"];

/// Parses the coordinates of a row: from the column with both if its cell is not blank, else from the columns for
/// latitude and longitude.
///
/// # Errors
/// The reason why the row is not used: the coordinates are missing, in no known notation, out of range, or 0, 0.
pub(super) fn point(lat: &str, lon: &str, both: &str) -> Result<Point, String> {
    let is_missing = |cell: &str| cell.trim().is_empty() || is_placeholder(Field::Coordinates, cell);
    if !is_missing(both) {
        let shown = shorten(both);
        let point = point_of_text(both).ok_or_else(|| {
            format!("no coordinates in a known notation, such as 52.52, 13.405 or POINT(13.405 52.52): {shown}")
        })?;
        return not_zero(point);
    }
    if is_missing(lat) || is_missing(lon) {
        return Err("no coordinates".to_owned());
    }
    let shown = format!("{}, {}", shorten(lat), shorten(lon));
    let Some((north, east)) = degrees(lat, Axis::NorthSouth).zip(degrees(lon, Axis::EastWest)) else {
        return Err(format!("coordinates are not numbers: {shown}"));
    };
    let Some(point) = Point::new(north, east) else {
        let swapped = if Point::new(east, north).is_some() { "; are they swapped?" } else { "" };
        return Err(format!("coordinates out of range (latitude -90 to 90, longitude -180 to 180): {shown}{swapped}"));
    };
    not_zero(point)
}

/// Rejects the point 0, 0, which stands for unknown coordinates in many files.
fn not_zero(point: Point) -> Result<Point, String> {
    if point.lat() == 0.0 && point.lon() == 0.0 { Err("coordinates are 0, 0".to_owned()) } else { Ok(point) }
}

fn degrees(text: &str, axis: Axis) -> Option<f64> {
    // Quotes around a number are those of a program; after a number they mean minutes.
    let number = text.trim().trim_matches('\'').replace(',', ".").replace('\u{2212}', "-");
    match number.parse() {
        Ok(number) => Some(number),
        Err(_) => parse_degrees(&without_colons(text), axis),
    }
}

/// Replaces the colons between degrees, minutes and seconds, as in `30:15:00 N`.
fn without_colons(text: &str) -> Cow<'_, str> {
    if text.contains(':') { text.replace(':', " ").into() } else { text.into() }
}

/// Parses both coordinates: a point of Well-Known Text or GeoJSON, or latitude and longitude in a usual notation, also in
/// parentheses at the end of an address.
fn point_of_text(text: &str) -> Option<Point> {
    let text = text.trim();
    if text.starts_with('{') {
        return geojson_point(&serde_json::from_str(text).ok()?);
    }
    if is_wkt(text) {
        return wkt_point(text);
    }
    if let Some(point) = parse(text).or_else(|| parse(&text.replace(" / ", "; "))) {
        return Some(point);
    }
    let (_, last) = text.strip_suffix(')')?.rsplit_once('(')?;
    parse(last)
}

/// Checks for a geometry of Well-Known Text, in which the longitude comes first.
fn is_wkt(text: &str) -> bool {
    let starts_with = |name: &&str| text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    WKT.iter().any(starts_with)
}

/// Returns the position of a GeoJSON point (RFC 7946), with the longitude first. `None` for other values.
pub(super) fn geojson_point(geometry: &serde_json::Value) -> Option<Point> {
    if geometry["type"] != "Point" {
        return None;
    }
    let position = geometry["coordinates"].as_array()?;
    Point::new(position.get(1)?.as_f64()?, position.first()?.as_f64()?)
}

/// Parses a point of Well-Known Text, such as `POINT(13.405 52.52)`, with the longitude first. It may have an altitude,
/// and before it the identifier of WGS 84 (`SRID=4326;`).
fn wkt_point(text: &str) -> Option<Point> {
    let text = text.to_ascii_uppercase();
    let text = text.strip_prefix("SRID=4326;").unwrap_or(&text).trim_start();
    let (dimensions, numbers) = text.strip_prefix("POINT")?.split_once('(')?;
    if !["", "Z", "M", "ZM"].contains(&dimensions.trim()) {
        return None;
    }
    let mut numbers = numbers.strip_suffix(')')?.split_whitespace();
    let lon: f64 = numbers.next()?.parse().ok()?;
    let lat: f64 = numbers.next()?.parse().ok()?;
    if numbers.count() > 2 { None } else { Point::new(lat, lon) }
}

/// Returns the part of a cell that a message shows.
fn shorten(cell: &str) -> String {
    signpost_text::clean_line(cell).trim().chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_coordinates_are_read_from_one_cell() {
        for text in [
            "52.52, 13.405",
            "52.52,13.405",
            "(52.52, 13.405)",
            "[52.52, 13.405]",
            "52.52 13.405",
            "52,52; 13,405",
            "52,52 / 13,405",
            "52.52 / 13.405",
            "POINT(13.405 52.52)",
            "point (13.405 52.52)",
            "POINT Z (13.405 52.52 34.5)",
            "SRID=4326;POINT(13.405 52.52)",
            "52°31'12\"N 13°24'18\"E",
            "13°24'18\"E, 52°31'12\"N",
            "52.52° N, 13.405° E",
            "geo:52.52,13.405",
            "{\"type\": \"Point\", \"coordinates\": [13.405, 52.52]}",
            "1 Main St\nBerlin\n(52.52, 13.405)",
        ] {
            let point = point("", "", text).unwrap_or_else(|reason| panic!("{text}: {reason}"));
            assert!((point.lat() - 52.52).abs() < 1e-9 && (point.lon() - 13.405).abs() < 1e-9, "{text}: {point:?}");
        }
    }

    #[test]
    fn other_texts_are_not_coordinates() {
        for text in [
            "12 Main St",
            "NaN, NaN",
            "95, 13",
            "POINT(13.405)",
            "POINT(13.405 95)",
            "POINT(1 2 3 4 5)",
            "POINT EMPTY",
            "POLYGON((1 2, 3 4, 5 6, 1 2))",
            "SRID=3857;POINT(1492225 6894699)",
            "{\"type\": \"Point\", \"coordinates\": [null, null]}",
            "{\"type\": \"Polygon\", \"coordinates\": [[[1, 2]]]}",
            "{",
            "52.52N 13.405N",
        ] {
            let reason = point("", "", text).expect_err(text);
            assert!(reason.starts_with("no coordinates in a known notation, such as 52.52, 13.405"), "{reason}");
        }
        assert_eq!(point("", "", "POINT(0 0)"), Err("coordinates are 0, 0".to_owned()));
        assert!(point("", "", &"(".repeat(60_000)).is_err_and(|reason| reason.len() < 200));
    }

    #[test]
    fn two_cells_may_have_minutes_and_letters() {
        for (lat, lon) in
            [("52°31'12\"N", "13°24'18\"E"), ("52,52", "13,405"), ("N 52.52", "13.405 E"), ("52:31:12 N", "13:24:18 E")]
        {
            let point = point(lat, lon, " ").unwrap_or_else(|reason| panic!("{lat}: {reason}"));
            assert!((point.lat() - 52.52).abs() < 1e-9 && (point.lon() - 13.405).abs() < 1e-9, "{lat}: {point:?}");
        }
        for (lat, lon) in [("NaN", "1"), ("1", "nan"), ("inf", "1"), ("13°24'18\"E", "52°31'12\"N"), ("1, 2", "1, 2")]
        {
            assert!(point(lat, lon, "").is_err(), "{lat}, {lon}");
        }
    }
}
