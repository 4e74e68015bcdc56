//! The browser wallet (docs/browser-wallet.md): its address, its policies, and answers without a number.

use reqwest::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, HOST, ORIGIN};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use signpost_auth::{HostBoundChallenge, QrData};
use signpost_platform::accounts::Environment;

use crate::harness::{Browser, Integrator, Phone, Reply, Service, ShownPage, scan, send, text};
use crate::page_flow::{create_session, register_hosted_domain, shop};

const WALLET_ORIGIN: &str = "https://wallet.test";

async fn get(service: &Service, host: Option<&str>, path: &str) -> Reply {
    let request = service.visitor().request(Method::GET, path);
    send(if let Some(host) = host { request.header(HOST, host) } else { request }).await
}

/// Creates a wallet's request to the URL in the code.
fn wallet_request(
    service: &Service,
    method: Method,
    shown: &Value,
    query: &str,
    headers: &[(&str, &str)],
) -> RequestBuilder {
    let webhook = scan(shown).webhook().clone();
    let request = service.visitor().request(method, &format!("{}{query}", webhook.path()));
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

/// Returns the server's context of a code.
async fn context(service: &Service, shown: &Value, headers: &[(&str, &str)]) -> Value {
    let challenge = scan(shown).challenge().to_string();
    send(wallet_request(service, Method::GET, shown, &format!("?challenge={challenge}"), headers)).await.with(200)
}

/// Signs the code, with this number if given, and posts the answer.
async fn post_answer(
    service: &Service,
    phone: &Phone,
    shown: &Value,
    number: Option<&str>,
    headers: &[(&str, &str)],
) -> Reply {
    let code: QrData = scan(shown);
    let signed = HostBoundChallenge::new(code.challenge().clone(), code.webhook(), number).to_string();
    let request = wallet_request(service, Method::POST, shown, "", headers).header(CONTENT_TYPE, "application/json");
    send(request.body(phone.sign_text(&signed).to_string())).await
}

async fn open_page(service: &Service, integrator: &Integrator, with: Value) -> (Browser, Value, ShownPage) {
    let session = create_session(integrator, with).await;
    let mut browser = Browser::at(service);
    let shown = browser.open(&session).await;
    (browser, session, shown)
}

/// Returns the cookie and origin headers of a request from a page of the login host.
fn own_headers<'a>(browser: &'a Browser, origin: &'a str) -> [(&'static str, &'a str); 2] {
    [("cookie", browser.cookie.as_deref().expect("a cookie")), ("origin", origin)]
}

#[tokio::test]
async fn wallet_files_have_one_version() {
    let service = Service::start().await;
    let page = get(&service, None, "/wallet").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("connect-src 'self';") && policy.ends_with("; worker-src 'self'"), "{policy}");
    assert!(page.header("permissions-policy").expect("a policy").contains("camera=(self)"));
    assert!(page.header("set-cookie").is_none());
    let version = page.text.split("data-version=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a version");
    let worker = get(&service, None, "/wallet/sw.js").await;
    assert_eq!(
        (worker.header("cache-control"), worker.header("service-worker-allowed")),
        (Some("no-cache"), Some("/wallet"))
    );
    let list: Value = serde_json::from_str(
        worker
            .text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("const SHELL = ")?.strip_suffix(';'))
            .expect("a list"),
    )
    .expect("JSON");
    assert_eq!((&list["version"], &list["page"]), (&json!(version), &json!("/wallet")));
    let files = list["files"].as_array().expect("files");
    assert!(files.len() > 12, "{files:?}");
    for file in files {
        assert_eq!(get(&service, None, file.as_str().expect("an address")).await.status, 200, "{file}");
    }
    assert!(page.text.contains(&format!("src=\"/wallet/{version}/wallet.js\"")));
    let manifest = get(&service, None, "/wallet/manifest.webmanifest?lang=es").await;
    assert_eq!(manifest.header("content-type"), Some("application/manifest+json"));
    let manifest = manifest.with(200);
    assert_eq!(
        (&manifest["scope"], &manifest["start_url"], &manifest["lang"]),
        (&json!("/wallet"), &json!("/wallet"), &json!("es"))
    );
    assert_eq!(get(&service, None, "/wallet/0000000000000000/wallet.js").await.status, 404);
}

#[tokio::test]
async fn wallet_size_is_limited() {
    let service = Service::start().await;
    let worker = get(&service, None, "/wallet/sw.js").await.text;
    let list =
        worker.lines().next().and_then(|line| line.strip_prefix("const SHELL = ")?.strip_suffix(';')).expect("a list");
    let list: Value = serde_json::from_str(list).expect("JSON");
    let (mut all, mut decoder) = (0, 0);
    for path in
        list["files"].as_array().expect("files").iter().filter_map(Value::as_str).chain(["/wallet", "/wallet/sw.js"])
    {
        let request = service.visitor().request(Method::GET, path).header("accept-encoding", "gzip");
        let size = request.send().await.expect("an answer").bytes().await.expect("a body").len();
        // The notice is not loaded by the app; the page is uncompressed unless a proxy compresses it.
        all += if path.contains("/NOTICE.") { 0 } else { size };
        decoder += if path.contains("/qr/") { size } else { 0 };
    }
    assert!(all <= 90_000, "{all} bytes");
    assert!(decoder > 0 && all - decoder < 58_000, "{} bytes before a scan", all - decoder);
}

