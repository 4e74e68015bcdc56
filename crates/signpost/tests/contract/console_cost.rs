//! Cost of the console's statements: index lookups, independent of the number of rows.

use rusqlite::Connection;
use signpost::server::schema::SCHEMA;
use signpost_login::events::deliveries::{self, DELIVERY_STATEMENTS};
use signpost_login::events::retries::{RETRY_STATEMENTS, RetryScope, retry};
use signpost_platform::accounts::audit::{self, Actor};
use signpost_platform::accounts::{Account, Environment};
use signpost_store::Store;

use crate::harness::{Service, database};

/// Returns the steps of a plan that read every row of a table.
fn scans(plan: &[String]) -> Vec<&String> {
    plan.iter().filter(|step| step.starts_with("SCAN d") && !step.contains("USING")).collect()
}

#[test]
fn console_statements_use_an_index() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("signpost.sqlite");
    drop(Store::open(&format!("sqlite:{}", file.display()), &SCHEMA).expect("a database"));
    let database = Connection::open(file).expect("the database");
    let plan = |sql: &str| {
        let mut explained = database.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("a statement");
        let (mut rows, mut steps) = (explained.raw_query(), Vec::new());
        while let Some(row) = rows.next().expect("a plan") {
            steps.push(row.get::<_, String>(3).expect("a text"));
        }
        steps
    };
    assert_eq!(scans(&plan("SELECT * FROM deliveries WHERE url = 'x'")).len(), 1, "the test detects a scan");
    for sql in DELIVERY_STATEMENTS.iter().chain(&RETRY_STATEMENTS) {
        let plan = plan(sql);
        assert!(scans(&plan).is_empty(), "{sql}\n{plan:?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{sql}\n{plan:?}");
    }
}

/// Inserts `$1` failed events of an account.
const FILL: &str = "
    WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < CAST($1 AS BIGINT))
    INSERT INTO deliveries (id, account, environment, domain_id, url, endpoint, body, state, attempts, created_at,
                            next_attempt_at, ended_at, in_backoff)
    SELECT 'evt_' || CAST($2 AS TEXT) || CAST(100000 + x AS TEXT), CAST($2 AS TEXT), 'live', 'dom_x', 'https://x.test/', 'https://x.test', '{}', 'failed', 9, 0,
           0, 1, 0 FROM n";

async fn fill(store: &Store, account: &str, events: i64) {
    let params = vec![events.into(), account.into()];
    store.write([signpost_store::Statement::new(FILL, params)]).await.expect("a database");
}

#[tokio::test]
async fn retry_of_all_events_is_audited_once() {
    let store = Store::open(&database().await, &SCHEMA).expect("a database");
    let now = Service::clock().now();
    fill(&store, "acme", 2_500).await;
    fill(&store, "other", 3).await;
    let acme = Account { name: "acme".to_owned(), environment: Environment::Live };
    let sent = retry(&store, RetryScope::FailedOfAccount(&acme), &Actor::Operator, now).await.expect("a database");
    assert_eq!(sent, 2_500);
    assert_eq!(
        deliveries::count_failed_up_to(&store, u32::MAX).await.expect("a database"),
        3,
        "the other account's stay"
    );
    let sent = retry(&store, RetryScope::FailedOfAccount(&acme), &Actor::Operator, now).await.expect("a database");
    assert_eq!(sent, 0);
    fill(&store, "third", 1_000).await;
    let sent = retry(&store, RetryScope::Failed, &Actor::Operator, now).await.expect("a database");
    assert_eq!((sent, deliveries::count_failed_up_to(&store, u32::MAX).await.expect("a database")), (1_003, 0));
    let response = audit::sql::list_newest(&store, jiff::Timestamp::UNIX_EPOCH, "", "", 100).await.expect("a database");
    assert_eq!(response.len(), 2, "one entry for each action with an effect: {response:?}");
}
