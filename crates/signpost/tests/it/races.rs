//! Many at once: one wins, and nothing is half done.

use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use signpost::id::SessionId;
use signpost::store::{Newer, Store, Written, must, step};
use tokio::task::JoinSet;

use crate::harness::{Integrator, Phone, TestServer, server, server_in};

#[tokio::test]
async fn of_sixty_four_answers_one_wins_and_one_event_is_queued() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_in(folder.path(), &[]).await;
    let integrator = server.integrator().await;
    let session = integrator.session().await;
    let path = format!("/sessions/{}/authenticate", session["id"].as_str().unwrap());
    let mut answers = JoinSet::new();
    for phone in 0..64 {
        let answer = Phone::new(phone + 1).answer(&session, server.now());
        let (integrator, path) = (integrator.clone(), path.clone());
        answers.spawn(async move { integrator.post(&path, answer).await.status });
    }
    let mut statuses = answers.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200], vec![409; 63]].concat());
    let events = server.app.store.read("SELECT id FROM deliveries", vec![]).await.unwrap();
    assert_eq!(events.len(), 1);
}

#[tokio::test]
async fn an_answer_and_a_refresh_do_not_both_win() {
    let server = server().await;
    let integrator = server.integrator().await;
    integrator.register("example.com", "https://example.com/login").await;
    for _ in 0..20 {
        let session = integrator.post("/sessions", json!({ "domain": "example.com" })).await.expect(201);
        let path = format!("/sessions/{}", session["id"].as_str().unwrap());
        let (authenticate, refresh) = (format!("{path}/authenticate"), format!("{path}/refresh"));
        let answer = Phone::new(1).answer(&session, server.now());
        let (answered, refreshed) =
            tokio::join!(integrator.post(&authenticate, answer), integrator.post(&refresh, json!({})));
        let ended = (answered.status, refreshed.status);
        assert!([(200, 409), (404, 200)].contains(&ended), "{ended:?}");
        let status = if ended.0 == 200 { "authenticated" } else { "pending" };
        assert_eq!(integrator.get(&path).await.expect(200)["status"], status);
    }
}

const MAKE: &str = "CREATE TABLE pairs (left_one BIGINT PRIMARY KEY, right_one BIGINT)";
const PUT: &str = "INSERT INTO pairs (left_one, right_one) VALUES ($1, $2)";
const CHANGE: &str = "UPDATE pairs SET right_one = $2 WHERE left_one = $1";
const COUNT: &str = "SELECT COUNT(*), SUM(right_one) FROM pairs";

async fn count(store: &Store) -> (i64, Option<i64>) {
    let row = store.read_one(COUNT, vec![]).await.unwrap().unwrap();
    (row.int(0).unwrap(), row.opt_int(1).unwrap())
}

#[tokio::test]
async fn all_steps_happen_or_none() {
    let folder = tempfile::tempdir().unwrap();
    for url in ["sqlite::memory:".to_owned(), format!("sqlite:{}", folder.path().join("db").display())] {
        let store = Store::open(&url).unwrap();
        store.write([step(MAKE, vec![])]).await.unwrap();
        let put = |left: i64| step(PUT, vec![left.into(), 1_i64.into()]);
        let change = |left: i64| must(CHANGE, vec![left.into(), 5_i64.into()]);
        assert!(store.write([put(1), change(1)]).await.unwrap().is_committed());
        assert_eq!(store.write([put(2), put(3), change(99)]).await.unwrap(), Written::Refused(2));
        assert_eq!(store.write([change(99)]).await.unwrap(), Written::Refused(0));
        assert!(store.write([put(4), put(1)]).await.is_err(), "a key that is there already");
        assert_eq!(count(&store).await, (1, Some(5)));
        assert!(store.write([]).await.unwrap().is_committed(), "nothing to do is done");
        store.close().await;
        assert!(store.write([put(7)]).await.is_err() && store.read(COUNT, vec![]).await.is_err());
    }
}

