//! Places with namesakes in several countries, divisions, and parts of a text that were not used: docs/locator.md,
//! Location text.

use serde_json::{Value, json};
use signpost_atm::catalogue::{Snapshot, StoredCatalogue};
use signpost_locator::{Atm, AtmId, Country, Point, Record};

use crate::assistant::server;
use crate::harness::{Service, embedded_database};
use crate::pages::open;
use crate::program::{command, document};

const FIND: &str = "find_nearest_bitcoin_atm";
const STATUS: &str = "check_atm_status";

/// ATMs with the country of their address: in Austin, and in Badajoz, 35 miles from Mérida in Spain.
const ATMS: [(f64, f64, Option<&str>); 2] = [(30.268, -97.743, Some("US")), (38.879, -6.970, Some("ES"))];

/// Starts a server with these ATMs.
async fn serving(atms: &[(f64, f64, Option<&str>)]) -> Service {
    let server = server().await;
    let atms = (1..).zip(atms).map(|(number, &(lat, lon, country))| {
        let mut record = Record::at(Point::new(lat, lon).unwrap());
        record.address.country = country.and_then(Country::parse);
        Atm { id: AtmId::new(number).unwrap(), source: "test".into(), record: record.into() }
    });
    let catalogue = &server.app.atm.catalogue;
    let version = catalogue.snapshot().version();
    catalogue.replace(Snapshot::build(StoredCatalogue { version, atms: atms.collect(), ..StoredCatalogue::default() }));
    server
}

async fn result(server: &Service, tool: &str, arguments: Value) -> Value {
    server.call(tool, arguments).await.with(200)["result"]["structuredContent"].clone()
}

