//! A single-file site that can break any rule.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use reqwest::Client;
use serde_json::{Value, json};
use signpost_auth::receiver::is_local_path;
use signpost_auth::{Answer, Challenge, Mode, Nonce, QrData, WebhookSecret, is_fresh};
use signpost_platform::clock::Clock;
use tokio::net::TcpListener;

use crate::harness::text;

/// Breaks no rule, and delegates signature checks to the service.
pub(super) const DELEGATES_VERIFICATION: &str = "none, and the service checks signatures";
const KEY: &str = "svc_test_of-a-site";

/// A single-file site, implemented from the specification, except for the broken rule.
#[derive(Clone)]
pub(super) struct Site {
    broken: &'static str,
    origin: String,
    api: String,
    secret: WebhookSecret,
    shared: SharedParts,
    state: Arc<Mutex<SiteState>>,
}

/// The clock and the HTTP client that the site and the kit share.
#[derive(Clone)]
pub(super) struct SharedParts {
    pub(super) clock: Clock,
    pub(super) http: Client,
}

#[derive(Default)]
struct SiteState {
    codes: HashMap<String, Code>,
    users: HashSet<String>,
    events: HashSet<String>,
}

#[derive(Clone)]
struct Code {
    qr: QrData,
    cookie: String,
    return_url: String,
    user: Option<String>,
}

