//! Explanations for a search location that is far from every ATM: another country, or swapped coordinates.

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Country, Distance, Point, Region};

use crate::catalogue::{Snapshot, country_of};

/// Maximum distance between an inhabited point and the nearest known place.
const MAX_INHABITED_DISTANCE: Distance = Distance::miles(60.0);

/// Maximum number of countries listed in a notice.
const MAX_NAMED: usize = 3;

/// Returns a note that no ATM is known in the country of a place and that lists the countries with ATMs. Returns `None`
/// if the country may have ATMs.
pub(super) fn other_country(snapshot: &Snapshot, region: Option<Region>, country: Option<Country>) -> Option<String> {
    let asked = country_of(region, country)?;
    let countries = snapshot.countries()?;
    if countries.is_empty() || countries.contains(&asked) {
        return None;
    }
    if countries.len() > MAX_NAMED {
        let name = with_article(asked);
        let which = if Region::parse(asked.name()).is_some() { " (the country)" } else { "" };
        return Some(format!("No machine is known in {name}{which}."));
    }
    let names: Vec<_> = countries.iter().map(|country| with_article(*country)).collect();
    let list = match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    };
    Some(format!("The machines known here are in {list} only."))
}

/// Returns the region and country of the place nearest to a point, if the point is inhabited.
pub(super) fn country_at(places: &Gazetteer, point: Point) -> Option<(Option<Region>, Country)> {
    let (place, away) = places.nearest_place(point)?;
    (away <= MAX_INHABITED_DISTANCE).then_some((place.region, place.country))
}

/// Returns a question about swapped latitude and longitude, if only the swapped point is inhabited.
pub(super) fn swapped(places: &Gazetteer, point: Point) -> Option<String> {
    let [lat, lon] = [point.lat(), point.lon()];
    let swapped = Point::new(lon, lat)?;
    if is_inhabited(places, point) || !is_inhabited(places, swapped) {
        return None;
    }
    Some(format!("Nobody lives near lat {lat:?}, lon {lon:?}: did you mean lat {lon:?}, lon {lat:?}?"))
}

fn is_inhabited(places: &Gazetteer, point: Point) -> bool {
    country_at(places, point).is_some()
}

/// Returns the name of a country for use in a sentence, with an article if it needs one.
fn with_article(country: Country) -> String {
    const WITH_ARTICLE: [&str; 14] =
        ["AE", "BS", "CD", "CF", "CG", "DO", "GB", "GM", "IM", "KM", "MH", "MV", "PH", "US"];
    let name = country.name();
    if WITH_ARTICLE.contains(&country.code()) { format!("the {name}") } else { name.replacen("The ", "the ", 1) }
}
