//! Reports at several servers with a shared PostgreSQL database (started by `make test`): the servers share their
//! limits and their reports.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Integrator, Reply, Service, database, until};

async fn servers() -> Vec<Service> {
    let (url, clock) = (database().await, Service::clock());
    assert!(url.starts_with("postgres"), "SIGNPOST_TEST_POSTGRES names the server: tests/postgres.sh starts one");
    let mut servers = Vec::new();
    for _ in 0..3 {
        let settings = [("database_url", url.as_str()), ("services", "atm,auth"), ("rate_limit_reports", "5/h")];
        servers.push(Service::open(&settings, clock.clone()).await);
    }
    servers
}

async fn reports(visitor: &Integrator, atm: usize, report: &Value) -> Reply {
    visitor.post(&format!("/v1/atms/{atm}/reports"), report).await
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn five_of_64_reports_at_three_servers_pass() {
    let servers = servers().await;
    let visitors: Vec<_> = servers.iter().map(Service::visitor).collect();
    let gone = json!({ "seen": "gone" });
    let race = (0..64).map(|number| reports(&visitors[number % 3], number + 1, &gone));
    let replies = join_all(race).await;
    let passed = replies.iter().filter(|reply| reply.status == 201).count();
    assert_eq!(passed, 5);
    for reply in replies.iter().filter(|reply| reply.status != 201) {
        assert!(matches!(reply.status, 429 | 503), "{}", reply.text);
    }
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn report_at_one_server_is_shown_by_others() {
    let servers = servers().await;
    reports(&servers[0].visitor(), 1, &json!({ "seen": "gone", "how": "saw" })).await.with(201);
    for server in &servers {
        until("the report is shown", async || {
            let shown = server.app.atm.catalogue.snapshot();
            let atm = signpost_locator::AtmId::new(1).expect("a number");
            shown.get(atm).and_then(|entry| shown.reports(entry)).map(|reports| reports.summary.clone())
        })
        .await;
    }
}
