//! The database: writes are atomic, with concurrent writers too.

use signpost::server::schema::SCHEMA;
use signpost_store::{DatabaseTooNew, Statement, Store, Unavailable, Value, WriteOutcome};
use std::path::Path;

use crate::harness::{database, until};
use futures_util::future::join_all;

const TABLE: &str = "CREATE TABLE numbers (n BIGINT PRIMARY KEY)";
const INSERT: &str = "INSERT INTO numbers (n) VALUES ($1) RETURNING n";
const ALL: &str = "SELECT n FROM numbers ORDER BY n";
const DELETE: &str = "DELETE FROM numbers WHERE n = $1";

async fn numbers(url: &str) -> Store {
    let store = Store::open(url, &SCHEMA).expect("a database");
    assert!(store.write([Statement::new(TABLE, Vec::new())]).await.expect("a table").is_committed());
    store
}

fn file(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("store.sqlite").display())
}

/// Returns the URL of a database that outlives its connections.
async fn place(folder: &Path) -> String {
    match database().await {
        memory if memory.starts_with("sqlite") => file(folder),
        server => server,
    }
}

fn insert(n: i64) -> Statement {
    Statement::new(INSERT, vec![n.into()])
}

fn remove(n: i64) -> Statement {
    Statement::expect_row(DELETE, vec![n.into()])
}

async fn all(store: &Store) -> Vec<i64> {
    let rows = store.read(ALL, Vec::new()).await.expect("rows");
    rows.iter().map(|row| row.int(0).expect("a number")).collect()
}

#[tokio::test]
async fn writes_are_atomic() {
    let folder = tempfile::tempdir().expect("a folder");
    for url in [&database().await, &file(folder.path())] {
        let store = numbers(url).await;
        let WriteOutcome::Committed(rows) = store.write([insert(1), insert(2), insert(3)]).await.expect("a database")
        else {
            panic!("refused")
        };
        assert_eq!(
            rows.iter().map(|row| row.int(0).expect("a number")).collect::<Vec<_>>(),
            [3],
            "the last statement's rows"
        );
        assert!(store.write([insert(4), insert(5), insert(4)]).await.is_err());
        for (statements, position) in [
            (vec![remove(9)], 0),
            (vec![remove(9), insert(4)], 0),
            (vec![insert(4), remove(9), insert(5)], 1),
            (vec![insert(4), insert(5), remove(9)], 2),
            (vec![insert(4), remove(4), remove(4)], 2),
        ] {
            assert_eq!(store.write(statements).await.expect("a database"), WriteOutcome::Refused(position));
        }
        assert_eq!(all(&store).await, [1, 2, 3], "{url}");
        assert!(store.write([remove(1), insert(1), remove(2)]).await.expect("a database").is_committed());
        assert!(store.write(Vec::new()).await.expect("a database").is_committed());
        assert_eq!(all(&store).await, [1, 3], "{url}");
    }
}

#[tokio::test]
async fn failed_write_does_not_affect_its_batch() {
    let folder = tempfile::tempdir().expect("a folder");
    for url in [&database().await, &file(folder.path())] {
        let store = numbers(url).await;
        assert!(store.write([insert(-1)]).await.expect("a database").is_committed());
        let written = join_all((0..600).map(|n| {
            let store = store.clone();
            async move {
                let statements = match n % 6 {
                    0 => vec![insert(n), insert(-1)],
                    1 => vec![insert(n), remove(-9)],
                    2 => vec![insert(-1)],
                    3 => vec![remove(-9)],
                    4 => vec![insert(n)],
                    _ => vec![insert(n), insert(n + 10_000)],
                };
                (n % 6, store.write(statements).await)
            }
        }));
        for (kind, written) in written.await {
            match kind {
                0 | 2 => assert!(written.is_err()),
                1 => assert_eq!(written.expect("a database"), WriteOutcome::Refused(1)),
                3 => assert_eq!(written.expect("a database"), WriteOutcome::Refused(0)),
                _ => assert!(written.expect("a database").is_committed()),
            }
        }
        let single = (0..600).filter(|n| n % 6 >= 4);
        let double = (0..600).filter(|n| n % 6 == 5).map(|n| n + 10_000);
        assert_eq!(all(&store).await, [-1].into_iter().chain(single).chain(double).collect::<Vec<_>>(), "{url}");
    }
}

