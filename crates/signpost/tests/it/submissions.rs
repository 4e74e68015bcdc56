//! Operators that submit their ATMs.

use jiff::SignedDuration;
use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use signpost_atm::catalogue;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys::{self, NewKey};
use signpost_platform::accounts::{Account, Environment, Scope};
use signpost_store::random;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::assistant::server;
use crate::harness::{Reply, Service, until};

const SUBMISSIONS: &str = "/atms/submissions";

/// An operator with the API key for its submissions.
struct Operator<'a> {
    server: &'a Service,
    environment: Environment,
    authorization: String,
}

async fn operator<'a>(server: &'a Service, name: &str, environment: Environment) -> Operator<'a> {
    let account = Account { name: name.to_owned(), environment };
    let key = NewKey::new(environment, random(), random()).with_scope(Scope::Atms);
    keys::sql::insert(&server.app.store, &Actor::Operator, &account, "feed", &key, server.app.clock.now())
        .await
        .unwrap();
    Operator { server, environment, authorization: format!("Bearer {}", key.key.expose_secret()) }
}

impl Operator<'_> {
    async fn submit(&self, body: &str) -> Reply {
        let headers = [("authorization", self.authorization.as_str()), ("content-type", "application/json")];
        self.server.send(Method::POST, &format!("{}{SUBMISSIONS}", self.environment.path()), &headers, body).await
    }

    /// Starts a submission, waits until the server has accepted its headers, and never completes it.
    async fn begin_submission(&self) -> TcpStream {
        let running = self.server.app.atm.submissions.running();
        let mut stream = TcpStream::connect(self.server.app.listen).await.unwrap();
        let head = format!(
            "POST {}{SUBMISSIONS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\
             Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{\"locations\": [",
            self.environment.path(),
            self.authorization
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        until("the submission is begun", async || (self.server.app.atm.submissions.running() > running).then_some(()))
            .await;
        stream
    }
}

fn location(id: &str, lat: f64, enabled: bool) -> Value {
    json!({
        "locationId": id, "lastReportedTime": "2027-01-15T07:59:00Z",
        "address": { "street": "100 Congress Ave", "city": "Austin", "region": "TX", "postalCode": "78701",
                     "country": "US", "latitude": lat, "longitude": -97.7431 },
        "business": { "name": format!("Shop {id}"), "hours": "Mo-Su 06:00-22:00" },
        "status": { "isEnabled": enabled, "cashInEnabled": true, "cashOutEnabled": false },
        "fees": { "buyPercent": "12.5" }, "limits": { "max": "3000" }, "coins": "BTC",
    })
}

fn submission(locations: &[Value]) -> String {
    json!({ "providerId": "acme", "apiTimestamp": "2027-01-15T08:00:00Z", "locations": locations }).to_string()
}

/// Waits until the running server finds the expected number of ATMs, and returns them.
async fn found(server: &Service, expected: usize) -> Vec<Value> {
    until(&format!("a catalogue of {expected} machines"), async || {
        let call = json!({ "lat": 30.2672, "lon": -97.7431, "maxDistance": 5, "limit": 50 });
        let result = server.call("find_nearest_bitcoin_atm", call).await.with(200);
        let atms = result["result"]["structuredContent"]["atms"].as_array().unwrap().clone();
        (atms.len() == expected).then_some(atms)
    })
    .await
}

async fn details(server: &Service, id: &Value) -> Value {
    let result = server.call("get_atm_details", json!({ "atmId": id })).await.with(200);
    result["result"]["structuredContent"].clone()
}

#[tokio::test]
async fn submission_updates_the_status_of_atms() {
    let server = server().await;
    let acme = operator(&server, "acme", Environment::Live).await;
    let report =
        acme.submit(&submission(&[location("1", 30.2672, true), location("2", 30.2772, true)])).await.with(200);
    assert_eq!((&report["added"], &report["source"]), (&json!(2), &json!("operator/acme")), "{report}");
    let atms = found(&server, 2).await;
    let known = details(&server, &atms[0]["id"]).await;
    // A Friday, 8:00 UTC: 2 a.m. in Austin.
    assert_eq!(
        (&known["status"], &known["freshness"], &known["opensAt"]),
        (&json!("closed"), &json!("live"), &json!("2027-01-15T06:00:00-06:00")),
        "{known}"
    );
    assert_eq!(
        (&known["fees"]["buyPercent"], &known["limits"]["max"], &known["buy"], &known["sell"]),
        (&json!("12.5"), &json!("3000"), &json!("yes"), &json!("no"))
    );
    assert_eq!(known["timeZone"], "America/Chicago");

    // The ATMs open in the morning without a submission; a submission of an ATM does not change the other ATM.
    server.advance_clock(SignedDuration::from_secs(4 * 3600 + 60));
    let open = found(&server, 2).await;
    assert!(
        open.iter().all(|atm| atm["status"] == "open" && atm["closesAt"] == "2027-01-15T22:00:00-06:00"),
        "{open:?}"
    );
    let report = acme.submit(&submission(&[location("1", 30.2672, false)])).await.with(200);
    assert_eq!((&report["changed"], &report["removed"]), (&json!(1), &json!(0)));
    until("the submission is seen", async || {
        (details(&server, &atms[0]["id"]).await["status"] == "out_of_service").then_some(())
    })
    .await;
    assert_eq!(details(&server, &atms[1]["id"]).await["status"], "open");
    let gone = acme.submit(&submission(&[json!({ "locationId": "2", "isDeleted": true })])).await.with(200);
    assert_eq!(gone["removed"], 1, "{gone}");
    found(&server, 1).await;
}

