//! Three servers under load while each part of the deployment fails repeatedly (`tests/soak.sh`: short in `make test`,
//! ten minutes in `make soak`), or while the primary of their database is lost (`tests/failover.sh`). Acknowledged
//! writes are not lost, and every login is reported.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use signpost_platform::clock::Clock;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::harness::{Endpoint, Fleet, Phone, WAIT_TIMEOUT, http, text, until};

/// Number of concurrent users.
const USERS: u8 = 16;
/// Longer timeouts for a machine without a free processor.
const SETTINGS: [(&str, &str); 3] = [
    ("SIGNPOST_SESSION_TTL", "1h"),
    ("SIGNPOST_WEBHOOK_RETRY_SCHEDULE", "1s,1s,1s,2s,2s,5s,5s,5s,5s,10s,10s,10s,10s"),
    ("SIGNPOST_SHUTDOWN_DELAY", "3s"),
];

/// Returns a setting from the script that started the servers.
pub(crate) fn setting(name: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "the variables are set by the script")]
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is set by tests/soak.sh and similar scripts"))
}

/// Returns a random number below `below`.
pub(crate) fn draw(below: u32) -> u32 {
    u32::from_be_bytes(signpost_store::random()) % below
}

/// A client of all servers.
#[derive(Clone)]
pub(crate) struct Caller {
    http: Client,
    pub(crate) fleet: Arc<Fleet>,
    key: String,
}

impl Caller {
    /// Starts three servers and creates an API key and a domain that sends events to `webhook`.
    pub(crate) async fn start(webhook: &str) -> Self {
        Self::by(Path::new(env!("CARGO_BIN_EXE_signpost")), webhook).await
    }

    /// Starts three servers like [`Self::start`], with another build of the program.
    pub(crate) async fn by(program: &Path, webhook: &str) -> Self {
        let (database, redis) = (setting("SIGNPOST_TEST_POSTGRES"), setting("SIGNPOST_TEST_REDIS"));
        let schema = format!("soak_{}", draw(u32::MAX));
        let (client, connection) = tokio_postgres::connect(&database, tokio_postgres::NoTls).await.expect("a server");
        tokio::spawn(async { drop(connection.await) });
        client.batch_execute(&format!("CREATE SCHEMA {schema}")).await.expect("a schema");
        let separator = if database.contains('?') { '&' } else { '?' };
        let database = format!("{database}{separator}options=-csearch_path%3D{schema}");
        let fleet = Arc::new(Fleet::start(program, &database, &redis, &SETTINGS));
        let caller = Self { http: http(), fleet, key: String::new() };
        let [slow, fast] = [caller.clock(0).await, caller.clock(2).await];
        assert!(fast.duration_since(slow).as_secs() >= 19, "the clocks are to be 20 s apart: is faketime there?");
        let arguments = ["keys", "create", "--environment", "sandbox", "--name", "soak", "--json"];
        let key = text(&caller.fleet.command(&arguments).run_async().await.json(), "key").to_owned();
        let caller = Self { key, ..caller };
        let domain = json!({ "domain": "shop.test", "webhook_url": webhook });
        let made = caller.request(Method::POST, 0, "/sandbox/v1/domains", Some(&domain)).await;
        assert_eq!(made.as_ref().map(|(status, _)| *status), Some(201), "{made:?}");
        caller
    }

    /// Sends a request. Returns the status and the body, or `None` if the connection failed.
    pub(crate) async fn request(
        &self,
        method: Method,
        server: u32,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        let request = self.http.request(method, self.fleet.url(server as usize, path)).timeout(WAIT_TIMEOUT);
        let request = request.header("authorization", format!("Bearer {}", self.key));
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        };
        let reply = request.send().await.ok()?;
        let (status, body) = (reply.status().as_u16(), reply.bytes().await.ok()?);
        Some((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    /// Returns the time of a server's clock.
    async fn clock(&self, server: u32) -> jiff::Timestamp {
        let (_, health) = self.request(Method::GET, server, "/health", None).await.expect("an answer");
        text(&health, "timestamp").parse().expect("a time")
    }

    pub(crate) async fn is_ready(&self, server: u32) -> bool {
        let request = self.http.get(self.fleet.url(server as usize, "/health/ready")).timeout(WAIT_TIMEOUT);
        request.send().await.is_ok_and(|reply| reply.status() == 200)
    }

    pub(crate) async fn all_ready(&self) {
        for server in 0..3 {
            until("it is ready", async || self.is_ready(server).await.then_some(())).await;
        }
    }
}

/// The acknowledged state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AcknowledgedState {
    Created,
    Authenticated,
    Cancelled,
    /// A request was sent and no response arrived: the state may be either of two.
    Unknown,
}

#[derive(Default)]
pub(crate) struct Ledger {
    sessions: Mutex<HashMap<String, AcknowledgedState>>,
    unanswered: AtomicU64,
    searches: AtomicU64,
    is_stopped: AtomicBool,
}

impl Ledger {
    fn record(&self, session: &Value, known: AcknowledgedState) {
        self.sessions.lock().expect("no panic").insert(text(session, "id").to_owned(), known);
    }

