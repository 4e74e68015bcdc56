//! OpenID Connect clients of hosted domains (docs/api.md, Clients).

use futures_util::future::join_all;
use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_openid::clients::{Client, sql};
use signpost_openid::ids::ClientId;
use signpost_openid::jobs;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::{self, AuditEntry};
use signpost_store::{Statement, params};

use crate::harness::{Integrator, Reply, Service, UNREACHABLE_URL, send, text};
use crate::hosted::shop;

const WIKI: &str = "https://wiki.test/callback";

fn path(domain: &Value) -> String {
    format!("/domains/{}/clients", text(domain, "id"))
}

/// Creates a client with the required settings only.
pub(crate) async fn create(integrator: &Integrator, domain: &Value) -> Value {
    integrator.post(&path(domain), json!({ "redirect_uris": [WIKI] })).await.with(201)
}

/// Adds clients to a domain until only `but` more are allowed.
pub(crate) async fn fill_clients(service: &Service, domain: &Value, but: i64) {
    const FILL: &str = "
        WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1000 - $2)
        INSERT INTO openid_clients (id, domain_id, settings, created_at) SELECT 'cli_' || number, $1, '', 0 FROM numbers";
    let filled = service.app.store.write([Statement::expect_row(FILL, params![text(domain, "id"), but])]).await;
    assert!(filled.expect("a database").is_committed());
}

async fn delete(integrator: &Integrator, path: &str) -> Reply {
    send(integrator.request(Method::DELETE, path)).await
}

/// Reads the client from the database.
async fn stored(service: &Service, client: &Value) -> Client {
    let id = ClientId::parse(text(client, "client_id")).expect("an id");
    sql::find_in_any_domain(&service.app.store, &id).await.expect("a database").expect("a client")
}

async fn audit_entries(service: &Service, action: &str) -> Vec<AuditEntry> {
    let all = audit::sql::list(&service.app.store, None, jiff::Timestamp::UNIX_EPOCH, "", action, 1000).await;
    all.expect("a database")
}

#[tokio::test]
async fn client_secret_is_returned_once() {
    let service = Service::with(&[("public_url", "https://login.test")]).await;
    for (environment, base) in
        [(Environment::Sandbox, "https://login.test/sandbox"), (Environment::Live, "https://login.test")]
    {
        let (integrator, key) = service.integrator_with_id("acme", environment).await;
        let domain = shop(&integrator, "https://shop.test/hook").await;
        let created = create(&integrator, &domain).await;
        let secret = text(&created, "client_secret");
        let client = stored(&service, &created).await;
        let now = service.clock.now();
        assert!(client.accepts_secret(secret, now) && !client.accepts_secret(&secret[1..], now));
        let mut expected = json!({
            "client_id": created["client_id"], "issuer": format!("{base}/{}", text(&domain, "id")), "public": false,
            "redirect_uris": [WIKI], "post_logout_uris": [], "alg": "RS256", "email": "synthetic", "pkce": true,
            "trusted": false, "created_at": created["created_at"],
        });
        let one = format!("{}/{}", path(&domain), text(&created, "client_id"));
        assert_eq!(integrator.get(&one).await.with(200), expected);
        assert_eq!(integrator.get(&path(&domain)).await.with(200), json!({ "clients": [expected] }));
        assert_eq!(integrator.patch(&one, &json!({})).await.with(200), expected);
        expected["client_secret"] = secret.into();
        assert_eq!(created, expected);
        let [entry] = &audit_entries(&service, "client.created").await[..] else { panic!("one entry") };
        assert_eq!((entry.actor.as_str(), &*entry.object), (key.as_str(), text(&created, "client_id")));
        assert_eq!((entry.account.as_str(), entry.environment), ("acme", Some(environment)));
        assert!(!entry.details.to_string().contains("sgp_cs_"), "{}", entry.details);
        assert_eq!(delete(&integrator, &one).await.status, 204);
        delete(&integrator, &one).await.assert_error(404, "client_not_found");
        integrator.get(&one).await.assert_error(404, "client_not_found");
        let forget = Statement::expect_row("DELETE FROM audit WHERE action = 'client.created'", Vec::new());
        assert!(service.app.store.write([forget]).await.expect("a database").is_committed());
    }
    assert_eq!(audit_entries(&service, "client.deleted").await.len(), 2);
}

