//! The form for reports about an ATM: docs/locator.md, Reports.

use jiff::SignedDuration;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, ORIGIN};
use signpost_atm::reports::{MachineReport, ReportState, Weight, sql};

use crate::account::scan_and_answer;
use crate::harness::{Browser, Service, ShownPage};

async fn service() -> Service {
    Service::with(&[("services", "atm,auth")]).await
}

async fn stored(service: &Service) -> Vec<MachineReport> {
    sql::list(&service.app.store, None, None, 100).await.expect("a database")
}

/// Posts a form like a browser.
async fn post_form(browser: &mut Browser, origin: &str, body: &str) -> ShownPage {
    let request = browser.request(Method::POST, "/atm/1/report").header(ORIGIN, origin);
    browser.send(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body.to_owned())).await
}

#[tokio::test]
async fn form_works_without_scripts_and_restores_input() {
    let service = service().await;
    let mut browser = Browser::at(&service);
    let shown = browser.visit("/atm/1/report?seen=gone").await;
    assert!(shown.is(200, "asked").html.contains("value=\"gone\" checked"), "{}", shown.html);
    let typed = "&seen=&how=saw&text=%3Cscript%3Ealert(1)%3C/script%3E";
    let refused = browser.submit(&shown, "report", typed).await;
    let html = &refused.is(422, "refused").html;
    for expected in
        ["Choose what you found", "&lt;script&gt;alert(1)&lt;/script&gt;", "value=\"saw\" selected", "href=\"#seen\""]
    {
        assert!(html.contains(expected), "{expected}: {html}");
    }
    browser.submit(&shown, "report", "&seen=other&how=&text=+").await.is(422, "refused");
    assert!(stored(&service).await.is_empty());
    let thanks = browser.submit(&refused, "report", "&seen=gone&how=saw&text=An+empty+wall").await;
    assert!(thanks.is(200, "thanks").html.contains("Your report is shown with its date"), "{}", thanks.html);
    let [report] = &stored(&service).await[..] else { panic!("one report") };
    assert_eq!(
        (report.state, report.weight, report.text.as_deref()),
        (ReportState::Shown, Weight::Low, Some("An empty wall"))
    );
    // A repeated report changes nothing.
    browser.submit(&shown, "report", "&seen=gone&how=saw&text=").await.is(200, "thanks");
    assert_eq!(stored(&service).await.len(), 1);
}

#[tokio::test]
async fn form_rejects_foreign_tokens() {
    let service = service().await;
    let (mut browser, mut other) = (Browser::at(&service), Browser::at(&service));
    let origin = browser.origin.clone();
    let (shown, of_other) = (browser.visit("/atm/1/report").await, other.visit("/atm/1/report").await);
    let body = |page: &ShownPage| format!("token={}&seen=gone&how=&text=kept", page.form("report").1);
    for (origin, body) in [
        ("https://evil.test", body(&shown)),
        (origin.as_str(), body(&of_other)),
        (origin.as_str(), "seen=gone&how=&text=kept".to_owned()),
    ] {
        let refused = post_form(&mut browser, origin, &body).await;
        assert!(refused.is(403, "refused").html.contains("nothing was sent"), "{}", refused.html);
    }
    // The token is valid for a single ATM.
    let elsewhere = browser.visit("/atm/2/report").await;
    post_form(&mut browser, &origin, &body(&elsewhere)).await.is(403, "refused");
    assert!(stored(&service).await.is_empty());
    assert_eq!(browser.visit("/atm/999999999/report").await.status, 404);
}

#[tokio::test]
async fn form_is_in_spanish_and_shows_the_rate_limit() {
    let service = Service::with(&[("services", "atm,auth"), ("rate_limit_reports", "1/h")]).await;
    let mut browser = Browser::at(&service);
    let shown = browser.visit("/atm/1/report?lang=es").await;
    assert!(shown.is(200, "asked").html.contains("¿Cómo lo sabes?"), "{}", shown.html);
    let thanks = browser.submit(&shown, "report", "&seen=there&how=used&text=").await;
    assert!(thanks.is(200, "thanks").html.contains("Gracias"), "{}", thanks.html);
    let refused = browser.submit(&shown, "report", "&seen=gone&how=used&text=").await;
    assert!(refused.is(429, "refused").html.contains("en 60 minutos"), "{}", refused.html);
    assert_eq!(refused.headers["retry-after"], "3600");
}

#[tokio::test]
async fn rate_limit_applies_before_the_form_is_read() {
    let service = Service::with(&[("services", "atm,auth"), ("rate_limit_get_session", "4/m")]).await;
    let mut browser = Browser::at(&service);
    let origin = browser.origin.clone();
    for _ in 0..2 {
        assert_eq!(browser.visit("/atm/999999999/report").await.status, 404);
        post_form(&mut browser, &origin, "seen=gone").await.is(403, "refused");
    }
    let refused = post_form(&mut browser, &origin, "seen=gone").await;
    assert_eq!((refused.status, refused.headers.contains_key("retry-after")), (429, true));
    assert_eq!(browser.visit("/atm/1/report").await.status, 429);
}

