//! docs/handlers.md, Events about users: each selected kind is queued in the transaction of its change, and no other kind.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_auth::EventKind;
use signpost_login::ids::EventId;
use signpost_store::Statement;

use crate::account::log_in;
use crate::examples::assert_example;
use crate::harness::{Browser, Endpoint, Integrator, Phone, Service, UNREACHABLE_URL, text};
use crate::link::{answer_and_confirm, complete_link, open_link};
use crate::page_flow::{browser, create_session, create_user, create_user_at, register_hosted_domain, visit_page};

/// All kinds that a domain can select.
const NAMES: [&str; 8] = [
    "login",
    "register",
    "link",
    "user.updated",
    "user.deleted",
    "credential.added",
    "credential.removed",
    "user.signed_out",
];

/// Kinds that a hosted domain receives by default.
const DEFAULT: [&str; 3] = ["login", "register", "link"];

/// A hosted domain with a user.
pub(crate) struct Shop {
    pub(crate) service: Service,
    pub(crate) integrator: Integrator,
    pub(crate) domain: Value,
    /// The path of the user.
    pub(crate) user: String,
}

impl Shop {
    /// Starts a shop that receives these kinds of events. The outbox has only the event of the registration.
    pub(crate) async fn with_events(events: &Value) -> Self {
        let service = Service::start().await;
        let integrator = service.integrator().await;
        let domain = register_hosted_domain(&integrator, "shop.test").await;
        let path = format!("/domains/{}", text(&domain, "id"));
        let domain = integrator.patch(&path, &json!({ "events": events })).await.with(200);
        let done = create_user(&service, &integrator, &service.phone()).await;
        let user = format!("{path}/users/{}", text(&done["user"], "id"));
        service.advance_clock(SignedDuration::from_secs(1));
        Self { service, integrator, domain, user }
    }

    pub(crate) fn user_id(&self) -> &str {
        self.user.rsplit('/').next().expect("an id")
    }

    /// Adds the key of another phone to the user.
    async fn add_key(&self, phone: &Phone) -> Value {
        let (session, page) = open_link(&self.service, &self.integrator, self.user_id()).await;
        answer_and_confirm(&self.service, &self.integrator, &session, phone).await;
        complete_link(&self.integrator, &session, &page).await.with(200);
        self.next_second();
        session
    }

    async fn patch_user(&self, change: Value) {
        self.integrator.patch(&self.user, &change).await.with(200);
        self.next_second();
    }

    fn next_second(&self) {
        self.service.advance_clock(SignedDuration::from_secs(1));
    }

    /// Returns the events of a kind.
    async fn events(&self, kind: &str) -> Vec<Value> {
        let outbox = self.service.outbox().await.into_iter().map(|queued| queued.body);
        outbox.filter(|body| body["event"] == kind).collect()
    }

    /// Returns the only event of a kind.
    pub(crate) async fn event(&self, kind: &str) -> Value {
        let mut events = self.events(kind).await;
        assert_eq!(events.len(), 1, "{kind}: {events:?}");
        events.remove(0)
    }

    /// Changes the user in each way that has an event, and deletes the user.
    async fn change_and_delete(&self) {
        let (first, second) = (self.service.phone(), Phone::of(21, &self.service.clock));
        let mut browser = Browser::at(&self.service);
        log_in(&self.integrator, &mut browser, &first, "shop.test").await;
        self.next_second();
        self.patch_user(json!({ "name": "Ann Lee" })).await;
        self.add_key(&second).await;
        let key = format!("{}/credentials/{}", self.user, first.public_key());
        delete(&self.integrator, &key).await;
        self.next_second();
        delete(&self.integrator, &format!("{}/sign-ins", self.user)).await;
        self.next_second();
        delete(&self.integrator, &self.user).await;
    }
}

