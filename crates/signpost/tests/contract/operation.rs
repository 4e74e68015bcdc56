//! Operator functions: audit log, key rotation, encrypted secrets, backups and metrics.

use std::fs;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};
use signpost_login::domains::seal::Seal;
use signpost_platform::accounts::audit::{self, AuditEntry, refusals};
use signpost_platform::accounts::keys::used;
use signpost_store::Statement;

use crate::harness::{Endpoint, Program, Service, embedded_database, http, send, text, until};

const KEY: &str = "0101010101010101010101010101010101010101010101010101010101010101";
const OTHER: &str = "0202020202020202020202020202020202020202020202020202020202020202";

fn run(folder: &Path, arguments: &[&str]) -> Value {
    let data_dir = folder.to_str().expect("a path");
    Program::within(folder, &[&["--data-dir", data_dir, "--json"], arguments].concat()).run().json()
}

async fn audit(service: &Service) -> Vec<AuditEntry> {
    audit::sql::list(&service.app.store, None, Timestamp::UNIX_EPOCH, "", "", 1000).await.expect("a database")
}

#[tokio::test]
async fn audit_log_records_actors_and_actions() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let (integrator, key) = service.integrator_with_id("acme", signpost_platform::accounts::Environment::Sandbox).await;
    let domain = integrator.register_domain("shop.test").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    integrator.patch(&path, &json!({ "handler": "hosted" })).await.with(200);
    run(folder.path(), &["domains", "secret", text(&domain, "id"), "--rotate"]);
    run(folder.path(), &["domains", "secret", text(&domain, "id"), "--activate"]);
    assert_eq!(send(integrator.request(Method::DELETE, &format!("{path}/users"))).await.status, 204);
    assert_eq!(send(integrator.request(Method::DELETE, &path)).await.status, 204);
    run(folder.path(), &["keys", "revoke", key.as_str()]);
    let response = audit(&service).await;
    let expected = [
        ("key.created", "operator"),
        ("domain.registered", key.as_str()),
        ("domain.changed", key.as_str()),
        ("users.deleted", key.as_str()),
        ("domain.deleted", key.as_str()),
    ];
    // The command line uses another clock, so its entries are checked separately.
    let own = |entry: &&AuditEntry| expected.iter().any(|(action, _)| *action == entry.action);
    let mut own: Vec<_> =
        response.iter().filter(own).map(|entry| (entry.action.as_str(), entry.actor.as_str())).collect();
    // All have the time of the stopped clock, so their order is undefined.
    let mut expected = expected.to_vec();
    own.sort_unstable();
    expected.sort_unstable();
    assert_eq!(own, expected);
    for action in ["secret.rotated", "secret.activated", "key.revoked"] {
        assert!(
            response.iter().any(|entry| entry.action == action && entry.actor == "operator"),
            "{action}: {response:?}"
        );
    }
    let changed = response.iter().find(|entry| entry.action == "domain.changed").expect("an entry");
    assert_eq!((&changed.details, changed.account.as_str()), (&json!({ "handler": "hosted" }), "acme"));
}

#[tokio::test]
async fn rejections_are_counted_by_address() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    for _ in 0..5 {
        integrator.with_key(Some("svc_test_x")).get("/domains").await.assert_error(401, "invalid_api_key");
    }
    integrator.with_key(None).get("/domains").await.assert_error(401, "invalid_api_key");
    refusals::flush(&service.app.refusals, &service.app.store, service.app.clock.now()).await.expect("a database");
    let refused: Vec<_> = audit(&service).await.into_iter().filter(|entry| entry.action == "access.refused").collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!((refused[0].actor.as_str(), refused[0].object.as_str()), ("127.0.0.1", "invalid_api_key"));
    assert_eq!(refused[0].details, json!({ "count": 6 }));
}

