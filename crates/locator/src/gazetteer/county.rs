//! Counties of the United States by name, and the county that a point lies in.

use super::Gazetteer;
use super::blob::{PlaceArea, StoredCounty};
use super::query::Within;
use crate::fold::fold;
use crate::point::Point;
use crate::region::Region;

/// What a county may be called, folded. Longer ones come before those that they end in.
const KINDS: [&str; 11] = [
    "cityandborough",
    "cityandcounty",
    "planningregion",
    "municipality",
    "censusarea",
    "municipio",
    "borough",
    "county",
    "parish",
    "city",
    "co",
];

/// A county of the United States, or what stands for one: a parish, a borough, an independent city.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct County {
    /// With its kind: `Cook County`, `Orleans Parish`; of an independent city the name alone.
    pub(super) name: String,
    pub(super) region: Region,
    /// The middle of its postcodes.
    pub(super) point: Point,
}

impl Gazetteer {
    /// The counties with this folded name, with or without a kind, those with most postcodes of each reading first. If
    /// some of them are of the kind that it names, only those: Baltimore is a city beside Baltimore County.
    pub(super) fn counties(&self, name: &str, within: Within) -> impl Iterator<Item = County> {
        let (bare, kind) = without_kind(name);
        let with_kind: Vec<&StoredCounty> = match kind {
            Some(_) => self.counties_of_key(bare, within).collect(),
            None => Vec::new(),
        };
        let is_of_kind = |county: &&StoredCounty| kind.is_some_and(|kind| self.is_of_kind(county, kind));
        let mut found: Vec<&StoredCounty> = with_kind.iter().copied().filter(is_of_kind).collect();
        if found.is_empty() {
            // A name may end in what looks like a kind: Charles City County.
            found = self.counties_of_key(name, within).chain(with_kind).collect();
        }
        found.into_iter().filter_map(|county| self.county(county))
    }

    /// The county of a place, with its kind.
    pub(super) fn county_of(&self, at: u32) -> Option<&str> {
        self.county_name(self.contents.places[at as usize].county)
    }

    /// Whether a post office of one of a place's names is there: most likely it is the place of that name that people
    /// of its region mean.
    pub(super) fn has_post_office(&self, at: u32) -> bool {
        self.contents.places[at as usize].has_post_office
    }

    /// `number` is that of the county + 1, or 0 for none.
    fn county_name(&self, number: u16) -> Option<&str> {
        let county = self.contents.counties.get(usize::from(number.checked_sub(1)?))?;
        line(&self.contents.county_names, county.name)
    }

    fn counties_of_key(&self, key: &str, within: Within) -> impl Iterator<Item = &StoredCounty> {
        let counties = &self.contents.counties;
        let key_of = |county: &StoredCounty| line(&self.contents.county_keys, county.key).unwrap_or_default();
        let start = counties.partition_point(|county| key_of(county) < key);
        let end = start + counties[start..].iter().take_while(|county| key_of(county) == key).count();
        counties[start..end].iter().filter(move |county| within.holds(self.area_of(county)))
    }

    fn is_of_kind(&self, county: &StoredCounty, kind: &str) -> bool {
        let name = fold(line(&self.contents.county_names, county.name).unwrap_or_default());
        let key = line(&self.contents.county_keys, county.key).unwrap_or_default();
        // An independent city has its kind in no name.
        name.strip_prefix(key).is_some_and(|own| own == kind || (own.is_empty() && kind == "city"))
    }

    fn county(&self, county: &StoredCounty) -> Option<County> {
        let name = line(&self.contents.county_names, county.name)?.to_owned();
        Some(County { name, region: self.area_of(county).region?, point: county.point })
    }

    fn area_of(&self, county: &StoredCounty) -> PlaceArea {
        self.contents.areas[usize::from(county.area)]
    }
}

/// A folded name without the kind before or behind it, and the kind.
fn without_kind(name: &str) -> (&str, Option<&'static str>) {
    for kind in KINDS {
        let before = || name.strip_prefix(kind).and_then(|rest| rest.strip_prefix("of"));
        if let Some(bare) = name.strip_suffix(kind).or_else(before).filter(|bare| !bare.is_empty()) {
            return (bare, Some(if kind == "co" { "county" } else { kind }));
        }
    }
    (name, None)
}

