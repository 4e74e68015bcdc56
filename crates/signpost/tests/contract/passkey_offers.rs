//! The offer of a passkey after a login by wallet (docs/api.md, Page flow): its conditions, its lifetime, and its
//! outcome, which is stored with the user.

use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_login::sessions::PasskeyOffer;
use signpost_store::{Statement, params};

use crate::harness::{Integrator, Phone, Service, text};
use crate::link::add_keys_up_to;
use crate::page_flow::{
    SECRET, browser, code, complete_session, create_session, create_user, page_of, scan_and_answer, shop, visit_page,
};

/// A P-256 public key.
const KEY: &str = "3059301306072a8648ce3d020106082a8648ce3d030107034200046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

async fn execute_sql(service: &Service, sql: &'static str) {
    service.app.store.write([Statement::new(sql, Vec::new())]).await.expect("a database");
}

/// Answers by wallet, and returns the session and its offer.
async fn answer_by_wallet(service: &Service, integrator: &Integrator, with: Value) -> (Value, PasskeyOffer) {
    let session = create_session(integrator, with).await;
    let page = visit_page(service, &session, &browser(1)).await;
    scan_and_answer(integrator, &service.phone(), &page).await.with(200);
    let offer = page_of(service, &session).await.offer().clone();
    (session, offer)
}

async fn complete_login(service: &Service, integrator: &Integrator, session: &Value) -> Value {
    let page = page_of(service, session).await;
    complete_session(integrator, session, &code(&page, &browser(1)), Some(SECRET)).await.with(200)
}

/// Stores the outcome of the offer.
async fn settle(service: &Service, session: &Value, offer: &Value) {
    const SETTLE: &str = "UPDATE sessions SET passkey_offer = $1 WHERE id = $2";
    let settled =
        service.app.store.write([Statement::new(SETTLE, params![offer.to_string(), text(session, "id")])]).await;
    assert!(settled.expect("a database").is_committed());
    service.app.login.session_changed(&page_of(service, session).await.id);
}

fn made(handle: u8, petname: Option<&str>) -> Value {
    let handle = signpost_auth::PasskeyHandle::from_bytes([handle; 32]).to_string();
    let mut made = json!({ "offer": "made", "public_key": KEY, "id": "AQID", "sign_count": 3, "handle": handle });
    if let Some(petname) = petname {
        made["petname"] = petname.into();
    }
    made
}

async fn user_of(service: &Service, integrator: &Integrator, done: &Value) -> Value {
    let domains = integrator.get("/domains").await.with(200);
    let path = format!("/domains/{}/users/{}", text(&domains["domains"][0], "id"), text(&done["user"], "id"));
    assert!(service.outbox().await.len() < 10);
    integrator.get(&path).await.with(200)
}

#[tokio::test]
async fn users_without_a_passkey_get_an_offer() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let (session, offer) = answer_by_wallet(&service, &integrator, json!({ "mode": "register" })).await;
    assert_eq!(offer, PasskeyOffer::Open);
    complete_login(&service, &integrator, &session).await;
    assert_eq!(answer_by_wallet(&service, &integrator, json!({})).await.1, PasskeyOffer::Open);
    for without in [
        "UPDATE domains SET methods = 'scan'",
        "UPDATE domains SET methods = NULL",
        "UPDATE users SET passkey_declined_at = 1",
    ] {
        execute_sql(&service, without).await;
        service.app.login.domains.restart(true);
        let expected = if without.ends_with("NULL") { PasskeyOffer::Open } else { PasskeyOffer::NotMade };
        assert_eq!(answer_by_wallet(&service, &integrator, json!({})).await.1, expected, "{without}");
    }
}

#[tokio::test]
async fn server_at_an_ip_address_offers_no_passkey() {
    let settings = [("public_url", "https://192.0.2.7"), ("allow_private_webhooks", "true")];
    let service = Service::with(&settings).await;
    let integrator = shop(&service).await;
    assert_eq!(answer_by_wallet(&service, &integrator, json!({ "mode": "register" })).await.1, PasskeyOffer::NotMade);
}

#[tokio::test]
async fn offer_expires_after_five_minutes() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let (session, _) = answer_by_wallet(&service, &integrator, json!({ "mode": "register" })).await;
    service.advance_clock(SignedDuration::from_secs(299));
    integrator.get_session(&session).await.with(200);
    service.advance_clock(SignedDuration::from_secs(1));
    integrator.get_session(&session).await.assert_error(410, "session_expired");
}

#[tokio::test]
async fn declined_offer_is_not_repeated() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let (session, _) = answer_by_wallet(&service, &integrator, json!({ "mode": "register" })).await;
    settle(&service, &session, &json!({ "offer": "declined" })).await;
    complete_login(&service, &integrator, &session).await;
    assert_eq!(answer_by_wallet(&service, &integrator, json!({})).await.1, PasskeyOffer::NotMade);
}

