//! The page that adds a key expires with the permission that opened it (docs/account.md, docs/api.md, Link): a
//! credential, a session, or the operator role.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost::console::operators;
use signpost_login::ids::UserId;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys;
use signpost_store::{Statement, params};

use crate::account::{keys_on, log_in, scan_and_answer, signed_in};
use crate::account_keys::add_key;
use crate::console::{browser_at, link, operator, operator_by, post_form};
use crate::harness::{Browser, Integrator, Phone, Service, ShownPage, is_written, send, text, until};
use crate::link::{answer_and_confirm, complete_link, open_link, phone, register_user};
use crate::page_flow::{create_session, shop};

/// Returns the only user of a domain, as in the API.
async fn only_user(integrator: &Integrator, account: &str) -> Value {
    let domain = account.rsplit('/').next().expect("an ID");
    let users = integrator.get(&format!("/domains/{domain}/users")).await.with(200);
    users["users"][0].clone()
}

/// Opens the page that adds a key, in a signed-in browser.
async fn open_add_key_page(browser: &mut Browser, account: &str) -> ShownPage {
    let shown = browser.visit(account).await;
    let page = browser.submit(shown.is(200, "account"), "add", "").await;
    page.is(200, "waiting");
    page
}

/// Checks that the page is cancelled and adds no key.
async fn check_cancelled(service: &Service, integrator: &Integrator, browser: &mut Browser, page: &ShownPage) {
    assert_eq!(scan_and_answer(integrator, &Phone::of(66, &service.clock), page).await, 404);
    let cancel = page.form("cancel").0;
    let path = cancel.split("/cancel").next().expect("a path");
    // On PostgreSQL a server may have a stale cache for a moment.
    let shows_it = async || (browser.visit(path).await.state() == "cancelled").then_some(());
    until("the page is cancelled", shows_it).await;
}

#[tokio::test]
async fn removing_a_credential_cancels_add_key_pages() {
    let service = Service::start().await;
    let (integrator, mut owner, account) = signed_in(&service).await;
    let second = Phone::of(8, &service.clock);
    let added = add_key(&integrator, &mut owner, &account, &second).await;
    let stolen = keys_on(&added)[1].clone();
    let mut thief = Browser::at(&service);
    log_in(&integrator, &mut thief, &second, "shop.test").await;
    let page = open_add_key_page(&mut thief, &account).await;
    let asked = owner.submit(&added, &format!("remove-{stolen}"), &format!("&credential={stolen}")).await;
    owner.submit(asked.is(200, "remove"), "remove", &format!("&credential={stolen}")).await.is(200, "removed");
    check_cancelled(&service, &integrator, &mut thief, &page).await;
}

#[tokio::test]
async fn the_credential_api_cancels_add_key_pages() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    add_key(&integrator, &mut browser, &account, &Phone::of(8, &service.clock)).await;
    let user = only_user(&integrator, &account).await;
    let domain = account.rsplit('/').next().expect("an ID");
    let (user, spare) = (text(&user, "id"), text(&user["credentials"][1], "id"));
    let path = format!("/domains/{domain}/users/{user}/credentials/{spare}");
    let page = open_add_key_page(&mut browser, &account).await;
    assert_eq!(send(integrator.request(Method::DELETE, &path)).await.status, 204);
    check_cancelled(&service, &integrator, &mut browser, &page).await;
}

