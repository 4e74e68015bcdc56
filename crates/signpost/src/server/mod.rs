//! The life cycle of the server: opens the database, listens, serves requests, drains, and closes.

mod app;
mod changes;
pub mod health;
mod memory;
mod reference;
mod root;
pub mod routes;
pub mod schema;
mod scrape;
mod starting;
mod visitors;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::FutureExt;
use signpost_atm::AtmService;
use signpost_atm::catalogue::Catalogue;
use signpost_atm::places::geocoder::Geocoder;
use signpost_atm::visitors::VisitorLookup;
use signpost_login::LoginService;
use signpost_login::domains::{DomainVerifier, system_domain};
use signpost_login::events;
use signpost_openid::OpenidService;
use signpost_openid::flows::OpenidSignIns;
use signpost_platform::accounts::audit::refusals::RejectionCounter;
use signpost_platform::accounts::keys::cache::KeyCache;
use signpost_platform::clock::Clock;
use signpost_platform::interval::run_every;
use signpost_platform::limits::Limits;
use signpost_platform::observe::metrics::Metrics;
use signpost_platform::observe::wrong_host_log::WrongHostLog;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::outbound::{NameResolver, Outbound};
use signpost_platform::redis::Redis;
use signpost_platform::{Platform, PlatformParts};
use signpost_server::{self as http, ConnectionLimits};
use signpost_store::{DatabaseLock, Store, is_postgres, lock};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::starting::StartingServer;
use self::visitors::SystemDomainVisitors;
use crate::config::{Config, Service};
use crate::deployment::public_address::{self, log_unsafe_settings};
use crate::deployment::servers::{ANNOUNCE_INTERVAL, AnnouncedServer};

pub use self::app::App;

/// Timeout for requests in progress when the server stops. The server ends within ten seconds; the
/// remainder is for the database and for work on other threads.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(9);
/// Timeout for closing the database after the requests have ended.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(400);
/// Timeout for work on other threads after the database was closed.
pub(crate) const THREADS_TIMEOUT: Duration = Duration::from_millis(400);

/// A server that has opened its listen address and its database, and is ready to serve.
#[derive(Debug)]
pub struct HttpServer {
    /// The services.
    pub app: Arc<App>,
    listener: TcpListener,
    metrics: Option<TcpListener>,
    announced: AnnouncedServer,
    /// The lock of an embedded database. It is held while the server runs, because two servers on
    /// an embedded database would deliver every event twice.
    lock: Option<DatabaseLock>,
}

impl HttpServer {
    /// Opens the address and the database, and loads the catalogue. Until then, requests get 503.
    ///
    /// # Errors
    /// Returns an error if the address is in use, the data folder cannot be written, another server uses the database,
    /// a newer version wrote it, the database server was not ready in time, or the secrets are encrypted with another
    /// key.
    pub async fn open(config: Config, clock: Clock) -> Result<Self> {
        if config.database_url.is_none() {
            prepare_data_dir(&config.data_dir)?;
        }
        let lock = config.database_file().map(|file| lock(&file)).transpose()?;
        let listener = TcpListener::bind(config.listen).await;
        let listener = listener
            .with_context(|| format!("cannot listen on {}: choose another address with --listen", config.listen))?;
        let listen = listener.local_addr()?;
        let metrics_listener = scrape::listen(&config).await?;
        let metrics = Metrics::default();
        let starting = StartingServer::new(&config, &clock, listen, &metrics);
        let opening = Box::pin(open_app(config, clock, listen, metrics, lock.as_ref()));
        let app = Box::pin(starting.serve_while(&listener, metrics_listener.as_ref(), opening)).await?;
        if lock.is_some() {
            events::sql::free_leases(&app.store).await?;
        }
        let is_embedded = !is_postgres(&app.config.database_url());
        let announced = AnnouncedServer::announce(&app.store, &app.login.seal, is_embedded, app.clock.now()).await?;
        log_unsafe_settings(&app.config);
        Ok(Self { app, listener, metrics: metrics_listener, announced, lock })
    }

