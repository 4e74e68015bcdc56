//! Imported place names instead of the embedded names, and an external geocoder as fallback.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use zip::write::SimpleFileOptions;

use crate::assistant::{server, server_in, server_with};
use crate::harness::{Service, until};
use crate::program::{command, document};

const FIND: &str = "find_nearest_bitcoin_atm";
/// A point near the sample ATMs of Austin.
const LAT: f64 = 30.2672;
const LON: f64 = -97.7431;

/// A fake geocoder and the queries that it received.
#[derive(Clone)]
struct Fake {
    answer: fn(&str) -> Response,
    asked: Arc<Mutex<Vec<String>>>,
}

async fn fake(answer: fn(&str) -> Response) -> (String, Arc<Mutex<Vec<String>>>) {
    async fn reply(State(fake): State<Fake>, uri: Uri) -> Response {
        fake.asked.lock().unwrap().push(uri.to_string());
        (fake.answer)(uri.query().unwrap_or_default())
    }
    let asked = Arc::default();
    let fake = Fake { answer, asked: Arc::clone(&asked) };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(reply).with_state(fake)).await });
    (format!("http://{address}/geo"), asked)
}

fn json_reply(value: &Value) -> Response {
    ([("content-type", "application/json")], value.to_string()).into_response()
}

fn nominatim(query: &str) -> Response {
    if query.contains("nowhere") {
        return json_reply(&json!([]));
    }
    json_reply(&json!([
        { "lat": LAT.to_string(), "lon": LON.to_string(), "name": "Moonlight Tower", "importance": 0.3,
          "address": { "country_code": "us", "ISO3166-2-lvl4": "US-TX" } },
        { "lat": "48.1", "lon": "11.6", "name": "Moonlight Tower", "address": { "country_code": "de" } },
    ]))
}

fn feature(properties: &Value) -> Response {
    let geometry = json!({ "type": "Point", "coordinates": [LON, LAT] });
    json_reply(
        &json!({ "type": "FeatureCollection", "features": [{ "properties": properties, "geometry": geometry }] }),
    )
}

fn photon(_: &str) -> Response {
    feature(&json!({ "name": "Moonlight Tower", "state": "Texas", "countrycode": "US" }))
}

fn pelias(_: &str) -> Response {
    feature(&json!({ "name": "Moonlight Tower", "region_a": "TX", "country_code": "US", "confidence": 0.9 }))
}

async fn found(server: &Service, location: &str) -> Value {
    server.call(FIND, json!({ "location": location })).await.with(200)["result"].clone()
}

#[tokio::test]
async fn unknown_place_is_sent_to_each_geocoder() {
    for (kind, answer, question) in [
        ("nominatim", nominatim as fn(&str) -> Response, "/geo/search?q=moonlight+tower&format=jsonv2"),
        ("photon", photon, "/geo/api?q=moonlight+tower&limit=6"),
        ("pelias", pelias, "/geo/v1/search?text=moonlight+tower&size=6"),
    ] {
        let (url, asked) = fake(answer).await;
        let settings = [("geocoder", kind), ("geocoder_url", &url), ("geocoder_key", "a-secret")];
        let server = server_with(&settings).await;
        let result = found(&server, "moonlight tower").await["structuredContent"].clone();
        let resolved = &result["resolvedLocation"];
        assert_eq!((&resolved["name"], &resolved["source"]), (&json!("Moonlight Tower"), &json!(kind)), "{result}");
        assert_eq!((&resolved["region"], &resolved["country"]), (&json!("Texas"), &json!("US")));
        assert!(result["total"].as_u64() >= Some(3), "{result}");
        let thanks = result["attribution"]
            .as_array()
            .unwrap()
            .iter()
            .any(|text| text.as_str().unwrap().contains("Place search"));
        assert!(thanks, "{result}");
        let asked = asked.lock().unwrap().clone();
        assert!(asked.len() == 1 && asked[0].starts_with(question) && asked[0].contains("=a-secret"), "{asked:?}");
    }
}

