//! The checks of `signpost doctor` for the dependencies of an installation, and the server's answer about the client IP
//! that it counts a request for.

use anyhow::anyhow;
use axum::http::StatusCode;
use signpost::config::Config;
use signpost::doctor::{AddressProbe, CheckFinding, Grade, Installation, check_address, check_installation};
use signpost_platform::accounts::Environment;
use signpost_platform::clock::Clock;
use signpost_platform::limits::{FORWARDING_REQUEST, FORWARDING_RESPONSE};
use signpost_platform::outbound::{NameResolver, Outbound};
use signpost_store::Store;

use crate::console::operator;
use crate::harness::{Endpoint, NameServer, Service, config, http, redis, send, until};

async fn inspect(config: &Config, store: Option<&Store>) -> Vec<CheckFinding> {
    let store = store.cloned().ok_or_else(|| anyhow!("no database"));
    let outbound = Outbound::new(&NameResolver::System);
    check_installation(&Installation::inspect(config, store, &outbound, None, Clock::System.now()).await)
}

fn of<'a>(findings: &'a [CheckFinding], check: &str) -> &'a CheckFinding {
    findings.iter().find(|finding| finding.check == check).unwrap_or_else(|| panic!("no {check}: {findings:?}"))
}

async fn probe(service: &Service) -> Vec<CheckFinding> {
    let url = service.url("/").parse().expect("a URL");
    check_address(&AddressProbe::run(url, &Outbound::new(&NameResolver::System), Clock::System.now()).await)
}

#[tokio::test]
async fn doctor_reports_database_latency_and_disk_space() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Clock::System, &[]).await;
    let findings = inspect(&service.app.config, Some(&service.app.store)).await;
    let (latency, disk) = (of(&findings, "latency"), of(&findings, "disk"));
    assert!(latency.found.starts_with("the database reads in ") && latency.found.contains("writes in "), "{latency:?}");
    assert!(disk.found.ends_with(" MiB are left for the data folder"), "{disk:?}");
    // A closed database is reported too.
    service.app.store.close().await;
    let latency = inspect(&service.app.config, Some(&service.app.store)).await;
    assert_eq!(of(&latency, "latency").grade, Grade::Fail);
}

#[tokio::test]
async fn doctor_reports_unreachable_redis_and_dns() {
    let unknown = config(&[("redis_url", "redis://127.0.0.1:1/"), ("dns_server", "127.0.0.1:1")]);
    let findings = inspect(&unknown, None).await;
    let (redis, dns) = (of(&findings, "Redis"), of(&findings, "DNS"));
    assert_eq!((redis.grade, dns.grade), (Grade::Fail, Grade::Warn), "{findings:?}");
    let mended = findings.iter().filter(|finding| finding.grade != Grade::Pass).all(|finding| finding.remedy.is_some());
    assert!(mended, "{findings:?}");
}

#[tokio::test]
async fn doctor_accepts_a_negative_dns_answer() {
    let names = NameServer::start().await;
    let findings = inspect(&config(&[("dns_server", &names.setting())]), None).await;
    assert_eq!(of(&findings, "DNS").grade, Grade::Pass);
    names.fail_for("example.com");
    let findings = inspect(&config(&[("dns_server", &names.setting())]), None).await;
    assert_eq!(of(&findings, "DNS").grade, Grade::Warn);
}

#[tokio::test]
#[ignore = "it needs Redis: tests/postgres.sh, which make test runs"]
async fn doctor_passes_a_working_redis() {
    let findings = inspect(&config(&[("redis_url", &redis())]), None).await;
    let redis = of(&findings, "Redis");
    // On a busy machine a slow answer may be a warning.
    assert!(redis.grade != Grade::Fail && redis.found.starts_with("it answers in "), "{findings:?}");
}

#[tokio::test]
async fn doctor_probes_live_hosts_without_an_event() {
    let service = Service::with(&[("allow_private_webhooks", "true")]).await;
    let live = service.integrator_of("acme", Environment::Live).await;
    let mut endpoint = Endpoint::start().await;
    endpoint.respond_with(StatusCode::METHOD_NOT_ALLOWED);
    live.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let findings = inspect(&service.app.config, Some(&service.app.store)).await;
    assert_eq!(of(&findings, "egress").grade, Grade::Pass, "{findings:?}");
    let asked = endpoint.next_request().await;
    assert_eq!((asked.path.as_str(), asked.body.len()), ("/", 0));
    assert!(asked.headers.keys().all(|name| !name.as_str().contains("signature")), "{:?}", asked.headers);
    assert!(endpoint.try_next_request().is_none(), "it was asked twice");
    // Another domain whose host is unreachable does not affect the others.
    live.register_domain_at("gone.test", "http://127.0.0.1:1/hook").await;
    let findings = inspect(&service.app.config, Some(&service.app.store)).await;
    let egress = of(&findings, "egress");
    assert!(egress.grade == Grade::Warn && egress.found.contains("http://127.0.0.1:1"), "{egress:?}");
}

