//! docs/handlers.md, Hosted handlers: the service itself answers wallets according to the handler contract, and stores
//! the users.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_platform::accounts::Environment;

use crate::harness::{Endpoint, Integrator, Phone, Reply, Service, scan, send, text};

/// Registers a hosted domain with this webhook URL.
pub(crate) async fn shop(integrator: &Integrator, at: &str) -> Value {
    let domain = integrator.register_domain_at("shop.test", at).await;
    let path = format!("/domains/{}", text(&domain, "id"));
    let changed = integrator.patch(&path, &json!({ "handler": "hosted" })).await.with(200);
    assert_eq!(changed["handler"], "hosted");
    changed
}

pub(crate) async fn create_session(integrator: &Integrator, mode: &str) -> Value {
    integrator.post("/sessions", &json!({ "domain": "shop.test", "mode": mode })).await.with(201)
}

/// Posts the answer to the URL in the QR code, without an API key.
pub(crate) async fn post_answer(integrator: &Integrator, session: &Value, answer: &Value) -> Reply {
    let response = scan(session).webhook().clone();
    // The public URL does not resolve in tests, so the request goes to the server directly.
    let url = reqwest::Url::parse(&integrator.api).expect("an address").join(response.path()).expect("an address");
    send(integrator.http.post(url).header("content-type", "application/json").body(answer.to_string())).await
}

async fn register(service: &Service, integrator: &Integrator, phone: &Phone) {
    let session = create_session(integrator, "register").await;
    let answer = phone.answer_with(&session, session["confirm_code"].as_str());
    let reply = post_answer(integrator, &session, &answer).await.with(200);
    assert_eq!(reply["status"], "registered");
    assert!(!service.outbox().await.is_empty());
}

#[tokio::test]
async fn hosted_checks_follow_the_handler_contract() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    shop(&integrator, "http://127.0.0.1:1/hook").await;
    let (phone, session) = (service.phone(), create_session(&integrator, "login").await);
    assert!(scan(&session).webhook().path().ends_with("/sandbox/v1/hosted/login"));
    let answer = phone.answer(&session);
    let altered = |member: &str, value: Value| {
        let mut answer = answer.clone();
        answer[member] = value;
        answer
    };
    let without = |member: &str| {
        let mut answer = answer.clone();
        answer.as_object_mut().unwrap().remove(member);
        answer
    };
    for (body, status) in [
        (json!("text"), 400),
        (without("public_key"), 400),
        (altered("timestamp", json!("now")), 400),
        (altered("timestamp", json!(1)), 408),
        (altered("challenge", json!("svc:login:shop.test:1:AAAAAAAAAAAAAAAAAAAAAA")), 404),
        (altered("signature", json!("3006020101020101")), 406),
        (altered("public_key", json!("02")), 406),
        (answer.clone(), 404),
    ] {
        let reply = post_answer(&integrator, &session, &body).await;
        assert_eq!(reply.status, status, "{body}: {}", reply.text);
    }
    register(&service, &integrator, &phone).await;
    let reply = post_answer(&integrator, &session, &answer).await.with(200);
    assert_eq!(reply["status"], "authenticated");
    assert_eq!(post_answer(&integrator, &session, &answer).await.status, 404);
    assert_eq!(integrator.get_session(&session).await.with(200)["status"], "authenticated");
    let again = create_session(&integrator, "register").await;
    assert_eq!(post_answer(&integrator, &again, &phone.answer(&again)).await.status, 409);
}

#[tokio::test]
async fn login_endpoint_rejects_a_register_challenge() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    shop(&integrator, "http://127.0.0.1:1/hook").await;
    let session = create_session(&integrator, "register").await;
    let login = format!("{}/hosted/login", integrator.api);
    let body = service.phone().answer(&session).to_string();
    assert_eq!(send(integrator.http.post(login).body(body)).await.status, 404);
}

#[tokio::test]
async fn the_integrator_gets_events_and_lists_users() {
    let service = Service::start().await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    let domain = shop(&integrator, &endpoint.url("/hook")).await;
    let users = format!("/domains/{}/users", text(&domain, "id"));
    for number in 1..=3 {
        let phone = Phone::of(number, &service.clock);
        register(&service, &integrator, &phone).await;
        let event = endpoint.next_request().await.json();
        assert_eq!((&event["event"], &event["data"]["public_key"]), (&json!("register"), &json!(phone.public_key())));
    }
    let all = integrator.get(&users).await.with(200);
    assert_eq!(all["users"].as_array().map(Vec::len), Some(3));
    let first = integrator.get(&format!("{users}?limit=2")).await.with(200);
    let rest = integrator.get(&format!("{users}?limit=2&cursor={}", text(&first, "next_cursor"))).await.with(200);
    let keys = |page: &Value| {
        page["users"].as_array().unwrap().iter().map(|user| user["public_key"].clone()).collect::<Vec<_>>()
    };
    assert_eq!([keys(&first), keys(&rest)].concat(), keys(&all));
    let delete = |path: String| send(integrator.request(Method::DELETE, &path));
    let one = Phone::of(1, &service.clock);
    assert_eq!(delete(format!("{users}/{}", one.public_key())).await.status, 204);
    delete(format!("{users}/{}", one.public_key())).await.assert_error(404, "not_found");
    delete(format!("{users}/x")).await.assert_error(404, "not_found");
    let session = create_session(&integrator, "login").await;
    assert_eq!(post_answer(&integrator, &session, &one.answer(&session)).await.status, 404);
    assert_eq!(delete(users.clone()).await.status, 204);
    assert_eq!(integrator.get(&users).await.with(200), json!({ "users": [] }));
    let stranger = service.integrator_of("stranger", Environment::Sandbox).await;
    stranger.get(&users).await.assert_error(404, "domain_not_found");
}

