//! Sessions that were there before the service had pages.

use signpost::server::schema::SCHEMA;
use signpost_login::ids::SessionId;
use signpost_login::sessions::{Flow, SessionState, sql};
use signpost_platform::accounts::Environment;
use signpost_store::{Schema, Store, params, step};

use crate::harness::database;

const MIGRATIONS_BEFORE: usize = 10;

/// Every member in the text of one statement, with the flow.
const INSERT: &str = "
    INSERT INTO sessions (id, account, environment, domain_id, challenge, webhook_url, created_at, expires_at, flow, answer,
                          completion)
    VALUES ($1, 'acme', 'sandbox', 'dom_01kbq8e6me0123456789abcdefghjkmnpqr0',
            'svc:login:shop.test:1800000000:AAAAAAAAAAAAAAAAAAAAAA', 'https://shop.test/hook', 1800000000000,
            1800000300000, $2, $3, $4)";

const EVIDENCE: &str = r#"{"public_key":"02","signature":"30","challenge":"svc:login","timestamp":1800000000}"#;

#[tokio::test]
async fn a_session_keeps_its_flow_and_its_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = match database().await {
        memory if memory.starts_with("sqlite") => format!("sqlite:{}", folder.path().join("store.sqlite").display()),
        server => server,
    };
    let before =
        Schema { migrations: &SCHEMA.migrations[..MIGRATIONS_BEFORE], tables: &[], single_rows: &[], watched: &[] };
    let old = Store::open(&url, Box::leak(Box::new(before))).expect("a database");
    let id = |number: u8| SessionId::new(jiff::Timestamp::UNIX_EPOCH, [number; 16]);
    let insert = async |store: &Store, number: u8, flow: &str, answer: Option<&str>| {
        let params = params![&id(number), flow, answer, answer.map(|_| "0".repeat(64))];
        store.write([step(INSERT, params)]).await
    };
    insert(&old, 1, "cross_device", None).await.expect("a row");
    insert(&old, 2, "same_device", Some(EVIDENCE)).await.expect("a row");
    assert!(insert(&old, 3, "page", None).await.is_err(), "a flow that it does not know");
    old.close().await;
    let store = Store::open(&url, &SCHEMA).expect("a database");
    let find = async |number| {
        let found = sql::find_in_any_account(&store, Environment::Sandbox, &id(number)).await;
        found.expect("a session that can be read").expect("a session")
    };
    let (first, second) = (find(1).await, find(2).await);
    assert_eq!((first.options.flow, first.state), (Flow::CrossDevice, SessionState::Pending));
    assert_eq!(second.options.flow, Flow::SameDevice);
    assert!(matches!(second.state, SessionState::Answered { .. }) && second.page.is_none());
    assert!(insert(&store, 4, "paper", None).await.is_err(), "still none that nobody knows");
    // What an older server, which may still run, writes without a word of pages.
    insert(&store, 5, "same_device", None).await.expect("a row");
    assert!(find(5).await.page.is_none());
}
