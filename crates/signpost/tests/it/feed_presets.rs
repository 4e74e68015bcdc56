//! Feeds by name: presets, their schedule, redirects and metrics.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use signpost::server::schema::SCHEMA;
use signpost_store::{Statement, Store};
use tokio::net::TcpListener;

use crate::assistant::server_in;
use crate::feeds::places;
use crate::harness::{Program, embedded_database, http, until};
use crate::program::{command, document};

/// A folder with an empty database.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    folder
}

fn add(folder: &Path, arguments: &[&str]) -> Value {
    document(folder, &[&["atms", "feeds", "add"], arguments].concat())
}

fn refused(folder: &Path, arguments: &[&str], code: i32) -> String {
    let ended = command(folder, &[&["atms", "feeds", "add"], arguments].concat()).run();
    assert_eq!(ended.code, Some(code), "{arguments:?}: {}", ended.err);
    ended.err
}

fn feeds(folder: &Path) -> Vec<Value> {
    document(folder, &["atms", "feeds", "list"])["feeds"].as_array().unwrap().clone()
}

fn names(feeds: &[Value]) -> Vec<&str> {
    feeds.iter().map(|feed| feed["name"].as_str().unwrap()).collect()
}

#[test]
fn presets_are_listed_without_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let listed = document(folder.path(), &["atms", "feeds", "presets"]);
    let presets = listed["presets"].as_array().unwrap();
    assert_eq!(names(presets), ["btcmap", "osm", "alltheplaces"]);
    for (preset, feed, format, licence, every) in [
        (&presets[0], "btcmap", "btcmap", "ODbL 1.0", 86_400),
        (&presets[1], "osm-AREA", "overpass", "ODbL 1.0", 86_400),
        (&presets[2], "alltheplaces-SPIDER", "atp", "CC0 1.0", 604_800),
    ] {
        assert_eq!((&preset["feed"], &preset["format"]), (&json!(feed), &json!(format)));
        assert_eq!((&preset["licence"], &preset["every_seconds"]), (&json!(licence), &json!(every)));
        assert!(preset["url"].as_str().unwrap().starts_with("https://"), "{preset}");
        assert!(!preset["attribution"].as_str().unwrap().is_empty(), "{preset}");
    }
    let text = command(folder.path(), &["atms", "feeds", "presets"]).run().out;
    for part in ["osm --area US,CA", "alltheplaces --spider coin_flip_us", "© OpenStreetMap contributors", "168 h"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "something was created");
}

#[test]
fn preset_is_added_by_name() {
    let folder = folder();
    let folder = folder.path();
    let added = add(folder, &["btcmap"]);
    let [feed] = &feeds(folder)[..] else { panic!("one feed") };
    for (member, value) in [
        ("name", json!("btcmap")),
        ("format", json!("btcmap")),
        ("every_seconds", json!(86_400)),
        ("attribution", json!("BTC Map, © OpenStreetMap contributors, ODbL")),
        ("machines", json!(0)),
        ("failures", json!(0)),
        ("fetched_at", Value::Null),
    ] {
        assert_eq!(feed[member], value, "{member}");
    }
    assert!(feed["url"].as_str().unwrap().starts_with("https://api.btcmap.org/v4/places?"), "{feed}");
    assert_eq!(added["feeds"][0]["url"], feed["url"]);

    // Adding it again changes nothing, or the interval only.
    assert_eq!(add(folder, &["btcmap"])["feeds"], added["feeds"]);
    add(folder, &["btcmap", "--every", "6"]);
    add(folder, &["btcmap"]);
    let [again] = &feeds(folder)[..] else { panic!("one feed") };
    assert_eq!((&again["every_seconds"], &again["url"]), (&json!(21_600), &feed["url"]));
    let text = command(folder, &["atms", "feeds", "list"]).run().out;
    let row = text.lines().nth(1).unwrap();
    for part in ["btcmap", "6 h", "never", "now"] {
        assert!(row.contains(part), "{part}: {text}");
    }
    let added = command(folder, &["atms", "feeds", "add", "btcmap"]).run().out;
    assert!(added.contains("every 6 h") && added.contains("within 10 seconds"), "{added}");
}

