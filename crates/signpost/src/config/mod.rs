//! The operator's settings: [`RawSettings`] contains the texts from flags, environment and files; [`Config`] the parsed
//! values. A setting is a field, here or in the settings of its service, and a key of `config.default.toml`.

#[cfg(test)]
mod bounds_tests;
mod console;
mod public_url;
mod raw;
mod read;
mod wallet;
mod warnings;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use signpost_atm::settings::AtmSettings;
use signpost_auth::is_loopback_url;
use signpost_login::settings::LoginSettings;
use signpost_platform::limits::{Proxies, Rates};
use signpost_platform::observe::telemetry::LogFormat;
use signpost_platform::redis::is_redis_url;
use signpost_platform::setting::{self, items, optional, parsed};
use signpost_store::{is_postgres, is_postgres_url};
use tracing::level_filters::LevelFilter;
use url::Url;

pub use console::{ConsoleMode, ConsoleReach};
pub use raw::{Origin, RawSettings, ShownSetting};
pub use warnings::SettingWarning;

/// The default settings with their documentation, as a TOML file.
pub const DEFAULT: &str = include_str!("../../config.default.toml");

/// A part of the program that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// The ATM locator.
    Atm,
    /// Passwordless authentication.
    Auth,
}

/// The error for an unknown setting or a value that is not allowed: a single line that includes the
/// fix.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSetting(String);

/// The parsed configuration. A field is a key that `config.default.toml` documents, or the settings of a service.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml is the reference")]
pub struct Config {
    #[serde(deserialize_with = "setting::address")]
    pub listen: SocketAddr,
    #[serde(deserialize_with = "folder")]
    pub data_dir: PathBuf,
    #[serde(deserialize_with = "database_url")]
    pub database_url: Option<String>,
    #[serde(deserialize_with = "setting::duration::<_, 0, 3_600_000>")]
    pub wait_for_database: Duration,
    #[serde(deserialize_with = "redis_url")]
    pub redis_url: Option<String>,
    #[serde(deserialize_with = "setting::duration::<_, 0, 60_000>")]
    pub shutdown_delay: Duration,
    #[serde(deserialize_with = "public_url::deserialize")]
    pub public_url: Option<Url>,
    #[serde(deserialize_with = "services")]
    pub services: BTreeSet<Service>,
    pub console: ConsoleMode,
    #[serde(deserialize_with = "setting::optional_address")]
    pub metrics_listen: Option<SocketAddr>,
    #[serde(deserialize_with = "setting::optional_url")]
    pub otlp_endpoint: Option<Url>,
    #[serde(deserialize_with = "log")]
    pub log: LevelFilter,
    pub log_format: LogFormat,
    pub rates: Rates,
    pub proxies: Proxies,
    pub atm: AtmSettings,
    pub login: LoginSettings,
    #[serde(skip)]
    pub shown: Vec<ShownSetting>,
}

impl Config {
    /// Reads the settings.
    ///
    /// # Errors
    /// Returns [`InvalidSetting`] for the first key that is unknown or has an invalid value.
    pub fn new(raw: &RawSettings) -> Result<Self, InvalidSetting> {
        let config = Self { shown: read::show(raw), ..read::read(raw)? };
        wallet::check(&config)?;
        console::check(&config)?;
        Ok(config)
    }

    /// Returns the database's URL. The default is a file in the data folder.
    #[must_use]
    pub fn database_url(&self) -> String {
        match &self.database_url {
            Some(url) => url.clone(),
            None => format!("sqlite:{}", self.data_dir.join("signpost.sqlite").display()),
        }
    }

    /// Returns the file of an embedded database. `None` for a database in memory or on a server.
    #[must_use]
    pub fn database_file(&self) -> Option<PathBuf> {
        let url = self.database_url();
        url.strip_prefix("sqlite:").filter(|file| *file != ":memory:").map(PathBuf::from)
    }

    /// Returns the location of the database, without a password: a file, or a server and the name of the database.
    #[must_use]
    pub fn database_shown(&self) -> String {
        if let Some(file) = self.database_file() {
            return std::path::absolute(&file).unwrap_or(file).display().to_string();
        }
        let url = self.database_url();
        if !is_postgres(&url) {
            return "in memory, lost when the server stops".to_owned();
        }
        match Url::parse(&url) {
            Ok(url) if url.has_host() => {
                format!("in PostgreSQL at {}{}", url.host_str().unwrap_or_default(), url.path())
            }
            _ => "in PostgreSQL".to_owned(),
        }
    }

    /// Returns the URL for programs of the server that listens at `listen`, without a trailing slash.
    #[must_use]
    pub fn base_url(&self, listen: SocketAddr) -> String {
        match &self.public_url {
            Some(url) => url.as_str().trim_end_matches('/').to_owned(),
            None => format!("http://{listen}"),
        }
    }

