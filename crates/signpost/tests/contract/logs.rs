//! Log lines for operators: one line per event, as text and as JSON.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use signpost_platform::clock::Clock;

use crate::account_guards::new_browser;
use crate::harness::{Endpoint, Integrator, Phone, Program, http, text};
use crate::page_flow::{create_session, register_hosted_domain};

/// Expected lines: message, level, fields, fields of the span.
const LINES: [(&str, &str, &[&str], &[&str]); 9] = [
    ("server started", "INFO", &["version", "listen", "public_address", "data_dir", "database"], &[]),
    ("API key refused", "WARN", &["caller", "reason"], &["id", "method", "route"]),
    ("page not found at this host", "WARN", &["pages", "host", "expected"], &["id", "method", "route"]),
    ("passkey refused", "WARN", &["session", "domain", "reason"], &["id", "method", "route"]),
    ("login succeeded", "INFO", &["session", "domain", "account", "environment", "mode"], &["id", "method", "route"]),
    ("delivery failed", "WARN", &["domain", "endpoint", "status", "error", "next_attempt_at"], &["event", "attempt"]),
    ("event delivered", "INFO", &["domain", "endpoint", "status"], &["event", "attempt"]),
    ("ATMs imported", "INFO", &["source", "added", "changed", "unchanged", "removed"], &["id", "method", "route"]),
    ("server stopped", "INFO", &[], &[]),
];

/// Returns a server's log from start to stop, and the secrets that it must not contain. Each event occurs once, except
/// the rejected key, which is used twice, and the delivery, which fails first.
async fn run_server(format: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["serve", "--json", "--listen", "127.0.0.1:0", "--log-format", format];
    let settings = [("SIGNPOST_WEBHOOK_RETRY_SCHEDULE", "10ms"), ("SIGNPOST_LOG", "debug")];
    let mut server = Program::within(folder.path(), &arguments).start_server(&settings);
    let key = async |arguments: &[&str]| {
        let arguments = [&["keys", "create", "--name", "k"], arguments].concat();
        Program::within(folder.path(), &arguments).run_async().await.out.trim().to_owned()
    };
    let login_key = key(&["--environment", "sandbox"]).await;
    let atm_key = key(&["--environment", "live", "--scope", "atms"]).await;
    let mut endpoint = Endpoint::start().await;
    endpoint.respond_with(StatusCode::INTERNAL_SERVER_ERROR);
    let shop = Integrator { http: http(), api: server.address("sandbox"), key: Some(login_key.clone()) };
    let wrong_key = format!("svc_test_{}", "A".repeat(login_key.len() - "svc_test_".len()));
    for _ in 0..2 {
        shop.with_key(Some(&wrong_key)).get("/domains").await.with(401);
    }
    let domain = shop.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let session = shop.create_session("shop.test").await;
    let answer = Phone::of(7, &Clock::System).answer(&session);
    shop.authenticate(&session, &answer).await.with(200);
    for _ in 0..2 {
        endpoint.next_request().await;
    }
    let operator = Integrator { api: server.address("live"), ..shop.with_key(Some(&atm_key)) };
    operator.post("/atms/submissions", &report()).await.with(200);
    let pages = server.address("public_address");
    // Both requests are repeated, and logged once a minute.
    register_hosted_domain(&shop, "club.test").await;
    let (session, mut browser) = (create_session(&shop, json!({ "domain": "club.test" })).await, new_browser(&server));
    browser.open(&session).await;
    for _ in 0..2 {
        let console = http().get(format!("{pages}/console")).header("host", "evil.example").send().await;
        assert_eq!(console.expect("a reply").status(), 404);
        assert_eq!(browser.post_credential(&session, &json!({})).await.0, 422);
    }
    // Locations of searches are private and must not be logged.
    for path in [
        "/near?q=Waxahachie%2C+TX",
        "/near/?q=Waxahachie%2C+TX",
        "/near?lat=31.4142&lon=-97.2718",
        "/map/sight?box=31.4142,-97.2718,31.5,-97.1",
    ] {
        let page = http().get(format!("{pages}{path}")).send().await.expect("a reply");
        assert!(page.status().as_u16() < 400, "{path}: {}", page.status());
    }
    server.terminate();
    let (status, log) = tokio::task::spawn_blocking(move || server.wait_for_exit()).await.expect("no panic");
    assert!(status.success(), "{log}");
    let secrets = [text(&domain, "webhook_secret"), text(&answer, "signature"), text(&answer, "public_key")];
    let places = ["Waxahachie", "31.4142", "97.2718"];
    let secrets = secrets.into_iter().chain(places).map(str::to_owned);
    let secrets = secrets.chain([login_key, atm_key, wrong_key]).collect();
    (log, secrets)
}

