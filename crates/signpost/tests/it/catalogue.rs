//! The catalogue: imports with the command line, and their effect on a running server (docs/locator.md, Sources and
//! merging).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use signpost_atm::catalogue;
use signpost_store::Statement;

use crate::assistant::{server, server_in};
use crate::harness::{embedded_database, until};
use crate::program::{command, document};

const EARTH_RADIUS_METERS: f64 = 6_371_008.8;

/// Writes `machines.csv` with these rows of ref, latitude, longitude and name.
fn file(folder: &Path, rows: impl Iterator<Item = (u32, f64, f64)>) {
    let mut text = "ref,lat,lon,name,city,state\n".to_owned();
    for (reference, lat, lon) in rows {
        writeln!(text, "{reference},{lat},{lon},Machine {reference},Austin,TX").unwrap();
    }
    fs::write(folder.join("machines.csv"), text).unwrap();
}

fn around(count: u32) -> impl Iterator<Item = (u32, f64, f64)> {
    (1..=count).map(|number| (number, 30.0 + f64::from(number) * 0.001, -97.7 + f64::from(number % 7) * 0.01))
}

fn import(folder: &Path, more: &[&str]) -> Value {
    document(folder, &[&["atms", "import", "machines.csv"], more].concat())
}

fn counts(report: &Value) -> [u64; 4] {
    ["added", "changed", "unchanged", "removed"].map(|member| report[member].as_u64().unwrap())
}

/// Returns the IDs of the ATMs in Austin by name, as the command line finds them.
fn ids(folder: &Path) -> BTreeMap<String, u64> {
    let near = document(folder, &["atms", "near", "30.0,-97.7", "--limit", "50", "--max-distance", "100"]);
    let atms = near["atms"].as_array().unwrap();
    atms.iter().map(|atm| (atm["name"].as_str().unwrap().to_owned(), atm["id"].as_u64().unwrap())).collect()
}

#[test]
fn atm_ids_are_stable_and_unique() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    embedded_database(&folder.join("data"));
    let sample = document(folder, &["atms", "stats"]);
    let most = sample["total"].as_u64().unwrap();
    assert!(sample["sample"] == true && most >= 150);
    file(folder, around(20));
    assert_eq!(counts(&import(folder, &["--dry-run"])), [20, 0, 0, 0]);
    assert_eq!(document(folder, &["atms", "stats"])["sample"], true, "a dry run changes nothing");
    assert_eq!(counts(&import(folder, &[])), [20, 0, 0, 0]);
    assert_eq!(counts(&import(folder, &[])), [0, 0, 20, 0]);
    let first = ids(folder);
    assert!(first.values().all(|id| *id > most), "the samples' numbers are not given again: {first:?}");
    file(folder, around(20).filter(|row| row.0 != 3).map(|row| if row.0 == 5 { (5, 30.5, -97.0) } else { row }));
    assert_eq!(counts(&import(folder, &[])), [0, 1, 18, 1]);
    file(folder, around(21));
    assert_eq!(counts(&import(folder, &[])), [2, 1, 18, 0]);
    let last = ids(folder);
    assert!(first.iter().all(|(name, id)| last[name] == *id));
    assert!(last["Machine 21"] > *first.values().max().unwrap());
    let shown = document(folder, &["atms", "show", &last["Machine 3"].to_string()]);
    assert_eq!((shown["history"]["ref"].as_str(), shown["name"].as_str()), (Some("ref:3"), Some("Machine 3")));
}

#[test]
fn import_lists_unused_columns() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("machines.csv"), "ref,lat,lon,rating,owner\n1,30.2,-97.7,5,Ann\n").unwrap();
    let response = command(folder, &["atms", "import", "machines.csv", "--dry-run"]).run();
    assert!(response.out.lines().any(|line| line == "columns not used: rating, owner"), "{}", response.out);
    assert_eq!(import(folder, &[])["unused_columns"], json!({ "total": 2, "first": ["rating", "owner"] }));
}