#[tokio::test]
async fn other_forwarding_header_is_ignored() {
    let (forwarded, x_forwarded_for) = ("forwarded", "x-forwarded-for");
    let limited = [("rate_limit_domains", "3/m"), ("trusted_proxies", "127.0.0.1")];
    let turned = [&limited[..], &[("forwarded_header", "forwarded")]].concat();
    for (settings, written, forged) in
        [(&limited[..], x_forwarded_for, forwarded), (&turned, forwarded, x_forwarded_for)]
    {
        let service = Service::with(settings).await;
        let named = |header: &str, address: &str| {
            if header == forwarded { format!("for={address}") } else { address.to_owned() }
        };
        let mut found = Vec::new();
        for number in 0..5 {
            let request = service.visitor().request(Method::GET, "/v1/domains");
            let request = request.header(forged, named(forged, &format!("203.0.113.{number}")));
            found.push(send(request.header(written, named(written, "198.51.100.7"))).await.status);
        }
        assert_eq!(found, [401, 401, 401, 429, 429], "{forged}");
        refusals::flush(&service.app.refusals, &service.app.store, service.app.clock.now()).await.expect("a database");
        let response = audit(&service).await;
        let actors: Vec<_> = response.iter().map(|entry| (entry.actor.as_str(), &entry.details["count"])).collect();
        assert_eq!(actors, [("198.51.100.7", &json!(5))], "{forged}");
    }
}

#[tokio::test]
async fn audit_log_is_exported_as_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    embedded_database(folder.path());
    for name in ["one", "two", "three"] {
        run(folder.path(), &["keys", "create", "--environment", "sandbox", "--name", name, "--account", name]);
    }
    let file = folder.path().join("audit.jsonl");
    let response = run(folder.path(), &["audit", "export", file.to_str().expect("a path")]);
    assert_eq!(response["entries"], 3);
    let lines: Vec<Value> =
        fs::read_to_string(&file).expect("a file").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let accounts: Vec<_> = lines.iter().map(|line| text(line, "account")).collect();
    assert_eq!(accounts, ["one", "two", "three"]);
    let listed = run(folder.path(), &["audit", "list", "--account", "two", "--since", "1d"]);
    assert_eq!(listed["entries"].as_array().map(Vec::len), Some(1));
    assert_eq!(run(folder.path(), &["audit", "list", "--action", "key.revoked"])["entries"], json!([]));
    let data_dir = folder.path().to_str().expect("a path");
    Program::within(folder.path(), &["--data-dir", data_dir, "audit", "list", "--since", "yesterday"]).run().failed(2);
}

#[tokio::test]
async fn key_rotation_has_a_grace_period() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = signpost_platform::clock::Clock::manual(signpost_platform::clock::Clock::System.now());
    let service = Service::on(folder.path(), &clock, &[]).await;
    let made = run(folder.path(), &["keys", "create", "--environment", "sandbox", "--name", "shop"]);
    let rotated = run(folder.path(), &["keys", "rotate", text(&made, "id"), "--grace", "2"]);
    assert_eq!((&rotated["name"], &rotated["replaces"]), (&json!("shop"), &made["id"]));
    let visitor = service.integrator().await;
    let [old, new] = [&made, &rotated].map(|key| visitor.with_key(Some(text(key, "key"))));
    new.register_domain("shop.test").await;
    old.get("/domains").await.with(200);
    used::flush(&service.app.keys.used, &service.app.store).await.expect("a database");
    let keys = run(folder.path(), &["keys", "list"]);
    let of = |id: &Value| keys["keys"].as_array().unwrap().iter().find(|key| key["id"] == *id).unwrap().clone();
    assert!(of(&made["id"])["expires_at"].is_string() && of(&made["id"])["last_used_at"].is_string());
    assert_eq!(of(&rotated["id"]).get("expires_at"), None);
    // The command used the system clock.
    service.advance_clock(SignedDuration::from_hours(2) + SignedDuration::from_mins(10));
    old.get("/domains").await.assert_error(401, "invalid_api_key");
    new.get("/domains").await.with(200);
    let data_dir = folder.path().to_str().expect("a path");
    let again = ["--data-dir", data_dir, "keys", "rotate", "key_x"];
    Program::within(folder.path(), &again).run().failed(1);
}

