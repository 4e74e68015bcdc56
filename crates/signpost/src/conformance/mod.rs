//! Tests the endpoints of an integrator against the rules of the handler contract (specification, §4 to §6;
//! docs/handlers.md). The kit plays the wallet, the browser and the service.
//!
//! The integrator sets its API address to [`service`], a part of the service that is sufficient for a login. Then the
//! kit opens the page with the code, as a browser with cookies; answers the code like wallets, correctly and
//! incorrectly; polls like the page; and posts events like the service.

mod browser;
mod events;
mod polls;
mod report;
mod service;
mod wallets;

use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use serde_json::Value;
use signpost_auth::{Mode, QrData, Wallet, WebhookSecret};
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{EgressPolicy, Outbound, OutboundResponse, Request};
use signpost_store::random;
use tokio::net::TcpListener;
use url::Url;

use browser::FakeBrowser;
pub use report::{ConformanceReport, RuleCheck, Verdict};
use service::FakeService;

/// Timeout of a request to an endpoint.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum bytes that are read of a page.
const MAX_RESPONSE_LEN: usize = 1 << 20;
/// Maximum number of redirects of a page.
const MAX_REDIRECTS: usize = 5;

/// The settings of a test run, such as the URLs of the integrator's endpoints.
#[derive(Debug)]
pub struct KitSettings {
    /// The login page with a code.
    pub start: Url,
    /// The registration page with a code. By default the page that the login page links to.
    pub register: Option<Url>,
    /// The URL that the page polls for the result.
    pub poll: Url,
    /// The URL that receives events.
    pub events: Url,
    /// The listener for the site's API calls.
    pub api: TcpListener,
    /// The signing secret of events, shared with the integrator.
    pub secret: WebhookSecret,
    /// Whether the site receives events about users.
    pub user_events: bool,
}

/// The endpoints under test.
struct Endpoints {
    start: Url,
    register: Option<Url>,
    poll: Url,
    events: Url,
    secret: WebhookSecret,
    user_events: bool,
}

/// The state of a test run.
struct Kit {
    endpoints: Endpoints,
    service: FakeService,
    outbound: Outbound,
    clock: Clock,
    report: ConformanceReport,
}

/// A page with a code, in the browser that opened it.
struct FetchedPage {
    browser: FakeBrowser,
    qr: QrData,
    /// The session ID that the page polls with.
    sid: String,
    text: String,
}

/// The response of an endpoint.
struct SiteResponse {
    status: u16,
    body: String,
    headers: HeaderMap,
}

/// Tests all rules that can be tested.
///
/// # Errors
/// Returns an error if the login page cannot be opened or read, because then nothing can be tested.
pub async fn run(settings: KitSettings, outbound: Outbound, clock: Clock) -> Result<ConformanceReport> {
    let KitSettings { start, register, poll, events, api, secret, user_events } = settings;
    let service = FakeService::start(api, clock.clone());
    let endpoints = Endpoints { start, register, poll, events, secret, user_events };
    let mut kit = Kit { endpoints, service, outbound, clock, report: ConformanceReport::default() };
    let page = kit.open(Mode::Login).await.context("nothing can be tested")?;
    if kit.endpoints.register.is_none() {
        kit.endpoints.register = browser::register_link(&kit.endpoints.start, &page.text);
    }
    wallets::check_page(&mut kit, &page);
    wallets::refusals(&mut kit, &page).await?;
    let user = wallets::registration(&mut kit).await?;
    wallets::logins(&mut kit, user.as_ref()).await?;
    polls::run(&mut kit, user.as_ref()).await?;
    events::run(&mut kit, page.qr.webhook()).await?;
    Ok(kit.report)
}

impl Kit {
    fn now(&self) -> i64 {
        self.clock.now().as_second()
    }

    /// Opens the page with a code.
    async fn open(&self, mode: Mode) -> Result<FetchedPage> {
        let start = match mode {
            Mode::Login => Some(&self.endpoints.start),
            Mode::Register => self.endpoints.register.as_ref(),
            Mode::Link => None,
        };
        self.open_at(start.context("no registration page was found: pass it with --register")?.clone()).await
    }

    async fn open_at(&self, start: Url) -> Result<FetchedPage> {
        let mut browser = FakeBrowser::default();
        let mut url = start;
        let before = self.service.opened();
        for _ in 0..=MAX_REDIRECTS {
            let reply = self.send(Method::GET, &url, &mut browser, None).await?;
            if (300..400).contains(&reply.status) {
                let to = reply.header("location").context("a redirect without a location")?;
                url = url.join(to).with_context(|| format!("a redirect to {to}"))?;
                continue;
            }
            anyhow::ensure!(reply.status == 200, "{url} replied {}", reply.status);
            let qr = browser::qr_data(&reply.body);
            let qr = qr.with_context(|| format!("{url} shows no qr_data (a text that begins with svc://auth?)"))?;
            let opened = self.service.opened_since(before);
            let sid = browser::sid(&reply.body, &opened);
            let sid = sid.with_context(|| format!("{url} shows no sid to poll with (such as data-sid=\"…\")"))?;
            return Ok(FetchedPage { browser, qr, sid, text: reply.body });
        }
        anyhow::bail!("{url} redirects more than {MAX_REDIRECTS} times")
    }

    /// Posts to the webhook of a code, as a wallet does.
    async fn post_answer(&self, url: &Url, answer: &Value) -> Result<SiteResponse> {
        self.send(Method::POST, url, &mut FakeBrowser::default(), Some(answer.to_string())).await
    }

    /// Polls like the page.
    async fn poll(&self, page: &mut FetchedPage) -> Result<SiteResponse> {
        self.poll_as(&page.sid, &mut page.browser).await
    }

    async fn poll_as(&self, sid: &str, browser: &mut FakeBrowser) -> Result<SiteResponse> {
        let mut url = self.endpoints.poll.clone();
        url.query_pairs_mut().append_pair("sid", sid);
        self.send(Method::GET, &url, browser, None).await
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        browser: &mut FakeBrowser,
        body: Option<String>,
    ) -> Result<SiteResponse> {
        let mut headers = HeaderMap::new();
        if let Some(cookies) = browser.cookies() {
            headers.insert(COOKIE, HeaderValue::from_str(&cookies)?);
        }
        if let Some(origin) = &browser.origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin)?);
        }
        for (name, value) in &browser.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value)?);
        }
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = body.map(Bytes::from);
        let request = Request { method, url, headers, body, timeout: REQUEST_TIMEOUT, max_body: MAX_RESPONSE_LEN };
        // Operators test their own endpoints, so every address is allowed.
        let answer = self.outbound.send(EgressPolicy::Everything, request).await;
        let OutboundResponse { status, body, headers, .. } =
            answer.with_context(|| format!("{url} does not respond"))?;
        browser.store_cookies(&headers);
        Ok(SiteResponse { status, body: String::from_utf8_lossy(&body).into_owned(), headers })
    }

    /// Creates a wallet that is not registered.
    fn wallet() -> Wallet {
        let keys = std::iter::repeat_with(|| Wallet::from_bytes(random()).ok());
        keys.flatten().next().expect("nearly every number is a key")
    }
}

impl SiteResponse {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the response as a single line.
    fn describe(&self) -> String {
        let body: String = signpost_text::clean_line(&self.body).chars().take(160).collect();
        format!("{} {body}", self.status)
    }
}
