//! `user` on a login session (docs/api.md, Login of one user): only this user completes it.

use futures_util::future::join_all;
use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_auth::{AuthUrl, Mode};
use signpost_login::flows::page;
use signpost_login::sessions::{NoticeReason, Session};
use signpost_store::{Statement, params};

use crate::examples::assert_error_example;
use crate::harness::{Browser, Integrator, Phone, Reply, Service, UNREACHABLE_URL, page_path, send, text};
use crate::link::{answer_and_confirm, complete_link, open_link, phone};
use crate::page_flow::{
    SECRET, browser, code, complete_session, create_session, create_user, create_user_at, page_of, post_answer, reason,
    register_hosted_domain, request, scan_and_answer, shop, shown, visit_page,
};
use crate::passkeys::sign_up;

/// The shop with two users, Ann and Bob, whose phones have the keys 21 and 22.
struct Shop {
    service: Service,
    integrator: Integrator,
    ann: String,
}

impl Shop {
    async fn start() -> Self {
        let service = Service::start().await;
        let integrator = shop(&service).await;
        let ann = create_user(&service, &integrator, &phone(&service, 21)).await;
        create_user(&service, &integrator, &phone(&service, 22)).await;
        let ann = text(&ann["user"], "id").to_owned();
        Self { service, integrator, ann }
    }

    fn phone(&self, number: u8) -> Phone {
        phone(&self.service, number)
    }

    /// Opens a login of Ann.
    async fn open(&self) -> (Value, Session) {
        let session = create_session(&self.integrator, json!({ "user": self.ann })).await;
        let page = visit_page(&self.service, &session, &browser(1)).await;
        (session, page)
    }

    async fn scan(&self, number: u8, page: &Session) -> Reply {
        scan_and_answer(&self.integrator, &self.phone(number), page).await
    }

    /// Returns the reply to the answer of a Lightning wallet with this key.
    async fn scan_lightning(&self, number: u8, page: &Session) -> Value {
        let link = page.lnurl(&self.service.app.public_address).expect("a link");
        let signed = AuthUrl::parse(&link).expect("a link").signed_by(&self.phone(number).wallet);
        let url = self.service.url(&format!("{}?{}", signed.path(), signed.query().expect("a query")));
        send(self.integrator.http.request(Method::GET, url)).await.with(200)
    }

    async fn complete(&self, session: &Value, page: &Session) -> Reply {
        complete_session(&self.integrator, session, &code(page, &browser(1)), Some(SECRET)).await
    }

    async fn page(&self, session: &Value) -> Session {
        page_of(&self.service, session).await
    }

    async fn sign_ins(&self) -> usize {
        const SIGNED_IN: &str = "SELECT id FROM browser_sessions WHERE user_id IS NOT NULL";
        self.service.app.store.read(SIGNED_IN, Vec::new()).await.expect("a database").len()
    }
}

#[tokio::test]
async fn only_the_named_user_completes_the_login() {
    let shop = Shop::start().await;
    let (session, page) = shop.open().await;
    let (events, sign_ins) = (shop.service.outbox().await.len(), shop.sign_ins().await);
    let other = shop.scan(22, &page).await;
    assert_eq!((other.status, &other.json()["details"]), (406, &json!({ "reason": "user" })), "{}", other.text);
    assert_error_example("WalletUserRefused", &other.json());
    let now = shop.page(&session).await;
    assert_eq!((now.is_answered(), reason(&now)), (false, Some(NoticeReason::OtherUser { tries_left: 2 })));
    // The reply to an unknown key is identical, and the login does not become a registration.
    let unknown = shop.scan(23, &now).await;
    assert_eq!((unknown.status, unknown.text), (406, other.text));
    let now = shop.page(&session).await;
    assert_eq!((now.challenge.mode, now.challenge.clone()), (Mode::Login, page.challenge.clone()));
    assert_eq!((now.is_answered(), reason(&now)), (false, Some(NoticeReason::OtherUser { tries_left: 1 })));
    assert_eq!(
        shop.complete(&session, &page).await.assert_error(406, "invalid_signature")["reason"],
        "completion_code"
    );
    assert_eq!((shop.service.outbox().await.len(), shop.sign_ins().await), (events, sign_ins));
    shop.scan(21, &now).await.with(200);
    let done = shop.complete(&session, &page).await.with(200);
    assert_eq!((&done["user"]["id"], &done["mode"]), (&json!(shop.ann), &json!("login")));
}

