//! Diagnosis of a running server from the command line: `status` and `doctor`.

use std::path::Path;

use axum::http::StatusCode;
use serde_json::{Value, json};
use signpost::doctor::Installation;
use signpost_platform::outbound::{NameResolver, Outbound};
use signpost_store::{Statement, is_postgres};

use crate::harness::{CommandOutput, Endpoint, Program, Service, embedded_database, text};
use crate::hosted::{create_session, post_answer, shop};

async fn run(folder: &Path, arguments: &[&str]) -> CommandOutput {
    Program::within(folder, arguments).run_async().await
}

/// Runs a command that exits with 1 and returns its JSON document.
async fn refused(folder: &Path, arguments: &[&str]) -> Value {
    let ended = run(folder, &[arguments, &["--json"]].concat()).await;
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {} {}", ended.out, ended.err))
}

/// Returns the name and the grade of each check.
fn grades(document: &Value) -> Vec<(String, String)> {
    let checks = document["checks"].as_array().expect("a list").iter();
    checks.map(|check| (text(check, "check").to_owned(), text(check, "grade").to_owned())).collect()
}

/// Returns the checks with this grade, without `latency`, which depends on the disk load of parallel tests.
fn checks_that(document: &Value, grade: &str) -> Vec<String> {
    let found = grades(document).into_iter().filter(|(check, it)| it == grade && check != "latency");
    found.map(|(check, _)| check).collect()
}

/// Returns the `attention` entries of `status`, without `latency`.
fn attention(status: &Value) -> Vec<&Value> {
    let all = status["attention"].as_array().expect("a list").iter();
    all.filter(|one| one["check"] != "latency").collect()
}

#[test]
fn status_fails_if_the_server_is_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let serve = ["serve", "--json", "--listen", "127.0.0.1:0"];
    let mut server = Program::within(folder.path(), &serve).start_server(&[]);
    let status = Program::within(folder.path(), &["status", "--json"]).run();
    let status: Value = serde_json::from_str(&status.out).expect("JSON");
    let address = server.address("public_address");
    let version = env!("CARGO_PKG_VERSION");
    let expected = json!({ "address": address, "answering": true, "version": version, "public_address": address });
    assert_eq!((&status["server"], &status["version"]), (&expected, &json!(version)));
    assert_eq!((&status["catalogue"]["sample"], attention(&status)), (&json!(true), Vec::new()));
    assert!(status["places"]["places"].as_u64() > Some(1000) && status["advisories"]["rows"].as_u64() > Some(0));
    let shown = Program::within(folder.path(), &["status"]).run();
    let is_slow = shown.out.contains("latency: ");
    assert!(is_slow || shown.code == Some(0) && shown.out.ends_with("Nothing needs you.\n"), "{}", shown.out);
    let doctor = Program::within(folder.path(), &["doctor", "--json"]).run().json();
    assert_eq!((&doctor["failed"], checks_that(&doctor, "warn")), (&json!(0), Vec::new()), "{doctor}");
    let outside = Program::within(folder.path(), &["doctor", &address, "--json"]).run().json();
    assert_eq!((&outside["failed"], &outside["warned"]), (&json!(0), &json!(0)), "{outside}");
    let passed = checks_that(&outside, "pass");
    for check in ["health", "TLS", "clock", "headers", "login page", "public URL", "proxy", "MCP", "tools"] {
        assert!(passed.iter().any(|it| it == check), "{check}: {passed:?}");
    }
    server.terminate();
    assert!(server.wait_for_exit().0.success());
    // Another server may use the default address.
    let ended = Program::within(folder.path(), &["status"]).env("SIGNPOST_LISTEN", "127.0.0.1:1").run();
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("no server answers at") && ended.out.contains("signpost serve"), "{}", ended.out);
    assert_eq!(ended.err, "signpost: to look at: 1\n");
    let ended = Program::within(folder.path(), &["doctor", &address]).run();
    assert!(ended.code == Some(1) && ended.out.contains("fail  health"), "{}", ended.out);
}

