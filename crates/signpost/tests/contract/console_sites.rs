//! Sites in the console (docs/console.md): registration, proof, secret rotation, endpoint tests.

use axum::http::StatusCode;
use jiff::SignedDuration;
use signpost_login::events::endpoints::find_failing;
use signpost_platform::accounts::{Account, Environment};

use crate::console::{log_in, operator, post_form};
use crate::console_forms::audit_page;
use crate::harness::{Endpoint, NameServer, Service, ShownPage, text, until};

/// Returns the path of the site that the page links to.
fn site_of(shown: &ShownPage) -> String {
    format!("/console/sites/dom_{}", shown.between("/console/sites/dom_", "\""))
}

const NEW: &str = "/console/sites/new";

#[tokio::test]
async fn site_is_added_and_then_proven() {
    let names = NameServer::start().await;
    let service = Service::with(&[("dns_server", &names.setting())]).await;
    let mut browser = operator(&service).await;
    let today = browser.visit("/console").await;
    assert!(today.html.contains("/console/sites/new"), "the first step leads to the form: {}", today.html);
    let form = browser.visit(NEW).await;
    let fields = "&domain=shop.test&account=acme&environment=live&handler=direct&webhook_url=&event_url=https%3A%2F%2Fshop.test%2Fevents";
    let added = post_form(&mut browser, &form, NEW, fields).await;
    let secret = added.between("id=\"new-secret\">", "<").to_owned();
    assert!(added.status == 200 && secret.starts_with("whsec_"), "{}", added.html);
    let token = added.between("id=\"proof-token\">", "<").to_owned();
    let site = site_of(&added);
    let shown = browser.visit(&site).await;
    assert!(!shown.html.contains(&secret) && shown.html.contains("https://shop.test/webhooks/login"), "{}", shown.html);
    assert!(audit_page(&mut browser, "domain.registered").await.contains("operator:usr_"));
    // No proof is published yet; the audit log names the operator.
    let check = format!("{site}/check");
    let looked = post_form(&mut browser, &shown, &check, "").await;
    let message = browser
        .visit(looked.headers["location"].to_str().expect("an address").trim_start_matches(&browser.origin.clone()))
        .await;
    assert!(message.html.contains("No proof was found"), "{}", message.html);
    assert!(audit_page(&mut browser, "domain.proof_missing").await.contains("operator:usr_"));
    names.set_txt("_svc-challenge.shop.test", &[token.as_str()]);
    post_form(&mut browser, &message, &check, "").await;
    let proven = browser.visit(&format!("{site}?said=proven")).await;
    assert!(proven.html.contains("Proven since") && !proven.html.contains("proof-token"), "{}", proven.html);
    assert!(audit_page(&mut browser, "domain.verified").await.contains("operator:usr_"));
}

#[tokio::test]
async fn invalid_sites_are_rejected() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    let form = browser.visit(NEW).await;
    let sandbox = "&account=acme&environment=sandbox&webhook_url=&event_url=";
    let taken = post_form(&mut browser, &form, NEW, &format!("&domain=shop.test&handler=hosted{sandbox}")).await;
    assert_eq!(taken.status, 200, "{}", taken.html);
    for (fields, expected) in [
        (format!("&domain=shop.test&handler=hosted{sandbox}"), "has this site already"),
        (format!("&domain=%3Cscript%3E&handler=hosted{sandbox}"), "Host name: "),
        (format!("&domain=a.test&handler=nobody{sandbox}"), "Choose who answers"),
        ("&domain=a.test&handler=direct&account=server&environment=live".to_owned(), "not the server"),
        (
            "&domain=a.test&handler=direct&account=a&environment=live&webhook_url=ftp%3A%2F%2Fx".to_owned(),
            "Webhook URL: ",
        ),
    ] {
        let refused = post_form(&mut browser, &form, NEW, &fields).await;
        assert!(refused.status == 422 && refused.html.contains(expected), "{fields}: {}", refused.html);
        assert!(!refused.html.contains("<script>") && !refused.html.contains("whsec_"), "{}", refused.html);
    }
}