#[tokio::test]
async fn third_key_of_another_user_cancels_the_login() {
    let shop = Shop::start().await;
    let (session, page) = shop.open().await;
    let wrong = shown(&page);
    let reply = post_answer(&shop.integrator, &wrong, &shop.phone(21).answer_with(&wrong, Some("00"))).await;
    assert_eq!(reply.status, 406);
    assert_eq!(shop.scan(22, &page).await.status, 406);
    assert_eq!(shop.scan(23, &page).await.status, 406);
    shop.integrator.get_session(&session).await.assert_error(410, "session_cancelled");
    assert_eq!(shop.scan(21, &page).await.status, 404);
    let over = shop.page(&session).await;
    assert_eq!(reason(&over), Some(NoticeReason::OtherUser { tries_left: 0 }));
}

#[tokio::test]
async fn user_is_checked_after_signature_host_and_number() {
    let shop = Shop::start().await;
    let (session, page) = shop.open().await;
    let seen = shown(&page);
    let number = seen["confirm_code"].as_str();
    let mut forged = shop.phone(22).answer_with(&seen, number);
    forged["signature"] = shop.phone(21).answer_with(&seen, number)["signature"].clone();
    let reply = post_answer(&shop.integrator, &seen, &forged).await;
    assert_eq!((reply.status, reply.json().get("details").is_none()), (406, true), "{}", reply.text);
    let reply = post_answer(&shop.integrator, &seen, &shop.phone(22).answer_with(&seen, Some("00"))).await;
    assert_eq!((reply.status, &reply.json()["details"]["reason"]), (406, &json!("confirm_code")));
    assert_eq!(reason(&shop.page(&session).await), Some(NoticeReason::ConfirmCode { tries_left: 2 }));
}

#[tokio::test]
async fn lightning_wallet_of_another_user_counts_as_a_try() {
    let shop = Shop::start().await;
    let (session, page) = shop.open().await;
    let other = shop.scan_lightning(22, &page).await;
    assert_eq!(other["status"], "ERROR");
    assert_eq!(shop.scan_lightning(23, &page).await, other);
    let now = shop.page(&session).await;
    assert_eq!((now.challenge.mode, reason(&now)), (Mode::Login, Some(NoticeReason::OtherUser { tries_left: 1 })));
    assert_eq!(shop.scan_lightning(21, &page).await, json!({ "status": "OK" }));
    assert_eq!(shop.complete(&session, &page).await.with(200)["user"]["id"], json!(shop.ann));
    let (session, page) = shop.open().await;
    for number in 22..25 {
        assert_eq!(shop.scan_lightning(number, &page).await, other);
    }
    shop.integrator.get_session(&session).await.assert_error(410, "session_cancelled");
}

#[tokio::test]
async fn passkey_of_another_user_counts_as_a_try() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    register_hosted_domain(&integrator, "other.test").await;
    let mut browser = Browser::at(&service);
    let (mut own, signed_up) = sign_up(&integrator, &mut browser, "shop.test").await;
    let (mut others, _) = sign_up(&integrator, &mut browser, "shop.test").await;
    let (mut foreign, _) = sign_up(&integrator, &mut browser, "other.test").await;
    let user = text(&signed_up["user"], "id").to_owned();
    let session = create_session(&integrator, json!({ "user": user })).await;
    browser.open(&session).await.is(200, "waiting");
    assert_eq!(browser.asked(&session, "get").await["allowCredentials"], json!([]));
    let refused = browser.use_passkey(&session, &mut others).await;
    assert_eq!((refused.0, &refused.1["reason"]), (406, &json!("user")), "{refused:?}");
    assert_eq!(browser.use_passkey(&session, &mut foreign).await, refused);
    browser.open(&session).await.is(200, "refused");
    assert_eq!(browser.use_passkey(&session, &mut own).await, (200, json!({})));
    let done = browser.return_to_site(&integrator, &session).await.with(200);
    assert_eq!((&done["user"]["id"], &done["method"]), (&json!(user), &json!("passkey")));
    // A removed passkey gets the identical reply, and the device is not asked to delete it.
    let session = create_session(&integrator, json!({ "user": user })).await;
    browser.open(&session).await.is(200, "waiting");
    let remove = Statement::new("DELETE FROM credentials WHERE user_id <> $1", params![&user]);
    assert!(service.app.store.write([remove]).await.expect("a database").is_committed());
    for _ in 0..3 {
        assert_eq!(browser.use_passkey(&session, &mut others).await, refused);
    }
    integrator.get_session(&session).await.assert_error(410, "session_cancelled");
}

