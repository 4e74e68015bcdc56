//! Fetches and parses `https://<domain>/.well-known/svc-verify`: the file with the ownership proofs
//! and the allowed login hosts of a domain.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use reqwest::header::HeaderMap;
use signpost_auth::{DomainName, authority};
use signpost_platform::outbound::{EgressPolicy, Outbound, Request};
use url::Url;

use super::ProofToken;

/// Maximum bytes of a file. A longer file is refused, because a truncated host name in it might be another host.
const MAX_BYTES: usize = 4096;

/// The content of a domain's `svc-verify` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WellKnown(String);

impl WellKnown {
    /// Returns the URL of the file.
    ///
    /// # Panics
    /// Never: a host name makes a URL.
    #[must_use]
    pub fn url(domain: &DomainName) -> Url {
        Url::parse(&format!("https://{domain}/.well-known/svc-verify")).expect("a host name is valid in a URL")
    }

    /// Fetches the file without following redirects.
    ///
    /// # Errors
    /// Returns the reason of the failure, without the content of the response.
    pub async fn fetch(
        outbound: &Outbound,
        domain: &DomainName,
        egress: EgressPolicy,
        timeout: Duration,
    ) -> Result<Self> {
        let url = Self::url(domain);
        let headers = HeaderMap::new();
        let request = Request { method: Method::GET, url: &url, headers, body: None, timeout, max_body: MAX_BYTES + 1 };
        let answer = outbound.send(egress, request).await?;
        ensure!(answer.status == 200, "the endpoint responded with {}", answer.status);
        Self::parse(&answer.body)
    }

    /// Parses the file.
    ///
    /// # Errors
    /// Returns an error if the file has more than [`MAX_BYTES`].
    pub(crate) fn parse(body: &[u8]) -> Result<Self> {
        ensure!(body.len() <= MAX_BYTES, "the file has more than {MAX_BYTES} bytes");
        // Valid lines are ASCII, so invalid UTF-8 affects only other lines.
        Ok(Self(String::from_utf8_lossy(body).into_owned()))
    }

    /// Returns the lines that may be proofs: lines with the label, and the token without it. Other lines are not
    /// disclosed, because the file may belong to others.
    pub(crate) fn proofs<'a>(&'a self, token: &'a ProofToken) -> impl Iterator<Item = &'a str> {
        self.lines().filter(|line| line.starts_with("svc-verify=") || token.is_published_in(line))
    }

    /// Returns true if the domain allows wallets to answer at this host and port, in the form of [`authority`].
    #[must_use]
    pub fn allows_login_host(&self, host: &str) -> bool {
        self.lines()
            .filter_map(|line| line.strip_prefix("login-host="))
            .filter_map(login_host)
            .any(|named| named == host)
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.trim_start_matches('\u{feff}').lines().map(str::trim)
    }
}

/// Parses a host and port into the form of [`authority`]. `None` for any other text.
fn login_host(text: &str) -> Option<String> {
    let url = Url::parse(&format!("https://{text}")).ok()?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    (is_bare && !text.contains(['/', '\\', '@']) && !text.is_empty()).then(|| authority(&url))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> WellKnown {
        WellKnown::parse(text.as_bytes()).unwrap()
    }

    fn proves(text: &str) -> bool {
        let token = ProofToken::new([7; 20]);
        file(&text.replace("TOKEN", token.as_str().strip_prefix("svc-verify=").unwrap()))
            .proofs(&token)
            .any(|line| token.is_published_in(line))
    }

    #[test]
    fn token_may_be_on_any_line() {
        for text in [
            "TOKEN",
            "svc-verify=TOKEN",
            "TOKEN\n",
            "\u{feff}svc-verify=TOKEN\r\n",
            "svc-verify=another\nsvc-verify=TOKEN",
            "login-host=login.example.com\n  TOKEN  \nwhatever=1\n",
            "# our proofs\n\nsvc-verify=TOKEN\nlogin-host=x",
        ] {
            assert!(proves(text), "{text:?}");
        }
        for text in [
            "",
            "svc-verify=",
            "svc-verify=TOKENx",
            "login-host=TOKEN",
            "x TOKEN",
            "svc-verify= TOKEN",
            "SVC-VERIFY=TOKEN",
        ] {
            assert!(!proves(text), "{text:?}");
        }
    }

    #[test]
    fn only_proof_lines_are_returned() {
        let token = ProofToken::new([7; 20]);
        let text = file("password=hunter2\nsvc-verify=wrong\nlogin-host=login.example.com\n<html>");
        assert_eq!(text.proofs(&token).collect::<Vec<_>>(), ["svc-verify=wrong"]);
    }

    #[test]
    fn domain_allows_exact_host_and_port() {
        let text = "svc-verify=x\nlogin-host=login.example.net\nlogin-host=LOGIN.Example.org:8443\r\n\
                    login-host=b\u{fc}cher.example\nlogin-host=[2606:4700::1]:444\nlogin-host=a.example/path\n\
                    login-host=user@b.example\nlogin-host=c.example?x\nlogin-host=\nlogin-host=d.example:443";
        let file = file(text);
        for host in
            ["login.example.net", "login.example.org:8443", "xn--bcher-kva.example", "[2606:4700::1]:444", "d.example"]
        {
            assert!(file.allows_login_host(host), "{host}");
        }
        for host in [
            "",
            "x",
            "login.example.org",
            "login.example.net:8443",
            "a.login.example.net",
            "example.net",
            "a.example",
            "b.example",
            "c.example",
            "login.example.net.evil.example",
        ] {
            assert!(!file.allows_login_host(host), "{host}");
        }
    }

    #[test]
    fn oversized_file_is_rejected() {
        let line = "login-host=login.example.com\n";
        let fill = |length: usize| format!("{line}{}", "#".repeat(length - line.len()));
        assert!(file(&fill(MAX_BYTES)).allows_login_host("login.example.com"));
        assert!(WellKnown::parse(fill(MAX_BYTES + 1).as_bytes()).is_err());
    }
}