    /// Returns the URL for browsers and wallets. On this machine its host is `localhost` and not an address, because
    /// passkeys and cookies belong to a name.
    #[must_use]
    pub fn public_address(&self, listen: SocketAddr) -> String {
        let is_localhost = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()].contains(&listen.ip());
        match &self.public_url {
            None if is_localhost => format!("http://localhost:{}", listen.port()),
            _ => self.base_url(listen),
        }
    }

    /// Returns true if the server has no usable address: it listens on all addresses and has no public URL.
    #[must_use]
    pub fn has_no_address(&self) -> bool {
        self.public_url.is_none() && self.listen.ip().is_unspecified()
    }

    /// Returns true if requests to the public URL cross a network unencrypted.
    #[must_use]
    pub fn is_public_unencrypted(&self) -> bool {
        self.public_url.as_ref().is_some_and(|url| url.scheme() != "https" && !is_loopback_url(url))
    }

    /// Returns true if the public URL is https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.public_url.as_ref().is_some_and(|url| url.scheme() == "https")
    }

    /// Returns true if only programs on this machine reach the server. With a public URL or a trusted proxy, other
    /// clients may connect through a proxy on this machine, and its own ports must stay closed to them.
    #[must_use]
    pub fn is_loopback_only(&self) -> bool {
        self.listen.ip().is_loopback() && self.public_url.is_none() && self.proxies.is_empty()
    }
}

fn folder<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    parsed(from, "the path of a folder", |text| (!text.is_empty()).then(|| text.into()))
}

fn database_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let allowed = "sqlite:/path/to/file, sqlite::memory: or postgres://user@host:port/database, there with parameters of \
                   libpq such as application_name, and sslmode disable, require, verify-ca or verify-full";
    optional(from, allowed, |text| {
        let is_file = text.strip_prefix("sqlite:").is_some_and(|file| !file.is_empty());
        (is_file || is_postgres_url(text)).then(|| text.to_owned())
    })
}

fn redis_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let allowed = "redis://host:port/, rediss://host:port/ (encrypted) or redis+unix:///path/to/socket";
    optional(from, allowed, |text| is_redis_url(text).then(|| text.to_owned()))
}

fn services<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeSet<Service>, D::Error> {
    parsed(from, "a list of atm and auth, with at least one of them", |text| {
        let mut services = BTreeSet::new();
        for name in items(text) {
            services.insert(match name {
                "atm" => Service::Atm,
                "auth" => Service::Auth,
                _ => return None,
            });
        }
        (!services.is_empty()).then_some(services)
    })
}