#[tokio::test]
async fn selected_kinds_alone_are_sent() {
    assert_eq!(EventKind::SELECTABLE.each_ref().map(EventKind::as_str), NAMES);
    for selected in NAMES.map(|kind| vec![kind]).into_iter().chain([NAMES.to_vec(), DEFAULT.to_vec(), Vec::new()]) {
        let shop = Shop::with_events(&json!(selected)).await;
        shop.change_and_delete().await;
        let sent = shop.service.outbox().await.into_iter().map(|queued| text(&queued.body, "event").to_owned());
        let expected: BTreeSet<_> = selected.iter().map(|kind| (*kind).to_owned()).collect();
        assert_eq!(sent.collect::<BTreeSet<_>>(), expected, "{selected:?}");
    }
    let shop = Shop::with_events(&Value::Null).await;
    shop.change_and_delete().await;
    for queued in shop.service.outbox().await {
        assert!(DEFAULT.contains(&text(&queued.body, "event")), "{}", queued.body);
    }
}

#[tokio::test]
async fn events_have_the_order_of_the_changes() {
    let shop = Shop::with_events(&json!(NAMES)).await;
    shop.patch_user(json!({ "external_id": "81" })).await;
    shop.change_and_delete().await;
    let outbox = shop.service.outbox().await;
    let mut ids: Vec<_> = outbox.iter().map(|queued| queued.id.clone()).collect();
    let sent: Vec<_> = outbox.iter().map(|queued| text(&queued.body, "event")).collect();
    let mut of_link = [sent[4], sent[5]];
    of_link.sort_unstable();
    assert_eq!(of_link, ["credential.added", "link"]);
    let others = [&sent[..4], &sent[6..]].concat();
    let expected =
        ["register", "user.updated", "login", "user.updated", "credential.removed", "user.signed_out", "user.deleted"];
    assert_eq!(others, expected);
    assert!(ids.is_sorted());
    ids.dedup();
    assert_eq!(ids.len(), outbox.len());
    for (queued, name) in outbox.iter().filter_map(|queued| Some((queued, example_of(text(&queued.body, "event"))?))) {
        assert_eq!(queued.body["id"], json!(queued.id));
        assert_eq!(queued.body["data"]["user_id"], json!(shop.user_id()));
        // The first change gives the external ID.
        if queued.body["data"]["changes"].get("external_id").is_none() {
            assert_example(name, &queued.body);
        }
        assert_eq!(queued.body["data"]["external_id"], "81");
    }
}

/// Returns the name of the example of a kind about a user.
fn example_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "user.updated" => "UserUpdatedEvent",
        "user.deleted" => "UserDeletedEvent",
        "credential.added" => "CredentialAddedEvent",
        "credential.removed" => "CredentialRemovedEvent",
        "user.signed_out" => "UserSignedOutEvent",
        _ => return None,
    })
}

#[tokio::test]
async fn update_has_old_and_new_values() {
    let shop = Shop::with_events(&json!(["user.updated"])).await;
    shop.patch_user(json!({ "name": "Ann", "groups": ["staff"], "external_id": "81" })).await;
    let first = shop.event("user.updated").await;
    assert_eq!((&first["session_id"], &first["data"]["external_id"]), (&json!(""), &json!("81")));
    let changes = json!({
        "name": { "old": null, "new": "Ann" }, "groups": { "old": null, "new": ["staff"] },
        "external_id": { "old": null, "new": "81" },
    });
    assert_eq!(first["data"]["changes"], changes);
    // Values that stay the same are not changes.
    shop.patch_user(json!({ "name": "Ann", "groups": ["staff"] })).await;
    shop.patch_user(json!({ "name": "Ann", "groups": null })).await;
    let events = shop.events("user.updated").await;
    assert_eq!(events.len(), 2);
    assert_eq!(events[1]["data"]["changes"], json!({ "groups": { "old": ["staff"], "new": null } }));
}

#[tokio::test]
async fn refused_change_has_no_event() {
    let shop = Shop::with_events(&json!(NAMES)).await;
    let before = shop.service.outbox().await.len();
    let user = shop.integrator.get(&shop.user).await.with(200);
    let only = format!("{}/credentials/{}", shop.user, text(&user["credentials"][0], "id"));
    shop.integrator.delete(&only).await.assert_error(409, "last_credential");
    let unknown = format!("/domains/{}/users/usr_{}", text(&shop.domain, "id"), "0".repeat(36));
    shop.integrator.delete(&unknown).await.with(404);
    shop.integrator.patch(&unknown, &json!({ "name": "Ann" })).await.with(404);
    let other = create_user(&shop.service, &shop.integrator, &Phone::of(21, &shop.service.clock)).await;
    let other = format!("/domains/{}/users/{}", text(&shop.domain, "id"), text(&other["user"], "id"));
    shop.integrator.patch(&other, &json!({ "external_id": "81" })).await.with(200);
    shop.integrator.patch(&shop.user, &json!({ "external_id": "81" })).await.assert_error(409, "external_id_exists");
    let sent =
        shop.service.outbox().await.into_iter().skip(before).map(|queued| text(&queued.body, "event").to_owned());
    let sent: BTreeSet<_> = sent.collect();
    assert_eq!(sent, ["register".to_owned(), "user.updated".to_owned()].into());
    assert_eq!(shop.events("user.updated").await.len(), 1);
}

