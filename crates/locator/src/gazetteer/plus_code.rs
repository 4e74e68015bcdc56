//! Parser of plus codes (Open Location Code, version 1.0 of the specification).
//!
//! Ten digits of base 20, alternating between latitude and longitude, denote an area of an 8000th of a degree. Each
//! further digit divides the area into a grid of 4 by 5 cells. A full code has eight digits before the plus sign; a
//! short code has fewer and is relative to a nearby place.

use std::fmt;

use crate::point::Point;

const DIGITS: &[u8] = b"23456789CFGHJMPQRVWX";
/// Number of digits before the plus sign of a full code.
const BEFORE_SIGN: usize = 8;
/// Maximum number of digits in a code.
const MAX_DIGITS: usize = 15;

/// A valid plus code, full or short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlusCode {
    /// The code in upper case.
    written: String,
    /// The values of its digits, without padding.
    digits: Vec<u32>,
    /// The number of digits of the full code that are missing at the start.
    missing: usize,
}

/// Parses the plus code at the start of a text, and returns it with the rest of the text.
pub(super) fn find(text: &str) -> Option<(PlusCode, &str)> {
    if !text.contains('+') {
        return None;
    }
    let end = text.find(|letter: char| letter.is_whitespace() || letter == ',').unwrap_or(text.len());
    let code = PlusCode::parse(&text[..end])?;
    Some((code, text[end..].trim_start_matches(|letter: char| letter == ',' || letter.is_whitespace())))
}

impl PlusCode {
    fn parse(text: &str) -> Option<Self> {
        let written = text.to_ascii_uppercase();
        let (before, after) = written.split_once('+')?;
        if !(2..=BEFORE_SIGN).contains(&before.len()) || !before.len().is_multiple_of(2) {
            return None;
        }
        if after.len() == 1 || before.len() + after.len() > MAX_DIGITS {
            return None;
        }
        let known = before.trim_end_matches('0');
        if before.contains('0') {
            let is_valid = before.len() == BEFORE_SIGN && known.len().is_multiple_of(2) && !known.is_empty();
            if !is_valid || !after.is_empty() {
                return None;
            }
        }
        let digits: Vec<u32> = known.bytes().chain(after.bytes()).map(digit_value).collect::<Option<_>>()?;
        let missing = BEFORE_SIGN - before.len();
        // The first digit counts steps of 20 degrees: 9 for the latitude, 18 for the longitude.
        if missing == 0 && (*digits.first()? >= 9 || *digits.get(1)? >= 18) {
            return None;
        }
        Some(Self { written, digits, missing })
    }

    /// Returns the middle of the area of a full code, or `None` for a short code.
    pub(super) fn point(&self) -> Option<Point> {
        if self.missing == 0 { middle(&self.digits) } else { None }
    }

    /// Completes a short code with the area nearest to a point, and returns the middle of this area.
    pub(super) fn near(&self, reference: Point) -> Option<Point> {
        let mut digits = digits_at(reference, self.missing);
        digits.extend(&self.digits);
        let here = middle(&digits)?;
        // The missing digits of the nearest area may differ from those of the reference point.
        let step = 20.0 / 20_f64.powi(i32::try_from(self.missing / 2).ok()? - 1);
        let lat = nearest_step(here.lat(), reference.lat(), step);
        let lon = nearest_step(here.lon(), reference.lon(), step);
        let lat = if lat.abs() > 90.0 { here.lat() } else { lat };
        Point::new(lat, (lon + 540.0).rem_euclid(360.0) - 180.0)
    }
}

impl fmt::Display for PlusCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

fn digit_value(digit: u8) -> Option<u32> {
    let at = DIGITS.iter().position(|known| *known == digit)?;
    u32::try_from(at).ok()
}

/// Moves a value by one step towards another value, if it is more than half a step away.
fn nearest_step(value: f64, towards: f64, step: f64) -> f64 {
    match value - towards {
        away if away > step / 2.0 => value - step,
        away if away < -step / 2.0 => value + step,
        _ => value,
    }
}

/// Returns the first digits of the code at a point. `count` must be even.
fn digits_at(point: Point, count: usize) -> Vec<u32> {
    let mut lat = (point.lat() + 90.0).min(179.999_999);
    let mut lon = (point.lon() + 180.0).rem_euclid(360.0);
    let mut size = 20.0;
    let mut digits = Vec::with_capacity(count);
    for _ in 0..count / 2 {
        for angle in [&mut lat, &mut lon] {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 19")]
            digits.push((*angle / size).floor().clamp(0.0, 19.0) as u32);
            *angle %= size;
        }
        size /= 20.0;
    }
    digits
}

/// Returns the middle of the area of a code.
fn middle(digits: &[u32]) -> Option<Point> {
    const PAIRS: usize = 10;
    let mut lat = -90.0;
    let mut lon = -180.0;
    let mut height = 400.0;
    let mut width = 400.0;
    let (pairs, grid) = digits.split_at(digits.len().min(PAIRS));
    for pair in pairs.chunks_exact(2) {
        height /= 20.0;
        width /= 20.0;
        lat += f64::from(pair[0]) * height;
        lon += f64::from(pair[1]) * width;
    }
    for digit in grid {
        height /= 5.0;
        width /= 4.0;
        lat += f64::from(digit / 4) * height;
        lon += f64::from(digit % 4) * width;
    }
    Point::new(lat + height / 2.0, lon + width / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<Point>, lat: f64, lon: f64) -> bool {
        found.is_some_and(|point| (point.lat() - lat).abs() < 1e-4 && (point.lon() - lon).abs() < 1e-4)
    }

    #[test]
    fn codes_resolve_to_the_centre_of_their_area() {
        for (text, lat, lon) in [
            ("7FG49Q00+", 20.375, 2.775),
            ("7FG49QCJ+2V", 20.370_062_5, 2.782_187_5),
            ("7fg49qcj+2vx", 20.370_112_5, 2.782_234_375),
            ("8FVC2222+22", 47.000_062_5, 8.000_062_5),
            ("62G20000+", 0.5, -179.5),
            ("4VCPPQGP+Q9", -41.273_062_5, 174.785_937_5),
        ] {
            let (code, rest) = find(text).unwrap_or_else(|| panic!("{text}"));
            assert!(near(code.point(), lat, lon), "{text}: {:?}", code.point());
            assert_eq!(rest, "");
        }
    }

    #[test]
    fn short_code_is_resolved_near_its_place() {
        let at = |text: &str, lat, lon| find(text).and_then(|(code, _)| code.near(Point::new(lat, lon)?));
        assert!(near(at("9QCJ+2V", 20.4, 2.7), 20.370_062_5, 2.782_187_5));
        assert!(near(at("CJ+2V", 20.37, 2.78), 20.370_062_5, 2.782_187_5));
        // The nearest match is in the area next to the place's area.
        assert!(near(at("2222+22", 46.99, 8.01), 47.000_062_5, 8.000_062_5));
        assert!(near(at("2222+22", 47.01, 7.99), 47.000_062_5, 8.000_062_5));
        assert_eq!(find("9QCJ+2V Lagos, Nigeria").unwrap().1, "Lagos, Nigeria");
        assert_eq!(find("9QCJ+2V").unwrap().0.point(), None);
    }

    #[test]
    fn other_texts_are_not_codes() {
        for text in [
            "",
            "+",
            "1+1",
            "9QCJ2V",
            "9QCJ+2",
            "9QC+2V",
            "AAAA+AA",
            "G+",
            "ZZ+22",
            "00000000+",
            "7FG49Q00+22",
            "XXXXXXXX+XX",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }
}
