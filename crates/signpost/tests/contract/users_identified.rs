//! docs/api.md, Users of hosted domains: usernames, e-mail addresses and external IDs.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_platform::accounts::audit;
use signpost_store::params;

use crate::harness::{Endpoint, Integrator, Program, Service, send, text};
use crate::hosted::{create_session, post_answer, shop};

/// Creates a user of `shop.test`. Returns the path of the user.
async fn create(integrator: &Integrator, members: Value) -> String {
    let user = integrator.post("/domains/shop.test/users", members).await.with(201);
    format!("/domains/shop.test/users/{}", text(&user, "id"))
}

async fn manager_of_shop(service: &Service) -> Integrator {
    let manager = service.manager().await;
    shop(&manager, "http://127.0.0.1:1/hook").await;
    manager
}

async fn audit_entries(service: &Service, action: &str) -> Vec<Value> {
    let all = audit::sql::list(&service.app.store, None, jiff::Timestamp::UNIX_EPOCH, "", action, 1000).await;
    all.expect("a database").into_iter().map(|entry| entry.details).collect()
}

#[tokio::test]
async fn username_replaces_the_petname() {
    let service = Service::start().await;
    let manager = manager_of_shop(&service).await;
    let phone = service.phone();
    let session = create_session(&manager, "register").await;
    post_answer(&manager, &session, &phone.answer(&session)).await.with(200);
    let seen = manager.get_session(&session).await.with(200);
    let path = format!("/domains/shop.test/users/{}", text(&seen["user"], "id"));
    let petname = seen["user"]["username"].clone();
    let named = manager.patch(&path, &json!({ "username": "ann" })).await.with(200);
    assert_eq!((&named["username"], &named["petname"]), (&json!("ann"), &petname));
    assert_eq!(manager.get_session(&session).await.with(200)["user"]["username"], "ann");
    for restore in [json!(null), petname.clone()] {
        manager.patch(&path, &json!({ "username": "ann" })).await.with(200);
        let restored = manager.patch(&path, &json!({ "username": restore })).await.with(200);
        assert_eq!(restored["username"], petname);
    }
}

#[tokio::test]
async fn former_username_is_taken_for_ever() {
    let service = Service::start().await;
    let manager = manager_of_shop(&service).await;
    let (ann, bob) = (create(&manager, json!({ "username": "ann" })).await, create(&manager, json!({})).await);
    manager.patch(&ann, &json!({ "username": "ann.lee" })).await.with(200);
    for taken in ["ann", "ann.lee"] {
        manager.patch(&bob, &json!({ "username": taken })).await.assert_error(409, "username_taken");
    }
    // The user herself may have it back.
    manager.patch(&ann, &json!({ "username": "ann" })).await.with(200);
    assert_eq!(manager.delete(&ann).await.status, 204);
    for taken in ["ann", "ann.lee"] {
        manager.patch(&bob, &json!({ "username": taken })).await.assert_error(409, "username_taken");
    }
    let texts = "SELECT COUNT(*) FROM user_identifiers WHERE value LIKE '%ann%'";
    assert_eq!(service.app.store.count(texts, params![]).await.expect("a database"), 0);
    // Also after all users were deleted.
    assert_eq!(manager.delete("/domains/shop.test/users").await.status, 204);
    let carl = create(&manager, json!({})).await;
    manager.patch(&carl, &json!({ "username": "ann" })).await.assert_error(409, "username_taken");
}

