//! The settings of the login service.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use signpost_platform::accounts::Environment;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::outbound::EgressPolicy;
use signpost_platform::setting::{self, items, optional, parse_duration, parsed};
use url::Url;

use super::domains::seal::{self, Seal, SealKey};

/// The settings of the login service, documented in `config.default.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml is the reference")]
pub struct LoginSettings {
    #[serde(deserialize_with = "setting::duration::<_, 1_000, 3_600_000>")]
    pub session_ttl: Duration,
    pub require_verified_domains: bool,
    pub allow_private_webhooks: PrivateWebhooks,
    #[serde(deserialize_with = "schedule")]
    pub webhook_retry_schedule: Vec<Duration>,
    #[serde(deserialize_with = "setting::optional_server_address")]
    pub dns_server: Option<SocketAddr>,
    #[serde(deserialize_with = "seal_key")]
    pub seal_key: Option<SealKey>,
    #[serde(deserialize_with = "seal_key")]
    pub seal_key_old: Option<SealKey>,
    #[serde(deserialize_with = "wallet_location")]
    pub wallet: WalletLocation,
}

/// The host that serves the browser wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalletLocation {
    /// The browser wallet is disabled.
    Off,
    /// The login host serves the wallet, for the sandbox only, because an attacker who changes a
    /// login page could read the wallet's keys.
    LoginHost,
    /// A separate origin serves the wallet, for both environments.
    SeparateOrigin(Box<PublicOrigin>),
}

/// The rule for webhooks at private addresses and over plain http.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum PrivateWebhooks {
    /// Plain http to loopback, in the sandbox only, while the server listens on loopback and neither a public URL nor a
    /// trusted proxy is set.
    #[serde(rename = "auto")]
    Auto,
    /// Webhooks at private addresses and over plain http are allowed.
    #[serde(rename = "true")]
    Allowed,
    /// Webhooks at private addresses and over plain http are refused.
    #[serde(rename = "false")]
    Refused,
}

impl LoginSettings {
    /// Returns the allowed addresses of requests on behalf of an integrator in an environment.
    #[must_use]
    pub fn egress_policy(&self, environment: Environment, is_loopback_only: bool) -> EgressPolicy {
        match (self.allow_private_webhooks, environment) {
            (PrivateWebhooks::Allowed, _) => EgressPolicy::Everything,
            (PrivateWebhooks::Auto, Environment::Sandbox) if is_loopback_only => EgressPolicy::Loopback,
            (PrivateWebhooks::Auto | PrivateWebhooks::Refused, _) => EgressPolicy::Public,
        }
    }

    /// Creates the seal that encrypts and decrypts the secrets in the database.
    #[must_use]
    pub fn seal(&self) -> Seal {
        let key = self.seal_key.as_ref().map(SealKey::bytes);
        let old = self.seal_key_old.as_ref().map(SealKey::bytes);
        Seal::new(key.as_ref(), old.as_ref())
    }
}

impl WalletLocation {
    /// Returns the separate origin, if any.
    #[must_use]
    pub fn own_origin(&self) -> Option<&PublicOrigin> {
        if let Self::SeparateOrigin(origin) = self { Some(origin) } else { None }
    }

    /// Returns true if the wallet is offered in an environment.
    #[must_use]
    pub fn is_offered(&self, environment: Environment) -> bool {
        match self {
            Self::Off => false,
            Self::LoginHost => environment == Environment::Sandbox,
            Self::SeparateOrigin(_) => true,
        }
    }
}

fn wallet_location<'de, D: Deserializer<'de>>(from: D) -> Result<WalletLocation, D::Error> {
    let allowed = "on, off or the https origin of a host of its own, such as https://wallet.example.com";
    parsed(from, allowed, |text| match text {
        "off" => Some(WalletLocation::Off),
        "on" => Some(WalletLocation::LoginHost),
        text => parse_wallet_origin(text).map(|origin| WalletLocation::SeparateOrigin(Box::new(origin))),
    })
}

/// Parses an origin in the spelling of browsers. It must be https, or http on this machine.
fn parse_wallet_origin(text: &str) -> Option<PublicOrigin> {
    let url = Url::parse(text).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let origin = PublicOrigin::new(url.as_str());
    (origin.is_trustworthy() && origin.as_str() == text.trim_end_matches('/')).then_some(origin)
}

fn schedule<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Duration>, D::Error> {
    parsed(from, "a list of 1 to 30 waits, at most 720h in all, such as 2s,10s,1m,2h", parse_schedule)
}

/// Parses a retry schedule. It needs at least one wait, so that an event is not lost after a failed attempt, and ends
/// after 30 days.
fn parse_schedule(text: &str) -> Option<Vec<Duration>> {
    const MAX_RETRIES: usize = 30;
    const MAX_TOTAL: Duration = Duration::from_hours(30 * 24);
    let waits = items(text).map(parse_duration).collect::<Option<Vec<_>>>()?;
    let total = waits.iter().try_fold(Duration::ZERO, |total, wait| total.checked_add(*wait))?;
    ((1..=MAX_RETRIES).contains(&waits.len()) && total <= MAX_TOTAL).then_some(waits)
}

fn seal_key<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SealKey>, D::Error> {
    optional(from, "32 bytes in hex or base64, such as the output of 'openssl rand -hex 32'", seal::parse_key)
}
