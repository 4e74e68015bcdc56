//! What operators do at the console (docs/console.md), and what the audit log says of it.

use jiff::SignedDuration;
use serde_json::json;
use signpost_atm::reports::sql as report_rows;

use crate::console::{logs_in, operator, operator_by, posts};
use crate::harness::{Browser, Endpoint, Phone, Service, text, until};

pub(crate) async fn service() -> Service {
    Service::with(&[("services", "atm,auth")]).await
}

/// What the audit log says of an action: the page.
pub(crate) async fn told(browser: &mut Browser, action: &str) -> String {
    browser.goes_to(&format!("/console/log?action={action}")).await.html
}

#[tokio::test]
async fn a_key_is_made_shown_once_replaced_and_revoked() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let keys = browser.goes_to("/console/keys").await;
    let fields = "&name=%3Cscript%3E&account=acme&environment=sandbox&scope=auth";
    let made = posts(&mut browser, &keys, "/console/keys", fields).await;
    let key = made.between("id=\"new-key\">", "<").to_owned();
    assert!(key.starts_with("svc_test_") && made.html.contains("&lt;script&gt;"), "{}", made.html);
    let integrator = service.visitor().with_key(Some(&key));
    let integrator = crate::harness::Integrator { api: service.url("/sandbox/v1"), ..integrator };
    integrator.get("/domains").await.with(200);
    let again = browser.goes_to("/console/keys").await;
    assert!(!again.html.contains(&key), "it is shown once");
    let id = again.html.split("/console/keys/").nth(1).expect("a key").split('/').next().expect("an id").to_owned();
    let replaced = posts(&mut browser, &again, &format!("/console/keys/{id}/rotate"), "").await;
    let new = replaced.between("id=\"new-key\">", "<").to_owned();
    assert!(new != key && new.starts_with("svc_test_"));
    let listed = browser.goes_to("/console/keys").await;
    // The button asks, and the answer to the question revokes.
    let revoke = format!("/console/keys/{id}/revoke");
    let question = posts(&mut browser, &listed, &revoke, "").await;
    assert!(question.html.contains("Revoke this key?"), "{}", question.html);
    integrator.get("/domains").await.with(200);
    assert_eq!(posts(&mut browser, &question, &revoke, "").await.status, 303);
    // Whose page is old is told so.
    for (page, action) in [(&question, &revoke), (&again, &format!("/console/keys/{id}/rotate"))] {
        let late = posts(&mut browser, page, action, "").await;
        assert!(late.status == 409 && late.html.contains("already"), "{action}: {}", late.html);
    }
    let log = told(&mut browser, "key.revoked").await;
    assert!(log.contains("operator:usr_") && log.contains(&id), "{log}");
}

#[tokio::test]
async fn keys_and_operators_need_a_login_of_the_last_five_minutes() {
    let service = service().await;
    let mut browser = operator(&service).await;
    service.passes(SignedDuration::from_mins(6));
    let keys = browser.goes_to("/console/keys").await;
    let fields = "&name=late&account=acme&environment=live&scope=atms";
    let refused = posts(&mut browser, &keys, "/console/keys", fields).await;
    refused.is(403, "log-in-again");
    posts(&mut browser, &keys, "/console/operators", "").await.is(403, "log-in-again");
    let back = logs_in(&service, &mut browser, &refused, "/console/keys").await;
    assert!(!back.html.contains("late"), "{}", back.html);
    let made = posts(&mut browser, &back, "/console/keys", fields).await;
    assert!(made.html.contains("svc_live_"), "{}", made.html);
    let made = posts(&mut browser, &back, "/console/operators", "").await;
    assert!(made.between("id=\"new-link\">", "<").contains("/console/setup#"), "{}", made.html);
}

#[tokio::test]
async fn what_cannot_be_a_key_is_said() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let keys = browser.goes_to("/console/keys").await;
    for (fields, said) in [
        ("&name=&account=a&environment=live&scope=auth", "Type a name"),
        ("&name=a&account=server&environment=live&scope=auth", "not the server"),
        ("&name=a&account=a&environment=dead&scope=auth", "Choose sandbox or live"),
        ("&name=a&account=a&environment=live&scope=", "Choose what the key opens"),
    ] {
        let refused = posts(&mut browser, &keys, "/console/keys", fields).await;
        assert!(refused.status == 422 && refused.html.contains(said), "{fields}: {}", refused.html);
    }
}

#[tokio::test]
async fn a_report_is_accepted_rejected_and_undone() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let asked = browser.goes_to("/atm/1/report").await;
    let text = "&seen=gone&how=saw&text=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E";
    browser.presses(&asked, "report", text).await.is(200, "thanks");
    let shown = browser.goes_to("/console/reports?state=shown").await;
    assert!(shown.html.contains("&lt;img src=x onerror=alert(1)&gt;"), "{}", shown.html);
    let report = report_rows::list(&service.app.store, None, None, 1).await.expect("a database").remove(0);
    let action = format!("/console/reports/{}", report.id);
    assert_eq!(posts(&mut browser, &shown, &action, "&decision=accept").await.status, 303);
    // Another operator's page is old by now.
    let late = posts(&mut browser, &shown, &action, "&decision=accept").await;
    assert!(late.status == 409 && late.html.contains("Somebody was first"), "{}", late.html);
    let done = browser.goes_to(&format!("/console/reports?done={}", report.id)).await;
    assert!(done.html.contains("The report is accepted."), "{}", done.html);
    assert_eq!(posts(&mut browser, &done, &action, "&decision=undo").await.status, 303);
    let wrong = posts(&mut browser, &shown, &action, "&decision=burn").await;
    assert_eq!(wrong.status, 400, "{}", wrong.html);
    for action in ["report.accepted", "report.undone"] {
        assert!(told(&mut browser, action).await.contains("operator:usr_"), "{action}");
    }
}

