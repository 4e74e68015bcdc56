//! Validates the `Host` header of every request.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};

use crate::web::problem::Problem;
use crate::web::single_header;

/// Checks that a request has exactly one valid `Host` header (RFC 9112, section 3.2). Otherwise a
/// proxy and this server might each use a different value.
///
/// # Errors
/// Returns [`Problem::InvalidRequest`] if the header is missing, repeated or not a host.
pub(crate) fn check(headers: &HeaderMap) -> Result<(), Problem> {
    let Ok(Some(host)) = single_header(headers, &header::HOST) else {
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

/// Returns `true` if the host is a name or an IPv4 address, with or without a port. Nearly every
/// host is, so the full parser is rarely needed.
fn is_plain(host: &[u8]) -> bool {
    let name = host.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')).count();
    match &host[name..] {
        [] => name > 0,
        [b':', port @ ..] => name > 0 && (1..=4).contains(&port.len()) && port.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plain_host_is_a_valid_authority() {
        for host in ["localhost", "a.test:1", "192.0.2.1:8080", "A-b.example:443"] {
            assert!(is_plain(host.as_bytes()) && Authority::try_from(host).is_ok(), "{host}");
        }
        for host in ["", ":80", "a:", "a:b", "a@b", "a b", "[::1]", "a:65536", "a/b", "a:80:80", "\u{e9}"] {
            assert!(!is_plain(host.as_bytes()), "{host}");
        }
    }
}