#[tokio::test]
async fn page_offers_no_account_and_names_no_user() {
    let shop = Shop::start().await;
    let session = create_session(&shop.integrator, json!({ "user": shop.ann })).await;
    let mut browser = Browser::at(&shop.service);
    let waiting = browser.open(&session).await;
    let plain = create_session(&shop.integrator, json!({})).await;
    assert!(browser.open(&plain).await.html.contains("id=\"switch-mode\""));
    assert_eq!(shop.scan(23, &shop.page(&session).await).await.status, 406);
    let refused = browser.open(&session).await;
    assert!(refused.is(200, "refused").html.contains("This key is not for this login"), "{}", refused.html);
    for html in [&waiting.html, &refused.html] {
        assert!(!html.contains("switch-mode") && !html.contains("Create an account"), "{html}");
        assert!(!html.contains(&shop.ann) && !html.contains("usr_"), "{html}");
    }
    // A form of another page cannot switch it either.
    let switched = page::switch_mode(&shop.service.app.login, shop.page(&session).await, Mode::Register).await;
    assert_eq!(switched.expect("a page").challenge.mode, Mode::Login);
    let token = waiting.between("name=\"token\" value=\"", "\"").to_owned();
    let form = browser.request(Method::POST, &format!("{}/mode", page_path(&session)));
    let form =
        form.header("origin", browser.origin.clone()).header("content-type", "application/x-www-form-urlencoded");
    browser.send(form.body(format!("token={token}&mode=register"))).await;
    assert_eq!(shop.page(&session).await.challenge.mode, Mode::Login);
}

#[tokio::test]
async fn requests_with_a_user_are_checked() {
    let shop = Shop::start().await;
    let integrator = &shop.integrator;
    let create = async |with: Value| integrator.post("/sessions", &request(&with)).await;
    create(json!({ "user": "ann" })).await.assert_invalid_field("user");
    create(json!({ "user": shop.ann, "mode": "register" })).await.assert_invalid_field("user");
    let body = json!({ "domain": "shop.test", "user": shop.ann });
    integrator.post("/sessions", &body).await.assert_error(422, "page_flow_required");
    let body =
        json!({ "domain": "shop.test", "user": shop.ann, "flow": "same_device", "metadata": { "return_url": "/" } });
    integrator.post("/sessions", &body).await.assert_error(422, "page_flow_required");
    integrator.register_domain_at("direct.test", UNREACHABLE_URL).await;
    create(json!({ "domain": "direct.test", "user": shop.ann })).await.assert_error(422, "domain_not_hosted");
    create(json!({ "user": "usr_06h0b0avgy59w2hwkb2v9bypdq5zsyfj88vg" })).await.assert_error(404, "user_not_found");
    register_hosted_domain(integrator, "other.test").await;
    let foreign = create_user_at(&shop.service, integrator, "other.test", &shop.phone(31)).await;
    create(json!({ "user": foreign["user"]["id"] })).await.assert_error(404, "user_not_found");
    let remove = Statement::new("DELETE FROM credentials WHERE user_id = $1", params![&shop.ann]);
    assert!(shop.service.app.store.write([remove]).await.expect("a database").is_committed());
    assert_error_example("NoCredential", &create(json!({ "user": shop.ann })).await.with(409));
}

