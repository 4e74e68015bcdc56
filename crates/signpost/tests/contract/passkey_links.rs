//! Passkey links, and attempts to take an account over.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};

use crate::harness::{Browser, Integrator, Service, text};
use crate::page_flow::{create_session, create_user, page_of, register_hosted_domain, shop, users};
use crate::passkey::{Lie, TestPasskey, USER_VERIFIED};
use crate::passkeys::{credentials, sign_up, start_login};

/// Opens a link session for a user in this browser.
async fn open_link(integrator: &Integrator, browser: &mut Browser, user: &Value) -> Value {
    let session = create_session(integrator, json!({ "mode": "link", "user": user["id"] })).await;
    browser.open(&session).await.is(200, "waiting");
    session
}

#[tokio::test]
async fn linked_passkey_logs_in() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let user = create_user(&service, &integrator, &service.phone()).await["user"].clone();
    let session = open_link(&integrator, &mut browser, &user).await;
    let asked = browser.asked(&session, "create").await;
    assert_eq!(asked["excludeCredentials"], json!([]));
    let mut passkey = browser.create_passkey(&session).await;
    let done = browser.return_to_site(&integrator, &session).await.with(200);
    assert_eq!((&done["mode"], &done["method"], &done["user"]["id"]), (&json!("link"), &json!("passkey"), &user["id"]));
    let event = service.outbox().await.into_iter().find(|event| event.body["event"] == "link").expect("an event").body;
    let data = &event["data"];
    assert_eq!((&data["user_id"], &data["method"]), (&user["id"], &json!("passkey")));
    assert_eq!((&data["signature"], &data["public_key"]), (&json!(""), &done["user"]["public_key"]));
    let client = BASE64URL_NOPAD.decode(text(&data["webauthn"], "client_data_json").as_bytes()).expect("base64url");
    assert_eq!(serde_json::from_slice::<Value>(&client).expect("JSON")["type"], "webauthn.create");
    let login = start_login(&integrator, &mut browser, "shop.test").await;
    assert_eq!(browser.use_passkey(&login, &mut passkey).await, (200, json!({})));
    assert_eq!(browser.return_to_site(&integrator, &login).await.with(200)["user"]["id"], user["id"]);
    // The options exclude the existing passkey, and name the same user on every device.
    let next = open_link(&integrator, &mut browser, &user).await;
    let again = browser.asked(&next, "create").await;
    assert_eq!(again["excludeCredentials"], json!([{ "type": "public-key", "id": passkey.id() }]));
    assert_eq!(again["user"], asked["user"]);
}

#[tokio::test]
async fn forged_passkey_is_not_linked() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let registered = create_user(&service, &integrator, &service.phone()).await;
    let session = open_link(&integrator, &mut browser, &registered["user"]).await;
    let asked = browser.asked(&session, "create").await;
    for lie in [Lie::Origin("https://evil.test"), Lie::Challenge([1; 32]), Lie::Flags(USER_VERIFIED), Lie::CrossOrigin]
    {
        let (_, made) = TestPasskey::create(&asked, &browser.origin, &[lie]);
        assert_eq!(browser.post_credential(&session, &made).await.0, 422);
    }
    // An assertion is rejected as well.
    let (mut passkey, _) = TestPasskey::create(&asked, &browser.origin, &[]);
    let options = json!({ "challenge": asked["challenge"], "rpId": "localhost" });
    assert_eq!(browser.post_credential(&session, &passkey.get(&options, &browser.origin, &[])).await.0, 422);
    assert!(!page_of(&service, &session).await.is_answered());
    assert_eq!(credentials(&integrator, &registered).await.len(), 1);
}

#[tokio::test]
async fn duplicate_passkey_id_takes_over_no_account() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let mut browser = Browser::at(&service);
    register_hosted_domain(&integrator, "shop.test").await;
    let (mut passkey, victim) = sign_up(&integrator, &mut browser, "shop.test").await;
    register_hosted_domain(&integrator, "bank.test").await;
    let id = BASE64URL_NOPAD.decode(passkey.id().as_bytes()).expect("base64url");
    // At its own domain and at another.
    for domain in ["shop.test", "bank.test"] {
        let session = create_session(&integrator, json!({ "mode": "register", "domain": domain })).await;
        browser.open(&session).await.is(200, "waiting");
        let asked = browser.asked(&session, "create").await;
        let (_, made) = TestPasskey::create(&asked, &browser.origin, &[Lie::NamedAs(id.clone())]);
        let (status, response) = browser.post_credential(&session, &made).await;
        assert!((400..500).contains(&status), "{domain}: {status} {response}");
        assert!(!page_of(&service, &session).await.is_answered(), "{domain}");
    }
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    assert_eq!(browser.use_passkey(&session, &mut passkey).await, (200, json!({})));
    assert_eq!(browser.return_to_site(&integrator, &session).await.with(200)["user"]["id"], victim["user"]["id"]);
}

#[tokio::test]
async fn first_completed_duplicate_gets_the_account() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let session = create_session(&integrator, json!({ "mode": "register" })).await;
        browser.open(&session).await.is(200, "waiting");
        let asked = browser.asked(&session, "create").await;
        let (_, made) = TestPasskey::create(&asked, &browser.origin, &[Lie::NamedAs(vec![1; 16])]);
        assert_eq!(browser.post_credential(&session, &made).await, (200, json!({})));
        sessions.push(session);
    }
    browser.return_to_site(&integrator, &sessions[1]).await.with(200);
    browser.return_to_site(&integrator, &sessions[0]).await.assert_error(409, "user_exists");
    assert_eq!(users(&service).await, 1);
}
