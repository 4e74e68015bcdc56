//! Files and feeds in the forms of other programs: compressed, incomplete, and in formats that are not supported.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::feeds::{Source, places, sync};
use crate::harness::embedded_database;
use crate::program::{command, document};

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Returns an Overpass response with this number of ATMs.
fn overpass(count: u8, remark: Option<&str>) -> Value {
    let node = |id: u8| {
        let tags = json!({ "amenity": "atm", "currency:XBT": "yes" });
        json!({ "type": "node", "id": id, "lat": 40.0, "lon": -70.0 - f64::from(id), "tags": tags })
    };
    let mut response = json!({ "elements": (1..=count).map(node).collect::<Vec<_>>() });
    if let Some(remark) = remark {
        response["remark"] = json!(remark);
    }
    response
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_feed_is_decompressed_within_limits() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let folder = folder.path();
    let (source, url) = Source::start().await;
    document(folder, &["atms", "feeds", "add", "map", &url]);
    // The response has no `Content-Encoding`.
    source.respond_with_bytes(200, gzip(places(10).to_string().as_bytes()));
    let (done, report) = sync(folder, &[]).await;
    assert!(done && report["added"] == 10, "{report}");
    source.respond_with_bytes(200, gzip(&vec![b' '; 64 << 20]));
    let (done, report) = sync(folder, &["--force"]).await;
    let error = report["error"].as_str().unwrap();
    assert!(!done && error.contains("decompresses to more than 16777216 bytes"), "{report}");
    assert_eq!(document(folder, &["atms", "stats"])["total"], 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn incomplete_overpass_response_removes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let folder = folder.path();
    let (source, url) = Source::start().await;
    document(folder, &["atms", "feeds", "add", "osm", &url, "--format", "overpass"]);
    source.respond_with(200, &overpass(10, None));
    let (done, report) = sync(folder, &[]).await;
    assert!(done && report["added"] == 10, "{report}");
    // Nine of ten ATMs are within the limit of removals.
    source.respond_with(
        200,
        &overpass(9, Some("runtime error: Query timed out in \"query\" at line 3 after 26 seconds.")),
    );
    for arguments in [&[][..], &["--force"]] {
        let (done, report) = sync(folder, arguments).await;
        assert!(!done && report["error"].as_str().unwrap().contains("the Overpass response is incomplete"), "{report}");
        assert_eq!(document(folder, &["atms", "stats"])["total"], 10);
    }
    source.respond_with(200, &overpass(9, Some("runtime remark: Timeout is 180 and maxsize is 536870912.")));
    let (done, report) = sync(folder, &["--force"]).await;
    assert!(done && report["removed"] == 1, "{report}");
}

fn import(folder: &Path, file: &str, content: &[u8]) -> Value {
    fs::write(folder.join(file), content).unwrap();
    document(folder, &["atms", "import", file])
}

#[test]
fn compressed_file_is_the_source_of_its_data_file() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let table = b"id,name,lat,lon\n1,\"The \\\"Big\\\" Corner\",30.2,-97.7\n";
    let plain = import(folder.path(), "atms.csv", table);
    assert_eq!((&plain["source"], &plain["added"]), (&json!("atms"), &json!(1)));
    assert_eq!(plain["notices"], json!(["1 line has quotes after a backslash (\\\"), which are read as quotes"]));
    let compressed = import(folder.path(), "atms.csv.gz", &gzip(table));
    assert_eq!((&compressed["source"], &compressed["unchanged"]), (&json!("atms"), &json!(1)));
    let printed = command(folder.path(), &["atms", "import", "atms.csv"]).run();
    assert!(printed.out.contains("1 line has quotes after a backslash"), "{}", printed.out);
}

#[test]
fn unsupported_file_is_rejected_with_its_format() {
    let folder = tempfile::tempdir().unwrap();
    for (file, content, expected) in [
        ("map.kml", &b"<?xml version=\"1.0\"?><kml>"[..], "the file is KML, which is not supported: export CSV"),
        ("login.json", b"<!doctype html><title>Sign in</title>", "the file is an HTML page"),
        ("book.xlsx", b"PK\x03\x04", "the zip file is damaged: it ends too early"),
    ] {
        fs::write(folder.path().join(file), content).unwrap();
        let error = command(folder.path(), &["atms", "import", file]).run();
        assert!(error.failed(1).contains(expected), "{}", error.err);
    }
    assert!(!folder.path().join("data").exists(), "a rejected file creates no database");
}
