//! Tests the login router with the cases of `vectors/login_handlers.json`: requests of one browser,
//! and a scripted service.

use std::collections::BTreeMap;
use std::error::Error;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use signpost_auth::client::{Runtime, Signpost, SignpostError};
use signpost_auth::login::{CurrentUser, LoginOptions, LoginSite, LoginStep, SignedIn, SiteError, router};
use tower::ServiceExt;

use super::scripted::{ScriptedCall, ScriptedService};
use super::{described, texts};

/// Number of cases in the file. A lower number would mean that cases were not read.
const MIN_CASES: usize = 120;

#[derive(Deserialize)]
struct Vectors {
    site: String,
    path: String,
    domain: String,
    failed_path: String,
    cookie_secret: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    failed_path: Option<String>,
    #[serde(default = "yes")]
    has_current_user: bool,
    #[serde(default = "yes")]
    sign_out: bool,
    #[serde(default)]
    confirm_recent: bool,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    request: BrowserRequest,
    #[serde(default = "once")]
    times: usize,
    cookies: Option<String>,
    now: Option<u64>,
    random: Option<String>,
    current_user: Option<String>,
    #[serde(default)]
    service: Vec<ScriptedCall>,
    expect: Expected,
}

#[derive(Deserialize)]
struct BrowserRequest {
    method: String,
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Expected {
    status: u16,
    location: Option<String>,
    #[serde(default)]
    set_cookie: Vec<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    errors: Vec<Value>,
    #[serde(default, deserialize_with = "present")]
    signs_in: Option<Value>,
    #[serde(default)]
    signs_out: bool,
    logs: Option<usize>,
}

fn yes() -> bool {
    true
}

fn once() -> usize {
    1
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A clock and random bytes that each step sets.
#[derive(Clone, Debug)]
struct StepRuntime(Arc<Mutex<(u64, [u8; 32])>>);

impl Runtime for StepRuntime {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.0.lock().unwrap().0)
    }

    fn random(&self) -> [u8; 32] {
        self.0.lock().unwrap().1
    }

    fn pause(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }
}

/// A site that records the calls of the router.
#[derive(Clone)]
struct RecordingSite {
    has_current_user: bool,
    has_sign_out: bool,
    confirm_recent: bool,
    recorded: Arc<Mutex<Recorded>>,
}

#[derive(Default)]
struct Recorded {
    current_user: Option<String>,
    signs_in: Option<Value>,
    signs_out: bool,
    errors: Vec<Value>,
    logs: usize,
}

impl LoginSite for RecordingSite {
    async fn sign_in(&self, login: SignedIn, _: &Parts) -> Result<Vec<String>, SiteError> {
        let SignedIn { user, method, mode, next, .. } = login;
        let members = [
            ("username", json!(user.username)),
            ("name", json!(user.name)),
            ("groups", json!(user.groups)),
            ("external_id", json!(user.external_id)),
            ("metadata", json!(user.metadata)),
            ("is_new", json!(user.is_new)),
        ];
        let mut user = json!({ "id": user.id });
        for (member, value) in members.into_iter().filter(|(_, value)| !value.is_null()) {
            user[member] = value;
        }
        let signs_in = json!({ "user": user, "mode": mode, "next": next, "method": method });
        self.recorded.lock().unwrap().signs_in = Some(signs_in);
        Ok(Vec::new())
    }

    async fn sign_out(&self, _: &Parts) -> Result<Option<Vec<String>>, SiteError> {
        self.recorded.lock().unwrap().signs_out = self.has_sign_out;
        Ok(self.has_sign_out.then(Vec::new))
    }

    async fn current_user(&self, _: &Parts) -> CurrentUser {
        if !self.has_current_user {
            return CurrentUser::NotSupported;
        }
        self.recorded.lock().unwrap().current_user.clone().into()
    }

    async fn confirm_recent(&self, _: &Parts) -> bool {
        self.confirm_recent
    }