#[tokio::test]
async fn status_counts_the_rows_of_the_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    let integrator = service.integrator().await;
    let mut endpoint = Endpoint::start().await;
    endpoint.respond_with(StatusCode::GONE);
    shop(&integrator, &endpoint.url("/hook")).await;
    let session = create_session(&integrator, "register").await;
    post_answer(&integrator, &session, &service.phone().answer(&session)).await.with(200);
    endpoint.next_request().await;
    service.wait_for_attempts(1).await;
    create_session(&integrator, "login").await;
    let disabled = "INSERT INTO endpoints (account, environment, endpoint, failing_since, next_probe_at, disabled_at)
                    VALUES ('acme', 'sandbox', 'https://dead.test', 1, 1, 1)";
    service.app.store.write([Statement::new(disabled, Vec::new())]).await.expect("a database");
    let status = refused(folder.path(), &["status"]).await;
    let domains = json!({ "live": 0, "sandbox": 1, "verified": 0, "live_hosted": 0, "missing_proof": [] });
    assert_eq!((&status["domains"], &status["users"]), (&domains, &json!(1)));
    let events =
        json!({ "waiting": 0, "failed": 1, "failing_endpoints": 1, "disabled_endpoints": ["https://dead.test"] });
    assert_eq!((&status["events"], &status["pending_sessions"]), (&events, &json!(1)));
    let [attention] = attention(&status)[..] else { panic!("{status}") };
    assert_eq!((text(attention, "check"), text(attention, "grade")), ("events", "warn"));
    assert!(text(attention, "found").contains("https://dead.test"));
    // Warnings do not fail the doctor.
    let doctor = run(folder.path(), &["doctor", "--json"]).await.json();
    assert_eq!((checks_that(&doctor, "warn"), checks_that(&doctor, "fail")), (vec!["events".to_owned()], Vec::new()));
}

#[test]
fn doctor_reports_a_missing_database_and_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Program::within(folder.path(), &["status"]).run();
    assert!(ended.failed(1).contains("no database in the folder"));
    // A free port.
    let free =
        std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").to_string();
    let doctor = |listen: &str| {
        let ended = Program::within(folder.path(), &["doctor", "--json"]).env("SIGNPOST_LISTEN", listen).run();
        assert_eq!(ended.code, Some(1));
        serde_json::from_str::<Value>(&ended.out).expect("JSON")
    };
    let found = doctor(&free);
    assert_eq!(checks_that(&found, "fail"), ["database", "server"]);
    assert!(checks_that(&found, "pass").contains(&"place names".to_owned()));
    assert!(!folder.path().join("signpost-data").exists(), "it made something");
    embedded_database(&folder.path().join("signpost-data"));
    assert_eq!(checks_that(&doctor(&free), "fail"), ["server"]);
}

#[tokio::test]
async fn doctor_detects_a_foreign_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let endpoint = Endpoint::start().await;
    let found = refused(folder.path(), &["doctor", &endpoint.url("")]).await;
    assert!(checks_that(&found, "fail").contains(&"health".to_owned()), "{found}");
    for wrong in ["login.example", "ftp://a.test", "https://user@a.test", "https://a.test/?x=1"] {
        assert_eq!(run(folder.path(), &["doctor", wrong]).await.code, Some(2), "{wrong}");
    }
    let closed = refused(folder.path(), &["doctor", "http://127.0.0.1:1"]).await;
    assert_eq!(grades(&closed), [("health".to_owned(), "fail".to_owned())]);
}

/// Runs on every database engine of the test run.
#[tokio::test]
async fn installation_counts_match_the_database() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    shop(&integrator, "http://127.0.0.1:1/hook").await;
    let session = create_session(&integrator, "register").await;
    post_answer(&integrator, &session, &service.phone().answer(&session)).await.with(200);
    create_session(&integrator, "login").await;
    let (config, now) = (&service.app.config, service.clock.now());
    let outbound = Outbound::new(&NameResolver::System);
    let look = Installation::inspect(config, Ok(service.app.store.clone()), &outbound, None, now).await;
    assert_eq!(look.dependencies.database_clock.is_some(), is_postgres(&config.database_url()));
    let seen = look.database.expect("it is there");
    assert_eq!((seen.domains.sandbox, seen.users, seen.pending_sessions), (1, 1, 1));
    assert_eq!((seen.events.waiting, seen.events.failed), (1, 0));
    assert!(seen.events.oldest_waiting_at.is_some() && seen.unreadable_secrets.is_none());
}