#[tokio::test]
async fn same_browser_needs_no_confirmation_number() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let origin = service.app.origin.as_str().to_owned();
    let (browser, session, shown) = open_page(&service, &integrator, json!({ "mode": "register" })).await;
    let code = shown.code();
    let own = own_headers(&browser, &origin);
    let message = context(&service, &code, &own).await;
    assert_eq!(
        (&message["number"], &message["verified"], &message["domain"]),
        (&json!(false), &json!(false), &json!("shop.test"))
    );
    let number = code["confirm_code"].as_str().expect("a number");
    let wrong = if number == "11" { "12" } else { "11" };
    let refused = post_answer(&service, &service.phone(), &code, Some(wrong), &own).await;
    assert_eq!(refused.with(406)["details"]["reason"], "confirm_code", "a number that is sent counts");
    post_answer(&service, &service.phone(), &code, None, &own).await.with(200);
    assert_eq!(browser_state(&service, &browser, &session).await, "done");
}

async fn browser_state(service: &Service, browser: &Browser, session: &Value) -> String {
    let mut same = Browser { cookie: browser.cookie.clone(), ..Browser::at(service) };
    text(&same.status(session).await, "state").to_owned()
}

#[tokio::test]
async fn other_browsers_need_the_confirmation_number() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let origin = service.app.origin.as_str().to_owned();
    let stranger = format!("signpost_page={}", "A".repeat(43));
    for case in 0..4 {
        let (browser, _, shown) = open_page(&service, &integrator, json!({ "mode": "register" })).await;
        let code = shown.code();
        let cookie = browser.cookie.as_deref().expect("a cookie");
        let headers: &[(&str, &str)] = match case {
            0 => &[],
            1 => &[("origin", &origin)],
            2 => &[("cookie", &stranger), ("origin", &origin)],
            _ => &[("cookie", cookie), ("origin", "https://evil.test")],
        };
        assert_eq!(context(&service, &code, headers).await["number"], true, "{headers:?}");
        let refused = post_answer(&service, &service.phone(), &code, None, headers).await;
        assert_eq!(refused.with(406)["details"]["reason"], "confirm_code", "{headers:?}");
    }
}

#[tokio::test]
async fn login_method_follows_the_request_origin() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let origin = service.app.origin.as_str().to_owned();
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[], "scan"),
        (&[("origin", "https://evil.test")], "scan"),
        (&[("origin", &origin)], "browser"),
        (&[("origin", &origin), ("origin", &origin)], "scan"),
    ];
    for (number, (headers, method)) in (1..).zip(cases) {
        let body = json!({ "domain": "shop.test", "mode": "register", "confirm": "code" });
        let session = integrator.post("/sessions", body).await.with(201);
        let phone = Phone::of(number, &service.clock);
        post_answer(&service, &phone, &session, session["confirm_code"].as_str(), headers).await.with(200);
        assert_eq!(integrator.get_session(&session).await.with(200)["method"], method, "{headers:?}");
    }
}

#[tokio::test]
async fn domain_without_the_method_rejects_it() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let domain = register_hosted_domain(&integrator, "scan.test").await;
    integrator.patch(&format!("/domains/{}", text(&domain, "id")), &json!({ "methods": ["scan"] })).await.with(200);
    let origin = service.app.origin.as_str().to_owned();
    let (browser, _, shown) = open_page(&service, &integrator, json!({ "domain": "scan.test" })).await;
    assert!(!shown.html.contains("signpost-wallet"), "{}", shown.html);
    let refused = post_answer(&service, &service.phone(), &shown.code(), None, &own_headers(&browser, &origin)).await;
    assert_eq!(refused.with(404)["details"]["reason"], "method");
    let (_, _, shown) = open_page(&service, &integrator, json!({})).await;
    let link = format!("rel=\"signpost-wallet\" href=\"{origin}/wallet#svc://auth?v=2&amp;");
    assert_eq!(shown.html.matches(&link).count(), 2, "{}", shown.html);
}

#[tokio::test]
async fn disabled_wallet_is_not_served() {
    let service = Service::with(&[("wallet", "off")]).await;
    for path in ["/wallet", "/wallet/sw.js", "/wallet/manifest.webmanifest"] {
        assert_eq!(get(&service, None, path).await.status, 404, "{path}");
    }
    let integrator = shop(&service).await;
    let (_, _, shown) = open_page(&service, &integrator, json!({})).await;
    assert!(!shown.html.contains("signpost-wallet"));
    let headers = [("origin", service.app.origin.as_str())];
    let message = post_answer(&service, &service.phone(), &shown.code(), None, &headers).await;
    assert_eq!(message.with(406)["details"]["reason"], "confirm_code", "no wallet page is there to be meant");
    let alone = register_hosted_domain(&integrator, "alone.test").await;
    integrator.patch(&format!("/domains/{}", text(&alone, "id")), &json!({ "methods": ["browser"] })).await.with(200);
    let body = crate::page_flow::request(&json!({ "domain": "alone.test" }));
    integrator.post("/sessions", body).await.assert_error(422, "no_login_method");
}

