//! Simulates the part of the service's API that an integrator's login calls, under any path prefix.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde_json::{Value, json};
use signpost_auth::{
    Answer, Challenge, DomainName, Mode, Nonce, PublicKey, QrCode, QrData, Signature, is_fresh, message_hash, verify,
};
use signpost_login::ids::SessionId;
use signpost_platform::clock::Clock;
use signpost_store::random;
use tokio::net::TcpListener;
use url::Url;

/// Lifetime of a code in seconds.
const CODE_LIFETIME_SECS: i64 = 300;
/// Lifetime of a code that expires during the test, in seconds.
const SHORT_CODE_LIFETIME_SECS: i64 = 2;
/// Maximum number of sessions.
const MAX_SESSIONS: usize = 10_000;

/// The simulated service of the conformance kit. Cheap to clone.
#[derive(Clone)]
pub(super) struct FakeService {
    state: Arc<Mutex<FakeServiceState>>,
    clock: Clock,
}

#[derive(Default)]
struct FakeServiceState {
    sessions: HashMap<String, FakeSession>,
    order: Vec<String>,
    /// The API keys of the requests.
    keys: Vec<String>,
    /// Whether the next codes expire early.
    is_short: bool,
    /// Whether correct answers are rejected.
    refuses: bool,
    /// Number of answers that were posted or verified.
    answers_received: usize,
}

struct FakeSession {
    challenge: Challenge,
    webhook_url: Url,
    expires_at: i64,
    metadata: Value,
    user: Option<Value>,
}

impl FakeService {
    /// Starts a server that runs until the process ends.
    pub(super) fn start(listener: TcpListener, clock: Clock) -> Self {
        let service = Self { state: Arc::default(), clock };
        let router = Router::new().fallback(handle_request).with_state(service.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        service
    }

    fn lock(&self) -> MutexGuard<'_, FakeServiceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of sessions that were opened.
    pub(super) fn opened(&self) -> usize {
        self.lock().order.len()
    }

    pub(super) fn opened_since(&self, before: usize) -> Vec<String> {
        self.lock().order.iter().skip(before).cloned().collect()
    }

    /// Returns the number of answers that the integrator posted or verified.
    pub(super) fn answers_received(&self) -> usize {
        self.lock().answers_received
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.lock().keys.clone()
    }

    /// Sets the lifetime of the next codes to 2 seconds, or to the default.
    pub(super) fn issue_short_codes(&self, is_short: bool) {
        self.lock().is_short = is_short;
    }

    /// Rejects all answers from now on, or none.
    pub(super) fn refuse_answers(&self, refuses: bool) {
        self.lock().refuses = refuses;
    }

    /// Returns true if the service issued this challenge.
    pub(super) fn issued(&self, challenge: &Challenge) -> bool {
        self.lock().sessions.values().any(|session| session.challenge == *challenge)
    }
}

async fn handle_request(
    State(service): State<FakeService>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let key = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.split_once(' '));
    let Some((_, key)) = key else { return error_response(401, "invalid_api_key") };
    let now = service.clock.now().as_second();
    let mut state = service.lock();
    if !state.keys.iter().any(|known| known == key) && state.keys.len() < MAX_SESSIONS {
        state.keys.push(key.to_owned());
    }
    let body: Value = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap_or(json!([])) };
    let path: Vec<_> = uri.path().trim_matches('/').split('/').collect();
    let at = path.iter().rposition(|part| matches!(*part, "sessions" | "verify"));
    match (&method, at.map(|at| &path[at..])) {
        (&Method::POST, Some(["sessions"])) => open_session(&mut state, &body, &service.clock, now),
        (&Method::POST, Some(["verify"])) => check_signature(&mut state, &body),
        (_, Some(["sessions", id, rest @ ..])) => handle_session(&mut state, &method, id, rest, &body, now),
        _ => error_response(404, "not_found"),
    }
}

fn open_session(state: &mut FakeServiceState, body: &Value, clock: &Clock, now: i64) -> Response {
    let Some((domain, mode, webhook_url)) = parse_session(body) else {
        let reason = "the kit knows no domains: name domain, mode and webhook_url in every session";
        return (StatusCode::BAD_REQUEST, axum::Json(error("invalid_request", reason))).into_response();
    };
    if state.sessions.len() >= MAX_SESSIONS {
        return error_response(429, "rate_limited");
    }
    let challenge = Challenge { mode, domain, issued_at: now, nonce: Nonce(random()) };
    let expires_at = now + if state.is_short { SHORT_CODE_LIFETIME_SECS } else { CODE_LIFETIME_SECS };
    let id = SessionId::new(clock.now(), random()).to_string();
    let session = FakeSession { challenge, webhook_url, expires_at, metadata: body["metadata"].clone(), user: None };
    let Some(mut reply) = code_reply(&id, &session) else { return error_response(400, "invalid_request") };
    reply["status"] = "pending".into();
    reply["created_at"] = time(now).into();
    if !session.metadata.is_null() {
        reply["metadata"] = session.metadata.clone();
    }
    state.order.push(id.clone());
    state.sessions.insert(id, session);
    (StatusCode::CREATED, axum::Json(reply)).into_response()
}