#[tokio::test]
async fn pages_at_a_wrong_host_are_logged_once_a_minute() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["serve", "--json", "--listen", "127.0.0.1:0", "--log-format", "json"];
    let settings = [("SIGNPOST_WALLET", "https://wallet.test"), ("SIGNPOST_LOG", "warn")];
    let mut server = Program::within(folder.path(), &arguments).start_server(&settings);
    let pages = server.address("public_address");
    for _ in 0..2 {
        for (path, host) in [("/wallet", "login.test"), ("/account", "wallet.test"), ("/nothing", "login.test")] {
            let page = http().get(format!("{pages}{path}")).header("host", host).send().await;
            assert_eq!(page.expect("a reply").status(), 404, "{path} {host}");
        }
    }
    server.terminate();
    let (status, log) = tokio::task::spawn_blocking(move || server.wait_for_exit()).await.expect("no panic");
    assert!(status.success(), "{log}");
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let response: Vec<_> = lines
        .filter(|line| line["message"] == "page not found at this host")
        .map(|line| json!([line["pages"], line["host"]]))
        .collect();
    let expected = [json!(["browser wallet", "login.test"]), json!(["other than the browser wallet", "wallet.test"])];
    assert_eq!(response, expected, "{log}");
}

/// Returns the submission of an ATM.
fn report() -> Value {
    let address = json!({ "street": "100 Congress Ave", "city": "Austin", "region": "TX", "postalCode": "78701",
                          "country": "US", "latitude": 30.2672, "longitude": -97.7431 });
    json!({ "locations": [{
        "locationId": "one", "lastReportedTime": Clock::System.now(), "address": address,
        "business": { "name": "Shop", "hours": "Mo-Su 06:00-22:00" },
        "status": { "isEnabled": true, "cashInEnabled": true, "cashOutEnabled": false },
    }] })
}

#[tokio::test]
async fn each_event_is_one_line_of_json() {
    let (log, secrets) = run_server("json").await;
    let mut lines: BTreeMap<String, Vec<Map<String, Value>>> = BTreeMap::new();
    for line in log.lines() {
        let line: Map<String, Value> = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        lines.entry(line["message"].as_str().expect("a text").to_owned()).or_default().push(line);
    }
    for (message, level, fields, of_span) in LINES {
        let found = lines.get(message).unwrap_or_else(|| panic!("no line '{message}': {log}"));
        let [line] = &found[..] else { panic!("{} lines '{message}': {log}", found.len()) };
        assert_eq!(line["level"], level, "{line:?}");
        let is_there = |of: &Value, field: &str| of.get(field).is_some_and(|value| !value.is_null());
        for field in fields {
            assert!(line.get(*field).is_some_and(|value| !value.is_null()), "no {field}: {line:?}");
            assert!(!line.get("span").is_some_and(|span| is_there(span, field)), "{field} twice: {line:?}");
        }
        for field in of_span {
            assert!(is_there(&line["span"], field), "no {field}: {line:?}");
        }
    }
    let [failed] = &lines["delivery failed"][..] else { panic!("{log}") };
    assert!(text(&Value::Object(failed.clone()), "next_attempt_at").parse::<Timestamp>().is_ok(), "{failed:?}");
    assert_eq!(lines["login succeeded"][0]["domain"], "shop.test");
    assert!(secrets.iter().all(|secret| !log.contains(secret.as_str())), "a secret is in the log: {log}");
}

#[tokio::test]
async fn each_event_is_one_line_of_text() {
    let (log, secrets) = run_server("text").await;
    for (message, level, fields, of_span) in LINES {
        let is_it = |line: &&str| line.split(": ").chain(line.split("  INFO ")).any(|part| part.starts_with(message));
        let found: Vec<_> = log.lines().filter(is_it).collect();
        let [line] = found[..] else { panic!("{} lines '{message}': {log}", found.len()) };
        assert!(line.contains(level), "{line}");
        for field in fields.iter().chain(of_span) {
            let count = line.split([' ', '{']).filter(|word| word.starts_with(&format!("{field}="))).count();
            assert_eq!(count, 1, "{field}: {line}");
        }
    }
    for debug in ["Some(", "None", "Ok(", "Err("] {
        assert!(!log.contains(debug), "{debug}: {log}");
    }
    assert!(secrets.iter().all(|secret| !log.contains(secret.as_str())), "a secret is in the log: {log}");
}