#[tokio::test]
async fn removing_users_cancels_unconfirmed_links() {
    for is_all in [false, true] {
        let service = Service::start().await;
        let (integrator, mut browser, account) = signed_in(&service).await;
        let user = text(&only_user(&integrator, &account).await, "id").to_owned();
        let users = format!("/domains/{}/users", account.rsplit('/').next().expect("an ID"));
        let answered = open_add_key_page(&mut browser, &account).await;
        assert_eq!(scan_and_answer(&integrator, &Phone::of(8, &service.clock), &answered).await, 200);
        let path = answered.form("cancel").0;
        let asked = browser.visit(path.split("/cancel").next().expect("a path")).await;
        let key = asked.is(200, "link").between("name=\"key\" value=\"", "\"").to_owned();
        let pending = open_add_key_page(&mut browser, &account).await;
        let path = if is_all { users.clone() } else { format!("{users}/{user}") };
        assert_eq!(send(integrator.request(Method::DELETE, &path)).await.status, 204);
        // The page does not report a key as added to a deleted user.
        let confirmed = browser.submit(&asked, "confirm-link", &format!("&answer=yes&key={key}")).await;
        assert_eq!(confirmed.state(), "cancelled", "{}", confirmed.html);
        check_cancelled(&service, &integrator, &mut browser, &pending).await;
        let left = integrator.get(&users).await.with(200);
        assert_eq!(left["users"], json!([]));
    }
}

#[tokio::test]
async fn signing_out_cancels_add_key_pages() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let page = open_add_key_page(&mut browser, &account).await;
    let shown = browser.visit(&account).await;
    browser.submit(&shown, "sign-out", "").await.is(200, "signed-out");
    check_cancelled(&service, &integrator, &mut browser, &page).await;
}

#[tokio::test]
async fn issuer_logout_cancels_add_key_pages() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let page = open_add_key_page(&mut browser, &account).await;
    let domain = account.rsplit('/').next().expect("an ID");
    let asked = browser.visit(&format!("/sandbox/{domain}/logout")).await;
    browser.submit(asked.is(200, "logout"), "logout", "").await.is(200, "logged-out");
    check_cancelled(&service, &integrator, &mut browser, &page).await;
}

#[tokio::test]
async fn console_sign_out_cancels_add_key_pages() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    let integrator = service.integrator().await;
    let listed = browser.visit("/account").await;
    let account = listed.between("href=\"/account/", "?").to_owned();
    let page = open_add_key_page(&mut browser, &format!("/account/{account}")).await;
    let today = browser.visit("/console").await;
    post_form(&mut browser, &today, "/console/sign-out", "").await;
    check_cancelled(&service, &integrator, &mut browser, &page).await;
}

/// A write between the read and the write of a completion.
const DELETE_KEY: &str = "DELETE FROM credentials WHERE id = $1";

#[tokio::test]
async fn a_link_requires_the_credential_that_opened_it() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let (session, page) = open_link(&service, &integrator, &user).await;
    let opener = page.link().and_then(|link| link.credential.clone()).expect("the credential that logged in");
    answer_and_confirm(&service, &integrator, &session, &phone(&service, 21)).await;
    crate::link::add_keys_up_to(&service, &user, 2).await;
    service.app.store.write([Statement::new(DELETE_KEY, params![&opener])]).await.expect("a database");
    complete_link(&integrator, &session, &page).await.assert_error(410, "session_cancelled");
    integrator.get_session(&session).await.assert_error(410, "session_cancelled");
    let key = phone(&service, 21).public_key();
    let domains = integrator.get("/domains").await.with(200);
    let path = format!("/domains/{}/users/{user}", text(&domains["domains"][0], "id"));
    let left = integrator.get(&path).await.with(200)["credentials"].clone();
    assert!(left.as_array().is_some_and(|left| left.len() == 1 && left[0]["public_key"] != json!(key)), "{left}");
}

#[tokio::test]
async fn a_link_requires_a_login_after_sign_out() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let user = text(&only_user(&integrator, &account).await, "id").to_owned();
    let shown = browser.visit(&account).await;
    browser.submit(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    let wanted = json!({
        "domain": "shop.test", "mode": "link", "user": user, "flow": "page", "metadata": { "return_url": "/back" },
    });
    integrator.post("/sessions", &wanted).await.assert_error(422, "recent_login_required");
    log_in(&integrator, &mut browser, &service.phone(), "shop.test").await;
    create_session(&integrator, json!({ "mode": "link", "user": user })).await;
}

