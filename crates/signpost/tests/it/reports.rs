//! Reports about ATMs: docs/locator.md, Reports.

use futures_util::future::join_all;
use jiff::SignedDuration;
use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use signpost_atm::reports::ReportId;
use signpost_atm::reports::sql::{self, Moderation};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys::{self, NewKey};
use signpost_platform::accounts::{Account, Environment, Scope};
use signpost_store::random;

use crate::assistant::{server_in, server_with};
use crate::harness::{Reply, Service, is_written, until};

/// Behind a reverse proxy on this host, so that a test can use many client IPs.
const BEHIND_A_PROXY: [(&str, &str); 2] = [("trusted_proxies", "127.0.0.1"), ("rate_limit_reports", "5/h")];

async fn service() -> Service {
    server_with(&BEHIND_A_PROXY).await
}

impl Service {
    /// Submits a report from a client IP.
    pub(crate) async fn reports(&self, from: &str, atm: u64, report: &Value) -> Reply {
        let headers = [("x-forwarded-for", from), ("content-type", "application/json")];
        self.send(Method::POST, &format!("/v1/atms/{atm}/reports"), &headers, &report.to_string()).await
    }

    async fn details(&self, atm: u64) -> Value {
        let result = self.call("get_atm_details", json!({ "atmId": atm })).await.with(200);
        result["result"]["structuredContent"].clone()
    }

    /// Waits until the details of an ATM satisfy a condition, and returns them.
    async fn wait_for_details(&self, atm: u64, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        until(what, async || Some(self.details(atm).await).filter(&is_so)).await
    }
}

fn gone() -> Value {
    json!({ "seen": "gone", "how": "saw" })
}

/// Creates an API key of an operator.
async fn operator(service: &Service, name: &str) -> String {
    let account = Account { name: name.to_owned(), environment: Environment::Live };
    let key = NewKey::new(Environment::Live, random(), random()).with_scope(Scope::Atms);
    keys::sql::insert(&service.app.store, &Actor::Operator, &account, "feed", &key, service.app.clock.now())
        .await
        .unwrap();
    format!("Bearer {}", key.key.expose_secret())
}

#[tokio::test]
async fn two_reports_make_the_status_unknown() {
    let service = service().await;
    let before = service.details(1).await;
    assert_eq!(before["status"], "open", "{before}");
    let taken = service.reports("192.0.2.1", 1, &gone()).await.with(201);
    assert_eq!(
        (&taken["state"], &taken["atm_id"], &taken["weight"]),
        (&json!("shown"), &json!(1), &json!(1)),
        "{taken}"
    );
    let one = service.wait_for_details(1, "the report is shown", |known| known.get("reports").is_some()).await;
    assert_eq!((&one["status"], &one["reports"]["people"]), (&before["status"], &json!({ "gone": 1 })), "{one}");
    assert_eq!(one["reports"]["summary"], "1 person says that it is gone; newest of 2027-01-15");
    assert!(one["notice"].as_str().unwrap().contains("1 person says that it is gone"), "{one}");
    // A report from the neighbouring network may be by the same person.
    service.reports("192.0.2.77", 1, &json!({ "seen": "gone", "how": "used" })).await.with(200);
    service.reports("198.51.100.1", 1, &json!({ "seen": "gone", "text": "An empty wall." })).await.with(201);
    let two = service.wait_for_details(1, "two are enough", |known| known["status"] == "unknown").await;
    assert_eq!(two["statusReason"], "2 people say that it is gone; newest of 2027-01-15");
    assert_eq!(two["reports"]["people"], json!({ "gone": 2 }), "{two}");
    assert!(!two.to_string().contains("An empty wall"), "a stranger's words reach an assistant: {two}");
    let near = json!({ "lat": before["lat"], "lon": before["lon"], "maxDistance": 1 });
    let list = service.call("find_nearest_bitcoin_atm", near.clone()).await.with(200);
    let listed = &list["result"]["structuredContent"]["atms"][0];
    assert_eq!((&listed["id"], &listed["status"]), (&json!(1), &json!("unknown")), "{list}");
    let mut open = near;
    open["openNow"] = json!(true);
    let list = service.call("find_nearest_bitcoin_atm", open).await.with(200);
    let is_listed = list["result"]["structuredContent"]["atms"].as_array().unwrap().iter().any(|atm| atm["id"] == 1);
    assert!(!is_listed, "a reported ATM is shown as open: {list}");
    // Reports expire after ninety days without further action.
    service.advance_clock(SignedDuration::from_hours(90 * 24));
    service.wait_for_details(1, "the reports are too old", |known| known.get("reports").is_none()).await;
}

