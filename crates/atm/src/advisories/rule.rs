//! The rules that select the advisories for a location and a time. All functions are pure: the time is an argument.

use std::borrow::Cow;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Country, Distance, Point, Record, Region, fold};
use signpost_platform::pages::Language;
use signpost_platform::pages::dates::long_date;

use super::{Advisory, AdvisoryArea, AdvisoryKind, AdvisoryStatus};

/// Maximum distance between a location and the nearest place that determines its law.
const MAX_PLACE_DISTANCE: Distance = Distance::metres(300_000.0);

/// The properties of a search location or an ATM that determine which advisories apply.
#[derive(Clone, Debug, Default)]
pub struct Location<'a> {
    /// The country.
    pub country: Option<Country>,
    /// The state, territory or province.
    pub region: Option<Region>,
    /// The city, in any spelling.
    pub city: Option<Cow<'a, str>>,
    /// The coordinates.
    pub point: Option<Point>,
    /// The operator, brand and network of an ATM.
    pub run_by: [Option<&'a str>; 3],
}

/// The period in which a law is in force in a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LawSpan {
    /// The start of the period.
    pub from: Timestamp,
    /// The end of the period (exclusive).
    pub until: Timestamp,
}

/// The status of a law at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LawStatus {
    /// The law is in force.
    InForce,
    /// The law will take effect.
    Coming,
    /// The law is in force according to secondary sources.
    Reported,
}

impl<'a> Location<'a> {
    /// Creates the location of an ATM from its address. Missing parts are taken from the nearest place.
    #[must_use]
    pub fn of_atm(record: &'a Record, gazetteer: &Gazetteer) -> Self {
        let mut location = Self::of_address(record);
        if location.country.is_none() || location.region.is_none() || location.city.is_none() {
            location.fill_from_nearest(record.point, gazetteer);
        }
        location
    }

    /// Creates the location of a search around a point, with the city, region and country of the nearest place.
    #[must_use]
    pub fn around(point: Point, gazetteer: &Gazetteer) -> Self {
        let mut location = Self { point: Some(point), ..Self::default() };
        location.fill_from_nearest(point, gazetteer);
        location
    }

    /// Creates the location of a city.
    #[must_use]
    pub fn of_city(region: Region, city: &'a str) -> Self {
        let city = Some(Cow::Borrowed(city));
        Self { country: Some(region.country()), region: Some(region), city, ..Self::default() }
    }

    fn of_address(record: &'a Record) -> Self {
        let address = &record.address;
        let region = address.region.as_deref().and_then(Region::parse);
        // The region code of another country may equal a US or Canadian code.
        let region = region.filter(|region| address.country.is_none_or(|country| country == region.country()));
        let network = record.more.as_deref().and_then(|more| more.network.as_deref());
        Self {
            country: address.country.or_else(|| region.map(Region::country)),
            region,
            city: address.city.as_deref().map(Cow::Borrowed),
            point: Some(record.point),
            run_by: [record.operator.as_deref(), record.brand.as_deref(), network],
        }
    }

    /// Fills missing parts from the nearest place, if the place is in the country and region of the location.
    fn fill_from_nearest(&mut self, point: Point, gazetteer: &Gazetteer) {
        let Some((place, away)) = gazetteer.nearest_place(point) else { return };
        if away > MAX_PLACE_DISTANCE
            || self.country.is_some_and(|country| country != place.country)
            || self.region.is_some_and(|region| Some(region) != place.region)
        {
            return;
        }
        self.country = Some(place.country);
        self.region = place.region;
        self.city.get_or_insert(Cow::Owned(place.name));
    }
}

impl AdvisoryArea {
    /// Returns `true` if a location matches all conditions of the area.
    #[must_use]
    pub fn contains(&self, location: &Location<'_>) -> bool {
        let Self { country, region, city, operator, bbox } = self;
        country.is_none_or(|country| location.country == Some(country))
            && region.is_none_or(|region| location.region == Some(region))
            && city.as_ref().is_none_or(|city| location.city.as_ref().is_some_and(|known| fold(city) == fold(known)))
            && operator
                .as_ref()
                .is_none_or(|operator| location.run_by.iter().flatten().any(|known| fold(operator) == fold(known)))
            && bbox.is_none_or(|bbox| location.point.is_some_and(|point| is_in_box(bbox, point)))
    }

