//! Rebuilding of an existing gazetteer with additional subdivisions.

use fst::Streamer;

use super::subdivisions::add_subdivisions;
use crate::fold::fold;
use crate::gazetteer::Gazetteer;
use crate::gazetteer::blob::{CountyEntry, GazetteerError, PlaceEntry, PostcodeEntry, encode};
use crate::gazetteer::postal_county::CountyList;
use crate::gazetteer::query::Within;
use crate::gazetteer::subdivision::Subdivision;

impl Gazetteer {
    /// Encodes this gazetteer with additional county subdivisions, for [`Gazetteer::from_bytes`].
    ///
    /// # Errors
    /// [`GazetteerError`], if the result exceeds the limits of the format.
    pub fn with_subdivisions(&self, subdivisions: &[Subdivision]) -> Result<Vec<u8>, GazetteerError> {
        let counties = self.county_list();
        let mut places = self.place_entries(&counties);
        let entries = self.postcode_entries(&counties);
        // The gazetteer does not store how the county of a place was determined, so the counties of subdivisions take
        // precedence.
        let codes = vec![None; places.len()];
        add_subdivisions(&mut places, codes, subdivisions, &entries, &counties);
        encode(places, entries, counties.entries())
    }

    fn county_list(&self) -> CountyList {
        let contents = &self.contents;
        let names = contents.county_names.lines().zip(contents.county_keys.lines());
        let mut counties = Vec::with_capacity(contents.counties.len());
        for (county, (name, key)) in contents.counties.iter().zip(names) {
            let Some(region) = contents.areas[usize::from(county.area)].region else { continue };
            counties.push(CountyEntry {
                name: name.to_owned(),
                bare_name: key.to_owned(),
                region,
                code: county.code,
                point: county.point,
            });
        }
        CountyList::new(counties)
    }

    /// Returns the list index of a county that is stored as its number + 1.
    fn listed(&self, stored: u16, counties: &CountyList) -> Option<usize> {
        let county = self.contents.counties.get(usize::from(stored.checked_sub(1)?))?;
        counties.number(self.contents.areas[usize::from(county.area)].region?, county.code)
    }

    /// Converts the stored places to entries, with folded alternate names.
    fn place_entries(&self, counties: &CountyList) -> Vec<PlaceEntry> {
        let contents = &self.contents;
        let mut entries = Vec::with_capacity(contents.places.len());
        for (place, name) in contents.places.iter().zip(contents.names.lines()) {
            entries.push(PlaceEntry {
                name: name.to_owned(),
                alternates: Vec::new(),
                area: contents.areas[usize::from(place.area)],
                point: place.point,
                population: place.population,
                time_zone: contents.zones[usize::from(place.zone)].to_string(),
                county: self.listed(place.county, counties),
                has_post_office: place.has_post_office,
            });
        }
        let mut keys = contents.keys.stream();
        while let Some((key, leads_to)) = keys.next() {
            let Ok(key) = std::str::from_utf8(key) else { continue };
            for candidate in self.led_to(leads_to, Within::Anywhere) {
                // The short form of a main name is also marked as a main name.
                let entry = &mut entries[candidate.place() as usize];
                if !candidate.is_main_name() || fold(&entry.name) != key {
                    entry.alternates.push(key.to_owned());
                }
            }
        }
        entries
    }

    fn postcode_entries(&self, counties: &CountyList) -> Vec<PostcodeEntry> {
        let postcodes = self.contents.postcodes.iter().zip(&self.contents.postcode_counties);
        let entries = postcodes.map(|(postcode, county)| PostcodeEntry {
            code: postcode.code,
            point: postcode.point,
            area: self.contents.areas[postcode.area as usize],
            county: self.listed(*county, counties),
        });
        entries.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rebuild_from_stored_form_is_byte_identical() {
        let bytes = Gazetteer::embedded().with_subdivisions(&[]).unwrap();
        assert!(bytes == crate::gazetteer::EMBEDDED, "other bytes");
    }
}