#[tokio::test]
async fn positive_report_confirms_the_status() {
    let service = service().await;
    for from in ["192.0.2.1", "198.51.100.1"] {
        service.reports(from, 2, &json!({ "seen": "there", "how": "used" })).await.with(201);
    }
    let known = service.wait_for_details(2, "it is verified", |known| known["verifiedBy"] == "report").await;
    assert_eq!(
        (&known["verifiedAt"], &known["freshness"]),
        (&json!("2027-01-15T08:00:00Z"), &json!("live")),
        "{known}"
    );
    for from in ["203.0.113.1", "[2001:db8::1]"] {
        service.reports(from, 2, &gone()).await.with(201);
        service.advance_clock(SignedDuration::from_hours(24));
    }
    let known = service.wait_for_details(2, "it is disputed", |known| known["reports"]["disputed"] == true).await;
    let people = json!({ "gone": 2, "there": 2 });
    let known = if known["reports"]["people"] == people {
        known
    } else {
        service.wait_for_details(2, "all are counted", |known| known["reports"]["people"] == people).await
    };
    assert!(known["reports"]["summary"].as_str().unwrap().contains("(disputed)"), "{known}");
}

#[tokio::test]
async fn proof_of_work_is_accepted_once() {
    let service = service().await;
    // SHA-256 of '1|gone|2027-01-15|2682170' starts with 20 zero bits: the proof of work is precomputed.
    let worked = json!({ "seen": "gone", "how": "saw", "pow": "2682170" });
    service.reports("192.0.2.1", 1, &worked).await.with(201);
    let again = service.reports("198.51.100.1", 1, &worked).await;
    assert!(
        again.assert_error(422, "invalid_proof").is_object() && again.text.contains("used before"),
        "{}",
        again.text
    );
    for (atm, seen) in [(2, "gone"), (1, "broken")] {
        let moved = json!({ "seen": seen, "pow": "2682170" });
        service.reports("203.0.113.1", atm, &moved).await.assert_error(422, "invalid_proof");
    }
    service.advance_clock(SignedDuration::from_hours(48));
    service.reports("203.0.113.1", 1, &worked).await.assert_error(422, "invalid_proof");
}

#[tokio::test]
async fn one_network_cannot_exhaust_the_limit() {
    let service = service().await;
    // The sandbox stores nothing and applies the limits.
    let send = async |number: u32| {
        let from = format!("2001:db8:1:{number:x}::1");
        let headers = [("x-forwarded-for", from.as_str()), ("content-type", "application/json")];
        service.send(Method::POST, "/sandbox/v1/atms/1/reports", &headers, &gone().to_string()).await
    };
    let mut replies = Vec::new();
    for number in 0..620 {
        replies.push(send(number).await);
    }
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 50, "of a day");
    let refused = replies.iter().find(|reply| reply.status != 201).unwrap().assert_error(429, "rate_limited");
    assert_eq!(refused["limit"], "reports_of_network");
    service.reports("2001:db8:2::1", 1, &gone()).await.with(201);
}

#[tokio::test]
async fn report_limits_apply_per_client_and_atm() {
    let service = service().await;
    for atm in 1..=5 {
        service.reports("192.0.2.1", atm, &gone()).await.with(201);
    }
    let sixth = service.reports("192.0.2.1", 6, &gone()).await;
    let response = sixth.assert_error(429, "rate_limited");
    assert_eq!((&response["limit"], &response["retry_after"]), (&json!("reports"), &json!(3600)));
    assert_eq!(sixth.header("retry-after"), Some("3600"));
    // An address that the client puts before the proxy's entry is ignored.
    service.reports("203.0.113.9, 192.0.2.1", 6, &gone()).await.assert_error(429, "rate_limited");
    for number in 1..=3 {
        service.reports(&format!("198.51.{number}.1"), 9, &gone()).await.with(201);
    }
    let fourth = service.reports("198.51.4.1", 9, &gone()).await.assert_error(429, "rate_limited");
    assert_eq!(fourth["limit"], "reports_of_machine");
    // Repeated reports about an ATM count as the report of one person.
    for seen in ["there", "wrong_place", "wrong_hours"] {
        service.reports("198.51.5.1", 10, &json!({ "seen": seen })).await.with(201);
    }
    service.reports("198.51.6.1", 10, &gone()).await.with(201);
    service.advance_clock(SignedDuration::from_hours(24));
    service.reports("198.51.4.1", 9, &gone()).await.with(201);
    service.reports("192.0.2.1", 6, &gone()).await.with(201);
}

