//! How a location was understood, as replies tell it.

use serde::{Serialize, Serializer};
use signpost_locator::gazetteer::{Place, Resolved};
use signpost_locator::{Country, Point, Region};

use crate::places::geocoder::{GeocodeResult, GeocodedPlace};
use crate::view::degrees;

/// How a location was understood, as replies tell it.
#[derive(Serialize)]
pub(crate) struct Understood {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    county: Option<String>,
    #[serde(serialize_with = "name_of", skip_serializing_if = "Option::is_none")]
    pub(super) region: Option<Region>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) country: Option<Country>,
    lat: f64,
    lon: f64,
    source: &'static str,
    confidence: f64,
    alternatives: Vec<Alternative>,
}

/// Another place of the same name.
#[derive(Serialize)]
struct Alternative {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    county: Option<String>,
    #[serde(serialize_with = "name_of", skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
    #[serde(skip_serializing_if = "Option::is_none")]
    country: Option<Country>,
    lat: f64,
    lon: f64,
}

impl Understood {
    /// How people would call it; with its county, where another of its name is in the same region.
    pub(super) fn title(&self) -> String {
        let is_alike = |other: &Alternative| {
            other.name == self.name && other.region == self.region && other.country == self.country
        };
        let county = self.county.as_ref().filter(|_| self.alternatives.iter().any(is_alike));
        let county = county.map(|county| format!(" ({county})")).unwrap_or_default();
        match self.region {
            Some(region) => format!("{}{county}, {}", self.name, region.name()),
            None => match self.country {
                Some(land) => format!("{}{county}, {}", self.name, land.name()),
                None => self.name.clone(),
            },
        }
    }

    /// The other places, each with a label of its own.
    pub(super) fn others(&self) -> Vec<String> {
        if self.alternatives.is_empty() {
            return Vec::new();
        }
        let own = label(&self.name, self.region, self.country);
        let labels: Vec<String> = self.alternatives.iter().map(Alternative::label).collect();
        let is_shared = |label: &String| *label == own || labels.iter().filter(|other| *other == label).count() > 1;
        let each = self.alternatives.iter().zip(&labels);
        each.map(|(place, label)| if is_shared(label) { place.label_among_alike() } else { label.clone() }).collect()
    }

    /// What the place names know.
    pub(super) fn named(resolved: Resolved) -> (Point, Self) {
        let alternative = |place: Place| Alternative {
            county: place.county,
            ..Alternative::new(place.name, place.region, Some(place.country), place.point)
        };
        let [lat, lon] = degrees(resolved.point);
        let understood = Self {
            name: resolved.name,
            county: resolved.county,
            region: resolved.region,
            country: resolved.country,
            lat,
            lon,
            source: resolved.source.name(),
            confidence: resolved.confidence,
            alternatives: resolved.alternatives.into_iter().map(alternative).collect(),
        };
        (resolved.point, understood)
    }

    /// What a geocoder of this name found.
    pub(super) fn geocoded(source: &'static str, found: GeocodeResult) -> (Point, Self) {
        let alternative = |place: GeocodedPlace| Alternative::new(place.name, place.region, place.country, place.point);
        let GeocodeResult { place, confidence, alternatives } = found;
        let [lat, lon] = degrees(place.point);
        let understood = Self {
            name: place.name,
            county: None,
            region: place.region,
            country: place.country,
            lat,
            lon,
            source,
            confidence,
            alternatives: alternatives.into_iter().map(alternative).collect(),
        };
        (place.point, understood)
    }
}

impl Alternative {
    fn new(name: String, region: Option<Region>, country: Option<Country>, point: Point) -> Self {
        let [lat, lon] = degrees(point);
        Self { name, county: None, region, country, lat, lon }
    }

    fn label(&self) -> String {
        label(&self.name, self.region, self.country)
    }

    /// The label with what tells it from others like it: its county, else where it is.
    fn label_among_alike(&self) -> String {
        let apart = self.county.clone().unwrap_or_else(|| format!("{:.2}, {:.2}", self.lat, self.lon));
        format!("{} ({apart})", self.label())
    }
}

/// A name with its region or country, as it can be asked for.
fn label(name: &str, region: Option<Region>, country: Option<Country>) -> String {
    let area = region.map(Region::code).or_else(|| country.map(Country::name));
    area.map_or_else(|| name.to_owned(), |area| format!("{name}, {area}"))
}

/// The region's name.
#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn name_of<S: Serializer>(region: &Option<Region>, serializer: S) -> Result<S::Ok, S::Error> {
    region.map(Region::name).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use signpost_locator::gazetteer::PlaceSource;

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

    fn understood(first: Place, alternatives: Vec<Place>) -> Understood {
        let Place { name, region, country, county, point, .. } = first;
        let (country, source) = (Some(country), PlaceSource::Place);
        let (confidence, notes) = (0.8, Vec::new());
        Understood::named(Resolved { name, region, country, county, point, source, confidence, alternatives, notes }).1
    }

    #[test]
    fn places_that_print_alike_carry_their_county() {
        let first = || place("Wheatland", "PA", "US", "Mercer County");
        let others =
            vec![place("Wheatland", "PA", "US", "Chester County"), place("Wheatland", "WY", "US", "Platte County")];
        let found = understood(first(), others);
        assert_eq!(found.title(), "Wheatland (Mercer County), Pennsylvania");
        assert_eq!(found.others(), ["Wheatland, PA (Chester County)", "Wheatland, WY"]);
        let written = serde_json::to_value(&found).expect("it serialises");
        assert_eq!((&written["county"], &written["region"]), (&"Mercer County".into(), &"Pennsylvania".into()));
        assert_eq!(written["alternatives"][0]["county"], "Chester County");

        let found = understood(first(), vec![place("Wheatland", "WY", "US", "Platte County")]);
        assert_eq!(found.title(), "Wheatland, Pennsylvania");
    }

    #[test]
    fn places_without_a_county_are_told_apart_by_where_they_are() {
        let found = understood(place("San Isidro", "", "PH", ""), vec![place("San Isidro", "", "PH", "")]);
        assert_eq!(found.others(), ["San Isidro, Philippines (41.25, -80.50)"]);
        let written = serde_json::to_value(&found).expect("it serialises");
        assert!(written.get("region").is_none() && written.get("county").is_none());
    }
}