#[tokio::test]
async fn submission_requires_a_key_with_its_scope() {
    let server = server().await;
    let acme = operator(&server, "acme", Environment::Live).await;
    let body = submission(&[location("1", 30.2672, true)]);
    let integrator = server.integrator_of("acme", Environment::Live).await;
    let refused = integrator.post_raw(SUBMISSIONS, &body).await.assert_error(403, "insufficient_scope");
    assert_eq!(refused, json!({ "needed": "atms", "opened": "auth" }));
    let headers = [("authorization", acme.authorization.as_str())];
    server.send(Method::GET, "/v1/domains", &headers, "").await.assert_error(403, "insufficient_scope");
    server
        .send(Method::POST, "/sandbox/v1/atms/submissions", &headers, &body)
        .await
        .assert_error(401, "invalid_api_key");
    server.send(Method::POST, "/v1/atms/submissions", &[], &body).await.assert_error(401, "invalid_api_key");
    server
        .send(Method::POST, "/v1/atms/submissions", &headers, &body)
        .await
        .assert_error(415, "unsupported_media_type");
    server.send(Method::GET, "/v1/atms/submissions", &headers, "").await.assert_error(405, "method_not_allowed");
}

#[tokio::test]
async fn invalid_submission_changes_nothing() {
    let server = server().await;
    let version = catalogue::sql::read_version(&server.app.store).await.unwrap();
    let acme = operator(&server, "acme", Environment::Live).await;
    for (body, code, field) in [
        ("{", "invalid_json", ""),
        ("", "invalid_json", ""),
        ("[]", "invalid_request", "locations"),
        ("{}", "invalid_request", "locations"),
        (r#"{"locations": {}}"#, "invalid_request", "locations"),
        (r#"{"locations": []}"#, "invalid_request", "locations"),
        ("\u{feff} ", "invalid_json", ""),
    ] {
        let details = acme.submit(body).await.assert_error(400, code);
        assert_eq!(details.get("field").and_then(Value::as_str).unwrap_or_default(), field, "{body}");
    }
    acme.submit(&"[".repeat(200_000)).await.assert_error(400, "invalid_json");
    acme.submit(&" ".repeat((8 << 20) + 1)).await.assert_error(413, "payload_too_large");
    assert_eq!(catalogue::sql::read_version(&server.app.store).await.unwrap(), version);
    // An invalid location does not affect the valid locations.
    let report =
        acme.submit(&submission(&[json!({ "locationId": "9" }), location("1", 30.2672, true), json!(7)])).await;
    let report = report.with(200);
    assert_eq!((&report["added"], &report["skipped"]["total"]), (&json!(1), &json!(2)), "{report}");
    assert_eq!(report["skipped"]["first"][0], json!({ "item": 1, "reason": "no coordinates" }));
}

#[tokio::test]
async fn sandbox_submission_is_checked_and_not_stored() {
    let server = server().await;
    let acme = operator(&server, "acme", Environment::Sandbox).await;
    let report = acme.submit(&submission(&[location("1", 30.2672, true)])).await.with(200);
    assert_eq!((&report["added"], &report["dry_run"]), (&json!(1), &json!(true)));
    assert_eq!(catalogue::sql::read_source(&server.app.store, "operator/acme").await.unwrap().len(), 0);
}

#[tokio::test]
async fn concurrent_operators_can_submit() {
    let server = server().await;
    let names: Vec<String> = (0..8).map(|number| format!("operator{number}")).collect();
    let submissions = names.iter().enumerate().map(async |(number, name)| {
        let lat = 30.2 + f64::from(u32::try_from(number).unwrap()) * 0.01;
        operator(&server, name, Environment::Live).await.submit(&submission(&[location("1", lat, true)])).await
    });
    for reply in futures_util::future::join_all(submissions).await {
        assert_eq!(reply.with(200)["added"], 1);
    }
    for name in names {
        assert_eq!(catalogue::sql::read_source(&server.app.store, &format!("operator/{name}")).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn submission_cost_is_bounded() {
    let server = server().await;
    let acme = operator(&server, "acme", Environment::Live).await;
    // Eight megabytes of empty objects, then invalid JSON: the parser stops at the limit.
    let body = format!("{{\"locations\": [{}", "{},".repeat((8 << 20) / 3 - 10));
    let details = acme.submit(&body).await.assert_error(400, "invalid_request");
    assert_eq!(details["field"], "locations");
    assert!(details["reason"].as_str().unwrap().starts_with("must contain at most 25000 locations"), "{details}");
    let long = format!("{{\"locations\": [{{\"note\": \"{}\"}}]}}", "x".repeat(64 * 1024));
    acme.submit(&long).await.assert_invalid_field("locations");
    let report = acme.submit(&submission(&vec![json!({}); 25_000])).await.with(200);
    assert_eq!(
        (&report["skipped"]["total"], report["skipped"]["first"].as_array().unwrap().len()),
        (&json!(25_000), 1_000)
    );
}

#[tokio::test]
async fn slow_submissions_do_not_occupy_all_slots() {
    let server = server().await;
    let acme = operator(&server, "acme", Environment::Live).await;
    let other = operator(&server, "other", Environment::Live).await;
    let body = submission(&[location("1", 30.2672, true)]);
    let mut begun = vec![acme.begin_submission().await];
    // Rejected before the body and its media type are read.
    let headers = [("authorization", acme.authorization.as_str())];
    let refused = server.send(Method::POST, "/v1/atms/submissions", &headers, "x").await;
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(
        refused.assert_error(429, "rate_limited"),
        json!({ "limit": "reports", "at_once": 1, "retry_after": 1 })
    );
    other.submit(&body).await.with(200);
    for number in 2..=8 {
        begun.push(operator(&server, &format!("operator{number}"), Environment::Live).await.begin_submission().await);
    }
    let refused = other.submit(&body).await;
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.assert_error(503, "unavailable");
    // A request without an API key uses no slot.
    server.send(Method::POST, "/v1/atms/submissions", &[], &body).await.assert_error(401, "invalid_api_key");

    // When their rates are known, a new submission replaces the slowest submission, and all submissions end.
    server.clock.advance(SignedDuration::from_secs(10));
    other.submit(&body).await.with(200);
    for slow in &mut begun {
        let mut reply = [0; 13];
        slow.read_exact(&mut reply).await.unwrap();
        assert_eq!(&reply, b"HTTP/1.1 503 ");
    }
    until("all places are free", async || (server.app.atm.submissions.running() == 0).then_some(())).await;
    acme.submit(&body).await.with(200);
}

#[tokio::test]
async fn abandoned_submission_frees_its_slot() {
    let server = server().await;
    let acme = operator(&server, "acme", Environment::Live).await;
    drop(acme.begin_submission().await);
    until("the place is free", async || (server.app.atm.submissions.running() == 0).then_some(())).await;
    acme.submit(&submission(&[location("1", 30.2672, true)])).await.with(200);
}

#[tokio::test]
async fn shutdown_does_not_wait_for_submissions() {
    let server = server().await;
    let acme = operator(&server, "acme", Environment::Live).await;
    let mut begun = acme.begin_submission().await;
    server.stop().await;
    let mut reply = String::new();
    begun.read_to_string(&mut reply).await.unwrap();
    assert!(reply.starts_with("HTTP/1.1 503 ") && reply.contains("retry-after: 1"), "{reply}");
}

#[tokio::test]
async fn readme_submission_is_fully_supported() {
    let readme = include_str!("../../../../README.md");
    let (_, rest) = readme.split_once("cat >machines.json <<'END'\n").unwrap();
    let (shown, rest) = rest.split_once("\nEND\n").unwrap();
    assert!(rest.contains("/v1/atms/submissions") && rest.contains("-d @machines.json"));
    let server = server().await;
    let acme = operator(&server, "acme", Environment::Live).await;
    acme.submit(&submission(&[json!({ "locationId": "ATM-18", "latitude": 30.3, "longitude": -97.7 })]))
        .await
        .with(200);
    let report = acme.submit(shown).await.with(200);
    assert_eq!([&report["added"], &report["removed"]], [1, 1], "{report}");
    for nothing in ["skipped", "doubts"] {
        assert_eq!(report[nothing]["total"], 0, "{report}");
    }
    assert_eq!(report["unused_columns"], json!({ "total": 0, "first": [] }), "{report}");
    // Both submissions result in a catalogue with one ATM: the first is served until the server detects the second.
    let known = until("the machine of the second submission", async || {
        let known = details(&server, &found(&server, 1).await[0]["id"]).await;
        (known["name"] == "Corner Shop").then_some(known)
    })
    .await;
    assert_eq!(known["fees"]["buyPercent"], "12.5", "{known}");
}
