//! Tests the endpoints of a receiver with `vectors/receiver.json`.

use std::collections::HashMap;
use std::net::IpAddr;

use serde::Deserialize;
use serde_json::{Value, json};
use signpost_auth::receiver::{
    Browser, CodeBinding, EventHeaders, EventRules, HandlerRefusal, HandlerResponse, Host, LoggedIn, PollRules, Post,
    ShownCode, Site, SiteOrigin, classify, handle_event, handle_login, handle_poll, handle_register,
};
use signpost_auth::{Challenge, Event, PublicKey, VerifiedAnswer, WebhookSecret};

#[derive(Deserialize)]
struct Vectors {
    now: i64,
    origin: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    handler: String,
    held: AppState,
    request: Request,
    expect: Expected,
}

/// The state of the application in a test case, which implements the host.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AppState {
    sessions: Vec<Session>,
    users: Vec<String>,
    codes: Vec<Code>,
    completed: Vec<String>,
    bind_poll: Option<bool>,
    secrets: Vec<String>,
    allowed_sources: Vec<String>,
    seen: Vec<String>,
    fails: bool,
    busy: Option<u64>,
}

#[derive(Deserialize)]
struct Session {
    challenge: String,
    state: String,
}

#[derive(Deserialize)]
struct Code {
    sid: String,
    state: String,
    return_url: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    body: Option<Value>,
    text: Option<String>,
    sid: Option<String>,
    browser: Option<String>,
    origin: Option<String>,
    sec_fetch_site: Option<String>,
    #[serde(default)]
    headers: HashMap<String, String>,
    source: Option<IpAddr>,
}

#[derive(Deserialize)]
struct Expected {
    status: u16,
    body: Value,
    logs_in: Option<bool>,
    retry_after: Option<u64>,
}

impl AppState {
    fn or_fail<T>(&self, value: T) -> Result<T, HandlerRefusal> {
        match self.busy {
            Some(retry_after) => Err(HandlerRefusal::RateLimited { retry_after, headers: Vec::new() }),
            None if self.fails => Err(HandlerRefusal::Internal),
            None => Ok(value),
        }
    }
}

impl Host for AppState {
    type Session = ();
    type User = ();

    async fn find_session(&self, challenge: &Challenge, _: i64) -> Result<Option<()>, HandlerRefusal> {
        let mut pending = self.sessions.iter().filter(|session| session.state == "pending");
        self.or_fail(pending.any(|session| session.challenge == challenge.to_string()).then_some(()))
    }

    async fn find_user(&self, (): &(), key: &PublicKey) -> Result<Option<()>, HandlerRefusal> {
        Ok(self.users.contains(&key.canonical()).then_some(()))
    }

    async fn log_in(&self, (): (), (): (), _: &VerifiedAnswer) -> Result<LoggedIn, HandlerRefusal> {
        Ok(LoggedIn::default())
    }

    async fn register(&self, (): (), _: &VerifiedAnswer) -> Result<LoggedIn, HandlerRefusal> {
        Ok(LoggedIn::default())
    }
}

impl Site for AppState {
    async fn find_code(&self, sid: &str) -> Result<Option<ShownCode>, HandlerRefusal> {
        let code = self.codes.iter().find(|code| code.sid == sid).map(|code| ShownCode {
            binding: CodeBinding::from_bytes([1; 32]),
            authenticated: code.state == "authenticated",
            return_url: code.return_url.clone(),
        });
        self.or_fail(code)
    }

    async fn complete_login(&self, sid: &str) -> Result<Option<String>, HandlerRefusal> {
        Ok((!self.completed.iter().any(|done| done == sid)).then(|| "session=new".to_owned()))
    }

    async fn accept_event(&self, event: Event) -> Result<bool, HandlerRefusal> {
        self.or_fail(!self.seen.contains(&event.identity()))
    }
}

