//! Texts that give a point: coordinates, links to maps, plus codes.

use super::around::says_no_place;
use super::asked::Asked;
use super::coordinates::{parse, parse_swapped};
use super::resolve::{PlaceSource, Resolved, Unresolved, UnresolvedKind};
use super::steps::PlaceAnswer;
use super::{Gazetteer, map_link, plus_code};
use crate::point::{Distance, Point};

/// Farther than this from every place is nowhere that anybody asks about.
const NOWHERE: Distance = Distance::metres(300_000.0);
/// So near to a place are most points that people ask about.
const SOMEWHERE: Distance = Distance::metres(50_000.0);

impl Gazetteer {
    /// Coordinates, or a link to a map that shows a point; unless they lie nowhere and would lie somewhere with the longitude second.
    pub(super) fn coordinates(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let is_digit = |letter: char| letter.is_ascii_digit();
        // One number is no point, and most texts with numbers are postcodes.
        if !asked.bare.contains(is_digit) || asked.bare.chars().all(is_digit) {
            return None;
        }
        let text = numbers_of(asked.bare);
        let point = if is_longitude_first(text) { parse_swapped(text) } else { parse(text) };
        let meant = parse_swapped(text).filter(|swapped| self.is_within(*swapped, SOMEWHERE));
        match (point, meant) {
            (Some(point), Some(meant)) if !self.is_within(point, NOWHERE) => {
                Some(Err(swapped(asked, Some(point), meant)))
            }
            (None, Some(meant)) => Some(Err(swapped(asked, None, meant))),
            (Some(point), _) => Some(Ok(coordinates(point))),
            (None, None) => map_link::parse(asked.bare).map(|point| Ok(coordinates(point))),
        }
    }

    /// A plus code: a whole one, or the end of one with the place that it is near.
    pub(super) fn plus_code(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let (code, place) = plus_code::find(asked.bare)?;
        if let Some(point) = code.point() {
            return Some(Ok(Resolved::at(code.to_string(), point, PlaceSource::PlusCode, 1.0)));
        }
        let reason =
            format!("the plus code {code} is the end of one; name the city behind it, as in {code} Austin, TX");
        let Some(near) =
            Some(place).filter(|place| !place.is_empty()).and_then(|place| self.resolve_part(place, asked.effort).ok())
        else {
            return Some(Err(Unresolved::new(UnresolvedKind::Unknown, reason)));
        };
        let resolved =
            Resolved::at(format!("{code} {}", near.name), code.near(near.point)?, PlaceSource::PlusCode, 0.95);
        let resolved = resolved.at_most(near.confidence);
        Some(Ok(Resolved { region: near.region, country: near.country, notes: near.notes, ..resolved }))
    }

    /// Whether a point has a place around it.
    fn is_within(&self, point: Point, distance: Distance) -> bool {
        !self.index.nearest(point, distance, 1, |_| true).is_empty()
    }

    /// Where the point would be with latitude and longitude exchanged, if they most likely are: it lies far from every
    /// place, and would lie at one.
    #[must_use]
    pub fn exchanged(&self, point: Point) -> Option<Point> {
        let meant = Point::new(point.lon(), point.lat())?;
        (!self.is_within(point, NOWHERE) && self.is_within(meant, SOMEWHERE)).then_some(meant)
    }
}

/// Whether a text says that its first number is the longitude.
fn is_longitude_first(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let lat = lower.find("lat");
    ["lon", "lng"].iter().filter_map(|name| lower.find(name)).min().is_some_and(|lon| lat.is_some_and(|lat| lon < lat))
}

/// The text from its first number on, if what stands before says nothing of where: `my coordinates are 33.4, -112.1`.
fn numbers_of(text: &str) -> &str {
    let start = text.find(|letter: char| letter.is_ascii_digit() || "+-−(.".contains(letter)).unwrap_or(0);
    let (before, numbers) = text.split_at(start);
    if start > 0 && before.ends_with([' ', ':', '=']) && says_no_place(before) { numbers } else { text }
}

fn coordinates(point: Point) -> Resolved {
    Resolved::at(format!("{:.5}, {:.5}", point.lat(), point.lon()), point, PlaceSource::Coordinates, 1.0)
}

fn swapped(asked: &Asked<'_>, point: Option<Point>, meant: Point) -> Unresolved {
    let lies = match point {
        Some(point) if point.lat() < -60.0 => "lies in Antarctica",
        Some(_) => "lies far from every known place",
        None => "is not on the earth",
    };
    let (lat, lon) = (meant.lat(), meant.lon());
    let reason = format!("{:?} {lies}; did you mean {lat}, {lon}? The latitude comes first", asked.bare);
    Unresolved::new(UnresolvedKind::Swapped, reason)
}