#[test]
fn import_that_removes_a_fifth_needs_force() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    file(folder, around(20));
    import(folder, &[]);
    file(folder, around(15));
    let refused = command(folder, &["atms", "import", "machines.csv"]).run();
    assert!(refused.failed(1).contains("--force"), "{}", refused.err);
    assert_eq!(document(folder, &["atms", "stats"])["total"], 20);
    assert_eq!(counts(&import(folder, &["--force"])), [0, 0, 15, 5]);
    // Another source has separate rows; rows at the same location are merged into a single ATM.
    assert_eq!(counts(&import(folder, &["--source", "second", "--attribution", "Second (CC0)"])), [15, 0, 0, 0]);
    let stats = document(folder, &["atms", "stats"]);
    assert_eq!((stats["total"].as_u64(), stats["sources"].as_array().unwrap().len()), (Some(15), 2));
    assert!(stats["sources"].as_array().unwrap().iter().all(|source| source["machines"] == 15), "{stats}");
}

#[test]
fn import_reports_invalid_lines() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    file(folder, around(3));
    import(folder, &[]);
    for broken in [&b""[..], b"a,b\n1,2\n", b"lat,lon\n", b"lat,lon,name\n1,2,caf\xe9\n", b"lat,lon,name\n1,2,\"x\n"] {
        fs::write(folder.join("machines.csv"), broken).unwrap();
        let refused = command(folder, &["atms", "import", "machines.csv", "--force"]).run();
        assert!(refused.failed(1).contains("machines.csv"), "{}", refused.err);
    }
    assert_eq!(document(folder, &["atms", "stats"])["total"], 3);
    let text = "kind\ty\tx\tlabel\natm\t1\t2\tA\nshop\t1\t2\tB\natm\t\t2\tC\natm\t3\t4\tD\n";
    fs::write(folder.join("machines.csv"), text).unwrap();
    let more = ["--source", "other", "--where", "kind=atm", "--map", "name=label,lat=y,lon=x", "--format", "tsv"];
    let report = import(folder, &more);
    assert_eq!((counts(&report), report["filtered"].as_u64()), ([2, 0, 0, 0], Some(1)));
    assert_eq!(report["skipped"], json!({ "total": 1, "first": [{ "line": 4, "reason": "no coordinates" }] }));
    command(folder, &["atms", "import", "nowhere.csv"]).run().failed(1);
    let usage = command(folder, &["atms", "import", "machines.csv", "--map", "colour=label"]);
    assert_eq!(usage.run().code, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn running_server_serves_an_import() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_in(&folder.path().join("data"), &[]).await;
    file(folder.path(), around(40));
    let importing = {
        let folder = folder.path().to_owned();
        tokio::task::spawn_blocking(move || import(&folder, &[]))
    };
    let found = until("the import is served", async || {
        let reply = server.call("find_nearest_bitcoin_atm", json!({ "lat": 30.0, "lon": -97.7 })).await.with(200);
        let found = reply["result"]["structuredContent"].clone();
        found.get("notice").is_none().then_some(found)
    })
    .await;
    assert_eq!(found["total"], 40);
    assert_eq!(counts(&importing.await.unwrap()), [40, 0, 0, 0]);
    server.stop().await;
}

