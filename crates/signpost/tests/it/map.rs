//! The map over HTTP: its page, its files, and the ATMs in view (docs/locator.md, Map).

use reqwest::Method;
use signpost_atm::catalogue::{Snapshot, StoredCatalogue};
use signpost_locator::{ArcStr, Atm, AtmId, Point, Record, ReportedState};

use crate::assistant::server_with;
use crate::harness::{Reply, Service};

/// ATMs: number, city, state, latitude, longitude. Each is a hundred metres from the previous.
const MACHINES: [(u64, &str, &str, f64, f64); 3] =
    [(40, "Austin", "TX", 30.26, -97.74), (2, "Adak", "AK", 51.88, -176.65), (1, "Nowhere", "TX", 30.0, -99.0)];

fn machines(version: i64) -> Snapshot {
    let mut atms = Vec::new();
    for (count, city, state, lat, lon) in MACHINES {
        for _ in 0..count {
            #[expect(clippy::cast_precision_loss, reason = "a few machines")]
            let north = atms.len() as f64 * 0.001;
            let mut record = Record::at(Point::new(lat + north, lon).unwrap());
            record.name = Some(if count == 1 { "<b>Shop</b>" } else { "Shop" }.into());
            (record.address.city, record.address.region) = (Some(city.into()), Some(ArcStr::from(state)));
            record.reported = if count == 1 { ReportedState::PermanentlyClosed } else { ReportedState::InService };
            let id = AtmId::new(atms.len() as u64 + 1).unwrap();
            atms.push(Atm { id, source: "test".into(), record: record.into() });
        }
    }
    Snapshot::build(StoredCatalogue { version, atms, ..StoredCatalogue::default() })
}

fn no_machines(version: i64) -> Snapshot {
    Snapshot::build(StoredCatalogue { version, ..StoredCatalogue::default() })
}

async fn shown(machines: fn(i64) -> Snapshot) -> Service {
    let server = server_with(&[]).await;
    show(&server, machines);
    server
}

/// Publishes the ATMs under the current version of the database; for another version the server would reload it.
fn show(server: &Service, machines: fn(i64) -> Snapshot) {
    let catalogue = &server.app.atm.catalogue;
    catalogue.replace(machines(catalogue.snapshot().version()));
}

async fn get(server: &Service, path: &str, headers: &[(&str, &str)]) -> Reply {
    server.send(Method::GET, path, headers, "").await
}

async fn in_sight(server: &Service, sides: &str) -> String {
    let reply = get(server, &format!("/map/sight?box={sides}"), &[]).await;
    assert_eq!((reply.status, reply.header("cache-control")), (200, Some("no-store")), "{}", reply.text);
    reply.text
}

