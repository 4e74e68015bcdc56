//! docs/api.md, Users of hosted domains: users that an integrator creates, and their first key.

use futures_util::future::join_all;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use signpost_platform::accounts::Environment;
use signpost_store::params;

use crate::examples::{assert_example, example};
use crate::harness::{Integrator, Reply, Service, send, text};
use crate::hosted::shop;
use crate::link::{answer_and_confirm, complete_link, open_link, phone};

async fn users_path(integrator: &Integrator) -> String {
    let domain = shop(integrator, "http://127.0.0.1:1/hook").await;
    format!("/domains/{}/users", text(&domain, "id"))
}

/// Compares the examples of created users and of taken identifiers with real replies.
pub(crate) async fn check_examples(manager: &Integrator, users: &str) {
    let user = manager.post(users, example("NewUser")).await.with(201);
    assert_example("CreatedUser", &user);
    assert_example("ExternalIdExists", &manager.post(users, example("NewUser")).await.with(409));
    let username = json!({ "username": user["petname"] });
    assert_example("UsernameTaken", &manager.post(users, username).await.with(409));
    let email = json!({ "email": "ann@example.com" });
    manager.post(users, &email).await.with(201);
    assert_example("EmailTaken", &manager.post(users, &email).await.with(409));
}

async fn create_idempotently(integrator: &Integrator, users: &str, key: &str, body: &Value) -> Reply {
    let request = integrator.request(Method::POST, users).header(CONTENT_TYPE, "application/json");
    send(request.header("idempotency-key", key).body(body.to_string())).await
}

#[tokio::test]
async fn created_user_has_the_given_members() {
    let service = Service::start().await;
    let manager = service.manager().await;
    let users = users_path(&manager).await;
    let members = json!({
        "external_id": "42", "username": "ann", "email": "Ann@Example.COM", "name": "Ann Lee", "groups": ["staff"],
        "metadata": { "plan": { "name": "gold" }, "since": 2024 },
    });
    let user = manager.post(&users, &members).await.with(201);
    assert_eq!((&user["username"], &user["email"]), (&json!("ann"), &json!("ann@example.com")));
    for member in ["external_id", "name", "groups", "metadata"] {
        assert_eq!(user[member], members[member], "{member}");
    }
    assert_eq!((&user["credentials"], user.get("last_login_at")), (&json!([]), None));
    assert_eq!(manager.get(&format!("{users}/{}", text(&user, "id"))).await.with(200), user);
    let bare = manager.post(&users, json!({})).await.with(201);
    assert_eq!(bare["username"], bare["petname"]);
    assert!(["external_id", "email", "name", "groups", "metadata"].iter().all(|member| bare.get(member).is_none()));
}

