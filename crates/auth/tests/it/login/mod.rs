//! Tests the login router with the cases of `vectors/return.json`, `vectors/events.json` and
//! `vectors/login_handlers.json`.

mod events;
mod handlers;
mod scripted;
mod service;
mod startup;

use std::error::Error;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use data_encoding::HEXLOWER;
use serde::Deserialize;
use serde_json::{Value, json};
use signpost_auth::Event;
use signpost_auth::client::{Runtime, Signpost, SignpostError};
use signpost_auth::login::{CurrentUser, LoginOptions, LoginSite, LoginStep, SignedIn, SiteError, router};
use tokio::sync::Notify;
use tower::ServiceExt;

use service::Service;

#[derive(Deserialize)]
struct Vectors {
    cookie_secret: String,
    starts: Vec<Start>,
    returns: Vec<Return>,
    refused_options: Vec<Value>,
}

#[derive(Deserialize)]
struct Start {
    name: String,
    site: String,
    path: String,
    domain: String,
    mode: String,
    query: String,
    cookies: String,
    random: String,
    now: u64,
    current_user: Option<String>,
    session: Value,
    created: Value,
    expect: Expected,
}

#[derive(Deserialize)]
struct Return {
    name: String,
    site: String,
    path: String,
    failed_path: String,
    query: String,
    cookies: String,
    now: u64,
    current_user: Option<String>,
    completes: Option<Value>,
    reply: Option<Reply>,
    signs_in: Option<Value>,
    expect: Expected,
}

#[derive(Deserialize)]
struct Reply {
    status: u16,
    json: Value,
}

#[derive(Deserialize)]
struct Expected {
    status: Option<u16>,
    location: Option<String>,
    #[serde(default)]
    set_cookie: Vec<String>,
    error: Option<Value>,
}

/// A clock and a source of random bytes with fixed values.
#[derive(Clone, Debug)]
pub(super) struct FixedRuntime {
    now: u64,
    random: [u8; 32],
}

impl Runtime for FixedRuntime {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.now)
    }

    fn random(&self) -> [u8; 32] {
        self.random
    }

    fn pause(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }
}

/// A site that records the calls of the router.
#[derive(Clone, Default)]
struct Shop {
    recorded: Arc<Mutex<Recorded>>,
    current_user: Option<String>,
}

#[derive(Default)]
struct Recorded {
    signed_in: Option<Value>,
    /// The errors of the service, as the test vectors list them.
    errors: Vec<Value>,
    events: usize,
    fails: bool,
    /// Blocks the handler of an event until it is notified.
    gate: Option<Arc<Notify>>,
}

impl LoginSite for Shop {
    async fn sign_in(&self, login: SignedIn, _: &Parts) -> Result<Vec<String>, SiteError> {
        let SignedIn { user, method, mode, next, .. } = login;
        let recorded = json!({ "user": user.id, "mode": mode, "next": next, "method": method });
        self.recorded.lock().unwrap().signed_in = Some(recorded);
        Ok(vec!["session=new; Path=/".to_owned()])
    }

    async fn on_event(&self, _: Event) -> Result<(), SiteError> {
        let gate = {
            let mut recorded = self.recorded.lock().unwrap();
            recorded.events += 1;
            recorded.gate.clone()
        };
        if let Some(gate) = gate {
            gate.notified().await;
        }
        if self.recorded.lock().unwrap().fails { Err("no disk".into()) } else { Ok(()) }
    }

    async fn current_user(&self, _: &Parts) -> CurrentUser {
        self.current_user.clone().into()
    }

