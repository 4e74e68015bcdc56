//! Creation of operators (docs/console.md) with a link that is valid once.

use jiff::SignedDuration;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HOST, ORIGIN};
use serde_json::json;
use signpost::console::operators::{self, MAX_OPERATORS, Operator};
use signpost_login::ids::UserId;
use signpost_platform::accounts::audit::Actor;
use signpost_store::{Statement, Stored};

use crate::console::{browser_at, link, log_in, operator, post_form};
use crate::harness::{Program, Service, http, until};

#[tokio::test]
async fn setup_link_is_valid_once() {
    let service = Service::start().await;
    let (token, mut browser, mut other) = (link(&service).await, browser_at(&service), browser_at(&service));
    let asked = browser.visit("/console/setup").await;
    let opened = browser.submit_link(asked.is(200, "setup"), &token).await;
    opened.is(200, "setup-login");
    // The link is bound to the browser that opened it first.
    other.submit_link(&asked, &token).await.is(403, "refused");
    let back = log_in(&service, &mut browser, &opened, "/console/setup").await;
    assert!(back.is(200, "confirm").html.contains("Become an operator?"), "{}", back.html);
    assert!(operators::list(&service.app.store).await.expect("a database").is_empty());
    let today = browser.submit(&back, "confirm", "").await;
    assert_eq!(today.status, 200, "{}", today.html);
    let all = operators::list(&service.app.store).await.expect("a database");
    assert_eq!((all.len(), all[0].added_by.as_str()), (1, "operator"));
    for browser in [&mut browser, &mut other] {
        browser.submit_link(&asked, &token).await.is(403, "refused");
    }
    // An answered confirmation is no longer valid.
    browser.submit(&back, "confirm", "").await.is(200, "setup");
    let log = browser.visit("/console/log?action=operator.added").await.html;
    assert!(log.contains(&format!("operator:{}", all[0].user_id)), "{log}");
}

#[tokio::test]
async fn setup_link_expires_after_30_minutes() {
    let service = Service::start().await;
    let (opened, unopened, mut browser) = (link(&service).await, link(&service).await, browser_at(&service));
    let asked = browser.visit("/console/setup").await;
    let before = browser.submit_link(&asked, &opened).await;
    let back = log_in(&service, &mut browser, &before, "/console/setup").await;
    back.is(200, "confirm");
    service.advance_clock(SignedDuration::from_mins(30));
    browser.submit(&back, "confirm", "").await.is(403, "refused");
    browser.visit("/console/setup").await.is(200, "setup");
    browser_at(&service).submit_link(&asked, &unopened).await.is(403, "refused");
    assert!(operators::list(&service.app.store).await.expect("a database").is_empty());
}

#[tokio::test]
async fn setup_link_rejects_foreign_origins() {
    let service = Service::start().await;
    let (token, mut browser) = (link(&service).await, browser_at(&service));
    let asked = browser.visit("/console/setup").await;
    let request = |browser: &crate::harness::Browser, origin: &str| {
        let request = browser.request(Method::POST, "/console/setup").header(ORIGIN, origin.to_owned());
        request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(format!("link={token}"))
    };
    let foreign = request(&browser, "https://evil.example");
    browser.send(foreign).await.is(403, "stale");
    let own = browser.origin.clone();
    let elsewhere = request(&browser, &own).header(HOST, "evil.example");
    assert_eq!(browser.send(elsewhere).await.status, 404);
    for wrong in ["", "x", "http%3A%2F%2Flocalhost%2Fconsole%2Fsetup%23", &"A".repeat(43)] {
        browser.submit_link(&asked, wrong).await.is(403, "refused");
    }
    // Failed attempts do not consume the link; the full URL is accepted like its token.
    let whole = format!("http%3A%2F%2Flocalhost%2Fconsole%2Fsetup%23{token}");
    browser.submit_link(&asked, &whole).await.is(200, "setup-login");
}