impl Site {
    pub(super) async fn start(
        broken: &'static str,
        api: SocketAddr,
        secret: &WebhookSecret,
        shared: SharedParts,
    ) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let (api, secret) = (format!("http://{api}/v1"), secret.clone());
        let site = Self { broken, origin: origin.clone(), api, secret, shared, state: Arc::default() };
        let router = Router::new()
            .route("/login", get(|site, query| show(site, query, Mode::Login)))
            .route("/register", get(|site, query| show(site, query, Mode::Register)))
            .route("/webhooks/login", post(|site: State<Self>, body| async { site.0.answer(Mode::Login, body).await }))
            .route(
                "/webhooks/register",
                post(|site: State<Self>, body| async { site.0.answer(Mode::Register, body).await }),
            )
            .route("/poll", get(poll))
            .route("/events", post(event))
            .with_state(site);
        tokio::spawn(async { axum::serve(listener, router).await });
        origin
    }

    /// Returns true if the site breaks this rule.
    fn breaks(&self, rule: &str) -> bool {
        self.broken == rule
    }

    async fn call(&self, path: &str, body: &Value) -> (u16, Value) {
        let request =
            self.shared.http.post(format!("{}{path}", self.api)).header("authorization", format!("Bearer {KEY}"));
        let response = request.body(body.to_string()).send().await.expect("an answer");
        (response.status().as_u16(), serde_json::from_slice(&response.bytes().await.expect("a body")).expect("JSON"))
    }

    async fn answer(self, mode: Mode, body: Bytes) -> Response {
        if serde_json::from_slice::<Value>(&body).is_ok_and(|body| body.get("event").is_some()) {
            let status = if self.breaks("an unsigned event at the webhook URL is not a login") { 200 } else { 401 };
            return error(status);
        }
        match self.checked(mode, &body).await {
            Ok(reply) => axum::Json(reply).into_response(),
            Err(status) => error(status),
        }
    }

    async fn checked(&self, mode: Mode, body: &[u8]) -> Result<Value, u16> {
        let answer = Answer::parse(body).map_err(|error| {
            let shape = ["public_key", "signature", "challenge", "timestamp"]
                .map(|field| (field, format!("a body without {field} is 400")))
                .into_iter()
                .find(|(field, _)| error.to_string().contains(&format!("field {field} is missing")));
            let rule = match (&shape, error.field()) {
                (Some((_, rule)), _) => rule.as_str(),
                (None, Some("timestamp")) => "a timestamp that is not an integer is 400",
                (None, Some("public_key")) => "a public_key that is not a string is 400",
                (None, _) => "a body that is not an object is 400",
            };
            if self.breaks(rule) { 500_u16 } else { 400 }
        })?;
        let now = self.shared.clock.now().as_second();
        let is_past = answer.timestamp < now;
        let is_lenient = self.breaks("a timestamp 40 s in the past is 408") && is_past
            || self.breaks("a timestamp 40 s in the future is 408") && !is_past;
        let stale = !is_lenient && !is_fresh(answer.timestamp, now);
        if stale && !self.breaks("the timestamp is checked before the challenge") {
            return Err(408);
        }
        if self.breaks("the challenge is checked before the signature") && answer.verify().is_err() {
            return Err(406);
        }
        let sid = self.find_code(mode, &answer, now)?;
        if stale {
            return Err(408);
        }
        self.verify(&answer).await?;
        let user = if self.breaks("a key in capital letters is the same user") {
            answer.public_key.clone()
        } else {
            answer.public_key.to_lowercase()
        };
        self.check_registration(mode, &user)?;
        self.store_answer(mode, &sid, user, &answer).await
    }

    /// Returns the code with this challenge.
    fn find_code(&self, mode: Mode, answer: &Answer, now: i64) -> Result<String, u16> {
        let state = self.state.lock().unwrap();
        let challenge_text = if self.breaks("a challenge with extra characters is 404") {
            answer.challenge.trim()
        } else {
            &answer.challenge
        };
        let crossed = match mode {
            Mode::Login => "a registration code does not log in",
            Mode::Register | Mode::Link => "a login code does not register",
        };
        let repeated = match mode {
            Mode::Login => "an answer is accepted once: the same login again is 404",
            Mode::Register | Mode::Link => "an answer is accepted once: the same registration again is 404",
        };
        let is_svc = challenge_text.starts_with("svc:");
        if is_svc && self.breaks("either rendering of the challenge may be signed") {
            return Err(404);
        }
        let fits = |code: &Code| {
            let challenge = code.qr.challenge();
            (challenge_text == challenge.to_string() || challenge_text == challenge.sentence())
                && (challenge.mode == mode || self.breaks(crossed))
                && (now < code.qr.expires_at() || self.breaks("an expired code is 404"))
                && (code.user.is_none() || self.breaks(repeated))
        };
        let found = state.codes.iter().find(|(_, code)| fits(code)).map(|(sid, _)| sid.clone());
        let never = self.breaks("a challenge that was never issued is 404");
        found.or_else(|| never.then(|| "none".to_owned())).ok_or(404)
    }

    async fn verify(&self, answer: &Answer) -> Result<(), u16> {
        if self.breaks(DELEGATES_VERIFICATION) {
            let Answer { public_key, signature, challenge, .. } = answer;
            let signed = json!({ "public_key": public_key, "signature": signature, "message": challenge });
            let (status, reply) = self.call("/verify", &signed).await;
            return if status == 200 && reply["valid"] == true { Ok(()) } else { Err(406) };
        }
        let Err(error) = answer.verify() else { return Ok(()) };
        let rule = match error {
            signpost_auth::VerificationError::PublicKey(_) => "an invalid public key is 406",
            signpost_auth::VerificationError::Signature(_) => "a signature that is not DER is 406",
            signpost_auth::VerificationError::Mismatch => "a signature over another text is 406",
        };
        let is_wrong_key = self.breaks("a signature by another key is 406") && rule.contains("another text");
        Err(if self.breaks(rule) || is_wrong_key { 400 } else { 406 })
    }

    fn check_registration(&self, mode: Mode, user: &str) -> Result<(), u16> {
        let is_known = self.state.lock().unwrap().users.contains(user);
        match mode {
            Mode::Login if !is_known && !self.breaks("a login by an unregistered key is 404") => Err(404),
            Mode::Register if is_known && !self.accepts_repeated_registration() => Err(409),
            _ => Ok(()),
        }
    }

    fn accepts_repeated_registration(&self) -> bool {
        self.breaks("a registration by a registered key is 409")
            || self.breaks("an answer is accepted once: the same registration again is 404")
    }

    /// Verifies the answer with the service too, and stores the user.
    async fn store_answer(&self, mode: Mode, sid: &str, user: String, answer: &Answer) -> Result<Value, u16> {
        let (status, _) = self.call(&format!("/sessions/{sid}/authenticate"), &json!(answer)).await;
        let ignores_rejection = [
            "an answer that the service refuses is not a login",
            "an expired code is 404",
            "a challenge that was never issued is 404",
            "a challenge with extra characters is 404",
            "an answer is accepted once: the same login again is 404",
            "an answer is accepted once: the same registration again is 404",
        ];
        if status != 200 && !ignores_rejection.contains(&self.broken) {
            return Err(if status == 406 { 406 } else { 404 });
        }
        let mut state = self.state.lock().unwrap();
        if mode == Mode::Register {
            state.users.insert(user.clone());
        }
        if let Some(code) = state.codes.get_mut(sid) {
            code.user = Some(user);
        }
        Ok(match mode {
            Mode::Login if self.breaks("a login is 200 with status authenticated and a message") => {
                json!({ "status": "authenticated" })
            }
            Mode::Login => json!({ "status": "authenticated", "message": "hello" }),
            Mode::Register if self.breaks("a registration is 200 with status registered") => json!({ "status": "ok" }),
            Mode::Register | Mode::Link => json!({ "status": "registered", "message": "hello" }),
        })
    }

    fn verify_event(&self, headers: &HeaderMap, body: &[u8]) -> Result<(), u16> {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let Some(signature) = header("x-svc-signature") else {
            return if self.breaks("an event without a signature is 401") { Ok(()) } else { Err(401) };
        };
        let alone = header("webhook-id").is_none();
        if alone && self.breaks("X-Svc-Signature alone is enough") {
            return Err(401);
        }
        let trimmed = if self.breaks("a modified event is 401") { body.trim_ascii() } else { body };
        let is_valid = self.secret.verify_x_svc_signature(signature, trimmed);
        if !is_valid && !self.breaks("an event signed with another secret is 401") {
            return Err(401);
        }
        let has_several = header("webhook-signature").is_some_and(|all| all.contains(' '));
        if has_several && self.breaks("during a rotation the old secret is accepted") {
            return Err(401);
        }
        let sent = header("webhook-timestamp").and_then(|text| text.parse::<i64>().ok());
        let is_old = sent.is_some_and(|sent| sent.abs_diff(self.shared.clock.now().as_second()) > 300);
        if is_old && !self.breaks("an event sent more than 5 minutes ago is 401") {
            return Err(401);
        }
        let event: Value = serde_json::from_slice(body).map_err(|_| 400_u16)?;
        if event["event"] == "test" {
            return if self.breaks("a test event is accepted") { Err(400) } else { Ok(()) };
        }
        if text(&event, "event").contains('.') && self.breaks("events about users are accepted") {
            return Err(400);
        }
        let is_new = self.state.lock().unwrap().events.insert(text(&event, "id").to_owned());
        if !is_new && self.breaks("a repeated event is 2xx") {
            return Err(401);
        }
        if self.breaks("a signed event is accepted") { Err(500) } else { Ok(()) }
    }
}