#[tokio::test]
async fn patch_changes_only_the_given_settings() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, UNREACHABLE_URL).await;
    let mut settings = json!({
        "name": " Ann's\u{202e} app", "public": true, "redirect_uris": ["com.example.app:/cb", "http://127.0.0.1/cb"],
        "post_logout_uris": ["com.example.app:/out"], "alg": "ES256", "email": "none", "pkce": true, "trusted": true,
        "allow": ["group: staff", "*", "0279BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798"],
    });
    let created = integrator.post(&path(&domain), &settings).await.with(201);
    assert_eq!(created.get("client_secret"), None);
    settings["name"] = "Ann's app".into();
    settings["allow"] =
        json!(["group:staff", "*", "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"]);
    let one = format!("{}/{}", path(&domain), text(&created, "client_id"));
    let with = |changes: &Value| {
        let mut expected = created.clone();
        for (name, value) in settings.as_object().expect("an object").iter().chain(changes.as_object().expect("one")) {
            match value {
                Value::Null => drop(expected.as_object_mut().expect("an object").remove(name)),
                value => expected[name] = value.clone(),
            }
        }
        expected
    };
    assert_eq!(created, with(&json!({})));
    let mut sum = json!({});
    for change in [
        json!({ "name": null }),
        json!({ "allow": null, "trusted": false }),
        json!({ "redirect_uris": [WIKI], "post_logout_uris": [] }),
        json!({ "alg": "RS256", "email": "synthetic" }),
        json!({ "name": "Wiki", "allow": ["*"], "pkce": true }),
    ] {
        sum.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        assert_eq!(integrator.patch(&one, &change).await.with(200), with(&sum), "{change}");
        assert_eq!(integrator.get(&one).await.with(200), with(&sum), "{change}");
    }
    let entries = audit_entries(&service, "client.changed").await;
    assert!(entries.iter().any(|entry| entry.details == json!({ "allow": null, "trusted": false })), "{entries:?}");
    assert_eq!(entries.len(), 5);
}

