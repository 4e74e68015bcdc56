//! Resolver steps for texts that contain a point: coordinates, links to maps, and plus codes.

use super::around::has_only_filler_words;
use super::coordinates::{parse, parse_swapped};
use super::location_text::LocationText;
use super::resolve::{PlaceSource, Resolved, Unresolved, UnresolvedKind};
use super::steps::PlaceAnswer;
use super::{Gazetteer, map_link, plus_code};
use crate::point::{Distance, Point};

/// Minimum distance to the nearest place of an implausible point.
const IMPLAUSIBLE_DISTANCE: Distance = Distance::metres(300_000.0);
/// Maximum distance to the nearest place of a plausible point with exchanged coordinates.
const PLAUSIBLE_DISTANCE: Distance = Distance::metres(50_000.0);

impl Gazetteer {
    /// Resolves coordinates and links to maps. Rejects coordinates that are plausible only with the longitude first.
    pub(super) fn coordinates(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        // Fast path: a single number is not a point, and most texts with numbers are postcodes.
        let core = location.core;
        if !core.bytes().any(|byte| byte.is_ascii_digit()) || core.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let text = numbers_of(core);
        let point = if is_longitude_first(text) { parse_swapped(text) } else { parse(text) };
        let meant = parse_swapped(text).filter(|swapped| self.is_within(*swapped, PLAUSIBLE_DISTANCE));
        if let Some(meant) = meant
            && point.is_none_or(|point| !self.is_within(point, IMPLAUSIBLE_DISTANCE))
        {
            return Some(Err(swapped(core, point, meant)));
        }
        let point = point.or_else(|| map_link::parse(core))?;
        let name = format!("{:.5}, {:.5}", point.lat(), point.lon());
        Some(Ok(Resolved::at(name, point, PlaceSource::Coordinates, 1.0)))
    }

    /// Resolves a full plus code, or a short plus code with a nearby place.
    pub(super) fn plus_code(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let (code, place) = plus_code::find(location.core)?;
        if let Some(point) = code.point() {
            return Some(Ok(Resolved::at(code.to_string(), point, PlaceSource::PlusCode, 1.0)));
        }
        let near = if place.is_empty() { None } else { self.resolve_part(place, location.budget).ok() };
        let Some(near) = near else {
            let reason =
                format!("the plus code {code} is the end of one; name the city behind it, as in {code} Austin, TX");
            return Some(Err(Unresolved::new(UnresolvedKind::Unknown, reason)));
        };
        let name = format!("{code} {}", near.name);
        let resolved =
            Resolved::at(name, code.near(near.point)?, PlaceSource::PlusCode, 0.95).cap_confidence(near.confidence);
        Some(Ok(Resolved { region: near.region, country: near.country, notes: near.notes, ..resolved }))
    }

    /// Checks whether any place is within a distance of a point.
    fn is_within(&self, point: Point, distance: Distance) -> bool {
        !self.index.nearest(point, distance, 1, |_| true).is_empty()
    }
}

/// Returns `true` if labels in the text mark the first number as the longitude.
fn is_longitude_first(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let Some(lat) = lower.find("lat") else { return false };
    ["lon", "lng"].iter().filter_map(|name| lower.find(name)).any(|lon| lon < lat)
}

/// Strips filler words before the first number: `my coordinates are 33.4, -112.1`. Returns the whole text if it has
/// other words there.
fn numbers_of(text: &str) -> &str {
    let start = text.find(|letter: char| letter.is_ascii_digit() || "+-−(.".contains(letter)).unwrap_or(0);
    let (before, numbers) = text.split_at(start);
    if start > 0 && before.ends_with([' ', ':', '=']) && has_only_filler_words(before) { numbers } else { text }
}

/// Creates the error for coordinates with the longitude first.
fn swapped(text: &str, point: Option<Point>, meant: Point) -> Unresolved {
    let lies = match point {
        Some(point) if point.lat() < -60.0 => "lies in Antarctica",
        Some(_) => "lies far from every known place",
        None => "is not on the earth",
    };
    let lat = meant.lat();
    let lon = meant.lon();
    let reason = format!("{text:?} {lies}; did you mean {lat}, {lon}? The latitude comes first");
    Unresolved::new(UnresolvedKind::Swapped, reason)
}
