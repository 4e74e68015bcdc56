//! The resolved location of a reply.

use serde::{Serialize, Serializer};
use signpost_locator::gazetteer::Resolved;
use signpost_locator::{Country, Point, Region};

use crate::places::geocoder::{GeocodeResult, GeocodedPlace};
use crate::view::degrees;

/// The result of resolving a location.
#[derive(Serialize)]
pub(crate) struct ResolvedLocation {
    #[serde(flatten)]
    pub(super) place: LocatedPlace,
    source: &'static str,
    confidence: f64,
    /// Other places of the name.
    alternatives: Vec<LocatedPlace>,
}

/// A place with its area.
#[derive(Serialize)]
pub(super) struct LocatedPlace {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    county: Option<String>,
    #[serde(serialize_with = "name_of", skip_serializing_if = "Option::is_none")]
    pub(super) region: Option<Region>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) country: Option<Country>,
    lat: f64,
    lon: f64,
}

impl ResolvedLocation {
    /// Creates the location from the place names.
    pub(super) fn named(resolved: Resolved) -> Self {
        let Resolved { name, county, region, country, point, .. } = resolved;
        let alternatives = resolved.alternatives.into_iter().map(|other| LocatedPlace {
            county: other.county,
            ..LocatedPlace::new(other.name, other.region, Some(other.country), other.point)
        });
        Self {
            place: LocatedPlace { county, ..LocatedPlace::new(name, region, country, point) },
            source: resolved.source.name(),
            confidence: resolved.confidence,
            alternatives: alternatives.collect(),
        }
    }

    /// Creates the location from the result of a geocoder with this name.
    pub(super) fn geocoded(source: &'static str, found: GeocodeResult) -> Self {
        let GeocodeResult { place, confidence, alternatives } = found;
        Self {
            place: place.into(),
            source,
            confidence,
            alternatives: alternatives.into_iter().map(Into::into).collect(),
        }
    }

    /// Returns the name with its area, and with its county if a namesake is in that region.
    pub(super) fn title(&self) -> String {
        let LocatedPlace { name, county, region, country, .. } = &self.place;
        let Some(area) = region.map(Region::name).or_else(|| country.map(Country::name)) else { return name.clone() };
        let is_ambiguous = self
            .alternatives
            .iter()
            .any(|other| other.name == *name && other.region == *region && other.country == *country);
        match county {
            Some(county) if is_ambiguous => format!("{name} ({county}), {area}"),
            _ => format!("{name}, {area}"),
        }
    }

    /// Returns the labels of the other places, each different from the others.
    pub(super) fn others(&self) -> Vec<String> {
        let labels: Vec<_> = self.alternatives.iter().chain([&self.place]).map(LocatedPlace::label).collect();
        let others = self.alternatives.iter().zip(&labels);
        others
            .map(|(place, label)| {
                let is_shared = labels.iter().filter(|other| *other == label).count() > 1;
                if is_shared { place.distinct_label() } else { label.clone() }
            })
            .collect()
    }
}

impl LocatedPlace {
    fn new(name: String, region: Option<Region>, country: Option<Country>, point: Point) -> Self {
        let [lat, lon] = degrees(point);
        Self { name, county: None, region, country, lat, lon }
    }

    /// Returns the name with its region or country, as a search text.
    fn label(&self) -> String {
        match self.region.map(Region::code).or_else(|| self.country.map(Country::name)) {
            Some(area) => format!("{}, {area}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns the label with the county, else with the coordinates.
    fn distinct_label(&self) -> String {
        let apart = self.county.clone().unwrap_or_else(|| format!("{:.2}, {:.2}", self.lat, self.lon));
        format!("{} ({apart})", self.label())
    }
}

impl From<GeocodedPlace> for LocatedPlace {
    fn from(place: GeocodedPlace) -> Self {
        Self::new(place.name, place.region, place.country, place.point)
    }
}

/// Serializes the name of a region.
#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn name_of<S: Serializer>(region: &Option<Region>, serializer: S) -> Result<S::Ok, S::Error> {
    region.map(Region::name).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use signpost_locator::gazetteer::{Place, PlaceSource};

    use super::*;

    fn place(name: &str, region: &str, code: &str, county: &str) -> Place {
        Place {
            name: name.to_owned(),
            region: Region::parse(region),
            country: Country::parse(code).expect("a country"),
            county: Some(county.to_owned()).filter(|county| !county.is_empty()),
            point: Point::new(41.25, -80.5).expect("on the earth"),
            population: 600,
            time_zone: "America/New_York".into(),
        }
    }

    fn resolved(first: Place, alternatives: Vec<Place>) -> ResolvedLocation {
        let Place { name, region, country, county, point, .. } = first;
        let (country, source) = (Some(country), PlaceSource::Place);
        let (confidence, notes) = (0.8, Vec::new());
        ResolvedLocation::named(Resolved {
            name,
            region,
            country,
            county,
            point,
            source,
            confidence,
            alternatives,
            notes,
        })
    }

    #[test]
    fn places_with_equal_labels_show_their_county() {
        let first = || place("Wheatland", "PA", "US", "Mercer County");
        let others =
            vec![place("Wheatland", "PA", "US", "Chester County"), place("Wheatland", "WY", "US", "Platte County")];
        let found = resolved(first(), others);
        assert_eq!(found.title(), "Wheatland (Mercer County), Pennsylvania");
        assert_eq!(found.others(), ["Wheatland, PA (Chester County)", "Wheatland, WY"]);
        let written = serde_json::to_value(&found).expect("it serialises");
        assert_eq!((&written["county"], &written["region"]), (&"Mercer County".into(), &"Pennsylvania".into()));
        assert_eq!(written["alternatives"][0]["county"], "Chester County");

        let found = resolved(first(), vec![place("Wheatland", "WY", "US", "Platte County")]);
        assert_eq!(found.title(), "Wheatland, Pennsylvania");
    }

    #[test]
    fn places_without_a_county_show_their_position() {
        let found = resolved(place("San Isidro", "", "PH", ""), vec![place("San Isidro", "", "PH", "")]);
        assert_eq!(found.others(), ["San Isidro, Philippines (41.25, -80.50)"]);
        let written = serde_json::to_value(&found).expect("it serialises");
        assert!(written.get("region").is_none() && written.get("county").is_none());
    }
}
