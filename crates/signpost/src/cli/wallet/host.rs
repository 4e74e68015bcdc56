//! Checks that the answer to a code may be sent to the host in the code.
//!
//! A manipulated code has another host, but is otherwise unchanged for its user. Therefore the domain lists the hosts
//! that may receive answers, and an unknown host receives nothing, not even that the code was scanned.

use std::time::Duration;

use anyhow::{Result, bail};
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;
use signpost_auth::{QrData, authority, is_loopback_url};
use signpost_platform::outbound::{EgressPolicy, Outbound, Request};
use url::Url;

use signpost_login::domains::WellKnown;

/// Timeout of a request to the domain or the host, before the user is asked.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum bytes of a host's description of the requester.
const MAX_CONTEXT_BYTES: usize = 4096;
/// Maximum characters that are shown of each field of the description.
const MAX_SHOWN: usize = 80;

/// The reason why a host may receive the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostTrust {
    /// The host is the domain.
    Domain,
    /// The host is this machine, and the domain is `localhost`.
    ThisMachine,
    /// The host is a subdomain that the domain does not list. It receives the answer, and no
    /// request before that.
    Subdomain,
    /// The domain lists the host.
    Listed,
    /// `--allow-host` names the host.
    Allowed,
}

/// Checks that the host of the code may receive the answer. Only the domain receives a request.
///
/// # Errors
/// Returns an error if it may not, with instructions to allow it.
pub(super) async fn check(outbound: &Outbound, code: &QrData, allowed: Option<&str>) -> Result<HostTrust> {
    if let Some(trust) = check_offline(code, allowed)? {
        return Ok(trust);
    }
    let domain = &code.challenge().domain;
    let host = authority(code.webhook());
    let file = WellKnown::fetch(outbound, domain, EgressPolicy::Public, REQUEST_TIMEOUT).await;
    if file.as_ref().is_ok_and(|file| file.allows_login_host(&host)) {
        return Ok(HostTrust::Listed);
    }
    if domain.covers(code.webhook().host_str().unwrap_or_default()) {
        return Ok(HostTrust::Subdomain);
    }
    let url = WellKnown::url(domain);
    let reason = match file {
        Ok(_) => format!("{url} has no login-host={host}"),
        Err(error) => format!("{url}: {error:#}"),
    };
    bail!("this code sends the answer to {host}, which {domain} does not list ({reason}); {}", hint(&host))
}

/// Checks the host without any request. `None` if the domain must list the host.
fn check_offline(code: &QrData, allowed: Option<&str>) -> Result<Option<HostTrust>> {
    let domain = &code.challenge().domain;
    let webhook = code.webhook();
    let host = authority(webhook);
    let is_local = is_loopback_url(webhook);
    if allowed.is_some_and(|allowed| allows(allowed, webhook)) {
        return Ok(Some(HostTrust::Allowed));
    }
    if domain.as_str() == "localhost" {
        if is_local {
            return Ok(Some(HostTrust::ThisMachine));
        }
        bail!("this code for localhost sends the answer to {host}, which is not this machine; {}", hint(&host));
    }
    // Only TLS authenticates the host.
    if webhook.scheme() != "https" && !is_local {
        bail!("this code sends the answer to {host} unencrypted (http); {}", hint(&host));
    }
    Ok((webhook.host_str() == Some(domain.as_str())).then_some(HostTrust::Domain))
}

fn hint(host: &str) -> String {
    format!("if you trust that host, add --allow-host {host}")
}

/// Returns true if `--allow-host` permits the host: any host if the flag has no value, else this host, and only this
/// port if the value has a port.
fn allows(allowed: &str, webhook: &Url) -> bool {
    if allowed.is_empty() {
        return true;
    }
    let Ok(named) = Url::parse(&format!("{}://{allowed}", webhook.scheme())) else { return false };
    let is_any_port = !allowed.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_port = is_any_port || named.port() == webhook.port();
    named.path() == "/" && named.username().is_empty() && is_port && named.host() == webhook.host()
}

/// Requests a description of the requester of the login from the host, so that the user can recognize a foreign
/// browser. `None` if the host does not answer or is not trusted.
pub(super) async fn describe_requester(outbound: &Outbound, code: &QrData, trust: HostTrust) -> Option<String> {
    let egress = match trust {
        HostTrust::Domain | HostTrust::Listed => EgressPolicy::Public,
        HostTrust::ThisMachine => EgressPolicy::Loopback,
        HostTrust::Allowed => EgressPolicy::Everything,
        HostTrust::Subdomain => return None,
    };
    let mut url = code.webhook().clone();
    url.query_pairs_mut().append_pair("challenge", &code.challenge().to_string());
    let request = Request {
        method: Method::GET,
        url: &url,
        headers: HeaderMap::new(),
        body: None,
        timeout: REQUEST_TIMEOUT,
        max_body: MAX_CONTEXT_BYTES,
    };
    let answer = outbound.send(egress, request).await.ok()?;
    if answer.status != 200 {
        return None;
    }
    quote_requester(&authority(code.webhook()), &serde_json::from_slice(&answer.body).ok()?)
}

