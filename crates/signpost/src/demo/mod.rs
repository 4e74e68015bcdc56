//! The demo: a server with its data in memory, and a sample shop that uses the server's login like
//! any other site.

mod api;
mod link;
mod login;
mod pages;
mod routes;
mod shop;
mod visitors;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener as StdListener};

use anyhow::{Context, Result, anyhow};
use secrecy::SecretString;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys::{self, NewKey};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::clock::Clock;
use signpost_platform::origin::PublicOrigin;
use signpost_store::{Store, WriteError, random};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::api::{ApiError, ShopApi};
use self::shop::ShopParts;
use self::visitors::Visitors;
use crate::config::Config;
use crate::server::HttpServer;
use signpost_server::{self as http, ConnectionLimits};

/// Account of the shop's key and domain.
const ACCOUNT: &str = "demo";
const KEY_NAME: &str = "demo shop";
/// Maximum number of ports that are tried.
const MAX_PORTS: u16 = 100;

/// A running demo.
#[derive(Debug)]
pub struct Demo {
    /// The URL of the server.
    pub server: String,
    /// The URL of the MCP endpoint.
    pub mcp: String,
    /// The URL of the shop.
    pub shop: String,
    /// The URL of the wallet.
    pub wallet: String,
    ending: CancellationToken,
    serving: [JoinHandle<Result<()>>; 2],
}

impl Demo {
    /// Starts the server and the shop.
    ///
    /// # Errors
    /// Returns an error if no port is free, or the data folder cannot be written.
    pub async fn start(config: Config) -> Result<Self> {
        let server = HttpServer::open(config, Clock::System).await?;
        let app = server.app.clone();
        let listener = listen_for_shop(app.config.listen, app.listen).await?;
        let address = format!("http://localhost:{}", listener.local_addr()?.port());
        let base = format!("{}{}", app.base_url, Environment::Sandbox.path());
        let api = ShopApi::new(app.outbound.clone(), base, new_key(&app.store).await?);
        let ending = CancellationToken::new();
        let serving_app = tokio::spawn(server.run(ending.clone().cancelled_owned()));
        let domain = match api.register_domain(&address).await {
            Ok(domain) => domain,
            Err(error) => {
                ending.cancel();
                drop(serving_app.await);
                return Err(into_error(error));
            }
        };
        let parts = ShopParts {
            origin: PublicOrigin::new(&address),
            login_host: app.public_address.clone(),
            domain,
            api,
            visitors: Visitors::default(),
        };
        let router = routes::router(parts.into());
        let proxies = app.proxies.clone();
        let draining = ending.clone();
        let serving_shop = tokio::spawn(async move {
            http::serve(listener, router.into(), ConnectionLimits::for_server(), &proxies, draining).await;
            Ok(())
        });
        Ok(Self {
            server: app.public_address.clone(),
            mcp: format!("{}/mcp", app.base_url),
            wallet: app.login.wallet_url(Environment::Sandbox).context("the demo has a wallet")?,
            shop: address,
            ending,
            serving: [serving_app, serving_shop],
        })
    }

    /// Runs until `shutdown`, then stops the server and the shop.
    ///
    /// # Errors
    /// Returns an error if the server fails.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<()> {
        let Self { ending, serving, .. } = self;
        shutdown.await;
        ending.cancel();
        for one in serving {
            one.await.context("a part of the demo broke")??;
        }
        Ok(())
    }
}

/// Listens on the next free port after the server's, or on any free port if the server uses any.
async fn listen_for_shop(asked: SocketAddr, server: SocketAddr) -> Result<TcpListener> {
    let next = if asked.port() == 0 { 0 } else { server.port().saturating_add(1) };
    let address = free_address(SocketAddr::new(server.ip(), next))?;
    TcpListener::bind(address).await.with_context(|| format!("the shop cannot listen on {address}"))
}

/// Returns the first address, starting with `first`, with a port that is free on this machine in IPv4 and IPv6, because
/// browsers try both for `localhost`. Port 0 is any free port.
///
/// # Errors
/// Returns an error if 100 ports are in use.
pub fn free_address(first: SocketAddr) -> Result<SocketAddr> {
    if first.port() == 0 {
        return Ok(first);
    }
    let last = first.port().saturating_add(MAX_PORTS - 1);
    let port = (first.port()..=last).find(|port| is_free(*port));
    let port =
        port.with_context(|| format!("no port from {} to {last} is free: name another with --listen", first.port()))?;
    Ok(SocketAddr::new(first.ip(), port))
}

fn is_free(port: u16) -> bool {
    [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()].into_iter().all(|ip| {
        match StdListener::bind((ip, port)) {
            Ok(_) => true,
            // A port is also free on a machine without IPv6.
            Err(error) => error.kind() == std::io::ErrorKind::AddrNotAvailable,
        }
    })
}

/// Creates a key for the shop, and revokes the keys of earlier runs on this database.
async fn new_key(store: &Store) -> Result<SecretString> {
    let now = Clock::System.now();
    let earlier = keys::sql::list(store).await?;
    for key in earlier.iter().filter(|key| key.account == ACCOUNT && key.name == KEY_NAME && key.revoked_at.is_none()) {
        match keys::sql::revoke(store, &Actor::Operator, &key.id, now).await {
            Ok(()) | Err(WriteError::Conflict) => {}
            Err(WriteError::Internal(error)) => return Err(error),
        }
    }
    let account = Account { name: ACCOUNT.to_owned(), environment: Environment::Sandbox };
    let key = NewKey::new(account.environment, random(), random());
    keys::sql::insert(store, &Actor::Operator, &account, KEY_NAME, &key, now).await?;
    Ok(key.key)
}

fn into_error(error: ApiError) -> anyhow::Error {
    match error {
        ApiError::Unavailable(error) => error.context("the shop cannot reach the server"),
        ApiError::Refused { status, code, details } => {
            anyhow!("the server refused the shop's domain: {status} {code} {details}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_port_is_skipped_in_ipv4_and_ipv6() {
        for ip in [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()] {
            // Without IPv6 there is no conflict.
            let Ok(taken) = StdListener::bind((ip, 0)) else { continue };
            let taken = taken.local_addr().unwrap().port();
            let found = free_address(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), taken)).unwrap();
            assert!(found.port() > taken && found.ip() == IpAddr::from(Ipv4Addr::LOCALHOST), "{found}");
        }
    }

    #[test]
    fn port_zero_is_unchanged() {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        assert_eq!(free_address(any).unwrap(), any);
    }
}