#[tokio::test]
async fn taken_identifiers_are_refused() {
    let service = Service::start().await;
    let manager = service.manager().await;
    let users = users_path(&manager).await;
    let members = json!({ "external_id": "42", "username": "ann", "email": "ann@example.com" });
    let ann = manager.post(&users, members).await.with(201);
    let details = manager.post(&users, json!({ "external_id": "42" })).await.assert_error(409, "external_id_exists");
    assert_eq!(details["id"], ann["id"]);
    manager.post(&users, json!({ "username": "ann" })).await.assert_error(409, "username_taken");
    manager.post(&users, json!({ "username": ann["petname"] })).await.assert_error(409, "username_taken");
    manager.post(&users, json!({ "email": "ANN@example.com" })).await.assert_error(409, "email_taken");
    // Nothing of a refused request is stored.
    let half = json!({ "external_id": "43", "username": "bob", "email": "ann@example.com" });
    manager.post(&users, half).await.assert_error(409, "email_taken");
    manager.post(&users, json!({ "external_id": "43", "username": "bob" })).await.with(201);
    // Another domain has its own users.
    let rival = service.integrator_of("rival", Environment::Sandbox).await;
    let theirs = users_path(&rival).await;
    rival.post(&theirs, json!({ "external_id": "42" })).await.with(201);
    assert_eq!(manager.get(&users).await.with(200)["users"].as_array().map(Vec::len), Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_creations_make_one_user() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let users = users_path(&integrator).await;
    let replies = join_all((0..16).map(|_| {
        let (integrator, users) = (integrator.clone(), users.clone());
        tokio::spawn(async move { integrator.post(&users, json!({ "external_id": "42" })).await })
    }))
    .await;
    let replies: Vec<_> = replies.into_iter().map(|reply| reply.expect("no panic")).collect();
    let created: Vec<_> = replies.iter().filter(|reply| reply.status == 201).map(Reply::json).collect();
    let [user] = &*created else { panic!("{} users were created", created.len()) };
    for refused in replies.iter().filter(|reply| reply.status != 201) {
        assert_eq!(refused.assert_error(409, "external_id_exists")["id"], user["id"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn repeated_request_creates_one_user() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let users = users_path(&integrator).await;
    let body = json!({ "external_id": "42", "name": "Ann" });
    let replies = join_all((0..8).map(|_| {
        let (integrator, users, body) = (integrator.clone(), users.clone(), body.clone());
        tokio::spawn(async move { create_idempotently(&integrator, &users, "k", &body).await })
    }))
    .await;
    let replies: Vec<_> = replies.into_iter().map(|reply| reply.expect("no panic")).collect();
    let first = replies[0].with(201);
    assert!(replies.iter().all(|reply| reply.with(201) == first), "{replies:?}");
    let replayed = replies.iter().filter(|reply| reply.header("idempotent-replayed") == Some("true")).count();
    assert_eq!(replayed, 7);
    // The stored reply is not that of another request.
    for other in [json!({ "external_id": "43" }), json!({})] {
        create_idempotently(&integrator, &users, "k", &other).await.assert_error(422, "idempotency_key_reused");
    }
    let session = json!({ "domain": "shop.test" });
    integrator.create_idempotently("k", &session).await.assert_error(422, "idempotency_key_reused");
    create_idempotently(&integrator, &users, "a b", &body).await.assert_invalid_field("Idempotency-Key");
}

#[tokio::test]
async fn username_and_email_require_the_scope() {
    let service = Service::start().await;
    let (integrator, manager) = (service.integrator().await, service.manager().await);
    let users = users_path(&integrator).await;
    for member in ["username", "email"] {
        let details = integrator.post(&users, json!({ member: "ann" })).await.assert_error(403, "insufficient_scope");
        assert_eq!((&details["needed"], &details["opened"]), (&json!("manage"), &json!("auth")));
    }
    let user = integrator.post(&users, json!({ "external_id": "42" })).await.with(201);
    let path = format!("{users}/{}", text(&user, "id"));
    for change in [
        json!({ "username": "ann" }),
        json!({ "username": null }),
        json!({ "email": "ann@example.com" }),
        json!({ "email": null }),
        json!({ "external_id": "43" }),
        json!({ "external_id": null }),
        json!({ "name": "Ann", "external_id": "43" }),
    ] {
        integrator.patch(&path, &change).await.assert_error(403, "insufficient_scope");
        assert_eq!(integrator.get(&path).await.with(200), user);
    }
    // A key may set the first external ID, and repeat it.
    integrator.patch(&path, &json!({ "external_id": "42", "metadata": { "a": 1 } })).await.with(200);
    let other = integrator.post(&users, json!({})).await.with(201);
    let other = format!("{users}/{}", text(&other, "id"));
    integrator.patch(&other, &json!({ "external_id": "44" })).await.with(200);
    manager.patch(&other, &json!({ "external_id": "45" })).await.with(200);
}

#[tokio::test]
async fn invalid_members_are_named() {
    let service = Service::start().await;
    let manager = service.manager().await;
    let users = users_path(&manager).await;
    let user = manager.post(&users, json!({})).await.with(201);
    let path = format!("{users}/{}", text(&user, "id"));
    let deep = json!({ "a": { "b": { "c": { "d": {} } } } });
    for (field, value) in [
        ("external_id", json!("")),
        ("external_id", json!("a\u{202e}b")),
        ("external_id", json!("x".repeat(129))),
        ("external_id", json!(42)),
        ("username", json!("a")),
        ("username", json!("-rf")),
        ("username", json!("..")),
        ("username", json!("1000")),
        ("username", json!("usr_x")),
        ("username", json!("root")),
        ("username", json!("Ann")),
        ("email", json!("ann")),
        ("email", json!("usr_1@shop.test")),
        ("metadata", json!([])),
        ("metadata", deep),
        ("metadata", json!({ "a": "x".repeat(4096) })),
        ("petname", json!("calm-otter-1234")),
    ] {
        manager.post(&users, json!({ field: value })).await.assert_invalid_field(field);
        manager.patch(&path, &json!({ field: value })).await.assert_invalid_field(field);
    }
    for body in [r#"{"metadata": {"__proto__": {}}}"#, r#"{"metadata": {"a": [{"\u005f_proto__": 1}]}}"#] {
        manager.post_raw(&users, body).await.assert_invalid_field("metadata");
    }
    // Null removes a member, and is no value of a new user.
    manager.post(&users, json!({ "name": null })).await.assert_invalid_field("name");
}

#[tokio::test]
async fn direct_domain_has_no_users_to_create() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    integrator.post("/domains/shop.test/users", json!({})).await.assert_error(422, "domain_not_hosted");
    let rival = service.integrator_of("rival", Environment::Sandbox).await;
    rival.post("/domains/shop.test/users", json!({})).await.assert_error(404, "domain_not_found");
}

#[tokio::test]
async fn first_key_comes_from_a_link() {
    let service = Service::start().await;
    let integrator = crate::page_flow::shop(&service).await;
    let members = json!({ "external_id": "42", "name": "Ann", "metadata": { "plan": "gold" } });
    let user = integrator.post("/domains/shop.test/users", &members).await.with(201);
    let (session, page) = open_link(&service, &integrator, text(&user, "id")).await;
    answer_and_confirm(&service, &integrator, &session, &phone(&service, 21)).await;
    let done = complete_link(&integrator, &session, &page).await.with(200);
    let linked = &done["user"];
    assert_eq!((&linked["id"], &linked["is_new"]), (&user["id"], &json!(false)));
    assert_eq!((&linked["username"], &linked["credential_count"]), (&user["petname"], &json!(1)));
    for member in ["external_id", "name", "metadata"] {
        assert_eq!(linked[member], members[member], "{member}");
    }
    // A login has the members at the time of the reply.
    let stored = "SELECT COUNT(*) FROM credentials";
    assert_eq!(service.app.store.count(stored, params![]).await.expect("a database"), 1);
}
