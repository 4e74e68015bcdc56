//! The login page over HTTP (docs/login-page.md): access, contents and buttons.

use jiff::SignedDuration;
use reqwest::Method;
use reqwest::header::SET_COOKIE;
use serde_json::{Value, json};
use signpost_platform::accounts::Environment;

use crate::harness::{Browser, Integrator, Service, ShownPage, WAIT_TIMEOUT, page_path, text};
use crate::page_flow::{
    SECRET, complete_session, create_session, create_user, post_answer, register_hosted_domain, request, shop,
};

/// Returns the completion code in the page's return URL.
fn code_of(done: &ShownPage) -> String {
    let link = done.link("continue");
    link.query_pairs().find(|(name, _)| name == "code").expect("a code").1.into_owned()
}

async fn scan(service: &Service, integrator: &Integrator, shown: &ShownPage) -> u16 {
    let code = shown.code();
    let answer = service.phone().answer_with(&code, code["confirm_code"].as_str());
    post_answer(integrator, &code, &answer).await.status
}

#[tokio::test]
async fn the_first_navigation_owns_the_page() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let page = page_path(&session);
    let mut stranger = Browser::at(&service);
    // Requests that are not navigations do not claim the page: images, frames, prefetches.
    for (cause, headers) in [
        ("Sec-Fetch-Mode", &[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")][..]),
        ("Sec-Fetch-Mode", &[("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")]),
        ("Sec-Fetch-Dest", &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")]),
        ("Sec-Purpose", &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"), ("sec-purpose", "prefetch")]),
        ("Purpose", &[("purpose", "prefetch")]),
    ] {
        let request = stranger.request(Method::GET, &page);
        let shown = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let shown = stranger.send(shown).await;
        shown.is(403, "no-navigation");
        assert!(
            shown.html.contains(&format!("<code>{cause}</code>")) && !shown.html.contains("svc:"),
            "{}",
            shown.html
        );
        assert!(!shown.headers.contains_key(SET_COOKIE), "{headers:?}");
    }
    assert_eq!(stranger.send(stranger.request(Method::HEAD, &page)).await.status, 403);
    let mut owner = Browser::at(&service);
    let shown = owner.open(&session).await;
    shown.is(200, "waiting");
    let cookie = shown.headers[SET_COOKIE].to_str().unwrap();
    assert!(cookie.starts_with("signpost_page=") && cookie.contains("; HttpOnly; SameSite=Lax"), "{cookie}");
    for (name, value) in [
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(shown.headers[name], value);
    }
    let policy = shown.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
    // A browser that received the link sees nothing of the session on any of its pages.
    let other = stranger.open(&session).await;
    other.is(403, "other");
    assert!(!other.html.contains("svc:") && other.html.contains("href=\"https://shop.test/\""), "{}", other.html);
    assert_eq!(stranger.cookie, None);
    for part in ["state", "events"] {
        let shown = stranger.send(stranger.request(Method::GET, &format!("{page}/{part}"))).await;
        shown.is(403, "other");
    }
    // The owner can reload the page, also in another tab.
    assert_eq!(owner.open(&session).await.code(), shown.code());
    let fetched = owner.send(owner.request(Method::GET, &page).header("sec-fetch-mode", "cors")).await;
    assert_eq!(fetched.is(200, "waiting").code(), shown.code());
    owner.cookie = None;
    owner.open(&session).await.is(403, "other");
}

#[tokio::test]
async fn a_login_returns_from_the_page_to_the_site() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    create_user(&service, &integrator, &service.phone()).await;
    let session = create_session(&integrator, json!({})).await;
    let mut browser = Browser::at(&service);
    let shown = browser.open(&session).await;
    assert_eq!(shown.code()["qr_data"], session["qr_data"]);
    let lnurl = shown.between("rel=\"signpost-lightning\" href=\"lightning:", "\"");
    let lnurl = signpost_auth::Lnurl::decode(lnurl).expect("an LNURL");
    assert!(lnurl.starts_with(&format!("{}/lnurl/", browser.origin)) && lnurl.contains("?tag=login&k1="), "{lnurl}");
    let before = browser.status(&session).await;
    assert_eq!(
        (&before["state"], &before["version"]),
        (&json!("waiting"), &json!(shown.between("data-version=\"", "\"")))
    );
    assert_eq!(scan(&service, &integrator, &shown).await, 200);
    let (done, other_tab) = (browser.open(&session).await, browser.open(&session).await);
    let code = code_of(done.is(200, "done"));
    assert_eq!(code, code_of(&other_tab), "both tabs return with the same code");
    assert!(
        done.link("continue")
            .as_str()
            .starts_with(&format!("https://shop.test/in?session_id={}&code=", text(&session, "id")))
    );
    complete_session(&integrator, &session, &code, Some(SECRET)).await.with(200);
    // When the page is opened again, for example from the history, it has no continue link.
    let again = browser.open(&session).await;
    again.is(200, "done");
    assert!(!again.html.contains("id=\"continue\"") && !again.html.contains(&code), "{}", again.html);
    assert_eq!(again.link("back").as_str(), "https://shop.test/");
    assert_ne!(browser.status(&session).await["version"], before["version"]);
}

#[tokio::test]
async fn codes_are_renewed_before_they_expire() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let mut browser = Browser::at(&service);
    let first = browser.open(&session).await;
    let before = browser.status(&session).await;
    assert!((100..120).contains(&before["left"].as_i64().unwrap()), "{before}");
    service.advance_clock(SignedDuration::from_secs(60));
    let halfway = browser.status(&session).await;
    assert_eq!(
        (&halfway["version"], before["left"].as_i64().unwrap() - halfway["left"].as_i64().unwrap()),
        (&before["version"], 60)
    );
    service.advance_clock(SignedDuration::from_secs(55));
    assert_ne!(browser.status(&session).await["version"], before["version"]);
    let second = browser.open(&session).await;
    assert_ne!(second.code()["qr_data"], first.code()["qr_data"]);
    assert_eq!(second.code()["confirm_code"], first.code()["confirm_code"], "the number stays");
    assert_eq!(scan(&service, &integrator, &first).await, 404);
    assert!(browser.open(&session).await.is(200, "refused").html.contains("That code was replaced"));
    // The page was not polled for a while, as on a sleeping phone.
    service.advance_clock(SignedDuration::from_mins(10));
    browser.open(&session).await.is(200, "waiting");
    service.advance_clock(SignedDuration::from_mins(6));
    let ended = browser.open(&session).await;
    assert!(ended.is(200, "expired").link("back").as_str().ends_with("&error=expired"), "{}", ended.html);
    assert!(!ended.html.contains("svc:"), "a dead code is on no page");
    let renewed = browser.submit(&ended, "renew", "").await;
    renewed.is(200, "waiting");
    assert_eq!(scan(&service, &integrator, &renewed).await, 200);
    browser.open(&session).await.is(200, "done");
    let late = create_session(&integrator, json!({})).await;
    browser.open(&late).await.is(200, "waiting");
    service.advance_clock(SignedDuration::from_mins(40));
    assert!(!browser.open(&late).await.is(200, "expired").html.contains("id=\"renew\""));
}

#[tokio::test]
async fn only_the_owner_can_cancel() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let (session, other) = (create_session(&integrator, json!({})).await, create_session(&integrator, json!({})).await);
    let (mut owner, mut stranger) = (Browser::at(&service), Browser::at(&service));
    let (shown, others) = (owner.open(&session).await, stranger.open(&other).await);
    let cancel = format!("{}/cancel", page_path(&session));
    let (token, foreign) =
        (shown.between("name=\"token\" value=\"", "\""), others.between("name=\"token\" value=\"", "\""));
    let (own, cookie) = (owner.origin.clone(), owner.cookie.clone());
    for (origin, cookie, token) in [
        (Some("https://evil.test"), &cookie, token),
        (Some("null"), &cookie, token),
        (None, &cookie, token),
        (Some(&*own), &cookie, ""),
        (Some(&*own), &cookie, foreign),
        (Some(&*own), &stranger.cookie, foreign),
        (Some(&*own), &stranger.cookie, token),
        (Some(&*own), &None, token),
    ] {
        let mut browser = Browser { cookie: cookie.clone(), ..Browser::at(&service) };
        let form = browser.request(Method::POST, &cancel).header("content-type", "application/x-www-form-urlencoded");
        let form = origin.into_iter().fold(form, |form, origin| form.header("origin", origin));
        let refused = browser.send(form.body(format!("token={token}"))).await;
        assert_eq!(refused.status, 403, "{origin:?} {token}: {}", refused.html);
        assert!(refused.headers["content-type"].to_str().unwrap().starts_with("text/html"));
    }
    owner.open(&session).await.is(200, "waiting");
    let cancelled = owner.submit(&shown, "cancel", "").await;
    let back = cancelled.is(200, "cancelled").link("back");
    assert!(back.as_str().ends_with(&format!("?session_id={}&error=access_denied", text(&session, "id"))), "{back}");
    assert!(cancelled.html.contains("<meta http-equiv=\"refresh\" content=\"0;url=https://shop.test/in?session_id="));
    integrator.get_session(&session).await.assert_error(410, "session_cancelled");
    owner.open(&session).await.is(200, "cancelled");
    assert_eq!(scan(&service, &integrator, &shown).await, 404);
    // A late button shows the result of the login.
    owner.submit(&shown, "mode", "&mode=register").await.is(200, "cancelled");
}