#[tokio::test]
async fn batched_statements_end_like_single_ones() {
    const INSERT_MANY: &str = "INSERT INTO numbers (n) SELECT n FROM unnest($1::BIGINT[]) AS new (n) RETURNING n";
    const DELETE_MANY: &str = "DELETE FROM numbers WHERE n = ANY ($1::BIGINT[]) RETURNING n";
    let folder = tempfile::tempdir().expect("a folder");
    for url in [&database().await, &file(folder.path())] {
        let store = numbers(url).await;
        assert!(store.write((0..300).map(insert).collect::<Vec<_>>()).await.expect("a database").is_committed());
        let write_all = |statements: Vec<Vec<Statement>>| {
            join_all(statements.into_iter().map(|statements| store.write(statements)))
        };
        // Some rows exist, some do not, and some are requested twice.
        let removed = (200..400).map(|n| if n % 10 == 0 { 200 } else { n });
        let removed: Vec<i64> = removed.collect();
        let remove_one = |n: &i64| vec![remove(*n).batched(DELETE_MANY, 0)];
        let ended = write_all(removed.iter().map(remove_one).collect()).await;
        let mut gone = Vec::new();
        for (n, ended) in removed.into_iter().zip(ended) {
            match ended.expect("a database") {
                WriteOutcome::Committed(_) => gone.push(n),
                refused @ WriteOutcome::Refused(_) => assert_eq!(refused, WriteOutcome::Refused(0)),
            }
        }
        gone.sort_unstable();
        let expected: Vec<i64> = (200..300).filter(|n| *n == 200 || n % 10 != 0).collect();
        assert_eq!(gone, expected, "{url}");
        // A failed write does not affect the others of its batch.
        let insert_one = |n: i64| vec![insert(n).batched(INSERT_MANY, 0)];
        let added = write_all((190..250).map(insert_one).collect()).await;
        let failed: Vec<i64> = (190..250).zip(&added).filter(|(_, added)| added.is_err()).map(|(n, _)| n).collect();
        let there: Vec<i64> = (190..200).chain([210, 220, 230, 240]).collect();
        assert_eq!(failed, there, "{url}");
        let left = (0..250).chain((250..300).filter(|n| n % 10 == 0));
        assert_eq!(all(&store).await, left.collect::<Vec<_>>(), "{url}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_programs_increment_one_counter() {
    const ADD: &str = "UPDATE numbers SET n = n + 1";
    let folder = tempfile::tempdir().expect("a folder");
    let url = place(folder.path()).await;
    let one = numbers(&url).await;
    assert!(one.write([insert(0)]).await.expect("a database").is_committed());
    let two = Store::open(&url, &SCHEMA).expect("a database");
    let adding = (0..400).map(|number| {
        let store = if number % 2 == 0 { one.clone() } else { two.clone() };
        tokio::spawn(async move { store.write([Statement::expect_row(ADD, Vec::new())]).await })
    });
    for written in join_all(adding).await {
        assert!(written.expect("no panic").expect("a database").is_committed());
    }
    // Both programs read all acknowledged writes.
    assert_eq!((all(&one).await, all(&two).await), (vec![400], vec![400]));
}

#[tokio::test]
async fn writes_survive_a_close() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = place(folder.path()).await;
    let store = numbers(&url).await;
    assert!(store.write([insert(1)]).await.expect("a database").is_committed());
    store.close().await;
    let refused = store.write([insert(2)]).await.expect_err("it is closed");
    assert!(refused.is::<Unavailable>(), "{refused:#}");
    let refused = store.read(ALL, Vec::new()).await.expect_err("it is closed");
    assert!(refused.is::<Unavailable>(), "{refused:#}");
    assert_eq!(all(&Store::open(&url, &SCHEMA).expect("a database")).await, [1]);
}

#[tokio::test]
async fn all_value_types_round_trip() {
    const ECHO: &str = "SELECT $1, $2, $3, $4";
    let store = Store::open("sqlite::memory:", &SCHEMA).expect("a database");
    for int in [0, 1, -1, i64::MAX, i64::MIN] {
        let text = "ü\u{0}\u{1F600}'--";
        let params: Vec<Value> = vec![int.into(), text.into(), Value::from(&b"\x00\xff"[..]), Value::Null];
        let row = store.read_one(ECHO, params).await.expect("a database").expect("a row");
        assert_eq!((row.int(0).unwrap(), row.text(1).unwrap()), (int, text));
        assert_eq!((row.blob(2).unwrap(), row.opt_int(3).unwrap()), (&b"\x00\xff"[..], None));
        assert!(row.text(0).is_err() && row.int(1).is_err() && row.int(3).is_err() && row.int(4).is_err());
    }
}

#[tokio::test]
async fn newer_database_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    Store::open(&file(folder.path()), &SCHEMA).expect("a database").close().await;
    // Done manually, so that the file has all data: a store that closes may leave the last writes in the WAL.
    let by_hand = rusqlite::Connection::open(folder.path().join("store.sqlite")).expect("a database");
    // Newer tables are not an error: this program does not need them.
    by_hand.execute("INSERT INTO applied_migrations (version) VALUES (4711)", []).expect("the table");
    Store::open(&file(folder.path()), &SCHEMA).expect("a database").close().await;
    by_hand.execute("INSERT INTO required_migrations (version) VALUES (4711)", []).expect("the table");
    by_hand.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("a checkpoint");
    by_hand.close().expect("closed");
    let bytes = || std::fs::read(folder.path().join("store.sqlite")).expect("a file");
    let before = bytes();
    let error = Store::open(&file(folder.path()), &SCHEMA).expect_err("it is newer");
    assert_eq!(error.downcast_ref::<DatabaseTooNew>().map(|newer| newer.needed), Some(4711));
    let response = format!("{error:#}");
    assert!(response.contains("newer") && response.contains("4711") && response.contains("update"), "{response}");
    assert!(bytes() == before, "the file was changed");
}

