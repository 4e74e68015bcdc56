//! Quality checks that compare the records of a catalogue with the gazetteer and with each other. Concerns are only
//! reported, never corrected automatically.

use std::collections::HashMap;
use std::fmt;

use jiff::Timestamp;

use crate::atm::{Record, ReportedState};
use crate::country::Country;
use crate::gazetteer::{Gazetteer, PlaceSource};
use crate::index::Index;
use crate::merge::MergedAtm;
use crate::point::{Distance, Point};
use crate::region::Region;
use crate::status::Freshness;

/// Maximum distance between an ATM and the nearest place of its country or region. It replaces a check against borders.
const MAX_PLACE_DISTANCE: Distance = Distance::miles(60.0);
/// Maximum distance between an ATM and the middle of its postcode.
const MAX_POSTCODE_DISTANCE: Distance = Distance::miles(25.0);
/// Maximum distance between an ATM and the middle of its city.
const MAX_CITY_DISTANCE: Distance = Distance::miles(50.0);
/// Maximum distance between suspected duplicates.
const DUPLICATE_DISTANCE: Distance = Distance::metres(10.0);

/// A possible error in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Concern {
    /// The coordinates would be plausible with latitude and longitude exchanged.
    SwappedCoordinates,
    /// The coordinates would be plausible with another sign.
    WrongSign,
    /// The ATM is not in the country of its address.
    WrongCountry,
    /// The ATM is not in the state or province of its address.
    WrongRegion,
    /// The ATM is more than 25 miles from the middle of its postcode.
    FarFromPostcode,
    /// The ATM is more than 50 miles from the middle of its city.
    FarFromCity,
    /// The opening hours cannot be evaluated.
    HoursNotUnderstood,
    /// The name contains a note that the ATM is closed or not open yet.
    SaysClosed,
    /// The ATM was not reported or verified for more than 365 days.
    Stale,
    /// The record has no date.
    Undated,
    /// Another ATM of the same source and brand is within 10 metres.
    DuplicateSuspect,
}

impl Concern {
    /// All concerns.
    pub const ALL: [Self; 11] = [
        Self::SwappedCoordinates,
        Self::WrongSign,
        Self::WrongCountry,
        Self::WrongRegion,
        Self::FarFromPostcode,
        Self::FarFromCity,
        Self::HoursNotUnderstood,
        Self::SaysClosed,
        Self::Stale,
        Self::Undated,
        Self::DuplicateSuspect,
    ];
}

impl fmt::Display for Concern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SwappedCoordinates => "latitude and longitude are swapped",
            Self::WrongSign => "a coordinate has the wrong sign",
            Self::WrongCountry => "not in the country of its address",
            Self::WrongRegion => "not in the state or province of its address",
            Self::FarFromPostcode => "more than 25 miles from its postcode",
            Self::FarFromCity => "more than 50 miles from its city",
            Self::HoursNotUnderstood => "hours are not in a form that can be evaluated",
            Self::SaysClosed => "its name says that it is closed or not yet open",
            Self::Stale => "not reported or checked for more than 365 days",
            Self::Undated => "without a date",
            Self::DuplicateSuspect => "another ATM of the same source and brand is within 10 metres",
        })
    }
}

/// Returns the concerns about a single record, without comparing it with other records.
///
/// ```
/// use signpost_locator::gazetteer::Gazetteer;
/// use signpost_locator::quality::{Concern, concerns};
/// use signpost_locator::{Country, Point, Record};
///
/// let gazetteer = Gazetteer::embedded();
/// let now = "2026-11-20T12:00:00Z".parse().unwrap();
/// let mut record = Record::at(Point::new(-80.19, 25.76).unwrap());
/// record.address.country = Some(Country::UNITED_STATES);
/// record.reported_at = Some(now);
/// assert_eq!(concerns(&record, &gazetteer, now), [Concern::SwappedCoordinates]);
/// ```
#[must_use]
pub fn concerns(record: &Record, gazetteer: &Gazetteer, now: Timestamp) -> Vec<Concern> {
    let mut found: Vec<Concern> = location_concern(record, gazetteer).into_iter().collect();
    if record.hours.as_ref().is_some_and(|hours| !hours.is_understood()) {
        found.push(Concern::HoursNotUnderstood);
    }
    if record.reported != ReportedState::PermanentlyClosed && is_marked_closed(record.title()) {
        found.push(Concern::SaysClosed);
    }
    if Freshness::of(record.known_at(), now) == Freshness::Stale {
        found.push(Concern::Stale);
    }
    if record.reported != ReportedState::PermanentlyClosed && record.known_at().is_none() {
        found.push(Concern::Undated);
    }
    found
}

