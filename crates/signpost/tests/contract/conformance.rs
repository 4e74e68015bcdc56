//! The conformance kit, against a site that breaks one rule at a time. The kit reports each broken rule.

mod site;

use std::collections::HashSet;
use std::net::SocketAddr;

use futures_util::future::join_all;
use reqwest::Client;
use signpost::conformance::{ConformanceReport, KitSettings, Verdict, run};
use signpost_auth::WebhookSecret;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{NameResolver, Outbound};
use tokio::net::TcpListener;

use crate::harness::{Program, Service, http};
use site::{DELEGATES_VERIFICATION, SharedParts, Site};

/// Runs the kit against a site that breaks a rule. The kit advances the clock of the site instead of waiting for codes
/// to expire.
async fn run_kit(broken: &'static str, http: &Client, outbound: &Outbound) -> ConformanceReport {
    let shared = SharedParts { clock: Service::clock(), http: http.clone() };
    let (api, secret) = (TcpListener::bind("127.0.0.1:0").await.expect("a port"), WebhookSecret::from_bytes(&[3; 32]));
    let origin = Site::start(broken, api.local_addr().expect("an address"), &secret, shared.clone()).await;
    let url = |path: &str| format!("{origin}{path}").parse().expect("a URL");
    let (start, poll, events) = (url("/login"), url("/poll"), url("/events"));
    let settings = KitSettings { start, register: None, poll, events, api, secret, user_events: true };
    run(settings, outbound.clone(), shared.clock).await.expect("a test")
}

#[tokio::test]
async fn site_may_delegate_signature_checks() {
    let report = run_kit(DELEGATES_VERIFICATION, &http(), &Outbound::new(&NameResolver::System)).await;
    assert!(report.holds() && report.count(Verdict::NotTested) == 0, "{}", report.text());
}

#[tokio::test]
async fn every_broken_rule_is_reported() {
    let (http, outbound) = (http(), Outbound::new(&NameResolver::System));
    let whole = run_kit("none", &http, &outbound).await;
    assert!(whole.holds() && whole.count(Verdict::NotTested) == 0, "{}", whole.text());
    let rules: Vec<_> = whole.0.iter().map(|check| check.rule).collect();
    assert!(rules.len() >= 50, "{rules:?}");
    assert_eq!(rules.iter().collect::<HashSet<_>>().len(), rules.len(), "duplicate names of rules");
    let reports = join_all(rules.iter().map(|rule| run_kit(rule, &http, &outbound))).await;
    for (rule, report) in rules.iter().zip(reports) {
        let named = report.0.iter().any(|check| check.rule == *rule && check.verdict == Verdict::Broken);
        assert!(named, "a site that breaks '{rule}' passed:\n{}", report.text());
    }
}

#[tokio::test]
async fn command_reports_broken_rules_and_fails() {
    // Below the ephemeral ports, so that no other test uses the port.
    let port = 20_000 + u16::try_from(std::process::id() % 10_000).expect("a small number");
    let (api_listen, secret) = (SocketAddr::from(([127, 0, 0, 1], port)), WebhookSecret::from_bytes(&[3; 32]));
    let shared = SharedParts { clock: Clock::System, http: http() };
    let origin = Site::start("a poll without sid is 400", api_listen, &secret, shared).await;
    let folder = tempfile::tempdir().expect("a folder");
    let (start, poll, events) = (format!("{origin}/login"), format!("{origin}/poll"), format!("{origin}/events"));
    let api = api_listen.to_string();
    let arguments = [
        "conformance",
        "--start",
        &start,
        "--poll",
        &poll,
        "--events",
        &events,
        "--api-listen",
        &api,
        "--webhook-secret",
        secret.reveal(),
    ];
    let ended = Program::within(folder.path(), &arguments).run_async().await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.out.contains("BROKEN  a poll without sid is 400") && ended.err.contains("1 rules are broken"),
        "{ended:?}"
    );
    let unknown = [
        "conformance",
        "--start",
        "http://127.0.0.1:1/",
        "--poll",
        &poll,
        "--events",
        &events,
        "--api-listen",
        "127.0.0.1:0",
    ];
    assert!(Program::within(folder.path(), &unknown).run_async().await.failed(1).contains("nothing can be tested"));
}
