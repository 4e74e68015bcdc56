//! Warnings about settings that are allowed but probably not intended.

use signpost_platform::setting::items;

use super::{Config, ConsoleMode, ConsoleReach, Service};

/// A warning about the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingWarning {
    /// The consequence of the settings.
    pub found: &'static str,
    /// The line to add, or another fix.
    pub remedy: &'static str,
}

/// A condition on the settings, with the warning that it causes.
type SettingCheck = (fn(&Config) -> bool, SettingWarning);

const CHECKS: [SettingCheck; 8] = [
    (
        Config::has_no_address,
        SettingWarning {
            found: "the server listens on all addresses and has no public URL, so its links do not work",
            remedy: "public_url = \"https://login.example\"",
        },
    ),
    (
        Config::is_unnamed_behind_proxies,
        SettingWarning {
            found: "requests come through proxies, and there is no public URL: links and discovery documents name the \
                    listen address",
            remedy: "public_url = \"https://login.example\", the address of the proxy",
        },
    ),
    (
        Config::is_public_unencrypted,
        SettingWarning {
            found: "the public URL is http: logins can be read and altered in transit",
            remedy: "put TLS in front of the server, and set an https public_url",
        },
    ),
    (
        |config| config.is_https() && config.proxies.is_empty(),
        SettingWarning {
            found: "TLS ends at a proxy, and no proxy is trusted: all clients share one rate limit",
            remedy: "trusted_proxies = [\"127.0.0.1\"] for a proxy on this machine, else its address",
        },
    ),
    (
        trusts_any_proxy,
        SettingWarning {
            found: "everybody is a trusted proxy: people choose the address that they are counted for",
            remedy: "name the addresses of your proxies alone in trusted_proxies",
        },
    ),
    (
        |config| runs(config, Service::Auth) && accepts_remote_connections(config) && config.login.seal_key.is_none(),
        SettingWarning {
            found: "signing secrets are stored unencrypted",
            remedy: "set SIGNPOST_SEAL_KEY, for example to the output of 'openssl rand -hex 32'",
        },
    ),
    (
        |config| {
            config.console == ConsoleMode::Loopback && runs(config, Service::Auth) && accepts_remote_connections(config)
        },
        SettingWarning {
            found: "the console is closed, because others reach this server",
            remedy: "console = \"on\" opens it to operators at the https public_url, console = \"off\" says that you want none",
        },
    ),
    (
        |config| {
            let both = runs(config, Service::Auth) && runs(config, Service::Atm);
            both && config.console_reach() != Some(ConsoleReach::OwnMachine) && config.is_https()
        },
        SettingWarning {
            found: "logins share their host with the locator, which shows texts of strangers",
            remedy: "run two servers at hosts of their own, with services = [\"auth\"] and services = [\"atm\"]",
        },
    ),
];

fn runs(config: &Config, service: Service) -> bool {
    config.services.contains(&service)
}

fn accepts_remote_connections(config: &Config) -> bool {
    !config.is_loopback_only()
}

fn trusts_any_proxy(config: &Config) -> bool {
    let networks = config.shown.iter().find(|setting| setting.key == "trusted_proxies");
    networks.is_some_and(|setting| items(&setting.value).any(|network| network.ends_with("/0")))
}

impl Config {
    /// Returns the warnings about the settings.
    #[must_use]
    pub fn warnings(&self) -> Vec<SettingWarning> {
        CHECKS.iter().filter(|(applies, _)| applies(self)).map(|(_, warning)| warning.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Origin, RawSettings};

    type Settings<'a> = &'a [(&'a str, &'a str)];

    fn found(settings: Settings) -> Vec<&'static str> {
        let mut raw = RawSettings::default();
        for (key, value) in settings {
            raw.set(key, *value, Origin::Flag);
        }
        Config::new(&raw).unwrap().warnings().into_iter().map(|warning| warning.found).collect()
    }

    #[test]
    fn safe_settings_have_no_warnings() {
        assert_eq!(found(&[]), Vec::<&str>::new());
        let key = "00".repeat(32);
        let careful = [
            ("public_url", "https://login.test"),
            ("trusted_proxies", "127.0.0.1"),
            ("services", "auth"),
            ("console", "on"),
            ("seal_key", &key),
        ];
        assert_eq!(found(&careful), Vec::<&str>::new());
    }

    #[test]
    fn risky_settings_have_warnings() {
        let table: [(Settings, &[&str]); 6] = [
            (&[("listen", "0.0.0.0:8080"), ("services", "atm")], &["links do not work"]),
            (&[("trusted_proxies", "127.0.0.1"), ("services", "atm")], &["name the listen address"]),
            (&[("public_url", "http://login.test"), ("services", "atm")], &["is http"]),
            (&[("public_url", "https://login.test"), ("services", "atm")], &["share one rate limit"]),
            (
                &[("public_url", "https://login.test"), ("trusted_proxies", "10.0.0.1, ::/0"), ("services", "atm")],
                &["choose the address"],
            ),
            (
                &[("public_url", "https://login.test"), ("trusted_proxies", "127.0.0.1")],
                &["unencrypted", "console is closed", "texts of strangers"],
            ),
        ];
        for (settings, expected) in table {
            let found = found(settings);
            assert_eq!(found.len(), expected.len(), "{settings:?}: {found:?}");
            for (phrase, part) in found.iter().zip(expected) {
                assert!(phrase.contains(part), "{phrase}");
            }
        }
    }
}
