//! Content and length of answers (docs/locator.md, Results).

use std::collections::BTreeSet;
use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};
use signpost_atm::catalogue::{Snapshot, Source, StoredCatalogue};
use signpost_locator::{Atm, AtmId, Coin, Country, Hours, Point, Record, ReportedState, Tri};

use crate::assistant::{server, server_with};
use crate::harness::Service;

pub(crate) const FIND: &str = "find_nearest_bitcoin_atm";
pub(crate) const DETAILS: &str = "get_atm_details";
pub(crate) const STATUS: &str = "check_atm_status";
pub(crate) const LIST: &str = "list_atms_by_city";

pub(crate) const AUSTIN: (f64, f64) = (30.267_15, -97.743_06);

/// Starts a server whose catalogue has these ATMs, with row IDs from 1.
pub(crate) async fn server_of(records: impl IntoIterator<Item = Record>) -> Service {
    server_of_with(&[], records).await
}

/// Starts a server with other settings, whose catalogue has these ATMs.
pub(crate) async fn server_of_with(settings: &[(&str, &str)], records: impl IntoIterator<Item = Record>) -> Service {
    let server = server_with(settings).await;
    let atm =
        |(number, record)| Atm { id: AtmId::new(number).unwrap(), source: "machines".into(), record: Box::new(record) };
    let source = Source {
        name: "machines".to_owned(),
        attribution: "Imported from machines".to_owned(),
        imported_at: "2027-01-10T12:00:00Z".parse().unwrap(),
    };
    // A server that sees the version of its database does not reload the ATMs.
    let snapshot = Snapshot::build(StoredCatalogue {
        version: server.app.atm.catalogue.snapshot().version(),
        atms: (1..).zip(records).map(atm).collect(),
        sources: vec![source],
        ..StoredCatalogue::default()
    });
    server.app.atm.catalogue.replace(snapshot);
    server
}

/// Returns an ATM with only a name and an address, as for most ATMs.
pub(crate) fn plain(number: u32) -> Record {
    let away = f64::from(number) * 0.001_234_567;
    let mut record = Record::at(Point::new(AUSTIN.0 + away, AUSTIN.1 - away).unwrap());
    record.name = Some(format!("Corner Shop {number:03}").into());
    record.address.formatted = Some(format!("{} Longhorn Boulevard, Austin, TX 78701", 1000 + number).into());
    (record.address.city, record.address.region) = (Some("Austin".into()), Some("TX".into()));
    record
}

