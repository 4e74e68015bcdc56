//! The cost of outbox queries in steps of SQLite's virtual machine, equal in every run and on every computer.

use rusqlite::{Connection, StatementStatus, named_params};
use signpost::server::schema::SCHEMA;
use signpost_login::events::slots::{MAX_ENDPOINTS_PER_SCAN, MAX_PER_ENDPOINT};
use signpost_login::events::sql::{CLAIM, DUE, END_ATTEMPT, NEXT};
use signpost_store::Store;

const NOW: i64 = 1_800_000_000_000;

/// Inserts events of an account, spread over endpoints.
const FILL: &str = "
    WITH RECURSIVE n (x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x + 1 < :events)
    INSERT INTO deliveries (id, account, environment, domain_id, url, endpoint, body, state, attempts, created_at,
                            next_attempt_at, in_backoff)
    SELECT :account || '-' || :next || '-' || x, :account, 'live', 'dom_x', 'https://x.test/',
           'https://' || (x % :endpoints) || '.test', '{}', 'pending', :in_backoff, 0, :next, :in_backoff FROM n";

struct Outbox(Connection);

impl Outbox {
    /// Creates ten endpoints of an account, with three events each.
    fn new(folder: &tempfile::TempDir) -> Self {
        let file = folder.path().join("outbox.sqlite");
        drop(Store::open(&format!("sqlite:{}", file.display()), &SCHEMA).unwrap());
        let outbox = Self(Connection::open(file).unwrap());
        outbox.fill("few", 30, 10, NOW - 1, false);
        outbox
    }

    fn fill(&self, account: &str, events: u32, endpoints: u32, next: i64, in_backoff: bool) {
        let mut fill = self.0.prepare(FILL).unwrap();
        fill.execute(named_params! {
            ":account": account, ":events": events, ":endpoints": endpoints, ":next": next, ":in_backoff": in_backoff,
        })
        .unwrap();
    }

    /// Returns the steps of the query for due events, and their number.
    fn query_due(&self, known: &str) -> (i32, usize) {
        let mut look = self.0.prepare(DUE).unwrap();
        let params =
            named_params! { "$1": NOW, "$2": MAX_PER_ENDPOINT, "$3": 256, "$4": MAX_ENDPOINTS_PER_SCAN, "$5": known };
        let found = look.query_map(params, |row| row.get::<_, Option<String>>(1)).unwrap();
        let found = found.filter(|id| id.as_ref().unwrap().is_some()).count();
        (look.get_status(StatementStatus::VmStep), found)
    }

    /// Returns the steps of the query for the next due time.
    fn query_next(&self) -> i32 {
        let mut ask = self.0.prepare(NEXT).unwrap();
        let due: Option<i64> = ask.query_row(named_params! { "$1": NOW }, |row| row.get(0)).unwrap();
        assert!(due.is_some_and(|due| due < NOW));
        ask.get_status(StatementStatus::VmStep)
    }

    /// Returns the steps to end a claimed event.
    fn end_event(&self) -> i32 {
        let id = format!("few-{}-7", NOW - 1);
        self.0.execute("UPDATE deliveries SET leased_until = ?1 WHERE id = ?2", (NOW, &id)).unwrap();
        let mut end = self.0.prepare(END_ATTEMPT).unwrap();
        let params = named_params! {
            "$1": "pending", "$2": NOW - 1, "$3": None::<i64>, "$4": 500, "$5": "no", "$6": id, "$7": NOW, "$8": None::<&str>,
            "$9": "[]",
        };
        assert_eq!(end.execute(params).unwrap(), 1);
        self.0.execute("UPDATE deliveries SET in_backoff = 0 WHERE id = ?1", [&id]).unwrap();
        end.get_status(StatementStatus::VmStep)
    }

    /// Returns the steps to claim an event.
    fn claim(&self) -> i32 {
        let id = format!("few-{}-7", NOW - 1);
        let mut take = self.0.prepare(CLAIM).unwrap();
        let params = named_params! { "$1": NOW + 45_000, "$2": NOW, "$3": format!("[\"{id}\"]") };
        let taken = take.query_map(params, |row| row.get::<_, String>(0)).unwrap();
        assert_eq!(taken.map(Result::unwrap).collect::<Vec<_>>(), [id]);
        self.0.execute("UPDATE deliveries SET leased_until = NULL", []).unwrap();
        take.get_status(StatementStatus::VmStep)
    }
}

#[test]
fn endpoints_that_are_not_due_are_free() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::new(&folder);
    let (alone, taken_alone) = (outbox.query_due("[]"), outbox.claim());
    assert_eq!(alone.1, 30);
    for (account, in_account) in [("many", 5000), ("few", 2000)] {
        outbox.fill(account, in_account, in_account, NOW + 60_000, true);
        assert_eq!((outbox.query_due("[]"), outbox.claim()), (alone, taken_alone), "{account}");
    }
}

#[test]
fn cost_is_independent_of_the_queue_length() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::new(&folder);
    outbox.fill("few", 100, 1, NOW - 2, false);
    let costs = || (outbox.query_due("[]"), outbox.claim(), outbox.query_next(), outbox.end_event());
    let few = costs();
    outbox.fill("few", 20_000, 1, NOW - 3, false);
    assert_eq!(costs(), few);
}

#[test]
fn endpoints_per_account_are_bounded() {
    let [many, more] = [100, 10_000].map(|endpoints| {
        let folder = tempfile::tempdir().unwrap();
        let outbox = Outbox::new(&folder);
        outbox.fill("many", endpoints, endpoints, NOW - 1, false);
        // Accounts without a free slot are skipped.
        [outbox.query_due("[]"), outbox.query_due(r#"[["live many","full",""]]"#)]
    });
    assert_eq!(more, many);
    assert_eq!((more[0].1, more[1].1), (30 + 64, 30));
}
