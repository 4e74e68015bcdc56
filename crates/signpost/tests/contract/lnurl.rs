//! Lightning wallets (docs/api.md, Page flow): their requests, and replies that they can read.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_auth::{AuthUrl, K1, Wallet};
use signpost_login::flows::page;
use signpost_login::sessions::{NoticeReason, Renewal, Session};
use signpost_platform::accounts::Environment;

use crate::harness::{Integrator, Reply, Service, send, text};
use crate::page_flow::{
    SECRET, browser, code, complete_session, create_session, create_user, page_of, reason, register_hosted_domain,
    scan_and_answer, shop, users, visit_page,
};

fn wallet(number: u8) -> Wallet {
    Wallet::from_bytes([number; 32]).expect("a key")
}

/// Returns the link in the QR code.
fn lnurl(service: &Service, page: &Session) -> String {
    page.lnurl(&service.app.public_address).expect("a code for Lightning wallets")
}

/// Returns the URL with the test server's address as its host.
fn at_test_server(integrator: &Integrator, url: &str) -> reqwest::Url {
    let response: reqwest::Url = url.parse().expect("a URL");
    let mut here = reqwest::Url::parse(&integrator.api).expect("an address");
    here.set_path(response.path());
    here.set_query(response.query());
    here
}

/// Requests a URL of the login origin from the test server.
async fn fetch(integrator: &Integrator, url: &str) -> Reply {
    let reply = send(integrator.http.request(Method::GET, at_test_server(integrator, url))).await;
    assert_eq!(reply.status, 200, "wallets ignore the body of other statuses: {}", reply.text);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(
        (reply.header("cache-control"), reply.header("access-control-allow-origin")),
        (Some("no-store"), Some("*"))
    );
    reply
}

/// Returns the reason of an error, which must fit the window of a wallet.
#[track_caller]
fn error_reason(reply: &Reply) -> String {
    let response = reply.json();
    assert_eq!(response["status"], "ERROR", "{response}");
    let reason = text(&response, "reason").to_owned();
    assert!(reason.chars().count() <= 90 && !reason.contains('<'), "{reason}");
    reason
}

#[track_caller]
fn check_accepted(reply: &Reply) {
    assert_eq!(reply.json(), json!({ "status": "OK" }));
}

/// Answers the page's link with a signature of the wallet.
async fn answer(service: &Service, integrator: &Integrator, page: &Session, wallet: &Wallet) -> Reply {
    let url = AuthUrl::parse(&lnurl(service, page)).expect("a link that wallets can read");
    fetch(integrator, url.signed_by(wallet).as_str()).await
}

#[tokio::test]
async fn a_lightning_wallet_registers_and_logs_in() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    for mode in ["register", "login"] {
        let session = create_session(&integrator, json!({ "mode": mode })).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        check_accepted(&answer(&service, &integrator, &page, &wallet(5)).await);
        assert_eq!(integrator.get_session(&session).await.with(200)["status"], "pending");
        let done = complete_session(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
        assert_eq!(
            (&done["method"], &done["user"]["public_key"]),
            (&json!("lightning"), &json!(wallet(5).public_key().canonical()))
        );
        let event = service.outbox().await.pop().expect("an event").body;
        service.advance_clock(SignedDuration::from_secs(1));
        let data = &event["data"];
        assert_eq!((&event["event"], &data["method"]), (&json!(mode), &json!("lightning")));
        assert_eq!(
            (&data["signed_message"], &data["challenge"]),
            (&json!(page.challenge.to_string()), &data["signed_message"])
        );
        // The signature verifies.
        let check = json!({ "public_key": data["public_key"], "signature": data["signature"], "message": data["signed_message"] });
        assert_eq!(integrator.post("/verify", &check).await.with(200)["valid"], true);
    }
    assert_eq!(users(&service).await, 1);
}

