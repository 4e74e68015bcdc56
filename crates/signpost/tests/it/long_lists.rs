//! Lists that grow with the catalogue, and their pagination.

use std::collections::BTreeSet;

use signpost_atm::catalogue::{Snapshot, Source, StoredCatalogue};
use signpost_locator::{ArcStr, Atm, AtmId, Point, Record};

use crate::assistant::server_with;
use crate::harness::Service;
use crate::pages::open;

const PUBLIC: &str = "https://atm.example";
const TOWNS: u64 = 1_001;
const SOURCES: usize = 450;

/// Starts a server with an ATM in each of many towns of Texas, and with many sources.
async fn many_towns() -> Service {
    let server = server_with(&[("public_url", PUBLIC)]).await;
    let catalogue = &server.app.atm.catalogue;
    let atm = |id: u64| {
        let along = u32::try_from(id).unwrap();
        let point = Point::new(28.0 + f64::from(along % 30) / 10.0, -102.0 + f64::from(along / 30) / 10.0).unwrap();
        let mut record = Record::at(point);
        record.address.city = Some(format!("Qqtown {id:04}").into());
        record.address.region = Some(ArcStr::from("TX"));
        Atm { id: AtmId::new(id).unwrap(), source: "source 000".into(), record: record.into() }
    };
    let source = |number: usize| Source {
        name: format!("source {number:03}"),
        attribution: format!("Credit {number:03}"),
        imported_at: "2026-11-10T12:00:00Z".parse().unwrap(),
    };
    let version = catalogue.snapshot().version();
    let (atms, sources) = ((1..=TOWNS).map(atm).collect(), (0..SOURCES).map(source).collect());
    catalogue.replace(Snapshot::build(StoredCatalogue { version, atms, sources, ..StoredCatalogue::default() }));
    server
}

/// Returns the text of each page, following the next links from `path`.
async fn follow(server: &Service, path: &str) -> Vec<String> {
    let mut pages = Vec::new();
    let mut next = Some(path.to_owned());
    while let Some(path) = next {
        assert!(pages.len() < 20, "the list does not end");
        let page = open(server, &path).await;
        assert_eq!(page.status, 200, "{path}");
        let link = page.text.split("rel=\"next\" href=\"").nth(1).and_then(|rest| rest.split('"').next());
        next = link.map(str::to_owned);
        pages.push(page.text);
    }
    pages
}

#[tokio::test]
async fn towns_of_a_state_are_split_into_pages() {
    let server = many_towns().await;
    let pages = follow(&server, "/atms/us/tx").await;
    assert_eq!(pages.len(), 3);
    let mut listed = BTreeSet::new();
    for (number, page) in (1..).zip(&pages) {
        let towns = page.split("<ul class=\"columns gap-sm\">").nth(1).unwrap().split("</ul>").next().unwrap();
        let towns: Vec<&str> = towns.split("<bdi>").skip(1).map(|town| town.split('<').next().unwrap()).collect();
        assert!(towns.len() <= 400 && page.len() < 200_000, "{number}: {} towns, {} bytes", towns.len(), page.len());
        listed.extend(towns);
        assert_eq!(page.contains("rel=\"prev\""), number > 1);
        let query = if number == 1 { String::new() } else { format!("?page={number}") };
        assert!(page.contains(&format!("<link rel=\"canonical\" href=\"{PUBLIC}/atms/us/tx{query}\">")), "{number}");
    }
    assert_eq!(listed.len() as u64, TOWNS);
    assert!(pages[1].contains("401–800 / 1001"));
    assert!(pages[1].contains(&format!("hreflang=\"es\" href=\"{PUBLIC}/atms/us/tx?page=2&amp;lang=es\"")));
    assert_eq!(open(&server, "/atms/us/tx?page=4").await.status, 404);
    assert_eq!(open(&server, "/atms/us/tx?page=99999999999999999999").await.status, 200);
}

#[tokio::test]
async fn coverage_counts_the_omitted_sources() {
    let server = many_towns().await;
    let pages = follow(&server, "/about/data").await;
    assert_eq!(pages.len(), 3);
    for number in 0..SOURCES {
        let name = format!("<bdi>source {number:03}</bdi>");
        assert_eq!(pages.iter().filter(|page| page.contains(&name)).count(), 1, "{name}");
    }
    assert_eq!(open(&server, "/about/data?page=4").await.status, 404);
    let read = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": "signpost://coverage" },
    });
    let covered = server.rpc(&read).await.json();
    let covered: serde_json::Value =
        serde_json::from_str(covered["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(covered["sources"].as_array().unwrap().len(), 100);
    assert_eq!(covered["sourcesLeftOut"], 350);
}