    fn on_error(&self, error: &(dyn Error + Send + Sync + 'static), step: LoginStep) {
        self.recorded.lock().unwrap().errors.extend(error.downcast_ref().map(|error| described(error, step)));
    }
}

/// Returns an error and its step as the test vectors list them.
fn described(error: &SignpostError, step: LoginStep) -> Value {
    let mut described = json!({ "code": error.code, "step": step.to_string() });
    if let Some(status) = error.status {
        described["status"] = status.into();
    }
    if let Some(id) = &error.request_id {
        described["request_id"] = id.clone().into();
    }
    described
}

fn client(service: &Service, runtime: FixedRuntime) -> Signpost {
    Signpost::new("svc_test_key").unwrap().with_base_url(&service.base()).unwrap().with_runtime(runtime)
}

async fn get(app: Router, target: &str, cookies: &str) -> (StatusCode, HeaderMap) {
    let request = Request::get(target).header("cookie", cookies).body(Body::empty()).unwrap();
    let response = app.oneshot(request).await.unwrap();
    (response.status(), response.headers().clone())
}

fn texts(headers: &HeaderMap, name: &str) -> Vec<String> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn start_binds_the_browser_and_redirects() {
    let (Vectors { cookie_secret, starts, .. }, service) = (crate::read("return"), Service::start().await);
    for start in starts {
        let name = &start.name;
        service.reply(201, created(&start.created));
        let random = HEXLOWER.decode(start.random.as_bytes()).unwrap().try_into().unwrap();
        let options = LoginOptions::new(&*start.domain, &start.site, &*cookie_secret).unwrap().without_startup_check();
        let shop = Shop { current_user: start.current_user.clone(), ..Shop::default() };
        let signpost = client(&service, FixedRuntime { now: start.now, random });
        let app = router(signpost, options.at_path(&start.path).unwrap(), shop.clone());
        let target = format!("{}/{}?{}", start.path, start.mode, start.query);
        let (status, headers) = get(app, &target, &start.cookies).await;
        check_errors(name, &shop, start.expect.error.as_ref());
        assert_eq!(
            (Some(status.as_u16()), headers["cache-control"].to_str().unwrap()),
            (start.expect.status, "no-store"),
            "{name}"
        );
        assert_eq!(texts(&headers, "location"), [start.expect.location.unwrap()], "{name}");
        assert_eq!(texts(&headers, "set-cookie"), start.expect.set_cookie, "{name}");
        assert_eq!(service.take_requests(), [("POST /v1/sessions".to_owned(), start.session)], "{name}");
    }
}

/// Returns the response to the creation of a session, with the members that the test vectors omit.
fn created(members: &Value) -> Value {
    let mut reply = json!({ "challenge": "svc:", "qr_data": "svc://auth?v=1", "expires_at": "2023-11-14T22:18:10Z",
                            "status": "pending", "created_at": "2023-11-14T22:13:10Z" });
    reply.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    reply
}

#[tokio::test]
async fn return_logs_in_the_starting_browser() {
    let (Vectors { cookie_secret, returns, .. }, service) = (crate::read("return"), Service::start().await);
    for case in returns {
        let (name, expect) = (&case.name, &case.expect);
        if let Some(Reply { status, json }) = &case.reply {
            service.reply(*status, json.clone());
        }
        let options = LoginOptions::new("shop.example", &case.site, &*cookie_secret).unwrap().without_startup_check();
        let options = options.at_path(&case.path).unwrap().with_failure_path(&case.failed_path).unwrap();
        let shop = Shop { current_user: case.current_user.clone(), ..Shop::default() };
        let app = router(client(&service, FixedRuntime { now: case.now, random: [0; 32] }), options, shop.clone());
        let (status, headers) = get(app, &format!("{}/return?{}", case.path, case.query), &case.cookies).await;
        assert_eq!(headers["cache-control"], "no-store", "{name}");
        check_completion(&case, &service.take_requests());
        check_errors(name, &shop, expect.error.as_ref());
        let recorded = std::mem::take(&mut *shop.recorded.lock().unwrap());
        assert_eq!(recorded.signed_in, case.signs_in, "{name}");
        assert_eq!(
            (Some(status.as_u16()), texts(&headers, "location")),
            (expect.status, expect.location.iter().cloned().collect()),
            "{name}"
        );
        let mut set_cookies = expect.set_cookie.clone();
        set_cookies.extend(recorded.signed_in.map(|_| "session=new; Path=/".to_owned()));
        assert_eq!(texts(&headers, "set-cookie"), set_cookies, "{name}");
    }
}

/// Checks the error that the site was passed, if one is expected. Each of its members is compared.
fn check_errors(name: &str, shop: &Shop, expected: Option<&Value>) {
    let errors = &shop.recorded.lock().unwrap().errors;
    assert_eq!(errors.len(), usize::from(expected.is_some()), "{name}: {errors:?}");
    for (member, value) in expected.into_iter().flat_map(|error| error.as_object().unwrap()) {
        assert_eq!(errors[0][member], *value, "{name}: {member}");
    }
}

fn check_completion(case: &Return, requests: &[(String, Value)]) {
    let wanted = case.completes.iter().map(|completes| {
        let mut body = completes.clone();
        let id = body.as_object_mut().unwrap().remove("id").unwrap();
        (format!("POST /v1/sessions/{}/complete", id.as_str().unwrap()), body)
    });
    assert_eq!(requests, wanted.collect::<Vec<_>>(), "{}", case.name);
}

#[test]
fn invalid_options_are_rejected_at_once() {
    let Vectors { cookie_secret, refused_options, .. } = crate::read("return");
    let of = |bad: &Value| {
        let text = |name: &str, good| bad.get(name).map_or(good, |value| value.as_str().unwrap()).to_owned();
        let options = LoginOptions::new(
            "shop.example",
            &text("site", "https://shop.example"),
            text("cookie_secret", &cookie_secret),
        )?;
        options.at_path(&text("path", "/signpost"))?.with_failure_path(&text("failed_path", "/"))
    };
    assert!(of(&json!({})).is_ok());
    for bad in refused_options {
        assert_eq!(of(&bad).unwrap_err().code, "invalid_argument", "{bad}");
    }
    let debug = format!("{:?}", of(&json!({})).unwrap());
    assert!(!debug.contains(&cookie_secret), "{debug}");
}

#[tokio::test]
async fn head_requests_change_nothing() {
    let (service, runtime) = (Service::start().await, FixedRuntime { now: 1_700_000_000, random: [0; 32] });
    let options = LoginOptions::new("shop.example", "https://shop.example", "a".repeat(32)).unwrap();
    let app = router(client(&service, runtime), options.without_startup_check(), Shop::default());
    for path in ["/signpost/login", "/signpost/return?session_id=sess_1&code=a"] {
        let request = Request::builder().method(Method::HEAD).uri(path).body(Body::empty()).unwrap();
        assert_eq!(app.clone().oneshot(request).await.unwrap().status(), 405, "{path}");
    }
    // No webhook secret is configured.
    assert_eq!(get(app, "/signpost/events", "").await.0, 404);
    assert_eq!(service.take_requests(), []);
}