pub(crate) async fn delete(integrator: &Integrator, path: &str) {
    let reply = integrator.delete(path).await;
    assert_eq!(reply.status, 204, "{}", reply.text);
}

async fn execute(service: &Service, sql: &'static str) {
    service.app.store.write([Statement::new(sql, Vec::new())]).await.expect("a database");
}

#[tokio::test]
async fn failed_event_leaves_no_change() {
    let shop = Shop::with_events(&json!(NAMES)).await;
    shop.add_key(&Phone::of(21, &shop.service.clock)).await;
    let (user, before) = (shop.integrator.get(&shop.user).await.with(200), shop.service.outbox().await.len());
    let key = format!("{}/credentials/{}", shop.user, text(&user["credentials"][0], "id"));
    execute(&shop.service, "ALTER TABLE deliveries RENAME TO deliveries_before").await;
    for reply in [
        shop.integrator.patch(&shop.user, &json!({ "name": "Ann" })).await,
        shop.integrator.delete(&key).await,
        shop.integrator.delete(&format!("{}/sign-ins", shop.user)).await,
        shop.integrator.delete(&shop.user).await,
        shop.integrator.delete(&format!("/domains/{}/users", text(&shop.domain, "id"))).await,
    ] {
        assert!(reply.status >= 500, "{} {}", reply.status, reply.text);
    }
    execute(&shop.service, "ALTER TABLE deliveries_before RENAME TO deliveries").await;
    assert_eq!(shop.integrator.get(&shop.user).await.with(200), user);
    assert_eq!(shop.service.outbox().await.len(), before);
    shop.patch_user(json!({ "name": "Ann" })).await;
    shop.event("user.updated").await;
}