#[tokio::test]
async fn passkey_of_a_registration_names_the_user() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let (session, _) = answer_by_wallet(&service, &integrator, json!({ "mode": "register" })).await;
    settle(&service, &session, &made(7, Some("calm-otter-1234"))).await;
    let done = complete_login(&service, &integrator, &session).await;
    let user = user_of(&service, &integrator, &done).await;
    assert_eq!((&done["method"], &user["petname"]), (&json!("scan"), &json!("calm-otter-1234")));
    let kinds: Vec<_> = user["credentials"].as_array().expect("a list").iter().map(|own| &own["kind"]).collect();
    assert_eq!(kinds.len(), 2);
    assert!(kinds.contains(&&json!("passkey")) && kinds.contains(&&json!("wallet")));
    assert_eq!(answer_by_wallet(&service, &integrator, json!({})).await.1, PasskeyOffer::NotMade, "there is one");
}

#[tokio::test]
async fn passkey_of_a_login_is_an_event() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let domains = integrator.get("/domains").await.with(200);
    let path = format!("/domains/{}", text(&domains["domains"][0], "id"));
    integrator.patch(&path, &json!({ "events": ["credential.added"] })).await.with(200);
    let (session, _) = answer_by_wallet(&service, &integrator, json!({ "mode": "register" })).await;
    settle(&service, &session, &made(7, None)).await;
    let done = complete_login(&service, &integrator, &session).await;
    let outbox = service.outbox().await;
    let [queued] = &*outbox else { panic!("{outbox:?}") };
    let data = &queued.body["data"];
    assert_eq!((&queued.body["event"], &queued.body["session_id"]), (&json!("credential.added"), &session["id"]));
    assert_eq!((&data["kind"], &data["user_id"]), (&json!("passkey"), &done["user"]["id"]));
    // A passkey that cannot be added is no event: another user has it.
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    scan_and_answer(&integrator, &Phone::of(21, &service.clock), &page).await.with(200);
    settle(&service, &session, &made(8, None)).await;
    complete_login(&service, &integrator, &session).await;
    assert_eq!(service.outbox().await.len(), 1);
}

#[tokio::test]
async fn taken_username_is_not_assigned_twice() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let other = create_user(&service, &integrator, &Phone::of(21, &service.clock)).await;
    execute_sql(&service, "INSERT INTO petnames (domain_id, petname) SELECT domain_id, 'calm-otter-1234' FROM users")
        .await;
    let (session, _) = answer_by_wallet(&service, &integrator, json!({ "mode": "register" })).await;
    settle(&service, &session, &made(7, Some("calm-otter-1234"))).await;
    let done = complete_login(&service, &integrator, &session).await;
    let user = user_of(&service, &integrator, &done).await;
    assert_ne!((&user["petname"], &user["id"]), (&json!("calm-otter-1234"), &other["user"]["id"]));
    assert_eq!(user["credentials"].as_array().map(Vec::len), Some(2), "the passkey is there all the same");
}

#[tokio::test]
async fn invalid_passkey_does_not_fail_the_login() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    create_user(&service, &integrator, &service.phone()).await;
    execute_sql(&service, "UPDATE users SET passkey_handle = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'").await;
    // Created for another handle than the user's.
    let (session, _) = answer_by_wallet(&service, &integrator, json!({})).await;
    settle(&service, &session, &made(7, None)).await;
    let done = complete_login(&service, &integrator, &session).await;
    let user = user_of(&service, &integrator, &done).await;
    assert_eq!(user["credentials"].as_array().map(Vec::len), Some(1));
    // Created in time, but now another user's.
    let (session, _) = answer_by_wallet(&service, &integrator, json!({})).await;
    settle(&service, &session, &made(0, None)).await;
    execute_sql(
        &service,
        "INSERT INTO credentials (domain_id, public_key, created_at, id, user_id, kind, name, passkey_id, sign_count)
         SELECT 'dom_x', '3059', created_at, 'cred_x', 'usr_x', 'passkey', '', 'AQID', 0 FROM credentials LIMIT 1",
    )
    .await;
    let done = complete_login(&service, &integrator, &session).await;
    assert_eq!(user_of(&service, &integrator, &done).await["credentials"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn user_with_ten_keys_gets_no_offer() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let registered = create_user(&service, &integrator, &service.phone()).await;
    let user = text(&registered["user"], "id");
    add_keys_up_to(&service, user, 9).await;
    assert_eq!(answer_by_wallet(&service, &integrator, json!({})).await.1, PasskeyOffer::Open);
    service
        .app
        .store
        .write([Statement::new("DELETE FROM credentials WHERE name = 'Another'", Vec::new())])
        .await
        .expect("a database");
    add_keys_up_to(&service, user, 10).await;
    assert_eq!(answer_by_wallet(&service, &integrator, json!({})).await.1, PasskeyOffer::NotMade);
}
