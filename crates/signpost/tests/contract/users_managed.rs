//! docs/api.md, Users of hosted domains: changes and deletions by an integrator.

use reqwest::Method;
use serde_json::{Value, json};
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit;
use signpost_store::{Statement, params};

use crate::harness::{Integrator, Phone, Reply, Service, send, text};
use crate::hosted::{create_session, post_answer, shop};

async fn delete(integrator: &Integrator, path: &str) -> Reply {
    send(integrator.request(Method::DELETE, path)).await
}

/// Registers a user. Returns the path of the user.
async fn register(integrator: &Integrator, domain: &Value, phone: &Phone) -> String {
    let session = create_session(integrator, "register").await;
    post_answer(integrator, &session, &phone.answer(&session)).await.with(200);
    let seen = integrator.get_session(&session).await.with(200);
    format!("/domains/{}/users/{}", text(domain, "id"), text(&seen["user"], "id"))
}

/// Adds another key to a user, like a second wallet.
async fn add_key(service: &Service, user: &str, number: u8) -> Phone {
    const ADD: &str = "
        INSERT INTO credentials (domain_id, public_key, created_at, id, user_id, kind, name)
        SELECT domain_id, $1, created_at + 1, $2, user_id, kind, 'Second' FROM credentials WHERE user_id = $3 LIMIT 1";
    let phone = Phone::of(number, &service.clock);
    let id = signpost_login::ids::CredentialId::new(service.clock.now(), [number; 16]);
    let user = user.rsplit('/').next().expect("an id");
    let added = service.app.store.write([Statement::new(ADD, params![phone.public_key(), &id, user])]).await;
    assert!(added.expect("a database").is_committed());
    phone
}

async fn audit_entries(service: &Service, action: &str) -> Vec<Value> {
    let all = audit::sql::list(&service.app.store, None, jiff::Timestamp::UNIX_EPOCH, "", action, 1000).await;
    all.expect("a database").into_iter().map(|entry| entry.details).collect()
}

#[tokio::test]
async fn user_has_a_name_and_groups() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let user = register(&integrator, &domain, &service.phone()).await;
    let shown = integrator.get(&user).await.with(200);
    assert_eq!((shown.get("name"), shown.get("groups")), (None, None));
    let change = json!({ "name": " Ann\u{202e} Lee", "groups": ["admins", "shop staff"] });
    let changed = integrator.patch(&user, &change).await.with(200);
    assert_eq!((&changed["name"], &changed["groups"]), (&json!("Ann Lee"), &json!(["admins", "shop staff"])));
    assert_eq!(integrator.get(&user).await.with(200), changed);
    let by_key = format!("/domains/{}/users/{}", text(&domain, "id"), service.phone().public_key());
    assert_eq!(integrator.get(&by_key).await.with(200), changed);
    let listed = integrator.get(&format!("/domains/{}/users", text(&domain, "id"))).await.with(200);
    assert_eq!(listed["users"], json!([changed]));
    let cleared = integrator.patch(&by_key, &json!({ "name": null })).await.with(200);
    assert_eq!((cleared.get("name"), &cleared["groups"]), (None, &changed["groups"]));
    assert_eq!(integrator.patch(&user, &json!({ "groups": null })).await.with(200), shown);
    assert_eq!(integrator.patch(&user, &json!({})).await.with(200), shown);
    // Events of the same millisecond have no defined order.
    let mut entries: Vec<_> = audit_entries(&service, "user.changed").await.iter().map(ToString::to_string).collect();
    let id = &shown["id"];
    let mut expected = [
        json!({ "groups": changed["groups"], "name": "set", "user_id": id }),
        json!({ "name": "removed", "user_id": id }),
        json!({ "groups": null, "user_id": id }),
        json!({ "user_id": id }),
    ]
    .map(|entry| entry.to_string());
    entries.sort();
    expected.sort();
    assert_eq!(entries, expected);
}

#[tokio::test]
async fn invalid_name_or_group_is_rejected() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let user = register(&integrator, &domain, &service.phone()).await;
    let many: Vec<_> = (0..51).map(|number| number.to_string()).collect();
    for (field, value) in [
        ("name", json!("")),
        ("name", json!("\u{200b}")),
        ("name", json!("x".repeat(61))),
        ("name", json!(["Ann"])),
        ("groups", json!([])),
        ("groups", json!(["a", "a"])),
        ("groups", json!(["a,b"])),
        ("groups", json!([" "])),
        ("groups", json!([1])),
        ("groups", json!("admins")),
        ("groups", json!(many)),
        ("petname", json!("bold-lion-1000")),
    ] {
        integrator.patch(&user, &json!({ field: value })).await.assert_invalid_field(field);
    }
    let users = format!("/domains/{}/users", text(&domain, "id"));
    for unknown in ["usr_x", "x", "", &Phone::of(9, &service.clock).public_key(), &format!("usr_{}", "0".repeat(36))] {
        integrator.patch(&format!("{users}/{unknown}"), &json!({})).await.assert_error(404, "not_found");
        integrator.get(&format!("{users}/{unknown}")).await.assert_error(404, "not_found");
    }
    assert!(audit_entries(&service, "user.changed").await.is_empty());
}

