//! A disk without room.

use signpost::store::{Store, step};

const MAKE: &str = "CREATE TABLE pairs (left_one BIGINT PRIMARY KEY, right_one BIGINT)";
const PUT: &str = "INSERT INTO pairs (left_one, right_one) VALUES ($1, $2)";
const COUNT: &str = "SELECT COUNT(*), SUM(right_one) FROM pairs";

async fn count(store: &Store) -> (i64, Option<i64>) {
    let row = store.read_one(COUNT, vec![]).await.unwrap().unwrap();
    (row.int(0).unwrap(), row.opt_int(1).unwrap())
}

#[tokio::test]
async fn a_full_disk_is_told_and_nothing_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&format!("sqlite:{}", folder.path().join("db").display())).unwrap();
    store.write([step(MAKE, vec![])]).await.unwrap();
    // SQLite's own limit stands in for the disk's; the writer's connection is the one that keeps it.
    let pages = store.write([step("PRAGMA max_page_count = 120", vec![])]).await;
    assert!(pages.is_ok());
    let blob = signpost::store::Value::Text("x".repeat(4000));
    let mut acknowledged = 0;
    let failed = loop {
        let left: i64 = acknowledged;
        let sql = "INSERT INTO pairs (left_one, right_one) SELECT $1, LENGTH($2) WHERE $2 IS NOT NULL";
        let notes = step("CREATE TABLE IF NOT EXISTS notes (text TEXT)", vec![]);
        let note = step("INSERT INTO notes (text) VALUES ($1)", vec![blob.clone()]);
        match store.write([notes, note, step(sql, vec![left.into(), "x".into()])]).await {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
        assert!(acknowledged < 1_000);
    };
    assert!(failed.is::<signpost::store::Unavailable>(), "{failed:#}");
    assert_eq!(count(&store).await, (acknowledged, Some(acknowledged)));
    store.write([step("PRAGMA max_page_count = 12000", vec![])]).await.unwrap();
    let put = step(PUT, vec![10_000_i64.into(), 1_i64.into()]);
    assert!(store.write([put]).await.unwrap().is_committed(), "it goes on once there is room");
}
