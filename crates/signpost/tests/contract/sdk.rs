//! The Rust SDK against the server: the server accepts its requests, its types parse the replies, and its login
//! handlers log in a user on the page, in a browser and with the testing helper.

use std::sync::{Arc, Mutex};

use axum::http::request::Parts;
use reqwest::StatusCode;
use serde_json::{Value, json};
use signpost_auth::Mode;
use signpost_auth::client::{
    AtmSearch, Change, CitySearch, DeliveryFilter, DomainChange, HandlerKind, NewDomain, NewSession, Paging,
    Registration, SessionFilter, SessionStatus, Signed, Signpost, StatusSearch, UserChange,
};
use signpost_auth::login::{CurrentUser, LoginOptions, LoginSite, SignedIn, SiteError, router};
use signpost_auth::testing::{LogInError, LogInOptions, SiteLogin, log_in};
use tokio::net::TcpListener;

use crate::harness::{Integrator, Service, UNREACHABLE_URL};
use crate::page_flow::{browser, code, register_hosted_domain, scan_and_answer, shop, visit_page};

fn client(integrator: &Integrator) -> Signpost {
    let key = integrator.key.clone().expect("a key");
    Signpost::new(key).expect("a client").with_base_url(&integrator.api).expect("an address")
}

/// A site that stores its logins.
#[derive(Clone, Default)]
struct Shop(Arc<Mutex<Vec<SignedIn>>>);

impl LoginSite for Shop {
    async fn sign_in(&self, login: SignedIn, _: &Parts) -> Result<Vec<String>, SiteError> {
        self.0.lock().expect("a site").push(login);
        Ok(vec!["login=new; Path=/".to_owned()])
    }

    async fn current_user(&self, _: &Parts) -> CurrentUser {
        self.0.lock().expect("a site").last().map(|login| login.user.id.clone()).into()
    }
}

/// A browser at the site. It does not follow redirects.
struct SiteBrowser {
    origin: String,
    http: reqwest::Client,
    cookies: String,
}

impl SiteBrowser {
    async fn start(shop: &Shop, integrator: &Integrator) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        // The site's origin differs from its listening address, as behind a proxy.
        let options = LoginOptions::new("shop.test", "https://shop.test", "a".repeat(32)).expect("options");
        let app = router(client(integrator), options, shop.clone());
        tokio::spawn(async { axum::serve(listener, app).await });
        Self { origin, http: integrator.http.clone(), cookies: String::new() }
    }

    /// Sends a GET request, stores the cookies, and returns the status and the redirect target.
    async fn visit(&mut self, path: &str) -> (StatusCode, String) {
        // The proxy passes the Host header.
        let request = self.http.get(format!("{}{path}", self.origin)).header("host", "shop.test");
        let request = request.header("cookie", &self.cookies);
        let response = request.send().await.expect("an answer");
        let texts = |name: &str| {
            let values = response.headers().get_all(name).iter();
            values.map(|value| value.to_str().expect("text").to_owned()).collect::<Vec<_>>()
        };
        let pairs = texts("set-cookie").into_iter().map(|line| line.split(';').next().expect("a pair").to_owned());
        self.cookies = pairs.collect::<Vec<_>>().join("; ");
        (response.status(), texts("location").pop().unwrap_or_default())
    }

    /// Starts a login. Returns the session in the page's URL.
    async fn begin_login(&mut self, path: &str) -> Value {
        let (status, page_url) = self.visit(path).await;
        assert_eq!(status, 303);
        json!({ "id": page_url.rsplit('/').next().expect("an id"), "page_url": page_url })
    }
}

#[tokio::test]
async fn site_logs_in_only_the_starting_browser() {
    let (service, shop_site) = (Service::start().await, Shop::default());
    let integrator = shop(&service).await;
    let mut site = SiteBrowser::start(&shop_site, &integrator).await;
    for (path, mode) in [("register", Mode::Register), ("login", Mode::Login)] {
        let session = site.begin_login(&format!("/signpost/{path}?next=/cart")).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
        let back = format!("/signpost/return?session_id={}&code={}", page.id, code(&page, &browser(1)));
        let mut other = SiteBrowser { origin: site.origin.clone(), http: site.http.clone(), cookies: String::new() };
        assert_eq!(other.visit(&back).await, (StatusCode::SEE_OTHER, "/?login_error=other_browser".to_owned()));
        assert_eq!(site.visit(&back).await, (StatusCode::SEE_OTHER, "/cart".to_owned()));
        let signed_in = shop_site.0.lock().expect("a site").pop().expect("a user");
        assert_eq!(
            (signed_in.mode, &*signed_in.next, &signed_in.session.status),
            (mode, "/cart", &SessionStatus::Authenticated)
        );
        let user =
            client(&integrator).users().get(&domain_id(&integrator).await, &signed_in.user.id).await.expect("a user");
        assert_eq!(user.public_key, Some(service.phone().public_key()));
        // The site records the user, who may then link another key.
        shop_site.0.lock().expect("a site").push(signed_in);
        let again = site.visit(&back).await.1;
        assert_eq!(again, "/?login_error=other_browser", "a code is good once");
    }
    let link = site.begin_login("/signpost/link").await;
    let seen = integrator.get_session(&link).await.with(200);
    assert_eq!((&seen["mode"], &seen["status"]), (&json!("link"), &json!("pending")));
}