#[tokio::test]
async fn concurrent_reports_obey_the_limits() {
    let service = service().await;
    let race = (0..64_u64).map(async |number| service.reports("192.0.2.1", number % 12 + 1, &gone()).await.status);
    let statuses = join_all(race).await;
    let passed = statuses.iter().filter(|status| **status < 300).count();
    assert_eq!(passed, 5, "{statuses:?}");
    let race = (0..64).map(async |number| service.reports(&format!("198.51.{number}.1"), 20, &gone()).await.status);
    let statuses = join_all(race).await;
    let passed = statuses.iter().filter(|status| **status == 201).count();
    assert_eq!((passed, statuses.iter().filter(|status| **status == 429).count()), (3, 61), "{statuses:?}");
}

#[tokio::test]
async fn reports_beyond_100_an_hour_await_moderation() {
    let service = service().await;
    // Several reports of type `gone` about ATMs of one operator would count as a burst.
    let there = json!({ "seen": "there" });
    let send = async |number: u64| service.reports(&format!("198.{}.{number}.1", number % 7), number, &there).await;
    let states: Vec<_> =
        join_all((1..=110).map(send)).await.iter().map(|reply| reply.with(201)["state"].clone()).collect();
    assert_eq!(states.iter().filter(|state| **state == "new").count(), 10, "{states:?}");
    until("shown reports are counted", async || {
        let shown = service.app.atm.catalogue.snapshot();
        let shown = shown.entries().iter().filter(|entry| shown.reports(entry).is_some()).count();
        (shown == 100).then_some(())
    })
    .await;
}

#[tokio::test]
async fn invalid_report_does_not_use_the_quota() {
    let service = service().await;
    for (body, field) in [
        (json!({}), "seen"),
        (json!({ "seen": "closed" }), "seen"),
        (json!({ "seen": "gone", "how": "heard" }), "how"),
        (json!({ "seen": "gone", "at": "2030-01-01T00:00:00Z" }), "at"),
        (json!({ "seen": "other" }), "text"),
        (json!({ "seen": "gone", "text": "x".repeat(281) }), "text"),
        (json!({ "seen": "gone", "atm_id": 2 }), "atm_id"),
    ] {
        let response = service.reports("192.0.2.1", 1, &body).await.assert_error(400, "invalid_request");
        assert_eq!(response["field"], field, "{body}");
    }
    for path in [
        "/v1/atms/999999999/reports",
        "/v1/atms/x/reports",
        "/v1/atms/0/reports",
        "/v1/atms/01/reports",
        "/v1/atms/+1/reports",
    ] {
        let headers = [("x-forwarded-for", "192.0.2.1"), ("content-type", "application/json")];
        service.send(Method::POST, path, &headers, &gone().to_string()).await.assert_error(404, "atm_not_found");
    }
    let response = json!({ "seen": "gone", "pow": "0" });
    service.reports("192.0.2.1", 1, &response).await.assert_error(422, "invalid_proof");
    service.send(Method::GET, "/v1/atms/1/reports", &[], "").await.assert_error(405, "method_not_allowed");
    for atm in 1..=5 {
        service.reports("192.0.2.1", atm, &gone()).await.with(201);
    }
}

#[tokio::test]
async fn sandbox_stores_no_reports() {
    let service = service().await;
    let headers = [("content-type", "application/json")];
    let reply = service.send(Method::POST, "/sandbox/v1/atms/1/reports", &headers, &gone().to_string()).await.with(201);
    assert_eq!(reply["dry_run"], true, "{reply}");
    let kept = signpost_atm::reports::sql::list(&service.app.store, None, None, 10).await.unwrap();
    assert!(kept.is_empty(), "{kept:?}");
}