/// Returns the ID of the newest operator.
async fn newest_operator(service: &Service) -> UserId {
    let all = operators::list(&service.app.store).await.expect("a database");
    all.last().expect("an operator").user_id.clone()
}

#[tokio::test]
async fn removing_an_operator_deletes_their_links() {
    let service = Service::start().await;
    let mut first = operator(&service).await;
    service.advance_clock(SignedDuration::from_secs(1));
    let mut second = operator_by(&service, &Phone::of(9, &service.clock)).await;
    let removed = newest_operator(&service).await;
    let keys = second.visit("/console/keys").await;
    let made = post_form(&mut second, &keys, "/console/operators", "").await;
    let token = made.between("id=\"new-link\">", "<").rsplit_once('#').expect("a token").1.to_owned();
    // The link is opened before its creator is removed.
    let (kept, mut accomplice) = (link(&service).await, browser_at(&service));
    let asked = accomplice.visit("/console/setup").await;
    accomplice.submit_link(&asked, &token).await.is(200, "setup-login");
    let keys = first.visit("/console/keys").await;
    let remove = format!("/console/operators/{removed}/remove");
    let question = post_form(&mut first, &keys, &remove, "").await;
    assert_eq!(post_form(&mut first, &question, &remove, "").await.status, 303);
    accomplice.visit("/console/setup").await.is(200, "setup");
    accomplice.submit_link(&asked, &token).await.is(403, "refused");
    // Links created on the command line have no creator who could be removed.
    accomplice.submit_link(&asked, &kept).await.is(200, "setup-login");
    assert_eq!(operators::list(&service.app.store).await.expect("a database").len(), 1);
}

#[tokio::test]
async fn an_operator_link_requires_its_creator() {
    const OPENED: &str = "UPDATE console_links SET browser = $1";
    let service = Service::start().await;
    let (store, now) = (&service.app.store, service.clock.now());
    let unknown = UserId::new(now, [1; 16]);
    let creator = Actor::Console(unknown.to_string());
    let token = operators::make_link(store, &creator, now).await.expect("a database").expect("room");
    let browser = signpost_platform::pages::cookie::CookieSecret::from_bytes([2; 32]);
    assert!(!is_written(operators::open_link(store, &token, &browser, now).await));
    // A link that was opened in time adds no operator either.
    store.write([Statement::new(OPENED, params![browser.hash().as_str()])]).await.expect("a database");
    assert!(!operators::has_link(store, &browser, now).await.expect("a database"));
    let user = UserId::new(now, [3; 16]);
    assert!(!is_written(operators::add_by_link(store, &browser, &user, now).await));
    assert!(operators::list(store).await.expect("a database").is_empty());
}

#[tokio::test]
async fn a_revoked_key_ends_long_polls_and_streams() {
    let service = Service::start().await;
    let (integrator, key) = service.integrator_with_id("acme", Environment::Sandbox).await;
    integrator.register_domain("shop.test").await;
    let session = integrator.create_session("shop.test").await;
    let id = text(&session, "id");
    let (poll, stream) = (format!("/sessions/{id}?wait=25"), format!("/sessions/{id}/events"));
    let revoking = async {
        until("both wait", async || (service.app.login.waiting.requests() == 2).then_some(())).await;
        let by = Actor::Operator;
        keys::sql::revoke(&service.app.store, &by, &key, service.clock.now()).await.expect("a database");
        // The authentication of the key is cached for at most this long.
        service.advance_clock(SignedDuration::from_secs(5));
    };
    let (polled, streamed, ()) = tokio::join!(integrator.get(&poll), integrator.get(&stream), revoking);
    polled.assert_error(401, "invalid_api_key");
    assert_eq!((streamed.status, streamed.text.matches("event: status").count()), (200, 1), "{}", streamed.text);
    until("no request waits", async || (service.app.login.waiting.sessions() == 0).then_some(())).await;
}
