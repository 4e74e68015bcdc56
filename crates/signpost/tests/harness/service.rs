//! The server in this process, with a manual clock.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Integrator, Phone, database, until};
use jiff::{SignedDuration, Timestamp};
use reqwest::Client;
use secrecy::ExposeSecret;
use serde_json::Value;
use signpost::config::{Config, Origin, RawSettings};
use signpost::server::{App, HttpServer};
use signpost_platform::accounts::KeyId;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys::{self, KeyHash, NewKey};
use signpost_platform::accounts::{Account, Environment, Scope};
use signpost_platform::clock::Clock;
use signpost_store::random;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The default account.
const ACCOUNT: &str = "acme";
/// Start time of tests, with a fraction of a second like most times.
const START_TIME: Timestamp = Timestamp::constant(1_800_000_000, 250_000_000);

#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) app: Arc<App>,
    pub(crate) clock: Clock,
    pub(crate) metrics_listen: Option<std::net::SocketAddr>,
    http: Client,
    stop: CancellationToken,
    running: JoinHandle<anyhow::Result<()>>,
}

/// An event in the outbox.
#[derive(Clone, Debug)]
pub(crate) struct QueuedEvent {
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) attempts: i64,
    pub(crate) next_attempt_at: Timestamp,
    pub(crate) is_running: bool,
    pub(crate) body: Value,
    pub(crate) last_status: Option<i64>,
    pub(crate) last_error: Option<String>,
}

impl Service {
    /// Starts a server with an in-memory database.
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Starts a server with an in-memory database and changed settings. Limits are off unless set.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        let url = database().await;
        let settings = [&[("database_url", url.as_str())], settings].concat();
        Self::open(&settings, Clock::manual(START_TIME)).await
    }

    /// Starts a server on a data folder, with a clock that other servers may share.
    pub(crate) async fn on(folder: &Path, clock: &Clock, settings: &[(&str, &str)]) -> Self {
        let folder = folder.to_str().expect("a UTF-8 path");
        Self::open(&[&[("data_dir", folder)], settings].concat(), clock.clone()).await
    }

    /// Returns a clock for consecutive servers.
    pub(crate) fn clock() -> Clock {
        Clock::manual(START_TIME)
    }

    /// Starts a server with these settings.
    pub(crate) async fn open(settings: &[(&str, &str)], clock: Clock) -> Self {
        let server = HttpServer::open(config(settings), clock.clone()).await.expect("a server");
        let (app, stop) = (Arc::clone(&server.app), CancellationToken::new());
        let metrics_listen = server.metrics_listen();
        let running = tokio::spawn(server.run(stop.clone().cancelled_owned()));
        Self { app, clock, metrics_listen, http: http(), stop, running }
    }

    /// Stops the server like SIGTERM.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.running.await.expect("no panic").expect("a clean end");
    }

    /// Creates a client with a new API key of the default account, in the sandbox.
    pub(crate) async fn integrator(&self) -> Integrator {
        self.integrator_of(ACCOUNT, Environment::Sandbox).await
    }

    /// Creates a client of the sandbox that has registered `shop.test`.
    pub(crate) async fn shop(&self) -> Integrator {
        let integrator = self.integrator().await;
        integrator.register_domain("shop.test").await;
        integrator
    }

    /// Creates a client with a new API key.
    pub(crate) async fn integrator_of(&self, account: &str, environment: Environment) -> Integrator {
        self.integrator_with_id(account, environment).await.0
    }

    /// Creates a client of the sandbox, whose API key has the scope `manage`.
    pub(crate) async fn manager(&self) -> Integrator {
        self.integrator_with_key(
            ACCOUNT,
            NewKey::new(Environment::Sandbox, random(), random()).with_scope(Scope::Manage),
        )
        .await
        .0
    }

    /// Creates a client with a new API key. Returns the client and the key's ID.
    pub(crate) async fn integrator_with_id(&self, account: &str, environment: Environment) -> (Integrator, KeyId) {
        self.integrator_with_key(account, NewKey::new(environment, random(), random())).await
    }

    async fn integrator_with_key(&self, account: &str, key: NewKey) -> (Integrator, KeyId) {
        let environment = KeyHash::parse(key.key.expose_secret()).expect("a key").0;
        let account = Account { name: account.to_owned(), environment };
        keys::sql::insert(&self.app.store, &Actor::Operator, &account, "a test's", &key, self.clock.now())
            .await
            .expect("a stored key");
        let integrator = Integrator {
            http: self.http.clone(),
            api: self.url(environment.path()),
            key: Some(key.key.expose_secret().to_owned()),
        };
        (integrator, key.id)
    }

    /// Returns a URL at the server's listening address, independent of its public URL.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.app.listen)
    }

    pub(crate) fn phone(&self) -> Phone {
        Phone::of(7, &self.clock)
    }

    /// Creates a client of the server's root, without an API key.
    pub(crate) fn visitor(&self) -> Integrator {
        Integrator { http: self.http.clone(), api: self.url(""), key: None }
    }

    /// Advances the clock and wakes waiting tasks.
    pub(crate) fn advance_clock(&self, time: SignedDuration) {
        self.clock.advance(time);
        self.app.login.outbox.notify_one();
    }

    /// Returns the events in the outbox, oldest first.
    pub(crate) async fn outbox(&self) -> Vec<QueuedEvent> {
        const ALL: &str = "SELECT id, state, attempts, next_attempt_at, leased_until, body, last_status, last_error
                           FROM deliveries ORDER BY created_at, id";
        let rows = self.app.store.read(ALL, Vec::new()).await.expect("a database");
        let read = |row: &signpost_store::Row| {
            anyhow::Ok(QueuedEvent {
                id: row.text(0)?.to_owned(),
                state: row.text(1)?.to_owned(),
                attempts: row.int(2)?,
                next_attempt_at: row.time(3)?,
                is_running: row.opt_time(4)?.is_some(),
                body: serde_json::from_str(row.text(5)?)?,
                last_status: row.opt_int(6)?,
                last_error: row.opt_text(7)?.map(str::to_owned),
            })
        };
        rows.iter().map(read).collect::<Result<_, _>>().expect("rows")
    }

    /// Waits until the worker has scanned the outbox twice: all work that is due has been started.
    pub(crate) async fn wait_for_outbox_scans(&self) {
        let looks = self.app.metrics.outbox_passes();
        until("the worker looks into the outbox", async || {
            self.app.login.outbox.notify_one();
            (self.app.metrics.outbox_passes() >= looks + 2).then_some(())
        })
        .await;
    }

    /// Waits until the only event in the outbox has had this many attempts and none is running.
    pub(crate) async fn wait_for_attempts(&self, attempts: i64) -> QueuedEvent {
        until(&format!("attempt {attempts}"), async || {
            let mut outbox = self.outbox().await;
            assert!(outbox.len() < 2, "{outbox:?}");
            outbox.pop().filter(|queued| queued.attempts == attempts && !queued.is_running)
        })
        .await
    }
}