/// Quotes the host's description of the requester.
fn quote_requester(host: &str, context: &Value) -> Option<String> {
    let mut fields = Vec::new();
    for (member, label) in [("ip", "address"), ("country", "country"), ("user_agent", "browser")] {
        let text = context["requester"][member].as_str().unwrap_or_default();
        let text: String = signpost_text::clean_line(text).chars().take(MAX_SHOWN).collect();
        if !text.trim().is_empty() {
            fields.push(format!("{label} \"{text}\""));
        }
    }
    if fields.is_empty() {
        return None;
    }
    Some(format!("{host} reports that the login was requested by: {}", fields.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn code(domain: &str, webhook: &str) -> QrData {
        let challenge = format!("svc:login:{domain}:1700000000:AAAAAAAAAAAAAAAAAAAAAA");
        QrData::parse(&format!("svc://auth?v=1&webhook={webhook}&challenge={challenge}&exp=1700000300")).unwrap()
    }

    #[test]
    fn foreign_host_must_be_listed_by_the_domain() {
        use HostTrust::{Domain, ThisMachine};
        for (domain, webhook, expected) in [
            ("example.com", "https://example.com/hook", Some(Domain)),
            ("example.com", "https://EXAMPLE.com:8443/hook", Some(Domain)),
            ("example.com", "https://login.example.com/hook", None),
            ("example.com", "https://login.example.net/hook", None),
            ("example.com", "https://example.com.evil.example/hook", None),
            ("example.com", "https://evilexample.com/hook", None),
            ("example.com", "https://xn--exmple-cua.com/hook", None),
            ("example.com", "http://127.0.0.1:9000/hook", None),
            ("localhost", "http://localhost:9000/hook", Some(ThisMachine)),
            ("localhost", "http://shop.localhost:9000/hook", Some(ThisMachine)),
            ("localhost", "http://127.8.0.1:9000/hook", Some(ThisMachine)),
            ("localhost", "http://[::1]:9000/hook", Some(ThisMachine)),
            ("localhost", "http://[::ffff:127.0.0.1]/hook", Some(ThisMachine)),
        ] {
            assert_eq!(check_offline(&code(domain, webhook), None).unwrap(), expected, "{webhook}");
        }
        for (domain, webhook, hint) in [
            ("localhost", "https://evil.example:8443/hook", "--allow-host evil.example:8443"),
            ("localhost", "http://10.0.0.1/hook", "--allow-host 10.0.0.1"),
            ("localhost", "http://notlocalhost/hook", "--allow-host notlocalhost"),
            ("example.com", "http://example.com/hook", "--allow-host example.com"),
            ("example.com", "http://login.example.com:8080/hook", "--allow-host login.example.com:8080"),
        ] {
            let error = check_offline(&code(domain, webhook), None).unwrap_err().to_string();
            assert!(error.ends_with(hint) && error.lines().count() == 1, "{error}");
        }
    }

    #[test]
    fn allow_host_permits_one_host() {
        for (allowed, webhook, is_allowed) in [
            ("", "https://evil.example/", true),
            ("login.example.net", "https://login.example.net/", true),
            ("LOGIN.example.net", "https://login.example.net:8443/", true),
            ("login.example.net:8443", "https://login.example.net:8443/", true),
            ("login.example.net:443", "https://login.example.net/", true),
            ("login.example.net:443", "https://login.example.net:8443/", false),
            ("login.example.net:80", "http://login.example.net/", true),
            ("[::1]:9000", "http://[::1]:9000/", true),
            ("[::1]", "http://[::1]:9000/", true),
            ("127.0.0.1", "http://127.0.0.1:9000/", true),
            ("127.0.0.1:9001", "http://127.0.0.1:9000/", false),
            ("example.net", "https://login.example.net/", false),
            ("login.example.net", "https://example.net/", false),
            ("x@login.example.net", "https://login.example.net/", false),
            ("login.example.net/hook", "https://login.example.net/hook", false),
        ] {
            let expected = is_allowed.then_some(HostTrust::Allowed);
            let found = check_offline(&code("example.com", webhook), Some(allowed));
            assert_eq!(found.ok().flatten(), expected, "{allowed} {webhook}");
        }
    }

    #[test]
    fn host_description_is_quoted_on_one_line() {
        let agent = format!("\u{202e}-\u{1b}[31mFire\nfox\u{200b}\u{e0041}{}", "x".repeat(100));
        let response = json!({ "requester": { "ip": "203.0.113.9", "country": "", "user_agent": agent } });
        let shown = quote_requester("login.example.com", &response).unwrap();
        let (before, browser) = shown.rsplit_once("browser ").unwrap();
        assert_eq!(before, "login.example.com reports that the login was requested by: address \"203.0.113.9\", ");
        assert_eq!(browser.trim_matches('"'), format!("- [31mFire fox{}", "x".repeat(80 - 14)));
        for nothing in [json!({}), json!([]), json!({ "requester": { "ip": 1 } }), json!({ "requester": "x" })] {
            assert_eq!(quote_requester("a.example", &nothing), None);
        }
    }
}
