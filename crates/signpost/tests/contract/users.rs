//! docs/api.md, Users of hosted domains: the logged-in user and the key.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use signpost_login::ids::UserId;
use signpost_login::jobs::retention::sweep;
use signpost_login::users::identifier_sql::find_username_key;
use signpost_store::{Statement, params};

use crate::harness::{Endpoint, Integrator, Phone, Service, send, text};
use crate::hosted::{create_session, post_answer, shop};

/// Answers a new session with a phone. Returns the final session.
async fn log_in(integrator: &Integrator, mode: &str, phone: &Phone) -> Value {
    let session = create_session(integrator, mode).await;
    post_answer(integrator, &session, &phone.answer(&session)).await.with(200);
    integrator.get_session(&session).await.with(200)
}

async fn users_of(integrator: &Integrator, domain: &Value) -> Vec<Value> {
    let users = integrator.get(&format!("/domains/{}/users", text(domain, "id"))).await.with(200);
    users["users"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn user_id_is_equal_in_lists_sessions_and_events() {
    let service = Service::start().await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    let domain = shop(&integrator, &endpoint.url("/hook")).await;
    let phone = service.phone();
    let mut ids = Vec::new();
    for mode in ["register", "login", "login"] {
        let seen = log_in(&integrator, mode, &phone).await;
        assert_eq!(seen["method"], "scan");
        let event = endpoint.next_request().await.json();
        assert_eq!((&event["data"]["method"], &event["data"]["user_id"]), (&json!("scan"), &seen["user"]["id"]));
        ids.push(text(&seen["user"], "id").to_owned());
    }
    let users = users_of(&integrator, &domain).await;
    let [user] = &*users else { panic!("one user, not {users:?}") };
    ids.push(text(user, "id").to_owned());
    ids.dedup();
    assert!(matches!(&*ids, [one] if UserId::parse(one).is_some()), "{ids:?}");
    let petname = text(user, "petname").split('-').count();
    assert_eq!((petname, &user["public_key"]), (3, &json!(phone.public_key())));
    let credential = &user["credentials"][0];
    assert_eq!((&credential["kind"], &credential["name"]), (&json!("wallet"), &json!("Wallet")));
    assert_eq!(credential["last_used_at"], user["last_login_at"]);
}

#[tokio::test]
async fn direct_domain_has_no_users() {
    let service = Service::start().await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let session = integrator.create_session("shop.test").await;
    let seen = integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    let event = endpoint.next_request().await.json();
    assert!(seen.get("method").is_none() && seen["user"].get("id").is_none(), "{seen}");
    assert!(event["data"].get("method").is_none() && event["data"].get("user_id").is_none(), "{event}");
}

#[tokio::test]
async fn submitted_answer_creates_a_user() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let phone = service.phone();
    let (login, register) = (create_session(&integrator, "login").await, create_session(&integrator, "register").await);
    integrator.authenticate(&login, &phone.answer(&login)).await.assert_error(404, "user_not_found");
    assert_eq!(users_of(&integrator, &domain).await, [] as [Value; 0]);
    let seen = integrator.authenticate(&register, &phone.answer(&register)).await.with(200);
    let again = create_session(&integrator, "register").await;
    integrator.authenticate(&again, &phone.answer(&again)).await.assert_error(409, "user_exists");
    let logged_in = integrator.authenticate(&login, &phone.answer(&login)).await.with(200);
    assert_eq!(logged_in["user"]["id"], seen["user"]["id"]);
}

#[tokio::test]
async fn concurrent_registrations_create_one_user() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let phone = service.phone();
    let mut sessions = Vec::new();
    for _ in 0..8 {
        sessions.push(create_session(&integrator, "register").await);
    }
    let race = sessions.iter().map(|session| {
        let (integrator, answer) = (integrator.clone(), phone.answer(session));
        async move { post_answer(&integrator, session, &answer).await.status }
    });
    let mut statuses = join_all(race).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409, 409, 409, 409, 409]);
    assert_eq!((users_of(&integrator, &domain).await.len(), service.outbox().await.len()), (1, 1));
    let usernames = service.app.store.read("SELECT value FROM user_identifiers", params![]).await.expect("a database");
    assert_eq!(usernames.len(), 1);
}

