//! What geocoders answer: the documents of Nominatim (`jsonv2`), Photon and Pelias (GeoJSON), read as far as needed.

use anyhow::{Context, Result};
use serde_json::Value;
use signpost_locator::{Country, Point, Region};

use super::kind::GeocoderKind;

/// Most other places that are kept.
const MAX_ALTERNATIVES: usize = 5;
/// Most characters of a name that are kept.
const MAX_NAME_CHARS: usize = 200;

/// What a text means.
#[derive(Clone, Debug, PartialEq)]
pub struct GeocodeResult {
    /// The likeliest place.
    pub place: GeocodedPlace,
    /// How sure the geocoder is, 0 to 1.
    pub confidence: f64,
    /// Others, at most five.
    pub alternatives: Vec<GeocodedPlace>,
}

/// A place as a geocoder knows it.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct GeocodedPlace {
    pub name: String,
    pub region: Option<Region>,
    pub country: Option<Country>,
    pub point: Point,
}

/// Reads an answer; `None` where nothing was found.
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
        let is_new = |known: &GeocodedPlace| known.name != other.name || known.region != other.region;
        if alternatives.len() < MAX_ALTERNATIVES && is_new(&first) && alternatives.iter().all(is_new) {
            alternatives.push(other);
        }
    }
    Ok(Some(GeocodeResult { place: first, confidence, alternatives }))
}

/// How sure a geocoder is. Photon does not say.
fn confidence(kind: GeocoderKind, item: &Value) -> f64 {
    let said = match kind {
        // A measure of how well known the place is.
        GeocoderKind::Nominatim => item["importance"].as_f64(),
        GeocoderKind::Photon => None,
        GeocoderKind::Pelias => item["properties"]["confidence"].as_f64(),
    };
    (said.unwrap_or(0.5).clamp(0.1, 0.95) * 100.0).round() / 100.0
}

fn nominatim(item: &Value) -> Option<GeocodedPlace> {
    // Coordinates are texts here.
    let degrees = |name: &str| item[name].as_str()?.parse::<f64>().ok();
    let address = &item["address"];
    let country = text(&address["country_code"]).and_then(|code| Country::parse(&code));
    let code = text(&address["ISO3166-2-lvl4"]);
    let region = code.as_deref().and_then(|code| code.split_once('-')).map(|(_, region)| region.to_owned());
    Some(GeocodedPlace {
        name: text(&item["name"]).or_else(|| text(&item["display_name"]))?,
        region: region_of(country, region.or_else(|| text(&address["state"]))),
        country,
        point: Point::new(degrees("lat")?, degrees("lon")?)?,
    })
}

fn photon(item: &Value) -> Option<GeocodedPlace> {
    let properties = &item["properties"];
    let country = text(&properties["countrycode"]).and_then(|code| Country::parse(&code));
    let street = || {
        let (number, street) = (text(&properties["housenumber"]), text(&properties["street"])?);
        Some(number.map_or_else(|| street.clone(), |number| format!("{number} {street}")))
    };
    Some(GeocodedPlace {
        name: text(&properties["name"]).or_else(street)?,
        region: region_of(country, text(&properties["state"])),
        country,
        point: point(item)?,
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

/// The place of a feature: longitude first (RFC 7946).
fn point(item: &Value) -> Option<Point> {
    let coordinates = &item["geometry"]["coordinates"];
    Point::new(coordinates[1].as_f64()?, coordinates[0].as_f64()?)
}

fn region_of(country: Option<Country>, region: Option<String>) -> Option<Region> {
    Region::parse(&region?).filter(|region| Some(region.country()) == country)
}

/// A text on one line, however long it is written.
fn text(value: &Value) -> Option<String> {
    let text: String = signpost_text::line(value.as_str()?).chars().take(MAX_NAME_CHARS).collect();
    Some(text).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(kind: GeocoderKind, document: &Value) -> Option<GeocodeResult> {
        parse_reply(kind, document.to_string().as_bytes()).expect("an answer")
    }

    fn said(found: &GeocodeResult) -> (String, Option<&'static str>, Option<String>, String, usize) {
        let place = &found.place;
        let country = place.country.map(|country| country.code().to_owned());
        let point = format!("{:.2} {:.2}", place.point.lat(), place.point.lon());
        (place.name.clone(), place.region.map(Region::code), country, point, found.alternatives.len())
    }

    #[test]
    fn the_answers_of_three_geocoders_say_the_same() {
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
            assert_eq!(said(&found), expected, "{kind:?}");
            assert!((found.confidence - confidence).abs() < 1e-9, "{kind:?}");
        }
    }

    #[test]
    fn nothing_found_is_no_mistake_and_nonsense_is_one() {
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
