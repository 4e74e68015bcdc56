//! What the operator decided, in two steps: [`Written`] is what stands in the flags, the environment and the files;
//! [`Config`] is what it means.

mod parse;
mod written;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use signpost_mcp::Origins;
use url::{Host, Url};

use crate::atm::places::geocoder;
use crate::login::domains::seal::{Seal, SealKey};
use crate::platform::accounts::Environment;
use crate::platform::limits::{Proxies, Rates};
use crate::platform::outbound::Reach;

use parse::Reader;
pub use written::{BadSetting, Origin, Written};

/// The defaults and the reference, as the program carries them.
pub const DEFAULT: &str = include_str!("../../config.default.toml");

/// A part of the program that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// The ATM locator.
    Atm,
    /// Passwordless authentication.
    Auth,
}

/// Whether webhooks may reach private addresses and plain http.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivateWebhooks {
    /// Plain http to loopback, in the sandbox only, while the server listens on loopback and neither a public URL nor a
    /// trusted proxy is set.
    Auto,
    /// Everything.
    Allowed,
    /// Nothing.
    Refused,
}

/// The configuration, typed. Each field is a key of `config.default.toml`, which describes it.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "config.default.toml is the reference")]
pub struct Config {
    pub listen: SocketAddr,
    pub data_dir: PathBuf,
    pub database_url: Option<String>,
    pub redis_url: Option<String>,
    pub public_url: Option<Url>,
    pub services: BTreeSet<Service>,
    pub allowed_origins: Origins,
    pub rates: Rates,
    pub session_ttl: Duration,
    pub shutdown_delay: Duration,
    pub require_verified_domains: bool,
    pub allow_private_webhooks: PrivateWebhooks,
    pub webhook_retry_schedule: Vec<Duration>,
    pub dns_server: Option<SocketAddr>,
    pub trusted_proxies: Proxies,
    pub geocoder: Option<geocoder::Settings>,
    pub metrics_listen: Option<SocketAddr>,
    pub otlp_endpoint: Option<Url>,
    pub seal_key: Option<SealKey>,
    pub seal_key_old: Option<SealKey>,
    pub log: tracing::level_filters::LevelFilter,
}

impl Config {
    /// What was written, understood.
    ///
    /// # Errors
    /// [`BadSetting`] for the first key whose value is not allowed.
    pub fn new(written: &Written) -> Result<Self, BadSetting> {
        let read = Reader(written);
        Ok(Self {
            listen: read.get("listen", parse::address)?,
            data_dir: read.get("data_dir", parse::path)?,
            database_url: read.optional("database_url", parse::database_url)?,
            redis_url: read.optional("redis_url", parse::redis_url)?,
            public_url: read.optional("public_url", parse::public_url)?,
            services: read.get("services", parse::services)?,
            allowed_origins: read.get("allowed_origins", parse::origins)?,
            rates: Rates {
                mcp: read.get("rate_limit_mcp", parse::rate)?,
                sse: read.get("rate_limit_sse", parse::rate)?,
                create_session: read.get("rate_limit_create_session", parse::rate)?,
                get_session: read.get("rate_limit_get_session", parse::rate)?,
                verify: read.get("rate_limit_verify", parse::rate)?,
                domains: read.get("rate_limit_domains", parse::rate)?,
                answer: read.get("rate_limit_answer", parse::rate)?,
                submissions: read.get("rate_limit_submissions", parse::rate)?,
            },
            session_ttl: read.get("session_ttl", parse::session_ttl)?,
            shutdown_delay: read.get("shutdown_delay", parse::shutdown_delay)?,
            require_verified_domains: read.get("require_verified_domains", parse::truth)?,
            allow_private_webhooks: read.get("allow_private_webhooks", parse::private_webhooks)?,
            webhook_retry_schedule: read.get("webhook_retry_schedule", parse::schedule)?,
            dns_server: read.optional("dns_server", parse::address)?,
            trusted_proxies: Proxies::new(
                read.get("trusted_proxies", parse::networks)?,
                read.get("forwarded_header", parse::forwarded_header)?,
            ),
            geocoder: geocoder(&read)?,
            metrics_listen: read.optional("metrics_listen", parse::address)?,
            otlp_endpoint: read.optional("otlp_endpoint", parse::public_url)?,
            seal_key: read.optional("seal_key", parse::seal_key)?,
            seal_key_old: read.optional("seal_key_old", parse::seal_key)?,
            log: read.get("log", parse::log)?,
        })
    }

