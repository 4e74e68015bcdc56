//! Lookups of counties of the United States by name, and of the county of a place.

use super::Gazetteer;
use super::blob::{PlaceArea, StoredCounty};
use super::query::Within;
use crate::fold::fold;
use crate::point::Point;
use crate::region::Region;

/// Generic words in the names of counties, in folded form. A word comes before any word that is its suffix.
#[rustfmt::skip]
const GENERIC_WORDS: [&str; 11] = [
    "cityandborough", "cityandcounty", "planningregion", "municipality", "censusarea", "municipio", "borough",
    "county", "parish", "city", "co",
];

/// A county of the United States or an equivalent (parish, borough, independent city).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct County {
    /// The full name, such as `Cook County` or `Orleans Parish`. The names of independent cities have no generic word.
    pub(super) name: String,
    pub(super) region: Region,
    /// The middle of the county's postcodes.
    pub(super) point: Point,
}

impl Gazetteer {
    /// Returns the counties with this folded name, with or without a generic word, sorted by descending number of
    /// postcodes. Counties of another kind than the named kind are omitted if any county matches it: Baltimore is a
    /// city next to Baltimore County.
    pub(super) fn counties(&self, name: &str, within: Within) -> impl Iterator<Item = County> {
        let (core, kind) = without_kind(name);
        let (mut found, of_other_kinds): (Vec<&StoredCounty>, Vec<&StoredCounty>) = match kind {
            Some(kind) => self.counties_of_key(core, within).partition(|county| self.is_of_kind(county, kind)),
            None => (Vec::new(), Vec::new()),
        };
        if found.is_empty() {
            // The name itself may end in a generic word: Charles City County.
            found = self.counties_of_key(name, within).chain(of_other_kinds).collect();
        }
        found.into_iter().filter_map(|county| self.county(county))
    }

    /// Returns the full name of a place's county.
    pub(super) fn county_of(&self, place: u32) -> Option<&str> {
        self.county_name(self.contents.places[place as usize].county)
    }

    /// Returns `true` if there is a post office with one of the place's names. Such a place is preferred to other
    /// places with the name in its region.
    pub(super) fn has_post_office(&self, place: u32) -> bool {
        self.contents.places[place as usize].has_post_office
    }

    /// Returns the full name of a county that is referred to by its number + 1, or 0 for none.
    fn county_name(&self, number: u16) -> Option<&str> {
        let county = self.contents.counties.get(usize::from(number.checked_sub(1)?))?;
        line(&self.contents.county_names, county.name)
    }

    fn counties_of_key(&self, key: &str, within: Within) -> impl Iterator<Item = &StoredCounty> {
        let counties = &self.contents.counties;
        let start = counties.partition_point(|county| self.county_key(county) < key);
        let end = start + counties[start..].iter().take_while(|county| self.county_key(county) == key).count();
        counties[start..end].iter().filter(move |county| within.contains(self.area_of(county)))
    }

    fn is_of_kind(&self, county: &StoredCounty, kind: &str) -> bool {
        let name = fold(line(&self.contents.county_names, county.name).unwrap_or_default());
        // The names of independent cities contain no generic word.
        let own = name.strip_prefix(self.county_key(county));
        own.is_some_and(|own| own == kind || (own.is_empty() && kind == "city"))
    }

    /// Returns the folded name of a county without its generic word.
    fn county_key(&self, county: &StoredCounty) -> &str {
        line(&self.contents.county_keys, county.key).unwrap_or_default()
    }

    fn county(&self, county: &StoredCounty) -> Option<County> {
        let name = line(&self.contents.county_names, county.name)?.to_owned();
        Some(County { name, region: self.area_of(county).region?, point: county.point })
    }

    fn area_of(&self, county: &StoredCounty) -> PlaceArea {
        self.contents.areas[usize::from(county.area)]
    }
}

/// Splits the generic word off the end of a folded name.
fn without_kind(name: &str) -> (&str, Option<&'static str>) {
    for kind in GENERIC_WORDS {
        let core = name.strip_suffix(kind).or_else(|| name.strip_prefix(kind)?.strip_prefix("of"));
        if let Some(core) = core
            && !core.is_empty()
        {
            return (core, Some(if kind == "co" { "county" } else { kind }));
        }
    }
    (name, None)
}

/// Returns the line that starts at a byte offset.
fn line(lines: &str, start: u32) -> Option<&str> {
    lines.get(start as usize..)?.lines().next()
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::super::candidate::Candidate;
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
    fn county_is_found_with_and_without_its_kind() {
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
    fn counties_of_one_name_are_sorted_by_size() {
        let all = named("Orange County", Within::Anywhere);
        assert_eq!(all.len(), 8, "{all:?}");
        assert_eq!(all[0], "Orange County, CA");
        assert_eq!(named("Orange County", Within::Country(crate::Country::CANADA)), [""; 0]);
    }

    #[test]
    fn county_is_centred_on_its_postcodes() {
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
    fn post_office_selects_between_namesakes() {
        let jackson: Vec<u32> =
            gazetteer().named("jackson", Within::Region(region("NJ"))).map(Candidate::place).collect();
        let county = |at: u32| gazetteer().county_of(at);
        let with: Vec<u32> = jackson.iter().copied().filter(|at| gazetteer().has_post_office(*at)).collect();
        assert_eq!(with.iter().filter_map(|at| county(*at)).collect::<Vec<_>>(), ["Ocean County"]);
        assert!(jackson.len() > with.len(), "the other Jackson is a hamlet without a county");
    }
}
