//! Fictional sample ATMs for trying out the service without real data.

use std::sync::Arc;

use crate::address::Address;
use crate::atm::{Coin, Record, ReportedState};
use crate::country::Country;
use crate::hours::Hours;
use crate::point::Point;
use crate::tri::Tri;

/// Name of the source of the fictional ATMs.
pub const SOURCE: &str = "sample";

/// The sample locations in each city: a part of the name, the street, and the offsets from the centre in degrees north
/// and east. All offsets are less than 6 miles, even in Honolulu with the longest degrees of longitude.
const PLACES: [(&str, &str, f64, f64); 4] = [
    ("Central Station", "1 Example Plaza", 0.004, -0.003),
    ("North Market", "200 Imaginary Avenue", 0.031, 0.012),
    ("Riverside Arcade", "35 Sample Street", -0.018, 0.027),
    ("Old Depot", "4 Nowhere Lane", -0.022, -0.041),
];

/// Returns four ATMs in each of 60 cities of the United States, including the 50 largest. The result is deterministic.
/// The records have no date, and their names and addresses are marked as fictional.
///
/// ```
/// use signpost_locator::sample;
///
/// let miami = sample::records().into_iter().find(|record| record.address.city.as_deref() == Some("Miami")).unwrap();
/// assert_eq!(miami.title(), "Sample ATM, Miami Central Station (fictional)");
/// ```
#[must_use]
pub fn records() -> Vec<Record> {
    CITIES.iter().flat_map(|city| (1..).zip(PLACES).map(|(number, place)| record(*city, number, place))).collect()
}

fn record((city, region, lat, lon): City, number: u8, (name, street, north, east): (&str, &str, f64, f64)) -> Record {
    let point = Point::new(lat + north, lon + east).expect("no city of the table is near a pole or the date line");
    let slug: String = city.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
    Record {
        source_ref: Some(format!("{slug}-{region}-{number}").to_ascii_lowercase().into()),
        name: Some(format!("Sample ATM, {city} {name} (fictional)").into()),
        operator: Some("Sample Operator (fictional)".into()),
        address: Address {
            street: Some(format!("{street} (fictional)").into()),
            city: Some(city.into()),
            region: Some(region.into()),
            country: Some(Country::UNITED_STATES),
            ..Address::default()
        },
        hours: Some(Hours::Always),
        reported: ReportedState::InService,
        buy: Tri::Yes,
        coins: Arc::new([(Coin::bitcoin(), Tri::Yes)].into()),
        ..Record::at(point)
    }
}

/// A city: its name, its region, and the coordinates of its centre.
type City = (&'static str, &'static str, f64, f64);

