//! Collects the facts about an installation that the checks use: its settings, server, database,
//! place names and advisories.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde::Serialize;
use serde_json::Value;
use signpost_atm::advisories::LiveAdvisories;
use signpost_atm::catalogue::Catalogue;
use signpost_atm::places::{self, Places};
use signpost_platform::outbound::{EgressPolicy, Outbound, Request};
use signpost_store::Store;
use url::Url;

use super::{DatabaseFacts, DependencyFacts};
use crate::config::{Config, ConsoleReach, Service};
use crate::deployment::public_address;

/// Timeout of `GET /health` to a server of this installation.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum bytes of the health response that are read.
const MAX_HEALTH_BYTES: usize = 4096;

/// The facts about an installation that the checks use. A part that cannot be read contains the
/// error.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Installation {
    pub now: Timestamp,
    pub settings: SettingsFacts,
    pub server: ServerFacts,
    pub database: Result<DatabaseFacts, String>,
    pub places: Result<PlacesFacts, String>,
    pub advisories: Result<AdvisoriesFacts, String>,
    pub dependencies: DependencyFacts,
}

/// The facts about the settings of an installation.
#[derive(Debug)]
pub struct SettingsFacts {
    /// The location of the database, without a password.
    pub database: String,
    /// The clients that can reach the server.
    pub exposure: Exposure,
    /// The public URL, without a trailing slash.
    pub public_url: Option<String>,
    /// Whether a single server runs the locator and the login.
    pub runs_both_services: bool,
    /// Whether operators reach the console at the public URL.
    pub has_public_console: bool,
    /// Whether signing secrets are encrypted.
    pub has_seal_key: bool,
    /// The permissions of the data folder. `None` without a folder, and on systems without permissions.
    pub data_dir_mode: Option<u32>,
}

/// The clients that can reach a server, according to its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Reachable from this machine only.
    OwnMachine,
    /// Reachable from other machines, without a usable address for links.
    Unnamed,
    /// Reachable from other machines, unencrypted.
    ClearText,
    /// Reachable from other machines, encrypted.
    Public,
}

/// The facts about the server of an installation.
#[derive(Debug)]
pub struct ServerFacts {
    /// The address that was requested.
    pub address: String,
    /// The version, or the reason why no server answered.
    pub version: Result<String, String>,
    /// The public address of the last server on the database.
    pub public_address: Option<String>,
}

/// The facts about the place names of the location search.
#[derive(Debug, Serialize)]
pub struct PlacesFacts {
    /// Number of places.
    pub places: usize,
    /// The origin of the place names: `built-in` or `imported`.
    pub origin: &'static str,
}

/// The facts about the advisories (notices about law and fraud).
#[derive(Debug, Serialize)]
pub struct AdvisoriesFacts {
    /// Number of advisories.
    pub rows: usize,
    /// IDs of the advisories with a source that must be read again.
    pub overdue: Vec<String>,
}

impl Installation {
    /// Inspects an installation. `store` is its database, or the error of opening it; `catalogue` is the catalogue of a
    /// running server, used instead of reading the database and the place names.
    pub async fn inspect(
        config: &Config,
        store: Result<Store>,
        outbound: &Outbound,
        catalogue: Option<&Catalogue>,
        now: Timestamp,
    ) -> Self {
        let dependencies = DependencyFacts::inspect(config, store.as_ref().ok(), outbound, now);
        let database_and_server = async {
            let mut public_address = None;
            let database = match &store {
                Err(error) => Err(format!("{error:#}")),
                Ok(store) => {
                    let database = DatabaseFacts::read(config, store, catalogue, now).await;
                    public_address = public_address::find(store).await.ok().flatten();
                    database.map_err(|error| format!("{error:#}"))
                }
            };
            (database, ServerFacts::fetch(config, public_address, outbound).await)
        };
        let (dependencies, (database, server)) = tokio::join!(Box::pin(dependencies), Box::pin(database_and_server));
        Self {
            now,
            settings: SettingsFacts::read(config),
            server,
            database,
            places: PlacesFacts::read(&config.data_dir, catalogue.map(|catalogue| &catalogue.places))
                .map_err(|error| format!("{error:#}")),
            advisories: AdvisoriesFacts::read(config, now),
            dependencies,
        }
    }
}

