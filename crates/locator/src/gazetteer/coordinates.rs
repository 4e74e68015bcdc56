//! Parses geographic coordinates in the usual notations.

use crate::point::Point;

/// A token of coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CoordinateToken {
    Number(f64),
    /// The unit of the number before it: 0 for degrees, 1 for minutes, 2 for seconds.
    Mark(usize),
    North,
    South,
    East,
    West,
    Comma,
}

/// An angle, with the axis if it has a letter.
struct Angle {
    degrees: f64,
    axis: Option<Axis>,
}

/// The axis of an angle.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Axis {
    /// Latitude: the letters N and S.
    NorthSouth,
    /// Longitude: the letters E and W.
    EastWest,
}

/// Parses coordinates: decimal degrees, or degrees with minutes and seconds, with a comma, a semicolon or spaces
/// between them, or a `geo:` URI (RFC 5870). The latitude comes first unless letters mark the longitude. `None` for
/// other texts and for points that are not on the earth.
pub(crate) fn parse(text: &str) -> Option<Point> {
    parse_as(text, point)
}

/// Parses a latitude or a longitude: decimal degrees with a dot or a comma, or degrees with minutes and seconds. `None`
/// for other texts and for the letters of the other axis.
pub(crate) fn parse_degrees(text: &str, axis: Axis) -> Option<f64> {
    // A comma before a space separates two numbers.
    if text.trim().contains(", ") {
        return None;
    }
    let angle = angle(&tokens(&text.replace(',', "."))?)?;
    match angle.axis {
        Some(other) if other != axis => None,
        _ => Some(angle.degrees),
    }
}

/// Parses coordinates with the longitude first and without letters.
pub(super) fn parse_swapped(text: &str) -> Option<Point> {
    parse_as(text, |first, second| {
        let lon = angle(first)?;
        let lat = angle(second)?;
        if lon.axis.is_some() || lat.axis.is_some() {
            return None;
        }
        Point::new(lat.degrees, lon.degrees)
    })
}

/// Splits a text into the tokens of two angles, and passes them to `read`.
fn parse_as(text: &str, read: impl Fn(&[CoordinateToken], &[CoordinateToken]) -> Option<Point>) -> Option<Point> {
    // Most texts are names, and need no tokens.
    let mut text = text.trim();
    if !text.contains(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    if text.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("geo:")) {
        text = text[4..].split(['?', ';']).next().unwrap_or_default();
    }
    // If a semicolon separates the angles, commas are decimal separators.
    let tokens = if text.contains(';') { tokens(&text.replace(',', "."))? } else { tokens(text)? };
    let mut halves = tokens.split(|token| *token == CoordinateToken::Comma);
    match (halves.next(), halves.next(), halves.next()) {
        (Some(first), Some(second), None) => read(first, second),
        (Some(all), None, None) => {
            let middle = all.len() / 2;
            let even = all.len().is_multiple_of(2).then_some(middle);
            even.into_iter().chain(1..all.len()).find_map(|at| read(&all[..at], &all[at..]))
        }
        _ => None,
    }
}

/// Maximum tokens. The longest coordinates have 14: two angles of three numbers, three marks and a letter each.
const MAX_TOKENS: usize = 16;

fn tokens(text: &str) -> Option<Vec<CoordinateToken>> {
    let plain: String = text.replace(['−', '–'], "-").replace("''", "\"").to_ascii_uppercase();
    let mut rest = plain.trim_start_matches(['(', '[']).trim_end_matches([')', ']']);
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let label =
            ["LATITUDE", "LONGITUDE", "LAT", "LONG", "LON", "LNG"].iter().find_map(|label| rest.strip_prefix(label));
        if let Some(after) = label {
            rest = after.trim_start().trim_start_matches([':', '=']);
            continue;
        }
        if first.is_ascii_digit() || "+-.".contains(first) {
            let end = rest[1..]
                .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
                .map_or(rest.len(), |end| end + 1);
            tokens.push(CoordinateToken::Number(rest[..end].parse().ok()?));
            rest = &rest[end..];
            // In 10-20 the hyphen is not a minus sign.
            if rest.starts_with(['+', '-']) {
                return None;
            }
        } else {
            rest = &rest[first.len_utf8()..];
            tokens.push(match first {
                '°' | 'º' | '˚' => CoordinateToken::Mark(0),
                '\'' | '’' | '′' | '´' => CoordinateToken::Mark(1),
                '"' | '”' | '″' => CoordinateToken::Mark(2),
                'N' => CoordinateToken::North,
                'S' => CoordinateToken::South,
                'E' => CoordinateToken::East,
                'W' => CoordinateToken::West,
                ',' | ';' => CoordinateToken::Comma,
                white if white.is_whitespace() => continue,
                _ => return None,
            });
        }
        if tokens.len() > MAX_TOKENS {
            return None;
        }
    }
    Some(tokens)
}

fn point(first: &[CoordinateToken], second: &[CoordinateToken]) -> Option<Point> {
    let first = angle(first)?;
    let second = angle(second)?;
    match (first.axis, second.axis) {
        (None, None) | (Some(Axis::NorthSouth), Some(Axis::EastWest)) => Point::new(first.degrees, second.degrees),
        (Some(Axis::EastWest), Some(Axis::NorthSouth)) => Point::new(second.degrees, first.degrees),
        _ => None,
    }
}