    /// Returns the address of the metrics.
    #[must_use]
    pub fn metrics_listen(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves until `shutdown`, and for `shutdown_delay` after it; then stops accepting, finishes requests within 10 s,
    /// and closes the database.
    ///
    /// # Errors
    /// Never: errors of requests are answered and logged.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let Self { app, listener, metrics, announced, lock } = self;
        log_start(&app);
        let mut background = Vec::new();
        if app.config.services.contains(&Service::Auth) {
            background.extend(signpost_login::jobs::spawn_all(&app.login));
            background.extend(signpost_openid::jobs::spawn_all(&app.openid));
        }
        if let Some(listener) = metrics {
            background.push(tokio::spawn(scrape::run(Arc::clone(&app), listener)));
        }
        background.push(tokio::spawn(changes::run(Arc::clone(&app))));
        background.push(tokio::spawn(memory::purge_regularly(app.draining.clone())));
        // An embedded database has a single server, guarded by its lock.
        if is_postgres(&app.config.database_url()) {
            background.push(tokio::spawn(keep_announced(Arc::clone(&app), announced.clone())));
        }
        background.extend(app.platform.spawn_jobs());
        if app.config.services.contains(&Service::Atm) {
            background.extend(signpost_atm::jobs::spawn_all(&app.atm));
        }
        let stopping = app.stopping.clone();
        let draining = app.draining.clone();
        let delay = app.config.shutdown_delay;
        tokio::spawn(async move {
            shutdown.await;
            stopping.cancel();
            tokio::time::sleep(delay).await;
            draining.cancel();
        });
        let limits = ConnectionLimits::for_server();
        let draining = app.draining.clone();
        let serving = http::serve(listener, routes::front(&app), limits, &app.proxies, draining);
        let background = futures_util::future::join_all(background);
        let running = async { drop(tokio::join!(serving, background)) };
        let close = async {
            // If this fails, the announcement expires.
            drop(announced.withdraw(&app.store).await);
            drop(lock.as_ref().map(DatabaseLock::clear_record));
            app.store.close().await;
        };
        end(&app.draining, [DRAIN_TIMEOUT, CLOSE_TIMEOUT], running, close).await;
        tracing::info!("server stopped");
        Ok(())
    }
}

/// Opens the database, loads the catalogue and builds the services.
async fn open_app(
    config: Config,
    clock: Clock,
    listen: SocketAddr,
    metrics: Metrics,
    lock: Option<&DatabaseLock>,
) -> Result<Arc<App>> {
    let store = starting::open_database(&config, &clock, listen, lock).await?;
    let outbound = Outbound::new(&NameResolver::System);
    let catalogue = open_catalogue(&config, &store, &clock, &outbound).await?;
    let redis = match &config.redis_url {
        Some(url) => Some(Redis::open(url).await?),
        None => None,
    };
    let public_address = config.public_address(listen);
    let platform = Platform::from(PlatformParts {
        clock,
        is_https: config.is_https(),
        is_loopback_only: config.is_loopback_only(),
        listen,
        base_url: config.base_url(listen),
        origin: PublicOrigin::new(&public_address),
        public_address,
        public_url: config.public_url.clone(),
        proxies: config.proxies.clone(),
        store,
        keys: KeyCache::default(),
        refusals: RejectionCounter::default(),
        wrong_host_log: WrongHostLog::default(),
        limits: Limits::new(config.rates.clone(), redis.clone()),
        redis,
        outbound,
        metrics,
        stopping: CancellationToken::new(),
        draining: CancellationToken::new(),
    });
    let domain_verifier = DomainVerifier::new(name_server(&config));
    let login = LoginService::new(platform.clone(), config.login.clone(), domain_verifier, &OpenidSignIns);
    let runs_login = config.services.contains(&Service::Auth);
    let visitors = runs_login.then(|| Arc::new(SystemDomainVisitors(login.clone())) as Arc<dyn VisitorLookup>);
    let atm = AtmService::new(platform.clone(), config.atm.clone(), catalogue, visitors);
    let openid = OpenidService::new(login.clone());
    let app = Arc::new(App { config, platform, login, openid, atm });
    public_address::record(&app.store, &app.public_address).await?;
    if runs_login {
        system_domain::find_or_register(&app.store, app.public_url.as_ref(), &app.public_address, app.clock.now())
            .await?;
    }
    Ok(app)
}

