//! Parsers of the geocoder responses: Nominatim (`jsonv2`), Photon and Pelias (GeoJSON).

use anyhow::{Context, Result};
use serde_json::Value;
use signpost_locator::{Country, Point, Region};

use super::kind::GeocoderKind;

/// Maximum number of alternatives in a result.
const MAX_ALTERNATIVES: usize = 5;
/// Maximum length of a name, in characters. Longer names are truncated.
const MAX_NAME_CHARS: usize = 200;

/// The result of a geocoder for a text: the most likely place and the alternatives.
#[derive(Clone, Debug, PartialEq)]
pub struct GeocodeResult {
    /// The most likely place.
    pub place: GeocodedPlace,
    /// The confidence of the geocoder, 0 to 1.
    pub confidence: f64,
    /// Other possible places, at most [`MAX_ALTERNATIVES`].
    pub alternatives: Vec<GeocodedPlace>,
}

/// A place that a geocoder found.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct GeocodedPlace {
    pub name: String,
    pub region: Option<Region>,
    pub country: Option<Country>,
    pub point: Point,
}

impl GeocodeResult {
    /// Selects the first place in the given country, if there is one. The place that was selected before becomes the
    /// first alternative.
    pub(crate) fn preferring(mut self, country: Option<Country>) -> Self {
        if country.is_none() || self.place.country == country {
            return self;
        }
        if let Some(at) = self.alternatives.iter().position(|other| other.country == country) {
            let chosen = self.alternatives.remove(at);
            self.alternatives.insert(0, std::mem::replace(&mut self.place, chosen));
        }
        self
    }
}

/// Parses a response. Returns `None` if no place was found.
pub(crate) fn parse_reply(kind: GeocoderKind, body: &[u8]) -> Result<Option<GeocodeResult>> {
    let document: Value = serde_json::from_slice(body).context("its response is not JSON")?;
    let list = if kind == GeocoderKind::Nominatim { &document } else { &document["features"] };
    let list = list.as_array().context("its response is not a list of places")?;
    let place = match kind {
        GeocoderKind::Nominatim => nominatim,
        GeocoderKind::Photon => photon,
        GeocoderKind::Pelias => pelias,
    };
    let mut places = list.iter().filter_map(|item| Some((place(item)?, confidence(kind, item))));
    let Some((first, confidence)) = places.next() else { return Ok(None) };
    let mut alternatives: Vec<GeocodedPlace> = Vec::new();
    for (other, _) in places {
        let mut known = std::iter::once(&first).chain(&alternatives);
        let is_known = known.any(|known| known.name == other.name && known.region == other.region);
        if alternatives.len() < MAX_ALTERNATIVES && !is_known {
            alternatives.push(other);
        }
    }
    Ok(Some(GeocodeResult { place: first, confidence, alternatives }))
}

/// Returns the confidence that a geocoder reports for a place, or a default if it reports none, like Photon.
fn confidence(kind: GeocoderKind, item: &Value) -> f64 {
    let confidence = match kind {
        // Nominatim reports the prominence of the place instead of a confidence.
        GeocoderKind::Nominatim => item["importance"].as_f64(),
        GeocoderKind::Photon => None,
        GeocoderKind::Pelias => item["properties"]["confidence"].as_f64(),
    };
    (confidence.unwrap_or(0.5).clamp(0.1, 0.95) * 100.0).round() / 100.0
}

fn nominatim(item: &Value) -> Option<GeocodedPlace> {
    let address = &item["address"];
    let country = text(&address["country_code"]).and_then(|code| Country::parse(&code));
    let region = match text(&address["ISO3166-2-lvl4"]).as_deref().and_then(|code| code.split_once('-')) {
        Some((_, region)) => Some(region.to_owned()),
        None => text(&address["state"]),
    };
    Some(GeocodedPlace {
        name: text(&item["name"]).or_else(|| text(&item["display_name"]))?,
        region: region_of(country, region),
        country,
        // Nominatim encodes the coordinates as strings.
        point: Point::new(degrees(&item["lat"])?, degrees(&item["lon"])?)?,
    })
}

fn degrees(value: &Value) -> Option<f64> {
    value.as_str()?.parse().ok()
}

fn photon(item: &Value) -> Option<GeocodedPlace> {
    let properties = &item["properties"];
    let country = text(&properties["countrycode"]).and_then(|code| Country::parse(&code));
    Some(GeocodedPlace {
        name: text(&properties["name"]).or_else(|| street(properties))?,
        region: region_of(country, text(&properties["state"])),
        country,
        point: point(item)?,
    })
}

/// Returns the house number and street as the name of a place without a name.
fn street(properties: &Value) -> Option<String> {
    let street = text(&properties["street"])?;
    Some(match text(&properties["housenumber"]) {
        Some(number) => format!("{number} {street}"),
        None => street,
    })
}

fn pelias(item: &Value) -> Option<GeocodedPlace> {
    let properties = &item["properties"];
    let code = text(&properties["country_code"]).or_else(|| text(&properties["country"]));
    let country = code.and_then(|code| Country::parse(&code));
    let region = text(&properties["region_a"]).or_else(|| text(&properties["region"]));
    Some(GeocodedPlace {
        name: text(&properties["name"])?,
        region: region_of(country, region),
        country,
        point: point(item)?,
    })
}