#[tokio::test]
async fn a_login_becomes_a_registration() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let mut browser = Browser::at(&service);
    let shown = browser.open(&session).await;
    let register = browser.submit(&shown, "mode", "&mode=register").await;
    assert!(register.is(200, "waiting").html.contains("Create your account at"), "{}", register.html);
    assert_ne!(register.code()["qr_data"], shown.code()["qr_data"]);
    let login = browser.submit(&register, "mode", "&mode=login").await;
    assert!(login.is(200, "waiting").html.contains("Log in to"));
    browser.submit(&login, "mode", "&mode=destroy").await.is(400, "stale");
    assert_eq!(scan(&service, &integrator, &login).await, 404);
    let create = browser.open(&session).await;
    assert!(create.is(200, "create").html.contains("No account has this key yet"));
    assert_eq!(scan(&service, &integrator, &create).await, 200);
    let code = code_of(browser.open(&session).await.is(200, "done"));
    complete_session(&integrator, &session, &code, Some(SECRET)).await.with(200);
    let known = create_session(&integrator, json!({ "mode": "register" })).await;
    let shown = browser.open(&known).await;
    assert_eq!(scan(&service, &integrator, &shown).await, 409);
    assert!(browser.open(&known).await.is(200, "refused").html.contains("This key has an account already"));
}