#[tokio::test]
async fn other_identifiers_are_released() {
    let service = Service::start().await;
    let manager = manager_of_shop(&service).await;
    let both = json!({ "external_id": "42", "email": "ann@example.com" });
    let ann = create(&manager, both.clone()).await;
    let bob = create(&manager, json!({})).await;
    let details = manager.patch(&bob, &json!({ "external_id": "42" })).await.assert_error(409, "external_id_exists");
    assert!(ann.ends_with(text(&details, "id")));
    manager.patch(&bob, &json!({ "email": "ann@example.com" })).await.assert_error(409, "email_taken");
    manager.patch(&ann, &json!({ "external_id": "43", "email": null })).await.with(200);
    manager.patch(&bob, &both).await.with(200);
    assert_eq!(manager.delete(&bob).await.status, 204);
    create(&manager, both.clone()).await;
    assert_eq!(manager.delete("/domains/shop.test/users").await.status, 204);
    create(&manager, both).await;
    let stored = "SELECT COUNT(*) FROM user_identifiers WHERE kind <> 'username'";
    assert_eq!(service.app.store.count(stored, params![]).await.expect("a database"), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_claims_have_one_winner() {
    let service = Service::start().await;
    let manager = manager_of_shop(&service).await;
    for change in [json!({ "username": "ann" }), json!({ "email": "ann@example.com" }), json!({ "external_id": "42" })]
    {
        let mut users = Vec::new();
        for _ in 0..8 {
            users.push(create(&manager, json!({})).await);
        }
        let replies = join_all(users.into_iter().map(|user| {
            let (manager, change) = (manager.clone(), change.clone());
            tokio::spawn(async move { manager.patch(&user, &change).await.status })
        }))
        .await;
        let mut statuses: Vec<_> = replies.into_iter().map(|status| status.expect("no panic")).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409, 409, 409, 409, 409, 409, 409], "{change}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_changes_are_all_stored() {
    let service = Service::start().await;
    let manager = manager_of_shop(&service).await;
    let user = create(&manager, json!({})).await;
    let changes = [
        json!({ "name": "Ann" }),
        json!({ "groups": ["staff"] }),
        json!({ "metadata": { "plan": "gold" } }),
        json!({ "email": "ann@example.com" }),
        json!({ "username": "ann" }),
        json!({ "external_id": "42" }),
    ];
    join_all(changes.clone().map(|change| {
        let (manager, user) = (manager.clone(), user.clone());
        tokio::spawn(async move { manager.patch(&user, &change).await.with(200) })
    }))
    .await;
    let stored = manager.get(&user).await.with(200);
    for change in changes {
        let (member, value) = change.as_object().expect("an object").iter().next().expect("a member");
        assert_eq!(&stored[member], value, "{member}");
    }
}

#[tokio::test]
async fn changes_are_in_the_audit_log() {
    let service = Service::start().await;
    let manager = manager_of_shop(&service).await;
    let user = create(&manager, json!({ "external_id": "42" })).await;
    let id = user.rsplit('/').next().expect("an ID");
    assert_eq!(audit_entries(&service, "user.created").await, [json!({ "user_id": id, "external_id": "42" })]);
    let change = json!({ "external_id": "43", "email": "ann@example.com", "metadata": { "secret": 1 } });
    manager.patch(&user, &change).await.with(200);
    let expected = json!({
        "user_id": id, "metadata": "set",
        "external_id": { "old": "42", "new": "43" },
        "email": { "old": null, "new": "ann@example.com" },
    });
    assert_eq!(audit_entries(&service, "user.changed").await, [expected]);
}

#[tokio::test]
async fn change_is_sent_to_the_site() {
    let service = Service::start().await;
    let (manager, mut endpoint) = (service.manager().await, Endpoint::start().await);
    shop(&manager, &endpoint.url("/hook")).await;
    manager.patch("/domains/shop.test", &json!({ "events": ["user.updated"] })).await.with(200);
    let user = create(&manager, json!({ "external_id": "42", "username": "ann" })).await;
    // A change of nothing has no event.
    manager.patch(&user, &json!({ "username": "ann" })).await.with(200);
    let change = json!({ "external_id": "43", "username": "ann.lee", "email": "ann@example.com", "name": "Ann" });
    manager.patch(&user, &change).await.with(200);
    let event = endpoint.next_request().await.json();
    assert_eq!((&event["event"], &event["data"]["external_id"]), (&json!("user.updated"), &json!("43")));
    let changed = |old: Value, new: Value| json!({ "old": old, "new": new });
    let expected = json!({
        "external_id": changed(json!("42"), json!("43")),
        "username": changed(json!("ann"), json!("ann.lee")),
        "email": changed(json!(null), json!("ann@example.com")),
        "name": changed(json!(null), json!("Ann")),
    });
    assert_eq!(event["data"]["changes"], expected);
}

#[tokio::test]
async fn claims_have_the_username_without_the_address() {
    let service = Service::start().await;
    let manager = manager_of_shop(&service).await;
    let user = create(&manager, json!({ "username": "ann", "email": "ceo@bank.example" })).await;
    let id = signpost_login::ids::UserId::parse(user.rsplit('/').next().expect("an ID")).expect("an ID");
    let domain = manager.get("/domains/shop.test").await.with(200);
    let domain = signpost_login::ids::DomainId::parse(text(&domain, "id")).expect("an ID");
    let store = &service.app.store;
    let (user, _) = signpost_login::users::sql::find(store, &domain, &id).await.expect("a database").expect("a user");
    let domain =
        signpost_login::domains::sql::find_in_any_account(store, &domain).await.expect("a database").expect("a domain");
    let scopes = signpost_openid::claims::OpenidScopes::parse("openid profile email");
    for email in [signpost_openid::clients::EmailClaim::Synthetic, signpost_openid::clients::EmailClaim::Verified] {
        let claims = json!(signpost_openid::claims::UserClaims::new(&user, &domain, scopes, email));
        assert_eq!((&claims["preferred_username"], &claims["nickname"]), (&json!("ann"), &json!("ann")));
        assert_eq!(claims["email"], format!("{id}@shop.test"));
    }
}

#[tokio::test]
async fn commands_set_and_find_users() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    let manager = manager_of_shop(&service).await;
    let path = create(&manager, json!({})).await;
    let id = path.rsplit('/').next().expect("an ID");
    let users = async |arguments: &[&str]| {
        let arguments = [&["users"], arguments, &["--domain", "shop.test", "--json"]].concat();
        Program::within(folder.path(), &arguments).run_async().await
    };
    let flags = ["--username", "ann", "--email", "Ann@Example.com", "--external-id", "42", "--metadata", r#"{"a":1}"#];
    let set = users(&[&["set", id][..], &flags].concat()).await.json();
    assert_eq!(manager.get(&path).await.with(200), set);
    assert_eq!((&set["username"], &set["metadata"]), (&json!("ann"), &json!({ "a": 1 })));
    for (filter, count) in [
        (["--external-id", "42"], 1),
        (["--username", "ann"], 1),
        (["--query", "EXAMPLE"], 1),
        (["--external-id", "43"], 0),
    ] {
        let found = users(&[&["list"][..], &filter].concat()).await.json();
        assert_eq!(found["users"].as_array().map(Vec::len), Some(count), "{filter:?}");
    }
    assert!(users(&["set", id, "--username", "root"]).await.failed(2).contains("--username: is a reserved name"));
    let reserved = users(&["set", id, "--username", "root", "--reserved-name"]).await.json();
    assert_eq!(reserved["username"], "root");
    let other = create(&manager, json!({})).await;
    let other = other.rsplit('/').next().expect("an ID");
    assert!(users(&["set", other, "--username", "ann"]).await.failed(1).contains("username"));
    for (flag, value) in [("--email", "ann"), ("--external-id", ""), ("--metadata", "[]"), ("--metadata", "{")] {
        assert!(users(&["set", id, flag, value]).await.failed(2).contains(&format!("{flag}: ")), "{flag} {value}");
    }
    let cleared = ["--no-username", "--no-email", "--no-external-id", "--no-metadata"];
    let cleared = users(&[&["set", id][..], &cleared].concat()).await.json();
    assert_eq!(cleared["username"], cleared["petname"]);
    assert!(["email", "external_id", "metadata"].iter().all(|member| cleared.get(member).is_none()), "{cleared}");
}

#[tokio::test]
async fn scope_manage_comes_with_the_creation() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    let integrator = service.integrator().await;
    shop(&integrator, "http://127.0.0.1:1/hook").await;
    let keys = async |arguments: &[&str]| {
        let arguments = [&["keys"], arguments, &["--json"]].concat();
        Program::within(folder.path(), &arguments).run_async().await
    };
    let new = ["create", "--environment", "sandbox", "--account", "acme", "--name", "admin"];
    let key = keys(&[&new[..], &["--scope", "manage"]].concat()).await.json();
    assert_eq!(key["scope"], "auth,manage");
    let set_email = async |key: &Value| {
        let manager = integrator.with_key(Some(text(key, "key")));
        let user = create(&manager, json!({})).await;
        manager.patch(&user, &json!({ "email": null })).await.with(200);
    };
    set_email(&key).await;
    // A rotated key has the scopes of the old one.
    set_email(&keys(&["rotate", text(&key, "id")]).await.json()).await;
    let contradiction = keys(&[&new[..], &["--scope", "atms,manage"]].concat()).await;
    assert!(contradiction.failed(2).contains("--scope: atms cannot be combined"), "{}", contradiction.err);
    let listed = keys(&["list"]).await.json();
    let scopes: Vec<_> = listed["keys"].as_array().expect("a list").iter().map(|key| text(key, "scope")).collect();
    assert_eq!(scopes.iter().filter(|scope| **scope == "auth,manage").count(), 2, "{scopes:?}");
    // A key of ATM submissions does not open the login API.
    let atms = keys(&[&new[..], &["--scope", "atms"]].concat()).await.json();
    let atms = integrator.with_key(Some(text(&atms, "key")));
    send(atms.request(Method::GET, "/domains/shop.test/users")).await.assert_error(403, "insufficient_scope");
}
