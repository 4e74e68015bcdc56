//! What to say where the place asked for is far from every machine for a reason that can be told.

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Country, Distance, Point, Region};

use crate::catalogue::{Snapshot, country_of};

/// So near to a place known by name, people live.
const INHABITED: Distance = Distance::miles(60.0);

/// How many countries are named at most.
const MAX_NAMED: usize = 3;

/// That no machine is known in the country of a place, and where they are; `None` where some are, or may be.
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

/// The country of coordinates: that of the nearest place, where one is near.
pub(super) fn country_at(places: &Gazetteer, point: Point) -> Option<(Option<Region>, Country)> {
    let (place, away) = places.nearest_place(point)?;
    (away <= INHABITED).then_some((place.region, place.country))
}

/// A question, where latitude and longitude make sense the other way around only.
pub(super) fn swapped(places: &Gazetteer, point: Point) -> Option<String> {
    let (lat, lon) = (point.lon(), point.lat());
    let is_inhabited = |point: Point| places.nearest_place(point).is_some_and(|(_, away)| away <= INHABITED);
    let makes_sense = Point::new(lat, lon).is_some_and(is_inhabited) && !is_inhabited(point);
    makes_sense.then(|| format!("Nobody lives near lat {lon:?}, lon {lat:?}: did you mean lat {lat:?}, lon {lon:?}?"))
}

/// The name as it stands in a sentence.
fn with_article(country: Country) -> String {
    const WITH_ARTICLE: [&str; 14] =
        ["AE", "BS", "CD", "CF", "CG", "DO", "GB", "GM", "IM", "KM", "MH", "MV", "PH", "US"];
    let name = country.name();
    if WITH_ARTICLE.contains(&country.code()) { format!("the {name}") } else { name.replacen("The ", "the ", 1) }
}
