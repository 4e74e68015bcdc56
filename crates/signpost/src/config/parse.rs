//! What the text of each key means. Every function gives the value, or says what is allowed.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use signpost_mcp::Origins;
use tracing::level_filters::LevelFilter;
use url::Url;

use super::{BadSetting, PrivateWebhooks, Service, Written};
use crate::atm::places::geocoder::Kind;
use crate::login::domains::seal::SealKey;
use crate::platform::limits::{ForwardedHeader, Network, Rate};
use crate::store::is_postgres;

/// A value, or what would be allowed.
type Meant<T> = Result<T, String>;

pub(super) struct Reader<'a>(pub(super) &'a Written);

impl Reader<'_> {
    pub(super) fn get<T>(&self, key: &str, parse: impl FnOnce(&str) -> Meant<T>) -> Result<T, BadSetting> {
        let (value, origin) = self.0.get(key);
        parse(value).map_err(|allowed| BadSetting {
            key: key.to_owned(),
            origin: origin.to_string(),
            value: shown(key, value),
            allowed,
        })
    }

    pub(super) fn optional<T>(&self, key: &str, parse: impl FnOnce(&str) -> Meant<T>) -> Result<Option<T>, BadSetting> {
        if self.0.get(key).0.is_empty() { Ok(None) } else { self.get(key, parse).map(Some) }
    }
}

/// A value as it may be told: no keys, and no password that an address holds.
fn shown(key: &str, value: &str) -> String {
    match value.rsplit_once('@') {
        _ if key.contains("_key") => "…".to_owned(),
        Some((_, host)) if key.ends_with("_url") => format!("…@{host}"),
        _ => value.to_owned(),
    }
}

pub(super) fn address(text: &str) -> Meant<SocketAddr> {
    text.parse().map_err(|_| "an address and a port, such as 127.0.0.1:8080 or [::1]:8080".to_owned())
}

pub(super) fn seal_key(text: &str) -> Meant<SealKey> {
    crate::login::domains::seal::key(text)
        .ok_or_else(|| "32 bytes in hex or base64, as 'openssl rand -hex 32' prints them".to_owned())
}

pub(super) fn path(text: &str) -> Meant<PathBuf> {
    if text.is_empty() { Err("the path of a folder".to_owned()) } else { Ok(PathBuf::from(text)) }
}

pub(super) fn database_url(text: &str) -> Meant<String> {
    let is_file = text.strip_prefix("sqlite:").is_some_and(|file| !file.is_empty());
    let allowed = || "sqlite:/path/to/file, sqlite::memory: or postgres://user@host/database".to_owned();
    if is_file || is_postgres(text) { Ok(text.to_owned()) } else { Err(allowed()) }
}

pub(super) fn redis_url(text: &str) -> Meant<String> {
    let allowed = || "redis://host:port/, rediss://host:port/ (encrypted) or redis+unix:///path/to/socket".to_owned();
    let known = ["redis://", "rediss://", "redis+unix://", "unix://"].iter().any(|scheme| text.starts_with(scheme));
    if known { Ok(text.to_owned()) } else { Err(allowed()) }
}

pub(super) fn public_url(text: &str) -> Meant<Url> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.filter(|url| url.query().is_none() && url.fragment().is_none() && url.username().is_empty())
        .ok_or_else(|| "an http or https address without query, such as https://signpost.example.com".to_owned())
}

pub(super) fn services(text: &str) -> Meant<BTreeSet<Service>> {
    let named = |name| match name {
        "atm" => Some(Service::Atm),
        "auth" => Some(Service::Auth),
        _ => None,
    };
    list(text)
        .map(named)
        .collect::<Option<BTreeSet<_>>>()
        .filter(|all| !all.is_empty())
        .ok_or_else(|| "a list of atm and auth, with at least one of them".to_owned())
}

pub(super) fn origins(text: &str) -> Meant<Origins> {
    Origins::parse(list(text)).map_err(|error| error.to_string())
}