#[tokio::test]
async fn geocoder_gets_each_unknown_place_once() {
    let (url, asked) = fake(nominatim).await;
    let server = server_with(&[("geocoder", "nominatim"), ("geocoder_url", &url)]).await;
    for location in ["Austin, TX", "78701", "30.27,-97.74", "Miamy"] {
        assert!(found(&server, location).await["structuredContent"]["total"].as_u64() > Some(0), "{location}");
    }
    server.call(FIND, json!({ "location": "moonlight tower", "lat": 30.27, "lon": -97.74 })).await.with(200);
    for location in ["near me", "Texas"] {
        assert_eq!(found(&server, location).await["isError"], true, "{location}");
    }
    assert_eq!(asked.lock().unwrap().len(), 0);
    // Place names contain no houses; answers of the geocoder are cached, including empty answers.
    for location in
        ["900 W 9th St, Austin, TX", "Moonlight Tower", "moonlight tower ", "nowhere at all", "Nowhere at all"]
    {
        let result = found(&server, location).await;
        assert_eq!(result["isError"] == true, location.to_lowercase().starts_with("nowhere"), "{location}: {result}");
    }
    assert_eq!(asked.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn geocoder_gets_one_query_per_second() {
    let (url, asked) = fake(nominatim).await;
    let server =
        server_with(&[("geocoder", "nominatim"), ("geocoder_url", &url), ("geocoder_timeout", "1900ms")]).await;
    let begun = Instant::now();
    let texts = ["tower one", "tower two", "tower three", "tower four"];
    let answers = futures_util::future::join_all(texts.map(|text| found(&server, text))).await;
    let understood = answers.iter().filter(|answer| answer["isError"] != true).count();
    let asked = asked.lock().unwrap().len();
    // On a busy machine the queries may last until the third is sent, or until all time out.
    let millis = begun.elapsed().as_millis();
    let most = 1 + (millis + 100) / 1000;
    assert!((1..=most).contains(&(asked as u128)), "{asked} in {millis} ms");
    assert!(understood <= asked && (understood >= 1 || millis > 1900), "{understood} of {asked} in {millis} ms");
}

#[tokio::test]
async fn failed_geocoder_does_not_affect_known_places() {
    fn failing(_: &str) -> Response {
        StatusCode::SERVICE_UNAVAILABLE.into_response()
    }
    fn nonsense(_: &str) -> Response {
        "<html>".into_response()
    }
    fn huge(_: &str) -> Response {
        "[".repeat(10 << 20).into_response()
    }
    let mut geocoders = vec![("http://127.0.0.1:9/".to_owned(), Arc::default())];
    for answer in [failing as fn(&str) -> Response, nonsense, huge] {
        geocoders.push(fake(answer).await);
    }
    for (url, asked) in geocoders {
        let server =
            server_with(&[("geocoder", "nominatim"), ("geocoder_url", &url), ("geocoder_timeout", "2s")]).await;
        let result = found(&server, "moonlight tower").await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && text.contains("was not understood"), "{url}: {text}");
        // The next query is not sent so soon after a failure.
        assert_eq!(found(&server, "another tower").await["isError"], true);
        assert!(asked.lock().unwrap().len() <= 1, "{url}");
        assert!(found(&server, "Austin").await["structuredContent"]["total"].as_u64() > Some(0));
    }
}

#[tokio::test]
async fn no_query_is_sent_without_a_geocoder() {
    let result = found(&server().await, "moonlight tower").await;
    assert_eq!(result["isError"], true);
}

/// Returns a line of GeoNames' table of places.
fn place(id: u32, name: &str, others: &str, point: [f64; 2], country: &str, division: &str) -> String {
    let [lat, lon] = point;
    format!(
        "{id}\t{name}\t{name}\t{others}\t{lat}\t{lon}\tP\tPPL\t{country}\t\t{division}\t\t\t\t900\t\t1\tAmerica/Chicago\t2026-01-01\n"
    )
}

fn packed(path: &Path, name: &str, text: &str) {
    let mut archive = zip::ZipWriter::new(File::create(path).unwrap());
    for (name, text) in [("readme.txt", "about\tthis"), (name, text)] {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
}

#[tokio::test]
async fn imported_place_names_replace_embedded_ones() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = server_in(&folder.join("data"), &[]).await;
    let cities = place(7, "Austin", "Oldname", [LAT, LON], "US", "TX") + &place(8, "Ribe", "", [55.3, 8.8], "DK", "21");
    packed(&folder.join("cities500.zip"), "cities500.txt", &cities);
    let names = "1\t7\ten\tOldname\t\t\t\t1\t\t\n2\t7\ten\tAustin Wzxk\t\t\t\t\t\t\n3\t7\tiata\tAUS\t\t\t\t\t\t\n";
    fs::write(folder.join("alternateNamesV2.txt"), names).unwrap();
    let codes = "CA\tM5V 2T6\tToronto\tOntario\tON\t\t\t\t\t43.6448\t-79.3949\t6\nCA\tM5V\tToronto\tOntario\tON\t\t\t\t\t43.64\t-79.39\t6\n";
    packed(&folder.join("CA.zip"), "CA.txt", codes);
    let report = document(folder, &["gazetteer", "import", "cities500.zip", "alternateNamesV2.txt", "CA.zip"]);
    assert_eq!((report["places"].as_u64(), report["postcodes"].as_u64()), (Some(2), Some(2)), "{report}");

    let finds = async |place| (found(&server, place).await["isError"] == false).then_some(());
    until("the running server notices", async || finds("Austin Wzxk").await).await;
    assert_eq!(found(&server, "Miami").await["isError"], true);
    for (text, known) in [("Austin, TX", true), ("Ribe", true), ("M5V 2T6", true), ("m5v", true), ("Oldname", false)] {
        let shown = command(folder, &["places", text, "--json"]).run();
        assert_eq!(shown.code == Some(0), known, "{text}: {}", shown.out);
    }
    fs::remove_file(folder.join("data/gazetteer.bin.gz")).unwrap();
    until("the running server reverts", async || finds("Miami").await).await;
    server.stop().await;
}

/// The table of county subdivisions, with two subdivisions of equal name, and a subdivision without a government.
const COUSUBS: &str = "USPS|GEOID|GEOIDFQ|ANSICODE|NAME|FUNCSTAT|ALAND|AWATER|ALAND_SQMI|AWATER_SQMI|INTPTLAT|INTPTLONG
CT|0918033900|0600000US0918033900|00213437|Griswold town|A|90000000|5000000|34.7|1.9|41.58|-71.92
NJ|3400129280|0600000US3400129280|00882049|Hamilton township|A|287000000|6000000|110.8|2.3|39.47|-74.75
NJ|3402129310|0600000US3402129310|00882126|Hamilton township|A|102000000|2000000|39.4|0.8|40.20|-74.67
TX|4845390110|0600000US4845390110|01939071|Austin CCD|S|900000000|9000000|347.4|3.4|30.30|-97.75
";

#[test]
fn townships_are_added_to_other_places() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    packed(&folder.join("cousubs.zip"), "2025_Gaz_cousubs_national.txt", COUSUBS);
    let report = document(folder, &["gazetteer", "import", "cousubs.zip"]);
    assert_eq!(report["subdivisions"], 3, "{report}");
    assert!(report["places"].as_u64() > Some(99_000) && report["postcodes"].as_u64() > Some(40_000), "{report}");
    for (text, lat) in [("Griswold, CT", 41.58), ("Austin, TX", 30.27)] {
        let shown = document(folder, &["places", text]);
        assert!((shown["lat"].as_f64().unwrap() - lat).abs() < 0.05, "{text}: {shown}");
    }
    fs::write(folder.join("cities500.txt"), place(7, "Austin", "", [LAT, LON], "US", "TX")).unwrap();
    let report = document(folder, &["gazetteer", "import", "cities500.txt", "cousubs.zip"]);
    assert_eq!((&report["places"], &report["subdivisions"]), (&json!(4), &json!(3)), "{report}");
    let message = command(folder, &["gazetteer", "import", "cities500.txt", "cousubs.zip"]).run();
    assert!(
        message.out.contains("imported 4 places (3 county subdivisions among them) and 0 postcodes"),
        "{}",
        message.out
    );
}