#[tokio::test]
async fn concurrent_registrations_both_log_in() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let phone = service.phone();
    let body = json!({
        "domain": "shop.test", "mode": "register", "flow": "same_device", "metadata": { "return_url": "/in" },
    });
    let mut begun = Vec::new();
    for _ in 0..4 {
        let session = integrator.post("/sessions", &body).await.with(201);
        let response = post_answer(&integrator, &session, &phone.answer(&session)).await.with(200);
        let code = text(&response, "redirect").split("code=").nth(1).expect("a code").to_owned();
        begun.push((format!("/sessions/{}/complete", text(&session, "id")), code));
    }
    let race = begun.iter().map(|(path, code)| {
        let integrator = integrator.clone();
        async move { integrator.post(path, &json!({ "code": code })).await.with(200)["user"]["id"].clone() }
    });
    let mut ids = join_all(race).await;
    ids.dedup();
    let users = users_of(&integrator, &domain).await;
    assert_eq!((ids.len(), users.len(), &ids[0]), (1, 1, &users[0]["id"]));
}

#[tokio::test]
async fn key_is_a_separate_user_in_each_domain() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let (shop, mut ids) = (shop(&integrator, "http://127.0.0.1:1/hook").await, Vec::new());
    let phone = service.phone();
    ids.push(log_in(&integrator, "register", &phone).await["user"]["id"].clone());
    let rival = service.integrator_of("rival", signpost_platform::accounts::Environment::Sandbox).await;
    let rivals = crate::hosted::shop(&rival, "http://127.0.0.1:1/hook").await;
    let unknown = create_session(&rival, "login").await;
    assert_eq!(post_answer(&rival, &unknown, &phone.answer(&unknown)).await.status, 404);
    ids.push(log_in(&rival, "register", &phone).await["user"]["id"].clone());
    assert_ne!(ids[0], ids[1]);
    assert_eq!((users_of(&integrator, &shop).await.len(), users_of(&rival, &rivals).await.len()), (1, 1));
    let foreign = format!("/domains/{}/users/{}", text(&rivals, "id"), ids[0].as_str().expect("an id"));
    send(rival.request(reqwest::Method::DELETE, &foreign)).await.assert_error(404, "not_found");
    let hidden = format!("/domains/{}/users/{}", text(&shop, "id"), ids[0].as_str().expect("an id"));
    send(rival.request(reqwest::Method::DELETE, &hidden)).await.assert_error(404, "domain_not_found");
    assert_eq!(users_of(&integrator, &shop).await.len(), 1);
}

#[tokio::test]
async fn invalid_stored_user_is_an_error() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let phone = service.phone();
    log_in(&integrator, "register", &phone).await;
    let write = async |sql: String| {
        assert!(
            service.app.store.write([Statement::new(sql.leak(), params![])]).await.expect("a database").is_committed()
        );
    };
    let users = format!("/domains/{}/users", text(&domain, "id"));
    for (table, column, broken) in [
        ("credentials", "user_id", "'usr_x'"),
        ("credentials", "id", "'cred_'"),
        ("users", "petname", "'Amber'"),
        ("users", "groups", "'admins'"),
    ] {
        write(format!("CREATE TABLE kept AS SELECT * FROM {table}")).await;
        write(format!("UPDATE {table} SET {column} = {broken}")).await;
        let (listed, session) = (integrator.get(&users).await, create_session(&integrator, "login").await);
        let answered = post_answer(&integrator, &session, &phone.answer(&session)).await;
        if table == "credentials" {
            assert_eq!(answered.status, 500, "{column} = {broken}: {}", answered.text);
        } else {
            listed.assert_error(500, "internal_error");
        }
        assert!(column != "id" || listed.status == 500, "{}", listed.text);
        write(format!("UPDATE {table} SET {column} = (SELECT {column} FROM kept)")).await;
        write("DROP TABLE kept".to_owned()).await;
    }
    assert_eq!(log_in(&integrator, "login", &phone).await["user"]["public_key"], json!(phone.public_key()));
}