#[tokio::test]
async fn encrypted_secrets_still_sign_events() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Service::clock();
    let mut endpoint = Endpoint::start().await;
    let plain = Service::on(folder.path(), &clock, &[]).await;
    let integrator = plain.integrator().await;
    // More than one batch of encryption.
    for n in 0..120 {
        integrator.register_domain(&format!("shop-{n}.test")).await;
    }
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let secret = text(&domain, "webhook_secret").to_owned();
    plain.stop().await;
    let seal = |key: &str, old: &str| {
        let data_dir = folder.path().to_str().expect("a path");
        let program = Program::within(folder.path(), &["--data-dir", data_dir, "--json", "domains", "seal"]);
        program.env("SIGNPOST_SEAL_KEY", key).env("SIGNPOST_SEAL_KEY_OLD", old).run()
    };
    assert_eq!(seal(KEY, "").json(), json!({ "sealed": 121, "signing_keys": 0 }));
    assert_eq!(seal(KEY, "").json(), json!({ "sealed": 0, "signing_keys": 0 }));
    assert_eq!(seal(OTHER, KEY).json(), json!({ "sealed": 121, "signing_keys": 0 }));
    seal(KEY, "").failed(1);
    let sealed = Service::on(folder.path(), &clock, &[("seal_key", OTHER)]).await;
    let rows = sealed
        .app
        .store
        .read("SELECT webhook_secret FROM domains WHERE account = 'acme'", Vec::new())
        .await
        .expect("a database");
    assert!(rows[0].text(0).expect("a text").starts_with("sealed1:"));
    let integrator = sealed.integrator().await;
    integrator.post_nothing(&format!("/domains/{}/test-event", text(&domain, "id"))).await.with(202);
    let arrived = endpoint.next_request().await;
    let secret = signpost_auth::WebhookSecret::parse(&secret).expect("a secret");
    assert!(secret.verify_x_svc_signature(arrived.header("x-svc-signature"), &arrived.body));
    let other = integrator.register_domain("other.test").await;
    assert!(text(&other, "webhook_secret").starts_with("whsec_"));
    sealed.stop().await;
    let config = crate::harness::config(&[("data_dir", folder.path().to_str().expect("a path"))]);
    let error = signpost::server::HttpServer::open(config, clock).await.expect_err("the key is missing");
    assert!(format!("{error:#}").contains("SIGNPOST_SEAL_KEY"), "{error:#}");
}

#[tokio::test]
async fn unreadable_secrets_prevent_the_start() {
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Service::clock());
    let settings = [("seal_key", KEY)];
    let service = Service::on(folder.path(), &clock, &settings).await;
    let integrator = service.integrator().await;
    // More than one batch of reads.
    for n in 0..120 {
        integrator.register_domain(&format!("shop-{n}.test")).await;
    }
    let mut ids = Vec::new();
    for name in ["current.test", "next.test", "gone.test", "fine.test"] {
        ids.push(text(&integrator.register_domain(name).await, "id").to_owned());
    }
    assert_eq!(send(integrator.request(Method::DELETE, &format!("/domains/{}", ids[2]))).await.status, 204);
    let foreign = Seal::new(Some(&[9; 32]), None);
    for (sql, id) in [
        ("UPDATE domains SET webhook_secret = $1 WHERE id = $2", &ids[0]),
        ("UPDATE domains SET next_webhook_secret = $1 WHERE id = $2", &ids[1]),
        ("UPDATE deleted_domains SET webhook_secret = $1 WHERE id = $2", &ids[2]),
    ] {
        let secret = foreign.encrypt("whsec_x", id, [1; 12]);
        service
            .app
            .store
            .write([Statement::new(sql, vec![secret.into(), id.as_str().into()])])
            .await
            .expect("a database");
    }
    // Requests that return no secret read none.
    let listed = integrator.get("/domains").await.with(200);
    assert_eq!(listed["domains"].as_array().map(Vec::len), Some(123));
    integrator.get(&format!("/domains/{}", ids[0])).await.with(200);
    integrator.create_session("current.test").await;
    service.stop().await;
    let settings = [("data_dir", folder.path().to_str().expect("a path")), ("seal_key", KEY)];
    let error =
        signpost::server::HttpServer::open(crate::harness::config(&settings), clock).await.expect_err("a refusal");
    assert!(format!("{error:#}").contains("cannot decrypt the webhook secrets of 3 of 124 domains"), "{error:#}");
}