#[tokio::test]
async fn operator_key_decides_only_about_its_atms() {
    let service = service().await;
    let (acme, other) = (operator(&service, "acme").await, operator(&service, "other").await);
    let machine = json!({ "locations": [{
        "locationId": "1", "lastReportedTime": "2027-01-15T07:59:00Z",
        "address": { "street": "100 Congress Ave", "city": "Austin", "region": "TX", "country": "US",
                     "latitude": 30.2672, "longitude": -97.7431 },
        "business": { "name": "Shop 1", "hours": "24/7" },
        "status": { "isEnabled": true, "cashInEnabled": true, "cashOutEnabled": false },
    }] });
    let submit = async |body: &Value| {
        let headers = [("authorization", acme.as_str()), ("content-type", "application/json")];
        service.send(Method::POST, "/v1/atms/submissions", &headers, &body.to_string()).await.with(200)
    };
    submit(&machine).await;
    let atm = until("the machine is there", async || {
        let list = service.call("find_nearest_bitcoin_atm", json!({ "lat": 30.2672, "lon": -97.7431 })).await.with(200);
        let atms = list["result"]["structuredContent"]["atms"].as_array().unwrap().clone();
        (atms.len() == 1).then(|| atms[0]["id"].as_u64().unwrap())
    })
    .await;
    let decide = async |key: &str, body: &Value| {
        let headers = [("authorization", key), ("content-type", "application/json")];
        service.send(Method::POST, &format!("/v1/atms/{atm}/reports"), &headers, &body.to_string()).await
    };
    decide(&other, &gone()).await.assert_error(403, "atm_not_yours");
    decide("Bearer svc_live_x", &gone()).await.assert_error(401, "invalid_api_key");
    service.wait_for_details(atm, "it is open", |known| known["status"] == "open").await;
    let word = decide(&acme, &gone()).await.with(201);
    assert_eq!(word["state"], "accepted");
    let closed = service.wait_for_details(atm, "it is closed", |known| known["status"] == "permanently_closed").await;
    assert!(closed["statusReason"].as_str().unwrap().contains("its operator says that it is gone"), "{closed}");
    let near = json!({ "lat": 30.2672, "lon": -97.7431 });
    let list = service.call("find_nearest_bitcoin_atm", near.clone()).await.with(200);
    assert_eq!(list["result"]["structuredContent"]["total"], 0, "{list}");
    let counted = service.call("check_atm_status", near).await.with(200);
    assert_eq!(counted["result"]["structuredContent"]["counts"], json!({}), "{counted}");
    // The moderator rejects the operator's report and undoes that: the report applies again, and only the operator can
    // withdraw it.
    let (store, now) = (&service.app.store, service.clock.now());
    let id = ReportId::parse(word["id"].as_str().unwrap()).unwrap();
    let moderate = async |what| {
        let report = sql::find(store, &id).await.unwrap().unwrap();
        is_written(sql::moderate(store, &report, what, &Actor::Operator, now).await)
    };
    assert!(moderate(Moderation::Reject).await);
    service.wait_for_details(atm, "it is open", |known| known["status"] == "open").await;
    assert!(moderate(Moderation::Undo).await);
    service.wait_for_details(atm, "it is closed again", |known| known["status"] == "permanently_closed").await;
    assert!(!moderate(Moderation::Undo).await && !moderate(Moderation::Accept).await);
    // The operator withdraws it: with a report, and with a submission.
    decide(&acme, &json!({ "seen": "there" })).await.with(201);
    service.wait_for_details(atm, "it is open again", |known| known["status"] == "open").await;
    decide(&acme, &json!({ "seen": "broken" })).await.with(201);
    service.wait_for_details(atm, "it is out of service", |known| known["status"] == "out_of_service").await;
    service.advance_clock(SignedDuration::from_hours(1));
    let mut later = machine;
    later["locations"][0]["lastReportedTime"] = json!("2027-01-15T08:59:00Z");
    submit(&later).await;
    service.wait_for_details(atm, "it is in service again", |known| known["status"] == "open").await;
}

#[tokio::test]
async fn limits_survive_restarts_and_ips_expire() {
    let folder = tempfile::tempdir().unwrap();
    let first = server_in(folder.path(), &BEHIND_A_PROXY).await;
    for atm in 1..=5 {
        first.reports("192.0.2.1", atm, &gone()).await.with(201);
    }
    first.stop().await;
    let second = server_in(folder.path(), &BEHIND_A_PROXY).await;
    assert!(second.details(1).await.get("reports").is_some(), "a report was lost");
    second.reports("192.0.2.1", 6, &gone()).await.assert_error(429, "rate_limited");
    second.reports("198.51.100.1", 1, &gone()).await.with(201);
    let addresses = "SELECT COUNT(*) FROM atm_reports WHERE address IS NOT NULL OR network IS NOT NULL";
    let count = async || second.app.store.read_one(addresses, vec![]).await.unwrap().unwrap().int(0).unwrap();
    assert_eq!(count().await, 6);
    second.advance_clock(SignedDuration::from_hours(23));
    signpost_atm::reports::sql::sweep(&second.app.store, second.app.clock.now()).await.unwrap();
    assert_eq!(count().await, 0);
    let salts = "SELECT COUNT(*) FROM atm_report_salts";
    second.advance_clock(SignedDuration::from_hours(48));
    signpost_atm::reports::sql::sweep(&second.app.store, second.app.clock.now()).await.unwrap();
    assert_eq!(second.app.store.read_one(salts, vec![]).await.unwrap().unwrap().int(0).unwrap(), 0);
    second.wait_for_details(1, "both are counted", |known| known["status"] == "unknown").await;
}