impl SettingsFacts {
    fn read(config: &Config) -> Self {
        Self {
            database: config.database_shown(),
            exposure: Exposure::read(config),
            public_url: config.public_url.as_ref().map(|url| url.as_str().trim_end_matches('/').to_owned()),
            runs_both_services: [Service::Atm, Service::Auth].iter().all(|one| config.services.contains(one)),
            has_public_console: config.console_reach() == Some(ConsoleReach::PublicUrl),
            has_seal_key: config.login.seal().is_enabled(),
            data_dir_mode: mode(&config.data_dir),
        }
    }
}

impl Exposure {
    fn read(config: &Config) -> Self {
        if config.is_loopback_only() {
            Self::OwnMachine
        } else if config.is_public_unencrypted() {
            Self::ClearText
        } else if config.has_no_address() {
            Self::Unnamed
        } else {
            Self::Public
        }
    }
}

#[cfg(unix)]
fn mode(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(folder).ok().map(|about| about.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

impl ServerFacts {
    /// Returns the version at the first possible address of the server that responds. If no address responds, returns
    /// the first error.
    async fn fetch(config: &Config, public_address: Option<String>, outbound: &Outbound) -> Self {
        let mut failure = None;
        for address in addresses(config, public_address.as_deref()) {
            match fetch_version(&address, outbound).await {
                Ok(version) => return Self { address, version: Ok(version), public_address },
                Err(reason) => failure = failure.or(Some((address, reason))),
            }
        }
        let (address, reason) = failure.unwrap_or((String::new(), "no address of a server is known".to_owned()));
        Self { address, version: Err(reason), public_address }
    }
}

/// Returns the possible addresses of a server of this installation: the address of the last server if it was on this
/// machine, the configured address, and the public URL.
fn addresses(config: &Config, public_address: Option<&str>) -> Vec<String> {
    let own = public_address.filter(|address| address.starts_with("http://localhost:"));
    let mut listen = config.listen;
    if listen.ip().is_unspecified() {
        listen.set_ip(if listen.is_ipv4() { [127, 0, 0, 1].into() } else { std::net::Ipv6Addr::LOCALHOST.into() });
    }
    let listen = (listen.port() != 0).then(|| format!("http://{listen}"));
    let all = own.map(str::to_owned).into_iter().chain(listen).chain(public_address.map(str::to_owned));
    let mut found: Vec<String> = Vec::new();
    for address in all {
        if !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

async fn fetch_version(address: &str, outbound: &Outbound) -> Result<String, String> {
    let url: Url = format!("{address}/health").parse().map_err(|error| format!("{error}"))?;
    let request = Request {
        method: Method::GET,
        url: &url,
        headers: HeaderMap::new(),
        body: None,
        timeout: HEALTH_TIMEOUT,
        max_body: MAX_HEALTH_BYTES,
    };
    let answer = outbound.send(EgressPolicy::Everything, request).await.map_err(|error| format!("{error:#}"))?;
    let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match document["version"].as_str() {
        Some(version) if answer.status == 200 && document["status"] == "ok" => Ok(version.to_owned()),
        _ => Err(format!("something else answers there (status {})", answer.status)),
    }
}

impl PlacesFacts {
    fn read(data_dir: &Path, served: Option<&Places>) -> Result<Self> {
        let places = match served {
            Some(served) => served.now().len(),
            None => Places::open(data_dir)?.now().len(),
        };
        let origin = if places::file(data_dir).exists() { "imported" } else { "built-in" };
        Ok(Self { places, origin })
    }
}

impl AdvisoriesFacts {
    fn read(config: &Config, now: Timestamp) -> Result<Self, String> {
        let advisories =
            LiveAdvisories::open(config.atm.advisories.as_deref()).map_err(|error| error.to_string())?.now();
        let today = now.to_zoned_datetime(TimeZone::UTC).date();
        let overdue = advisories.rows().iter().filter(|row| row.is_overdue(today)).map(|row| row.id.clone());
        Ok(Self { rows: advisories.rows().len(), overdue: overdue.collect() })
    }
}
