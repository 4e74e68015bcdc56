//! Logs requests with the wrong host. They get 404, and without a log line an operator cannot
//! distinguish them from requests for an unknown page.

use std::time::Duration;

use axum::http::HeaderValue;

use super::log_limiter::LogLimiter;

/// Maximum length of a logged host in bytes: the longest host name, and a port.
const MAX_HOST_LEN: usize = 260;

/// A kind of page that exists only at certain hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestrictedPages {
    /// The console, available only at the server's own address.
    Console,
    /// The browser wallet, available only at its separate host.
    BrowserWallet,
    /// All other pages, which do not exist at the host of the browser wallet.
    OutsideBrowserWallet,
}

/// Logs requests with the wrong host, at most once a minute for each kind of page.
#[derive(Debug, Default)]
pub struct WrongHostLog(LogLimiter<3>);

impl RestrictedPages {
    fn as_str(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::BrowserWallet => "browser wallet",
            Self::OutsideBrowserWallet => "other than the browser wallet",
        }
    }
}

impl WrongHostLog {
    /// Logs a request for a page of this kind with the header `host` instead of the host
    /// `expected`. `elapsed` is the time of [`Clock::elapsed`](crate::clock::Clock::elapsed).
    pub fn log(&self, pages: RestrictedPages, host: Option<&HeaderValue>, expected: &str, elapsed: Duration) {
        if self.0.is_due(pages as usize, elapsed) {
            let host = truncate_host(host);
            tracing::warn!(pages = pages.as_str(), host, expected, "page not found at this host");
        }
    }
}

/// Returns the host of a request, truncated because it is untrusted text.
fn truncate_host(host: Option<&HeaderValue>) -> &str {
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    host.get(..MAX_HOST_LEN).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logged_host_is_shortened() {
        for (sent, logged) in [("a.example:8080", "a.example:8080"), (&"a".repeat(1000), &"a".repeat(MAX_HOST_LEN))] {
            assert_eq!(truncate_host(Some(&HeaderValue::from_str(sent).unwrap())), logged);
        }
        assert_eq!(truncate_host(None), "");
    }
}