fn parse_session(body: &Value) -> Option<(DomainName, Mode, Url)> {
    let domain = DomainName::parse(body["domain"].as_str()?).ok()?;
    let mode = match body["mode"].as_str() {
        Some(word) => word.parse().ok().filter(|mode| *mode != Mode::Link)?,
        None => Mode::Login,
    };
    Some((domain, mode, body["webhook_url"].as_str()?.parse().ok()?))
}

fn handle_session(
    state: &mut FakeServiceState,
    method: &Method,
    id: &str,
    rest: &[&str],
    body: &Value,
    now: i64,
) -> Response {
    let refuses = state.refuses;
    let Some(session) = state.sessions.get_mut(id) else { return error_response(404, "session_not_found") };
    match (method.as_str(), rest) {
        ("GET", []) => show_session(id, session, now),
        ("POST", ["refresh"]) => {
            session.challenge.nonce = Nonce(random());
            session.challenge.issued_at = now;
            session.expires_at = now + CODE_LIFETIME_SECS;
            let Some(reply) = code_reply(id, session) else { return error_response(400, "invalid_request") };
            axum::Json(reply).into_response()
        }
        ("POST", ["authenticate"]) => {
            let reply = authenticate(id, session, body, refuses, now);
            state.answers_received += 1;
            reply
        }
        ("GET", ["qr.svg"]) => {
            let code = qr_data(session).and_then(|qr| QrCode::from_text(&qr.to_string()));
            let Some(code) = code else { return error_response(404, "not_found") };
            ([(header::CONTENT_TYPE, "image/svg+xml")], code.svg()).into_response()
        }
        _ => error_response(404, "not_found"),
    }
}

fn show_session(id: &str, session: &FakeSession, now: i64) -> Response {
    axum::Json(match &session.user {
        Some(user) => json!({ "id": id, "status": "authenticated", "authenticated_at": time(now), "user": user }),
        None if now >= session.expires_at => return error_response(410, "session_expired"),
        None => json!({ "id": id, "status": "pending", "expires_at": time(session.expires_at) }),
    })
    .into_response()
}

fn authenticate(id: &str, session: &mut FakeSession, body: &Value, refuses: bool, now: i64) -> Response {
    let Ok(answer) = Answer::parse(body.to_string().as_bytes()) else { return error_response(400, "invalid_request") };
    let FakeSession { challenge, expires_at, user, .. } = session;
    if answer.challenge != challenge.to_string() && answer.challenge != challenge.sentence() {
        return error_response(404, "challenge_not_found");
    }
    if user.is_some() {
        return error_response(409, "session_already_authenticated");
    }
    if now >= *expires_at {
        return error_response(410, "session_expired");
    }
    if !is_fresh(answer.timestamp, now) {
        return error_response(408, "timestamp_out_of_range");
    }
    if refuses || answer.verify().is_err() {
        return error_response(406, "invalid_signature");
    }
    *user = Some(json!({ "public_key": answer.public_key, "device_info": answer.device_info.unwrap_or_default() }));
    show_session(id, session, now)
}

fn check_signature(state: &mut FakeServiceState, body: &Value) -> Response {
    state.answers_received += 1;
    let public_key = body["public_key"].as_str().unwrap_or_default();
    let message = body["message"].as_str().unwrap_or_default();
    let signature = body["signature"].as_str().unwrap_or_default();
    let Ok(key) = PublicKey::parse(public_key) else { return error_response(400, "invalid_public_key") };
    let Ok(signature) = Signature::parse(signature) else { return error_response(400, "invalid_signature") };
    let valid = !state.refuses && verify(&key, &signature, message.as_bytes());
    let hash = message_hash(message.as_bytes());
    axum::Json(json!({ "valid": valid, "public_key": public_key, "message_hash": hash })).into_response()
}

fn code_reply(id: &str, session: &FakeSession) -> Option<Value> {
    let qr_data = qr_data(session)?.to_string();
    let challenge = session.challenge.to_string();
    Some(json!({ "id": id, "challenge": challenge, "qr_data": qr_data, "expires_at": time(session.expires_at) }))
}

fn qr_data(session: &FakeSession) -> Option<QrData> {
    QrData::new(session.webhook_url.clone(), session.challenge.clone(), session.expires_at).ok()
}

fn time(seconds: i64) -> String {
    Timestamp::from_second(seconds).unwrap_or_default().to_string()
}

fn error(code: &str, message: &str) -> Value {
    json!({ "error": { "code": code, "message": message, "details": {} } })
}

fn error_response(status: u16, code: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, axum::Json(error(code, "refused by the conformance kit"))).into_response()
}