#[tokio::test]
async fn the_third_wrong_number_cancels_the_login() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let mut browser = Browser::at(&service);
    let code = browser.open(&session).await.code();
    let wrong = if code["confirm_code"] == "11" { "12" } else { "11" };
    let late = {
        let mut answer = service.phone().answer_with(&code, code["confirm_code"].as_str());
        answer["timestamp"] = (answer["timestamp"].as_i64().unwrap() - 250).into();
        answer
    };
    assert_eq!(post_answer(&integrator, &code, &late).await.status, 408);
    assert!(browser.open(&session).await.is(200, "refused").html.contains("The clock of your wallet is 4 minutes off"));
    for expected in ["2 tries are left.", "One try is left."] {
        assert_eq!(post_answer(&integrator, &code, &service.phone().answer_with(&code, Some(wrong))).await.status, 406);
        let shown = browser.open(&session).await;
        assert!(shown.is(200, "refused").html.contains(expected), "{}", shown.html);
        assert_eq!(shown.code(), code, "the code still works");
    }
    post_answer(&integrator, &code, &service.phone().answer_with(&code, Some(wrong))).await;
    let ended = browser.open(&session).await;
    assert!(ended.is(200, "refused").link("back").as_str().ends_with("&error=access_denied"));
    assert!(!ended.html.contains("svc:"), "{}", ended.html);
}

#[tokio::test]
async fn untrusted_text_is_escaped() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let agent = "<img src=x onerror=alert(1)>\u{202e}\u{5e9}";
    let session = create_session(&integrator, json!({ "requester": { "user_agent": agent } })).await;
    let shown = Browser::at(&service).open(&session).await;
    assert!(shown.html.contains("<bdi>&lt;img src=x onerror=alert(1)&gt;\u{5e9}</bdi>"), "{}", shown.html);
    assert!(!shown.html.contains("<img") && !shown.html.contains('\u{202e}'));
    let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0";
    let session = create_session(&integrator, json!({ "requester": { "user_agent": firefox } })).await;
    let spanish = Browser::at(&service).visit(&format!("{}?lang=es", page_path(&session))).await;
    assert!(spanish.html.contains("Pedido desde Firefox en Linux.") && spanish.html.contains("<html lang=\"es\">"));
    assert!(spanish.html.contains("/cancel?lang=es\""), "a button preserves the language");
}

