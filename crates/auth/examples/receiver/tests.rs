//! Tests of the example with a stub of the service.

use std::future::ready;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, State};
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use signpost_auth::client::Signpost;
use signpost_auth::receiver::{EventRules, MAX_BODY_LEN, Paths, PollRules, Receiver, SiteOrigin};
use signpost_auth::{Answer, Challenge, DomainName, Mode, Nonce, QrData, Wallet, WebhookSecret};
use tokio::net::TcpListener;
use tower::ServiceExt;

use crate::memory::Memory;

const NOW: i64 = 1_700_000_000;
const KEY: &str = "svc_test_key";

/// A stub of the service. It stores the challenge of each session, or `None` once it is answered.
#[derive(Clone, Default)]
struct Service(Arc<Mutex<Vec<Option<Challenge>>>>);

impl Service {
    async fn start() -> Signpost {
        let routes = Router::new()
            .route("/v1/sessions", post(|state, headers: HeaderMap, body| ready(Self::open(state, &headers, body))))
            .route("/v1/sessions/{id}/refresh", post(|state, id| ready(Self::refresh(state, id))))
            .route(
                "/v1/sessions/{id}/authenticate",
                post(|state, id, body: Bytes| ready(Self::authenticate(state, id, &body))),
            )
            .with_state(Self::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(axum::serve(listener, routes).into_future());
        Signpost::new(KEY).unwrap().with_base_url(&base).unwrap()
    }

    fn session(index: usize, challenge: &Challenge, mode: Mode) -> Value {
        let webhook = format!("https://example.com/webhooks/{mode}").parse().unwrap();
        let qr = QrData::new(webhook, challenge.clone(), NOW + 300).unwrap();
        let (id, at) = (format!("sess_{index}"), "2023-11-14T22:18:20Z");
        json!({ "id": id, "challenge": challenge.to_string(), "qr_data": qr.to_string(), "expires_at": at,
                "status": "pending", "created_at": at })
    }

    fn open(State(Self(sessions)): State<Self>, headers: &HeaderMap, Json(body): Json<Value>) -> Json<Value> {
        assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
        let mode: Mode = body["mode"].as_str().unwrap().parse().unwrap();
        assert_eq!(body["webhook_url"], format!("https://example.com/webhooks/{mode}"));
        let domain = DomainName::parse(body["domain"].as_str().unwrap()).unwrap();
        let mut sessions = sessions.lock().unwrap();
        let nonce = Nonce([u8::try_from(sessions.len()).unwrap(); 16]);
        let challenge = Challenge { mode, domain, issued_at: NOW, nonce };
        sessions.push(Some(challenge.clone()));
        Json(Self::session(sessions.len() - 1, &challenge, mode))
    }

    fn refresh(State(Self(sessions)): State<Self>, Path(id): Path<String>) -> Json<Value> {
        let index: usize = id.strip_prefix("sess_").unwrap().parse().unwrap();
        let mut sessions = sessions.lock().unwrap();
        let challenge = sessions[index].as_mut().unwrap();
        challenge.nonce = Nonce([200; 16]);
        Json(Self::session(index, challenge, challenge.mode))
    }

    fn authenticate(
        State(Self(sessions)): State<Self>,
        Path(id): Path<String>,
        body: &[u8],
    ) -> (StatusCode, Json<Value>) {
        let answer = Answer::parse(body).unwrap();
        answer.verify().unwrap();
        let index: usize = id.strip_prefix("sess_").unwrap().parse().unwrap();
        match sessions.lock().unwrap()[index].take() {
            Some(challenge) if Challenge::parse(&answer.challenge) == Ok(challenge.clone()) => {
                (StatusCode::OK, Json(json!({ "id": id, "status": "authenticated" })))
            }
            _ => (StatusCode::CONFLICT, Json(json!({ "error": { "code": "session_already_authenticated" } }))),
        }
    }
}

/// The application under test.
struct App(Router);

struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

/// A page with a code, and the cookies of its browser.
struct Shown {
    sid: String,
    qr: QrData,
    cookie: String,
}

impl App {
    async fn start() -> Self {
        Self::with(Service::start().await)
    }