    /// Returns the adjective for "law" by jurisdiction, as in "state law".
    pub(super) fn law_adjective(&self) -> Option<&'static str> {
        match (self.city.is_some(), self.region, self.country) {
            (true, _, _) => Some("city"),
            (_, Some(region), _) if region.country() == Country::CANADA => Some("provincial"),
            (_, Some(_), _) => Some("state"),
            (_, None, Some(_)) => Some("national"),
            _ => None,
        }
    }
}

fn is_in_box([west, south, east, north]: [f64; 4], point: Point) -> bool {
    let lon = point.lon();
    let is_between = if west <= east { (west..=east).contains(&lon) } else { lon >= west || lon <= east };
    is_between && (south..=north).contains(&point.lat())
}

impl LawSpan {
    /// Returns `true` if the law is in force.
    pub(crate) fn contains(self, now: Timestamp) -> bool {
        self.from <= now && now < self.until
    }
}

impl Advisory {
    /// Returns the period in which the law is in force. Days begin at midnight in the given time zone.
    #[must_use]
    pub fn span(&self, zone: &TimeZone) -> LawSpan {
        LawSpan {
            from: self.effective.and_then(|date| midnight(date, zone)).unwrap_or(Timestamp::MIN),
            until: self.until.and_then(|date| midnight(date, zone)).unwrap_or(Timestamp::MAX),
        }
    }

    /// Returns the status of the law at the time `now`. Returns `None` if it ended, was repealed, or is only proposed.
    #[must_use]
    pub fn law_status(&self, span: LawSpan, now: Timestamp) -> Option<LawStatus> {
        if now >= span.until {
            return None;
        }
        match self.status {
            AdvisoryStatus::Proposed | AdvisoryStatus::Repealed => None,
            AdvisoryStatus::Reported => Some(LawStatus::Reported),
            AdvisoryStatus::Enacted | AdvisoryStatus::InForce if now < span.from => Some(LawStatus::Coming),
            AdvisoryStatus::Enacted | AdvisoryStatus::InForce => Some(LawStatus::InForce),
        }
    }

    /// Returns `true` if the advisory is an enacted ban, regardless of its dates. Bans with the status
    /// [`AdvisoryStatus::Reported`] do not count.
    #[must_use]
    pub fn is_ban(&self) -> bool {
        self.kind == AdvisoryKind::Ban && matches!(self.status, AdvisoryStatus::Enacted | AdvisoryStatus::InForce)
    }

    /// Returns the reason for the status of a banned ATM, such as "state law since 1 August 2026".
    #[must_use]
    pub fn reason(&self) -> String {
        let law = self.area.law_adjective().map_or("law".to_owned(), |giver| format!("{giver} law"));
        match self.effective {
            Some(effective) => format!("{law} since {}", long_date(Language::English, effective)),
            None => law,
        }
    }

    /// Returns `true` if the source was not reviewed within `review_days`.
    #[must_use]
    pub fn is_overdue(&self, today: Date) -> bool {
        let last = self.checked.checked_add(Span::new().days(i64::from(self.review_days)));
        last.is_ok_and(|last| today > last)
    }
}

