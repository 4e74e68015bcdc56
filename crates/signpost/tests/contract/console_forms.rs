//! Actions of operators in the console (docs/console.md) and their audit entries.

use jiff::SignedDuration;
use serde_json::json;
use signpost_atm::reports::sql as report_rows;

use crate::console::{log_in, operator, operator_by, post_form};
use crate::harness::{Browser, Endpoint, Phone, Service, text, until};

pub(crate) async fn service() -> Service {
    Service::with(&[("services", "atm,auth")]).await
}

/// Returns the page of the audit log for this action.
pub(crate) async fn audit_page(browser: &mut Browser, action: &str) -> String {
    browser.visit(&format!("/console/log?action={action}")).await.html
}

#[tokio::test]
async fn key_is_created_rotated_and_revoked() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let keys = browser.visit("/console/keys").await;
    let fields = "&name=%3Cscript%3E&account=acme&environment=sandbox&scope=auth";
    let made = post_form(&mut browser, &keys, "/console/keys", fields).await;
    let key = made.between("id=\"new-key\">", "<").to_owned();
    assert!(key.starts_with("svc_test_") && made.html.contains("&lt;script&gt;"), "{}", made.html);
    let integrator = service.visitor().with_key(Some(&key));
    let integrator = crate::harness::Integrator { api: service.url("/sandbox/v1"), ..integrator };
    integrator.get("/domains").await.with(200);
    let again = browser.visit("/console/keys").await;
    assert!(!again.html.contains(&key), "it is shown once");
    let id = again.html.split("/console/keys/").nth(1).expect("a key").split('/').next().expect("an id").to_owned();
    let replaced = post_form(&mut browser, &again, &format!("/console/keys/{id}/rotate"), "").await;
    let new = replaced.between("id=\"new-key\">", "<").to_owned();
    assert!(new != key && new.starts_with("svc_test_"));
    let listed = browser.visit("/console/keys").await;
    // The first press asks for confirmation, the second revokes the key.
    let revoke = format!("/console/keys/{id}/revoke");
    let question = post_form(&mut browser, &listed, &revoke, "").await;
    assert!(question.html.contains("Revoke this key?"), "{}", question.html);
    integrator.get("/domains").await.with(200);
    assert_eq!(post_form(&mut browser, &question, &revoke, "").await.status, 303);
    // Forms of an outdated page return 409.
    for (page, action) in [(&question, &revoke), (&again, &format!("/console/keys/{id}/rotate"))] {
        let late = post_form(&mut browser, page, action, "").await;
        assert!(late.status == 409 && late.html.contains("already"), "{action}: {}", late.html);
    }
    let log = audit_page(&mut browser, "key.revoked").await;
    assert!(log.contains("operator:usr_") && log.contains(&id), "{log}");
}

#[tokio::test]
async fn key_changes_require_a_recent_login() {
    let service = service().await;
    let mut browser = operator(&service).await;
    service.advance_clock(SignedDuration::from_mins(6));
    let keys = browser.visit("/console/keys").await;
    let fields = "&name=late&account=acme&environment=live&scope=atms";
    let refused = post_form(&mut browser, &keys, "/console/keys", fields).await;
    refused.is(403, "log-in-again");
    post_form(&mut browser, &keys, "/console/operators", "").await.is(403, "log-in-again");
    let back = log_in(&service, &mut browser, &refused, "/console/keys").await;
    assert!(!back.html.contains("late"), "{}", back.html);
    let made = post_form(&mut browser, &back, "/console/keys", fields).await;
    assert!(made.html.contains("svc_live_"), "{}", made.html);
    let made = post_form(&mut browser, &back, "/console/operators", "").await;
    assert!(made.between("id=\"new-link\">", "<").contains("/console/setup#"), "{}", made.html);
}

#[tokio::test]
async fn invalid_keys_are_rejected() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let keys = browser.visit("/console/keys").await;
    for (fields, expected) in [
        ("&name=&account=a&environment=live&scope=auth", "Type a name"),
        ("&name=a&account=server&environment=live&scope=auth", "not the server"),
        ("&name=a&account=a&environment=dead&scope=auth", "Choose sandbox or live"),
        ("&name=a&account=a&environment=live&scope=", "Choose what the key opens"),
    ] {
        let refused = post_form(&mut browser, &keys, "/console/keys", fields).await;
        assert!(refused.status == 422 && refused.html.contains(expected), "{fields}: {}", refused.html);
    }
}