#[tokio::test]
async fn changes_of_the_query_are_accepted() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    register_by_lightning(&service, &integrator, 5).await;
    for change in [
        |url: String| url,
        |url: String| url.replace("&action=login", "") + "&t=1700000000000",
        |url: String| {
            let (path, query) = url.split_once('?').expect("a query");
            let mut pairs: Vec<_> = query.split('&').collect();
            pairs.reverse();
            format!("{path}?{}", pairs.join("&"))
        },
        |url: String| {
            let (path, query) = url.split_once('?').expect("a query");
            let sent = query.split('&').filter(|pair| pair.starts_with("sig=") || pair.starts_with("key="));
            format!("{path}?{}", sent.collect::<Vec<_>>().join("&"))
        },
        |url: String| {
            let (path, query) = url.split_once('?').expect("a query");
            let upper = query.split('&').map(|pair| match pair.split_once('=') {
                Some((name @ ("k1" | "sig" | "key"), hex)) => format!("{name}={}", hex.to_uppercase()),
                _ => pair.to_owned(),
            });
            format!("{path}?{}", upper.collect::<Vec<_>>().join("&"))
        },
        |url: String| url.replace("action=login", "action=register"),
    ] {
        let session = create_session(&integrator, json!({})).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        let signed = AuthUrl::parse(&lnurl(&service, &page)).expect("a link").signed_by(&wallet(5));
        let url = change(signed.to_string());
        let reply = fetch(&integrator, &url).await;
        assert_eq!(reply.json(), json!({ "status": "OK" }), "{url}");
    }
}

async fn register_by_lightning(service: &Service, integrator: &Integrator, number: u8) {
    let session = create_session(integrator, json!({ "mode": "register" })).await;
    let page = visit_page(service, &session, &browser(1)).await;
    check_accepted(&answer(service, integrator, &page, &wallet(number)).await);
    complete_session(integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
}

#[tokio::test]
async fn invalid_answers_get_a_reason_and_change_nothing() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    register_by_lightning(&service, &integrator, 5).await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let (link, other) = (lnurl(&service, &page), create_session(&integrator, json!({})).await);
    let other = visit_page(&service, &other, &browser(1)).await;
    let signed = AuthUrl::parse(&link).expect("a link").signed_by(&wallet(5)).to_string();
    let foreign = AuthUrl::parse(&lnurl(&service, &other)).expect("a link").signed_by(&wallet(5)).to_string();
    let query = |url: &str| url.split_once('?').expect("a query").1.to_owned();
    let path = link.split_once('?').expect("a query").0.to_owned();
    let without_k1 =
        |query: String| query.split('&').filter(|pair| !pair.starts_with("k1=")).collect::<Vec<_>>().join("&");
    for (url, expected) in [
        (link.clone(), "open this with a Lightning wallet"),
        (signed.clone() + "&sig=30", "duplicate parameter"),
        (signed.clone() + "&tag=login", "duplicate parameter"),
        (signed.replace("&key=", "&kee="), "key is missing"),
        (signed.replace("&sig=30", "&sig=31"), "sig must be"),
        (signed.replace("&key=", "&key=00"), "key must be"),
        (signed.replace("k1=", "k1=zz"), "k1 must"),
        (signed.replace("/lnurl/", "/lnurl/0"), "no session waits"),
        (format!("{}000000000000?{}", &path[..path.len() - 12], query(&signed)), "no session waits"),
        // The link of another session, with and without its `k1`.
        (format!("{path}?{}", query(&foreign)), "no session waits"),
        (format!("{path}?{}", without_k1(query(&foreign))), "the signature was not made by this key"),
        (format!("{path}?{}", "a".repeat(3000)), "too long"),
    ] {
        let reason = error_reason(&fetch(&integrator, &url).await);
        assert!(reason.contains(expected), "{url}: {reason}");
    }
    let now = page_of(&service, &session).await;
    assert!(!now.is_answered() && now.notice().is_none());
    let head = integrator.http.head(at_test_server(&integrator, &signed)).send().await.expect("an answer");
    assert_eq!((head.status().as_u16(), page_of(&service, &session).await.is_answered()), (405, false));
    check_accepted(&fetch(&integrator, &signed).await);
}