#[test]
fn invalid_database_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    let letter = "Dear Sir or Madam, this is a letter and no database. ".repeat(100);
    std::fs::write(&path, &letter).expect("a file");
    let error = Store::open(&file(folder.path()), &SCHEMA).expect_err("an invalid version");
    assert!(format!("{error:#}").contains("not a database"), "{error:#}");
    assert_eq!(std::fs::read_to_string(&path).expect("a file"), letter);
    let error = Store::open("mysql://localhost/signpost", &SCHEMA).expect_err("unknown");
    assert!(format!("{error:#}").contains("sqlite:"), "{error:#}");
}

#[tokio::test]
async fn open_waits_for_a_database_in_creation() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = file(folder.path());
    let database = folder.path().join("store.sqlite");
    let maker = rusqlite::Connection::open(&database).expect("a database");
    // A database without tables. An empty file would not be a database.
    maker.pragma_update(None, "user_version", 1).expect("a header");
    maker.execute_batch("BEGIN IMMEDIATE; CREATE TABLE half_made (n)").expect("a lock");
    let (says, hears) = std::sync::mpsc::channel();
    let opening = std::thread::spawn(move || {
        says.send(std::fs::read_link("/proc/thread-self").expect("a thread")).expect("a receiver");
        Store::open(&url, &SCHEMA).map(drop).map_err(|error| format!("{error:#}"))
    });
    let thread = Path::new("/proc").join(hears.recv().expect("a thread"));
    // A program without a wait has failed by now; a waiting program has the file open and sleeps.
    until("it waits", async || {
        let files = std::fs::read_dir(thread.join("fd")).into_iter().flatten().flatten();
        let opened = files.filter(|file| std::fs::read_link(file.path()).is_ok_and(|path| path == database)).count();
        let stat = std::fs::read_to_string(thread.join("stat")).unwrap_or_default();
        let sleeps = stat.rsplit(") ").next().is_some_and(|state| state.starts_with('S'));
        ((opened > 1 && sleeps) || opening.is_finished()).then_some(())
    })
    .await;
    maker.execute_batch("ROLLBACK").expect("an end");
    assert_eq!(opening.join().expect("no panic"), Ok(()));
}