#[tokio::test]
async fn idempotency_key_is_for_one_user() {
    let shop = Shop::start().await;
    let bob = create_user(&shop.service, &shop.integrator, &shop.phone(24)).await;
    let first = request(&json!({ "user": shop.ann }));
    let created = shop.integrator.create_idempotently("k", &first).await.with(201);
    assert_eq!(shop.integrator.create_idempotently("k", &first).await.with(201)["id"], created["id"]);
    for other in [request(&json!({ "user": bob["user"]["id"] })), request(&json!({}))] {
        shop.integrator.create_idempotently("k", &other).await.assert_error(422, "idempotency_key_reused");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_answers_of_other_users_never_win() {
    let shop = Shop::start().await;
    for round in 0..5 {
        let (session, page) = shop.open().await;
        let replies = join_all([21, 22, 21, 23].map(|number| shop.scan(number, &page))).await;
        let won = replies.iter().filter(|reply| reply.status == 200).count();
        let statuses: Vec<_> = replies.iter().map(|reply| reply.status).collect();
        assert!(won <= 1 && replies[1].status != 200 && replies[3].status != 200, "{statuses:?}");
        if won == 1 {
            assert_eq!(shop.complete(&session, &page).await.with(200)["user"]["id"], json!(shop.ann), "{round}");
        } else {
            assert_eq!(shop.complete(&session, &page).await.status, 410);
        }
    }
}

#[tokio::test]
async fn key_that_moved_to_another_user_does_not_complete() {
    let shop = Shop::start().await;
    let (service, integrator) = (&shop.service, &shop.integrator);
    let (link, of_link) = open_link(service, integrator, &shop.ann).await;
    answer_and_confirm(service, integrator, &link, &shop.phone(31)).await;
    complete_link(integrator, &link, &of_link).await.with(200);
    let mut waiting = Vec::new();
    for _ in 0..2 {
        let (session, page) = shop.open().await;
        shop.scan(31, &page).await.with(200);
        waiting.push((session, page));
    }
    let [(moved, of_moved), (removed, of_removed)] = &waiting[..] else { panic!("two") };
    let key = shop.phone(31).public_key();
    let remove = Statement::new("DELETE FROM credentials WHERE public_key = $1", params![&key]);
    assert!(service.app.store.write([remove]).await.expect("a database").is_committed());
    assert_error_example("UserRefused", &shop.complete(removed, of_removed).await.with(406));
    create_user(service, integrator, &shop.phone(31)).await;
    let sign_ins = shop.sign_ins().await;
    let refused = shop.complete(moved, of_moved).await;
    assert_eq!(refused.assert_error(406, "invalid_signature")["reason"], "user");
    integrator.get_session(moved).await.assert_error(410, "session_cancelled");
    assert_eq!(shop.sign_ins().await, sign_ins);
}

#[tokio::test]
async fn renewed_code_is_for_the_same_user() {
    let shop = Shop::start().await;
    let (session, _) = shop.open().await;
    shop.service.advance_clock(SignedDuration::from_secs(119));
    let renewed = page::renew_page(
        &shop.service.app.login,
        shop.page(&session).await,
        signpost_login::sessions::Renewal::Automatic,
    );
    let renewed = renewed.await.expect("a code");
    assert_eq!(shop.scan(22, &renewed).await.status, 406);
    shop.scan(21, &renewed).await.with(200);
}

#[tokio::test]
async fn completed_sessions_describe_their_user() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let registered = create_user(&service, &integrator, &service.phone()).await;
    let domains = integrator.get("/domains").await.with(200);
    let domain = text(&domains["domains"][0], "id").to_owned();
    let path = format!("/domains/{domain}/users/{}", text(&registered["user"], "id"));
    let stored = integrator.get(&path).await.with(200);
    let user = &registered["user"];
    assert_eq!((&registered["domain_id"], &user["is_new"]), (&json!(domain), &json!(true)));
    assert_eq!((&user["username"], &user["credential_count"]), (&stored["petname"], &json!(1)));
    assert_eq!((user.get("name"), user.get("groups")), (None, None));
    integrator.patch(&path, &json!({ "name": "Ann", "groups": ["staff"] })).await.with(200);
    let session = create_session(&integrator, json!({})).await;
    assert_eq!(session["domain_id"], json!(domain));
    assert_eq!(integrator.get_session(&session).await.with(200)["domain_id"], json!(domain));
    let page = visit_page(&service, &session, &browser(2)).await;
    scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
    let done = complete_session(&integrator, &session, &code(&page, &browser(2)), Some(SECRET)).await.with(200);
    let user = &done["user"];
    assert_eq!((&user["is_new"], &user["name"], &user["groups"]), (&json!(false), &json!("Ann"), &json!(["staff"])));
    assert_eq!(integrator.get_session(&session).await.with(200)["user"], *user);
    // A deleted user is not described any more.
    assert_eq!(send(integrator.request(Method::DELETE, &path)).await.status, 204);
    let later = integrator.get_session(&session).await.with(200);
    assert_eq!(
        (&later["user"]["id"], later["user"].get("name"), later["user"].get("username")),
        (&user["id"], None, None)
    );
}