pub(super) fn rate(text: &str) -> Meant<Option<Rate>> {
    if text == "off" {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| "a count (1 to 1000000) per s, m or h, such as 100/m, or off".to_owned())
}

pub(super) fn session_ttl(text: &str) -> Meant<Duration> {
    let allowed = Duration::from_secs(1)..=Duration::from_hours(1);
    duration(text).filter(|ttl| allowed.contains(ttl)).ok_or_else(|| "1s to 1h, such as 300s or 5m".to_owned())
}

pub(super) fn shutdown_delay(text: &str) -> Meant<Duration> {
    let allowed = Duration::ZERO..=Duration::from_mins(1);
    duration(text).filter(|delay| allowed.contains(delay)).ok_or_else(|| "0s to 60s, such as 5s".to_owned())
}

pub(super) fn truth(text: &str) -> Meant<bool> {
    text.parse().map_err(|_| "true or false".to_owned())
}

pub(super) fn private_webhooks(text: &str) -> Meant<PrivateWebhooks> {
    match text {
        "auto" => Ok(PrivateWebhooks::Auto),
        "true" => Ok(PrivateWebhooks::Allowed),
        "false" => Ok(PrivateWebhooks::Refused),
        _ => Err("auto, true or false".to_owned()),
    }
}

pub(super) fn schedule(text: &str) -> Meant<Vec<Duration>> {
    let waits = list(text).map(duration).collect::<Option<Vec<_>>>().filter(|waits| waits.len() <= 30);
    waits.ok_or_else(|| "a list of at most 30 waits, such as 2s,10s,1m,2h".to_owned())
}

pub(super) fn networks(text: &str) -> Meant<Vec<Network>> {
    list(text).map(|network| network.parse().map_err(|error| format!("a list of networks: {error}"))).collect()
}

pub(super) fn forwarded_header(text: &str) -> Meant<ForwardedHeader> {
    match text.to_ascii_lowercase().as_str() {
        "x-forwarded-for" => Ok(ForwardedHeader::XForwardedFor),
        "forwarded" => Ok(ForwardedHeader::Forwarded),
        _ => Err("x-forwarded-for or forwarded".to_owned()),
    }
}

pub(super) fn geocoder(text: &str) -> Meant<Kind> {
    let named = Kind::ALL.into_iter().find(|kind| kind.name() == text);
    named.ok_or_else(|| "nominatim, photon or pelias, or nothing".to_owned())
}

/// Where a geocoder is. The public one of its kind, if nothing else is said; of Pelias there is none.
pub(super) fn geocoder_url(kind: Kind, text: &str) -> Meant<Url> {
    let text = match (kind, text) {
        (Kind::Nominatim, "") => "https://nominatim.openstreetmap.org",
        (Kind::Photon, "") => "https://photon.komoot.io",
        (_, text) => text,
    };
    let fit = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.query().is_none());
    fit.ok_or_else(|| "an http or https address without query, such as https://pelias.example.com".to_owned())
}

pub(super) fn geocoder_timeout(text: &str) -> Meant<Duration> {
    let allowed = Duration::from_millis(100)..=Duration::from_secs(30);
    duration(text).filter(|wait| allowed.contains(wait)).ok_or_else(|| "100ms to 30s, such as 3s".to_owned())
}

pub(super) fn log(text: &str) -> Meant<LevelFilter> {
    match text {
        "off" => Ok(LevelFilter::OFF),
        "error" => Ok(LevelFilter::ERROR),
        "warn" => Ok(LevelFilter::WARN),
        "info" => Ok(LevelFilter::INFO),
        "debug" => Ok(LevelFilter::DEBUG),
        _ => Err("error, warn, info, debug or off".to_owned()),
    }
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// A whole number and a unit: `500ms`, `2s`, `10m`, `24h`, at most 30 days.
fn duration(text: &str) -> Option<Duration> {
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let (count, unit) = (text[..unit].parse::<u64>().ok()?, &text[unit..]);
    let millis = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let duration = Duration::from_millis(count.checked_mul(millis)?);
    Some(duration).filter(|duration| *duration <= Duration::from_hours(30 * 24))
}