#[tokio::test]
async fn an_accepted_answer_can_be_repeated() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    register_by_lightning(&service, &integrator, 5).await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let link = AuthUrl::parse(&lnurl(&service, &page)).expect("a link");
    let signed = link.signed_by(&wallet(5)).to_string();
    for _ in 0..3 {
        check_accepted(&fetch(&integrator, &signed).await);
    }
    let answered = page_of(&service, &session).await;
    // Rejected: another key, and an invalid signature with the accepted key.
    let other = link.signed_by(&wallet(6));
    assert!(error_reason(&fetch(&integrator, other.as_str()).await).contains("no session waits"));
    let key = |url: &str| url.split("key=").nth(1).expect("a key").split('&').next().expect("a key").to_owned();
    let planted = other.as_str().replace(&key(other.as_str()), &key(&signed));
    assert!(error_reason(&fetch(&integrator, &planted).await).contains("no session waits"));
    assert_eq!(page_of(&service, &session).await.state, answered.state);
    complete_session(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
    assert!(error_reason(&fetch(&integrator, &signed).await).contains("no session waits"), "it is over");
}

#[tokio::test]
async fn an_ambiguous_link_is_rejected() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    register_by_lightning(&service, &integrator, 5).await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let other = create_session(&integrator, json!({})).await;
    let twin = format!("{}{}", &text(&other, "id")[..29], &page.id.as_str()[29..]);
    let rename = signpost_store::Statement::new(
        "UPDATE sessions SET id = $1 WHERE id = $2",
        vec![twin.as_str().into(), text(&other, "id").into()],
    );
    service.app.store.write([rename]).await.expect("a database");
    assert!(error_reason(&answer(&service, &integrator, &page, &wallet(5)).await).contains("no session waits"));
    assert!(!page_of(&service, &session).await.is_answered());
}

#[tokio::test]
async fn the_page_shows_replaced_codes_and_unknown_keys() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let renewed = page::renew_page(&service.app.login, page.clone(), Renewal::ByHand).await.expect("a page");
    let response = error_reason(&answer(&service, &integrator, &page, &wallet(5)).await);
    assert_eq!(response, "a new code replaced this one: scan the code that the page shows now");
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::Replaced));
    let response = error_reason(&answer(&service, &integrator, &renewed, &wallet(5)).await);
    assert_eq!(response, "no account has this key yet: scan the new code on the page to create one");
    let again = error_reason(&answer(&service, &integrator, &renewed, &wallet(5)).await);
    assert_eq!(again, response, "a repeated request gets the same response, and the page polls on");
    let asked = page_of(&service, &session).await;
    assert_eq!(reason(&asked), Some(NoticeReason::UnknownKey));
    assert!(lnurl(&service, &asked).ends_with("&action=register") && lnurl(&service, &page).ends_with("&action=login"));
    check_accepted(&answer(&service, &integrator, &asked, &wallet(5)).await);
    complete_session(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
    // A second registration with this key.
    let again = create_session(&integrator, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &again, &browser(1)).await;
    assert!(error_reason(&answer(&service, &integrator, &page, &wallet(5)).await).contains("exists"));
    assert_eq!(reason(&page_of(&service, &again).await), Some(NoticeReason::KeyKnown));
}