#[tokio::test]
async fn every_deleted_user_has_an_event() {
    let shop = Shop::with_events(&json!(["user.deleted"])).await;
    let users = format!("/domains/{}/users", text(&shop.domain, "id"));
    let mut expected = vec![(shop.user_id().to_owned(), "81".to_owned())];
    shop.patch_user(json!({ "external_id": "81" })).await;
    for (number, external_id) in (21..).zip([r#"a "quoted" \ name"#, "Zo\u{eb}/\u{1f600}'"]) {
        let done = create_user(&shop.service, &shop.integrator, &Phone::of(number, &shop.service.clock)).await;
        let user = text(&done["user"], "id").to_owned();
        let path = format!("{users}/{user}");
        shop.integrator.patch(&path, &json!({ "external_id": external_id })).await.with(200);
        expected.push((user, external_id.to_owned()));
    }
    delete(&shop.integrator, &users).await;
    assert_eq!(shop.integrator.get(&users).await.with(200)["users"], json!([]));
    let outbox = shop.service.outbox().await;
    let sent: BTreeSet<_> = outbox.iter().map(|queued| queued.id.clone()).collect();
    assert_eq!((outbox.len(), sent.len()), (3, 3));
    let mut deleted = Vec::new();
    for queued in &outbox {
        let id = EventId::parse(&queued.id).expect("an id");
        assert!(shop.service.clock.now().duration_since(id.time()).as_millis() < 8);
        assert_eq!((&queued.body["id"], &queued.body["event"]), (&json!(queued.id), &json!("user.deleted")));
        assert_example("UserDeletedEvent", &queued.body);
        let data = &queued.body["data"];
        deleted.push((text(data, "user_id").to_owned(), text(data, "external_id").to_owned()));
    }
    deleted.sort();
    expected.sort();
    assert_eq!(deleted, expected);
    delete(&shop.integrator, &users).await;
    assert_eq!(shop.service.outbox().await.len(), 3);
}

#[tokio::test]
async fn unselected_deletion_removes_all_users() {
    let shop = Shop::with_events(&json!([])).await;
    let users = format!("/domains/{}/users", text(&shop.domain, "id"));
    delete(&shop.integrator, &users).await;
    assert_eq!(shop.integrator.get(&users).await.with(200)["users"], json!([]));
    // The deletion of a domain is no deletion of users by its site.
    let shop = Shop::with_events(&json!(["user.deleted"])).await;
    delete(&shop.integrator, &format!("/domains/{}", text(&shop.domain, "id"))).await;
    assert!(shop.service.outbox().await.is_empty());
}

#[tokio::test]
async fn added_key_names_its_session() {
    let shop = Shop::with_events(&json!(["credential.added", "credential.removed"])).await;
    let phone = Phone::of(21, &shop.service.clock);
    let session = shop.add_key(&phone).await;
    let added = shop.event("credential.added").await;
    let user = shop.integrator.get(&shop.user).await.with(200);
    let credential = &user["credentials"][1];
    assert_eq!(added["session_id"], session["id"]);
    let data = json!({
        "user_id": shop.user_id(), "credential_id": credential["id"], "kind": "wallet", "public_key": phone.public_key(),
    });
    assert_eq!(added["data"], data);
    delete(&shop.integrator, &format!("{}/credentials/{}", shop.user, phone.public_key())).await;
    let removed = shop.event("credential.removed").await;
    assert_eq!((&removed["session_id"], &removed["data"]), (&json!(""), &data));
}

#[tokio::test]
async fn events_about_users_skip_session_urls() {
    let service = Service::start().await;
    let (integrator, mut own) = (service.integrator().await, Endpoint::start().await);
    let domain = register_hosted_domain(&integrator, "shop.test").await;
    let change = json!({ "webhook_url": own.url("/domain"), "events": NAMES });
    integrator.patch(&format!("/domains/{}", text(&domain, "id")), &change).await.with(200);
    let done = create_user_at(&service, &integrator, "shop.test", &service.phone()).await;
    assert_eq!(own.next_request().await.json()["event"], "register");
    let user = text(&done["user"], "id").to_owned();
    let body = json!({ "mode": "link", "user": user, "webhook_url": own.url("/session") });
    let session = create_session(&integrator, body).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    answer_and_confirm(&service, &integrator, &session, &Phone::of(21, &service.clock)).await;
    complete_link(&integrator, &session, &page).await.with(200);
    let mut received = Vec::new();
    for _ in 0..2 {
        let event = own.next_request().await;
        received.push((text(&event.json(), "event").to_owned(), event.path));
    }
    received.sort();
    let expected = [("credential.added", "/domain"), ("link", "/session")];
    assert_eq!(received, expected.map(|(kind, path)| (kind.to_owned(), path.to_owned())));
    // An event URL receives both.
    let change = json!({ "event_url": own.url("/events") });
    integrator.patch(&format!("/domains/{}", text(&domain, "id")), &change).await.with(200);
    delete(&integrator, &format!("/domains/{}/users/{user}", text(&domain, "id"))).await;
    let event = own.next_request().await;
    assert_eq!((event.path.as_str(), &event.json()["event"]), ("/events", &json!("user.deleted")));
    assert!(event.header("x-svc-signature").len() == 64 && event.header("webhook-id") == text(&event.json(), "id"));
}

#[tokio::test]
async fn direct_domain_keeps_its_two_kinds() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain_at("shop.test", UNREACHABLE_URL).await;
    assert_eq!(domain["events"], json!(["login", "register"]));
    for mode in ["register", "login"] {
        let session = integrator.post("/sessions", &json!({ "domain": "shop.test", "mode": mode })).await.with(201);
        integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
        service.advance_clock(SignedDuration::from_secs(1));
    }
    let path = format!("/domains/{}", text(&domain, "id"));
    integrator.patch(&path, &json!({ "events": ["register"] })).await.with(200);
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    let sent: Vec<_> = service.outbox().await.iter().map(|queued| text(&queued.body, "event").to_owned()).collect();
    assert_eq!(sent, ["register", "login"]);
}