impl Case {
    async fn reply(&self, origin: &SiteOrigin, now: i64) -> HandlerResponse {
        let Self { held, request, .. } = self;
        let text = request.text.clone().or_else(|| request.body.as_ref().map(Value::to_string)).unwrap_or_default();
        match &*self.handler {
            "login" => handle_login(held, text.as_bytes(), now).await,
            "register" => handle_register(held, text.as_bytes(), now).await,
            "poll" => self.poll(origin).await,
            "event" => self.event(text.as_bytes(), now).await,
            "classify" => self.classify(text.as_bytes(), now),
            other => panic!("no handler {other}"),
        }
    }

    async fn poll(&self, origin: &SiteOrigin) -> HandlerResponse {
        let Self { held, request, .. } = self;
        let set_cookie = match request.browser.as_deref() {
            Some("shown") => Some(CodeBinding::from_bytes([1; 32]).set_cookie("sess_1", origin, 900)),
            Some("other") => Some(CodeBinding::from_bytes([2; 32]).set_cookie("sess_1", origin, 900)),
            _ => None,
        };
        let cookies = set_cookie.map(|cookie| format!("theme=dark; {}", cookie.split(';').next().unwrap()));
        let browser = Browser {
            cookies: cookies.as_deref(),
            origin: request.origin.as_deref(),
            sec_fetch_site: request.sec_fetch_site.as_deref(),
        };
        let rules = PollRules { origin: origin.clone(), bind_poll: held.bind_poll.unwrap_or(true) };
        handle_poll(held, request.sid.as_deref(), &browser, &rules).await
    }

    fn classify(&self, body: &[u8], now: i64) -> HandlerResponse {
        match classify(&self.headers(), body, &self.rules(), now) {
            Ok(Post::Answer) => classified_response("answer"),
            Ok(Post::Event) => classified_response("event"),
            Err(refusal) => refusal.into(),
        }
    }

    async fn event(&self, body: &[u8], now: i64) -> HandlerResponse {
        handle_event(&self.held, self.request.source, &self.headers(), body, &self.rules(), now).await
    }

    fn headers(&self) -> EventHeaders<'_> {
        let Self { request, .. } = self;
        let header = |name: &str| request.headers.get(name).map(String::as_str);
        EventHeaders {
            x_svc_signature: header("X-Svc-Signature"),
            x_svc_signature_next: header("X-Svc-Signature-Next"),
            webhook_id: header("webhook-id"),
            webhook_timestamp: header("webhook-timestamp"),
            webhook_signature: header("webhook-signature"),
        }
    }

    fn rules(&self) -> EventRules {
        let Self { held, .. } = self;
        let secrets = held.secrets.iter().map(|secret| WebhookSecret::parse(secret).unwrap()).collect();
        let allowed_sources = held.allowed_sources.iter().map(|net| net.parse().unwrap()).collect();
        EventRules { secrets, allowed_sources }
    }
}

fn classified_response(kind: &str) -> HandlerResponse {
    HandlerResponse { status: 200, body: json!({ "post": kind }), set_cookie: None, headers: Vec::new() }
}

/// Compares a body with a pattern, in which `<text>` matches any non-empty text.
fn matches(body: &Value, shape: &Value) -> bool {
    let (Some(body), Some(shape)) = (body.as_object(), shape.as_object()) else { return false };
    body.len() == shape.len()
        && shape.iter().all(|(name, expected)| match body.get(name) {
            Some(Value::String(text)) if expected == "<text>" => !text.is_empty(),
            value => value == Some(expected),
        })
}

#[tokio::test]
async fn every_request_gets_the_contract_reply() {
    let Vectors { now, origin, cases } = crate::read("receiver");
    let origin = SiteOrigin::parse(&origin).unwrap();
    for case in cases {
        let HandlerResponse { status, body, set_cookie, headers } = case.reply(&origin, now).await;
        let Expected { status: expected, body: shape, logs_in, retry_after } = &case.expect;
        assert_eq!(status, *expected, "{}: {body}", case.name);
        assert!(matches(&body, shape), "{}: {body} is not like {shape}", case.name);
        assert_eq!(set_cookie.is_some(), logs_in.unwrap_or(false), "{}", case.name);
        let waits: Vec<_> = retry_after.iter().map(|wait| ("retry-after", wait.to_string())).collect();
        assert_eq!(headers, waits, "{}", case.name);
    }
}
