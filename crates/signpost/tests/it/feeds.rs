//! Sources that are fetched over HTTP.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use signpost::server::schema::SCHEMA;
use signpost_atm::feeds::{self, Feed, FeedFetcher, FetchMemory};
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::import::FormatChoice;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{NameResolver, Outbound};
use signpost_store::{Statement, Store};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::assistant::server_in;
use crate::harness::{embedded_database, until};
use crate::program::{command, document};

/// The requested path and the `If-None-Match` tag.
type FeedRequest = (String, Option<String>);

/// A feed server: its next responses, and the received requests.
#[derive(Clone, Default)]
pub(crate) struct Source {
    answer: Arc<Mutex<(u16, Vec<u8>)>>,
    asked: Arc<Mutex<Vec<FeedRequest>>>,
}

impl Source {
    pub(crate) async fn start() -> (Self, String) {
        async fn reply(State(source): State<Source>, request: Request) -> Response {
            let known = request.headers().get("if-none-match").map(|tag| tag.to_str().unwrap().to_owned());
            source.asked.lock().unwrap().push((request.uri().to_string(), known.clone()));
            let (status, body) = source.answer.lock().unwrap().clone();
            let tag = format!("\"{}\"", body.len());
            if status == 200 && known.as_ref() == Some(&tag) {
                return StatusCode::NOT_MODIFIED.into_response();
            }
            let headers =
                [("etag", tag), ("retry-after", "7200".to_owned()), ("location", "https://moved.example/".to_owned())];
            (StatusCode::from_u16(status).unwrap(), headers, body).into_response()
        }
        let source = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/places", listener.local_addr().unwrap());
        let router = Router::new().fallback(reply).with_state(source.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (source, url)
    }

    pub(crate) fn respond_with(&self, status: u16, body: &impl ToString) {
        self.respond_with_bytes(status, body.to_string().into_bytes());
    }

    pub(crate) fn respond_with_bytes(&self, status: u16, body: Vec<u8>) {
        *self.answer.lock().unwrap() = (status, body);
    }

    fn asked(&self) -> Vec<FeedRequest> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

pub(crate) fn places(count: u8) -> Value {
    let place = |id: u8| json!({ "id": id, "lat": 40.0, "lon": -70.0 - f64::from(id), "icon": "local_atm", "name": format!("P{id}") });
    (1..=count).map(place).collect()
}

/// Runs the command line while the feed server runs.
pub(crate) async fn sync(folder: &std::path::Path, arguments: &[&str]) -> (bool, Value) {
    let arguments = [&["--json", "atms", "sync"], arguments].concat();
    let ended = command(folder, &arguments).run_async().await;
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    (ended.code == Some(0), document["feeds"][0].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn feed_is_fetched_with_stored_validators() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let folder = folder.path();
    let (source, url) = Source::start().await;
    document(folder, &["atms", "feeds", "add", "map", &url, "--attribution", "© map, ODbL"]);
    source.respond_with(200, &places(10));
    let (done, report) = sync(folder, &[]).await;
    assert!(done && report["added"] == 10, "{report}");
    let (done, report) = sync(folder, &["map"]).await;
    assert!(done && report["not_modified"] == true, "{report}");
    let asked = source.asked();
    assert_eq!((&asked[0].1, asked[1].1.is_some()), (&None, true), "{asked:?}");

    // A large loss is more likely an error than a removal.
    source.respond_with(200, &places(5));
    let (done, report) = sync(folder, &[]).await;
    assert!(!done && report["error"].as_str().unwrap().contains("20 %"), "{report}");
    assert_eq!(document(folder, &["atms", "stats"])["total"], 10);
    source.asked();
    let (done, report) = sync(folder, &[]).await;
    assert!(!done && report["error"].as_str().unwrap().contains("is not fetched before"), "{report}");
    assert_eq!(source.asked().len(), 0);
    let (done, report) = sync(folder, &["--force"]).await;
    assert!(done && report["removed"] == 5, "{report}");
    let near = document(folder, &["atms", "near", "40.0,-71.0"]);
    assert_eq!((&near["atms"][0]["name"], &near["attribution"]), (&json!("P1"), &json!(["© map, ODbL"])));
}

#[tokio::test(flavor = "multi_thread")]
async fn feed_is_fetched_whole_after_an_import() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let folder = folder.path();
    let (source, url) = Source::start().await;
    document(folder, &["atms", "feeds", "add", "map", &url]);
    source.respond_with(200, &places(10));
    assert!(sync(folder, &[]).await.0);

    document(folder, &["atms", "forget", "map"]);
    let (done, report) = sync(folder, &[]).await;
    assert!(done && report["added"] == 10, "{report}");

    std::fs::write(folder.join("one.csv"), "ref,name,lat,lon\nx,Other,41,-71\n").unwrap();
    document(folder, &["atms", "import", "one.csv", "--source", "map", "--force"]);
    let (done, report) = sync(folder, &["--force"]).await;
    assert!(done && (&report["added"], &report["removed"]) == (&json!(10), &json!(1)), "{report}");

    // A fetch without changes leaves the validators unchanged.
    assert_eq!(sync(folder, &[]).await.1["not_modified"], true);
    assert_eq!(sync(folder, &[]).await.1["not_modified"], true);
    let (done, report) = sync(folder, &["--force"]).await;
    assert!(done && report["unchanged"] == 10, "{report}");
    let conditional: Vec<bool> = source.asked().into_iter().map(|(_, tag)| tag.is_some()).collect();
    assert_eq!(conditional, [false, false, false, true, true, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn feed_of_changes_restarts_after_forget() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let folder = folder.path();
    let (source, url) = Source::start().await;
    let url = format!("{url}?updated_since={{updated_since}}");
    document(folder, &["atms", "feeds", "add", "map", &url, "--format", "btcmap"]);
    source.respond_with(200, &places(10));
    assert!(sync(folder, &[]).await.0);
    document(folder, &["atms", "forget", "map"]);
    let (done, report) = sync(folder, &[]).await;
    assert!(done && report["added"] == 10, "{report}");
    let asked: Vec<String> = source.asked().into_iter().map(|(uri, _)| uri).collect();
    assert!(asked.iter().all(|uri| uri.ends_with("updated_since=1970-01-01T00:00:00Z")), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unexpected_not_modified_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let folder = folder.path();
    let (source, url) = Source::start().await;
    document(folder, &["atms", "feeds", "add", "map", &url]);
    source.respond_with(304, &"");
    let (done, report) = sync(folder, &[]).await;
    assert!(!done && report["error"].as_str().unwrap().contains("304 (not modified)"), "{report}");
    let feed = document(folder, &["atms", "feeds", "list"])["feeds"][0].clone();
    assert_eq!((&feed["failures"], &feed["fetched_at"]), (&json!(1), &Value::Null));
    assert!(feed["last_error"].as_str().unwrap().contains("304 (not modified)"), "{feed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_stored_feed_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    embedded_database(&data);
    let (store, folder) =
        (Store::open(&format!("sqlite:{}", data.join("signpost.sqlite").display()), &SCHEMA).unwrap(), folder.path());
    for (name, column, value) in [
        ("rare", "every_ms", "-1"),
        ("worn", "failures", "-1"),
        ("odd", "format", "'papyrus'"),
        ("late", "next_at", "9223372036854775807"),
    ] {
        document(folder, &["atms", "feeds", "add", name, "http://127.0.0.1:1/", "--every", "24"]);
        let sql = format!("UPDATE atm_feeds SET {column} = {value} WHERE name = $1").leak();
        assert!(store.write([Statement::new(sql, vec![name.into()])]).await.unwrap().is_committed());
        let listed = command(folder, &["atms", "feeds", "list"]).run_async().await;
        let error = listed.failed(1);
        assert!(error.contains(name) && error.contains(&format!("atm_feeds.{column}: ")), "{error}");
        assert!(command(folder, &["atms", "feeds", "remove", name]).run_async().await.code == Some(0));
        assert!(command(folder, &["atms", "feeds", "remove", name]).run_async().await.failed(1).contains("no feed"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn feed_of_changes_is_fetched_incrementally() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let folder = folder.path();
    let (source, url) = Source::start().await;
    let url = format!("{url}?include_deleted=true&updated_since={{updated_since}}");
    document(folder, &["atms", "feeds", "add", "map", &url, "--format", "btcmap"]);
    source.respond_with(200, &places(10));
    assert!(sync(folder, &[]).await.0);
    source.respond_with(
        200,
        &json!([
            { "id": 3, "deleted_at": "2026-11-20T00:00:00Z" },
            { "id": 4, "lat": 40.0, "lon": -74.0, "icon": "local_cafe" },
            { "id": 11, "lat": 41.0, "lon": -70.0, "icon": "local_atm" },
        ]),
    );
    let (_, report) = sync(folder, &[]).await;
    let counts = ["added", "changed", "unchanged", "removed"].map(|name| report[name].as_u64().unwrap());
    assert_eq!(counts, [1, 0, 0, 2], "{report}");
    // An empty list of changes is a valid response.
    source.respond_with(200, &json!([]));
    assert!(sync(folder, &[]).await.0);
    assert_eq!(document(folder, &["atms", "stats"])["total"], 9);
    let asked: Vec<String> = source.asked().into_iter().map(|(uri, _)| uri).collect();
    assert!(asked[0].ends_with("updated_since=1970-01-01T00:00:00Z"), "{asked:?}");
    assert!(asked[1].contains("updated_since=20") && asked[1] <= asked[2], "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_feed_is_retried_after_a_delay() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let folder = folder.path();
    let (source, url) = Source::start().await;
    document(folder, &["atms", "feeds", "add", "map", &url]);
    source.respond_with(200, &places(10));
    assert!(sync(folder, &[]).await.0);
    for (status, body, expected) in [
        (503, "", "it responded with 503"),
        (301, "", "it moved to https://moved.example/"),
        (200, "<html>not the data</html>", "cannot read its content"),
        (200, "[{\"id\": 1", "cannot read its content"),
        (200, "[]", "cannot read its content"),
    ] {
        source.respond_with(status, &body);
        let (done, report) = sync(folder, &["--force"]).await;
        assert!(!done && report["error"].as_str().unwrap().contains(expected), "{report}");
        assert_eq!(document(folder, &["atms", "stats"])["total"], 10);
    }
    let feed = document(folder, &["atms", "feeds", "list"])["feeds"][0].clone();
    assert_eq!(feed["failures"], 5);
    document(folder, &["atms", "feeds", "remove", "map"]);
    command(folder, &["atms", "sync"]).run().failed(1);
    assert_eq!(document(folder, &["atms", "forget", "map"])["removed"], 10);
    assert_eq!(document(folder, &["atms", "stats"])["total"], 0);
    for url in ["ftp://x/", "map.json", "https://user@host/x"] {
        assert_eq!(command(folder, &["atms", "feeds", "add", "map", url]).run().code, Some(2), "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn running_server_fetches_due_feeds() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let (source, url) = Source::start().await;
    source.respond_with(200, &places(3));
    document(folder.path(), &["atms", "feeds", "add", "map", &url, "--every", "6"]);
    let server = server_in(&folder.path().join("data"), &[]).await;
    until("the feed is fetched", async || (server.app.atm.catalogue.snapshot().len() == 3).then_some(())).await;
    assert_eq!(source.asked().len(), 1);
    server.stop().await;
}

/// Returns the address of a server that accepts connections and never responds, and its listener, which must outlive
/// it.
async fn silent_server() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/places", listener.local_addr().unwrap());
    (listener, url)
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_feeds_do_not_delay_another_feed() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let (_listener, silent) = silent_server().await;
    for name in ["a", "b", "c"] {
        document(folder.path(), &["atms", "feeds", "add", name, &silent, "--every", "6"]);
    }
    let (source, url) = Source::start().await;
    source.respond_with(200, &places(3));
    document(folder.path(), &["atms", "feeds", "add", "map", &url, "--every", "6"]);
    let server = server_in(&folder.path().join("data"), &[]).await;
    until("the feed is fetched", async || (server.app.atm.catalogue.snapshot().len() == 3).then_some(())).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrently_fetched_feeds_are_imported() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let folder = folder.path();
    let (source, url) = Source::start().await;
    source.respond_with(200, &places(20));
    let names = ["a", "b", "c", "d", "e", "f"];
    for name in names {
        document(folder, &["atms", "feeds", "add", name, &url]);
    }
    let report = command(folder, &["--json", "atms", "sync"]).run_async().await.json();
    for (feed, name) in report["feeds"].as_array().unwrap().iter().zip(names) {
        assert_eq!((&feed["source"], &feed["added"]), (&json!(name), &json!(20)), "{report}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_feed_ends_at_the_timeout() {
    let folder = tempfile::tempdir().unwrap();
    embedded_database(&folder.path().join("data"));
    let folder = folder.path();
    let (listener, url) = silent_server().await;
    let drip = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await.unwrap();
        let mut sent = 0;
        let mut pause = tokio::time::interval(Duration::from_millis(20));
        while connection.write_all(b" ").await.is_ok() {
            pause.tick().await;
            sent += 1;
        }
        sent
    });
    document(folder, &["atms", "feeds", "add", "map", &url]);
    let ended = command(folder, &["--json", "atms", "sync"]).env("SIGNPOST_FEED_TIMEOUT", "1s").run_async().await;
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    assert!(report["feeds"][0]["error"].is_string(), "{report}");
    assert!(drip.await.unwrap() < 5_000, "the program closed the connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_after_a_failure_begins_at_its_end() {
    let (listener, url) = silent_server().await;
    let clock = Clock::manual(Timestamp::UNIX_EPOCH);
    let server_clock = clock.clone();
    let server = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        assert!(connection.read(&mut [0; 1024]).await.unwrap() > 0);
        server_clock.advance(SignedDuration::from_mins(30));
        connection.write_all(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    });
    let store = Store::open("sqlite::memory:", &SCHEMA).unwrap();
    let feed = Feed::new("map".to_owned(), url, FormatChoice::Auto, "map".to_owned(), None);
    feeds::sql::save(&store, &feed).await.unwrap();
    let fetcher = fetcher(&store, clock);
    fetcher.run(&Arc::new(Gazetteer::embedded()), feed).await.unwrap_err();
    server.await.unwrap();
    let stored = feeds::sql::find(&store, "map").await.unwrap().unwrap();
    assert_eq!(stored.next_at.as_second(), 35 * 60);
}

pub(crate) fn fetcher(store: &Store, clock: Clock) -> FeedFetcher {
    FeedFetcher {
        store: store.clone(),
        outbound: Outbound::new(&NameResolver::System),
        memory: FetchMemory::default(),
        clock,
        timeout: Duration::from_mins(1),
        force: false,
    }
}