#[tokio::test]
async fn report_is_accepted_and_undone() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let asked = browser.visit("/atm/1/report").await;
    let text = "&seen=gone&how=saw&text=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E";
    browser.submit(&asked, "report", text).await.is(200, "thanks");
    let shown = browser.visit("/console/reports?state=shown").await;
    assert!(shown.html.contains("&lt;img src=x onerror=alert(1)&gt;"), "{}", shown.html);
    let report = report_rows::list(&service.app.store, None, None, 1).await.expect("a database").remove(0);
    let action = format!("/console/reports/{}", report.id);
    assert_eq!(post_form(&mut browser, &shown, &action, "&decision=accept").await.status, 303);
    // The page of another operator is outdated.
    let late = post_form(&mut browser, &shown, &action, "&decision=accept").await;
    assert!(late.status == 409 && late.html.contains("Somebody was first"), "{}", late.html);
    let done = browser.visit(&format!("/console/reports?done={}", report.id)).await;
    assert!(done.html.contains("The report is accepted."), "{}", done.html);
    assert_eq!(post_form(&mut browser, &done, &action, "&decision=undo").await.status, 303);
    let wrong = post_form(&mut browser, &shown, &action, "&decision=burn").await;
    assert_eq!(wrong.status, 400, "{}", wrong.html);
    for action in ["report.accepted", "report.undone"] {
        assert!(audit_page(&mut browser, action).await.contains("operator:usr_"), "{action}");
    }
}

#[tokio::test]
async fn rejected_test_event_is_explained_and_retried() {
    let (service, mut endpoint) = (service().await, Endpoint::start().await);
    let mut browser = operator(&service).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/events")).await;
    let path = format!("/console/sites/{}", text(&domain, "id"));
    let site = browser.visit(&path).await;
    // The endpoint uses the system clock, the server uses the test clock.
    endpoint.respond_with((reqwest::StatusCode::UNAUTHORIZED, "invalid signature"));
    let sent = post_form(&mut browser, &site, &format!("{path}/test"), "").await;
    let delivery = sent.headers["location"].to_str().expect("an address").to_owned();
    endpoint.next_request().await;
    let shown = until("the attempt is remembered", async || {
        let shown = browser.visit(&delivery).await;
        shown.html.contains("Refused, 401").then_some(shown)
    })
    .await;
    for expected in ["Why it was refused: clock", "Set the clocks of both servers"] {
        assert!(shown.html.contains(expected), "{expected}: {}", shown.html);
    }
    endpoint.respond_with(reqwest::StatusCode::NO_CONTENT);
    let retried = post_form(&mut browser, &shown, &format!("{delivery}/retry"), "").await;
    assert_eq!(retried.status, 303);
    service.advance_clock(SignedDuration::from_secs(1));
    endpoint.next_request().await;
    until("it was taken", async || browser.visit(&delivery).await.html.contains("Taken, 204").then_some(())).await;
    for action in ["test_event.sent", "delivery.retried"] {
        assert!(audit_page(&mut browser, action).await.contains("operator:usr_"), "{action}");
    }
}

#[tokio::test]
async fn counts_match_the_menu() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let counts = browser.visit("/console/counts").await;
    let counts: serde_json::Value = serde_json::from_str(&counts.html).expect("JSON");
    assert_eq!(counts, json!({ "today": 1, "reports": 0, "sites": 0 }), "the machines are fictional");
}

#[tokio::test]
async fn first_steps_disappear_when_completed() {
    let (service, mut endpoint) = (Service::start().await, Endpoint::start().await);
    let mut browser = operator(&service).await;
    let steps = |html: &str| html.matches(" · done").count();
    // The helper that logs in also creates an API key.
    let today = browser.visit("/console").await.html;
    assert!(today.contains("First steps") && today.contains("Create an API key · done"), "{today}");
    assert_eq!(steps(&today), 1);
    let domain = service.integrator().await.register_domain_at("shop.test", &endpoint.url("/events")).await;
    assert_eq!(steps(&browser.visit("/console").await.html), 2, "a site");
    let path = format!("/console/sites/{}", text(&domain, "id"));
    let site = browser.visit(&path).await;
    post_form(&mut browser, &site, &format!("{path}/test"), "").await;
    endpoint.next_request().await;
    assert!(!browser.visit("/console").await.html.contains("First steps"));
}

#[tokio::test]
async fn operator_removal_requires_another_operator() {
    let service = Service::start().await;
    let mut first = operator(&service).await;
    let mut second = operator_by(&service, &Phone::of(8, &service.clock)).await;
    let keys = first.visit("/console/keys").await;
    let remove = keys.between("action=\"/console/operators/usr_", "\"").to_owned();
    let remove = format!("/console/operators/usr_{remove}");
    let question = post_form(&mut first, &keys, &remove, "").await;
    assert!(question.html.contains("Remove this operator?"), "{}", question.html);
    assert_eq!(second.visit("/console").await.status, 200, "the confirmation page removes no operator");
    assert_eq!(post_form(&mut first, &question, &remove, "").await.status, 303);
    second.visit("/console").await.is(403, "no-operator");
    let late = post_form(&mut first, &question, &remove, "").await;
    assert!(late.status == 409 && late.html.contains("They were removed already."), "{}", late.html);
    assert!(audit_page(&mut first, "operator.removed").await.contains("operator:usr_"));
}

#[tokio::test]
async fn operator_sign_out_is_audited() {
    let service = Service::start().await;
    let (mut browser, mut other) =
        (operator(&service).await, operator_by(&service, &Phone::of(8, &service.clock)).await);
    let today = browser.visit("/console").await;
    assert_eq!(post_form(&mut browser, &today, "/console/sign-out", "").await.status, 303);
    browser.visit("/console").await.is(403, "login");
    assert!(audit_page(&mut other, "user.signed_out").await.contains("operator:usr_"));
}