/// Returns a URL of the Redis in `SIGNPOST_TEST_REDIS` that no other test uses.
pub(crate) fn redis() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    #[expect(clippy::disallowed_methods, reason = "the variable selects the Redis of the tests")]
    let server = std::env::var("SIGNPOST_TEST_REDIS").expect("SIGNPOST_TEST_REDIS: tests/postgres.sh starts one");
    format!("{}/{}", server.trim_end_matches('/'), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Returns a test configuration: no outbound requests, and no limits unless set.
pub(crate) fn config(settings: &[(&str, &str)]) -> Config {
    let mut raw = RawSettings::default();
    for (key, value) in [("listen", "127.0.0.1:0"), ("services", "auth"), ("dns_server", "127.0.0.1:1"), ("log", "off")]
    {
        raw.set(key, value, Origin::Flag);
    }
    let limits =
        ["create_session", "get_session", "verify", "domains", "answer", "submissions", "reports", "mcp", "sse"];
    for limit in limits.into_iter().chain(["token", "map"]) {
        raw.set(&format!("rate_limit_{limit}"), "off", Origin::Flag);
    }
    for (key, value) in settings {
        raw.set(key, *value, Origin::Flag);
    }
    Config::new(&raw).expect("a configuration")
}

#[expect(clippy::disallowed_methods, reason = "the tests are clients, outside of the program")]
pub(crate) fn http() -> Client {
    // An error means that a server of this process has already installed the provider.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().expect("a client")
}
