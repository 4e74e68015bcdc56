//! Every request says once for which host it is.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};

use crate::web::problem::Problem;

/// Refuses a request without exactly one `Host` (RFC 9112, section 3.2): where there are two, a proxy and we might go by
/// different ones.
pub(crate) fn check(headers: &HeaderMap) -> Result<(), Problem> {
    let mut sent = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (sent.next(), sent.next()) else {
        return Err(Problem::field("Host", "a request has exactly one Host header"));
    };
    if is_plain(host.as_bytes()) {
        return Ok(());
    }
    match Authority::try_from(host.as_bytes()) {
        Ok(authority) if !authority.as_str().contains('@') => Ok(()),
        _ => Err(Problem::field("Host", "must be a host with an optional port")),
    }
}

/// Whether it is a name or an IPv4 address with or without a port, as nearly every host is: nothing of it needs to be read
/// any closer.
fn is_plain(host: &[u8]) -> bool {
    let name = host.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')).count();
    let is_port =
        |rest: &[u8]| rest[0] == b':' && (2..=5).contains(&rest.len()) && rest[1..].iter().all(u8::is_ascii_digit);
    name > 0 && (name == host.len() || is_port(&host[name..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_host_is_one_that_a_closer_look_would_take_too() {
        for host in ["localhost", "a.test:1", "192.0.2.1:8080", "A-b.example:443"] {
            assert!(is_plain(host.as_bytes()) && Authority::try_from(host).is_ok(), "{host}");
        }
        for host in ["", ":80", "a:", "a:b", "a@b", "a b", "[::1]", "a:65536", "a/b", "a:80:80", "\u{e9}"] {
            assert!(!is_plain(host.as_bytes()), "{host}");
        }
    }
}