#[tokio::test]
async fn doctor_checks_the_clock_and_the_proxy() {
    let service = Service::start().await;
    let address = service.url("");
    let findings = inspect(&config(&[("public_url", &address), ("dns_server", "127.0.0.1:1")]), None).await;
    for check in ["public URL", "clock", "proxy"] {
        assert_eq!(of(&findings, check).grade, Grade::Pass, "{findings:?}");
    }
    let elsewhere =
        inspect(&config(&[("public_url", "http://127.0.0.1:1"), ("dns_server", "127.0.0.1:1")]), None).await;
    assert_eq!(of(&elsewhere, "public URL").grade, Grade::Warn);
}

#[tokio::test]
async fn doctor_reports_every_protocol_revision() {
    let service = Service::with(&[("services", "atm")]).await;
    let findings = probe(&service).await;
    let spoken = of(&findings, "MCP");
    assert_eq!(spoken.grade, Grade::Pass, "{spoken:?}");
    assert_eq!(spoken.found, "speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28");
}

#[tokio::test]
async fn proxy_check_passes_on_the_servers_machine() {
    for (trusted, expected) in [("", "the server sees no proxy"), ("127.0.0.1", "this machine is trusted itself")] {
        let findings = probe(&Service::with(&[("trusted_proxies", trusted)]).await).await;
        let proxy = of(&findings, "proxy");
        assert!(proxy.grade == Grade::Pass && proxy.found.starts_with(expected), "{proxy:?}");
    }
}

#[tokio::test]
async fn health_names_the_client_class_without_its_ip() {
    const FOR: &str = "x-forwarded-for";
    for (trusted, forwarded, expected) in [
        ("", "192.0.2.77", "direct"),
        ("", "192.0.2.77, 203.0.113.9", "unread"),
        ("127.0.0.1", "192.0.2.77, 203.0.113.9", "named"),
        ("127.0.0.1", "192.0.2.77", "claimed"),
        ("127.0.0.1", "203.0.113.9, unknown", "unnamed"),
    ] {
        let service = Service::with(&[("trusted_proxies", trusted)]).await;
        let health = || http().get(service.url("/health")).header(FOR, forwarded);
        let reply = send(health().header(FORWARDING_REQUEST, "1")).await;
        assert_eq!(reply.header(FORWARDING_RESPONSE.as_str()), Some(expected), "{trusted} {forwarded}");
        assert!(!format!("{reply:?}").contains("203.0.113.9"), "{reply:?}");
        assert_eq!(send(health()).await.header(FORWARDING_RESPONSE.as_str()), None, "no header without a request");
    }
}

#[tokio::test]
async fn health_page_has_the_findings_of_the_doctor() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    let page = until("the end of the checks", async || {
        let page = browser.visit("/console/health").await;
        (!page.html.contains("The checks run.")).then_some(page)
    })
    .await;
    let (config, store, now) = (&service.app.config, Ok(service.app.store.clone()), service.clock.now());
    let doctor = Installation::inspect(config, store, &Outbound::new(&NameResolver::System), None, now).await;
    // The grade of the latency varies between the two measurements.
    let graded = |grade: &str, check: &str| (if check == "latency" { "" } else { grade }.to_owned(), check.to_owned());
    let found = check_installation(&doctor).into_iter();
    let mut expected: Vec<_> = found.map(|one| graded(one.grade.as_str(), one.check)).collect();
    let row = |row: &str| {
        let (grade, rest) = row.split_once("</span>").expect("a grade");
        let check = rest.split_once("<b>").and_then(|(_, rest)| rest.split_once("</b>")).expect("a check").0;
        graded(grade.rsplit('>').next().expect("a word"), check)
    };
    let rows = page.html.split("<tbody>").nth(1).expect("a table").split("</tbody>").next().expect("an end");
    let mut shown: Vec<_> = rows.split("<tr").skip(1).map(row).collect();
    shown.sort_unstable();
    expected.sort_unstable();
    assert_eq!(shown, expected);
    assert!(shown.iter().any(|(_, check)| check == "latency") && shown.len() > 8, "{shown:?}");
}