/// Starts a site at localhost with the login handlers. Returns its origin.
async fn start_local_site(integrator: &Integrator) -> String {
    register_hosted_domain(integrator, "localhost").await;
    let listener = TcpListener::bind("localhost:0").await.expect("a port");
    let origin = format!("http://localhost:{}", listener.local_addr().expect("an address").port());
    let options = LoginOptions::new("localhost", &origin, "a".repeat(32)).expect("options");
    let app = router(client(integrator), options, Shop::default());
    tokio::spawn(async { axum::serve(listener, app).await });
    origin
}

fn sandbox_options(integrator: &Integrator) -> LogInOptions {
    let key = integrator.key.clone().expect("a key");
    LogInOptions { base_url: Some(integrator.api.clone()), ..LogInOptions::new(key) }
}

#[tokio::test]
async fn testing_helper_logs_in_at_a_site() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let site = start_local_site(&integrator).await;
    let options = sandbox_options(&integrator);
    let user = |login: &SiteLogin| login.user.as_ref().expect("a user").id.clone();
    let first = log_in(&site, &options).await.expect("a login");
    assert_eq!((first.cookie(), first.location.to_string()), ("login=new".to_owned(), format!("{site}/")));
    assert_eq!(first.user.as_ref().expect("a user").is_new, Some(true));
    let again =
        log_in(&site, &LogInOptions { next: "/cart?a=1".to_owned(), ..options.clone() }).await.expect("a login");
    assert_eq!((user(&again), again.location.to_string()), (user(&first), format!("{site}/cart?a=1")));
    let other = log_in(&site, &LogInOptions { wallet: 2, ..options.clone() }).await.expect("a login");
    assert_ne!(user(&other), user(&first));
    let denied = log_in(&site, &LogInOptions { denied: true, ..options }).await.expect("a cancelled login");
    assert_eq!((denied.cookie(), denied.user), (String::new(), None));
    assert_eq!(denied.location.to_string(), format!("{site}/?login_error=access_denied"));
}

#[tokio::test]
async fn failed_test_login_names_the_cause() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let site = start_local_site(&integrator).await;
    let options = sandbox_options(&integrator);
    let live = Some(integrator.api.replace("/sandbox", ""));
    let elsewhere = site.replace("localhost", "127.0.0.1");
    for (site, options, expected) in [
        (&site, LogInOptions { base_url: live, ..options.clone() }, "a base URL of the sandbox"),
        (&site, LogInOptions::new("svc_live_x"), "an API key of the sandbox"),
        (&format!("{site}/account"), options.clone(), "the site is an origin"),
        (&elsewhere, options.clone(), "the site of the login handlers: log in there"),
        (&site, LogInOptions { path: "/elsewhere".to_owned(), ..options.clone() }, "has status 404 instead of"),
        (&site, LogInOptions { wallet: 101, ..options.clone() }, "invalid_request"),
    ] {
        let error: LogInError = log_in(site, &options).await.expect_err(expected);
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
    let [domain] = &*client(&integrator).domains().list(&Paging::default()).await.expect("domains").domains else {
        panic!("another number of domains");
    };
    let closed = DomainChange { registration: Some(Registration::Closed), ..DomainChange::default() };
    client(&integrator).domains().update(&domain.id, &closed).await.expect("a change");
    let error = log_in(&site, &options).await.expect_err("registration is closed");
    assert!(error.to_string().contains("the simulated wallet was refused with status 404"), "{error}");
}

async fn domain_id(integrator: &Integrator) -> String {
    client(integrator).domains().list(&Paging::default()).await.expect("domains").domains.remove(0).id
}