    fn on_error(&self, error: &(dyn Error + Send + Sync + 'static), step: LoginStep) {
        let error: &SignpostError = error.downcast_ref().expect("the site has no errors");
        self.recorded.lock().unwrap().errors.push(described(error, step));
    }

    fn on_warning(&self, _: &str) {
        self.recorded.lock().unwrap().logs += 1;
    }
}

/// The cookies of a browser, in the order in which they were set.
#[derive(Default)]
struct CookieJar(Vec<(String, String)>);

impl CookieJar {
    fn parse(header: &str) -> Self {
        let pairs = header.split("; ").filter_map(|pair| pair.split_once('='));
        Self(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    fn store(&mut self, set_cookie: &str) {
        let (name, value) = set_cookie.split(';').next().unwrap().split_once('=').unwrap();
        if set_cookie.contains("; Max-Age=0;") {
            self.0.retain(|(other, _)| other != name);
        } else if let Some(cookie) = self.0.iter_mut().find(|(other, _)| other == name) {
            value.clone_into(&mut cookie.1);
        } else {
            self.0.push((name.to_owned(), value.to_owned()));
        }
    }

    fn header(&self) -> String {
        self.0.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }
}

/// A case that is running.
struct Run {
    app: Router,
    site: RecordingSite,
    service: ScriptedService,
    runtime: StepRuntime,
    jar: CookieJar,
}

impl Run {
    async fn start(vectors: &Vectors, case: &Case) -> Self {
        let service = ScriptedService::start().await;
        let runtime = StepRuntime(Arc::default());
        let signpost = Signpost::new("svc_test_key").unwrap().with_base_url(&service.base()).unwrap();
        let site = RecordingSite {
            has_current_user: case.has_current_user,
            has_sign_out: case.sign_out,
            confirm_recent: case.confirm_recent,
            recorded: Arc::default(),
        };
        let options = LoginOptions::new(&*vectors.domain, &vectors.site, &*vectors.cookie_secret).unwrap();
        let options = options.at_path(&vectors.path).unwrap().without_startup_check();
        let options = options.with_failure_path(case.failed_path.as_ref().unwrap_or(&vectors.failed_path)).unwrap();
        let app = router(signpost.with_retries(0).with_runtime(runtime.clone()), options, site.clone());
        Self { app, site, service, runtime, jar: CookieJar::default() }
    }

    /// Sends the request of a step, and checks its effects.
    async fn check(&mut self, name: &str, step: &Step) {
        let random = step.random.as_ref().map(|random| HEXLOWER.decode(random.as_bytes()).unwrap());
        let random = random.unwrap_or_else(|| (0..32).collect()).try_into().unwrap();
        *self.runtime.0.lock().unwrap() = (step.now.unwrap_or(1_700_000_000), random);
        *self.site.recorded.lock().unwrap() =
            Recorded { current_user: step.current_user.clone(), ..Recorded::default() };
        self.service.expect(&step.service);
        let mut request = Request::builder().method(&*step.request.method).uri(&step.request.path);
        request = request.header("cookie", self.jar.header());
        if !step.request.headers.contains_key("host") {
            request = request.header("host", "shop.example");
        }
        for (header, value) in &step.request.headers {
            request = request.header(header, value);
        }
        let response = self.app.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        check_response(name, &step.expect, response.status().as_u16(), response.headers());
        for set_cookie in texts(response.headers(), "set-cookie") {
            self.jar.store(&set_cookie);
        }
        self.check_effects(name, step);
    }

    fn check_effects(&self, name: &str, step: &Step) {
        let Expected { errors, signs_in, signs_out, logs, .. } = &step.expect;
        let (received, left) = self.service.take();
        let calls = step.service.iter().map(|call| (call.method.clone(), call.path.clone(), call.body.clone()));
        assert_eq!(received, calls.collect::<Vec<_>>(), "{name}");
        assert!(left.is_empty(), "{name}: {left:?}");
        let recorded = self.site.recorded.lock().unwrap();
        assert_eq!(recorded.errors, *errors, "{name}");
        assert_eq!((&recorded.signs_in, recorded.signs_out), (signs_in, *signs_out), "{name}");
        assert_eq!(recorded.logs, logs.unwrap_or(recorded.logs), "{name}");
    }
}

fn check_response(name: &str, expect: &Expected, status: u16, headers: &HeaderMap) {
    let locations: Vec<String> = expect.location.iter().cloned().collect();
    assert_eq!((status, texts(headers, "location")), (expect.status, locations), "{name}");
    assert_eq!(texts(headers, "set-cookie"), expect.set_cookie, "{name}");
    assert_eq!(headers["cache-control"], "no-store", "{name}");
    for (header, value) in &expect.headers {
        assert_eq!(headers[header], **value, "{name}: {header}");
    }
}

#[tokio::test]
async fn router_behaves_like_the_other_sdks() {
    let vectors: Vectors = crate::read("login_handlers");
    assert!(vectors.cases.len() >= MIN_CASES, "the cases are missing");
    for case in &vectors.cases {
        let mut run = Run::start(&vectors, case).await;
        for (at, step) in case.steps.iter().enumerate() {
            if let Some(cookies) = &step.cookies {
                run.jar = CookieJar::parse(cookies);
            }
            for _ in 0..step.times {
                run.check(&format!("{}, step {at}", case.name), step).await;
            }
        }
    }
}