fn log<'de, D: Deserializer<'de>>(from: D) -> Result<LevelFilter, D::Error> {
    parsed(from, "error, warn, info, debug or off", |text| match text {
        "off" => Some(LevelFilter::OFF),
        "error" => Some(LevelFilter::ERROR),
        "warn" => Some(LevelFilter::WARN),
        "info" => Some(LevelFilter::INFO),
        "debug" => Some(LevelFilter::DEBUG),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(key: &str, value: &str) -> Result<Config, String> {
        let mut raw = RawSettings::default();
        raw.set(key, value, Origin::Flag);
        Config::new(&raw).map_err(|error| error.to_string())
    }

    #[test]
    fn default_file_has_exactly_all_settings() {
        let config = Config::new(&RawSettings::default()).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(config.login.webhook_retry_schedule.len(), 9);
        assert_eq!(config.login.session_ttl, Duration::from_mins(5));
        assert_eq!(config.rates.mcp.unwrap().to_string(), "10/s");
        assert_eq!(super::tests::config("rate_limit_mcp", "off").unwrap().rates.mcp, None);
        assert!(config.database_url().ends_with("signpost-data/signpost.sqlite"));
    }

    #[test]
    fn error_names_key_and_allowed_values() {
        for (key, value) in [
            ("listen", "8080"),
            ("database_url", "mysql://x"),
            ("database_url", "postgres://db:port/x"),
            ("database_url", "postgres:///x"),
            ("redis_url", "http://x"),
            ("redis_url", "redis://x:port/"),
            ("redis_url", "redis://x/first"),
            ("redis_url", "redis://"),
            ("shutdown_delay", "2m"),
            ("public_url", "ftp://x"),
            ("services", "atm,web"),
            ("services", ""),
            ("allowed_origins", "https://*"),
            ("rate_limit_mcp", "10 per second"),
            ("rate_limit_mcp", "0/s"),
            ("session_ttl", "0s"),
            ("session_ttl", "2h"),
            ("session_ttl", "-5s"),
            ("require_verified_domains", "yes"),
            ("allow_private_webhooks", "maybe"),
            ("webhook_retry_schedule", "2s,soon"),
            ("webhook_retry_schedule", "721h"),
            ("dns_server", "dns.example"),
            ("trusted_proxies", "10.0.0.0/64"),
            ("forwarded_header", "x-real-ip"),
            ("card_domain", "https://card.example"),
            ("geocoder", "atlas"),
            ("geocoder_timeout", "1m"),
            ("metrics_listen", "9090"),
            ("log", "loud"),
            ("log_format", "xml"),
        ] {
            let error = config(key, value).expect_err(key);
            assert!(error.starts_with(key) && error.contains(&format!("'{value}'")), "{error}");
            assert!(error.contains("allowed") && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn setting_error_is_a_sentence() {
        for (key, value, line) in [
            ("session_ttl", "2h", "session_ttl (command line): '2h' is not allowed; allowed is a duration of 1s to 1h"),
            (
                "geocoder",
                "atlas",
                "geocoder (command line): 'atlas' is not allowed; allowed is nominatim, photon or pelias",
            ),
            ("sesion_ttl", "1m", "no setting is named 'sesion_ttl'; did you mean 'session_ttl'?"),
        ] {
            assert_eq!(config(key, value).unwrap_err(), line);
        }
    }

    #[test]
    fn errors_omit_passwords_of_urls() {
        for (key, value) in [
            ("otlp_endpoint", "https://user:secret@example.com"),
            ("public_url", "https://:secret@example.com"),
            ("public_url", "https://example.com/?password=secret"),
            ("geocoder_url", "https://example.com/?key=secret"),
            ("database_url", "host=db password=secret"),
            ("database_url", "mysql://db/signpost?password=secret"),
            ("database_url", "postgres://db/signpost?unknown=secret"),
            ("database_url", "postgres://db/signpost?sslmode=secret"),
            ("redis_url", "secret@cache"),
        ] {
            let error = config(key, value).unwrap_err();
            assert!(error.starts_with(key) && !error.contains("secret"), "{error}");
        }
        for (value, shown) in [("https://x/?q", "'https://x/?…' is not allowed"), ("x", "'x' is not allowed")] {
            assert!(config("public_url", value).unwrap_err().contains(shown), "{value}");
        }
    }

    #[test]
    fn errors_omit_invalid_keys() {
        let error = config("seal_key", "nearly-a-key").expect_err("it is invalid");
        assert!(error.starts_with("seal_key") && !error.contains("nearly"), "{error}");
        let error = config("database_url", "mysql://me:secret@db/x").expect_err("it is invalid");
        assert!(error.contains("'…@db/x'") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn local_public_address_is_localhost() {
        for (public_url, listen, programs, people) in [
            ("", "127.0.0.1:8080", "http://127.0.0.1:8080", "http://localhost:8080"),
            ("", "[::1]:8080", "http://[::1]:8080", "http://localhost:8080"),
            // The URL contains the listen address and not the resolved address of the name.
            ("", "127.0.0.2:8080", "http://127.0.0.2:8080", "http://127.0.0.2:8080"),
            ("", "192.0.2.1:80", "http://192.0.2.1:80", "http://192.0.2.1:80"),
            ("https://a.example/", "127.0.0.1:8080", "https://a.example", "https://a.example"),
            ("http://127.0.0.1:8080", "127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ] {
            let config = config("public_url", public_url).unwrap();
            let listen = listen.parse().unwrap();
            assert_eq!((config.base_url(listen).as_str(), config.public_address(listen).as_str()), (programs, people));
        }
    }

    #[test]
    fn unencrypted_public_url_is_detected() {
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
    fn unspecified_address_is_not_usable() {
        for (listen, public_url, has_no_address) in [
            ("0.0.0.0:8080", "", true),
            ("[::]:8080", "", true),
            ("0.0.0.0:8080", "https://a.example", false),
            ("127.0.0.1:8080", "", false),
            ("192.0.2.1:8080", "", false),
        ] {
            let mut raw = RawSettings::default();
            raw.set("listen", listen, Origin::Flag);
            raw.set("public_url", public_url, Origin::Flag);
            assert_eq!(Config::new(&raw).unwrap().has_no_address(), has_no_address, "{listen} {public_url}");
        }
    }

    fn geocoder(settings: &[(&str, &str)]) -> Result<Option<String>, String> {
        let mut raw = RawSettings::default();
        for (key, value) in settings {
            raw.set(key, *value, Origin::Flag);
        }
        let config = Config::new(&raw).map_err(|error| error.to_string())?;
        Ok(config.atm.external_geocoder.map(|settings| settings.url.to_string()))
    }

    #[test]
    fn geocoder_defaults_to_its_public_url() {
        let mine = ("geocoder_url", "https://pelias.example.com");
        assert_eq!(geocoder(&[mine]), Ok(None));
        assert_eq!(geocoder(&[("geocoder", "pelias"), mine]), Ok(Some("https://pelias.example.com/".to_owned())));
        let public = geocoder(&[("geocoder", "photon")]);
        assert_eq!(public, Ok(Some("https://photon.komoot.io/".to_owned())));
        assert!(geocoder(&[("geocoder", "pelias")]).unwrap_err().contains("geocoder_url is not set"));
    }
}