#[tokio::test]
async fn last_credential_cannot_be_deleted() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let phone = service.phone();
    let user = register(&integrator, &domain, &phone).await;
    let shown = integrator.get(&user).await.with(200);
    let own = text(&shown["credentials"][0], "id");
    for last in [own, &phone.public_key()] {
        delete(&integrator, &format!("{user}/credentials/{last}")).await.assert_error(409, "last_credential");
    }
    for unknown in ["cred_x", "x", &Phone::of(9, &service.clock).public_key()] {
        delete(&integrator, &format!("{user}/credentials/{unknown}")).await.assert_error(404, "not_found");
    }
    let second = add_key(&service, &user, 8).await;
    let both = integrator.get(&user).await.with(200);
    assert_eq!(
        (both["credentials"].as_array().map(Vec::len), &both["public_key"]),
        (Some(2), &json!(second.public_key()))
    );
    // The credential of another user is not found.
    let other = register(&integrator, &domain, &Phone::of(3, &service.clock)).await;
    delete(&integrator, &format!("{other}/credentials/{own}")).await.assert_error(404, "not_found");
    // Both credentials log in the user until one is deleted.
    for wallet in [&phone, &second] {
        let session = create_session(&integrator, "login").await;
        post_answer(&integrator, &session, &wallet.answer(&session)).await.with(200);
        assert_eq!(integrator.get_session(&session).await.with(200)["user"]["id"], shown["id"]);
    }
    assert_eq!(delete(&integrator, &format!("{user}/credentials/{own}")).await.status, 204);
    let session = create_session(&integrator, "login").await;
    assert_eq!(post_answer(&integrator, &session, &phone.answer(&session)).await.status, 404);
    post_answer(&integrator, &session, &second.answer(&session)).await.with(200);
    let [entry] = &*audit_entries(&service, "credential.deleted").await else { panic!("one entry") };
    assert_eq!((&entry["credential_id"], &entry["public_key"]), (&json!(own), &json!(phone.public_key())));
    let left = format!("{user}/credentials/{}", second.public_key().to_uppercase());
    delete(&integrator, &left).await.assert_error(409, "last_credential");
}

#[tokio::test]
async fn concurrent_deletions_leave_one_credential() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    for round in 0..4 {
        let phone = Phone::of(10 + round, &service.clock);
        let user = register(&integrator, &domain, &phone).await;
        let second = add_key(&service, &user, 20 + round).await;
        let paths = [&phone, &second].map(|phone| format!("{user}/credentials/{}", phone.public_key()));
        let (one, two) = tokio::join!(delete(&integrator, &paths[0]), delete(&integrator, &paths[1]));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [204, 409]);
        assert_eq!(integrator.get(&user).await.with(200)["credentials"].as_array().map(Vec::len), Some(1));
    }
}

#[tokio::test]
async fn users_of_other_accounts_are_not_found() {
    let settings = [("allow_private_webhooks", "true"), ("public_url", "https://login.test")];
    let service = Service::with(&settings).await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let user = register(&integrator, &domain, &service.phone()).await;
    let rival = service.integrator_of("rival", Environment::Sandbox).await;
    let rivals = shop(&rival, "http://127.0.0.1:1/hook").await;
    let live = service.integrator_of("acme", Environment::Live).await;
    let id = user.rsplit('/').next().expect("an id");
    for (stranger, path, code) in [
        (&rival, user.clone(), "domain_not_found"),
        (&live, user.clone(), "domain_not_found"),
        (&rival, format!("/domains/{}/users/{id}", text(&rivals, "id")), "not_found"),
    ] {
        stranger.get(&path).await.assert_error(404, code);
        stranger.patch(&path, &json!({ "name": "Mallory" })).await.assert_error(404, code);
        delete(stranger, &path).await.assert_error(404, code);
        let credential = format!("{path}/credentials/{}", service.phone().public_key());
        delete(stranger, &credential).await.assert_error(404, code);
    }
    assert!(integrator.get(&user).await.with(200).get("name").is_none());
}

#[tokio::test]
async fn deleted_user_loses_all_credentials() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let phone = service.phone();
    let user = register(&integrator, &domain, &phone).await;
    let second = add_key(&service, &user, 8).await;
    let by_key = format!("/domains/{}/users/{}", text(&domain, "id"), second.public_key());
    assert_eq!(delete(&integrator, &by_key).await.status, 204);
    for wallet in [&phone, &second] {
        let session = create_session(&integrator, "login").await;
        assert_eq!(post_answer(&integrator, &session, &wallet.answer(&session)).await.status, 404);
    }
    let [entry] = &*audit_entries(&service, "user.deleted").await else { panic!("one entry") };
    assert_eq!(entry["public_key"], json!(second.public_key()));
    let again = register(&integrator, &domain, &phone).await;
    assert_ne!(again, user);
}
