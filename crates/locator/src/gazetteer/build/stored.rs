//! More places for a gazetteer that is built already.

use fst::Streamer;

use super::subdivisions::add_subdivisions;
use crate::gazetteer::Gazetteer;
use crate::gazetteer::blob::{
    CountyEntry, Damaged, PlaceEntry, PostcodeEntry, StoredCounty, StoredPlace, StoredPostcode, encode,
};
use crate::gazetteer::postal_county::CountyList;
use crate::gazetteer::query::Within;
use crate::gazetteer::subdivision::Subdivision;

impl Gazetteer {
    /// This gazetteer with subdivisions of counties among its places, as bytes for [`Gazetteer::from_bytes`].
    ///
    /// # Errors
    /// [`Damaged`], if there is more than the format can count.
    pub fn with_subdivisions(&self, subdivisions: &[Subdivision]) -> Result<Vec<u8>, Damaged> {
        let counties = self.county_list();
        let (mut places, entries) = (self.place_entries(&counties), self.postcode_entries(&counties));
        // How the counties of its places were found is not kept: what the subdivisions say counts for more.
        let codes = vec![None; places.len()];
        add_subdivisions(&mut places, codes, subdivisions, &entries, &counties);
        encode(places, entries, counties.entries())
    }

    fn county_list(&self) -> CountyList {
        let contents = &self.contents;
        let names = contents.county_names.lines().zip(contents.county_keys.lines());
        let entry = |(county, (name, key)): (&StoredCounty, (&str, &str))| {
            let &StoredCounty { point, area, code, .. } = county;
            let region = contents.areas[usize::from(area)].region?;
            Some(CountyEntry { name: name.to_owned(), bare_name: key.to_owned(), region, code, point })
        };
        CountyList::new(contents.counties.iter().zip(names).filter_map(entry).collect())
    }

    /// The number in the list of a county that is stored as its number + 1.
    fn listed(&self, stored: u16, counties: &CountyList) -> Option<usize> {
        let county = self.contents.counties.get(usize::from(stored.checked_sub(1)?))?;
        counties.number(self.contents.areas[usize::from(county.area)].region?, county.code)
    }

    /// The places, with their other names as they are folded.
    fn place_entries(&self, counties: &CountyList) -> Vec<PlaceEntry> {
        let contents = &self.contents;
        let entry = |(place, name): (&StoredPlace, &str)| PlaceEntry {
            name: name.to_owned(),
            alternates: Vec::new(),
            area: contents.areas[usize::from(place.area)],
            point: place.point,
            population: place.population,
            time_zone: contents.zones[usize::from(place.zone)].to_string(),
            county: self.listed(place.county, counties),
            has_post_office: place.has_post_office,
        };
        let mut entries: Vec<PlaceEntry> = contents.places.iter().zip(contents.names.lines()).map(entry).collect();
        let mut keys = contents.keys.stream();
        while let Some((key, leads_to)) = keys.next() {
            let Ok(key) = std::str::from_utf8(key) else { continue };
            for named in self.led_to(leads_to, Within::Anywhere).filter(|named| !named.is_multiple_of(2)) {
                entries[(named / 2) as usize].alternates.push(key.to_owned());
            }
        }
        entries
    }

    fn postcode_entries(&self, counties: &CountyList) -> Vec<PostcodeEntry> {
        let postcodes = self.contents.postcodes.iter().zip(&self.contents.postcode_counties);
        let entry = |(postcode, county): (&StoredPostcode, &u16)| PostcodeEntry {
            code: postcode.code,
            point: postcode.point,
            area: self.contents.areas[postcode.area as usize],
            county: self.listed(*county, counties),
        };
        postcodes.map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_is_built_again_byte_for_byte() {
        let bytes = Gazetteer::embedded().with_subdivisions(&[]).unwrap();
        assert!(bytes == crate::gazetteer::EMBEDDED, "other bytes");
    }
}
