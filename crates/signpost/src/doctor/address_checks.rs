//! The checks of an address from outside. They are pure functions of a probe.

use url::Url;

use super::forwarding::{ProbeSource, evaluate_response};
use super::mcp_checks::{check_handshakes, check_tools};
use super::{AddressProbe, CheckFinding, Fetched};

/// A check of an address. `None` if it does not apply.
type AddressCheck = fn(&AddressProbe) -> Option<CheckFinding>;

const CHECKS: [AddressCheck; 13] = [
    |probe| Some(check_health(probe)),
    |probe| Some(check_tls(probe)),
    check_clear_text,
    check_hsts,
    check_clock,
    check_home_headers,
    check_login_headers,
    check_path,
    check_public_url,
    check_forwarding,
    check_handshakes,
    check_tools,
    check_shared_host,
];

/// Returns the findings of all checks, or only of the first if the address does not answer.
#[must_use]
pub fn check_address(probe: &AddressProbe) -> Vec<CheckFinding> {
    let count = if probe.health.is_ok() { CHECKS.len() } else { 1 };
    CHECKS[..count].iter().filter_map(|check| check(probe)).collect()
}

/// Returns true if a request failed because of a certificate.
pub(super) fn is_certificate_error(reason: &str) -> bool {
    reason.contains("certificate")
}

fn check_health(probe: &AddressProbe) -> CheckFinding {
    const CHECK: &str = "health";
    let health = match &probe.health {
        Ok(health) => health,
        Err(reason) => {
            if is_certificate_error(reason) {
                let remedy = "let the proxy serve a certificate of this name, from an authority that clients know";
                return CheckFinding::fail("TLS", format!("{}: {reason}", probe.address), remedy);
            }
            let reason = format!("{} does not answer: {reason}", probe.address);
            let remedy = "start the server; check the name, the port and the firewall";
            return CheckFinding::fail(CHECK, reason, remedy);
        }
    };
    let document = health.json();
    if health.status == 200
        && document["status"] == "ok"
        && let Some(version) = document["version"].as_str()
    {
        return CheckFinding::pass(CHECK, format!("version {version} answers"));
    }
    CheckFinding::fail(
        CHECK,
        format!("GET /health gives {} and no health document", health.status),
        "let the proxy pass every path to Signpost, and check that this is its address",
    )
}

fn check_tls(probe: &AddressProbe) -> CheckFinding {
    const CHECK: &str = "TLS";
    if probe.url.scheme() == "https" {
        CheckFinding::pass(CHECK, "the certificate is valid for this name")
    } else if probe.is_loopback() {
        CheckFinding::pass(CHECK, "plain http, which stays on this machine")
    } else {
        CheckFinding::fail(
            CHECK,
            "plain http: logins can be read and altered in transit",
            "put TLS in front of the server, and set an https --public-url",
        )
    }
}

fn check_clear_text(probe: &AddressProbe) -> Option<CheckFinding> {
    const CHECK: &str = "clear text";
    let answer = probe.in_clear.as_ref()?;
    Some(match answer {
        Ok(answer) if (200..300).contains(&answer.status) => CheckFinding::warn(
            CHECK,
            "the same host serves over plain http too",
            "let the proxy redirect http to https, or close the port",
        ),
        Ok(answer) => CheckFinding::pass(CHECK, format!("http gives {}", answer.status)),
        Err(_) => CheckFinding::pass(CHECK, "http is closed"),
    })
}

fn check_hsts(probe: &AddressProbe) -> Option<CheckFinding> {
    const CHECK: &str = "HSTS";
    if probe.url.scheme() != "https" {
        return None;
    }
    Some(match probe.home.as_ref().ok()?.header("strict-transport-security") {
        "" => CheckFinding::warn(
            CHECK,
            "browsers are not told to use https alone",
            "let the proxy send 'Strict-Transport-Security: max-age=31536000'",
        ),
        value => CheckFinding::pass(CHECK, value),
    })
}