/// Parses an angle: one to three numbers with or without marks, and an optional letter before or after them.
fn angle(tokens: &[CoordinateToken]) -> Option<Angle> {
    let (letter, tokens) = match (tokens.first().and_then(compass), tokens.last().and_then(compass)) {
        (Some(_), Some(_)) => return None,
        (Some(letter), None) => (Some(letter), &tokens[1..]),
        (None, Some(letter)) => (Some(letter), &tokens[..tokens.len() - 1]),
        (None, None) => (None, tokens),
    };
    let mut parts = [0.0; 3];
    let mut count = 0;
    for token in tokens {
        match *token {
            CoordinateToken::Number(number) if count < 3 => {
                parts[count] = number;
                count += 1;
            }
            CoordinateToken::Mark(mark) if mark + 1 == count => {}
            _ => return None,
        }
    }
    let [degrees, minutes, seconds] = parts;
    let is_whole = (count < 2 || degrees.fract() == 0.0) && (count < 3 || minutes.fract() == 0.0);
    if count == 0 || !is_whole || !(0.0..60.0).contains(&minutes) || !(0.0..60.0).contains(&seconds) {
        return None;
    }
    let negative = degrees.is_sign_negative();
    let size = degrees.abs() + minutes / 60.0 + seconds / 3600.0;
    match letter {
        // A minus sign contradicts N and E, and is redundant with S and W.
        Some((_, false)) if negative => None,
        Some((axis, backwards)) => Some(Angle { degrees: if backwards { -size } else { size }, axis: Some(axis) }),
        None => Some(Angle { degrees: if negative { -size } else { size }, axis: None }),
    }
}

/// Returns the axis of a letter, and whether its direction is negative.
fn compass(token: &CoordinateToken) -> Option<(Axis, bool)> {
    match token {
        CoordinateToken::North => Some((Axis::NorthSouth, false)),
        CoordinateToken::South => Some((Axis::NorthSouth, true)),
        CoordinateToken::East => Some((Axis::EastWest, false)),
        CoordinateToken::West => Some((Axis::EastWest, true)),
        CoordinateToken::Number(_) | CoordinateToken::Mark(_) | CoordinateToken::Comma => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::Distance;

    #[test]
    fn usual_coordinate_notations_are_parsed() {
        let new_york = Point::new(40.7128, -74.006).unwrap();
        for text in [
            "40.7128,-74.0060",
            "40.7128, -74.006",
            " 40.7128 -74.006 ",
            "40.7128;-74.006",
            "40,7128; -74,006",
            "(40.7128, -74.006)",
            "+40.7128, −74.006",
            "40.7128N 74.006W",
            "40.7128 N, 74.0060 W",
            "N 40.7128 W 74.0060",
            "N40.7128, W74.0060",
            "40.7128° N, 74.0060° W",
            "74.0060° W, 40.7128° N",
            "40.7128°, -74.0060°",
            "40.7128N, -74.006W",
            "40°42'46.08\"N 74°0'21.6\"W",
            "40° 42′ 46.08″ N, 74° 0′ 21.6″ W",
            "40°42'46.08''n, 74°00'21.6''w",
            "40 42 46.08 N 74 0 21.6 W",
            "N 40 42 46.08 W 74 0 21.6",
            "40 42.768 N 74 0.36 W",
            "40 42.768, -74 0.36",
            "40 42 46.08 -74 0 21.6",
            "lat: 40.7128, lon: -74.006",
            "Latitude=40.7128 Longitude=-74.006",
            "Lat 40.7128 Long -74.006",
            "geo:40.7128,-74.006",
            "geo:40.7128,-74.006;u=35",
            "GEO:40.7128,-74.006?z=12",
        ] {
            let point = parse(text).unwrap_or_else(|| panic!("{text}"));
            assert!(point.distance(new_york) < Distance::metres(1.0), "{text}: {point:?}");
        }
    }

    #[test]
    fn letters_of_an_angle_match_its_axis() {
        for (text, axis, expected) in [
            ("52°31'12\"N", Axis::NorthSouth, Some(52.52)),
            ("13°24'18\" E", Axis::EastWest, Some(13.405)),
            ("97,7431 W", Axis::EastWest, Some(-97.7431)),
            ("-97.7431W", Axis::EastWest, Some(-97.7431)),
            ("S 33.85", Axis::NorthSouth, Some(-33.85)),
            ("−33.85", Axis::NorthSouth, Some(-33.85)),
            ("52°31'12\"N", Axis::EastWest, None),
            ("13.4 E", Axis::NorthSouth, None),
            ("-13.4 E", Axis::EastWest, None),
            ("52°61'", Axis::NorthSouth, None),
            ("1, 2", Axis::NorthSouth, None),
            ("12 Main St", Axis::NorthSouth, None),
            ("", Axis::NorthSouth, None),
        ] {
            let found = parse_degrees(text, axis).map(|degrees| (degrees * 1e9).round() / 1e9);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn zero_degrees_preserve_their_sign() {
        for (text, lat, lon) in [
            ("0,0", 0.0, 0.0),
            ("-0.5, -0.5", -0.5, -0.5),
            ("-0 30 0, -0 15 0", -0.5, -0.25),
            ("33°51'S 151°12'E", -33.85, 151.2),
            ("-90 180", -90.0, 180.0),
        ] {
            let expected = Point::new(lat, lon).unwrap();
            assert!(parse(text).is_some_and(|point| point.distance(expected) < Distance::metres(1.0)), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_coordinates() {
        for text in [
            "",
            ",",
            "40.7",
            "40.7,",
            ",-74",
            "91,0",
            "0,181",
            "-118.2,34.05,1",
            "40.7128N 74.006N",
            "-40 N, 74 W",
            "10-20",
            "33101-1234",
            "33101",
            "1.2.3,4",
            "40 61 0, 74 0 0",
            "40.5 30 0, 74 0 0",
            "1 Main St",
            "N",
            "N W",
            "nan,nan",
            "1e1,2",
            "40'42,74",
            "Austin, TX",
            "é,é",
            "geo:",
            "1 2 3 4 5 6 7 8",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"1 ".repeat(100)), None);
    }
}