#[tokio::test]
async fn number_matching_excludes_lightning_wallets() {
    let settings = [("allow_private_webhooks", "true"), ("public_url", "https://login.test")];
    let service = Service::with(&settings).await;
    let sandbox = shop(&service).await;
    let session = create_session(&sandbox, json!({ "confirm": "code", "mode": "register" })).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    assert_eq!(page.lnurl("https://login.test"), None);
    let sent = format!("https://login.test/lnurl/{}?tag=login&k1={}", &page.id.as_str()[29..], K1::of(&page.challenge));
    let sent = AuthUrl::parse(&sent).expect("a link").signed_by(&wallet(5));
    assert!(error_reason(&fetch(&sandbox, sent.as_str()).await).contains("not accepted here"));
    scan_and_answer(&sandbox, &service.phone(), &page).await.with(200);
    // Live domains accept Lightning wallets only if their settings do.
    let live = service.integrator_of("acme", Environment::Live).await;
    register_hosted_domain(&live, "shop.test").await;
    let session = create_session(&live, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    assert!(error_reason(&answer(&service, &live, &page, &wallet(5)).await).contains("not accepted here"));
    assert!(!page_of(&service, &session).await.is_answered());
}

#[tokio::test]
async fn late_and_frequent_answers_are_errors_with_200() {
    let service = Service::with(&[("rate_limit_answer", "30/m")]).await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    service.advance_clock(SignedDuration::from_secs(120));
    assert!(error_reason(&answer(&service, &integrator, &page, &wallet(5)).await).contains("no session waits"));
    for _ in 0..2 {
        assert!(error_reason(&fetch(&integrator, &lnurl(&service, &page)).await).contains("Lightning wallet"));
    }
    assert!(error_reason(&fetch(&integrator, &lnurl(&service, &page)).await).contains("too many requests"));
}

#[tokio::test]
async fn any_origin_may_get_and_other_methods_fail() {
    let service = Service::start().await;
    let visitor = service.visitor();
    let reply = send(visitor.request(Method::OPTIONS, "/lnurl/000000000000")).await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (204, Some("*")));
    assert_eq!(reply.header("access-control-allow-methods"), Some("GET"));
    let head = visitor.request(Method::HEAD, "/lnurl/000000000000").send().await.expect("a reply");
    assert_eq!((head.status().as_u16(), head.headers()["allow"].to_str().expect("text")), (405, "GET, OPTIONS"));
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        let reply = send(visitor.request(method.clone(), "/lnurl/000000000000")).await;
        assert!(error_reason(&reply).contains("GET"), "{method}: {}", reply.text);
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{method}");
    }
    for path in ["/lnurl/", "/lnurl", "/lnurl/000000000000/", "/lnurl/a/b", "/lnurl/a/b/c"] {
        for method in [Method::GET, Method::POST] {
            let reply = send(visitor.request(method, path).header("accept", "text/html")).await;
            assert!(error_reason(&reply).contains("no login has this URL"), "{path}: {}", reply.text);
            assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{path}");
        }
    }
}

#[tokio::test]
async fn the_rate_limit_counts_invalid_requests() {
    let service = Service::with(&[("rate_limit_answer", "20/m")]).await;
    let visitor = service.visitor();
    for path in ["/lnurl/000000000000/", "/lnurl"] {
        assert!(error_reason(&send(visitor.request(Method::GET, path)).await).contains("no login has this URL"));
    }
    let reply = send(visitor.request(Method::POST, "/lnurl/000000000000")).await;
    assert!(error_reason(&reply).contains("too many requests"), "{}", reply.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_two_concurrent_wallets_wins() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    register_by_lightning(&service, &integrator, 5).await;
    create_user(&service, &integrator, &service.phone()).await;
    for _ in 0..10 {
        let session = create_session(&integrator, json!({})).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        let (phone, own) = (service.phone(), wallet(5));
        let (lightning, scanned) =
            tokio::join!(answer(&service, &integrator, &page, &own), scan_and_answer(&integrator, &phone, &page));
        let by_lightning = lightning.json() == json!({ "status": "OK" });
        let by_scan = scanned.status == 200;
        assert!(by_lightning != by_scan, "{} {}", lightning.text, scanned.text);
        let done = complete_session(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
        let method: &Value = &done["method"];
        assert_eq!(method, if by_lightning { "lightning" } else { "scan" });
    }
}