#[tokio::test]
async fn one_of_eight_concurrent_answers_wins() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    shop(&integrator, "http://127.0.0.1:1/hook").await;
    let session = create_session(&integrator, "register").await;
    let race = (1..=8).map(|number| {
        let answer = Phone::of(number, &service.clock).answer(&session);
        let (integrator, session) = (integrator.clone(), session.clone());
        async move { post_answer(&integrator, &session, &answer).await.status }
    });
    let mut statuses = futures_util::future::join_all(race).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404, 404, 404, 404, 404, 404, 404]);
    let users = service.app.store.read("SELECT public_key FROM credentials", Vec::new()).await.expect("a database");
    assert_eq!((users.len(), service.outbox().await.len()), (1, 1));
}

#[tokio::test]
async fn a_live_login_requires_a_confirmation() {
    let settings = [("allow_private_webhooks", "true"), ("public_url", "https://login.test")];
    let service = Service::with(&settings).await;
    let integrator = service.integrator_of("acme", Environment::Live).await;
    shop(&integrator, "http://127.0.0.1:1/hook").await;
    let phone = service.phone();
    register(&service, &integrator, &phone).await;
    for (mode, key) in [("login", phone.public_key()), ("register", Phone::of(9, &service.clock).public_key())] {
        let session = create_session(&integrator, mode).await;
        let own = if mode == "login" { service.phone() } else { Phone::of(9, &service.clock) };
        assert_eq!(own.public_key(), key);
        let reply = post_answer(&integrator, &session, &own.answer(&session)).await;
        assert_eq!((reply.status, &reply.json()["details"]["reason"]), (406, &json!("confirm_code")));
        let typed = own.answer_with(&session, session["confirm_code"].as_str());
        post_answer(&integrator, &session, &typed).await.with(200);
        assert_eq!(integrator.get_session(&session).await.with(200)["user"]["public_key"], json!(key));
    }
    // In the same-device flow the wallet receives the completion code.
    let same = json!({ "domain": "shop.test", "flow": "same_device", "metadata": { "return_url": "/in" } });
    let session = integrator.post("/sessions", &same).await.with(201);
    assert_eq!(session.get("confirm_code"), None);
    let response = post_answer(&integrator, &session, &phone.answer(&session)).await.with(200);
    let code = text(&response, "redirect").split("code=").nth(1).expect("a code");
    let path = format!("/sessions/{}/complete", text(&session, "id"));
    let seen = integrator.post(&path, &json!({ "code": code })).await.with(200);
    assert_eq!(seen["user"]["public_key"], json!(phone.public_key()));
}

#[tokio::test]
async fn a_user_deleted_after_the_answer_cannot_log_in() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let phone = service.phone();
    register(&service, &integrator, &phone).await;
    let before = service.outbox().await.len();
    let same = json!({ "domain": "shop.test", "flow": "same_device", "metadata": { "return_url": "/in" } });
    let session = integrator.post("/sessions", &same).await.with(201);
    let response = post_answer(&integrator, &session, &phone.answer(&session)).await.with(200);
    let code = text(&response, "redirect").split("code=").nth(1).expect("a code");
    let users = format!("/domains/{}/users", text(&domain, "id"));
    let user = format!("{users}/{}", phone.public_key());
    assert_eq!(send(integrator.request(Method::DELETE, &user)).await.status, 204);
    let path = format!("/sessions/{}/complete", text(&session, "id"));
    let details = integrator.post(&path, &json!({ "code": code })).await.assert_error(406, "invalid_signature");
    assert_eq!(details["reason"], "completion_code");
    assert_eq!(integrator.get(&users).await.with(200)["users"], json!([]));
    assert_eq!(
        (integrator.get_session(&session).await.with(200)["status"].clone(), service.outbox().await.len()),
        (json!("pending"), before)
    );
}