#[tokio::test]
async fn a_test_event_says_why_it_was_refused_and_is_sent_again() {
    let (service, mut endpoint) = (service().await, Endpoint::start().await);
    let mut browser = operator(&service).await;
    let integrator = service.integrator().await;
    let domain = integrator.registers_at("shop.test", &endpoint.url("/events")).await;
    let path = format!("/console/sites/{}", text(&domain, "id"));
    let site = browser.goes_to(&path).await;
    // Its clock is that of this machine, and the server's that of the test.
    endpoint.answers((reqwest::StatusCode::UNAUTHORIZED, "invalid signature"));
    let sent = posts(&mut browser, &site, &format!("{path}/test"), "").await;
    let delivery = sent.headers["location"].to_str().expect("an address").to_owned();
    endpoint.receives().await;
    let shown = until("the attempt is remembered", async || {
        let shown = browser.goes_to(&delivery).await;
        shown.html.contains("Refused, 401").then_some(shown)
    })
    .await;
    for told in ["Why it was refused: clock", "Set the clocks of both servers"] {
        assert!(shown.html.contains(told), "{told}: {}", shown.html);
    }
    endpoint.answers(reqwest::StatusCode::NO_CONTENT);
    let retried = posts(&mut browser, &shown, &format!("{delivery}/retry"), "").await;
    assert_eq!(retried.status, 303);
    service.passes(SignedDuration::from_secs(1));
    endpoint.receives().await;
    until("it was taken", async || browser.goes_to(&delivery).await.html.contains("Taken, 204").then_some(())).await;
    for action in ["test_event.sent", "delivery.retried"] {
        assert!(told(&mut browser, action).await.contains("operator:usr_"), "{action}");
    }
}

#[tokio::test]
async fn the_counts_are_those_of_the_menu() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let counts = browser.goes_to("/console/counts").await;
    let counts: serde_json::Value = serde_json::from_str(&counts.html).expect("JSON");
    assert_eq!(counts, json!({ "today": 1, "reports": 0, "sites": 0 }), "the machines are fictional");
}

#[tokio::test]
async fn the_first_steps_tick_themselves_and_go_when_all_are_done() {
    let (service, mut endpoint) = (Service::start().await, Endpoint::start().await);
    let mut browser = operator(&service).await;
    let steps = |html: &str| html.matches(" · done").count();
    // Whoever logs in here in a test comes with a key.
    let today = browser.goes_to("/console").await.html;
    assert!(today.contains("First steps") && today.contains("Create an API key · done"), "{today}");
    assert_eq!(steps(&today), 1);
    let domain = service.integrator().await.registers_at("shop.test", &endpoint.url("/events")).await;
    assert_eq!(steps(&browser.goes_to("/console").await.html), 2, "a site");
    let path = format!("/console/sites/{}", text(&domain, "id"));
    let site = browser.goes_to(&path).await;
    posts(&mut browser, &site, &format!("{path}/test"), "").await;
    endpoint.receives().await;
    assert!(!browser.goes_to("/console").await.html.contains("First steps"));
}

#[tokio::test]
async fn an_operator_is_removed_by_another_and_nobody_by_themselves() {
    let service = Service::start().await;
    let mut first = operator(&service).await;
    let mut second = operator_by(&service, &Phone::of(8, &service.clock)).await;
    let keys = first.goes_to("/console/keys").await;
    let remove = keys.between("action=\"/console/operators/usr_", "\"").to_owned();
    let remove = format!("/console/operators/usr_{remove}");
    let question = posts(&mut first, &keys, &remove, "").await;
    assert!(question.html.contains("Remove this operator?"), "{}", question.html);
    assert_eq!(second.goes_to("/console").await.status, 200, "nobody is removed by a question");
    assert_eq!(posts(&mut first, &question, &remove, "").await.status, 303);
    second.goes_to("/console").await.is(403, "no-operator");
    let late = posts(&mut first, &question, &remove, "").await;
    assert!(late.status == 409 && late.html.contains("They were removed already."), "{}", late.html);
    assert!(told(&mut first, "operator.removed").await.contains("operator:usr_"));
}

#[tokio::test]
async fn who_signs_out_is_out_and_in_the_log() {
    let service = Service::start().await;
    let (mut browser, mut other) =
        (operator(&service).await, operator_by(&service, &Phone::of(8, &service.clock)).await);
    let today = browser.goes_to("/console").await;
    assert_eq!(posts(&mut browser, &today, "/console/sign-out", "").await.status, 303);
    browser.goes_to("/console").await.is(403, "login");
    assert!(told(&mut other, "user.signed_out").await.contains("operator:usr_"));
}
