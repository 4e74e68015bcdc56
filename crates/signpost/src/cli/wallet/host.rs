//! Whether a code's answer may go to the host that the code names.
//!
//! Whoever changes a code changes its host, and everything else a person sees stays as it was: so the domain decides who
//! may take its answers, and a host that it does not know is told nothing, not even that somebody scanned the code.

use std::time::Duration;

use anyhow::{Result, bail};
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;
use signpost_auth::{QrData, authority, is_this_machine};
use signpost_platform::outbound::{Outbound, Reach, Request};
use url::Url;

use signpost_login::domains::WellKnown;

/// How long the domain, and then the host, may take to answer before the person is asked.
const ASK_TIMEOUT: Duration = Duration::from_secs(3);
/// How many bytes of what a host says of the requester are read.
const MAX_CONTEXT_BYTES: usize = 4096;
/// How many characters of each field of it are shown.
const MAX_SHOWN: usize = 80;

/// Why a host may take the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is the domain.
    Domain,
    /// It is this machine, which `localhost` means.
    ThisMachine,
    /// It is below the domain, and the domain does not name it: it may take the answer, and is not asked before.
    Below,
    /// The domain names it.
    Named,
    /// The person at the terminal named it.
    Allowed,
}

/// Finds out why the code's host may take the answer. Nobody is asked but the domain.
///
/// # Errors
/// Where it may not; the text says how to allow it.
pub(super) async fn standing(outbound: &Outbound, code: &QrData, allowed: Option<&str>) -> Result<Standing> {
    if let Some(standing) = known(code, allowed)? {
        return Ok(standing);
    }
    let (domain, host) = (&code.challenge().domain, authority(code.webhook()));
    let file = WellKnown::fetch(outbound, domain, Reach::Public, ASK_TIMEOUT).await;
    if file.as_ref().is_ok_and(|file| file.vouches_for(&host)) {
        return Ok(Standing::Named);
    }
    if domain.covers(code.webhook().host_str().unwrap_or_default()) {
        return Ok(Standing::Below);
    }
    let url = WellKnown::url(domain);
    let reason = file.map_or_else(|error| format!("{url}: {error:#}"), |_| format!("{url} has no login-host={host}"));
    bail!("this code sends the answer to {host}, which {domain} does not list ({reason}); {}", hint(&host))
}

/// What is known of the host without asking anybody. `None` where the domain has to say it.
fn known(code: &QrData, allowed: Option<&str>) -> Result<Option<Standing>> {
    let (domain, webhook) = (&code.challenge().domain, code.webhook());
    let (host, is_local) = (authority(webhook), is_this_machine(webhook));
    if allowed.is_some_and(|allowed| allows(allowed, webhook)) {
        return Ok(Some(Standing::Allowed));
    }
    if domain.as_str() == "localhost" {
        return if is_local {
            Ok(Some(Standing::ThisMachine))
        } else {
            bail!("this code for localhost sends the answer to {host}, which is not this machine; {}", hint(&host))
        };
    }
    // Without TLS nobody can tell whether the host is the one that is named.
    if webhook.scheme() != "https" && !is_local {
        bail!("this code sends the answer to {host} unencrypted (http); {}", hint(&host));
    }
    Ok((webhook.host_str() == Some(domain.as_str())).then_some(Standing::Domain))
}

fn hint(host: &str) -> String {
    format!("if you trust that host, add --allow-host {host}")
}

/// Whether `--allow-host` names the host: any where it has no value, else this host, on this port if it says one.
fn allows(allowed: &str, webhook: &Url) -> bool {
    if allowed.is_empty() {
        return true;
    }
    let Ok(named) = Url::parse(&format!("{}://{allowed}", webhook.scheme())) else { return false };
    let is_any_port = !allowed.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_port = is_any_port || named.port() == webhook.port();
    named.path() == "/" && named.username().is_empty() && is_port && named.host() == webhook.host()
}

/// What the host says of who asked for the code: a person whose own browser it is not should say no. Nothing where it
/// says nothing, or nobody vouches for it.
pub(super) async fn requester(outbound: &Outbound, code: &QrData, standing: Standing) -> Option<String> {
    let reach = match standing {
        Standing::Domain | Standing::Named => Reach::Public,
        Standing::ThisMachine => Reach::Loopback,
        Standing::Allowed => Reach::Everything,
        Standing::Below => return None,
    };
    let mut url = code.webhook().clone();
    url.query_pairs_mut().append_pair("challenge", &code.challenge().to_string());
    let (headers, keep) = (HeaderMap::new(), MAX_CONTEXT_BYTES);
    let request = Request { method: Method::GET, url: &url, headers, body: None, within: ASK_TIMEOUT, keep };
    let answer = outbound.send(reach, request).await.ok().filter(|answer| answer.status == 200)?;
    said(&authority(code.webhook()), &serde_json::from_slice(&answer.body).ok()?)
}

/// A host's words, marked as its own.
fn said(host: &str, context: &Value) -> Option<String> {
    let fields = [("ip", "address"), ("country", "country"), ("user_agent", "browser")];
    let told = |(member, word): (&str, &str)| {
        let text: String =
            signpost_text::line(context["requester"][member].as_str()?).chars().take(MAX_SHOWN).collect();
        (!text.trim().is_empty()).then(|| format!("{word} \"{text}\""))
    };
    let told: Vec<_> = fields.into_iter().filter_map(told).collect();
    (!told.is_empty()).then(|| format!("{host} reports that the login was requested by: {}", told.join(", ")))
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
    fn a_host_that_is_not_the_domains_has_to_be_vouched_for() {
        use Standing::{Domain, ThisMachine};
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
            assert_eq!(known(&code(domain, webhook), None).unwrap(), expected, "{webhook}");
        }
        for (domain, webhook, hint) in [
            ("localhost", "https://evil.example:8443/hook", "--allow-host evil.example:8443"),
            ("localhost", "http://10.0.0.1/hook", "--allow-host 10.0.0.1"),
            ("localhost", "http://notlocalhost/hook", "--allow-host notlocalhost"),
            ("example.com", "http://example.com/hook", "--allow-host example.com"),
            ("example.com", "http://login.example.com:8080/hook", "--allow-host login.example.com:8080"),
        ] {
            let error = known(&code(domain, webhook), None).unwrap_err().to_string();
            assert!(error.ends_with(hint) && error.lines().count() == 1, "{error}");
        }
    }

    #[test]
    fn a_person_allows_one_host_and_no_other() {
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
            let expected = is_allowed.then_some(Standing::Allowed);
            let found = known(&code("example.com", webhook), Some(allowed));
            assert_eq!(found.ok().flatten(), expected, "{allowed} {webhook}");
        }
    }

    #[test]
    fn what_a_host_says_is_its_own_word_on_one_line() {
        let agent = format!("\u{202e}-\u{1b}[31mFire\nfox\u{200b}\u{e0041}{}", "x".repeat(100));
        let told = json!({ "requester": { "ip": "203.0.113.9", "country": "", "user_agent": agent } });
        let shown = said("login.example.com", &told).unwrap();
        let (before, browser) = shown.rsplit_once("browser ").unwrap();
        assert_eq!(before, "login.example.com reports that the login was requested by: address \"203.0.113.9\", ");
        assert_eq!(browser.trim_matches('"'), format!("- [31mFire fox{}", "x".repeat(80 - 14)));
        for nothing in [json!({}), json!([]), json!({ "requester": { "ip": 1 } }), json!({ "requester": "x" })] {
            assert_eq!(said("a.example", &nothing), None);
        }
    }
}
