//! Errors in the requests of a proxy. They are logged, because the operator must repair them and
//! the proxy does not show them to users.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use signpost_platform::web::problem::error_body;

use super::original::HeaderFault;
use crate::service::OpenidService;

/// The reason why a request of a proxy is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ForwardFault {
    #[error("its address is no trusted proxy's; name it in SIGNPOST_TRUSTED_PROXIES")]
    Untrusted,
    #[error("{0}")]
    Header(#[from] HeaderFault),
    #[error("its configuration must name one client: ?client=cli_…")]
    NoClient,
    #[error("no hosted domain has this client; 'signpost clients list' shows those there are")]
    UnknownClient,
    #[error("the client has no redirect URI {0}; register it, or send this host to another client")]
    ForeignHost(String),
    #[error("paths below /.signpost/ must be sent to Signpost itself, without a question before")]
    OwnPath,
}

/// The status and code of requests that this proxy may not send. They are not part of the JSON API.
const FORBIDDEN: (StatusCode, &str) = (StatusCode::FORBIDDEN, "forbidden");

impl ForwardFault {
    /// Returns the index of the log limit of this kind.
    fn kind(&self) -> usize {
        match self {
            Self::Untrusted => 0,
            Self::Header(_) => 1,
            Self::NoClient => 2,
            Self::UnknownClient => 3,
            Self::ForeignHost(_) => 4,
            Self::OwnPath => 5,
        }
    }

    /// Returns status and code: never a 2xx, by which the proxy would forward the request.
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Untrusted | Self::Header(_) | Self::NoClient => (StatusCode::BAD_REQUEST, "invalid_request"),
            Self::UnknownClient | Self::ForeignHost(_) | Self::OwnPath => FORBIDDEN,
        }
    }

    /// Returns the error response, and logs the error.
    pub(super) fn reply(&self, service: &OpenidService, proxy: &str) -> Response {
        if service.forward_faults.is_due(self.kind(), service.clock.elapsed()) {
            tracing::warn!(proxy, reason = self.to_string(), "forward auth refused a proxy");
        }
        error_body(self.status_and_code(), &self.to_string(), &json!({}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::FORWARD_FAULTS;

    fn faults() -> [ForwardFault; FORWARD_FAULTS] {
        [
            ForwardFault::Untrusted,
            HeaderFault::Missing("x-forwarded-uri").into(),
            ForwardFault::NoClient,
            ForwardFault::UnknownClient,
            ForwardFault::ForeignHost("https://app.example.com/.signpost/callback".to_owned()),
            ForwardFault::OwnPath,
        ]
    }

    #[test]
    fn every_fault_is_a_client_error() {
        for fault in faults() {
            assert!(fault.status_and_code().0.is_client_error(), "{fault}");
        }
    }

    #[test]
    fn fault_kinds_are_distinct() {
        assert_eq!(faults().map(|fault| fault.kind()), [0, 1, 2, 3, 4, 5]);
    }
}