#[rustfmt::skip]
const CITIES: [City; 60] = [
    ("New York", "NY", 40.714, -74.006),
    ("Los Angeles", "CA", 34.052, -118.244),
    ("Chicago", "IL", 41.850, -87.650),
    ("Houston", "TX", 29.763, -95.363),
    ("Phoenix", "AZ", 33.448, -112.074),
    ("Philadelphia", "PA", 39.952, -75.164),
    ("San Antonio", "TX", 29.424, -98.494),
    ("San Diego", "CA", 32.716, -117.165),
    ("Dallas", "TX", 32.783, -96.807),
    ("Jacksonville", "FL", 30.332, -81.656),
    ("Fort Worth", "TX", 32.725, -97.321),
    ("San Jose", "CA", 37.339, -121.895),
    ("Austin", "TX", 30.267, -97.743),
    ("Columbus", "OH", 39.961, -82.999),
    ("Charlotte", "NC", 35.227, -80.843),
    ("Indianapolis", "IN", 39.768, -86.158),
    ("San Francisco", "CA", 37.775, -122.419),
    ("Seattle", "WA", 47.606, -122.332),
    ("Denver", "CO", 39.739, -104.985),
    ("Washington", "DC", 38.895, -77.036),
    ("Nashville", "TN", 36.166, -86.784),
    ("Oklahoma City", "OK", 35.468, -97.516),
    ("El Paso", "TX", 31.759, -106.487),
    ("Boston", "MA", 42.358, -71.060),
    ("Portland", "OR", 45.523, -122.676),
    ("Detroit", "MI", 42.331, -83.046),
    ("Las Vegas", "NV", 36.175, -115.137),
    ("Memphis", "TN", 35.150, -90.049),
    ("Louisville", "KY", 38.254, -85.759),
    ("Baltimore", "MD", 39.290, -76.612),
    ("Albuquerque", "NM", 35.084, -106.651),
    ("Milwaukee", "WI", 43.039, -87.906),
    ("Tucson", "AZ", 32.222, -110.926),
    ("Fresno", "CA", 36.748, -119.772),
    ("Sacramento", "CA", 38.582, -121.494),
    ("Atlanta", "GA", 33.749, -84.388),
    ("Miami", "FL", 25.774, -80.194),
    ("Omaha", "NE", 41.256, -95.940),
    ("Raleigh", "NC", 35.772, -78.639),
    ("Kansas City", "MO", 39.100, -94.579),
    ("Long Beach", "CA", 33.767, -118.189),
    ("Mesa", "AZ", 33.422, -111.823),
    ("Colorado Springs", "CO", 38.834, -104.821),
    ("Virginia Beach", "VA", 36.853, -75.978),
    ("Oakland", "CA", 37.804, -122.271),
    ("Tampa", "FL", 27.948, -82.458),
    ("Tulsa", "OK", 36.154, -95.993),
    ("Minneapolis", "MN", 44.980, -93.264),
    ("Wichita", "KS", 37.692, -97.338),
    ("Arlington", "TX", 32.736, -97.108),
    ("Bakersfield", "CA", 35.373, -119.019),
    ("Cleveland", "OH", 41.499, -81.695),
    ("New Orleans", "LA", 29.955, -90.075),
    ("Aurora", "CO", 39.729, -104.832),
    ("Honolulu", "HI", 21.307, -157.858),
    ("Anaheim", "CA", 33.835, -117.915),
    ("Orlando", "FL", 28.538, -81.379),
    ("Lexington", "KY", 37.989, -84.478),
    ("Riverside", "CA", 33.953, -117.396),
    ("Corpus Christi", "TX", 27.801, -97.396),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::point::Distance;
    use crate::region::Region;
    use crate::status::{AtmStatus, status};

    #[test]
    fn every_city_has_three_atms_within_ten_miles() {
        let records = records();
        for (name, _, lat, lon) in CITIES {
            let centre = Point::new(lat, lon).unwrap();
            let near = records.iter().filter(|record| centre.distance(record.point) <= Distance::miles(6.0)).count();
            assert!(near >= 3, "{name}: {near}");
        }
        for city in ["Miami", "Austin"] {
            assert!(CITIES.iter().any(|(name, ..)| *name == city), "{city}");
        }
    }

    #[test]
    fn every_atm_is_complete_and_marked_fictional() {
        let now = "2026-11-20T12:00:00Z".parse().unwrap();
        for mut record in records() {
            record.reported_at = Some(now);
            assert!(record.title().contains("(fictional)"), "{record:?}");
            assert!(record.address.one_line().unwrap().contains("(fictional)"), "{record:?}");
            assert!(Region::parse(record.address.region.as_deref().unwrap()).is_some(), "{record:?}");
            let open = Some(Ok(crate::hours::OpenState::Open));
            assert_eq!(status(&record, open, now).status, AtmStatus::Open);
        }
    }

    #[test]
    fn identifiers_and_names_are_unique() {
        let records = records();
        let refs: HashSet<_> = records.iter().map(|record| &record.source_ref).collect();
        let names: HashSet<_> = records.iter().map(|record| &record.name).collect();
        assert_eq!((refs.len(), names.len()), (records.len(), records.len()));
        assert_eq!(records, super::records());
    }
}
