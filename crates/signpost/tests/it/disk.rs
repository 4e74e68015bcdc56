//! A full disk, and a database file that was moved.

use signpost::server::schema::SCHEMA;
use signpost_store::{Statement, Store};
use std::fs;

use serde_json::json;

use crate::harness::{Service, copy_file, until};

const CREATE_TABLE: &str = "CREATE TABLE pairs (left_one BIGINT PRIMARY KEY, right_one BIGINT)";
const INSERT: &str = "INSERT INTO pairs (left_one, right_one) VALUES ($1, $2)";
const COUNT: &str = "SELECT COUNT(*), SUM(right_one) FROM pairs";

async fn count(store: &Store) -> (i64, Option<i64>) {
    let row = store.read_one(COUNT, vec![]).await.unwrap().unwrap();
    (row.int(0).unwrap(), row.opt_int(1).unwrap())
}

#[tokio::test]
async fn full_disk_returns_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&format!("sqlite:{}", folder.path().join("db").display()), &SCHEMA).unwrap();
    store.write([Statement::new(CREATE_TABLE, vec![])]).await.unwrap();
    // The page limit of SQLite simulates a full disk; it applies to the writer's connection.
    let pages = store.write([Statement::new("PRAGMA max_page_count = 400", vec![])]).await;
    assert!(pages.is_ok());
    let blob = signpost_store::Value::Text("x".repeat(4000));
    let mut acknowledged = 0;
    let failed = loop {
        let left: i64 = acknowledged;
        let sql = "INSERT INTO pairs (left_one, right_one) SELECT $1, LENGTH($2) WHERE $2 IS NOT NULL";
        let notes = Statement::new("CREATE TABLE IF NOT EXISTS notes (text TEXT)", vec![]);
        let note = Statement::new("INSERT INTO notes (text) VALUES ($1)", vec![blob.clone()]);
        match store.write([notes, note, Statement::new(sql, vec![left.into(), "x".into()])]).await {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
        assert!(acknowledged < 1_000);
    };
    assert!(failed.is::<signpost_store::Unavailable>(), "{failed:#}");
    assert!(acknowledged > 0, "the tables have more pages");
    assert_eq!(count(&store).await, (acknowledged, Some(acknowledged)));
    store.write([Statement::new("PRAGMA max_page_count = 40000", vec![])]).await.unwrap();
    let put = Statement::new(INSERT, vec![10_000_i64.into(), 1_i64.into()]);
    assert!(store.write([put]).await.unwrap().is_committed(), "writes succeed after space is freed");
}

async fn readiness(service: &Service) -> (u16, serde_json::Value) {
    let ready = service.visitor().get("/health/ready").await;
    (ready.status, ready.json())
}

async fn is_ready_again(service: &Service) {
    until("it is ready", async || (readiness(service).await.0 == 200).then_some(())).await;
}

#[tokio::test]
async fn server_with_failed_writes_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let ok = json!({ "status": "ok", "checks": { "store": "ok", "accepting": "ok" } });
    assert_eq!(readiness(&service).await, (200, ok));
    service.app.store.write([Statement::new("PRAGMA max_page_count = 1", vec![])]).await.unwrap();
    // A periodic write of the server may fit and succeed in between.
    let response = until("a log line", async || {
        let make = Statement::new("CREATE TABLE notes (text TEXT)", vec![]);
        let note = Statement::new("INSERT INTO notes (text) VALUES ($1)", vec!["x".repeat(100_000).as_str().into()]);
        assert!(service.app.store.write([make, note]).await.is_err());
        let (status, response) = readiness(&service).await;
        (status == 503).then_some(response)
    })
    .await;
    assert_eq!((&response["status"], &response["checks"]["store"]), (&json!("unavailable"), &json!("failing")));
    let reason = response["reasons"][0].as_str().unwrap();
    assert!(reason.starts_with("the last write failed: the disk is full"), "{reason}");
    // Only the readiness check writes.
    is_ready_again(&service).await;
    service.stop().await;
}

#[tokio::test]
async fn server_with_a_moved_file_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let [file, aside] = ["signpost.sqlite", "aside"].map(|name| folder.path().join(name));
    fs::rename(&file, &aside).unwrap();
    let (status, response) = readiness(&service).await;
    assert_eq!((status, &response["reasons"]), (503, &json!(["the database file was moved or deleted"])));
    copy_file(&aside, &file);
    let (status, response) = readiness(&service).await;
    assert_eq!((status, &response["reasons"]), (503, &json!(["the database file was replaced by another"])));
    fs::rename(&aside, &file).unwrap();
    is_ready_again(&service).await;
    // The companion files contain the last commits and the locks.
    for end in ["-wal", "-shm"] {
        let companion = folder.path().join(format!("signpost.sqlite{end}"));
        fs::rename(&companion, &aside).unwrap();
        let (status, response) = readiness(&service).await;
        let reason = format!("the {end} file of the database was moved or deleted");
        assert_eq!((status, &response["reasons"]), (503, &json!([reason])));
        copy_file(&aside, &companion);
        let (status, response) = readiness(&service).await;
        let reason = format!("the {end} file of the database was replaced by another");
        assert_eq!((status, &response["reasons"]), (503, &json!([reason])));
        fs::rename(&aside, &companion).unwrap();
        is_ready_again(&service).await;
    }
    service.stop().await;
}