fn line(lines: &str, start: u32) -> Option<&str> {
    lines.get(start as usize..)?.lines().next()
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;

    fn gazetteer() -> &'static Gazetteer {
        static EMBEDDED: OnceLock<Gazetteer> = OnceLock::new();
        EMBEDDED.get_or_init(Gazetteer::embedded)
    }

    fn region(code: &str) -> Region {
        Region::parse(code).unwrap()
    }

    fn named(name: &str, within: Within) -> Vec<String> {
        let name = fold(name);
        gazetteer().counties(&name, within).map(|county| format!("{}, {}", county.name, county.region)).collect()
    }

    #[test]
    fn a_county_is_found_with_and_without_its_kind() {
        for (name, state, expected) in [
            ("Cook County", "IL", &["Cook County, IL"][..]),
            ("county of cook", "IL", &["Cook County, IL"]),
            ("Cook Co.", "IL", &["Cook County, IL"]),
            ("COOK", "IL", &["Cook County, IL"]),
            ("Miami Dade", "FL", &["Miami-Dade County, FL"]),
            ("Orleans Parish", "LA", &["Orleans Parish, LA"]),
            ("Orleans County", "LA", &["Orleans Parish, LA"]),
            ("De Kalb County", "GA", &["DeKalb County, GA"]),
            ("Saint Charles County", "MO", &["Saint Charles County, MO"]),
            ("City and County of San Francisco", "CA", &["San Francisco County, CA"]),
            ("Matanuska-Susitna Borough", "AK", &["Matanuska-Susitna Borough, AK"]),
            ("Bethel", "AK", &["Bethel Census Area, AK"]),
            ("Baltimore County", "MD", &["Baltimore County, MD"]),
            ("Baltimore City", "MD", &["Baltimore, MD"]),
            ("City of Baltimore", "MD", &["Baltimore, MD"]),
            ("Baltimore", "MD", &["Baltimore County, MD", "Baltimore, MD"]),
            ("Carson City", "NV", &["Carson City, NV"]),
            ("Charles City County", "VA", &["Charles City County, VA"]),
            ("James City", "VA", &["James City County, VA"]),
            ("Alexandria", "VA", &["Alexandria, VA"]),
            ("Fairfield County", "CT", &["Fairfield County, CT"]),
            ("Capitol Planning Region", "CT", &["Capitol Planning Region, CT"]),
            ("Nowhere County", "IL", &[]),
            ("County", "IL", &[]),
            ("", "IL", &[]),
        ] {
            assert_eq!(named(name, Within::Region(region(state))), expected, "{name}, {state}");
        }
    }

    #[test]
    fn counties_of_one_name_come_with_the_largest_first() {
        let all = named("Orange County", Within::Anywhere);
        assert_eq!(all.len(), 8, "{all:?}");
        assert_eq!(all[0], "Orange County, CA");
        assert_eq!(named("Orange County", Within::Country(crate::Country::CANADA)), [""; 0]);
    }

    #[test]
    fn a_county_lies_among_its_postcodes() {
        for (name, state, lat, lon) in [
            ("Cook County", "IL", 41.85, -87.75),
            ("Los Angeles County", "CA", 34.06, -118.25),
            ("Orleans Parish", "LA", 29.96, -90.07),
            ("New Haven County", "CT", 41.41, -72.93),
        ] {
            let county = gazetteer().counties(&fold(name), Within::Region(region(state))).next().unwrap();
            let distance = county.point.distance(Point::new(lat, lon).unwrap());
            assert!(distance.in_miles() < 10.0, "{name}: {:?}", county.point);
        }
    }

    #[test]
    fn of_two_places_of_a_name_one_has_the_post_office() {
        let jackson: Vec<u32> =
            gazetteer().named("jackson", Within::Region(region("NJ"))).map(|named| named / 2).collect();
        let county = |at: u32| gazetteer().county_of(at);
        let with: Vec<u32> = jackson.iter().copied().filter(|at| gazetteer().has_post_office(*at)).collect();
        assert_eq!(with.iter().filter_map(|at| county(*at)).collect::<Vec<_>>(), ["Ocean County"]);
        assert!(jackson.len() > with.len(), "the other Jackson is a hamlet without one");
    }
}
