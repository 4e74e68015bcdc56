//! The public URL of the server: an origin, without a path.

use serde::de::{Deserializer, Error, Unexpected};
use signpost_platform::setting::optional_url;
use url::Url;

use super::Config;

/// The allowed values, and the reason for which a path is rejected.
const ALLOWED: &str = "an http or https origin without a path, such as https://signpost.example.com: cookies, passkeys \
                       (rp.id) and checks of Origin belong to all paths of a host, so other applications on the host \
                       could use them; choose a host name for this server only, and let the proxy forward all paths of \
                       the host unchanged";

/// Deserializes the public URL, if any. A trailing `/` is no path.
///
/// # Errors
/// Returns an error with the reason if the URL has a path, or the errors of [`optional_url`].
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Url>, D::Error> {
    let Some(url) = optional_url(from)? else { return Ok(None) };
    if url.path() == "/" {
        return Ok(Some(url));
    }
    Err(D::Error::invalid_value(Unexpected::Str(url.as_str()), &ALLOWED))
}

impl Config {
    /// Returns true if clients reach the server through proxies, and it has no public URL: then its links and discovery
    /// documents name the listen address, which is not the address of its clients.
    #[must_use]
    pub fn is_unnamed_behind_proxies(&self) -> bool {
        self.public_url.is_none() && !self.proxies.is_empty() && !self.has_no_address()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Origin, RawSettings};

    fn public_url(text: &str, services: &str) -> Result<Option<String>, String> {
        let mut raw = RawSettings::default();
        raw.set("public_url", text, Origin::Variable);
        raw.set("services", services, Origin::Flag);
        let config = Config::new(&raw).map_err(|error| error.to_string())?;
        Ok(config.public_url.map(String::from))
    }

    #[test]
    fn public_url_with_a_path_is_rejected() {
        for services in ["auth", "atm", "atm,auth"] {
            for path in ["/atm", "/atm/", "//", "/%2F", "/a/b", "/;x", "/x&y"] {
                let error = public_url(&format!("https://signpost.test{path}"), services).unwrap_err();
                assert!(
                    error.starts_with(&format!("public_url (environment): 'https://signpost.test{path}'")),
                    "{error}"
                );
                for part in ["without a path", "cookies", "rp.id", "choose a host name"] {
                    assert!(error.contains(part), "{error}");
                }
                assert!(!error.contains('\n'), "{error}");
            }
        }
    }

    #[test]
    fn trailing_slash_is_no_path() {
        for text in
            ["https://signpost.test", "https://signpost.test/", "https://Signpost.test:443/", "https://signpost.test/."]
        {
            assert_eq!(public_url(text, "atm,auth"), Ok(Some("https://signpost.test/".to_owned())), "{text}");
        }
        assert_eq!(public_url("", "atm"), Ok(None));
    }
}
