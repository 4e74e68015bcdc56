//! Where the server is, and how it is reached.

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

use crate::migrate::{Migration, SERVER, known};

/// How long a connection may take to stand.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
/// Maximum number of hosts in a database address.
const MAX_HOSTS: usize = 16;
/// A statement that takes longer is ended by the server; it is also how long a dead client holds its locks.
const SESSION: &str = "SET statement_timeout = '20s'; SET idle_in_transaction_session_timeout = '20s'";

/// A database address, read.
#[derive(Clone)]
pub(super) struct PostgresAddress {
    config: Config,
    tls: MakeRustlsConnect,
}

/// What the URL of a database says, before the file with the roots is read.
struct UrlParts {
    config: Config,
    /// The value of `sslrootcert`.
    roots: Option<PathBuf>,
}

/// What speaks the protocol on a connection, and has to be polled for that.
pub(super) type Wire = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

impl PostgresAddress {
    /// Reads `postgres://…`. With `sslmode` `require`, `verify-ca` or `verify-full` the connection is encrypted and the
    /// server's certificate and name are checked, against `sslrootcert` (a PEM file) or what the system trusts; without
    /// it, or with `disable`, it is not encrypted. Of several hosts, separated by commas, the first is taken that takes
    /// writes.
    pub(super) fn parse(url: &str, migrations: &[Migration]) -> Result<Self> {
        let UrlParts { mut config, roots } = UrlParts::parse(url)?;
        if config.get_application_name().is_none() {
            config.application_name(format!("{SERVER}{}", known(migrations)));
        }
        let is_encrypted = config.get_ssl_mode() == SslMode::Require;
        Ok(Self { config, tls: MakeRustlsConnect::new(tls(is_encrypted, roots.as_deref())?) })
    }

    /// Returns whether connections cross a network without encryption.
    pub(super) fn is_exposed(&self) -> bool {
        self.config.get_ssl_mode() == SslMode::Disable && self.config.get_hosts().iter().any(is_far)
    }

    /// Opens a connection; the second part has to be polled for the first to work.
    pub(super) async fn open(&self) -> Result<(Client, Wire)> {
        Ok(tokio::time::timeout(CONNECT, self.config.connect(self.tls.clone())).await??)
    }

    /// A connection that works, its session set up with this besides.
    pub(super) async fn connect(&self, setting: &str) -> Result<Client> {
        let (client, wire) = self.open().await?;
        tokio::spawn(async { drop(wire.await) });
        tokio::time::timeout(CONNECT, client.batch_execute(&format!("{SESSION}; {setting}"))).await??;
        Ok(client)
    }
}

impl UrlParts {
    fn parse(url: &str) -> Result<Self> {
        let (plain, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut roots, mut others) = ("disable", None, Vec::new());
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
        // A machine that is off answers nothing: there must be time left for the others.
        config.connect_timeout(CONNECT / u32::try_from(hosts)?);
        config.ssl_mode(if is_encrypted { SslMode::Require } else { SslMode::Disable });
        Ok(Self { config, roots })
    }
}

/// Returns whether an address is that of a PostgreSQL server.
#[must_use]
pub fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

/// Checks whether this is the address of a PostgreSQL server that [`Store::open`](crate::Store::open) can use, without
/// reading files and without connecting to it.
#[must_use]
pub fn is_postgres_url(url: &str) -> bool {
    is_postgres(url) && UrlParts::parse(url).is_ok()
}

/// Whether a host is not this machine. A name may be a neighbour's on a private network, which nobody can tell here.
fn is_far(host: &Host) -> bool {
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
            let unreadable = || format!("sslrootcert: {} cannot be read as PEM", file.display());
            for certificate in CertificateDer::pem_file_iter(file).with_context(unreadable)? {
                store.add(certificate.with_context(unreadable)?).with_context(unreadable)?;
            }
        }
        None => drop(store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    Ok(config.with_safe_default_protocol_versions()?.with_root_certificates(store).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_hosts_the_one_that_takes_writes_is_taken_and_each_has_its_share_of_the_time() {
        let of = |hosts: &str| PostgresAddress::parse(&format!("postgres://signpost@{hosts}/signpost"), &[]).unwrap();
        let (one, several) = (of("127.0.0.1").config, of("127.0.0.1:1,127.0.0.2:2").config);
        assert_eq!(one.get_target_session_attrs(), TargetSessionAttrs::Any);
        assert_eq!(several.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!((several.get_hosts().len(), several.get_ports()), (2, &[1, 2][..]));
        assert_eq!(one.get_connect_timeout(), Some(&CONNECT));
        assert!(several.get_connect_timeout().is_some_and(|time| *time * 2 <= CONNECT));
    }

    #[test]
    fn encryption_is_checked_or_absent_and_never_a_matter_of_luck() {
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
