//! docs/handlers.md, Events about users: `user.signed_out`, by the user, the site and applications.

use serde_json::json;

use crate::account::{account_of, answer_session, code_of, log_in};
use crate::harness::{Browser, text};
use crate::openid_flow::Tenant;
use crate::page_flow::{SECRET, complete_session};
use crate::user_events::{Shop, delete};

#[tokio::test]
async fn sign_out_in_a_browser_names_the_login() {
    let shop = Shop::with_events(&json!(["user.signed_out"])).await;
    let mut browser = Browser::at(&shop.service);
    let phone = shop.service.phone();
    let (session, done) = answer_session(&shop.integrator, &mut browser, &phone, json!({})).await;
    complete_session(&shop.integrator, &session, &code_of(&done), Some(SECRET)).await.with(200);
    let account = account_of(&shop.domain);
    let shown = browser.visit(&account).await;
    let sign_ins = shop.integrator.get(&format!("{}/sign-ins", shop.user)).await.with(200);
    browser.submit(&shown, "sign-out", "").await.is(200, "signed-out");
    let event = shop.event("user.signed_out").await;
    assert_eq!(event["session_id"], session["id"]);
    let data = json!({
        "user_id": shop.user_id(), "everywhere": false, "sign_in_id": sign_ins["sign_ins"][0]["id"],
    });
    assert_eq!(event["data"], data);
    // A browser without a sign-in ends none.
    browser.submit(&shown, "sign-out", "").await;
    shop.event("user.signed_out").await;
}

#[tokio::test]
async fn sign_out_everywhere_is_one_event() {
    let shop = Shop::with_events(&json!(["user.signed_out"])).await;
    let mut browsers = [Browser::at(&shop.service), Browser::at(&shop.service)];
    for browser in &mut browsers {
        log_in(&shop.integrator, browser, &shop.service.phone(), "shop.test").await;
    }
    let shown = browsers[0].visit(&account_of(&shop.domain)).await;
    browsers[0].submit(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    let event = shop.event("user.signed_out").await;
    assert_eq!(event["session_id"], "");
    assert_eq!(event["data"], json!({ "user_id": shop.user_id(), "everywhere": true }));
}

#[tokio::test]
async fn ended_sign_in_is_named() {
    let shop = Shop::with_events(&json!(["user.signed_out"])).await;
    let mut browser = Browser::at(&shop.service);
    log_in(&shop.integrator, &mut browser, &shop.service.phone(), "shop.test").await;
    let path = format!("{}/sign-ins", shop.user);
    let sign_in = shop.integrator.get(&path).await.with(200)["sign_ins"][0]["id"].clone();
    let one = format!("{path}/{}", sign_in.as_str().expect("an id"));
    delete(&shop.integrator, &one).await;
    let event = shop.event("user.signed_out").await;
    assert_eq!((&event["data"]["sign_in_id"], &event["data"]["everywhere"]), (&sign_in, &json!(false)));
    shop.integrator.delete(&one).await.with(404);
    shop.event("user.signed_out").await;
}

#[tokio::test]
async fn logout_of_an_application_is_an_event() {
    let mut tenant = Tenant::trusted().await;
    let domain = format!("/domains/{}", text(&tenant.domain, "id"));
    tenant.integrator.patch(&domain, &json!({ "events": ["user.signed_out"] })).await.with(200);
    let tokens = tenant.tokens(&[("scope", "openid offline_access")]).await;
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("id_token_hint", text(&tokens, "id_token"))
        .finish();
    let path = format!("{}/logout?{query}", tenant.party.path);
    for _ in 0..2 {
        tenant.browser.visit(&path).await;
        let queued = tenant.service.outbox().await.into_iter().map(|queued| queued.body);
        let sent: Vec<_> = queued.filter(|body| text(body, "event") != "register").collect();
        assert_eq!(sent.len(), 1, "a second logout ends no sign-in: {sent:?}");
        assert_eq!((&sent[0]["event"], &sent[0]["data"]["everywhere"]), (&json!("user.signed_out"), &json!(false)));
    }
}