#[tokio::test]
async fn secret_rotation_requires_a_recent_login() {
    let (service, mut endpoint) = (Service::start().await, Endpoint::start().await);
    let mut browser = operator(&service).await;
    let domain = service.integrator().await.register_domain_at("shop.test", &endpoint.url("/events")).await;
    let path = format!("/console/sites/{}", text(&domain, "id"));
    let (rotate, activate) = (format!("{path}/secret"), format!("{path}/secret/activate"));
    service.advance_clock(SignedDuration::from_mins(6));
    let site = browser.visit(&path).await;
    let refused = post_form(&mut browser, &site, &rotate, "").await;
    refused.is(403, "log-in-again");
    let site = log_in(&service, &mut browser, &refused, &path).await;
    let question = post_form(&mut browser, &site, &rotate, "").await;
    assert!(question.html.contains("Make the next secret?"), "{}", question.html);
    let made = post_form(&mut browser, &question, &rotate, "").await;
    let next = made.between("id=\"new-secret\">", "<").to_owned();
    let site = browser.visit(&path).await;
    assert!(!site.html.contains(&next) && site.html.contains("Two secrets sign its events."), "{}", site.html);
    let question = post_form(&mut browser, &site, &activate, "").await;
    assert_eq!(post_form(&mut browser, &question, &activate, "").await.status, 303);
    let late = post_form(&mut browser, &question, &activate, "").await;
    assert!(late.status == 409 && late.html.contains("no next secret any more"), "{}", late.html);
    // Events are now signed with the new secret.
    post_form(&mut browser, &site, &format!("{path}/test"), "").await;
    let event = endpoint.next_request().await;
    let secret = signpost_auth::WebhookSecret::parse(&next).expect("a secret");
    assert_eq!(event.header("x-svc-signature"), secret.x_svc_signature(&event.body));
    for action in ["secret.rotated", "secret.activated"] {
        assert!(audit_page(&mut browser, action).await.contains("operator:usr_"), "{action}");
    }
}

#[tokio::test]
async fn failing_endpoint_is_listed_and_tested() {
    let (service, mut endpoint) = (Service::start().await, Endpoint::start().await);
    let mut browser = operator(&service).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/events")).await;
    let (id, path) = (text(&domain, "id"), format!("/console/sites/{}", text(&domain, "id")));
    let site = browser.visit(&path).await;
    assert!(site.html.contains("No failure"), "{}", site.html);
    endpoint.respond_with((StatusCode::INTERNAL_SERVER_ERROR, "<script>alert(1)</script>"));
    post_form(&mut browser, &site, &format!("{path}/test"), "").await;
    endpoint.next_request().await;
    let account = Account { name: "acme".to_owned(), environment: Environment::Sandbox };
    let origin = endpoint.url("");
    until("it fails", async || find_failing(&service.app.store, &account, &origin).await.expect("a database")).await;
    let listed = browser.visit("/console/sites").await;
    assert!(listed.html.contains("See why") && listed.html.contains("Sent again"), "{}", listed.html);
    let why = listed.between("/console/deliveries?state=pending&amp;account=", "\"").replace("&amp;", "&");
    let why = browser.visit(&format!("/console/deliveries?state=pending&account={why}")).await;
    assert!(why.html.contains("Refused, 500") && why.html.contains("alone, of the account acme"), "{}", why.html);
    let elsewhere = format!("/console/deliveries?state=pending&account=other&environment=sandbox&endpoint={origin}");
    assert!(browser.visit(&elsewhere).await.html.contains("No event waits."), "only events of this account");
    assert_eq!(browser.visit(&path).await.html.matches("Sent again").count(), 1);
    post_form(&mut browser, &listed, &format!("/console/sites/{id}/test"), "").await;
    endpoint.next_request().await;
    // The page of the site retries its failed events.
    endpoint.respond_with(StatusCode::GONE);
    post_form(&mut browser, &site, &format!("{path}/test"), "").await;
    endpoint.next_request().await;
    until("it failed for good", async || {
        let failed = browser.visit(&format!("/console/deliveries?state=failed&domain={id}")).await;
        failed.html.contains("Send all of them again: 1").then_some(())
    })
    .await;
    let again = post_form(&mut browser, &site, &format!("{path}/retry"), "").await;
    assert!(again.headers["location"].to_str().expect("an address").ends_with("said=retried"));
    endpoint.next_request().await;
}
