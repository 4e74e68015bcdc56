//! The server's life: open, listen, serve, drain, close.

use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::app::{App, Parts};
use crate::atms::{self, Catalogue, Reports};
use crate::audit::{Refusals, refusals};
use crate::clock::Clock;
use crate::config::{Config, Service};
use crate::connections::{self, ConnectionLimits};
use crate::domains::{Prover, recheck};
use crate::geocoder::Geocoder;
use crate::kept::Kept;
use crate::keys::{KeyCache, used};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::outbound::{Names, Outbound};
use crate::public_address::say_what_is_unsafe;
use crate::redis::Redis;
use crate::sessions::{Session, Waiting};
use crate::store::{Store, lock};
use crate::{changes, http, metrics, outbox, retention};

/// How long requests that run may take to end once the server stops.
const DRAIN: Duration = Duration::from_secs(10);

/// A server that holds its database and its address, and serves nobody yet.
#[derive(Debug)]
pub struct Server {
    /// What its requests can reach.
    pub app: App,
    listener: TcpListener,
    metrics: Option<TcpListener>,
    /// Held as long as the server runs: two servers on one embedded database would deliver every event twice.
    _lock: Option<File>,
}

impl Server {
    /// Opens the database, loads the catalogue and takes the address.
    ///
    /// # Errors
    /// One line that says what to change: the address is in use, the data folder cannot be written, another server
    /// has the database, a newer program wrote it.
    pub async fn open(config: Config, clock: Clock) -> Result<Self> {
        if config.database_url.is_none() {
            prepare_data_dir(&config.data_dir)?;
        }
        let lock = config.database_file().map(|file| lock(&file)).transpose()?;
        let store = Store::open(&config.database_url())?.sealed_with(config.seal());
        store.check_move().await?;
        store.check_seal().await?;
        let outbound = Outbound::new(&Names::System);
        let geocoder = config.geocoder.clone().map(|settings| Geocoder::new(settings, outbound.clone()));
        let catalogue = if config.services.contains(&Service::Atm) {
            Catalogue::open(&store, &clock, &config.data_dir, geocoder).await?
        } else {
            Catalogue::none()?
        };
        let listener = TcpListener::bind(config.listen).await;
        let listener = listener
            .with_context(|| format!("cannot listen on {}: choose another address with --listen", config.listen))?;
        let listen = listener.local_addr()?;
        let names = names(&config);
        let redis = match &config.redis_url {
            Some(url) => Some(Redis::open(url).await?),
            None => None,
        };
        let app = App::from(Parts {
            clock,
            listen,
            base_url: config.base_url(listen),
            public_address: config.public_address(listen),
            store,
            keys: KeyCache::default(),
            refusals: Refusals::default(),
            limits: Limits::new(config.rates.clone(), redis.clone()),
            redis,
            catalogue: Arc::new(catalogue),
            reports: Reports::default(),
            outbound,
            prover: Prover::new(names),
            outbox: Arc::new(Notify::new()),
            sessions: Kept::new(Session::size),
            // A name, two addresses, and what signs.
            domains: Kept::new(|_| 2048),
            waiting: Waiting::default(),
            metrics: Metrics::default(),
            stopping: CancellationToken::new(),
            draining: CancellationToken::new(),
            config,
        });
        if lock.is_some() {
            app.store.free_deliveries().await?;
        }
        let metrics = metrics::listen(&app).await?;
        app.store.remember_public_address(&app.public_address).await?;
        say_what_is_unsafe(&app.config);
        Ok(Self { app, listener, metrics, _lock: lock })
    }

    /// Where the metrics are served, if anywhere.
    #[must_use]
    pub fn metrics_listen(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves until `shutdown` and as long as `shutdown_delay` says behind it, then stops accepting, finishes what runs within 10 s, and closes the database.
    ///
    /// # Errors
    /// None today: what fails while it serves is answered and logged there.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let Self { app, listener, metrics, _lock } = self;
        let mut background = Vec::new();
        if app.config.services.contains(&Service::Auth) {
            background.push(tokio::spawn(outbox::worker::run(app.clone())));
            background.push(tokio::spawn(retention::run(app.clone())));
            background.push(tokio::spawn(recheck::run(app.clone())));
        }
        if let Some(listener) = metrics {
            background.push(tokio::spawn(metrics::run(app.clone(), listener)));
        }
        background.push(tokio::spawn(changes::run(app.clone())));
        background.push(tokio::spawn(refusals::run(app.clone())));
        background.push(tokio::spawn(used::run(app.clone())));
        if app.config.services.contains(&Service::Atm) {
            let app = app.clone();
            background.push(tokio::spawn(atms::feeds::run(app.clone())));
            background.push(tokio::spawn(async move { atms::watch(&app.store, &app.catalogue, &app.draining).await }));
        }
        let (stopping, draining, delay) = (app.stopping.clone(), app.draining.clone(), app.config.shutdown_delay);
        tokio::spawn(async move {
            shutdown.await;
            stopping.cancel();
            tokio::time::sleep(delay).await;
            draining.cancel();
        });
        let (router, proxies) = (http::router(&app), &app.config.trusted_proxies);
        let serving =
            connections::serve(listener, router, ConnectionLimits::of_server(), proxies, app.draining.clone());
        let background = futures_util::future::join_all(background);
        within_drain(&app, async { drop(tokio::join!(serving, background)) }).await;
        app.store.close().await;
        Ok(())
    }
}

/// Who is asked for proofs of domains.
fn names(config: &Config) -> Names {
    Names::uncached(config.dns_server).unwrap_or_else(|error| {
        tracing::warn!(error = format!("{error:#}"), "no name server is configured: domains cannot be proved by TXT");
        Names::System
    })
}

/// Waits for `work`, but once the server drains no longer than [`DRAIN`].
async fn within_drain(app: &App, work: impl Future<Output = ()>) {
    let too_long = async {
        app.draining.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        () = work => {}
        () = too_long => tracing::warn!("shutdown deadline reached; aborted the remaining requests"),
    }
}

/// Makes the data folder, for its owner's eyes only: it holds the webhook secrets.
///
/// # Errors
/// Where it cannot be made.
pub fn prepare_data_dir(data_dir: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(data_dir)
        .with_context(|| format!("cannot make the data folder {}: choose another with --data-dir", data_dir.display()))
}
