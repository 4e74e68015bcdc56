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
    match Authority::try_from(host.as_bytes()) {
        Ok(authority) if !authority.as_str().contains('@') => Ok(()),
        _ => Err(Problem::field("Host", "must be a host with an optional port")),
    }
}