/// Returns the start of a day in a time zone.
fn midnight(date: Date, zone: &TimeZone) -> Option<Timestamp> {
    Some(date.to_zoned_datetime(zone.clone()).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use signpost_locator::ArcStr;

    use super::*;
    use crate::advisories::read_rows;

    /// Parses an advisory with the given TOML area and additional lines.
    fn row(area: &str, lines: &str) -> Advisory {
        let text = format!(
            "[[advisory]]\nid = \"x\"\nkind = \"ban\"\nwhere = {area}\ntext = \"No machines.\"\nchecked = 2026-11-22\n\
             source = {{ url = \"https://example.com\", title = \"A law\", class = \"primary\" }}\n{lines}"
        );
        let mut read = read_rows(&text);
        assert_eq!(read.bad, []);
        read.rows.remove(0)
    }

    fn record(city: &str, region: &str) -> Record {
        let mut record = Record::at(Point::new(44.98, -93.27).expect("on the earth"));
        record.operator = Some("Coin Cloud".into());
        record.address.city = Some(city.into()).filter(|city: &ArcStr| !city.is_empty());
        record.address.region = Some(region.into()).filter(|region: &ArcStr| !region.is_empty());
        record
    }

    #[test]
    fn area_matches_all_its_fields() {
        let gazetteer = Gazetteer::embedded();
        let saint_paul = record("St. Paul", "MN");
        let unknown = record("", "");
        let across = record("Fargo", "ND");
        for (area, expected) in [
            ("{}", [true, true, true]),
            ("{ country = \"US\" }", [true, true, true]),
            ("{ country = \"CA\" }", [false, false, false]),
            // The nearest place is used only if there is no address.
            ("{ region = \"MN\" }", [true, true, false]),
            ("{ region = \"MN\", city = \"Saint Paul\" }", [true, false, false]),
            ("{ region = \"MN\", city = \"minneapolis\" }", [false, true, false]),
            ("{ operator = \"coin cloud\" }", [true, true, true]),
            ("{ operator = \"Coin\" }", [false, false, false]),
            ("{ region = \"MN\", operator = \"Bitstop\" }", [false, false, false]),
            ("{ bbox = [-94.0, 44.0, -93.0, 45.0] }", [true, true, true]),
            ("{ bbox = [-93.0, 44.0, -92.0, 45.0] }", [false, false, false]),
            ("{ bbox = [170.0, 44.0, -93.0, 45.0] }", [true, true, true]),
        ] {
            let row = row(area, "status = \"in_force\"");
            let holds =
                [&saint_paul, &unknown, &across].map(|record| row.area.contains(&Location::of_atm(record, &gazetteer)));
            assert_eq!(holds, expected, "{area}");
        }
    }

    #[test]
    fn region_code_of_another_country_does_not_match() {
        let mut record = record("Somewhere", "MN");
        record.address.country = Country::parse("MN");
        assert_eq!(Location::of_address(&record).region, None);
    }

    #[test]
    fn law_changes_at_local_midnight() {
        let row = row("{ region = \"MN\" }", "status = \"in_force\"\neffective = 2026-08-01\nuntil = 2026-12-01");
        let chicago = TimeZone::get("America/Chicago").unwrap();
        for (now, law_status) in [
            ("2026-08-01T04:59:59Z", Some(LawStatus::Coming)),
            ("2026-08-01T05:00:00Z", Some(LawStatus::InForce)),
            ("2026-12-01T05:59:59Z", Some(LawStatus::InForce)),
            ("2026-12-01T06:00:00Z", None),
        ] {
            assert_eq!(row.law_status(row.span(&chicago), now.parse().unwrap()), law_status, "{now}");
        }
    }

    #[test]
    fn only_law_is_presented_as_law() {
        let now = "2026-11-22T00:00:00Z".parse().unwrap();
        for (status, law_status, is_ban) in [
            ("\"proposed\"", None, false),
            ("\"reported\"", Some(LawStatus::Reported), false),
            ("\"enacted\"\neffective = 2027-01-01", Some(LawStatus::Coming), true),
            ("\"enacted\"\neffective = 2026-01-01", Some(LawStatus::InForce), true),
            ("\"in_force\"", Some(LawStatus::InForce), true),
            ("\"repealed\"", None, false),
        ] {
            let row = row("{ region = \"MN\" }", &format!("status = {status}"));
            assert_eq!((row.law_status(row.span(&TimeZone::UTC), now), row.is_ban()), (law_status, is_ban), "{status}");
        }
    }

    #[test]
    fn reason_names_the_jurisdiction() {
        for (area, reason) in [
            ("{ region = \"MN\" }", "state law since 1 August 2026"),
            ("{ region = \"ON\" }", "provincial law since 1 August 2026"),
            ("{ region = \"WA\", city = \"Spokane\" }", "city law since 1 August 2026"),
            ("{ country = \"GB\" }", "national law since 1 August 2026"),
            ("{}", "law since 1 August 2026"),
        ] {
            assert_eq!(row(area, "status = \"in_force\"\neffective = 2026-08-01").reason(), reason);
        }
        assert_eq!(row("{ region = \"MN\" }", "status = \"in_force\"").reason(), "state law");
    }

    #[test]
    fn source_expires_after_its_days() {
        let row = row("{}", "status = \"in_force\"\nreview_days = 10");
        let day = |text: &str| text.parse::<Date>().unwrap();
        assert!(!row.is_overdue(day("2026-12-02")));
        assert!(row.is_overdue(day("2026-12-03")));
    }
}
