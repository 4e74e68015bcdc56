//! Tests the client with the cases of `vectors/client.json`, for which `sdk/replies.py` simulates
//! the service.

mod calls;
mod service;
mod unlisted;

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use signpost_auth::client::{Runtime, SessionStatus, Signpost, SignpostError, SystemRuntime};
use url::Url;

use service::{ReceivedRequest, Service};

#[derive(Deserialize)]
struct Vectors {
    key: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    call: String,
    arguments: Value,
    #[serde(default)]
    options: Options,
    now: Option<String>,
    requests: Vec<ExpectedRequest>,
    #[serde(default)]
    same_idempotency_key: bool,
    waits: Option<Vec<(u64, u64)>>,
    #[serde(flatten)]
    end: Map<String, Value>,
}

#[derive(Default, Deserialize)]
struct Options {
    retries: Option<u32>,
}

/// A request that the client is expected to send.
#[derive(Deserialize)]
struct ExpectedRequest {
    method: String,
    path: String,
    body: Option<Value>,
    #[serde(default)]
    has: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    #[serde(default)]
    headers: Map<String, Value>,
}

/// A clock that is constant, or advances only with pauses. Pauses complete immediately.
#[derive(Clone, Debug, Default)]
struct RecordedRuntime {
    now: Option<SystemTime>,
    advances: bool,
    pauses: Arc<Mutex<Vec<Duration>>>,
}

impl Runtime for RecordedRuntime {
    fn now(&self) -> SystemTime {
        let passed = self.pauses.lock().unwrap().iter().filter(|_| self.advances).sum::<Duration>();
        self.now.unwrap_or_else(|| SystemRuntime.now()) + passed
    }

    fn random(&self) -> [u8; 32] {
        SystemRuntime.random()
    }

    fn pause(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.pauses.lock().unwrap().push(duration);
        Box::pin(std::future::ready(()))
    }
}

/// Parses a time in the test vectors.
fn time(text: &str) -> SystemTime {
    assert_eq!(text, "2023-11-14T22:13:20Z", "another time: read it");
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

fn client(port: u16) -> Signpost {
    let base = format!("http://127.0.0.1:{port}/sandbox/v1");
    Signpost::new("svc_test_of-a-site").unwrap().with_base_url(&base).unwrap()
}

#[tokio::test]
async fn every_call_matches_the_vectors() {
    let (Vectors { key, cases }, service) = (crate::read("client"), Service::start("client"));
    assert!(cases.len() > 50, "the cases are missing");
    for case in cases {
        let world = RecordedRuntime { now: case.now.as_deref().map(time), ..RecordedRuntime::default() };
        let signpost = client(service.port(&case.name)).with_runtime(world.clone());
        let signpost = match case.options.retries {
            Some(retries) => signpost.with_retries(retries),
            None => signpost,
        };
        let outcome = calls::call(&signpost, &case.call, &case.arguments).await;
        check_outcome(&case, outcome);
        check_requests(&case, &service.seen(&case.name).await, &key);
        check_pauses(&case, &world.pauses.lock().unwrap());
    }
}

fn check_outcome(case: &Case, outcome: Result<Value, SignpostError>) {
    let Case { name, end, .. } = case;
    match (outcome, end.get("error")) {
        (Ok(result), None) => {
            if let Some(expected) = end.get("result") {
                assert_eq!(result, *expected, "{name}");
            } else {
                let some = end["result_has"].as_object().unwrap();
                assert!(some.iter().all(|(member, value)| result[member] == *value), "{name}: {result}");
            }
        }
        (Err(error), Some(expected)) => {
            let SignpostError { code, status, details, request_id, retry_after, .. } = &error;
            let told = json!({ "code": code, "status": status, "details": details, "request_id": request_id,
                               "retry_after": retry_after });
            for (member, value) in expected.as_object().unwrap() {
                assert_eq!(told[member], *value, "{name}: {member} of {error:?}");
            }
            assert_eq!(expected.get("status").is_none(), status.is_none(), "{name}: {error:?}");
            for text in [format!("{error:?}"), error.to_string()] {
                assert!(!text.contains("svc_test_of-a-site"), "{name}: {text}");
            }
        }
        (outcome, expected) => panic!("{name}: {outcome:?}, expected {expected:?}"),
    }
}

fn check_requests(case: &Case, seen: &[ReceivedRequest], key: &str) {
    let name = &case.name;
    assert_eq!(seen.len(), case.requests.len(), "{name}: {seen:?}");
    for (seen, wanted) in seen.iter().zip(&case.requests) {
        assert_eq!((&seen.method, address(&seen.path)), (&wanted.method, address(&wanted.path)), "{name}");
        if let Some(body) = &wanted.body {
            assert!(is_same(&seen.body, body), "{name}: {}, expected {body}", seen.body);
        }
        assert!(wanted.has.iter().all(|header| seen.headers.contains_key(header)), "{name}: {seen:?}");
        assert!(!wanted.lacks.iter().any(|header| seen.headers.contains_key(header)), "{name}: {seen:?}");
        assert!(wanted.headers.iter().all(|(header, value)| seen.headers[header] == *value), "{name}: {seen:?}");
        if seen.path != "/mcp" {
            assert_eq!(seen.headers["authorization"], format!("Bearer {key}"), "{name}");
        }
        assert!(seen.headers["user-agent"].starts_with("signpost-sdk-rust/"), "{name}");
    }
    if case.same_idempotency_key {
        let keys: Vec<_> = seen.iter().map(|seen| &seen.headers["idempotency-key"]).collect();
        assert!(!keys[0].is_empty() && keys.iter().all(|key| *key == keys[0]), "{name}: {keys:?}");
    }
}

fn check_pauses(case: &Case, pauses: &[Duration]) {
    let Some(waits) = &case.waits else { return };
    // Up to a second passes between the polls of a wait, because this server responds immediately.
    let is_between = |pause: &&Duration| case.call == "sessions.wait" && **pause > Duration::from_millis(500);
    let pauses: Vec<_> = pauses.iter().filter(|pause| !is_between(pause)).copied().collect();
    let fits = |(pause, (from, to)): (&Duration, &(u64, u64))| {
        (Duration::from_millis(*from)..=Duration::from_millis(*to)).contains(pause)
    };
    let all = pauses.len() == waits.len() && pauses.iter().zip(waits).all(fits);
    assert!(all, "{}: {pauses:?}, expected {waits:?}", case.name);
}

/// Compares JSON values. 10.0 equals 10.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let other_has = |(name, one): (&String, &Value)| other.get(name).is_some_and(|other| is_same(one, other));
            one.len() == other.len() && one.iter().all(other_has)
        }
        _ => one == other,
    }
}