/// Returns the text of an answer, which is equal to the structured value.
pub(crate) async fn text(server: &Service, tool: &str, arguments: Value) -> String {
    let reply = server.call(tool, arguments).await.with(200);
    assert_eq!(reply["result"]["isError"], false, "{reply}");
    reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

pub(crate) async fn answer(server: &Service, tool: &str, arguments: Value) -> Value {
    serde_json::from_str(&text(server, tool, arguments).await).unwrap()
}

#[tokio::test]
async fn answers_stay_below_the_token_limits() {
    let server = server_of((1..=60).map(plain)).await;
    let near = |limit: u32| json!({ "location": "Austin, TX", "limit": limit });
    let city = json!({ "state": "TX", "city": "Austin" });
    for (tool, arguments, rows, tokens) in [
        (FIND, near(10), 10, 1100),
        (FIND, near(50), 50, 3500),
        (STATUS, near(10), 10, 1100),
        (STATUS, near(50), 50, 3500),
        (LIST, city, 50, 3500),
    ] {
        let text = text(&server, tool, arguments).await;
        let found: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(found["atms"].as_array().unwrap().len(), rows, "{tool}");
        let characters = text.chars().count();
        assert!(characters <= tokens * 4, "{tool}, {rows} rows: {characters} characters\n{text}");
    }
}

/// Returns a plain ATM in another city.
fn elsewhere(number: u32, (city, state): (&str, &str), (north, east): (f64, f64)) -> Record {
    let mut record = plain(number);
    record.point = Point::new(record.point.lat() + north, record.point.lon() + east).unwrap();
    let place = format!("{city}, {state}");
    record.address.formatted = record.address.formatted.map(|line| line.replace("Austin, TX", &place).into());
    (record.address.city, record.address.region) = (Some(city.into()), Some(state.into()));
    record
}

#[tokio::test]
async fn advisories_fit_into_a_short_answer() {
    let in_chicago = |number| elsewhere(number, ("Chicago", "IL"), (11.61, 10.12));
    let server = server_of((1..=60).map(in_chicago)).await;
    for (limit, expected) in [(2, 3), (10, 3), (50, 3)] {
        let text = text(&server, FIND, json!({ "location": "Chicago, IL", "limit": limit })).await;
        let found: Value = serde_json::from_str(&text).unwrap();
        let bound = if limit <= 10 { 1100 } else { 3500 };
        assert!(text.chars().count() <= bound * 4, "{limit}: {}", text.chars().count());
        assert_eq!(found["advisories"].as_array().unwrap().len(), expected, "{limit}: {text}");
        assert_eq!(found["advisories"][0]["id"], "us-il-limit");
    }
}

#[tokio::test]
async fn long_list_mentions_the_law_once() {
    let server = server_of((1..=60).map(|number| elsewhere(number, ("Minneapolis", "MN"), (14.71, 4.48)))).await;
    for (tool, arguments) in [
        (FIND, json!({ "location": "Minneapolis, MN", "limit": 50 })),
        (STATUS, json!({ "location": "Minneapolis, MN", "limit": 50 })),
        (LIST, json!({ "state": "MN", "city": "Minneapolis" })),
    ] {
        let text = text(&server, tool, arguments).await;
        let found: Value = serde_json::from_str(&text).unwrap();
        assert!(text.chars().count() <= 3500 * 4, "{tool}: {}", text.chars().count());
        assert_eq!(found["atms"].as_array().unwrap().len(), 50);
        assert!(found["notice"].as_str().unwrap().starts_with("Minnesota law forbids"), "{text}");
        assert!(found["atms"][0].get("statusReason").is_none());
    }
    let few = answer(&server, FIND, json!({ "location": "Minneapolis, MN" })).await;
    assert!(few["atms"][9]["statusReason"].as_str().unwrap().starts_with("state law since"), "{few}");
}

#[tokio::test]
async fn unknown_values_are_omitted() {
    let server = server_of([plain(1)]).await;
    let found = answer(&server, FIND, json!({ "location": "Austin, TX" })).await;
    let members: Vec<_> = found["atms"][0].as_object().unwrap().keys().map(String::as_str).collect();
    let own = ["id", "name", "distance", "distanceMeters", "status", "address", "lat", "lon", "url", "directions"];
    let known = BTreeSet::from(own);
    assert_eq!(BTreeSet::from_iter(members), known);
    assert_eq!((&found["atms"][0]["lat"], &found["atms"][0]["lon"]), (&json!(30.268_385), &json!(-97.744_295)));

    let details = answer(&server, DETAILS, json!({ "atmId": 1 })).await;
    let members: Vec<_> = details.as_object().unwrap().keys().map(String::as_str).collect();
    let own = ["id", "name", "status", "statusReason", "freshness", "address", "addressParts", "lat", "lon"];
    let known: BTreeSet<_> = own.into_iter().chain(["sources", "attribution", "advisories"]).collect();
    let known = &known | &BTreeSet::from(["listed", "url", "directions", "howToReport"]);
    assert_eq!(BTreeSet::from_iter(members), known);
    assert_eq!(details["addressParts"], json!({ "city": "Austin", "region": "TX" }));
}

#[tokio::test]
async fn answer_has_the_date_of_its_data() {
    let checked = |number: u32, at: &str| Record { verified_at: Some(at.parse().unwrap()), ..plain(number) };
    let days = ["2026-05-01T00:00:00Z", "2026-04-01T00:00:00Z", "2025-04-30T00:00:00Z"];
    let [newest, other, oldest] = days;
    let server = server_of([plain(1), checked(2, other), checked(3, newest), checked(4, oldest)]).await;
    let near = |limit: u32| json!({ "location": "Austin, TX", "limit": limit });
    for (tool, arguments, expected) in [
        (FIND, near(1), [None, None]),
        (FIND, near(2), [Some(other), None]),
        (FIND, near(3), [Some(newest), None]),
        (FIND, near(4), [Some(newest), Some(oldest)]),
        (FIND, json!({ "location": "Anchorage, AK" }), [Some(newest), Some(oldest)]),
        (STATUS, near(3), [Some(newest), None]),
        (STATUS, near(4), [Some(newest), Some(oldest)]),
        (LIST, json!({ "state": "TX", "city": "Austin" }), [Some(newest), Some(oldest)]),
    ] {
        let answer = answer(&server, tool, arguments.clone()).await;
        let dates = ["dataAsOf", "oldestDataAsOf"].map(|member| answer.get(member).and_then(Value::as_str));
        assert_eq!(dates, expected, "{tool} {arguments}");
    }
}

async fn notice(server: &Service, arguments: Value) -> String {
    answer(server, FIND, arguments).await["notice"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn filter_counts_atms_with_unknown_values() {
    let server = server_of((1..=91).map(|number| {
        let away = f64::from(number) * 0.000_5;
        Record { point: Point::new(AUSTIN.0 + away, AUSTIN.1).unwrap(), ..plain(number) }
    }))
    .await;
    let near = json!({ "location": "Austin, TX" });
    let asked = |filter: Value| {
        let mut arguments = near.clone();
        arguments.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        arguments
    };
    let there = "91 machines are within 25 miles of Austin, Texas; ";
    for (filter, known, without) in [
        (json!({ "openNow": true }), "hours are known of none", "openNow"),
        (json!({ "service": "sell" }), "whether they pay cash for bitcoin is known of none", "service"),
        (json!({ "coin": "doge" }), "whether they deal in DOGE is known of none", "coin"),
        (json!({ "service": "buy", "coin": "Ether" }), "whether they sell ETH is known of none", "service and coin"),
    ] {
        let found = answer(&server, FIND, asked(filter)).await;
        let message = found["notice"].as_str().unwrap();
        assert_eq!(found["total"], 0);
        assert!(
            message.contains(&format!("{there}{known}. All of them are left out: call again without {without} ")),
            "{message}"
        );
        assert!(!message.contains("None is known anywhere"), "{message}");
    }
    assert_eq!(notice(&server, near).await, "");
}

#[tokio::test]
async fn filter_counts_excluded_atms() {
    let works = |number: u32, hours: &str| Record {
        reported: ReportedState::InService,
        reported_at: "2027-01-10T12:00:00Z".parse().ok(),
        hours: Hours::parse(hours),
        time_zone: Some("America/Chicago".into()),
        ..plain(number)
    };
    // The local time is 2 a.m.
    let mut machines = vec![works(1, "24/7"), works(2, "Mo-Su 09:00-17:00"), plain(3), plain(4)];
    machines[1].coins = Arc::new([(Coin::bitcoin(), Tri::Yes)].into());
    machines[2].coins = Arc::new([(Coin::bitcoin(), Tri::No)].into());
    let server = server_of(machines).await;
    let open = answer(&server, FIND, json!({ "location": "Austin, TX", "openNow": true })).await;
    assert_eq!((&open["total"], &open["atms"][0]["id"]), (&json!(1), &json!(1)));
    let message = "4 machines are within 25 miles of Austin, Texas; hours are known of 2; 1 is known to be open now, 1 not \
                to. The 2 of which it is not known are left out: call again without openNow to list them.";
    assert_eq!(open["notice"], message);
    let message = notice(&server, json!({ "lat": AUSTIN.0, "lon": AUSTIN.1, "coin": "BTC" })).await;
    assert!(message.contains("1 is known to deal in BTC, 1 not to. The 2 of which"), "{message}");
}

#[tokio::test]
async fn place_without_atms_lists_covered_countries() {
    let nation = |number: u32, code: &str| {
        let mut record = plain(number);
        record.address.region = None;
        record.address.country = Country::parse(code);
        record
    };
    let in_texas = server_of([plain(1)]).await;
    let only = "The machines known here are in the United States only.";
    for place in [
        json!({ "location": "Toronto, Canada" }),
        json!({ "location": "Tbilisi" }),
        json!({ "lat": 48.85, "lon": 2.35 }),
    ] {
        let message = notice(&in_texas, place.clone()).await;
        assert!(message.contains(only) && message.contains("No Bitcoin ATM is known within"), "{place}: {message}");
    }
    let message = answer(&in_texas, LIST, json!({ "state": "ON", "city": "Toronto" })).await["notice"].clone();
    assert!(message.as_str().unwrap().contains(only), "{message}");
    for here in ["Buffalo, NY", "San Juan, PR"] {
        assert!(!notice(&in_texas, json!({ "location": here })).await.contains("only"), "{here}");
    }
    let two = server_of([plain(1), nation(2, "CA")]).await;
    let message = notice(&two, json!({ "location": "Berlin, Germany" })).await;
    assert!(message.contains("are in Canada and the United States only."), "{message}");
    let four = server_of([plain(1), nation(2, "CA"), nation(3, "DE"), nation(4, "FR")]).await;
    let message = notice(&four, json!({ "location": "Tbilisi, Georgia" })).await;
    assert!(message.contains("No machine is known in Georgia (the country)."), "{message}");
}

#[tokio::test]
async fn swapped_coordinates_return_a_question() {
    let server = server_of([plain(1)]).await;
    let found = answer(&server, FIND, json!({ "lat": -74.0, "lon": 40.7 })).await;
    let message = found["notice"].as_str().unwrap();
    assert!(message.contains("did you mean lat 40.7, lon -74.0?"), "{message}");
    assert_eq!(found["total"], 0);
    assert!(!notice(&server, json!({ "lat": 0, "lon": -150 })).await.contains("did you mean"));
    assert!(!notice(&server, json!({ "lat": 9.0, "lon": 38.7 })).await.contains("did you mean"), "Addis Ababa");
}
#[tokio::test]
async fn answer_starts_with_the_resolved_place() {
    let server = server_of([plain(1)]).await;
    for (asked, expected) in [
        ("Autsin, TX", "'Autsin' is not known; it was taken for Austin, TX."),
        ("500 Congress Ave, Austin, TX", "Streets are not known here; distances count from the middle of Austin, TX."),
        ("Travis County, TX", "Distances count from the middle of Travis County, TX."),
    ] {
        let message = notice(&server, json!({ "location": asked })).await;
        assert!(message.starts_with(expected), "{asked}: {message}");
    }
    let found = answer(&server, FIND, json!({ "location": "Wheatland, PA" })).await;
    let place = &found["resolvedLocation"];
    let (county, other) = (place["county"].as_str().unwrap(), place["alternatives"][0]["county"].as_str().unwrap());
    let message = found["notice"].as_str().unwrap();
    assert!(
        message.contains(&format!("Wheatland ({county}), Pennsylvania; there is also Wheatland, PA ({other})")),
        "{message}"
    );
}

#[tokio::test]
async fn unusable_place_returns_a_question() {
    let server = server_of([plain(1)]).await;
    for (asked, parts) in [
        ("near me", ["ask", "ZIP code"]),
        ("here", ["ask", "ZIP code"]),
        ("Texas", ["Houston, TX", "too large"]),
        ("-74.0, 40.7", ["did you mean", "40.7, -74"]),
    ] {
        for tool in [FIND, STATUS] {
            let reply = server.call(tool, json!({ "location": asked })).await.with(200);
            let response = reply["result"]["content"][0]["text"].as_str().unwrap();
            assert_eq!(reply["result"]["isError"], true, "{asked}: {response}");
            assert!(parts.iter().all(|part| response.contains(part)), "{asked}: {response}");
        }
    }
}

#[tokio::test]
async fn ping_works_at_every_revision() {
    let server = server().await;
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = if revision == "2026-07-28" { json!({ "_meta": meta }) } else { json!({}) };
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": params });
        let headers =
            [("content-type", "application/json"), ("mcp-protocol-version", revision), ("mcp-method", "ping")];
        for path in ["/mcp", "/sse"] {
            let reply = server.send(Method::POST, path, &headers, &message.to_string()).await.with(200);
            assert_eq!(reply, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), "{revision} {path}");
        }
    }
}
