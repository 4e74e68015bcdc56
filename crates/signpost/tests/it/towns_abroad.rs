//! Towns outside the United States and Canada, and the map of the world (docs/locator.md, Pages and Map).

use std::collections::BTreeSet;

use reqwest::Method;
use signpost_atm::catalogue::{Snapshot, StoredCatalogue};
use signpost_locator::{ArcStr, Atm, AtmId, Country, Point, Record, ReportedState};

use crate::assistant::server_with;
use crate::harness::{Reply, Service};

const PUBLIC: &str = "https://atm.example";

/// ATMs: country, city of the address, latitude, longitude, town.
#[rustfmt::skip]
const MACHINES: [(&str, &str, f64, f64, &str); 18] = [
    ("DE", "Berlin", 52.5200, 13.4050, "/atms/de/berlin"),
    ("DE", "BERLIN", 52.5040, 13.3300, "/atms/de/berlin"),
    ("DE", "10969 Berlin", 52.4973, 13.3911, "/atms/de/berlin"),
    ("DE", "Berlin-Spandau", 52.5360, 13.1990, "/atms/de/berlin"),
    ("DE", "", 52.5296, 13.4014, "/atms/de/berlin"),
    ("", "", 52.4454, 13.5746, "/atms/de/berlin"),
    ("DE", "München", 48.1371, 11.5754, "/atms/de/munich"),
    ("DE", "Muenchen", 48.1400, 11.5600, "/atms/de/munich"),
    ("DE", "Munich", 48.1517, 11.6230, "/atms/de/munich"),
    ("DE", "Kleinstdorf", 48.0657, 11.6157, "/atms/de/kleinstdorf"),
    ("DE", "Neustadt an der Weinstraße", 49.3501, 8.1389, "/atms/de/neustadt-an-der-weinstrasse"),
    // Far from every place of the name that the gazetteer has.
    ("DE", "Berlin", 47.5500, 10.7500, "/atms/de/berlin-bavaria"),
    ("JP", "Shinjuku", 35.6938, 139.7036, "/atms/jp/tokyo"),
    ("JP", "港区", 35.6581, 139.7514, "/atms/jp/tokyo"),
    ("JP", "Kawasaki", 35.5206, 139.7172, "/atms/jp/kawasaki"),
    ("US", "Austin", 30.2680, -97.7430, "/atms/us/tx/austin"),
    ("US", "", 30.2700, -97.7500, "/atms/us/tx/austin"),
    ("CA", "Toronto", 43.6532, -79.3832, "/atms/ca/on/toronto"),
];

/// Wards and cities of Tokyo that the gazetteer has as places, with ATMs without an address.
const WARDS: [(f64, f64); 22] = [
    (35.6938, 139.7036),
    (35.6466, 139.6532),
    (35.5614, 139.7161),
    (35.7067, 139.8683),
    (35.7750, 139.8045),
    (35.7512, 139.7092),
    (35.7435, 139.8472),
    (35.7074, 139.6638),
    (35.7528, 139.7336),
    (35.7260, 139.7167),
    (35.6415, 139.6982),
    (35.7107, 139.8015),
    (35.6581, 139.7514),
    (35.7081, 139.7522),
    (35.6640, 139.6982),
    (35.7362, 139.7834),
    (35.7127, 139.7799),
    (35.6092, 139.7302),
    (35.6728, 139.8174),
    (35.6706, 139.7720),
    (35.6940, 139.7536),
    (35.6995, 139.6365),
];

fn snapshot(version: i64) -> Snapshot {
    let wards = WARDS.map(|(lat, lon)| ("JP", "", lat, lon, "/atms/jp/tokyo"));
    let atms = MACHINES.into_iter().chain(wards).zip(1..).map(|((country, city, lat, lon, _), id)| {
        let mut record = Record::at(Point::new(lat, lon).unwrap());
        record.name = Some(format!("Machine {id}").into());
        record.address.country = Country::parse(country);
        record.address.city = Some(ArcStr::from(city)).filter(|city| !city.is_empty());
        record.reported = ReportedState::InService;
        Atm { id: AtmId::new(id).unwrap(), source: "test".into(), record: record.into() }
    });
    Snapshot::build(StoredCatalogue { version, atms: atms.collect(), ..StoredCatalogue::default() })
}

async fn shown() -> Service {
    let server = server_with(&[("public_url", PUBLIC)]).await;
    let catalogue = &server.app.atm.catalogue;
    catalogue.replace(snapshot(catalogue.snapshot().version()));
    server
}

async fn open(server: &Service, path: &str) -> Reply {
    server.send(Method::GET, path, &[("accept", "text/html,*/*;q=0.8")], "").await
}