    /// The database's address: the one that is set, else a file in the data folder.
    #[must_use]
    pub fn database_url(&self) -> String {
        let file = || format!("sqlite:{}", self.data_dir.join("signpost.sqlite").display());
        self.database_url.clone().unwrap_or_else(file)
    }

    /// What closes and opens the secrets in the database.
    #[must_use]
    pub fn seal(&self) -> Seal {
        let [key, old] = [&self.seal_key, &self.seal_key_old].map(|key| key.as_ref().map(SealKey::bytes));
        Seal::new(key.as_ref(), old.as_ref())
    }

    /// The file of an embedded database; none where it is in memory.
    #[must_use]
    pub fn database_file(&self) -> Option<PathBuf> {
        let url = self.database_url();
        url.strip_prefix("sqlite:").filter(|file| *file != ":memory:").map(PathBuf::from)
    }

    /// The address under which programs reach the server that listens at `listen`, without a slash at the end.
    #[must_use]
    pub fn base_url(&self, listen: SocketAddr) -> String {
        match &self.public_url {
            Some(url) => url.as_str().trim_end_matches('/').to_owned(),
            None => format!("http://{listen}"),
        }
    }

    /// The address under which people's browsers and wallets reach it. On this machine that is `localhost`, and never an
    /// address: a passkey belongs to a name, and two names are two sets of cookies.
    #[must_use]
    pub fn public_address(&self, listen: SocketAddr) -> String {
        let is_localhost = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()].contains(&listen.ip());
        match &self.public_url {
            None if is_localhost => format!("http://localhost:{}", listen.port()),
            _ => self.base_url(listen),
        }
    }

    /// Whether the public URL is encrypted.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.public_url.as_ref().is_some_and(|url| url.scheme() == "https")
    }

    /// Whether the address that others are given is none: the server listens at all of its own, and nobody said where it
    /// is reached.
    #[must_use]
    pub fn is_nowhere(&self) -> bool {
        self.public_url.is_none() && self.listen.ip().is_unspecified()
    }

    /// Whether the public URL leads over a network in clear text.
    #[must_use]
    pub fn is_public_unencrypted(&self) -> bool {
        let is_loopback = |url: &Url| match url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        self.public_url.as_ref().is_some_and(|url| url.scheme() != "https" && !is_loopback(url))
    }

    /// How far requests on behalf of an integrator may reach in an environment, of a server that listens at `listen`.
    #[must_use]
    pub fn reach(&self, environment: Environment, listen: SocketAddr) -> Reach {
        match (self.allow_private_webhooks, environment) {
            (PrivateWebhooks::Allowed, _) => Reach::Everything,
            (PrivateWebhooks::Auto, Environment::Sandbox) if self.serves_only_its_machine(listen) => Reach::Loopback,
            (PrivateWebhooks::Auto | PrivateWebhooks::Refused, _) => Reach::Public,
        }
    }

    /// A public address or a trusted proxy means that others come through a proxy on this machine: to them its own ports
    /// must stay closed.
    fn serves_only_its_machine(&self, listen: SocketAddr) -> bool {
        listen.ip().is_loopback() && self.public_url.is_none() && self.trusted_proxies.is_empty()
    }
}

