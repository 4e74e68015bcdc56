//! Requests that get 404 because of their host. Without a log line, an operator cannot distinguish such a page from an
//! unknown page.

use std::time::Duration;

use axum::http::HeaderValue;

use super::log_limiter::LogLimiter;

/// Maximum length of a host that is logged, in bytes: the longest name of a host, and a port.
const MAX_HOST_LEN: usize = 260;

/// The pages that exist at some hosts only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostBoundPages {
    /// The console, at the server's own address.
    Console,
    /// The browser wallet, at its separate host.
    BrowserWallet,
    /// All other pages, which do not exist at the host of the browser wallet.
    OutsideBrowserWallet,
}

/// Logs requests that get 404 because of their host, at most once a minute for each kind of page.
#[derive(Debug, Default)]
pub struct HostRefusals(LogLimiter<3>);

impl HostBoundPages {
    fn as_str(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::BrowserWallet => "browser wallet",
            Self::OutsideBrowserWallet => "other than the browser wallet",
        }
    }
}

impl HostRefusals {
    /// Logs a request with this `Host`, which should have named the host `expected`; `elapsed` is
    /// [`Clock::elapsed`](crate::clock::Clock::elapsed).
    pub fn log(&self, pages: HostBoundPages, host: Option<&HeaderValue>, expected: &str, elapsed: Duration) {
        if self.0.is_due(pages as usize, elapsed) {
            let host = shortened(host);
            tracing::warn!(pages = pages.as_str(), host, expected, "page not found at this host");
        }
    }
}

/// Returns the host of a request, shortened because it is untrusted text.
fn shortened(host: Option<&HeaderValue>) -> &str {
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    host.get(..MAX_HOST_LEN).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logged_host_is_shortened() {
        for (sent, logged) in [("a.example:8080", "a.example:8080"), (&"a".repeat(1000), &"a".repeat(MAX_HOST_LEN))] {
            assert_eq!(shortened(Some(&HeaderValue::from_str(sent).unwrap())), logged);
        }
        assert_eq!(shortened(None), "");
    }
}