/// Announces the server regularly until it drains.
async fn keep_announced(app: Arc<App>, announced: AnnouncedServer) {
    run_every(ANNOUNCE_INTERVAL, &app.draining, "could not announce this server", || {
        announced.announce_again(&app.store, app.clock.now())
    })
    .await;
}

fn log_start(app: &App) {
    let data_dir = std::path::absolute(&app.config.data_dir).unwrap_or_else(|_| app.config.data_dir.clone());
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        listen = %app.listen,
        public_address = app.public_address.as_str(),
        data_dir = %data_dir.display(),
        database = app.config.database_shown(),
        "server started"
    );
}

/// Opens the catalogue; without the locator, an empty catalogue.
async fn open_catalogue(config: &Config, store: &Store, clock: &Clock, outbound: &Outbound) -> Result<Catalogue> {
    if !config.services.contains(&Service::Atm) {
        return Catalogue::none();
    }
    let geocoder = config.atm.external_geocoder.clone().map(|settings| Geocoder::new(settings, outbound.clone()));
    Catalogue::open(store, clock, &config.data_dir, config.atm.advisories.as_deref(), geocoder).await
}

/// Waits for `running` and then for `close`; once the server drains, no longer than `within`.
async fn end(
    draining: &CancellationToken,
    within: [Duration; 2],
    running: impl Future<Output = ()>,
    close: impl Future<Output = ()>,
) {
    let over = async {
        draining.cancelled().await;
        tokio::time::sleep(within[0]).await;
    };
    let over = over.shared();
    tokio::select! {
        () = running => {}
        () = over.clone() => tracing::warn!("shutdown deadline reached; aborted the remaining requests"),
    }
    let over = async {
        over.await;
        tokio::time::sleep(within[1]).await;
    };
    tokio::select! {
        () = close => {}
        () = over => tracing::warn!("the database did not close in time; every acknowledged write is on disk"),
    }
}

/// Returns the name server for TXT records.
pub(crate) fn name_server(config: &Config) -> NameResolver {
    NameResolver::uncached(config.login.dns_server).unwrap_or_else(|error| {
        tracing::warn!(
            error = format!("{error:#}"),
            "no name server configured: domains cannot be verified by TXT record"
        );
        NameResolver::System
    })
}

/// Creates the data folder. Only its owner can read it, because it contains the webhook secrets.
///
/// # Errors
/// Returns an error if the folder cannot be created.
pub fn prepare_data_dir(data_dir: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(data_dir).with_context(|| {
        format!("cannot create the data folder {}: choose another with --data-dir", data_dir.display())
    })
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn stopping_server_ends_in_time() {
        let draining = CancellationToken::new();
        draining.cancel();
        let soon = Duration::from_millis(1);
        end(&draining, [soon; 2], pending(), pending()).await;
        end(&draining, [soon; 2], async {}, pending()).await;
        assert!(DRAIN_TIMEOUT + CLOSE_TIMEOUT + THREADS_TIMEOUT < Duration::from_secs(10), "the documented maximum");
    }

    #[tokio::test]
    async fn closing_waits_for_running_work() {
        let (ended, closed) = (CancellationToken::new(), CancellationToken::new());
        let running = async {
            tokio::task::yield_now().await;
            ended.cancel();
        };
        let close = async {
            assert!(ended.is_cancelled());
            closed.cancel();
        };
        end(&CancellationToken::new(), [Duration::ZERO; 2], running, close).await;
        assert!(closed.is_cancelled());
    }
}
