//! Redirects of feeds. AllThePlaces, for example, redirects the address of its latest data to another host.

use signpost_platform::outbound::EgressPolicy;
use url::Url;

/// Maximum redirects of a fetch.
pub(super) const MAX_REDIRECTS: usize = 3;

/// The URL of a download, and the addresses that its host may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DownloadTarget {
    pub(super) url: Url,
    pub(super) egress: EgressPolicy,
}

impl DownloadTarget {
    /// Returns the target of a temporary redirect (RFC 9110, section 15.4: 302, 303 and 307). `None` for other
    /// responses, and for targets that are not allowed: another origin must be https with a public address, because the
    /// operator chose only the first host. A permanent redirect is reported instead, so that the operator changes the
    /// URL.
    pub(super) fn of_response(&self, status: u16, location: Option<&str>) -> Option<Self> {
        if !matches!(status, 302 | 303 | 307) {
            return None;
        }
        let mut url = self.url.join(location?).ok()?;
        url.set_fragment(None);
        let egress = if url.origin() == self.url.origin() { self.egress } else { EgressPolicy::Public };
        egress.check(&url).ok()?;
        Some(Self { url, egress })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(from: &str, status: u16, location: &str) -> Option<(String, EgressPolicy)> {
        let from = DownloadTarget { url: Url::parse(from).unwrap(), egress: EgressPolicy::Everything };
        let target = from.of_response(status, Some(location))?;
        Some((target.url.into(), target.egress))
    }

    #[test]
    fn temporary_redirects_are_followed() {
        for status in [302, 303, 307] {
            assert_eq!(
                target("https://feed.test/latest/a.geojson", status, "https://files.test/runs/7/a.geojson#x"),
                Some(("https://files.test/runs/7/a.geojson".to_owned(), EgressPolicy::Public))
            );
            assert_eq!(
                target("http://10.0.0.7:8000/latest/a.geojson", status, "../runs/7/a.geojson"),
                Some(("http://10.0.0.7:8000/runs/7/a.geojson".to_owned(), EgressPolicy::Everything))
            );
        }
        for status in [200, 300, 301, 304, 308, 404] {
            assert_eq!(target("https://feed.test/", status, "https://files.test/"), None, "{status}");
        }
    }

    #[test]
    fn redirects_to_other_hosts_must_be_public_https() {
        for location in [
            "http://files.test/",
            "https://127.0.0.1/",
            "https://localhost/",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/",
            "http://feed.test/",
            "https://user:secret@files.test/",
            "https://user@feed.test/",
            "ftp://files.test/",
            "data:text/plain,x",
            "http://",
        ] {
            assert_eq!(target("https://feed.test/a", 302, location), None, "{location}");
        }
        // Another port is another origin.
        assert_eq!(target("http://127.0.0.1:8000/", 302, "http://127.0.0.1:8001/"), None);
    }

    #[test]
    fn policy_stays_public_after_the_first_host() {
        let public = DownloadTarget { url: Url::parse("https://files.test/a").unwrap(), egress: EgressPolicy::Public };
        let next = public.of_response(302, Some("/b")).unwrap();
        assert_eq!((next.url.as_str(), next.egress), ("https://files.test/b", EgressPolicy::Public));
        assert_eq!(public.of_response(302, None), None);
    }
}