#[tokio::test]
async fn invalid_settings_change_nothing() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, UNREACHABLE_URL).await;
    let created = create(&integrator, &domain).await;
    let one = format!("{}/{}", path(&domain), text(&created, "client_id"));
    let many: Vec<_> = (0..21).map(|number| format!("https://a.test/{number}")).collect();
    for (field, value) in [
        ("redirect_uris", json!([])),
        ("redirect_uris", json!("https://a.test/")),
        ("redirect_uris", json!(["http://a.test/"])),
        ("redirect_uris", json!(["https://a.test/#x"])),
        ("redirect_uris", json!(["https://ann@a.test/"])),
        ("redirect_uris", json!(["javascript:alert(1)"])),
        ("redirect_uris", json!(["com.example.app:/cb"])),
        ("redirect_uris", json!([WIKI, WIKI])),
        ("redirect_uris", json!(many)),
        ("post_logout_uris", json!(["http://a.test/"])),
        ("post_logout_uris", json!(["com.example.app:/cb"])),
        ("name", json!("")),
        ("name", json!("x".repeat(61))),
        ("alg", json!("none")),
        ("alg", json!("HS256")),
        ("email", json!("asked")),
        ("pkce", json!("false")),
        ("trusted", json!(1)),
        ("allow", json!([])),
        ("allow", json!(["ann"])),
        ("allow", json!(["group:a,b"])),
        ("allow", json!("*")),
        ("client_secret", json!("sgp_cs_mine")),
        ("token_endpoint_auth_method", json!("none")),
        ("token_endpoint_auth_method", json!(["any"])),
    ] {
        integrator.patch(&one, &json!({ field: value })).await.assert_invalid_field(field);
        let mut body = json!({ "redirect_uris": [WIKI] });
        body[field] = value;
        integrator.post(&path(&domain), &body).await.assert_invalid_field(field);
    }
    integrator.post(&path(&domain), json!({})).await.assert_invalid_field("redirect_uris");
    integrator.patch(&one, &json!({ "public": true })).await.assert_invalid_field("public");
    let unsafe_one = json!({ "redirect_uris": [WIKI], "public": true, "pkce": false });
    integrator.post(&path(&domain), &unsafe_one).await.assert_invalid_field("pkce");
    let without_secret = json!({ "redirect_uris": [WIKI], "public": true, "token_endpoint_auth_method": "any" });
    integrator.post(&path(&domain), &without_secret).await.assert_invalid_field("token_endpoint_auth_method");
    integrator.post(&format!("{one}/rotate"), json!({ "now": "yes" })).await.assert_invalid_field("now");
    integrator.post(&format!("{one}/rotate"), json!({ "grace": 1 })).await.assert_invalid_field("grace");
    let seen = integrator.get(&path(&domain)).await.with(200);
    assert_eq!(seen["clients"].as_array().map(Vec::len), Some(1));
    assert!(stored(&service, &created).await.accepts_secret(text(&created, "client_secret"), service.clock.now()));
    for action in ["client.changed", "client.rotated"] {
        assert!(audit_entries(&service, action).await.is_empty(), "{action}");
    }
}

#[tokio::test]
async fn clients_require_a_hosted_domain() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, UNREACHABLE_URL).await;
    let created = create(&integrator, &domain).await;
    let one = format!("{}/{}", path(&domain), text(&created, "client_id"));
    let verified = json!({ "redirect_uris": [WIKI], "email": "verified" });
    integrator.post(&path(&domain), &verified).await.assert_error(422, "domain_not_verified");
    integrator.patch(&one, &verified).await.assert_error(422, "domain_not_verified");
    let prove = Statement::expect_row("UPDATE domains SET verified_at = 1 WHERE id = $1", params![text(&domain, "id")]);
    assert!(service.app.store.write([prove]).await.expect("a database").is_committed());
    assert_eq!(integrator.post(&path(&domain), &verified).await.with(201)["email"], "verified");
    assert_eq!(integrator.patch(&one, &verified).await.with(200)["email"], "verified");

    let handler = json!({ "handler": "direct" });
    integrator.patch(&format!("/domains/{}", text(&domain, "id")), &handler).await.with(200);
    let new = json!({ "redirect_uris": [WIKI] });
    integrator.post(&path(&domain), &new).await.assert_error(422, "domain_not_hosted");
    integrator.patch(&one, &json!({ "name": "Wiki" })).await.assert_error(422, "domain_not_hosted");
    integrator.post_nothing(&format!("{one}/rotate")).await.assert_error(422, "domain_not_hosted");
    // Existing clients can still be read and deleted.
    integrator.get(&one).await.with(200);
    assert_eq!(delete(&integrator, &one).await.status, 204);
}