#[tokio::test]
async fn a_wallet_can_read_the_requester() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    shop(&integrator, "http://127.0.0.1:1/hook").await;
    let requester = json!({ "ip": "203.0.113.9", "country": "US", "user_agent": "Firefox on Linux" });
    let body = json!({ "domain": "shop.test", "confirm": "code", "requester": requester });
    let session = integrator.post("/sessions", &body).await.with(201);
    let ask = |mode: &str, challenge: &str| {
        let url = format!("{}/hosted/{mode}?challenge={challenge}", integrator.api);
        send(integrator.http.get(url))
    };
    let response = ask("login", text(&session, "challenge")).await.with(200);
    assert_eq!((&response["requester"], &response["confirm"]), (&requester, &json!("code")));
    assert_eq!((&response["domain"], &response["mode"]), (&json!("shop.test"), &json!("login")));
    assert!(response.get("confirm_code").is_none());
    assert_eq!(ask("register", text(&session, "challenge")).await.status, 404);
    assert_eq!(ask("login", "").await.status, 404);
    service.advance_clock(SignedDuration::from_secs(300));
    assert_eq!(ask("login", text(&session, "challenge")).await.status, 404);
    for (member, value) in [("ip", "x"), ("country", "usa"), ("user_agent", "a\nb"), ("name", "x")] {
        let body = json!({ "domain": "shop.test", "requester": { member: value } });
        integrator.post("/sessions", &body).await.assert_invalid_field(&format!("requester.{member}"));
    }
}

#[tokio::test]
async fn an_ip_address_has_a_tenth_of_the_limit() {
    let service = Service::with(&[("rate_limit_answer", "30/m")]).await;
    let integrator = service.integrator().await;
    let url = format!("{}/hosted/login", integrator.api);
    for _ in 0..3 {
        assert_eq!(send(integrator.http.post(&url).body("{}")).await.status, 400);
    }
    let refused = send(integrator.http.post(&url).body("{}")).await;
    assert_eq!(refused.status, 429);
    assert!(refused.header("retry-after").is_some());
}

#[tokio::test]
async fn a_limited_account_gets_retry_after() {
    let service = Service::with(&[("rate_limit_answer", "20/m")]).await;
    let integrator = service.integrator().await;
    shop(&integrator, "http://127.0.0.1:1/hook").await;
    let session = create_session(&integrator, "login").await;
    let path = format!("/sessions/{}/simulate", text(&session, "id"));
    // Calls with the key use the bucket of the account, not the bucket of the IP address.
    for _ in 0..10 {
        integrator.post_nothing(&path).await.with(200);
    }
    let reply = post_answer(&integrator, &session, &service.phone().answer(&session)).await;
    assert_eq!(reply.status, 429, "{}", reply.text);
    let wait: u64 = reply.header("retry-after").expect("a wait").parse().expect("seconds");
    assert!((30..=60).contains(&wait), "{wait}");
    let state = format!("\"answer\";r=0;t={wait}");
    assert_eq!(reply.header("ratelimit"), Some(&*state));
    assert_eq!(reply.header("ratelimit-policy"), Some("\"answer\";q=20;w=60"));
    let ask = format!("{}/hosted/login?challenge={}", integrator.api, text(&session, "challenge"));
    assert_eq!(send(integrator.http.get(ask)).await.status, 429);
}

#[tokio::test]
async fn hosted_endpoint_rejects_direct_domains() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let url = format!("{}/hosted/login", integrator.api);
    let body = service.phone().answer(&session).to_string();
    assert_eq!(send(integrator.http.post(url).body(body)).await.status, 404);
}

#[tokio::test]
async fn local_wallets_get_a_localhost_url() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    shop(&integrator, "http://127.0.0.1:1/hook").await;
    let session = create_session(&integrator, "login").await;
    let here = format!("http://localhost:{}/sandbox/v1/hosted/login", service.app.listen.port());
    assert_eq!(scan(&session).webhook().as_str(), here);
}

#[tokio::test]
async fn live_hosted_sessions_require_https() {
    for (public_url, is_opened) in
        [("", false), ("http://login.test", false), ("http://localhost:8080", false), ("https://login.test", true)]
    {
        let service = Service::with(&[("public_url", public_url)]).await;
        let sandbox = service.integrator().await;
        let live = service.integrator_of("acme", Environment::Live).await;
        for integrator in [&live, &sandbox] {
            let domain = integrator.register_domain_at("shop.test", "https://shop.test/hook").await;
            integrator.create_session("shop.test").await;
            let path = format!("/domains/{}", text(&domain, "id"));
            integrator.patch(&path, &json!({ "handler": "hosted" })).await.with(200);
        }
        create_session(&sandbox, "login").await;
        for mode in ["login", "register"] {
            let reply = live.post("/sessions", &json!({ "domain": "shop.test", "mode": mode })).await;
            if is_opened {
                let response = scan(&reply.with(201)).webhook().to_string();
                assert_eq!(response, format!("https://login.test/v1/hosted/{mode}"));
            } else {
                let details = reply.assert_error(422, "insecure_public_url");
                assert_eq!(details["public_url"], json!(service.app.public_address));
            }
        }
    }
}