#[tokio::test]
async fn map_page_works_without_scripts() {
    let server = shown(machines).await;
    let page = get(&server, "/map", &[]).await;
    assert_eq!(page.status, 200);
    for part in [
        "href=\"/atms/us/tx\"",
        "href=\"/atms/us/ak\"",
        "<img src=\"/map/overview.svg\"",
        "alt=\"Map of 42 machines on the outlines of countries and states.",
        "Place names and postcodes: GeoNames",
    ] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    assert!(page.header("permissions-policy").unwrap().contains("geolocation=(self)"));
    let spanish = get(&server, "/map?lang=es", &[]).await.text;
    assert!(
        spanish.contains("Mapa de 42 cajeros") && spanish.contains("data-near=\"/near?lang=es&amp;\""),
        "{spanish}"
    );
    let files = page.text.split("\"/map/").skip(1).filter_map(|rest| rest.split('"').next());
    for file in files.filter(|file| !file.ends_with('?')) {
        let path = format!("/map/{file}");
        assert_eq!(get(&server, &path, &[]).await.status, 200, "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn dots_exclude_removed_atms_and_are_cached() {
    let server = shown(machines).await;
    let points = get(&server, "/map/points", &[]).await;
    assert_eq!(points.header("content-type"), Some("application/octet-stream"));
    assert_eq!(points.text.as_bytes().first(), Some(&42), "a count");
    for path in ["/map/points", "/map/overview.svg"] {
        let file = get(&server, path, &[]).await;
        let tag = file.header("etag").unwrap().to_owned();
        assert_eq!(file.header("cache-control"), Some("public, max-age=300"));
        let again = get(&server, path, &[("if-none-match", &tag)]).await;
        assert_eq!((again.status, again.text.as_str()), (304, ""));
        // Another version of the catalogue is another file.
        show(&server, no_machines);
        let other = get(&server, path, &[("if-none-match", &tag)]).await;
        assert_eq!(other.status, 200);
        assert_ne!(other.header("etag"), Some(&*tag));
        show(&server, machines);
    }
    server.stop().await;
}

#[tokio::test]
async fn empty_map_has_a_message() {
    let server = shown(no_machines).await;
    let page = get(&server, "/map", &[]).await;
    assert!(page.text.contains("No machine is known here yet."), "{}", page.text);
    assert_eq!(get(&server, "/map/points", &[]).await.text, "\0\0\0\0");
    assert!(get(&server, "/map/overview.svg", &[]).await.text.starts_with("<svg "));
    assert!(in_sight(&server, "30,-98,30.5,-97").await.contains("No machine in sight"));
    server.stop().await;
}

#[tokio::test]
async fn view_lists_atms_or_towns() {
    let server = shown(machines).await;
    let city = in_sight(&server, "30.1,-98,30.5,-97.5").await;
    assert!(
        city.contains("40 machines in sight") && city.contains("These are the 30 nearest to the middle."),
        "{city}"
    );
    assert_eq!((city.matches("<li class=\"machine\">").count(), city.matches("tabindex=\"-1\"").count()), (30, 30));
    assert!(city.contains("\">Austin</span>"), "a place is named on the map: {city}");
    let state = in_sight(&server, "26,-106,36,-94").await;
    assert!(state.contains("href=\"/atms/us/tx/austin\"") && !state.contains("<li class=\"machine\">"), "{state}");
    // Both sides of the date line, and a removed ATM.
    for sides in ["50,-183,53,-175", "50,177,53,185"] {
        let island = in_sight(&server, sides).await;
        assert!(island.contains("2 machines in sight") && island.contains("/atms/us/ak/adak"), "{sides}: {island}");
    }
    let empty = in_sight(&server, "29.9,-99.2,30.1,-98.8").await;
    assert!(empty.contains("No machine in sight") && empty.contains("The nearest is <a href=\"/atm/"), "{empty}");
    server.stop().await;
}

#[tokio::test]
async fn invalid_box_is_rejected() {
    let server = shown(machines).await;
    for query in
        ["", "?box=", "?box=1,2,3", "?box=a,b,c,d", "?box=-90,-180,90,180", "?box=31,-97,30,-98", "?box=0,0,1e9,1"]
    {
        get(&server, &format!("/map/sight{query}"), &[]).await.assert_invalid_field("box");
    }
    server.stop().await;
}

#[tokio::test]
async fn map_data_has_its_own_limit() {
    let server = server_with(&[("rate_limit_get_session", "2/m"), ("rate_limit_map", "3/m")]).await;
    show(&server, machines);
    for path in ["/map/points", "/map/overview.svg", "/map/sight?box=30,-98,31,-97"] {
        assert_eq!(get(&server, path, &[]).await.status, 200, "{path}");
    }
    for path in ["/map/points", "/map/overview.svg", "/map/sight?box=30,-98,31,-97"] {
        let refused = get(&server, path, &[]).await;
        assert_eq!(refused.status, 429, "{path}");
        assert!(refused.header("retry-after").is_some(), "{path}");
    }
    for status in [200, 200, 429] {
        assert_eq!(get(&server, "/map", &[]).await.status, status);
    }
    server.stop().await;
}