#[tokio::test]
async fn clients_of_other_accounts_are_not_found() {
    let settings = [("allow_private_webhooks", "true"), ("public_url", "https://login.test")];
    let service = Service::with(&settings).await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, UNREACHABLE_URL).await;
    let created = create(&integrator, &domain).await;
    let own = format!("{}/{}", path(&domain), text(&created, "client_id"));
    let rival = service.integrator_of("rival", Environment::Sandbox).await;
    let live = service.integrator_of("acme", Environment::Live).await;
    let (rivals, lives) = (shop(&rival, UNREACHABLE_URL).await, shop(&live, UNREACHABLE_URL).await);
    let other = |domain: &Value| format!("{}/{}", path(domain), text(&created, "client_id"));
    for (stranger, one, code) in [
        (&rival, own.clone(), "domain_not_found"),
        (&live, own.clone(), "domain_not_found"),
        (&rival, other(&rivals), "client_not_found"),
        (&live, other(&lives), "client_not_found"),
        (&integrator, format!("{}/cli_{}", path(&domain), "0".repeat(36)), "client_not_found"),
        (&integrator, format!("{}/x", path(&domain)), "client_not_found"),
        (&integrator, own.replace("dom_", "cli_"), "domain_not_found"),
    ] {
        stranger.get(&one).await.assert_error(404, code);
        stranger.patch(&one, &json!({ "name": "Mallory" })).await.assert_error(404, code);
        stranger.post_nothing(&format!("{one}/rotate")).await.assert_error(404, code);
        delete(stranger, &one).await.assert_error(404, code);
    }
    for stranger in [&rival, &live] {
        stranger.get(&path(&domain)).await.assert_error(404, "domain_not_found");
        let new = json!({ "redirect_uris": [WIKI] });
        stranger.post(&path(&domain), &new).await.assert_error(404, "domain_not_found");
    }
    assert_eq!(rival.get(&path(&rivals)).await.with(200), json!({ "clients": [] }));
    let client = stored(&service, &created).await;
    assert!(client.accepts_secret(text(&created, "client_secret"), service.clock.now()));
    assert_eq!(client.settings.name, None);
}