    fn with(signpost: Signpost) -> Self {
        let origin = SiteOrigin::parse("https://example.com").unwrap();
        let secrets = vec![WebhookSecret::from_bytes(&[1; 32])];
        Self(crate::routes::router(Arc::new(Receiver {
            site: Memory::new(signpost, DomainName::parse("example.com").unwrap(), origin.clone()),
            paths: Paths::default(),
            poll: PollRules { origin, bind_poll: true },
            events: EventRules { secrets, allowed_sources: Vec::new() },
            clock: || NOW,
        })))
    }

    async fn send(&self, method: &str, target: &str, cookie: &str, body: Vec<u8>) -> Reply {
        let request = Request::builder().method(method).uri(target).header(COOKIE, cookie);
        let (parts, body) = self.0.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap().into_parts();
        let text = String::from_utf8(to_bytes(body, MAX_BODY_LEN).await.unwrap().to_vec()).unwrap();
        Reply { status: parts.status, headers: parts.headers, text }
    }

    async fn get(&self, target: &str, cookie: &str) -> Reply {
        self.send("GET", target, cookie, Vec::new()).await
    }

    async fn show(&self, target: &str) -> Shown {
        let page = self.get(target, "").await;
        assert_eq!(page.status, 200, "{}", page.text);
        let part = |before: &str, after| page.text.split_once(before).unwrap().1.split_once(after).unwrap().0;
        let qr = QrData::parse(&part("id=\"text\">", "<").replace("&amp;", "&")).unwrap();
        Shown { sid: part("data-sid=\"", "\"").to_owned(), qr, cookie: page.cookie() }
    }