#[test]
fn preset_has_a_feed_for_each_part() {
    let folder = folder();
    let folder = folder.path();
    add(folder, &["osm", "--area", "us,CA"]);
    add(folder, &["alltheplaces", "--spider", "coin_flip_us", "--every", "200"]);
    let feeds = feeds(folder);
    assert_eq!(names(&feeds), ["alltheplaces-coin_flip_us", "osm-CA", "osm-US"]);
    assert_eq!(feeds[0]["url"], "https://data.alltheplaces.xyz/runs/latest/output/coin_flip_us.geojson");
    assert_eq!((&feeds[0]["every_seconds"], &feeds[1]["every_seconds"]), (&json!(720_000), &json!(86_400)));
    assert!(feeds[2]["url"].as_str().unwrap().starts_with("https://overpass-api.de/api/interpreter?data="));
}

#[test]
fn feed_with_another_url_is_not_replaced() {
    let folder = folder();
    let folder = folder.path();
    let own = "https://mirror.example/places.json?key=secret";
    add(folder, &["btcmap", own, "--every", "12"]);
    add(folder, &["osm-CA", own]);
    for arguments in [&["btcmap"][..], &["btcmap", "--every", "24"], &["osm", "--area", "US,CA"]] {
        let error = refused(folder, arguments, 1);
        assert!(error.contains("a URL of its own") && error.contains("signpost atms feeds remove"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
    // All feeds or none were added.
    let listed = feeds(folder);
    assert_eq!(names(&listed), ["btcmap", "osm-CA"]);
    assert!(listed.iter().all(|feed| feed["url"] == own), "{listed:?}");
    assert_eq!(listed[0]["every_seconds"], 12 * 3600);

    document(folder, &["atms", "feeds", "remove", "btcmap"]);
    add(folder, &["btcmap"]);
    assert!(feeds(folder)[0]["url"].as_str().unwrap().contains("api.btcmap.org"));
    // A URL replaces a preset, as the command says.
    add(folder, &["btcmap", own]);
    assert_eq!(feeds(folder)[0]["url"], own);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_preset_does_not_replace_another_url() {
    let folder = folder();
    let folder = folder.path();
    let own = "https://mirror.example/places.json";
    for _ in 0..5 {
        let [preset, url] = [&["atms", "feeds", "add", "btcmap"][..], &["atms", "feeds", "add", "btcmap", own]]
            .map(|arguments| command(folder, arguments).run_async());
        let (preset, url) = tokio::join!(preset, url);
        assert_eq!(url.code, Some(0), "{}", url.err);
        assert!(
            preset.code == Some(0) || preset.err.contains("URL of its own") || preset.err.contains("at the same time")
        );
        let [feed] = &feeds(folder)[..] else { panic!("one feed") };
        assert_eq!(feed["url"], own, "{}", preset.err);
        document(folder, &["atms", "feeds", "remove", "btcmap"]);
    }
}

#[test]
fn invalid_preset_arguments_are_usage_errors() {
    let folder = folder();
    let folder = folder.path();
    for (arguments, expected) in [
        (&["coinatmradar"][..], "presets are btcmap, osm, alltheplaces"),
        (&["osm"], "osm needs --area"),
        (&["osm", "--area", ""], "ISO 3166-1"),
        (&["osm", "--area", "US,,CA"], "ISO 3166-1"),
        (&["osm", "--area", "Germany"], "did you mean DE?"),
        (&["osm", "--area", "US", "--every", "1"], "allowed are 24 to 8760 hours"),
        (&["alltheplaces"], "alltheplaces needs --spider"),
        (&["alltheplaces", "--spider", "../../x"], "a-z, 0-9 and _"),
        (&["btcmap", "--area", "US"], "an argument of osm"),
        (&["btcmap", "--format", "csv"], "leave out --format and --attribution"),
        (&["btcmap", "--every", "0"], "--every"),
        (&["mine", "https://feed.example/", "--area", "US"], "leave out the URL"),
    ] {
        let error = refused(folder, arguments, 2);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert!(feeds(folder).is_empty());
}

/// A server that records the requested paths, and redirects paths to others.
#[derive(Clone, Default)]
struct RedirectingServer {
    redirects: Arc<Mutex<HashMap<String, (u16, String)>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl RedirectingServer {
    /// Starts the server, which responds with `body`. Returns it with its origin.
    async fn start(body: String) -> (Self, String) {
        async fn reply(State((server, body)): State<(RedirectingServer, String)>, request: Request) -> Response {
            let path = request.uri().path().to_owned();
            server.asked.lock().unwrap().push(path.clone());
            match server.redirects.lock().unwrap().get(&path) {
                Some((status, to)) => {
                    (StatusCode::from_u16(*status).unwrap(), [("location", to.clone())]).into_response()
                }
                None => body.into_response(),
            }
        }
        let server = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(reply).with_state((server.clone(), body));
        tokio::spawn(async move { axum::serve(listener, router).await });
        (server, origin)
    }

    fn redirect(&self, from: &str, status: u16, to: impl Into<String>) {
        self.redirects.lock().unwrap().insert(from.to_owned(), (status, to.into()));
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

async fn sync(folder: &Path, arguments: &[&str]) -> Value {
    let ended = command(folder, &[&["--json", "atms", "sync"], arguments].concat()).run_async().await;
    let document: Value = serde_json::from_str(&ended.out).unwrap_or_else(|_| panic!("{}", ended.err));
    document["feeds"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn temporary_redirects_of_the_same_server_are_followed() {
    let folder = folder();
    let folder = folder.path();
    let (server, origin) = RedirectingServer::start(places(3).to_string()).await;
    add(folder, &["map", &format!("{origin}/latest.json")]);
    server.redirect("/latest.json", 302, "runs/7.json#part");
    server.redirect("/runs/7.json", 307, format!("{origin}/files/7.json"));
    let report = sync(folder, &[]).await;
    assert_eq!(report["added"], 3, "{report}");
    assert_eq!(server.asked(), ["/latest.json", "/runs/7.json", "/files/7.json"]);

    server.redirect("/files/7.json", 303, "/latest.json");
    let report = sync(folder, &[]).await;
    assert!(report["error"].as_str().unwrap().contains("redirected more than 3 times"), "{report}");
    assert_eq!(server.asked().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirect_to_another_private_server_is_refused() {
    let folder = folder();
    let folder = folder.path();
    let (server, origin) = RedirectingServer::start(places(3).to_string()).await;
    let (other, other_origin) = RedirectingServer::start(places(3).to_string()).await;
    add(folder, &["map", &format!("{origin}/latest.json")]);
    let secret = format!("{other_origin}/admin?key=secret");
    for (status, to) in [(302, secret.as_str()), (301, "/files/7.json"), (308, "/files/7.json")] {
        server.redirect("/latest.json", status, to);
        let report = sync(folder, &["--force"]).await;
        let error = report["error"].as_str().unwrap();
        assert!(error.contains(&format!("it responded with {status}: it moved to http://127.0.0.1:")), "{report}");
        assert!(!error.contains("secret"), "{report}");
    }
    assert_eq!(other.asked(), Vec::<String>::new());
    assert!(server.asked().iter().all(|path| path == "/latest.json"));
}

/// Replaces the URL of a stored feed, as if its public server were this one.
async fn point_to(folder: &Path, name: &str, url: &str) {
    let file = folder.join("data/signpost.sqlite");
    let store = Store::open(&format!("sqlite:{}", file.display()), &SCHEMA).unwrap();
    let sql = "UPDATE atm_feeds SET url = $2 WHERE name = $1";
    assert!(store.write([Statement::new(sql, vec![name.into(), url.into()])]).await.unwrap().is_committed());
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn presets_read_the_replies_of_their_servers() {
    let overpass = json!({
        "version": 0.6, "generator": "Overpass API",
        "osm3s": { "timestamp_osm_base": "2026-11-20T00:00:00Z" },
        "elements": [
            { "type": "node", "id": 1, "lat": 30.27, "lon": -97.74,
              "tags": { "amenity": "atm", "currency:XBT": "yes", "name": "One" } },
            { "type": "way", "id": 2, "center": { "lat": 30.28, "lon": -97.75 },
              "tags": { "amenity": "atm", "currency:XBT": "yes", "name": "Two" } },
        ],
    });
    let spider = json!({
        "type": "FeatureCollection",
        "features": [{
            "type": "Feature", "id": "x", "geometry": { "type": "Point", "coordinates": [-97.74, 30.27] },
            "properties": { "@spider": "athena", "ref": "7", "amenity": "atm", "currency:XBT": "yes", "name": "Three" },
        }],
    });
    for (arguments, name, body, added, attribution) in [
        (&["btcmap"][..], "btcmap", places(4), 4, "BTC Map, © OpenStreetMap contributors, ODbL"),
        (&["osm", "--area", "US"], "osm-US", overpass, 2, "© OpenStreetMap contributors, ODbL"),
        (&["alltheplaces", "--spider", "athena"], "alltheplaces-athena", spider, 1, "AllThePlaces, CC0"),
    ] {
        let folder = folder();
        let folder = folder.path();
        add(folder, arguments);
        let (_server, origin) = RedirectingServer::start(body.to_string()).await;
        point_to(folder, name, &format!("{origin}/data")).await;
        let report = sync(folder, &[name]).await;
        assert_eq!(report["added"], added, "{report}");
        let [feed] = &feeds(folder)[..] else { panic!("one feed") };
        assert_eq!((&feed["machines"], &feed["attribution"]), (&json!(added), &json!(attribution)));
        assert!(feed["fetched_at"].is_string() && feed["next_at"].as_str() > feed["fetched_at"].as_str(), "{feed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failing_feed_has_a_metric() {
    let folder = folder();
    let (server, origin) = RedirectingServer::start(places(3).to_string()).await;
    server.redirect("/broken", 503, "/");
    add(folder.path(), &["broken", &format!("{origin}/broken"), "--every", "24"]);
    add(folder.path(), &["whole", &format!("{origin}/whole"), "--every", "24"]);
    let running = server_in(&folder.path().join("data"), &[("metrics_listen", "127.0.0.1:0")]).await;
    let address = running.metrics_listen.unwrap();
    let metrics = async || http().get(format!("http://{address}/metrics")).send().await.unwrap().text().await.unwrap();
    let text = until("the first feed failed", async || {
        let text = metrics().await;
        text.contains("signpost_feed_failures{feed=\"broken\"} 1").then_some(text)
    })
    .await;
    assert!(!text.contains("signpost_feed_last_success_timestamp_seconds{feed=\"broken\"}"), "{text}");
    assert!(text.contains("signpost_feed_failures{feed=\"whole\"} 0"), "{text}");
    running.stop().await;
    let status = command(folder.path(), &["status", "--json"]).run_async().await;
    assert!(status.out.contains("\"failing_feeds\"") && status.out.contains("broken"), "{}", status.out);
}

#[test]
fn sync_without_feeds_names_the_presets() {
    let folder = folder();
    let ended = Program::within(folder.path(), &["--data-dir", "data", "atms", "sync"]).run();
    let error = ended.failed(1);
    assert!(error.contains("feeds add btcmap") && error.contains("feeds presets"), "{error}");
}