/// Returns the path, and the query parameters in sorted order.
fn address(path: &str) -> (String, Vec<(String, String)>) {
    let url = Url::parse("http://localhost").unwrap().join(path).unwrap();
    let mut query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    query.sort();
    (path.split('?').next().unwrap().to_owned(), query)
}

#[test]
fn base_url_is_a_plain_http_origin() {
    let of = |base: &str| Signpost::new("").unwrap().with_base_url(base).map(|signpost| format!("{signpost:?}"));
    for base in ["https://login.example/v1", "http://localhost:8080/sandbox/v1/", "http://[::1]:8080/v1"] {
        assert!(of(base).is_ok(), "{base}");
    }
    let bad = [
        "",
        "login.example/v1",
        "ftp://login.example",
        "https://login.example/v1?key=a",
        "https://me@login.example/v1",
    ];
    for base in bad {
        assert_eq!(of(base).unwrap_err().code, "invalid_argument", "{base}");
    }
}

#[test]
fn client_debug_output_hides_the_key() {
    let text = format!("{:?}", client(1));
    assert!(text.contains("http://127.0.0.1:1/sandbox/v1") && !text.contains("svc_test"), "{text}");
}

#[tokio::test]
async fn invalid_key_is_an_error_without_the_key() {
    let signpost = Signpost::new("svc_test_key\n").unwrap();
    let error = signpost.sessions().get("sess_1").await.unwrap_err();
    assert!(error.code == "invalid_argument" && !error.to_string().contains("svc_test"), "{error}");
}

#[tokio::test]
async fn timeout_is_retried_and_then_reported() {
    // The listener does not accept connections, so no response arrives.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let world = RecordedRuntime::default();
    let signpost = client(listener.local_addr().unwrap().port()).with_timeout(Duration::from_millis(20));
    let error = signpost.with_runtime(world.clone()).sessions().get("sess_1").await.unwrap_err();
    assert_eq!((error.code.as_str(), error.status, world.pauses.lock().unwrap().len()), ("timeout", None, 2));
}

#[tokio::test]
async fn wait_polls_once_a_second() {
    let service = Service::start("client");
    let world =
        RecordedRuntime { now: Some(time("2023-11-14T22:13:20Z")), advances: true, ..RecordedRuntime::default() };
    let case = "sessions.wait until somebody answered";
    let signpost = client(service.port(case)).with_runtime(world.clone());
    // The session is pending in the first two responses.
    let session = signpost.sessions().wait_for("sess_1", Duration::from_millis(1_500)).await.unwrap();
    assert_eq!(session.status, SessionStatus::Authenticated);
    assert_eq!(*world.pauses.lock().unwrap(), [Duration::from_secs(1); 2]);
    let waits: Vec<_> = service.seen(case).await.into_iter().map(|seen| seen.path).collect();
    assert!(waits[0].ends_with("?wait=2") && waits[1].ends_with("?wait=1"), "{waits:?}");
}