/// On SQLite only, with a trigger that rejects half of the petnames as if they were used.
#[tokio::test]
async fn used_petname_is_drawn_again() {
    const REFUSE: &str = "
        CREATE TRIGGER given BEFORE INSERT ON user_identifiers WHEN substr(NEW.value, -1) < '8'
        BEGIN SELECT RAISE(IGNORE); END";
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    assert!(service.app.store.write([Statement::new(REFUSE, params![])]).await.expect("a database").is_committed());
    for number in 1..=60 {
        log_in(&integrator, "register", &Phone::of(number, &service.clock)).await;
    }
    let all = integrator.get(&format!("/domains/{}/users?limit=100", text(&domain, "id"))).await.with(200);
    let petnames: BTreeSet<_> =
        all["users"].as_array().expect("a list").iter().map(|user| text(user, "petname")).collect();
    assert_eq!(petnames.len(), 60);
    let hashes = service.app.store.read("SELECT value FROM user_identifiers", params![]).await.expect("a database");
    assert_eq!(hashes.len(), 60);
    assert!(hashes.iter().all(|row| !row.text(0).expect("a hash").ends_with(|digit| digit < '8')), "{hashes:?}");
}

#[tokio::test]
async fn petname_stays_as_a_hash_after_deletion() {
    let service = Service::start().await;
    let (integrator, manager) = (service.integrator().await, service.manager().await);
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let phone = service.phone();
    let mut given = Vec::new();
    for _ in 0..2 {
        log_in(&integrator, "register", &phone).await;
        let users = users_of(&integrator, &domain).await;
        given.push(text(&users[0], "petname").to_owned());
        let path = format!("/domains/{}/users/{}", text(&domain, "id"), text(&users[0], "id"));
        assert_eq!(integrator.delete(&path).await.status, 204);
        integrator.delete(&path).await.assert_error(404, "not_found");
    }
    let store = &service.app.store;
    let id = signpost_login::ids::DomainId::parse(text(&domain, "id")).expect("an ID");
    let key = find_username_key(store).await.expect("a key");
    let mut expected: Vec<_> = given.iter().map(|petname| key.hash(&id, petname).as_str().to_owned()).collect();
    expected.sort();
    let stored = "SELECT value, user_id FROM user_identifiers ORDER BY value";
    let stored = store.read(stored, params![]).await.expect("a database");
    assert_eq!(stored.iter().map(|row| row.text(0).expect("a hash").to_owned()).collect::<Vec<_>>(), expected);
    assert!(stored.iter().all(|row| row.opt_text(1).expect("an ID or null").is_none()), "{stored:?}");
    // Nobody gets it, neither by registration nor as a username.
    let users = format!("/domains/{id}/users");
    for petname in &given {
        manager.post(&users, json!({ "username": petname })).await.assert_error(409, "username_taken");
    }
    assert_eq!(integrator.delete(&format!("/domains/{id}")).await.status, 204);
    assert!(store.read("SELECT value FROM user_identifiers", params![]).await.expect("a database").is_empty());
}

#[tokio::test]
async fn petnames_of_an_older_version_are_hashed() {
    let service = Service::start().await;
    let (integrator, manager) = (service.integrator().await, service.manager().await);
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let store = &service.app.store;
    for number in 0..1100 {
        let petname = format!("amber-otter-{}", 1000 + number);
        let issue = "INSERT INTO petnames (domain_id, petname) VALUES ($1, $2)";
        let issue = Statement::expect_row(issue, params![text(&domain, "id"), petname]);
        assert!(store.write([issue]).await.expect("a database").is_committed());
    }
    let taken = async || {
        let users = format!("/domains/{}/users", text(&domain, "id"));
        let username = json!({ "username": "amber-otter-2000" });
        manager.post(&users, username).await.assert_error(409, "username_taken");
    };
    taken().await;
    sweep(store, service.clock.now()).await.expect("a database");
    assert!(store.read("SELECT petname FROM petnames", params![]).await.expect("a database").is_empty());
    let hashes = store.read("SELECT value FROM user_identifiers", params![]).await.expect("a database");
    assert_eq!(hashes.len(), 1100);
    taken().await;
}