/// Logs in with the link of the form, and returns to the form.
async fn log_in(service: &Service, browser: &mut Browser, asked: &ShownPage) -> ShownPage {
    let href = asked.html.split("Log in so that").next().and_then(|before| before.rsplit("href=\"").next());
    let href = href.and_then(|rest| rest.split('"').next()).expect("a link").replace("&amp;", "&");
    let account = browser.visit(&href).await;
    let integrator = service.integrator().await;
    let login = browser.submit(account.is(200, "signed-out"), "login", "&next=/atm/1/report").await;
    let page = login.form("cancel").0.split("/cancel").next().expect("a path").to_owned();
    scan_and_answer(&integrator, &service.phone(), &login).await;
    let mut done = browser.visit(&page).await;
    if done.html.contains("rel=\"signpost-code\"") {
        // The key is unknown: a second scan creates an account.
        assert_eq!(scan_and_answer(&integrator, &service.phone(), &done).await, 200);
        done = browser.visit(&page).await;
    }
    let back = done.is(200, "done").link("continue");
    browser.follow(&format!("{}?{}", back.path(), back.query().expect("a code"))).await
}

#[tokio::test]
async fn login_increases_the_weight_after_a_week() {
    let service = service().await;
    let mut browser = Browser::at(&service);
    let asked = browser.visit("/atm/1/report").await;
    let back = log_in(&service, &mut browser, &asked).await;
    assert!(back.is(200, "asked").html.contains("You are logged in."), "{}", back.html);
    browser.submit(&back, "report", "&seen=gone&how=saw&text=").await.is(200, "thanks");
    service.advance_clock(SignedDuration::from_hours(7 * 24));
    let mut later = Browser::at(&service);
    let asked = later.visit("/atm/2/report").await;
    let back = log_in(&service, &mut later, &asked).await;
    later.submit(back.is(200, "asked"), "report", "&seen=there&how=saw&text=").await.is(200, "thanks");
    let reports = stored(&service).await;
    let weights: Vec<_> = reports.iter().map(|report| (report.seen.as_str(), report.weight)).collect();
    assert_eq!(weights, [("there", Weight::High), ("gone", Weight::Low)]);
    let reporters: Vec<_> = reports.iter().map(|report| report.reporter.clone().expect("a person")).collect();
    assert!(reporters[0] == reporters[1] && reporters[0].starts_with("usr_"), "{reporters:?}");
    // A banned reporter gets an error, and the reporter's earlier reports are rejected.
    sql::ban(&service.app.store, &reporters[0], service.app.clock.now()).await.expect("a reporter");
    let again = later.visit("/atm/3/report").await;
    let (action, token) = again.form("report");
    let request = later.request(Method::POST, &action).header(ORIGIN, later.origin.clone());
    let body = format!("token={token}&seen=gone&how=&text=");
    let refused = later.send(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)).await;
    assert!(refused.is(403, "refused").html.contains("not accepted here"), "{}", refused.html);
    assert!(stored(&service).await.iter().all(|report| report.state == ReportState::Rejected));
}

#[tokio::test]
async fn login_never_redirects_to_another_origin() {
    let service = service().await;
    let mut browser = Browser::at(&service);
    let asked = browser.visit("/atm/1/report").await;
    let href = asked.html.split("Log in so that").next().and_then(|before| before.rsplit("href=\"").next());
    let account = href.and_then(|rest| rest.split('?').next()).expect("a link").to_owned();
    log_in(&service, &mut browser, &asked).await;
    for next in ["https://evil.test/", "//evil.test", "/\\evil.test", "evil", "/%0d%0aSet-Cookie:%20a=b"] {
        let mut browser = Browser::at(&service);
        let page = browser.visit(&account).await;
        let login = browser.submit(page.is(200, "signed-out"), "login", &format!("&next={next}")).await;
        let path = login.form("cancel").0.split("/cancel").next().expect("a path").to_owned();
        let integrator = service.integrator().await;
        assert_eq!(scan_and_answer(&integrator, &service.phone(), &login).await, 200);
        let done = browser.visit(&path).await;
        let back = done.is(200, "done").link("continue");
        let reply = browser.visit(&format!("{}?{}", back.path(), back.query().expect("a code"))).await;
        let to = reply.headers["location"].to_str().expect("an address");
        assert!(to.starts_with(&service.app.origin.link("/")) && !to.contains("evil"), "{next}: {to}");
    }
}