/// Returns the great-circle distance by the haversine formula, independent of the tested code.
fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
    let half = |from: f64, to: f64| ((to - from).to_radians() / 2.0).sin().powi(2);
    let square = half(a.0, b.0) + a.0.to_radians().cos() * b.0.to_radians().cos() * half(a.1, b.1);
    2.0 * EARTH_RADIUS_METERS * square.sqrt().min(1.0).asin()
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_equal_brute_force() {
    let folder = tempfile::tempdir().unwrap();
    // Deterministic points, among them two equal points, the poles and both sides of the date line.
    let scatter = (1..=2_000_u32).map(|number| {
        let turn = f64::from(number) * 0.618_034;
        let (lat, lon) = (25.0 + (turn * 7.0).fract() * 24.0, -124.0 + turn.fract() * 57.0);
        (number, (lat * 1e6).round() / 1e6, (lon * 1e6).round() / 1e6)
    });
    let odd = [
        (0.0, 180.0),
        (0.0, -180.0),
        (0.1, -179.95),
        (90.0, 0.0),
        (89.95, 120.0),
        (-90.0, 77.0),
        (30.0, -97.0),
        (30.0, -97.0),
    ];
    let odd = (2_001..).zip(odd).map(|(number, (lat, lon))| (number, lat, lon));
    let machines: Vec<_> = scatter.chain(odd).collect();
    file(folder.path(), machines.iter().copied());
    import(folder.path(), &[]);
    let server = server_in(&folder.path().join("data"), &[]).await;
    let points = (1..=990_u32).map(|number| {
        let turn = f64::from(number) * 0.754_877;
        (24.0 + (turn * 5.0).fract() * 26.0, -125.0 + turn.fract() * 59.0)
    });
    let edges = [
        (0.0, 179.99),
        (0.0, -179.99),
        (89.99, -60.0),
        (-89.9, 0.0),
        (90.0, 10.0),
        (-90.0, -170.0),
        (30.0, -97.0),
        (0.05, 180.0),
        (0.0, 180.0),
        (30.0, -97.001),
    ];
    let mut found_any = 0;
    for (lat, lon) in points.chain(edges) {
        let arguments = json!({ "lat": lat, "lon": lon, "limit": 50, "maxDistance": 100 });
        let reply = server.call("find_nearest_bitcoin_atm", arguments).await.with(200);
        let found = &reply["result"]["structuredContent"];
        let names: Vec<_> =
            found["atms"].as_array().unwrap().iter().map(|atm| atm["name"].as_str().unwrap().to_owned()).collect();
        let mut expected: Vec<_> = machines.iter().map(|row| (distance((lat, lon), (row.1, row.2)), row.0)).collect();
        expected.retain(|(metres, _)| *metres <= 100.0 * 1609.344);
        // Distances are rounded to a micrometre: closer values are ties, ordered by ID.
        expected.sort_by(|a, b| (a.0 * 1e6).round().total_cmp(&(b.0 * 1e6).round()).then(a.1.cmp(&b.1)));
        assert_eq!(found["total"].as_u64(), Some(expected.len() as u64), "{lat}, {lon}");
        let expected: Vec<_> = expected.iter().take(50).map(|(_, number)| format!("Machine {number}")).collect();
        assert_eq!(names, expected, "{lat}, {lon}");
        found_any += usize::from(!names.is_empty());
    }
    assert!(found_any > 500, "{found_any}");
    server.stop().await;
}

#[tokio::test]
async fn pagination_returns_every_atm_once() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), around(123));
    import(folder.path(), &[]);
    let server = server_in(&folder.path().join("data"), &[]).await;
    let (mut seen, mut arguments) = (Vec::new(), json!({ "state": "TX", "city": "Austin" }));
    for expected in [50, 50, 23] {
        let reply = server.call("list_atms_by_city", arguments.clone()).await;
        assert!(reply.text.len() < 64 * 1024, "text and structured content, 32 KB each");
        let page = reply.with(200)["result"]["structuredContent"].clone();
        assert_eq!(page["total"], 123);
        let ids: Vec<_> = page["atms"].as_array().unwrap().iter().map(|atm| atm["id"].as_u64().unwrap()).collect();
        assert_eq!((ids.len(), page["truncated"].as_bool()), (expected, Some(expected == 50)));
        seen.extend(ids);
        arguments["cursor"] = page["nextCursor"].clone();
    }
    assert_eq!(arguments["cursor"], Value::Null);
    assert!(seen.len() == 123 && seen.is_sorted_by(|a, b| a < b));
    server.stop().await;
}

#[tokio::test]
async fn invalid_stored_row_is_an_error_with_its_column() {
    let server = server().await;
    for (sql, expected) in [
        ("INSERT INTO atm_apart (id) VALUES (-1)", "atm_apart.id: "),
        ("UPDATE atms SET updated_at = 9223372036854775807 WHERE id = 1", "atms.updated_at: "),
    ] {
        assert!(server.app.store.write([Statement::expect_row(sql, Vec::new())]).await.unwrap().is_committed());
        let error = catalogue::sql::read_catalogue(&server.app.store, server.app.clock.now()).await.unwrap_err();
        assert!(format!("{error:#}").starts_with(expected), "{error:#}");
    }
}