    async fn answer(&self, wallet: &Wallet, shown: &Shown) -> Reply {
        let answer = wallet.answer(shown.qr.challenge(), NOW, None);
        self.send("POST", shown.qr.webhook().path(), "", serde_json::to_vec(&answer).unwrap()).await
    }
}

impl Reply {
    fn cookie(&self) -> String {
        self.headers[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned()
    }
}

fn wallet(byte: u8) -> Wallet {
    Wallet::from_bytes([byte; 32]).unwrap()
}

#[tokio::test]
async fn user_registers_returns_and_logs_out() {
    let (app, wallet) = (App::start().await, wallet(1));
    let shown = app.show("/").await;
    assert_eq!(app.answer(&wallet, &shown).await.status, 404);

    for (page, status) in [("/register", "registered"), ("/", "authenticated")] {
        let shown = app.show(page).await;
        let poll = format!("/poll?sid={}", shown.sid);
        assert_eq!(app.get(&poll, &shown.cookie).await.text, r#"{"status":"pending"}"#);
        let reply = app.answer(&wallet, &shown).await;
        assert!(reply.status == 200 && reply.text.contains(status), "{}", reply.text);
        let reply = app.get(&poll, &shown.cookie).await;
        assert_eq!(reply.text, r#"{"redirect":"/account","status":"authenticated"}"#);
        let login = reply.cookie();
        assert!(app.get("/account", &login).await.text.contains(&wallet.public_key().canonical()));
        assert!(!app.get(&poll, &shown.cookie).await.headers.contains_key(SET_COOKIE));
        assert_eq!(app.send("POST", "/logout", &login, Vec::new()).await.status, 303);
        assert!(app.get("/account", &login).await.text.contains("Nobody"));
    }
    let shown = app.show("/register").await;
    assert_eq!(app.answer(&wallet, &shown).await.status, 409);
}

#[tokio::test]
async fn only_one_answer_wins() {
    let (app, first, second) = (App::start().await, wallet(1), wallet(2));
    let shown = app.show("/register").await;
    let (a, b) = tokio::join!(app.answer(&first, &shown), app.answer(&second, &shown));
    let mut codes = [a.status.as_u16(), b.status.as_u16()];
    codes.sort_unstable();
    assert_eq!(codes, [200, 404]);
    assert_eq!(app.answer(&first, &shown).await.status, 404);
}

#[tokio::test]
async fn login_belongs_to_the_browser_with_the_code() {
    let (app, wallet) = (App::start().await, wallet(1));
    let (shown, other) = (app.show("/register").await, app.show("/register").await);
    app.answer(&wallet, &shown).await;
    for cookie in ["", &other.cookie] {
        let reply = app.get(&format!("/poll?sid={}", shown.sid), cookie).await;
        assert_eq!(reply.text, r#"{"status":"pending"}"#);
    }
    let reply = app.get(&format!("/poll?sid={}", shown.sid), &format!("{}; {}", other.cookie, shown.cookie)).await;
    assert!(reply.text.contains("authenticated"));
}

#[tokio::test]
async fn refreshed_code_replaces_the_old_code() {
    let (app, wallet) = (App::start().await, wallet(1));
    let old = app.show("/register?return_url=/welcome").await;
    let refresh = format!("/refresh?sid={}", old.sid);
    assert_eq!(app.send("POST", &refresh, "", Vec::new()).await.status, 403);
    let reply = app.send("POST", &refresh, &old.cookie, Vec::new()).await;
    let new: Value = serde_json::from_str(&reply.text).unwrap();
    assert_eq!(new["expires_in"], 300);
    assert!(new["svg"].as_str().unwrap().starts_with("<svg "));
    assert_eq!(app.answer(&wallet, &old).await.status, 404);
    let new = Shown { qr: QrData::parse(new["qr_data"].as_str().unwrap()).unwrap(), ..old };
    assert_eq!(app.answer(&wallet, &new).await.status, 200);
    let reply = app.get(&format!("/poll?sid={}", new.sid), &new.cookie).await;
    assert_eq!(reply.text, r#"{"redirect":"/welcome","status":"authenticated"}"#);
}

#[tokio::test]
async fn repeated_event_changes_nothing() {
    let app = App::start().await;
    let data = json!({ "public_key": "02", "signature": "30", "challenge": "svc:", "signed_at": NOW });
    let event = json!({ "id": "evt_1", "event": "login", "timestamp": "t", "session_id": "sess_1", "data": data });
    let event = event.to_string();
    for (path, status) in [("/webhooks/login", "received"), ("/webhooks/events", "received before")] {
        let signature = WebhookSecret::from_bytes(&[1; 32]).x_svc_signature(event.as_bytes());
        let request = Request::post(path).header("X-Svc-Signature", signature).body(Body::from(event.clone())).unwrap();
        let reply = app.0.clone().oneshot(request).await.unwrap();
        assert_eq!(reply.status(), 200);
        let body = axum::body::to_bytes(reply.into_body(), 1024).await.unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), json!({ "status": status }));
    }
}

#[tokio::test]
async fn pages_load_only_own_resources() {
    let app = App::start().await;
    for target in ["/", "/register", "/account"] {
        let page = app.get(target, "").await;
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(!page.text.contains("src=\"http") && !page.text.contains("style=") && !page.text.contains("onclick"));
    }
    for (target, kind) in [("/login.js", "text/javascript"), ("/style.css", "text/css")] {
        assert_eq!(app.get(target, "").await.headers["content-type"], kind);
    }
    let elsewhere = app.show("/?return_url=//evil.example").await;
    assert_eq!(elsewhere.qr.challenge().mode, Mode::Login);
}

#[tokio::test]
async fn unavailable_service_has_an_error_page() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let signpost = Signpost::new(KEY).unwrap().with_base_url(&base).unwrap().with_retries(0);
    let page = App::with(signpost).get("/", "").await;
    assert!(page.status == 502 && page.text.contains("gave no code"), "{}", page.text);
}
