//! Determines from the settings whether the console is enabled, and for which clients.

use serde::{Deserialize, Deserializer};
use signpost_platform::setting::parsed;

use super::{Config, InvalidSetting, Service};

/// The value of the setting `console`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleMode {
    /// The console is disabled.
    Off,
    /// The console is enabled if the server is reachable from this machine only.
    Loopback,
    /// The console is enabled for every client of the server.
    On,
}

/// The clients that can reach a server's console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleReach {
    /// Only browsers on this machine can reach the console, without a proxy.
    OwnMachine,
    /// All browsers that reach the public URL can reach the console.
    PublicUrl,
}

impl Config {
    /// Returns the reach of the console. `None` if there is no console.
    #[must_use]
    pub fn console_reach(&self) -> Option<ConsoleReach> {
        if !self.services.contains(&Service::Auth) {
            return None;
        }
        match self.console {
            ConsoleMode::Loopback | ConsoleMode::On if self.is_loopback_only() => Some(ConsoleReach::OwnMachine),
            ConsoleMode::On => Some(ConsoleReach::PublicUrl),
            ConsoleMode::Off | ConsoleMode::Loopback => None,
        }
    }
}

impl<'de> Deserialize<'de> for ConsoleMode {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        parsed(from, "off, loopback or on", |text| match text {
            "off" => Some(Self::Off),
            "loopback" => Some(Self::Loopback),
            "on" => Some(Self::On),
            _ => None,
        })
    }
}

/// Rejects a console with logins over an unencrypted network.
pub(super) fn check(config: &Config) -> Result<(), InvalidSetting> {
    let is_safe = config.is_https() || config.is_loopback_only();
    if config.console == ConsoleMode::On && !is_safe {
        let reason = "needs an https public_url, or a server that only this machine reaches";
        return Err(InvalidSetting(format!("console: 'on' {reason}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Origin, RawSettings};

    fn reach(settings: &[(&str, &str)]) -> Result<Option<ConsoleReach>, String> {
        let mut raw = RawSettings::default();
        for (key, value) in settings {
            raw.set(key, *value, Origin::Flag);
        }
        Config::new(&raw).map(|config| config.console_reach()).map_err(|error| error.to_string())
    }

    #[test]
    fn console_is_local_by_default() {
        assert_eq!(reach(&[]), Ok(Some(ConsoleReach::OwnMachine)));
        for (key, value) in [
            ("listen", "0.0.0.0:8080"),
            ("public_url", "https://a.example"),
            ("public_url", "http://localhost:8080"),
            ("trusted_proxies", "127.0.0.1"),
            ("services", "atm"),
            ("console", "off"),
        ] {
            assert_eq!(reach(&[(key, value)]), Ok(None), "{key}={value}");
        }
    }

    #[test]
    fn public_console_requires_encryption() {
        assert_eq!(reach(&[("console", "on")]), Ok(Some(ConsoleReach::OwnMachine)));
        let public = [("console", "on"), ("public_url", "https://a.example"), ("trusted_proxies", "127.0.0.1")];
        assert_eq!(reach(&public), Ok(Some(ConsoleReach::PublicUrl)));
        for (key, value) in
            [("public_url", "http://a.example"), ("listen", "0.0.0.0:8080"), ("trusted_proxies", "10.0.0.0/8")]
        {
            let error = reach(&[("console", "on"), (key, value)]).unwrap_err();
            assert!(error.starts_with("console: 'on' needs an https public_url"), "{error}");
        }
        assert_eq!(reach(&[("console", "on"), ("services", "atm")]), Ok(None));
        assert!(reach(&[("console", "yes")]).unwrap_err().contains("allowed is off, loopback or on"));
    }
}
