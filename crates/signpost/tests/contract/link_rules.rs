//! Rules for the creation of link sessions (docs/api.md, Link), and the invariance of their mode.

use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_auth::Mode;
use signpost_login::flows::page;
use signpost_login::sessions::Renewal;
use signpost_platform::accounts::Environment;
use signpost_store::Statement;

use crate::harness::{Integrator, Service, send, text};
use crate::link::{open_link, phone, register_user};
use crate::page_flow::{
    browser, create_session, create_user, create_user_at, page_of, post_answer, register_hosted_domain, request, shop,
    shown, visit_page,
};

#[tokio::test]
async fn a_link_requires_a_recently_authenticated_user() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    for (with, field) in [
        (json!({ "mode": "link" }), "user"),
        (json!({ "mode": "link", "user": "usr_x" }), "user"),
        (json!({ "mode": "link", "user": service.phone().public_key() }), "user"),
        (json!({ "mode": "link", "user": user, "flow": "cross_device", "browser_hash": null }), "flow"),
        (json!({ "mode": "link", "user": user, "flow": "same_device" }), "flow"),
        (json!({ "mode": "register", "user": user }), "user"),
        (json!({ "mode": "unlink" }), "mode"),
    ] {
        let mut body = request(&with);
        if with["flow"].is_string() {
            body.as_object_mut().expect("an object").remove("browser_hash");
        }
        let refused = integrator.post("/sessions", &body).await.assert_error(400, "invalid_request");
        assert_eq!(refused["field"], field, "{with}");
    }
    let unknown = format!("usr_{}", "0".repeat(36));
    let asks = async |integrator: &Integrator, with: Value| {
        let mut body = json!({ "mode": "link", "user": user });
        for (name, value) in with.as_object().expect("an object") {
            body[name] = value.clone();
        }
        integrator.post("/sessions", &request(&body)).await
    };
    asks(&integrator, json!({ "user": unknown })).await.assert_error(404, "user_not_found");
    // Users of other domains and accounts are not found; direct domains have no links.
    register_hosted_domain(&integrator, "bank.test").await;
    asks(&integrator, json!({ "domain": "bank.test" })).await.assert_error(404, "user_not_found");
    let rival = service.integrator_of("rival", Environment::Sandbox).await;
    register_hosted_domain(&rival, "shop.test").await;
    asks(&rival, json!({})).await.assert_error(404, "user_not_found");
    integrator.register_domain("direct.test").await;
    asks(&integrator, json!({ "domain": "direct.test" })).await.assert_error(422, "domain_not_hosted");
    service.advance_clock(SignedDuration::from_mins(5));
    asks(&integrator, json!({})).await.with(201);
    service.advance_clock(SignedDuration::from_millis(1));
    asks(&integrator, json!({})).await.assert_error(422, "recent_login_required");
    let never = Statement::new("UPDATE users SET last_login_at = NULL", Vec::new());
    service.app.store.write([never]).await.expect("a database");
    asks(&integrator, json!({})).await.assert_error(422, "recent_login_required");
}

#[tokio::test]
async fn an_idempotency_key_covers_the_user() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let other = create_user(&service, &integrator, &phone(&service, 21)).await;
    let body = |user: &str| request(&json!({ "mode": "link", "user": user }));
    let first = integrator.create_idempotently("key", &body(&user)).await.with(201);
    assert_eq!(integrator.create_idempotently("key", &body(&user)).await.with(201)["id"], first["id"]);
    let foreign = text(&other["user"], "id");
    integrator.create_idempotently("key", &body(foreign)).await.assert_error(422, "idempotency_key_reused");
}

#[tokio::test]
async fn links_and_logins_are_not_interchangeable() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let (session, page) = open_link(&service, &integrator, &user).await;
    let second = phone(&service, 21);
    let response = shown(&page);
    let answer = second.answer_with(&response, response["confirm_code"].as_str());
    for path in ["/hosted/login", "/hosted/register"] {
        assert_eq!(integrator.post(path, &answer).await.status, 404, "{path}");
    }
    integrator.authenticate(&session, &answer).await.assert_error(404, "challenge_not_found");
    let login = create_session(&integrator, json!({})).await;
    let of_login = visit_page(&service, &login, &browser(1)).await;
    let response = shown(&of_login);
    let other = service.phone().answer_with(&response, response["confirm_code"].as_str());
    assert_eq!(integrator.post("/hosted/link", &other).await.status, 404);
    // A registration with the linked key would create an account of an attacker.
    for mode in [Mode::Login, Mode::Register] {
        let page = page::switch_mode(&service.app.login, page.clone(), mode).await.expect("a page");
        assert_eq!(page.challenge, page_of(&service, &session).await.challenge);
        assert_eq!(page.challenge.mode, Mode::Link);
    }
    let same = page::switch_mode(&service.app.login, of_login.clone(), Mode::Link).await.expect("a page");
    assert_eq!(same.challenge, of_login.challenge);
    let renewed = page::renew_page(&service.app.login, page.clone(), Renewal::ByHand).await.expect("a page");
    assert_eq!((renewed.challenge.mode, renewed.link()), (Mode::Link, page.link()));
    assert_ne!(renewed.challenge, page.challenge);
}

#[tokio::test]
async fn an_inconsistent_row_is_an_error() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    create_user_at(&service, &integrator, "shop.test", &phone(&service, 21)).await;
    for broken in [
        "UPDATE sessions SET link_user = NULL WHERE link_user IS NOT NULL",
        "UPDATE sessions SET link_confirmed_at = 5 WHERE link_user IS NOT NULL",
        "UPDATE sessions SET link_user = NULL, link_confirmed_at = 5 WHERE link_user IS NOT NULL",
        "UPDATE sessions SET passkey_offer = '{\"offer\":\"open\"}' WHERE link_user IS NOT NULL",
        "UPDATE sessions SET passkey_offer = '{\"offer\":\"later\"}' WHERE link_user IS NOT NULL",
        "UPDATE sessions SET link_user = 'usr_x' WHERE link_user IS NOT NULL",
    ] {
        let session = create_session(&integrator, json!({ "mode": "link", "user": user })).await;
        assert!(
            service.app.store.write([Statement::new(broken, Vec::new())]).await.expect("a database").is_committed()
        );
        integrator.get_session(&session).await.assert_error(500, "internal_error");
        service.app.store.write([Statement::new("DELETE FROM sessions", Vec::new())]).await.expect("a database");
    }
}

#[tokio::test]
async fn link_context_omits_the_user() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let (session, page) = open_link(&service, &integrator, &user).await;
    let ask = format!("{}/hosted/link?challenge={}", integrator.api, page.challenge);
    let context = send(integrator.http.get(ask)).await.with(200);
    assert_eq!((&context["domain"], &context["mode"]), (&json!("shop.test"), &json!("link")));
    assert!(context.get("user").is_none(), "the owner of the account is not disclosed");
    let shown = shown(&page);
    let number = shown["confirm_code"].as_str();
    let mut answer = phone(&service, 21).answer_with(&shown, number);
    answer["signature"] = phone(&service, 22).answer_with(&shown, number)["signature"].clone();
    assert_eq!(post_answer(&integrator, &shown, &answer).await.status, 406);
    assert!(!page_of(&service, &session).await.is_answered());
}