#[tokio::test]
async fn atm_belongs_to_one_town() {
    let server = shown().await;
    let wards = WARDS.map(|_| "/atms/jp/tokyo");
    let expected: Vec<&str> = MACHINES.iter().map(|machine| machine.4).chain(wards).collect();
    for (town, id) in expected.iter().zip(1..) {
        let page = open(&server, &format!("/atm/{id}")).await;
        assert!(page.text.contains(&format!("<a href=\"{town}\">")), "{town}: {}", page.text);
    }
    for town in expected.iter().collect::<BTreeSet<_>>() {
        let page = open(&server, town).await;
        let count = expected.iter().filter(|other| *other == town).count();
        assert_eq!(page.status, 200, "{town}");
        assert!(page.text.contains(&format!("<b>{count}</b> machine")), "{town} has {count}: {}", page.text);
        let country = &town[..8];
        assert!(open(&server, country).await.text.contains("<li>"), "{country}");
    }
    assert!(open(&server, "/").await.text.contains(&format!("<b>{}</b> machines", expected.len())));
    assert!(open(&server, "/atms/jp").await.text.contains("<b>25</b> machines"));
    server.stop().await;
}

#[tokio::test]
async fn spellings_of_a_town_redirect_to_one_url() {
    let server = shown().await;
    for (path, to) in [
        ("/atms/DE/Berlin", "/atms/de/berlin"),
        ("/atms/germany/berlin", "/atms/de/berlin"),
        ("/atms/de/muenchen", "/atms/de/munich"),
        ("/atms/de/M%C3%BCnchen", "/atms/de/munich"),
        ("/atms/de/munchen", "/atms/de/munich"),
        ("/atms/jp/%E6%9D%B1%E4%BA%AC", "/atms/jp/tokyo"),
        ("/atms/jp/Shinjuku", "/atms/jp/tokyo"),
    ] {
        let reply = open(&server, path).await;
        assert_eq!((reply.status, reply.header("location")), (301, Some(to)), "{path}");
    }
    for path in ["/atms/de/hamburg", "/atms/de/xanadu", "/atms/fr/paris"] {
        assert_eq!(open(&server, path).await.status, 404, "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn sitemap_lists_towns_abroad_once() {
    let server = shown().await;
    let sitemap = open(&server, "/sitemap.xml").await.text;
    for (path, count) in [
        ("/atms/de", 1),
        ("/atms/de/berlin", 1),
        ("/atms/de/munich", 1),
        ("/atms/jp/tokyo", 1),
        ("/atms/us/tx/austin", 1),
        ("/atms/de/kleinstdorf", 0),
    ] {
        assert_eq!(sitemap.matches(&format!("<loc>{PUBLIC}{path}</loc>")).count(), count, "{path}");
    }
    let page = open(&server, "/atms/de/berlin").await.text;
    assert!(page.contains("Bitcoin ATMs in Berlin, Germany") && page.contains("\"name\":\"Germany\""), "{page}");
    server.stop().await;
}

#[tokio::test]
async fn map_has_the_outlines_of_the_world() {
    let server = shown().await;
    let page = open(&server, "/map").await.text;
    let world = page.split("data-world=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    for (file, min) in [("world", 40_000), ("states", 20_000), ("4-2", 10_000), ("7-3", 1_000)] {
        let lines = open(&server, &world.replace("world", file)).await;
        assert_eq!(lines.status, 200, "{file}");
        assert!(lines.text.starts_with('M') && lines.text.len() >= min, "{file}: {} B", lines.text.len());
    }
    assert_eq!(open(&server, &world.replace("world", "8-0")).await.status, 404);
    for (name, point) in [("Germany", "50."), ("Japan", "35.6")] {
        assert!(page.contains(&format!("data-at=\"{point}")) && page.contains(&format!(">{name}</span>")), "{page}");
    }
    server.stop().await;
}

#[tokio::test]
async fn map_opens_where_the_atms_are() {
    let server = shown().await;
    let catalogue = &server.app.atm.catalogue;
    // Ninety-five ATMs in Berlin and five elsewhere.
    let atms = (1..=100).map(|id| {
        let [lat, lon] = if id > 95 { [-33.87, 151.21] } else { [52.5, 13.4] };
        #[expect(clippy::cast_precision_loss, reason = "a hundred")]
        let record = Record::at(Point::new(lat, lon + id as f64 / 1e5).unwrap());
        Atm { id: AtmId::new(id).unwrap(), source: "test".into(), record: record.into() }
    });
    let stored = StoredCatalogue { atms: atms.collect(), ..StoredCatalogue::default() };
    let version = catalogue.snapshot().version();
    catalogue.replace(Snapshot::build(StoredCatalogue { version, ..stored }));
    let page = open(&server, "/map").await.text;
    assert!(page.contains(" 52.5000 13.4005\""), "{page}");
    let drawing = open(&server, "/map/overview.svg").await.text;
    assert!(drawing.contains("class=\"l\"") && drawing.len() < 60_000, "{} B", drawing.len());
    server.stop().await;
}
