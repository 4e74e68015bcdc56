//! What there is of an installation: its settings, its server, its database, and what it serves.

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
use signpost_platform::outbound::{Outbound, Reach, Request};
use signpost_store::Store;
use url::Url;

use super::{DatabaseSeen, SurroundingsSeen};
use crate::config::{Config, ConsoleReach, Service};
use crate::deployment::public_address;

/// How long a server on this machine may take to say that it is there.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(3);
/// More than its answer has.
const MAX_HEALTH_BYTES: usize = 4096;

/// An installation as it is now. A part that cannot be read is the reason why.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Installation {
    pub now: Timestamp,
    pub settings: SettingsSeen,
    pub server: ServerSeen,
    pub database: Result<DatabaseSeen, String>,
    pub places: Result<PlacesSeen, String>,
    pub advisories: Result<AdvisoriesSeen, String>,
    pub surroundings: SurroundingsSeen,
}

/// What the settings say.
#[derive(Debug)]
pub struct SettingsSeen {
    /// Where the database is, without a password.
    pub database: String,
    /// Who reaches the server, and how.
    pub exposure: Exposure,
    /// The public URL, without a slash at the end.
    pub public_url: Option<String>,
    /// Whether the locator and the login run in one server.
    pub runs_both_services: bool,
    /// Whether operators reach the console at the public URL.
    pub has_public_console: bool,
    /// Whether signing secrets are encrypted.
    pub has_seal_key: bool,
    /// The permissions of the data folder, where there is one and it has such.
    pub data_dir_mode: Option<u32>,
}

/// Who reaches a server, by its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// This machine alone.
    OwnMachine,
    /// Others, and its links lead to an address that nobody can reach.
    Unnamed,
    /// Others, in clear text.
    ClearText,
    /// Others.
    Public,
}

/// The server, as far as it answers.
#[derive(Debug)]
pub struct ServerSeen {
    /// Where it was asked.
    pub address: String,
    /// Its version, or why there is none.
    pub version: Result<String, String>,
    /// The public address of the server that ran on the database last.
    pub public_address: Option<String>,
}

/// The place names.
#[derive(Debug, Serialize)]
pub struct PlacesSeen {
    /// How many there are.
    pub places: usize,
    /// `built-in` or `imported`.
    pub origin: &'static str,
}

/// The advisories.
#[derive(Debug, Serialize)]
pub struct AdvisoriesSeen {
    /// How many are used.
    pub rows: usize,
    /// Those whose source must be read again.
    pub overdue: Vec<String>,
}

impl Installation {
    /// Looks at the installation that the settings describe. `store` is its database, or why there is none; `served` is what
    /// a server has in memory of machines and places, who need not be read then.
    pub async fn look(
        config: &Config,
        store: Result<Store>,
        outbound: &Outbound,
        served: Option<&Catalogue>,
        now: Timestamp,
    ) -> Self {
        let surroundings = SurroundingsSeen::look(config, store.as_ref().ok(), outbound, now);
        let known = async {
            let (database, public_address) = match &store {
                Err(error) => (Err(format!("{error:#}")), None),
                Ok(store) => (
                    DatabaseSeen::read(config, store, served, now).await.map_err(|error| format!("{error:#}")),
                    public_address::find(store).await.ok().flatten(),
                ),
            };
            (database, ServerSeen::ask(config, public_address, outbound).await)
        };
        let (surroundings, (database, seen)) = tokio::join!(Box::pin(surroundings), Box::pin(known));
        Self {
            now,
            settings: SettingsSeen::read(config),
            server: seen,
            database,
            places: PlacesSeen::read(&config.data_dir, served.map(|served| &served.places))
                .map_err(|error| format!("{error:#}")),
            advisories: AdvisoriesSeen::read(config, now),
            surroundings,
        }
    }
}

impl SettingsSeen {
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
        if config.serves_only_its_machine() {
            Self::OwnMachine
        } else if config.is_public_unencrypted() {
            Self::ClearText
        } else if config.is_nowhere() {
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

impl ServerSeen {
    /// Asks where a server of this installation may be, until one answers.
    async fn ask(config: &Config, public_address: Option<String>, outbound: &Outbound) -> Self {
        let mut last = None;
        for address in addresses(config, public_address.as_deref()) {
            let version = ask_version(&address, outbound).await;
            let is_there = version.is_ok();
            let first = last.get_or_insert_with(|| (address.clone(), version.clone()));
            if is_there {
                *first = (address, version);
                break;
            }
        }
        let none = || (String::new(), Err("no address of a server is known".to_owned()));
        let (address, version) = last.unwrap_or_else(none);
        Self { address, version, public_address }
    }
}

/// Where a server of this installation may be: the address that the last one had, if it was of this machine, that of the
/// settings, and the public one.
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

async fn ask_version(address: &str, outbound: &Outbound) -> Result<String, String> {
    let url: Url = format!("{address}/health").parse().map_err(|error| format!("{error}"))?;
    let request = Request {
        method: Method::GET,
        url: &url,
        headers: HeaderMap::new(),
        body: None,
        within: HEALTH_TIMEOUT,
        keep: MAX_HEALTH_BYTES,
    };
    let answer = outbound.send(Reach::Everything, request).await.map_err(|error| format!("{error:#}"))?;
    let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let version = document["version"].as_str().filter(|_| answer.status == 200 && document["status"] == "ok");
    version.map(str::to_owned).ok_or_else(|| format!("something else answers there (status {})", answer.status))
}

impl PlacesSeen {
    fn read(data_dir: &Path, served: Option<&Places>) -> Result<Self> {
        let places = match served {
            Some(served) => served.now().len(),
            None => Places::open(data_dir)?.now().len(),
        };
        let origin = if places::file(data_dir).exists() { "imported" } else { "built-in" };
        Ok(Self { places, origin })
    }
}

impl AdvisoriesSeen {
    fn read(config: &Config, now: Timestamp) -> Result<Self, String> {
        let advisories =
            LiveAdvisories::open(config.atm.advisories.as_deref()).map_err(|error| error.to_string())?.now();
        let today = now.to_zoned_datetime(TimeZone::UTC).date();
        let overdue = advisories.rows().iter().filter(|row| row.is_overdue(today)).map(|row| row.id.clone());
        Ok(Self { rows: advisories.rows().len(), overdue: overdue.collect() })
    }
}