#[tokio::test]
async fn wallet_host_serves_only_the_wallet() {
    let service = Service::with(&[("wallet", WALLET_ORIGIN)]).await;
    let host = Some("wallet.test");
    let page = get(&service, host, "/wallet").await;
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains(&format!("connect-src 'self' {};", service.app.origin.as_str())), "{policy}");
    for environment in Environment::ALL {
        assert!(page.text.contains(&format!("{}{}/hosted", service.app.public_address, environment.path())));
    }
    let style = page.text.split("rel=\"stylesheet\" href=\"").nth(1).and_then(|rest| rest.split('"').next());
    assert_eq!(get(&service, host, style.expect("a style sheet")).await.status, 200);
    let start = get(&service, host, "/").await;
    assert_eq!((start.status, start.header("location")), (303, Some("/wallet")));
    for path in [
        "/health",
        "/v1/hosted/login",
        "/sandbox/v1/sessions",
        "/account",
        "/login/sess_1",
        "/assets/login.js",
        "/mcp",
        "/lnurl/x",
    ] {
        for host in ["wallet.test", "WALLET.test:8443"] {
            let asked =
                service.visitor().request(Method::GET, path).header(HOST, host).send().await.expect("an answer");
            assert_eq!(asked.status(), 404, "{host}{path}");
        }
    }
    assert_eq!(get(&service, None, "/wallet").await.status, 404);
    assert_eq!(get(&service, Some("wallet.test.evil.test"), "/wallet").await.status, 404);
}

#[tokio::test]
async fn cors_allows_only_the_wallet_origin() {
    let service = Service::with(&[("wallet", WALLET_ORIGIN)]).await;
    let integrator = shop(&service).await;
    let (browser, _, shown) = open_page(&service, &integrator, json!({ "mode": "register" })).await;
    let code = shown.code();
    assert!(
        shown.html.contains(&format!("rel=\"signpost-wallet\" href=\"{WALLET_ORIGIN}/wallet#svc://")),
        "{}",
        shown.html
    );
    let raw = async |method, origin: &str| {
        let request =
            wallet_request(&service, method, &code, "", &[("origin", origin)]).send().await.expect("an answer");
        (request.status().as_u16(), request.headers().clone())
    };
    let (status, headers) = raw(Method::OPTIONS, WALLET_ORIGIN).await;
    assert_eq!(
        (status, &headers[ACCESS_CONTROL_ALLOW_ORIGIN], &headers["vary"]),
        (204, &WALLET_ORIGIN.parse().expect("a value"), &"origin".parse().expect("a value"))
    );
    assert!(!headers.contains_key("access-control-allow-credentials"));
    for origin in
        ["https://evil.test", "http://wallet.test", "https://wallet.test:8443", "null", service.app.origin.as_str()]
    {
        let (status, headers) = raw(Method::OPTIONS, origin).await;
        assert!(status == 405 && !headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN), "{origin}");
    }
    // Wallet requests have no cookie; the server ignores cookies.
    let cookie = browser.cookie.as_deref().expect("a cookie");
    let webhook = scan(&code).webhook().clone();
    let query = format!("?challenge={}", scan(&code).challenge());
    let request =
        wallet_request(&service, Method::GET, &code, &query, &[("origin", WALLET_ORIGIN), ("cookie", cookie)]);
    let message = request.send().await.expect("an answer");
    assert_eq!(message.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], WALLET_ORIGIN);
    let message: Value = serde_json::from_str(&message.text().await.expect("a text")).expect("JSON");
    assert_eq!(message["number"], true);
    let signed =
        HostBoundChallenge::new(scan(&code).challenge().clone(), &webhook, code["confirm_code"].as_str()).to_string();
    let answer = service.phone().sign_text(&signed).to_string();
    let request = service.visitor().request(Method::POST, webhook.path()).header(CONTENT_TYPE, "application/json");
    let answered = request.header(ORIGIN, WALLET_ORIGIN).body(answer).send().await.expect("an answer");
    assert_eq!(
        (answered.status().as_u16(), &answered.headers()[ACCESS_CONTROL_ALLOW_ORIGIN]),
        (200, &WALLET_ORIGIN.parse().expect("a value"))
    );
}

#[tokio::test]
async fn live_wallet_requires_a_separate_host() {
    let login = "https://login.test";
    for (wallet, is_offered) in [("on", false), (WALLET_ORIGIN, true)] {
        let service = Service::with(&[("public_url", login), ("wallet", wallet)]).await;
        assert_eq!(service.app.login.wallet_url(Environment::Live).is_some(), is_offered, "{wallet}");
        assert!(service.app.login.wallet_url(Environment::Sandbox).is_some());
        let methods = service.app.login.supported_methods(Environment::Live);
        assert_eq!(methods.contains(signpost_login::domains::LoginMethod::Browser), is_offered, "{wallet}");
    }
}