fn check_clock(probe: &AddressProbe) -> Option<CheckFinding> {
    let health = probe.health.as_ref().ok()?;
    let at = health.json()["timestamp"].as_str()?.parse::<jiff::Timestamp>().ok()?;
    let off = at.as_second().saturating_sub(probe.now.as_second());
    Some(CheckFinding::clock(off, "the server's", "this machine's"))
}

/// The headers that every page must have, with a required part of the value.
const PAGE_HEADERS: [(&str, &str); 4] = [
    ("content-security-policy", "frame-ancestors 'none'"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
];

fn missing_headers(page: &Fetched, required: &[(&str, &str)]) -> Vec<String> {
    let missing = required.iter().filter(|(name, value)| !page.header(name).contains(value));
    missing.map(|(name, value)| format!("{name}: {value}")).collect()
}

fn check_home_headers(probe: &AddressProbe) -> Option<CheckFinding> {
    const CHECK: &str = "headers";
    let home = probe.home.as_ref().ok()?;
    let missing = missing_headers(home, &PAGE_HEADERS);
    Some(if missing.is_empty() {
        CheckFinding::pass(CHECK, "pages have their security headers")
    } else {
        CheckFinding::warn(
            CHECK,
            format!("GET / comes without {}", missing.join(", ")),
            "let the proxy pass the headers of the server on as they are",
        )
    })
}

fn check_login_headers(probe: &AddressProbe) -> Option<CheckFinding> {
    const CHECK: &str = "login page";
    if !probe.has_login() {
        return None;
    }
    let remedy = "let the proxy pass /login and its headers on as they are, and cache nothing of it";
    let page = match &probe.login_page {
        Ok(page) => page,
        Err(reason) => return Some(CheckFinding::fail(CHECK, reason.clone(), remedy)),
    };
    let mut missing = missing_headers(page, &PAGE_HEADERS);
    missing.extend(missing_headers(page, &[("cache-control", "no-store")]));
    Some(if !page.header("content-type").starts_with("text/html") {
        CheckFinding::fail(CHECK, format!("GET /login/… gives {} and no page", page.status), remedy)
    } else if missing.is_empty() {
        CheckFinding::pass(CHECK, "its security headers forbid framing and caching")
    } else {
        CheckFinding::fail(CHECK, format!("it comes without {}", missing.join(", ")), remedy)
    })
}

fn check_path(probe: &AddressProbe) -> Option<CheckFinding> {
    let path = probe.url.path();
    if path == "/" {
        return None;
    }
    Some(CheckFinding::fail(
        "path",
        format!(
            "the server is at the path {path}: cookies, passkeys and checks of Origin belong to all paths of a host"
        ),
        "choose a host name for this server only, and let the proxy forward all its paths unchanged",
    ))
}

fn check_public_url(probe: &AddressProbe) -> Option<CheckFinding> {
    const CHECK: &str = "public URL";
    if !probe.has_locator() {
        return None;
    }
    let remedy = "set the address that people use with --public-url or SIGNPOST_PUBLIC_URL";
    let discovery = probe.discovery.as_ref().ok().map(Fetched::json).unwrap_or_default();
    let Some(named) = discovery["endpoints"]["http"].as_str() else {
        let remedy = "let the proxy pass /.well-known/mcp-server on";
        return Some(CheckFinding::fail(CHECK, "there is no discovery document at /.well-known/mcp-server", remedy));
    };
    let is_same = Url::parse(named).is_ok_and(|url| {
        // On this machine the host may have several names.
        let is_same_port = url.port_or_known_default() == probe.url.port_or_known_default();
        url.origin() == probe.url.origin() || probe.is_loopback() && is_same_port
    });
    Some(if is_same {
        CheckFinding::pass(CHECK, format!("the server gives out {named}"))
    } else {
        CheckFinding::fail(CHECK, format!("you asked {}, and the server gives out {named}", probe.address), remedy)
    })
}

/// Checks the client address that the server uses for a request with a forged address.
fn check_forwarding(probe: &AddressProbe) -> Option<CheckFinding> {
    let source = if probe.is_loopback() { ProbeSource::Loopback } else { ProbeSource::External };
    evaluate_response(probe.forwarding.as_ref().ok()?, source)
}

fn check_shared_host(probe: &AddressProbe) -> Option<CheckFinding> {
    if !probe.has_login() || !probe.has_locator() || probe.is_loopback() {
        return None;
    }
    Some(CheckFinding::warn(
        "shared host",
        "logins share their host with the locator, which shows texts of strangers",
        "run two servers at hosts of their own, with --services auth and --services atm",
    ))
}

#[cfg(test)]
mod tests {
    use signpost_mcp::Revision;

    use super::super::Grade;
    use super::*;

    fn page(status: u16, body: &str, headers: &[(&'static str, &'static str)]) -> Fetched {
        let headers = headers.iter().map(|(name, value)| {
            let name = reqwest::header::HeaderName::from_static(name);
            (name, reqwest::header::HeaderValue::from_static(value))
        });
        Fetched { status, headers: headers.collect(), body: body.to_owned() }
    }

    const SAFE_HEADERS: [(&str, &str); 7] = [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
        ("strict-transport-security", "max-age=31536000"),
    ];

    fn discovery(at: &str) -> Fetched {
        page(200, &format!(r#"{{"endpoints":{{"http":"{at}/mcp"}}}}"#), &[])
    }

    /// Returns the probe of a healthy server that runs only the login service.
    fn healthy_probe() -> AddressProbe {
        AddressProbe {
            address: "https://login.test".to_owned(),
            url: "https://login.test".parse().expect("a URL"),
            now: "2026-01-31T00:00:00Z".parse().expect("a time"),
            health: Ok(page(200, r#"{"status":"ok","version":"1","timestamp":"2026-01-31T00:00:01Z"}"#, &[])),
            in_clear: Some(Ok(page(308, "", &[]))),
            home: Ok(page(200, "", &SAFE_HEADERS)),
            login_page: Ok(page(404, "", &SAFE_HEADERS)),
            api: Ok(page(401, "", &[])),
            forwarding: Ok(page(200, "", &[("signpost-client", "named")])),
            handshakes: Revision::ALL.map(|revision| (revision, Ok(page(404, "", &[])))).into(),
            tools: Ok(page(404, "", &[])),
            discovery: Ok(page(404, "", &[])),
        }
    }

    fn introduction(revision: Revision) -> (Revision, Result<Fetched, String>) {
        let word = revision.as_str();
        let result = if revision.is_stateless() {
            format!(r#"{{"supportedVersions":["{word}"]}}"#)
        } else {
            format!(r#"{{"protocolVersion":"{word}","serverInfo":{{"name":"signpost"}}}}"#)
        };
        let stream = format!("event: message\ndata: {{\"result\":{result}}}\n");
        (revision, Ok(page(200, &stream, &[("content-type", "text/event-stream")])))
    }

    fn locator() -> AddressProbe {
        AddressProbe {
            api: Ok(page(404, "", &[])),
            handshakes: Revision::ALL.map(introduction).into(),
            tools: Ok(page(200, r#"{"result":{"tools":[{"name":"find_nearest_bitcoin_atm"}]}}"#, &[])),
            discovery: Ok(discovery("https://login.test")),
            ..healthy_probe()
        }
    }

    fn wrong(probe: &AddressProbe) -> Vec<CheckFinding> {
        check_address(probe).into_iter().filter(|finding| finding.grade != Grade::Pass).collect()
    }

    #[test]
    fn healthy_address_has_no_findings() {
        assert_eq!((wrong(&healthy_probe()), wrong(&locator())), (Vec::new(), Vec::new()));
    }

    type Break = fn(&mut AddressProbe);

    fn assert_found(of: fn() -> AddressProbe, faults: &[(&str, Grade, Break)]) {
        for (check, grade, fault) in faults {
            let mut probe = of();
            fault(&mut probe);
            let found = wrong(&probe);
            let [finding] = &found[..] else { panic!("{check}: {found:?}") };
            assert_eq!((finding.check, finding.grade), (*check, *grade));
            assert!(finding.remedy.as_ref().is_some_and(|remedy| !remedy.is_empty()), "{finding:?}");
        }
    }

    #[test]
    fn each_login_fault_has_one_finding() {
        assert_found(
            healthy_probe,
            &[
                ("health", Grade::Fail, |probe| probe.health = Err("no answer".to_owned())),
                ("health", Grade::Fail, |probe| probe.health = Ok(page(502, "bad gateway", &[]))),
                ("health", Grade::Fail, |probe| probe.health = Ok(page(200, r#"{"status":"ok"}"#, &[]))),
                ("TLS", Grade::Fail, |probe| probe.health = Err("invalid peer certificate: Expired".to_owned())),
                ("TLS", Grade::Fail, |probe| {
                    probe.url = "http://login.test".parse().expect("a URL");
                    probe.in_clear = None;
                }),
                ("clear text", Grade::Warn, |probe| probe.in_clear = Some(Ok(page(200, "", &[])))),
                ("path", Grade::Fail, |probe| probe.url = "https://login.test/signpost".parse().expect("a URL")),
                ("HSTS", Grade::Warn, |probe| probe.home = Ok(page(200, "", &SAFE_HEADERS[..6]))),
                ("clock", Grade::Warn, |probe| probe.now = "2026-01-31T00:00:20Z".parse().expect("a time")),
                ("clock", Grade::Fail, |probe| probe.now = "2026-01-31T00:05:00Z".parse().expect("a time")),
                ("headers", Grade::Warn, |probe| probe.home = Ok(page(200, "", &SAFE_HEADERS[2..]))),
                ("proxy", Grade::Fail, |probe| probe.forwarding = Ok(page(200, "", &[("signpost-client", "claimed")]))),
                ("proxy", Grade::Warn, |probe| probe.forwarding = Ok(page(200, "", &[("signpost-client", "unread")]))),
                ("proxy", Grade::Warn, |probe| probe.forwarding = Ok(page(200, "", &[("signpost-client", "unnamed")]))),
                ("proxy", Grade::Warn, |probe| probe.forwarding = Ok(page(200, "", &[("signpost-client", "trusted")]))),
                ("login page", Grade::Fail, |probe| probe.login_page = Err("no answer".to_owned())),
                ("login page", Grade::Fail, |probe| probe.login_page = Ok(page(200, "", &SAFE_HEADERS[1..]))),
                ("login page", Grade::Fail, |probe| probe.login_page = Ok(page(404, "", &SAFE_HEADERS[..5]))),
            ],
        );
    }

    #[test]
    fn each_locator_fault_has_one_finding() {
        assert_found(
            locator,
            &[
                ("public URL", Grade::Fail, |probe| probe.discovery = Ok(discovery("http://127.0.0.1:8080"))),
                ("public URL", Grade::Fail, |probe| probe.discovery = Ok(page(404, "", &[]))),
                ("MCP", Grade::Fail, |probe| {
                    probe
                        .handshakes
                        .iter_mut()
                        .for_each(|(_, answer)| *answer = Ok(page(403, "forbidden origin", &[])));
                }),
                ("MCP", Grade::Warn, |probe| probe.handshakes[0].1 = Ok(page(400, "", &[]))),
                ("MCP", Grade::Warn, |probe| probe.handshakes[4].1 = introduction(Revision::ALL[1]).1),
                ("tools", Grade::Fail, |probe| probe.tools = Ok(page(200, r#"{"result":{"tools":[]}}"#, &[]))),
                ("shared host", Grade::Warn, |probe| probe.api = Ok(page(401, "", &[]))),
            ],
        );
    }

    #[test]
    fn loopback_address_may_be_unencrypted() {
        let url = |text: &str| text.parse().expect("a URL");
        let probe = AddressProbe {
            url: url("http://localhost:8080"),
            in_clear: None,
            home: Ok(page(200, "", &SAFE_HEADERS[..6])),
            api: Ok(page(401, "", &[])),
            discovery: Ok(discovery("http://127.0.0.1:8080")),
            ..locator()
        };
        assert_eq!(wrong(&probe), []);
        let elsewhere = AddressProbe { url: url("http://localhost:9000"), ..probe };
        assert_eq!(wrong(&elsewhere).len(), 1);
    }
}