/// Returns the coordinates of a GeoJSON feature: longitude first (RFC 7946).
fn point(item: &Value) -> Option<Point> {
    let coordinates = &item["geometry"]["coordinates"];
    Point::new(coordinates[1].as_f64()?, coordinates[0].as_f64()?)
}

fn region_of(country: Option<Country>, region: Option<String>) -> Option<Region> {
    Region::parse(&region?).filter(|region| Some(region.country()) == country)
}

/// Returns a text on one line, truncated after [`MAX_NAME_CHARS`].
fn text(value: &Value) -> Option<String> {
    let text: String = signpost_text::clean_line(value.as_str()?).chars().take(MAX_NAME_CHARS).collect();
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(kind: GeocoderKind, document: &Value) -> Option<GeocodeResult> {
        parse_reply(kind, document.to_string().as_bytes()).expect("an answer")
    }

    fn summarize(found: &GeocodeResult) -> (String, Option<&'static str>, Option<String>, String, usize) {
        let place = &found.place;
        let country = place.country.map(|country| country.code().to_owned());
        let point = format!("{:.2} {:.2}", place.point.lat(), place.point.lon());
        (place.name.clone(), place.region.map(Region::code), country, point, found.alternatives.len())
    }

    #[test]
    fn three_geocoder_formats_parse_equally() {
        let nominatim = json!([
            { "lat": "38.8977", "lon": "-77.0365", "name": "White House", "importance": 0.81,
              "address": { "state": "District of Columbia", "ISO3166-2-lvl4": "US-DC", "country_code": "us" } },
            { "lat": "1", "lon": "2", "name": "White House", "address": { "country_code": "gb", "state": "England" } },
            { "lat": "here", "lon": "2", "name": "Broken" },
        ]);
        let feature = |properties: Value, lat: f64, lon: f64| {
            json!({ "type": "Feature", "properties": properties,
            "geometry": { "type": "Point", "coordinates": [lon, lat] } })
        };
        let photon = json!({ "features": [
            feature(json!({ "name": "White House", "state": "District of Columbia", "countrycode": "US" }), 38.8977, -77.0365),
            feature(json!({ "housenumber": "1", "street": "High Street", "countrycode": "GB" }), 1.0, 2.0),
            feature(json!({ "name": "Off the earth" }), 100.0, 2.0),
        ] });
        let pelias = json!({ "features": [
            feature(json!({ "name": "White House", "region_a": "DC", "country_code": "US", "confidence": 1 }), 38.8977, -77.0365),
            feature(json!({ "name": "White House", "country_code": "GB" }), 1.0, 2.0),
        ] });
        let expected = ("White House".to_owned(), Some("DC"), Some("US".to_owned()), "38.90 -77.04".to_owned(), 1);
        for (kind, document, confidence) in [
            (GeocoderKind::Nominatim, nominatim, 0.81),
            (GeocoderKind::Photon, photon, 0.5),
            (GeocoderKind::Pelias, pelias, 0.95),
        ] {
            let found = found(kind, &document).unwrap();
            assert_eq!(summarize(&found), expected, "{kind:?}");
            assert!((found.confidence - confidence).abs() < 1e-9, "{kind:?}");
        }
    }

    #[test]
    fn place_of_a_country_is_preferred() {
        let document = json!([
            { "lat": "1", "lon": "2", "name": "A", "address": { "country_code": "us" } },
            { "lat": "1", "lon": "2", "name": "B", "address": { "country_code": "gb" } },
            { "lat": "1", "lon": "2", "name": "C", "address": { "country_code": "de" } },
        ]);
        for (country, expected) in [
            (None, ["A", "B", "C"]),
            (Some("US"), ["A", "B", "C"]),
            (Some("FR"), ["A", "B", "C"]),
            (Some("DE"), ["C", "A", "B"]),
        ] {
            let found = found(GeocoderKind::Nominatim, &document).unwrap().preferring(country.and_then(Country::parse));
            let names: Vec<_> =
                [&found.place].into_iter().chain(&found.alternatives).map(|place| &*place.name).collect();
            assert_eq!(names, expected, "{country:?}");
        }
    }

    #[test]
    fn empty_result_is_valid_and_nonsense_an_error() {
        assert_eq!(found(GeocoderKind::Nominatim, &json!([])), None);
        assert_eq!(found(GeocoderKind::Photon, &json!({ "features": [] })), None);
        assert_eq!(found(GeocoderKind::Pelias, &json!({ "features": [{}, 1, null] })), None);
        for (kind, body) in [
            (GeocoderKind::Nominatim, "{}"),
            (GeocoderKind::Photon, "[]"),
            (GeocoderKind::Pelias, "<html>"),
            (GeocoderKind::Photon, ""),
        ] {
            assert!(parse_reply(kind, body.as_bytes()).is_err(), "{body}");
        }
    }
}