#[tokio::test]
async fn existing_operator_is_not_added_again() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    let (token, mut other) = (link(&service).await, browser_at(&service));
    let asked = other.visit("/console/setup").await;
    let opened = browser.submit_link(&asked, &token).await;
    assert_eq!(opened.status, 303, "to the console: {}", opened.html);
    other.submit_link(&asked, &token).await.is(403, "refused");
    assert_eq!(operators::list(&service.app.store).await.expect("a database").len(), 1);
}

#[tokio::test]
async fn oldest_setup_link_is_evicted() {
    let service = Service::start().await;
    let (first, mut browser) = (link(&service).await, browser_at(&service));
    let asked = browser.visit("/console/setup").await;
    for _ in 0..20 {
        service.advance_clock(SignedDuration::from_millis(1));
        link(&service).await;
    }
    browser.submit_link(&asked, &first).await.is(403, "refused");
    let last = link(&service).await;
    browser.submit_link(&asked, &last).await.is(200, "setup-login");
}

#[tokio::test]
async fn setup_link_requires_a_free_operator_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    let (store, now) = (&service.app.store, service.clock.now());
    let mut browser = operator(&service).await;
    let others = (1..MAX_OPERATORS).map(|n| {
        let user_id = UserId::new(now, u128::from(n).to_be_bytes());
        let other = Operator { user_id, added_at: now, added_by: "operator".to_owned() };
        Statement::expect_row(Operator::INSERT, other.params())
    });
    assert!(store.write(others.collect::<Vec<_>>()).await.expect("a database").is_committed());
    assert!(operators::make_link(store, &Actor::Operator, now).await.expect("a database").is_none());
    let refused = Program::within(folder.path(), &["console", "link"]).run();
    assert!(refused.failed(1).contains("100 operators, which is the most"));
    let page = browser.visit("/console/keys").await;
    let refused = post_form(&mut browser, &page, "/console/operators", "").await;
    assert!(refused.status == 409 && refused.html.contains("100 operators are the most"), "{}", refused.status);
}

#[tokio::test]
async fn console_commands_manage_operators() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("signpost-data");
    let service = Service::on(&data, &Service::clock(), &[]).await;
    let made = Program::within(folder.path(), &["console", "link", "--json"]).run_async().await.json();
    let link = made["link"].as_str().expect("a link");
    assert!(link.starts_with(&format!("{}/console/setup#", service.app.public_address)), "{link}");
    let mut browser = operator(&service).await;
    let listed = Program::within(folder.path(), &["console", "operators", "--json"]).run_async().await.json();
    let id = listed["operators"][0]["user_id"].as_str().expect("an operator").to_owned();
    let removed = Program::within(folder.path(), &["console", "remove", &id, "--json"]).run_async().await.json();
    assert_eq!(removed, json!({ "removed": id }));
    browser.visit("/console").await.is(403, "no-operator");
    let ended = Program::within(folder.path(), &["console", "remove", &id]).run();
    assert!(ended.failed(1).contains("no operator has the ID"));
}

#[tokio::test]
async fn first_start_prints_a_valid_setup_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Program::within(folder.path(), &["serve", "--listen", "127.0.0.1:0"]).follow();
    let link = loop {
        let line = server.text_line().await;
        if let Some(link) = line.strip_prefix("Console ") {
            break link.split_once(' ').expect("a link").0.to_owned();
        }
    };
    let (page, token) = link.split_once('#').expect("a token");
    let origin = page.strip_suffix("/console/setup").expect("the setup page");
    let opens = async || {
        let request =
            http().post(page).header(ORIGIN, origin).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        request.body(format!("link={token}")).send().await.expect("an answer").status().as_u16()
    };
    assert_eq!((opens().await, opens().await), (303, 403), "once");
}

#[tokio::test]
async fn outdated_health_checks_are_refreshed() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    until("the checks are made", async || {
        let shown = browser.visit("/console/health").await;
        shown.html.contains("Checked ").then_some(())
    })
    .await;
    service.advance_clock(SignedDuration::from_mins(2));
    let old = browser.visit("/console/health").await.html;
    assert!(old.contains("New checks run") && old.contains("http-equiv=\"refresh\""), "{old}");
}