#[tokio::test]
async fn replies_parse_into_their_types() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    register_hosted_domain(&integrator, "other.test").await;
    let signpost = client(&integrator);
    let new =
        NewDomain { domain: "shop.test".to_owned(), webhook_url: UNREACHABLE_URL.to_owned(), ..NewDomain::default() };
    let registered = signpost.domains().create(&new).await.expect("a domain");
    let exists = signpost.domains().create(&new).await.expect_err("it is there");
    assert_eq!((exists.code.as_str(), exists.status), ("domain_exists", Some(409)));
    assert!(exists.details["id"] == *registered.id && exists.request_id.is_some(), "{exists}");
    let change = DomainChange {
        handler: Some(HandlerKind::Hosted),
        display_name: Change::Set("Shop".to_owned()),
        ..DomainChange::default()
    };
    let changed = signpost.domains().update(&registered.id, &change).await.expect("a change");
    assert_eq!((changed.handler, changed.display_name.as_deref()), (HandlerKind::Hosted, Some("Shop")));
    let change = DomainChange { display_name: Change::Remove, ..DomainChange::default() };
    assert_eq!(signpost.domains().update(&registered.id, &change).await.expect("a change").display_name, None);
    assert_eq!(signpost.domains().get(&registered.id).await.expect("a resource").domain, "shop.test");
    let paging = Paging { limit: Some(1), cursor: None };
    let first = signpost.domains().list(&paging).await.expect("a page");
    let paging = Paging { cursor: first.next_cursor, ..paging };
    let second = signpost.domains().list(&paging).await.expect("a page");
    // Both domains have an equal creation time, so the order is undefined.
    let mut names: Vec<_> = first.domains.into_iter().chain(second.domains).map(|domain| domain.domain).collect();
    names.sort();
    assert_eq!(names, ["other.test", "shop.test"]);

    let sessions = signpost.sessions();
    let created =
        sessions.create(&NewSession { mode: Some(Mode::Register), ..NewSession::on("shop.test") }).await.expect("201");
    let again = sessions.create_with_idempotency_key("once", &NewSession::on("shop.test")).await.expect("201");
    assert_eq!(
        sessions.create_with_idempotency_key("once", &NewSession::on("shop.test")).await.expect("201").id,
        again.id
    );
    assert!(sessions.qr_svg(&created.id).await.expect("an image").contains("<svg"));
    assert_ne!(sessions.refresh(&created.id).await.expect("a code").challenge, created.challenge);
    assert_eq!(sessions.get(&created.id).await.expect("a resource").status, SessionStatus::Pending);
    let filter = SessionFilter { status: Some(SessionStatus::Pending), ..SessionFilter::default() };
    assert_eq!(sessions.list(&filter).await.expect("a page").sessions.len(), 2);
    sessions.cancel(&created.id).await.expect("an end");
    assert_eq!(sessions.wait(&created.id).await.expect("a final state").status, SessionStatus::Cancelled);

    let event = signpost.domains().send_test_event(&registered.id).await.expect("an event");
    let shown = signpost.deliveries().get(&event.id).await.expect("a resource");
    assert_eq!(shown.body.map(|body| body.id), Some(event.id));
    assert_eq!(signpost.deliveries().list(&DeliveryFilter::default()).await.expect("a page").deliveries.len(), 1);
    assert_eq!(signpost.deliveries().retry_all().await.expect("a number").retried, 0);
    let users = signpost.users();
    assert!(users.list(&registered.id, &Paging::default()).await.expect("a page").users.is_empty());
    let unknown = format!("usr_{}", "0".repeat(36));
    let change = UserChange { name: Change::Set("Ada".to_owned()), ..UserChange::default() };
    assert_eq!(users.update(&registered.id, &unknown, &change).await.expect_err("unknown").code, "not_found");
    users.delete_all(&registered.id).await.expect("a deletion");
    let phone = service.phone();
    let (public_key, message) = (phone.public_key(), "text".to_owned());
    let signed = Signed { public_key, signature: phone.wallet.sign(&message), message };
    assert!(signpost.verify(&signed).await.expect("an answer").valid);
    signpost.domains().delete(&registered.id).await.expect("an end");
}

#[tokio::test]
async fn locator_requires_no_key() {
    let service = Service::with(&[("services", "atm,auth")]).await;
    let atms = client(&service.integrator().await);
    let (lat, lon, radius) = (Some(30.27), Some(-97.74), Some(25.0));
    let near = AtmSearch { lat, lon, limit: Some(3), max_distance: radius, ..AtmSearch::default() };
    let found = atms.atms().nearest(&near).await.expect("an answer");
    assert_eq!(found.atms.len() < 4, found.total >= found.atms.len() as u64);
    if let Some(atm) = found.atms.first() {
        assert_eq!(atms.atms().get(atm.id).await.expect("a record").name, atm.name);
    }
    let area = StatusSearch { lat, lon, radius, ..StatusSearch::default() };
    assert_eq!(atms.atms().status(&area).await.expect("an answer").counts.values().sum::<u64>(), found.total);
    let city = CitySearch { city: "Austin".to_owned(), state: "TX".to_owned(), ..CitySearch::default() };
    atms.atms().list_by_city(&city).await.expect("a page");
    let nowhere = AtmSearch { location: Some(" ".to_owned()), ..AtmSearch::default() };
    let error = atms.atms().nearest(&nowhere).await.expect_err("a blank location");
    assert!(matches!(error.code.as_str(), "mcp_error" | "tool_error"), "{error}");
}
