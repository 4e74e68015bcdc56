//! The `resolved_location` of a tool reply: the place that was found for the location in the request.

use serde::Serialize;
use signpost_locator::gazetteer::{Place, Resolved};
use signpost_locator::{Country, Division, Point, Region};

use crate::places::geocoder::{GeocodeResult, GeocodedPlace};
use crate::view::degrees;

/// The place that was found for the location in a request.
#[derive(Serialize)]
pub(crate) struct ResolvedLocation {
    #[serde(flatten)]
    pub(super) place: LocatedPlace,
    source: &'static str,
    confidence: f64,
    /// The parts of the text that were not used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dropped: Vec<String>,
    /// Other places of the name.
    alternatives: Vec<LocatedPlace>,
}

/// A place with its administrative area.
#[derive(Serialize)]
pub(super) struct LocatedPlace {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    county: Option<String>,
    /// The name of the region or division.
    #[serde(rename = "region", skip_serializing_if = "Option::is_none")]
    region_name: Option<&'static str>,
    #[serde(skip)]
    pub(super) region: Option<Region>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) country: Option<Country>,
    lat: f64,
    lon: f64,
}

impl ResolvedLocation {
    /// Creates the location from a result of the gazetteer.
    pub(super) fn named(resolved: Resolved) -> Self {
        let Resolved { name, county, region, division, country, point, .. } = resolved;
        let place = LocatedPlace { county, ..LocatedPlace::new(name, region, country, point) };
        Self {
            place: place.in_division(division),
            source: resolved.source.name(),
            confidence: resolved.confidence,
            dropped: resolved.dropped.iter().map(|part| signpost_text::clean_line(part).into_owned()).collect(),
            alternatives: resolved.alternatives.into_iter().map(Into::into).collect(),
        }
    }

    /// Creates the location from the result of a geocoder with this name.
    pub(super) fn geocoded(source: &'static str, found: GeocodeResult) -> Self {
        let GeocodeResult { place, confidence, alternatives } = found;
        Self {
            place: place.into(),
            source,
            confidence,
            dropped: Vec::new(),
            alternatives: alternatives.into_iter().map(Into::into).collect(),
        }
    }

    /// Returns the name with its area, including the county or division if another place in that area has the name.
    pub(super) fn title(&self) -> String {
        let LocatedPlace { name, county, region_name, region, country, .. } = &self.place;
        let Some(area) = region.map(Region::name).or_else(|| country.map(Country::name)) else { return name.clone() };
        let is_ambiguous = self
            .alternatives
            .iter()
            .any(|other| other.name == *name && other.region == *region && other.country == *country);
        match (county, region_name) {
            (Some(county), _) if is_ambiguous => format!("{name} ({county}), {area}"),
            (None, Some(division)) if is_ambiguous && region.is_none() => format!("{name}, {division}, {area}"),
            _ => format!("{name}, {area}"),
        }
    }

    /// Returns distinct labels of the alternatives.
    pub(super) fn others(&self) -> Vec<String> {
        let places: Vec<_> = self.alternatives.iter().chain([&self.place]).collect();
        self.alternatives.iter().map(|other| other.distinct_label(&places)).collect()
    }
}

impl LocatedPlace {
    fn new(name: String, region: Option<Region>, country: Option<Country>, point: Point) -> Self {
        let [lat, lon] = degrees(point);
        Self { name, county: None, region_name: region.map(Region::name), region, country, lat, lon }
    }

    /// Sets the administrative division, for places outside the United States and Canada.
    fn in_division(self, division: Option<Division>) -> Self {
        Self { region_name: self.region_name.or(division.map(Division::name)), ..self }
    }

    /// Returns the name with its region or country, in a form that can be searched for.
    fn label(&self) -> String {
        match self.region.map(Region::code).or_else(|| self.country.map(Country::name)) {
            Some(area) => format!("{}, {area}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns the name with its division and its country, in a form that can be searched for.
    fn label_with_division(&self) -> String {
        match (self.region, self.region_name, self.country) {
            (None, Some(division), Some(country)) => format!("{}, {division}, {}", self.name, country.name()),
            _ => self.label(),
        }
    }

    /// Returns the shortest label that distinguishes the place from `places`: with the division, the county, or the
    /// coordinates.
    fn distinct_label(&self, places: &[&Self]) -> String {
        for label in [Self::label, Self::label_with_division] {
            let own = label(self);
            if places.iter().filter(|place| label(place) == own).count() == 1 {
                return own;
            }
        }
        let apart = self.county.clone().unwrap_or_else(|| format!("{:.2}, {:.2}", self.lat, self.lon));
        format!("{} ({apart})", self.label())
    }
}

impl From<Place> for LocatedPlace {
    fn from(place: Place) -> Self {
        let Place { name, region, division, country, county, point, .. } = place;
        Self { county, ..Self::new(name, region, Some(country), point).in_division(division) }
    }
}

impl From<GeocodedPlace> for LocatedPlace {
    fn from(place: GeocodedPlace) -> Self {
        Self::new(place.name, place.region, place.country, place.point)
    }
}

#[cfg(test)]
mod tests {
    use signpost_locator::gazetteer::PlaceSource;

    use super::*;

    fn place(name: &str, region: &str, code: &str, county: &str) -> Place {
        Place {
            name: name.to_owned(),
            region: Region::parse(region),
            division: None,
            country: Country::parse(code).expect("a country"),
            county: Some(county.to_owned()).filter(|county| !county.is_empty()),
            point: Point::new(41.25, -80.5).expect("on the earth"),
            population: 600,
            time_zone: "America/New_York".into(),
        }
    }

    /// Returns a place in the division with this code.
    fn place_abroad(name: &str, country: &str, division: &str) -> Place {
        let place = place(name, "", country, "");
        Place { division: Division::of_code(place.country, division), ..place }
    }

    fn resolved(first: Place, alternatives: Vec<Place>) -> ResolvedLocation {
        ResolvedLocation::named(Resolved {
            name: first.name,
            region: first.region,
            division: first.division,
            country: Some(first.country),
            county: first.county,
            point: first.point,
            source: PlaceSource::Place,
            confidence: 0.8,
            alternatives,
            notes: Vec::new(),
            dropped: Vec::new(),
            is_bare_name: true,
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
        assert!(written.get("dropped").is_none());
    }

    #[test]
    fn places_abroad_show_their_division() {
        let jalisco = || place_abroad("San Isidro", "MX", "14");
        let found = resolved(jalisco(), vec![place("San Isidro", "", "PH", "")]);
        assert_eq!(
            (found.title().as_str(), found.others()),
            ("San Isidro, Mexico", vec!["San Isidro, Philippines".to_owned()])
        );
        let written = serde_json::to_value(&found).expect("it serialises");
        assert_eq!((&written["region"], &written["country"]), (&"Jalisco".into(), &"MX".into()));
        assert!(written["alternatives"][0].get("region").is_none());

        let found = resolved(jalisco(), vec![place_abroad("San Isidro", "MX", "05"), jalisco(), jalisco()]);
        assert_eq!(found.title(), "San Isidro, Jalisco, Mexico");
        let others = found.others();
        assert_eq!(
            (others[0].as_str(), others[1].as_str()),
            ("San Isidro, Chiapas, Mexico", "San Isidro, Mexico (41.25, -80.50)")
        );
        let written = serde_json::to_value(&found).expect("it serialises");
        assert_eq!(written["alternatives"][0]["region"], "Chiapas");
    }
}
