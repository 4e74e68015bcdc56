//! The demo: a server with its data in memory, and a shop that logs people in by it, exactly as another site would.

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

/// Who has the shop's key and domain.
const ACCOUNT: &str = "demo";
const KEY_NAME: &str = "demo shop";
/// How many ports are tried from the first one on.
const MOST_PORTS: u16 = 100;

/// A demo that runs until it is told to end.
#[derive(Debug)]
pub struct Demo {
    /// Where browsers find the server.
    pub server: String,
    /// Where programs find its MCP endpoint.
    pub mcp: String,
    /// Where browsers find the shop.
    pub shop: String,
    /// Where browsers find the wallet.
    pub wallet: String,
    ending: CancellationToken,
    serving: [JoinHandle<Result<()>>; 2],
}

impl Demo {
    /// Starts server and shop.
    ///
    /// # Errors
    /// One line that says what to change: no port is free, the data folder cannot be written.
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
        let (origin, login_host) = (PublicOrigin::of(&address), app.public_address.clone());
        let router =
            routes::router(ShopParts { origin, login_host, domain, api, visitors: Visitors::default() }.into());
        let (proxies, draining) = (app.proxies.clone(), ending.clone());
        let serving_shop = tokio::spawn(async move {
            http::serve(listener, router.into(), ConnectionLimits::of_server(), &proxies, draining).await;
            Ok(())
        });
        let (server, mcp) = (app.public_address.clone(), format!("{}/mcp", app.base_url));
        let wallet = app.login.wallet_url(Environment::Sandbox).context("the demo has a wallet")?;
        Ok(Self { server, mcp, wallet, shop: address, ending, serving: [serving_app, serving_shop] })
    }

    /// Runs until `shutdown`, then ends both.
    ///
    /// # Errors
    /// Where the server fails.
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

/// Where the shop listens: behind the server, or at any free port where the server took one too.
async fn listen_for_shop(asked: SocketAddr, server: SocketAddr) -> Result<TcpListener> {
    let next = if asked.port() == 0 { 0 } else { server.port().saturating_add(1) };
    let address = free_address(SocketAddr::new(server.ip(), next))?;
    TcpListener::bind(address).await.with_context(|| format!("the shop cannot listen on {address}"))
}

/// The first address from this one on whose port nobody uses on this machine, neither in IPv4 nor in IPv6: a browser
/// that looks for `localhost` tries both. Port 0 is any free one.
///
/// # Errors
/// Where all that are tried are in use.
pub fn free_address(first: SocketAddr) -> Result<SocketAddr> {
    let is_free = |port: u16| {
        [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()].into_iter().all(|ip| {
            // A machine without IPv6 has nobody there either.
            match StdListener::bind((ip, port)) {
                Ok(_) => true,
                Err(error) => error.kind() == std::io::ErrorKind::AddrNotAvailable,
            }
        })
    };
    if first.port() == 0 {
        return Ok(first);
    }
    let last = first.port().saturating_add(MOST_PORTS - 1);
    let port = (first.port()..=last).find(|port| is_free(*port));
    let port =
        port.with_context(|| format!("no port from {} to {last} is free: name another with --listen", first.port()))?;
    Ok(SocketAddr::new(first.ip(), port))
}

/// A new key for the shop; those of earlier runs on the same data end.
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
        ApiError::Away(error) => error.context("the shop cannot reach the server"),
        ApiError::Refused { status, code, details } => {
            anyhow!("the server refused the shop's domain: {status} {code} {details}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_somebody_has_is_passed_over_in_both_families() {
        for ip in [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()] {
            // Without IPv6 there is nobody to meet.
            let Ok(taken) = StdListener::bind((ip, 0)) else { continue };
            let taken = taken.local_addr().unwrap().port();
            let found = free_address(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), taken)).unwrap();
            assert!(found.port() > taken && found.ip() == IpAddr::from(Ipv4Addr::LOCALHOST), "{found}");
        }
    }

    #[test]
    fn any_free_port_is_left_to_the_system() {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        assert_eq!(free_address(any).unwrap(), any);
    }
}