/// Returns the countries of the alternatives.
fn alternatives(resolved: &Value) -> Vec<&str> {
    let places = resolved["alternatives"].as_array().unwrap();
    places.iter().map(|place| place["country"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn country_argument_prefers_its_places() {
    let server = serving(&ATMS).await;
    for (location, country, expected) in [
        ("Mérida", "ve", "VE"),
        ("Mérida", "MX", "MX"),
        ("Mérida", " es ", "ES"),
        // There is no place of this name in the country.
        ("Mérida", "JP", "MX"),
        ("Birmingham", "UK", "GB"),
        ("Paris", "US", "US"),
        ("San Juan", "PR", "US"),
        // The text names a country.
        ("Paris, France", "US", "FR"),
    ] {
        for tool in [FIND, STATUS] {
            let found = result(&server, tool, json!({ "location": location, "country": country })).await;
            assert_eq!(found["resolvedLocation"]["country"], expected, "{tool} {location} {country}: {found}");
        }
    }
    let found = result(&server, FIND, json!({ "location": "Mérida", "country": "VE" })).await;
    assert!(alternatives(&found["resolvedLocation"]).contains(&"MX"), "{found}");
    assert!(found["resolvedLocation"]["confidence"].as_f64().unwrap() <= 0.6, "{found}");
    assert!(found["notice"].as_str().unwrap().contains("Mérida, Mexico"), "{found}");
    let found = result(&server, FIND, json!({ "lat": 30.268, "lon": -97.743, "country": "VE" })).await;
    assert_eq!(found["total"], 1, "{found}");
}

#[tokio::test]
async fn bare_name_prefers_the_country_with_atms() {
    let server = serving(&ATMS).await;
    for tool in [FIND, STATUS] {
        let found = result(&server, tool, json!({ "location": "Mérida" })).await;
        let resolved = &found["resolvedLocation"];
        assert_eq!((&resolved["country"], &resolved["region"]), (&json!("ES"), &json!("Badajoz")), "{found}");
        assert!(alternatives(resolved).contains(&"MX"), "{found}");
        let notice = found["notice"].as_str().unwrap();
        assert!(notice.contains("Mérida, Spain was taken") && notice.contains("ask for Mérida, Mexico"), "{notice}");
    }
    let found = result(&server, FIND, json!({ "location": "Mérida, Mexico" })).await;
    assert_eq!(found["resolvedLocation"]["country"], "MX", "{found}");
}

#[tokio::test]
async fn atms_of_one_country_choose_no_place() {
    for atms in [&ATMS[1..], &[(38.879, -6.970, None)], &[]] {
        let server = serving(atms).await;
        let found = result(&server, FIND, json!({ "location": "Mérida" })).await;
        assert_eq!(found["resolvedLocation"]["country"], "MX", "{found}");
    }
}

#[tokio::test]
async fn atms_without_a_country_count_by_their_nearest_place() {
    let server = serving(&[(30.268, -97.743, None), (38.879, -6.970, None)]).await;
    let found = result(&server, FIND, json!({ "location": "Mérida" })).await;
    assert_eq!(found["resolvedLocation"]["country"], "ES", "{found}");
}

#[tokio::test]
async fn resolved_place_abroad_has_its_division() {
    let server = serving(&ATMS).await;
    for (location, source, name, region) in [
        ("Guadalajara, Jalisco, Mexico", "place", "Guadalajara", "Jalisco"),
        ("Munich, Bavaria", "place", "Munich", "Bavaria"),
        ("Austin, TX", "place", "Austin", "Texas"),
        ("Merseyside", "division", "Merseyside", "Merseyside"),
    ] {
        let found = result(&server, FIND, json!({ "location": location })).await;
        let resolved = &found["resolvedLocation"];
        assert_eq!((&resolved["source"], &resolved["name"]), (&json!(source), &json!(name)), "{location}: {found}");
        assert_eq!(resolved["region"], region, "{location}: {found}");
    }
    let found = result(&server, FIND, json!({ "location": "Guadalajara, Mexico" })).await;
    let others = found["resolvedLocation"]["alternatives"].as_array().unwrap();
    assert!(others.iter().all(|place| place["region"].is_string()), "{found}");
}

#[tokio::test]
async fn unused_parts_of_the_text_are_reported() {
    let server = serving(&ATMS).await;
    for (location, dropped, name, confidence) in [
        // Postcodes of Germany are not known.
        ("90210 Berlin, Germany", json!(["90210"]), "Berlin", 0.8),
        ("Portland, ME 97201", json!(["97201"]), "Portland", 0.5),
    ] {
        let found = result(&server, FIND, json!({ "location": location })).await;
        let resolved = &found["resolvedLocation"];
        assert_eq!((&resolved["name"], &resolved["dropped"]), (&json!(name), &dropped), "{location}: {found}");
        assert!(resolved["confidence"].as_f64().unwrap() <= confidence, "{location}: {found}");
        let part = dropped[0].as_str().unwrap();
        assert!(found["notice"].as_str().unwrap().contains(part), "{location}: {found}");
    }
    let page = "/near?q=Portland%2C+ME+97201";
    for (lang, told) in [("en", "The postcode 97201 is not near"), ("es", "El código postal 97201 no está cerca")] {
        let page = open(&server, &format!("{page}&lang={lang}")).await.text;
        assert!(page.contains(told), "{lang}: {page}");
    }
    let found = result(&server, FIND, json!({ "location": "Austin, TX" })).await;
    assert!(found["resolvedLocation"].get("dropped").is_none(), "{found}");
}

/// Returns the heading of the search page for `Mérida`.
async fn heading(server: &Service, query: &str, accepted: &str) -> String {
    let headers = [("accept", "text/html"), ("accept-language", accepted)];
    let path = format!("/near?q=M%C3%A9rida{query}");
    let page = server.send(reqwest::Method::GET, &path, &headers, "").await.text;
    page.split("<h1>").nth(1).and_then(|rest| rest.split("</h1>").next()).unwrap().to_owned()
}

#[tokio::test]
async fn page_prefers_the_country_of_the_user() {
    let server = serving(&ATMS).await;
    for (query, accepted, expected) in [
        ("", "es-VE,es;q=0.9", "Venezuela"),
        ("", "es-MX,es;q=0.9,en;q=0.8", "Mexico"),
        ("", "es", "Spain"),
        ("", "de", "Spain"),
        ("", "", "Spain"),
        ("&country=ve", "es-MX", "Venezuela"),
        ("&country=nowhere", "es-MX", "Mexico"),
        ("&lang=en", "es-VE", "Venezuela"),
    ] {
        let heading = heading(&server, query, accepted).await;
        assert!(heading.contains(&format!("Mérida, {expected}")), "{query} {accepted}: {heading}");
    }
    let page = open(&server, "/near?q=M%C3%A9rida&country=ve").await.text;
    assert!(page.contains("q=M%C3%A9rida&amp;country=VE&amp;lang=es"), "{page}");
}

#[tokio::test]
async fn commands_prefer_places_of_a_country() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let found = document(folder, &["places", "Mérida", "--country", "ve"]);
    assert_eq!((&found["country"], &found["division"]), (&json!("VE"), &json!("Mérida")), "{found}");
    let found = document(folder, &["places", "--explain", "Mérida", "--country", "VE"]);
    let last = found["steps"].as_array().unwrap().last().unwrap();
    assert_eq!(last["step"], "a place of this name in the country", "{found}");
    assert!(last["gave"].as_str().unwrap().starts_with("Mérida, Venezuela"), "{found}");
    assert_eq!(found["answer"]["country"], "VE", "{found}");
    embedded_database(&folder.join("data"));
    let found = document(folder, &["atms", "near", "Mérida", "--country", "VE"]);
    assert_eq!(found["resolvedLocation"]["country"], "VE", "{found}");
    for refused in [&["places", "Mérida", "--country", "Spain"][..], &["atms", "near", "Mérida", "--country", "XX"]] {
        let refused = command(folder, refused).run();
        assert_eq!(refused.code, Some(2), "{}", refused.err);
        assert!(refused.err.contains("two-letter"), "{}", refused.err);
    }
}
