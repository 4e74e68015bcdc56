//! docs/api.md, Users of hosted domains: filters of the list, and names of domains in paths.

use serde_json::{Value, json};
use signpost_platform::accounts::Environment;

use crate::harness::{Integrator, Service, text};
use crate::hosted::shop;

async fn ids(integrator: &Integrator, query: &str) -> Vec<Value> {
    let list = integrator.get(&format!("/domains/shop.test/users{query}")).await.with(200);
    list["users"].as_array().expect("a list").iter().map(|user| user["id"].clone()).collect()
}

async fn manager_of_shop(service: &Service) -> Integrator {
    let manager = service.manager().await;
    shop(&manager, "http://127.0.0.1:1/hook").await;
    manager
}

async fn create(integrator: &Integrator, members: Value) -> Value {
    integrator.post("/domains/shop.test/users", members).await.with(201)
}

#[tokio::test]
async fn deletion_with_a_query_deletes_nothing() {
    let service = Service::start().await;
    let integrator = manager_of_shop(&service).await;
    create(&integrator, json!({ "external_id": "42" })).await;
    for (query, field) in [
        ("?external_id=42", "external_id"),
        ("?q=ann", "q"),
        ("?limit=1", "limit"),
        ("?_=1", "_"),
        ("?=", "query"),
        ("?&", "query"),
        ("?x", "x"),
    ] {
        integrator.delete(&format!("/domains/shop.test/users{query}")).await.assert_invalid_field(field);
        assert_eq!(ids(&integrator, "").await.len(), 1, "{query}");
    }
    assert_eq!(integrator.delete("/domains/shop.test/users").await.status, 204);
    assert_eq!(ids(&integrator, "").await, [] as [Value; 0]);
}

#[tokio::test]
async fn unknown_parameter_of_a_list_is_an_error() {
    let service = Service::start().await;
    let integrator = manager_of_shop(&service).await;
    for list in ["/domains/shop.test/users", "/domains/shop.test/clients", "/deliveries"] {
        integrator.get(&format!("{list}?externalid=42")).await.assert_invalid_field("externalid");
        integrator.get(&format!("{list}?limit=1&_=1")).await.assert_invalid_field("_");
        integrator.get(&format!("{list}?limit=1")).await.with(200);
    }
    // The specified endpoints ignore unknown parameters.
    for specified in ["/domains", "/sessions", "/domains/shop.test"] {
        integrator.get(&format!("{specified}?_=1")).await.with(200);
    }
}

#[tokio::test]
async fn users_are_found_by_each_filter() {
    let service = Service::start().await;
    let manager = manager_of_shop(&service).await;
    let members = json!({
        "external_id": "Customer-42", "username": "ann", "email": "ann@example.com", "name": "Zoë 100%",
    });
    let ann = create(&manager, members).await;
    let bob = create(&manager, json!({ "external_id": "43", "name": "Bob" })).await;
    let (ann_id, bob_id) = (&ann["id"], &bob["id"]);
    let petname = format!("?username={}", text(&bob, "petname"));
    let id = format!("?q={}", text(&ann, "id"));
    for (query, expected) in [
        ("?external_id=Customer-42", &[ann_id][..]),
        ("?external_id=customer-42", &[]),
        ("?username=ann", &[ann_id]),
        (&petname, &[bob_id]),
        (&format!("?username={}", text(&ann, "petname")), &[]),
        ("?q=CUSTOMER-4", &[ann_id]),
        ("?q=customer", &[ann_id]),
        ("?q=Zo%C3%AB", &[ann_id]),
        ("?q=100%25", &[ann_id]),
        ("?q=1%25", &[]),
        ("?q=b_b", &[]),
        ("?q=bob", &[bob_id]),
        ("?q=EXAMPLE.com", &[ann_id]),
        (&id, &[ann_id]),
        (&format!("?q={}", text(&bob, "petname")), &[bob_id]),
        ("?external_id=43&username=ann", &[]),
        ("?external_id=Customer-42&username=ann&q=zo", &[ann_id]),
        ("?external_id=Customer-42&q=bob", &[]),
        ("?external_id=nobody", &[]),
    ] {
        let found = ids(&manager, query).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
    }
    for (query, field) in [
        ("?q=", "q"),
        ("?q=%00", "q"),
        ("?external_id=", "external_id"),
        ("?username=A", "username"),
        ("?cursor=x", "cursor"),
    ] {
        manager.get(&format!("/domains/shop.test/users{query}")).await.assert_invalid_field(field);
    }
}

#[tokio::test]
async fn found_users_come_in_pages() {
    let service = Service::start().await;
    let manager = manager_of_shop(&service).await;
    let mut expected = Vec::new();
    for number in 0..12 {
        let name = if number % 3 == 0 { "Other" } else { "Ann" };
        let user = create(&manager, json!({ "name": name })).await;
        if name == "Ann" {
            expected.push(user["id"].clone());
        }
        service.advance_clock(jiff::SignedDuration::from_secs(2));
    }
    let (mut found, mut query) = (Vec::new(), "?q=ann&limit=3".to_owned());
    loop {
        let page = manager.get(&format!("/domains/shop.test/users{query}")).await.with(200);
        found.extend(page["users"].as_array().expect("a list").iter().map(|user| user["id"].clone()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        query = format!("?q=ann&limit=3&cursor={cursor}");
    }
    assert_eq!(found, expected);
}

#[tokio::test]
async fn domain_is_addressed_by_id_or_name() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    for address in ["shop.test", "SHOP.test", text(&domain, "id")] {
        let path = format!("/domains/{address}");
        assert_eq!(integrator.get(&path).await.with(200), domain);
        assert_eq!(integrator.patch(&path, &json!({})).await.with(200), domain);
        integrator.get(&format!("{path}/users")).await.with(200);
        integrator.get(&format!("{path}/clients")).await.with(200);
        integrator.post_nothing(&format!("{path}/test-event")).await.with(202);
    }
    let rival = service.integrator_of("rival", Environment::Sandbox).await;
    for unknown in ["other.test", "dom_x", "a%20b", "%00"] {
        integrator.get(&format!("/domains/{unknown}")).await.assert_error(404, "domain_not_found");
    }
    for path in ["/domains/shop.test", "/domains/shop.test/users", "/domains/shop.test/clients"] {
        rival.get(path).await.assert_error(404, "domain_not_found");
    }
    assert_eq!(integrator.delete("/domains/shop.test").await.status, 204);
    integrator.get("/domains/shop.test").await.assert_error(404, "domain_not_found");
}