async fn show(State(site): State<Site>, Query(query): Query<HashMap<String, String>>, mode: Mode) -> Response {
    let webhook_url = format!("{}/webhooks/{mode}", site.origin);
    let body = json!({ "domain": "localhost", "mode": mode, "webhook_url": webhook_url });
    let (_, session) = site.call("/sessions", &body).await;
    let (sid, mut qr) = (text(&session, "id").to_owned(), QrData::parse(text(&session, "qr_data")).expect("a code"));
    if site.breaks("the page shows a code that the service issued") {
        let challenge = Challenge { nonce: Nonce([7; 16]), ..qr.challenge().clone() };
        qr = QrData::new(qr.webhook().clone(), challenge, qr.expires_at()).expect("a code");
    }
    let return_url = query.get("return_url").cloned().unwrap_or_else(|| "/in".to_owned());
    let cookie = format!("code-{sid}");
    let code = Code { qr: qr.clone(), cookie: cookie.clone(), return_url, user: None };
    site.state.lock().unwrap().codes.insert(sid.clone(), code);
    let leak = if site.breaks("the page does not show the API key") { KEY } else { "" };
    let qr = qr.to_string().replace('&', "&amp;");
    let page = format!("<a href=\"/register\">new</a> <div data-sid=\"{sid}\">{qr}</div> {leak}");
    ([("set-cookie", format!("{cookie}=1; Path=/"))], Html(page)).into_response()
}

async fn poll(State(site): State<Site>, Query(query): Query<HashMap<String, String>>, headers: HeaderMap) -> Response {
    let pending = || axum::Json(json!({ "status": "pending" })).into_response();
    let Some(sid) = query.get("sid") else {
        return if site.breaks("a poll without sid is 400") { pending() } else { error(400) };
    };
    let Some(code) = site.state.lock().unwrap().codes.get(sid).cloned() else {
        let received = (StatusCode::NOT_FOUND, axum::Json(json!({ "status": "not_found" }))).into_response();
        return if site.breaks("a poll with an unknown sid is 404 not_found") { pending() } else { received };
    };
    if code.user.is_none() && site.breaks("a poll before the answer is 200 pending") {
        return axum::Json(json!({ "status": "waiting" })).into_response();
    }
    let cookies = headers.get("cookie").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_own = cookies.contains(&code.cookie) || site.breaks("another browser that knows the sid stays pending");
    let is_foreign = headers.contains_key("origin") && !site.breaks("a poll from a page of another site stays pending");
    if code.user.is_none() || !is_own || is_foreign {
        return pending();
    }
    let redirect = match &*code.return_url {
        _ if site.breaks("the redirect is a path of the same site") => "https://elsewhere.example/",
        url if is_local_path(url) || site.breaks("a return_url to another site is not followed") => url,
        _ => "/",
    };
    let own = "after the login the poll returns authenticated and a redirect";
    let status = if site.breaks(own) { "ok" } else { "authenticated" };
    let received = axum::Json(json!({ "status": status, "redirect": redirect }));
    if site.breaks("the login gives the browser a new session") {
        return received.into_response();
    }
    ([("set-cookie", format!("login={sid}; Path=/"))], received).into_response()
}

async fn event(State(site): State<Site>, headers: HeaderMap, body: Bytes) -> Response {
    match site.verify_event(&headers, &body) {
        Ok(()) => axum::Json(json!({ "status": "received" })).into_response(),
        Err(status) => error(status),
    }
}

fn error(status: u16) -> Response {
    (StatusCode::from_u16(status).expect("a status"), axum::Json(json!({ "error": "no" }))).into_response()
}