fn is_marked_closed(title: &str) -> bool {
    const MARKS: [&str; 5] = ["(closed", "closed)", "permanently closed", "coming soon", "temporarily closed"];
    let title = title.to_lowercase();
    MARKS.iter().any(|mark| title.contains(mark))
}

/// Returns the ATMs with concerns, including concerns from comparing ATMs with each other.
#[must_use]
pub fn find_concerns<'m>(
    machines: &[&'m MergedAtm],
    gazetteer: &Gazetteer,
    now: Timestamp,
) -> Vec<(&'m MergedAtm, Vec<Concern>)> {
    let mut found: Vec<_> =
        machines.iter().map(|machine| (*machine, concerns(&machine.record, gazetteer, now))).collect();
    for at in duplicate_suspects(machines) {
        found[at].1.push(Concern::DuplicateSuspect);
    }
    found.retain(|(_, concerns)| !concerns.is_empty());
    found
}

/// Compares the coordinates with the address.
fn location_concern(record: &Record, gazetteer: &Gazetteer) -> Option<Concern> {
    let address = &record.address;
    let region = address.region.as_deref().and_then(Region::parse);
    if let Some(country) = address.country
        && !gazetteer.is_near(record.point, MAX_PLACE_DISTANCE, country, None)
    {
        return Some(explain_displacement(record.point, country, gazetteer));
    }
    if let Some(region) = region
        && !gazetteer.is_near(record.point, MAX_PLACE_DISTANCE, region.country(), Some(region))
    {
        return Some(Concern::WrongRegion);
    }
    if let Some(postcode) = address.postcode.as_deref()
        && is_far_from(postcode, PlaceSource::Postcode, MAX_POSTCODE_DISTANCE, record.point, gazetteer)
    {
        return Some(Concern::FarFromPostcode);
    }
    if let Some((city, region)) = address.city.as_ref().zip(region)
        && is_far_from(&format!("{city}, {region}"), PlaceSource::Place, MAX_CITY_DISTANCE, record.point, gazetteer)
    {
        return Some(Concern::FarFromCity);
    }
    None
}

/// Checks whether a point is more than `max` away from all places that a text may refer to. Returns `false` if the text
/// is not resolved or the place is uncertain.
fn is_far_from(text: &str, source: PlaceSource, max: Distance, point: Point, gazetteer: &Gazetteer) -> bool {
    let Ok(place) = gazetteer.resolve(text) else { return false };
    if place.source != source || place.confidence <= 0.7 {
        return false;
    }
    place.point.distance(point) > max && place.alternatives.iter().all(|other| other.point.distance(point) > max)
}

/// Returns the likely reason why a point is outside its country.
fn explain_displacement(point: Point, country: Country, gazetteer: &Gazetteer) -> Concern {
    let lat = point.lat();
    let lon = point.lon();
    if is_in(lon, lat, country, gazetteer) {
        return Concern::SwappedCoordinates;
    }
    for (lat, lon) in [(lat, -lon), (-lat, lon), (-lat, -lon)] {
        if is_in(lat, lon, country, gazetteer) {
            return Concern::WrongSign;
        }
    }
    Concern::WrongCountry
}

fn is_in(lat: f64, lon: f64, country: Country, gazetteer: &Gazetteer) -> bool {
    Point::new(lat, lon).is_some_and(|point| gazetteer.is_near(point, MAX_PLACE_DISTANCE, country, None))
}

/// Returns the positions of ATMs that may be duplicates of another ATM of the same source.
#[must_use]
pub fn duplicate_suspects(machines: &[&MergedAtm]) -> Vec<usize> {
    let mut alike: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, machine) in machines.iter().enumerate() {
        let record = &machine.record;
        let source = machine.claims.first().map(|claim| &*claim.source);
        alike.entry((source, &record.brand, &record.operator, &record.name)).or_default().push(at);
    }
    let mut suspects: Vec<usize> = alike.values().flat_map(|group| close_together(machines, group)).collect();
    suspects.sort_unstable();
    suspects
}