#[tokio::test]
async fn the_event_stream_reports_every_state() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let mut browser = Browser::at(&service);
    let shown = browser.open(&session).await;
    let request = browser.request(Method::GET, &format!("{}/events", page_path(&session)));
    let mut stream = request.send().await.expect("an answer");
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let (mut read, mut response) = (String::new(), Vec::new());
    let mut next = async |read: &mut String| loop {
        if let Some((event, rest)) = read.split_once("\n\n") {
            let (event, rest) = (event.to_owned(), rest.to_owned());
            *read = rest;
            if let Some(data) = event.strip_prefix("event: state\ndata: ") {
                return Some(serde_json::from_str::<Value>(data).expect("JSON"));
            }
        } else {
            let chunk =
                tokio::time::timeout(WAIT_TIMEOUT, stream.chunk()).await.expect("in time").expect("a stream")?;
            read.push_str(std::str::from_utf8(&chunk).expect("text"));
        }
    };
    response.push(next(&mut read).await.expect("at once"));
    service.advance_clock(SignedDuration::from_secs(115));
    response.push(next(&mut read).await.expect("a new code"));
    let renewed = browser.open(&session).await;
    assert_ne!(renewed.code(), shown.code());
    assert_eq!(scan(&service, &integrator, &renewed).await, 200);
    response.push(next(&mut read).await.expect("an answer"));
    assert_eq!(next(&mut read).await, None, "the stream has ended");
    let states: Vec<_> = response.iter().map(|response| text(response, "state")).collect();
    assert_eq!(states, ["waiting", "waiting", "done"]);
    assert!(
        response[0]["version"] != response[1]["version"] && response[1]["version"] != response[2]["version"],
        "{response:?}"
    );
}

#[tokio::test]
async fn streams_and_foreign_requests_are_limited() {
    let service = Service::with(&[("rate_limit_get_session", "80/m")]).await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let mut browser = Browser::at(&service);
    browser.open(&session).await.is(200, "waiting");
    let mut open = Vec::new();
    for _ in 0..64 {
        let request = browser.request(Method::GET, &format!("{}/events", page_path(&session)));
        let stream = request.send().await.expect("an answer");
        assert_eq!(stream.status(), 200);
        open.push(stream);
    }
    let more = browser.send(browser.request(Method::GET, &format!("{}/events", page_path(&session)))).await;
    assert_eq!((more.status, more.headers.contains_key("retry-after")), (429, true));
    drop(open);
    let mut stranger = Browser::at(&service);
    let mut refused = 0;
    for _ in 0..90 {
        refused += usize::from(stranger.open(&session).await.status == 429);
    }
    assert_eq!(refused, 10);
    browser.open(&session).await.is(200, "waiting");
}

#[tokio::test]
async fn an_unknown_page_is_not_found() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let plain = integrator.post("/sessions", &json!({ "domain": "shop.test" })).await.with(201);
    let session = create_session(&integrator, json!({})).await;
    for path in [
        "/sandbox/login/x".to_owned(),
        format!("/sandbox/login/{}", text(&plain, "id")),
        page_path(&session).replace("/sandbox", ""),
        format!("{}0", page_path(&session)),
    ] {
        browser.visit(&path).await.is(404, "unknown");
    }
    assert_eq!(browser.cookie, None);
    browser.open(&session).await.is(200, "waiting");
    service.advance_clock(SignedDuration::from_hours(8 * 24));
    browser.open(&session).await.is(404, "unknown");
}

#[tokio::test]
async fn a_page_survives_a_restart() {
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Service::clock());
    let service = Service::on(folder.path(), &clock, &[]).await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let mut browser = Browser::at(&service);
    let before = browser.open(&session).await;
    service.stop().await;
    let service = Service::on(folder.path(), &clock, &[]).await;
    let integrator = Integrator { api: service.url(Environment::Sandbox.path()), ..integrator };
    browser = Browser { cookie: browser.cookie, ..Browser::at(&service) };
    let after = browser.open(&session).await;
    assert_eq!(after.is(200, "waiting").code(), before.code());
    // A QR code contains the server's URL, and this server listens on another port.
    let code = after.code();
    let answer = service.phone().answer_with(&code, code["confirm_code"].as_str());
    assert_eq!(post_answer(&integrator, &code, &answer).await.status, 200);
    browser.open(&session).await.is(200, "done");
}

#[tokio::test]
async fn https_pages_use_host_prefixed_cookies() {
    let service = Service::with(&[("public_url", "https://login.test"), ("allow_private_webhooks", "true")]).await;
    let integrator = service.integrator_of("acme", Environment::Live).await;
    register_hosted_domain(&integrator, "shop.test").await;
    let session = integrator.post("/sessions", &request(&json!({}))).await.with(201);
    assert_eq!(text(&session, "page_url"), format!("https://login.test/login/{}", text(&session, "id")));
    let mut browser = Browser { origin: "https://login.test".to_owned(), ..Browser::at(&service) };
    let shown = browser.open(&session).await;
    let cookie = shown.is(200, "waiting").headers[SET_COOKIE].to_str().unwrap();
    assert!(cookie.starts_with("__Host-signpost_page=") && cookie.ends_with("; Secure"), "{cookie}");
    assert!(shown.html.contains("The address bar must say <b><bdi>login.test</bdi></b>."), "{}", shown.html);
    let back = browser.submit(&shown, "cancel", "").await;
    back.is(200, "cancelled");
}
