//! Parses PostgreSQL connection URLs and opens connections.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::migrate::{Migration, SERVER, newest_version};

/// Timeout of opening a connection.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of hosts in a database address.
const MAX_HOSTS: usize = 16;
/// Sets the timeout of statements, and of transactions in which the client no longer responds.
const SESSION_SETTINGS: &str = "SET statement_timeout = '20s'; SET idle_in_transaction_session_timeout = '20s'";

/// A parsed PostgreSQL connection URL.
#[derive(Clone)]
pub(super) struct PostgresAddress {
    config: Config,
    tls: MakeRustlsConnect,
}

/// The parts of a connection URL, before the file with the root certificates is read.
struct UrlParts {
    config: Config,
    /// The value of the parameter `sslrootcert`.
    roots: Option<PathBuf>,
}

/// The protocol driver of a connection. It must be polled.
pub(super) type Wire = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

impl PostgresAddress {
    /// Parses `postgres://…`. With `sslmode` `require`, `verify-ca` or `verify-full` the connection is encrypted, and
    /// the server's certificate and name are checked against `sslrootcert` (a PEM file) or the root certificates of the
    /// system; without it, or with `disable`, the connection is not encrypted. Of several hosts, separated by commas,
    /// the first that accepts writes is used.
    pub(super) fn parse(url: &str, migrations: &[Migration]) -> Result<Self> {
        let UrlParts { mut config, roots } = UrlParts::parse(url)?;
        if config.get_application_name().is_none() {
            config.application_name(format!("{SERVER}{}", newest_version(migrations)));
        }
        let is_encrypted = config.get_ssl_mode() == SslMode::Require;
        Ok(Self { config, tls: MakeRustlsConnect::new(tls(is_encrypted, roots.as_deref())?) })
    }

    /// Returns `true` if connections are not encrypted although they leave this host.
    pub(super) fn is_exposed(&self) -> bool {
        self.config.get_ssl_mode() == SslMode::Disable && self.config.get_hosts().iter().any(is_remote)
    }

    /// Opens a connection. The client works only while the returned driver is polled.
    pub(super) async fn open(&self) -> Result<(Client, Wire)> {
        Ok(tokio::time::timeout(CONNECT_TIMEOUT, self.config.connect(self.tls.clone())).await??)
    }

    /// Opens a connection and runs `setting` on it, an SQL statement that configures the session.
    pub(super) async fn connect(&self, setting: &str) -> Result<Client> {
        let (client, wire) = self.open().await?;
        tokio::spawn(async { drop(wire.await) });
        tokio::time::timeout(CONNECT_TIMEOUT, client.batch_execute(&format!("{SESSION_SETTINGS}; {setting}")))
            .await??;
        Ok(client)
    }
}

impl UrlParts {
    fn parse(url: &str) -> Result<Self> {
        let (plain, query) = url.split_once('?').unwrap_or((url, ""));
        let mut mode = "disable";
        let mut roots = None;
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = value,
                Some(("sslrootcert", value)) => {
                    roots = Some(percent_encoding::percent_decode_str(value).decode_utf8()?.into_owned().into());
                }
                _ => others.push(pair),
            }
        }
        let mut config = Config::from_str(&format!("{plain}?{}", others.join("&")))
            .context("the database URL is not valid: use postgres://USER:PASSWORD@HOST:PORT/NAME")?;
        let hosts = config.get_hosts().len().max(config.get_hostaddrs().len());
        ensure!(hosts > 0 && hosts <= MAX_HOSTS, "the database URL must name 1 to {MAX_HOSTS} hosts");
        if hosts > 1 {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let is_encrypted = match mode {
            "disable" => false,
            "require" | "verify-ca" | "verify-full" => true,
            other => {
                bail!(
                    "sslmode={other} is not supported: use disable or verify-full (require and verify-ca mean the same)"
                )
            }
        };
        // A host that is down does not respond, so the timeout must leave time for the remaining
        // hosts.
        config.connect_timeout(CONNECT_TIMEOUT / u32::try_from(hosts)?);
        config.ssl_mode(if is_encrypted { SslMode::Require } else { SslMode::Disable });
        Ok(Self { config, roots })
    }
}

/// Returns `true` if a database URL has the scheme of PostgreSQL.
#[must_use]
pub fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

/// Returns `true` if [`Store::open`](crate::Store::open) can parse this PostgreSQL URL. Does not
/// read files or open connections.
#[must_use]
pub fn is_postgres_url(url: &str) -> bool {
    is_postgres(url) && UrlParts::parse(url).is_ok()
}

/// Returns `true` if a host is not this machine. Names that resolve to a private network count as
/// remote.
fn is_remote(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name != "localhost" && !name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback()),
        Host::Unix(_) => false,
    }
}

fn tls(is_used: bool, roots: Option<&Path>) -> Result<ClientConfig> {
    let mut store = RootCertStore::empty();
    match roots {
        _ if !is_used => {}
        Some(file) => {
            add_roots(&mut store, file)
                .with_context(|| format!("sslrootcert: {} cannot be read as PEM", file.display()))?;
        }
        None => drop(store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    Ok(config.with_safe_default_protocol_versions()?.with_root_certificates(store).with_no_client_auth())
}

fn add_roots(store: &mut RootCertStore, file: &Path) -> Result<()> {
    for certificate in CertificateDer::pem_file_iter(file)? {
        store.add(certificate?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_writable_host_is_used() {
        let of = |hosts: &str| PostgresAddress::parse(&format!("postgres://signpost@{hosts}/signpost"), &[]).unwrap();
        let (one, several) = (of("127.0.0.1").config, of("127.0.0.1:1,127.0.0.2:2").config);
        assert_eq!(one.get_target_session_attrs(), TargetSessionAttrs::Any);
        assert_eq!(several.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!((several.get_hosts().len(), several.get_ports()), (2, &[1, 2][..]));
        assert_eq!(one.get_connect_timeout(), Some(&CONNECT_TIMEOUT));
        assert!(several.get_connect_timeout().is_some_and(|time| *time * 2 <= CONNECT_TIMEOUT));
    }

    #[test]
    fn encryption_is_verified_or_off() {
        let mode = |query: &str| PostgresAddress::parse(&format!("postgres://signpost@127.0.0.1/signpost{query}"), &[]);
        let is_used = |query: &str| mode(query).map(|address| address.config.get_ssl_mode() == SslMode::Require);
        assert!(!is_used("").unwrap());
        assert!(!is_used("?sslmode=disable&connect_timeout=3").unwrap());
        for name in ["require", "verify-ca", "verify-full"] {
            assert!(is_used(&format!("?sslmode={name}")).unwrap(), "{name}");
        }
        for wrong in ["?sslmode=prefer", "?sslmode=allow", "?sslmode=require&sslrootcert=/no/such.pem", "?nonsense=1"] {
            assert!(is_used(wrong).is_err(), "{wrong}");
        }
    }
}