/// The external geocoder, where one is named.
fn geocoder(read: &Reader<'_>) -> Result<Option<geocoder::Settings>, BadSetting> {
    let Some(kind) = read.optional("geocoder", parse::geocoder)? else { return Ok(None) };
    let url = |text: &str| parse::geocoder_url(kind, text);
    Ok(Some(geocoder::Settings {
        kind,
        url: read.get("geocoder_url", url)?,
        key: read.optional("geocoder_key", |text| Ok(text.to_owned().into()))?,
        within: read.get("geocoder_timeout", parse::geocoder_timeout)?,
        rate: read.get("geocoder_rate_limit", parse::rate)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(key: &str, value: &str) -> Result<Config, String> {
        let mut written = Written::default();
        written.set(key, value, Origin::Flag);
        Config::new(&written).map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_are_a_configuration() {
        let config = Config::new(&Written::default()).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(config.webhook_retry_schedule.len(), 9);
        assert_eq!(config.session_ttl, Duration::from_mins(5));
        assert_eq!(config.rates.mcp.unwrap().to_string(), "10/s");
        assert!(config.database_url().ends_with("signpost-data/signpost.sqlite"));
    }

    #[test]
    fn a_bad_value_is_one_line_that_names_key_value_and_what_is_allowed() {
        for (key, value) in [
            ("listen", "8080"),
            ("database_url", "mysql://x"),
            ("redis_url", "http://x"),
            ("shutdown_delay", "2m"),
            ("public_url", "ftp://x"),
            ("public_url", "https://x/?q"),
            ("services", "atm,web"),
            ("services", ""),
            ("allowed_origins", "https://*"),
            ("rate_limit_mcp", "10 per second"),
            ("rate_limit_mcp", "0/s"),
            ("session_ttl", "0s"),
            ("session_ttl", "2h"),
            ("require_verified_domains", "yes"),
            ("allow_private_webhooks", "maybe"),
            ("webhook_retry_schedule", "2s,soon"),
            ("dns_server", "dns.example"),
            ("trusted_proxies", "10.0.0.0/64"),
            ("forwarded_header", "x-real-ip"),
            ("geocoder", "atlas"),
            ("metrics_listen", "9090"),
            ("log", "loud"),
        ] {
            let error = config(key, value).expect_err(key);
            assert!(error.starts_with(key) && error.contains(&format!("'{value}'")), "{error}");
            assert!(error.contains("allowed") && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_key_is_not_repeated_even_where_it_is_wrong() {
        let error = config("seal_key", "nearly-a-key").expect_err("it is none");
        assert!(error.starts_with("seal_key") && !error.contains("nearly"), "{error}");
        let error = config("database_url", "mysql://me:secret@db/x").expect_err("it is none");
        assert!(error.contains("'…@db/x'") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn people_on_this_machine_are_at_localhost() {
        for (public_url, listen, programs, people) in [
            ("", "127.0.0.1:8080", "http://127.0.0.1:8080", "http://localhost:8080"),
            ("", "[::1]:8080", "http://[::1]:8080", "http://localhost:8080"),
            // Not what the name leads to.
            ("", "127.0.0.2:8080", "http://127.0.0.2:8080", "http://127.0.0.2:8080"),
            ("", "192.0.2.1:80", "http://192.0.2.1:80", "http://192.0.2.1:80"),
            ("https://a.example/", "127.0.0.1:8080", "https://a.example", "https://a.example"),
            ("http://127.0.0.1:8080", "127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ] {
            let (config, listen) = (config("public_url", public_url).unwrap(), listen.parse().unwrap());
            assert_eq!((config.base_url(listen).as_str(), config.public_address(listen).as_str()), (programs, people));
        }
    }

    #[test]
    fn a_public_url_without_encryption_is_known_by_its_host() {
        for (url, is_https, is_unencrypted) in [
            ("https://a.example", true, false),
            ("http://a.example", false, true),
            ("http://192.168.0.7:8080", false, true),
            ("http://localhost:8080", false, false),
            ("http://127.0.0.1:8080", false, false),
            ("http://[::1]:8080", false, false),
            ("", false, false),
        ] {
            let config = config("public_url", url).unwrap();
            assert_eq!((config.is_https(), config.is_public_unencrypted()), (is_https, is_unencrypted), "{url}");
        }
    }

    #[test]
    fn every_address_is_none_that_could_be_given_to_others() {
        for (listen, public_url, is_nowhere) in [
            ("0.0.0.0:8080", "", true),
            ("[::]:8080", "", true),
            ("0.0.0.0:8080", "https://a.example", false),
            ("127.0.0.1:8080", "", false),
            ("192.0.2.1:8080", "", false),
        ] {
            let mut written = Written::default();
            written.set("listen", listen, Origin::Flag);
            written.set("public_url", public_url, Origin::Flag);
            assert_eq!(Config::new(&written).unwrap().is_nowhere(), is_nowhere, "{listen} {public_url}");
        }
    }

    #[test]
    fn limits_can_be_switched_off() {
        assert_eq!(config("rate_limit_mcp", "off").unwrap().rates.mcp, None);
    }
}