    /// Returns the number of sessions that are acknowledged with this state.
    pub(crate) fn count(&self, known: AcknowledgedState) -> usize {
        self.sessions.lock().expect("no panic").values().filter(|is| **is == known).count()
    }
}

/// Creates sessions and answers, cancels or abandons them until the test ends.
async fn run_user(caller: Caller, number: u8, ledger: Arc<Ledger>) {
    let phone = Phone::of(number + 1, &Clock::System);
    while !ledger.is_stopped.load(Ordering::Relaxed) {
        sleep(Duration::from_millis(10 + u64::from(draw(40)))).await;
        let body = json!({ "domain": "shop.test" });
        let session = match caller.request(Method::POST, draw(3), "/sandbox/v1/sessions", Some(&body)).await {
            Some((201, session)) => session,
            Some((503, _)) | None => {
                ledger.unanswered.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            other => panic!("creating: {other:?}"),
        };
        ledger.record(&session, AcknowledgedState::Created);
        let path = format!("/sandbox/v1/sessions/{}", text(&session, "id"));
        match caller.request(Method::GET, draw(3), &path, None).await {
            Some((200 | 503, _)) | None => {}
            other => panic!("an acknowledged session is not there: {other:?}"),
        }
        let (method, path, body, done) = match draw(20) {
            0..=13 => (
                Method::POST,
                format!("{path}/authenticate"),
                Some(phone.answer(&session)),
                AcknowledgedState::Authenticated,
            ),
            14..=16 => (Method::DELETE, path, None, AcknowledgedState::Cancelled),
            17 => {
                search(&caller, &ledger).await;
                continue;
            }
            _ => continue,
        };
        ledger.record(&session, AcknowledgedState::Unknown);
        for _ in 0..100 {
            match caller.request(method.clone(), draw(3), &path, body.as_ref()).await {
                // A conflict means that an earlier attempt succeeded.
                Some((200 | 204 | 409 | 410, _)) => {
                    ledger.record(&session, done);
                    break;
                }
                Some((503, _)) | None => {
                    ledger.unanswered.fetch_add(1, Ordering::Relaxed);
                    sleep(Duration::from_millis(100)).await;
                }
                // The answer expired during an outage. It is unknown if an earlier attempt succeeded.
                Some((408, _)) => break,
                other => panic!("{path}: {other:?}"),
            }
        }
    }
}

/// Searches for ATMs, which needs no database.
async fn search(caller: &Caller, ledger: &Ledger) {
    let arguments = json!({ "location": "Austin, TX" });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": { "name": "find_nearest_bitcoin_atm", "arguments": arguments } });
    let Some((status, found)) = caller.request(Method::POST, draw(3), "/mcp", Some(&call)).await else { return };
    // A starting server accepts connections before it has loaded its ATMs; a ready server always answers.
    let is_starting = status == 503 && found["error"]["message"].as_str().is_some_and(|text| text.contains("starting"));
    if !is_starting {
        assert!(status == 200 && found["result"]["structuredContent"]["total"].as_u64() > Some(0), "{found}");
        ledger.searches.fetch_add(1, Ordering::Relaxed);
    }
}

/// Causes a failure. Returns its description.
async fn cause_failure(fleet: Arc<Fleet>) -> &'static str {
    let (what, server) = (draw(8), draw(3) as usize);
    let run = move || match what {
        0..=4 => {
            fleet.kill_server(server);
            std::thread::sleep(Duration::from_millis(300));
            fleet.start_server(server);
            "a server was killed"
        }
        5 => {
            fleet.stop_server(server);
            fleet.start_server(server);
            "a server was restarted"
        }
        6 => restart("SIGNPOST_TEST_RESTART_POSTGRES", "PostgreSQL was stopped and started"),
        _ => restart("SIGNPOST_TEST_RESTART_REDIS", "Redis was stopped and started"),
    };
    tokio::task::spawn_blocking(run).await.expect("no panic")
}

/// Runs a script that restarts a server.
pub(crate) fn restart(script: &str, what: &'static str) -> &'static str {
    assert!(Command::new("sh").arg(setting(script)).status().expect("sh is installed").success(), "{script}");
    what
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs servers that may be stopped: tests/soak.sh, which make test runs"]
async fn acknowledged_writes_survive_failures() {
    let mut endpoint = Endpoint::start().await;
    let caller = Caller::start(&endpoint.url("/hook")).await;
    let ledger = Arc::new(Ledger::default());
    let users = start_users(&caller, &ledger);
    let end = Instant::now() + Duration::from_secs(setting("SIGNPOST_SOAK_SECONDS").parse().expect("seconds"));
    let mut failures = BTreeMap::new();
    while Instant::now() < end {
        *failures.entry(cause_failure(Arc::clone(&caller.fleet)).await).or_insert(0) += 1;
        assert!(!users.iter().any(JoinHandle::is_finished), "a user saw a violation");
        sleep(Duration::from_millis(500 + u64::from(draw(1500)))).await;
    }
    println!("failures: {failures:?}");
    assert_nothing_lost(&caller, &ledger, users, &mut endpoint).await;
}

/// Spawns the concurrent users.
pub(crate) fn start_users(caller: &Caller, ledger: &Arc<Ledger>) -> Vec<JoinHandle<()>> {
    (0..USERS).map(|number| tokio::spawn(run_user(caller.clone(), number, Arc::clone(ledger)))).collect()
}

/// Stops the users and compares the stored sessions with the acknowledged states.
pub(crate) async fn assert_nothing_lost(
    caller: &Caller,
    ledger: &Ledger,
    users: Vec<JoinHandle<()>>,
    endpoint: &mut Endpoint,
) {
    ledger.is_stopped.store(true, Ordering::Relaxed);
    for user in users {
        user.await.expect("no user saw a violation");
    }
    caller.all_ready().await;
    let sessions = ledger.sessions.lock().expect("no panic").clone();
    let (logins, lost) = compare(caller, &sessions).await;
    let (reported, repeated) = events(endpoint, &logins).await;
    let (acknowledged, unanswered) = (sessions.len(), ledger.unanswered.load(Ordering::Relaxed));
    println!(
        "{acknowledged} sessions acknowledged, {} logins, {lost} lost; {unanswered} requests unanswered",
        logins.len()
    );
    println!("{reported} logins with events, {repeated} repeats; {} searches", ledger.searches.load(Ordering::Relaxed));
    assert_eq!(lost, 0);
    assert!(logins.len() > 50, "there was no load");
}

/// Returns the authenticated sessions, and the number of sessions whose state differs from the acknowledged state.
async fn compare(caller: &Caller, sessions: &HashMap<String, AcknowledgedState>) -> (HashSet<String>, usize) {
    let (mut logins, mut lost) = (HashSet::new(), 0);
    let all: Vec<(&String, &AcknowledgedState)> = sessions.iter().collect();
    for some in all.chunks(64) {
        let seen = some.iter().map(|(id, _)| async move {
            let path = format!("/sandbox/v1/sessions/{id}");
            until("an answer", async || {
                caller.request(Method::GET, draw(3), &path, None).await.filter(|(status, _)| *status != 503)
            })
            .await
        });
        for ((id, known), (status, body)) in some.iter().zip(join_all(seen).await) {
            let is = match (status, body["status"].as_str()) {
                (200, Some("authenticated")) => AcknowledgedState::Authenticated,
                (200, Some("pending")) => AcknowledgedState::Created,
                (410, _) => AcknowledgedState::Cancelled,
                other => panic!("{id} was acknowledged, and is {other:?}"),
            };
            lost += usize::from(is != **known && **known != AcknowledgedState::Unknown);
            if is == AcknowledgedState::Authenticated {
                logins.insert((*id).clone());
            }
        }
    }
    (logins, lost)
}

/// Waits for the event of every login. Returns the number of reported logins and of duplicate events.
async fn events(endpoint: &mut Endpoint, logins: &HashSet<String>) -> (usize, usize) {
    let (mut reported, mut repeated, end) = (HashSet::new(), 0, Instant::now() + Duration::from_secs(150));
    while reported.len() < logins.len() {
        let Some(event) = endpoint.try_next_request() else {
            assert!(Instant::now() < end, "{} of {} logins have an event", reported.len(), logins.len());
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let session = text(&event.json(), "session_id").to_owned();
        assert!(logins.contains(&session), "{session} has an event, but is not a login");
        repeated += usize::from(!reported.insert(session));
    }
    (reported.len(), repeated)
}