#[tokio::test]
async fn backup_contains_acknowledged_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let copy = folder.path().join("copy.sqlite");
    let response = run(folder.path(), &["backup", copy.to_str().expect("a path")]);
    assert_eq!(response["bytes"].as_u64(), fs::metadata(&copy).ok().map(|file| file.len()));
    integrator.create_session("shop.test").await;
    let again = ["--data-dir", folder.path().to_str().expect("a path"), "backup", copy.to_str().expect("a path")];
    Program::within(folder.path(), &again).run().failed(1);
    let restored = format!("sqlite:{}", copy.display());
    let restored = Service::open(&[("database_url", &restored)], service.clock.clone()).await;
    let there = restored.integrator().await;
    let all = there.get("/sessions").await.with(200);
    assert_eq!(all["sessions"].as_array().map(Vec::len), Some(1));
    assert_eq!(all["sessions"][0]["id"], session["id"]);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let nothing = ["backup", "copy", "--data-dir", elsewhere.path().to_str().expect("a path")];
    Program::within(elsewhere.path(), &nothing).run().failed(1);
    assert!(!elsewhere.path().join("copy").exists());
}

#[tokio::test]
async fn metrics_have_a_separate_address() {
    let service = Service::with(&[("metrics_listen", "127.0.0.1:0")]).await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    integrator.get("/sessions/no-such-path/at/all").await.assert_error(404, "not_found");
    service.visitor().get("/metrics").await.assert_error(404, "not_found");
    let address = service.metrics_listen.expect("an address");
    let read = || async {
        let response = http().get(format!("http://{address}/metrics")).send().await.expect("an answer");
        assert_eq!(
            (response.status().as_u16(), &response.headers()["x-content-type-options"]),
            (200, &HeaderValue::from_static("nosniff"))
        );
        response.text().await.expect("a text")
    };
    let nothing = http().get(format!("http://{address}/")).send().await.expect("an answer");
    assert_eq!(
        (nothing.status().as_u16(), &nothing.headers()["x-content-type-options"]),
        (404, &HeaderValue::from_static("nosniff"))
    );
    let text = until("an attempt is counted", async || {
        Some(read().await).filter(|text| text.contains("signpost_delivery_attempts_total{outcome=\"retry\"} 1"))
    })
    .await;
    for line in [
        "signpost_http_requests_total{method=\"POST\",route=\"/sandbox/v1/sessions\",status=\"201\"} 1",
        "signpost_http_requests_total{method=\"GET\",route=\"none\",status=\"404\"} 2",
        "signpost_sessions_total{environment=\"sandbox\",event=\"created\"} 1",
        "signpost_sessions_total{environment=\"sandbox\",event=\"authenticated\"} 1",
        "signpost_deliveries_pending 1",
        "signpost_redis_up 1",
        "# EOF",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[tokio::test]
async fn metrics_omit_gauges_without_a_database() {
    let service = Service::with(&[("metrics_listen", "127.0.0.1:0")]).await;
    let address = service.metrics_listen.expect("an address");
    service.app.store.close().await;
    let response = http().get(format!("http://{address}/metrics")).send().await.expect("a response");
    assert_eq!(response.status().as_u16(), 200);
    let text = response.text().await.expect("a text");
    assert!(text.contains("signpost_machines ") && !text.contains("signpost_deliveries_pending"), "{text}");
}

#[tokio::test]
async fn used_metrics_address_prevents_the_start() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let program = Program::within(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--services", "auth"]);
    let ended = program.env("SIGNPOST_METRICS_LISTEN", &address).run();
    assert!(ended.failed(1).contains("for metrics"), "{ended:?}");
}