#[test]
fn invalid_tables_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("words.txt"), "just words\n").unwrap();
    fs::write(folder.join("latin1.txt"), b"caf\xe9\n").unwrap();
    fs::write(folder.join("codes.txt"), "CA\tM5V\tToronto\tOntario\tON\t\t\t\t\t43.64\t-79.39\t6\n").unwrap();
    fs::write(folder.join("broken.zip"), "PK").unwrap();
    fs::write(folder.join("counties.txt"), "USPS|GEOID|NAME|INTPTLAT|INTPTLONG\nCT|09001|Fairfield|41.2|-73.4\n")
        .unwrap();
    fs::write(folder.join("short.txt"), format!("{COUSUBS}NJ|3402129310|\n")).unwrap();
    fs::write(folder.join("endless.txt"), "a".repeat(2 << 20)).unwrap();
    for (file, expected) in [
        ("words.txt", "line 1 is not from a known GeoNames table"),
        ("latin1.txt", "line 1 is not UTF-8"),
        ("codes.txt", "none of the files contains places"),
        ("broken.zip", "broken.zip"),
        ("counties.txt", "the header has no column FUNCSTAT; of the Gazetteer files of the Census"),
        ("short.txt", "line 6: there are 3 columns, but 12 in the header"),
        ("endless.txt", "line 1 is longer than any of these tables has"),
        ("missing.txt", "missing.txt"),
    ] {
        let refused = command(folder, &["gazetteer", "import", file]).run();
        assert!(refused.failed(1).contains(expected), "{file}: {}", refused.err);
        assert!(!folder.join("data/gazetteer.bin.gz").exists());
    }
    let shown = document(folder, &["places", "springfield"]);
    assert_eq!((&shown["name"], &shown["region"]), (&json!("Springfield"), &json!("MO")));
    assert_eq!(shown["alternatives"].as_array().unwrap().len(), 5);
}