#[tokio::test]
async fn a_failing_write_does_not_hurt_those_committed_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&format!("sqlite:{}", folder.path().join("db").display())).unwrap();
    store.write([step(MAKE, vec![])]).await.unwrap();
    let mut writers = JoinSet::new();
    for number in 0..600_i64 {
        let store = store.clone();
        writers.spawn(async move {
            // Every third breaks a key in its second step, every third must change what is not there.
            let put = |left: i64| step(PUT, vec![left.into(), number.into()]);
            match number % 3 {
                0 => store.write([put(number)]).await.is_ok_and(|written| written.is_committed()),
                1 => store.write([put(number), put(number)]).await.is_ok(),
                _ => store
                    .write([put(number), must(CHANGE, vec![(-1_i64).into(), 1_i64.into()])])
                    .await
                    .unwrap()
                    .is_committed(),
            }
        });
    }
    let done = writers.join_all().await.into_iter().filter(|done| *done).count();
    let sum = (0..600).filter(|number| number % 3 == 0).sum::<i64>();
    assert_eq!((done, count(&store).await), (200, (200, Some(sum))));
    store.close().await;
    let again = Store::open(&format!("sqlite:{}", folder.path().join("db").display())).unwrap();
    assert_eq!(count(&again).await, (200, Some(sum)));
}

#[tokio::test]
async fn a_full_disk_is_told_and_nothing_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&format!("sqlite:{}", folder.path().join("db").display())).unwrap();
    store.write([step(MAKE, vec![])]).await.unwrap();
    // SQLite's own limit stands in for the disk's; the writer's connection is the one that keeps it.
    let pages = store.write([step("PRAGMA max_page_count = 40", vec![])]).await;
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
    store.write([step("PRAGMA max_page_count = 4000", vec![])]).await.unwrap();
    let put = step(PUT, vec![10_000_i64.into(), 1_i64.into()]);
    assert!(store.write([put]).await.unwrap().is_committed(), "it goes on once there is room");
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("db").display());
    let store = Store::open(&url).unwrap();
    store.write([step("INSERT INTO schema_version (version) VALUES (99)", vec![])]).await.unwrap();
    store.close().await;
    let before = std::fs::read(folder.path().join("db")).unwrap();
    let error = Store::open(&url).unwrap_err();
    let Newer { found, known } = error.downcast_ref().unwrap();
    assert!(*found == 99 && *known < 99 && error.to_string().contains("update the program"), "{error}");
    assert_eq!(std::fs::read(folder.path().join("db")).unwrap(), before);
}

/// Whatever races for a session, and in whichever order: at most one answer wins, it has one event, and a session that
/// nobody won can still be answered by the challenge that it holds.
#[test]
fn any_race_for_a_session_ends_in_one_of_its_states() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (server, integrator) = runtime.block_on(async {
        let server = server().await;
        let integrator = server.integrator().await;
        integrator.register("example.com", "https://example.com/login").await;
        (server, integrator)
    });
    let mut runner = TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    let races = proptest::collection::vec(0..3_u8, 1..14);
    let checked = runner.run(&races, |moves| {
        runtime.block_on(race(&server, &integrator, &moves));
        Ok(())
    });
    checked.unwrap();
}

async fn race(server: &TestServer, integrator: &Integrator, moves: &[u8]) {
    let session = integrator.post("/sessions", json!({ "domain": "example.com" })).await.expect(201);
    let path = format!("/sessions/{}", session["id"].as_str().unwrap());
    let mut racing = JoinSet::new();
    for (number, kind) in (1..).zip(moves.iter().copied()) {
        let (integrator, path) = (integrator.clone(), path.clone());
        let answer = Phone::new(number).answer(&session, server.now());
        racing.spawn(async move {
            let reply = match kind {
                0 => integrator.post(&format!("{path}/authenticate"), answer).await,
                1 => integrator.post(&format!("{path}/refresh"), json!({})).await,
                _ => integrator.get(&path).await,
            };
            (kind, reply.status)
        });
    }
    let ended = racing.join_all().await;
    assert!(ended.iter().all(|(_, status)| [200, 404, 409].contains(status)), "{ended:?}");
    let won = ended.iter().filter(|end| **end == (0, 200)).count();
    let status = integrator.get(&path).await.expect(200)["status"].clone();
    let events = server.app.store.read("SELECT body FROM deliveries", vec![]).await.unwrap();
    let id = session["id"].as_str().unwrap();
    let events = events.iter().filter(|event| event.text(0).unwrap().contains(id)).count();
    assert_eq!((won, events), if status == "authenticated" { (1, 1) } else { (0, 0) }, "{ended:?}");
    if status == "pending" {
        let id = SessionId::parse(id).unwrap();
        let held = server.app.store.session(&integrator.account, &id).await.unwrap().unwrap().challenge.to_string();
        let answer = Phone::new(99).answer(&json!({ "challenge": held }), server.now());
        integrator.post(&format!("{path}/authenticate"), answer).await.expect(200);
    }
}
