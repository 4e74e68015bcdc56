//! Access control of the console. A rejected request gets the same response as an unknown path.

use axum::http::{HeaderMap, HeaderName, header};
use signpost_platform::origin::PublicOrigin;

use crate::config::ConsoleReach;

/// Host names of this machine in a URL.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// Header fields that proxies add. The clients of a proxy may be on any machine.
const PROXY_HEADERS: [HeaderName; 10] = [
    header::FORWARDED,
    header::VIA,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-forwarded-port"),
    HeaderName::from_static("x-forwarded-server"),
    HeaderName::from_static("x-real-ip"),
    HeaderName::from_static("cf-connecting-ip"),
    HeaderName::from_static("true-client-ip"),
];

/// The admission of a request to the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsoleAdmission {
    /// The console answers.
    Admitted,
    /// The request used another name of this machine. Browsers have separate cookies for each name.
    OtherLocalName,
    /// The console is hidden.
    Hidden,
}

/// Returns true if a request with these headers may see the console of a server at `origin`.
pub(super) fn admit(reach: ConsoleReach, origin: &PublicOrigin, headers: &HeaderMap) -> ConsoleAdmission {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else {
        return ConsoleAdmission::Hidden;
    };
    let is_same = origin.as_str().split_once("://").is_some_and(|(_, own)| own.eq_ignore_ascii_case(host));
    let is_by_proxy = PROXY_HEADERS.iter().any(|name| headers.contains_key(name));
    match reach {
        ConsoleReach::PublicUrl if is_same => ConsoleAdmission::Admitted,
        ConsoleReach::OwnMachine if is_same && !is_by_proxy => ConsoleAdmission::Admitted,
        ConsoleReach::OwnMachine if is_own_name(host) && !is_by_proxy => ConsoleAdmission::OtherLocalName,
        _ => ConsoleAdmission::Hidden,
    }
}

fn is_own_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    OWN_NAMES.iter().any(|own| own.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn admit_host(reach: ConsoleReach, origin: &str, host: &str) -> ConsoleAdmission {
        let headers = [(header::HOST, HeaderValue::from_str(host).unwrap())].into_iter().collect();
        admit(reach, &PublicOrigin::new(origin), &headers)
    }

    #[test]
    fn local_console_requires_a_local_host() {
        for (host, expected) in [
            ("localhost:8080", ConsoleAdmission::Admitted),
            ("LocalHost:8080", ConsoleAdmission::Admitted),
            ("127.0.0.1:8080", ConsoleAdmission::OtherLocalName),
            ("[::1]:8080", ConsoleAdmission::OtherLocalName),
            ("localhost:1", ConsoleAdmission::OtherLocalName),
            ("localhost", ConsoleAdmission::OtherLocalName),
            ("evil.example", ConsoleAdmission::Hidden),
            ("localhost.evil.example:8080", ConsoleAdmission::Hidden),
            ("127.0.0.1.evil.example", ConsoleAdmission::Hidden),
            ("192.168.1.7:8080", ConsoleAdmission::Hidden),
        ] {
            assert_eq!(admit_host(ConsoleReach::OwnMachine, "http://localhost:8080", host), expected, "{host}");
        }
    }

    #[test]
    fn public_console_requires_the_public_host() {
        for (host, expected) in [
            ("a.example", ConsoleAdmission::Admitted),
            ("A.Example", ConsoleAdmission::Admitted),
            ("a.example:444", ConsoleAdmission::Hidden),
            ("localhost", ConsoleAdmission::Hidden),
            ("b.example", ConsoleAdmission::Hidden),
        ] {
            assert_eq!(admit_host(ConsoleReach::PublicUrl, "https://a.example", host), expected, "{host}");
        }
    }

    #[test]
    fn proxied_requests_are_not_local() {
        for name in PROXY_HEADERS {
            let headers = [(header::HOST, "localhost:8080"), (name.clone(), "x")];
            let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value))).into_iter().collect();
            let origin = PublicOrigin::new("http://localhost:8080");
            assert_eq!(admit(ConsoleReach::OwnMachine, &origin, &headers), ConsoleAdmission::Hidden, "{name}");
        }
        let none = admit(ConsoleReach::OwnMachine, &PublicOrigin::new("http://localhost:8080"), &HeaderMap::new());
        assert_eq!(none, ConsoleAdmission::Hidden);
    }
}