/// Returns the positions of the ATMs of a group that have another ATM of the group close by.
fn close_together(machines: &[&MergedAtm], group: &[usize]) -> Vec<usize> {
    if group.len() < 2 {
        return Vec::new();
    }
    let points: Vec<Point> = group.iter().map(|at| machines[*at].record.point).collect();
    let index = Index::build(&points);
    let mut close = Vec::new();
    for (own, at) in (0..).zip(group) {
        if index.any_within(machines[*at].record.point, DUPLICATE_DISTANCE, |other| other != own) {
            close.push(*at);
        }
    }
    close
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use arcstr::ArcStr;

    use super::*;
    use crate::atm::{Atm, AtmId};
    use crate::hours::Hours;
    use crate::merge::merge;

    const NOW: &str = "2026-11-20T12:00:00Z";

    fn gazetteer() -> &'static Gazetteer {
        static EMBEDDED: OnceLock<Gazetteer> = OnceLock::new();
        EMBEDDED.get_or_init(Gazetteer::embedded)
    }

    fn found(lat: f64, lon: f64, set: impl FnOnce(&mut Record)) -> Vec<Concern> {
        let mut record = Record::at(Point::new(lat, lon).expect("on the earth"));
        record.address.country = Some(Country::UNITED_STATES);
        record.reported_at = NOW.parse().ok();
        set(&mut record);
        concerns(&record, gazetteer(), NOW.parse().unwrap())
    }

    fn text(text: &str) -> Option<ArcStr> {
        Some(ArcStr::from(text)).filter(|text| !text.is_empty())
    }

    #[test]
    fn positions_are_compared_with_addresses() {
        let none = |_: &mut Record| {};
        assert_eq!(found(30.27, -97.74, none), []);
        assert_eq!(found(-80.19, 25.76, none), [Concern::SwappedCoordinates]);
        assert_eq!(found(30.27, 97.74, none), [Concern::WrongSign]);
        assert_eq!(found(48.85, 2.35, none), [Concern::WrongCountry]);
        assert_eq!(found(30.27, -97.74, |record| record.address.region = text("FL")), [Concern::WrongRegion]);
        assert_eq!(found(30.27, -97.74, |record| record.address.postcode = text("79901")), [Concern::FarFromPostcode]);
        let city = |city: &'static str| {
            move |record: &mut Record| (record.address.city, record.address.region) = (text(city), text("TX"))
        };
        assert_eq!(found(30.27, -97.74, city("Austin")), []);
        assert_eq!(found(30.27, -97.74, city("Dallas")), [Concern::FarFromCity]);
        assert_eq!(found(48.85, 2.35, |record| record.address.country = None), []);
    }

    #[test]
    fn texts_and_dates_are_checked() {
        let hours = |record: &mut Record| record.hours = Hours::parse("ask inside");
        assert_eq!(found(30.27, -97.74, hours), [Concern::HoursNotUnderstood]);
        let named = |record: &mut Record| record.name = text("Corner Shop (CLOSED)");
        assert_eq!(found(30.27, -97.74, named), [Concern::SaysClosed]);
        let old = |record: &mut Record| record.reported_at = "2024-01-01T00:00:00Z".parse().ok();
        assert_eq!(found(30.27, -97.74, old), [Concern::Stale]);
        assert_eq!(found(30.27, -97.74, |record| record.reported_at = None), [Concern::Undated]);
    }

    #[test]
    fn similar_atms_of_one_source_are_findings() {
        let atm = |id: u64, lat: f64, name: &str| {
            let mut record = Record::at(Point::new(lat, -97.74).expect("on the earth"));
            record.name = text(name);
            Atm { id: AtmId::new(id).expect("an id"), source: "a".into(), record: record.into() }
        };
        let atms = vec![atm(1, 30.0, "One"), atm(2, 30.000_05, "One"), atm(3, 30.0, "Other"), atm(4, 31.0, "One")];
        let machines = merge(atms, &std::collections::BTreeSet::new());
        assert_eq!(duplicate_suspects(&machines.iter().collect::<Vec<_>>()), [0, 1]);
    }

    #[test]
    fn each_finding_is_described() {
        let texts: std::collections::BTreeSet<_> = Concern::ALL.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), Concern::ALL.len());
    }
}