#[tokio::test]
async fn old_secret_is_valid_for_a_day() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, UNREACHABLE_URL).await;
    let created = create(&integrator, &domain).await;
    let one = format!("{}/{}", path(&domain), text(&created, "client_id"));
    let accepted = async |secrets: &[&str]| {
        let (client, now) = (stored(&service, &created).await, service.clock.now());
        secrets.iter().map(|secret| client.accepts_secret(secret, now)).collect::<Vec<_>>()
    };
    let first = text(&created, "client_secret");
    let rotated = integrator.post_nothing(&format!("{one}/rotate")).await.with(200);
    let second = text(&rotated, "client_secret");
    let until: jiff::Timestamp = text(&rotated, "previous_secret_until").parse().expect("a time");
    assert_eq!(until, service.clock.now() + SignedDuration::from_hours(24));
    assert_eq!(integrator.get(&one).await.with(200)["previous_secret_until"], rotated["previous_secret_until"]);
    assert_eq!(accepted(&[first, second]).await, [true, true]);
    service.advance_clock(SignedDuration::from_hours(24) - SignedDuration::from_millis(1));
    assert_eq!(accepted(&[first, second]).await, [true, true]);
    service.advance_clock(SignedDuration::from_millis(1));
    assert_eq!(accepted(&[first, second]).await, [false, true]);
    assert_eq!(integrator.get(&one).await.with(200).get("previous_secret_until"), None);

    let third = integrator.post(&format!("{one}/rotate"), json!({ "now": false })).await.with(200);
    let fourth = integrator.post(&format!("{one}/rotate"), json!({ "now": true })).await.with(200);
    assert_eq!(fourth.get("previous_secret_until"), None);
    let secrets = [first, second, text(&third, "client_secret"), text(&fourth, "client_secret")];
    assert_eq!(accepted(&secrets).await, [false, false, false, true]);
    let entries = audit_entries(&service, "client.rotated").await;
    assert_eq!(entries.len(), 3);
    assert!(entries.iter().all(|entry| !entry.details.to_string().contains("sgp_cs_")), "{entries:?}");

    let public = json!({ "redirect_uris": [WIKI], "public": true });
    let public = integrator.post(&path(&domain), &public).await.with(201);
    let rotate = format!("{}/{}/rotate", path(&domain), text(&public, "client_id"));
    integrator.post_nothing(&rotate).await.assert_error(422, "client_is_public");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_rotations_leave_two_secrets() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, UNREACHABLE_URL).await;
    let created = create(&integrator, &domain).await;
    let rotate = format!("{}/{}/rotate", path(&domain), text(&created, "client_id"));
    let replies = join_all((0..64).map(|_| integrator.post_nothing(&rotate))).await;
    let client = stored(&service, &created).await;
    let shown = replies.iter().map(|reply| text(&reply.with(200), "client_secret").to_owned());
    let accepted = shown.filter(|secret| client.accepts_secret(secret, service.clock.now())).count();
    assert_eq!(accepted, 2);
    assert!(!client.accepts_secret(text(&created, "client_secret"), service.clock.now()));
    assert_eq!(audit_entries(&service, "client.rotated").await.len(), 64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_changes_are_all_stored() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, UNREACHABLE_URL).await;
    let created = create(&integrator, &domain).await;
    let one = format!("{}/{}", path(&domain), text(&created, "client_id"));
    for round in 0..10 {
        let logout = format!("https://wiki.test/{round}");
        let changes = [
            json!({ "name": format!("Wiki {round}") }),
            json!({ "post_logout_uris": [logout] }),
            json!({ "allow": [format!("group:{round}")] }),
            json!({ "trusted": round % 2 == 0 }),
        ];
        for reply in join_all(changes.iter().map(|change| integrator.patch(&one, change))).await {
            reply.with(200);
        }
        let seen = integrator.get(&one).await.with(200);
        for (name, value) in changes.iter().flat_map(|change| change.as_object().expect("an object")) {
            assert_eq!(&seen[name], value, "round {round}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn client_limit_is_exact_under_concurrency() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, UNREACHABLE_URL).await;
    fill_clients(&service, &domain, 3).await;
    let (path, body) = (path(&domain), json!({ "redirect_uris": [WIKI] }));
    let replies = join_all((0..16).map(|_| integrator.post(&path, &body))).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 3);
    for reply in replies.iter().filter(|reply| reply.status != 201) {
        reply.assert_error(409, "too_many_clients");
    }
}

#[tokio::test]
async fn client_list_has_pages() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, UNREACHABLE_URL).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        service.advance_clock(SignedDuration::from_millis(1));
        ids.push(create(&integrator, &domain).await["client_id"].clone());
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = integrator.get(&format!("{}?limit=2{cursor}", path(&domain))).await.with(200);
        let rows = page["clients"].as_array().expect("rows");
        assert!(rows.len() <= 2 && rows.iter().all(|row| row.get("client_secret").is_none()), "{page}");
        seen.extend(rows.iter().map(|row| row["client_id"].clone()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, ids);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn deleted_domain_has_no_clients() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    for _ in 0..10 {
        let domain = shop(&integrator, UNREACHABLE_URL).await;
        let created = create(&integrator, &domain).await;
        let one = format!("{}/{}", path(&domain), text(&created, "client_id"));
        let (path, body) = (path(&domain), json!({ "redirect_uris": [WIKI] }));
        let domain_path = format!("/domains/{}", text(&domain, "id"));
        let (gone, late) = tokio::join!(delete(&integrator, &domain_path), integrator.post(&path, &body));
        assert_eq!(gone.status, 204);
        assert!(matches!(late.status, 201 | 404), "{}", late.text);
        for path in [&path, &one] {
            integrator.get(path).await.assert_error(404, "domain_not_found");
        }
        integrator.post(&path, &body).await.assert_error(404, "domain_not_found");
    }
    assert!(sql::list_all(&service.app.store, None, 100).await.expect("a database").is_empty());
    let kept = create(&integrator, &shop(&integrator, UNREACHABLE_URL).await).await;
    let sweep = async || jobs::sweep::sweep(&service.app.store, service.clock.now()).await.expect("a database");
    assert!((10..=20).contains(&sweep().await) && sweep().await == 0);
    stored(&service, &kept).await;
}
