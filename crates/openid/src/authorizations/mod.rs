//! Authorization requests: parses and validates their parameters, decides on them, and stores them
//! while the user logs in or consents.
//!
//! The rules in this module are pure; [`sql`] has the queries.

mod answer;
mod decide;
mod error;
mod parameters;
mod request;
pub mod sql;

use jiff::{SignedDuration, Timestamp};
use signpost_login::ids::{DomainId, SessionId};
use signpost_platform::pages::cookie::CookieHash;
use signpost_store::rows;

use crate::ids::{AuthorizationId, ClientId};

pub use answer::{RedirectTarget, append_query, host_of};
pub use decide::{Decision, SignedInVisitor, decide};
pub use error::{AuthorizationError, AuthorizationErrorCode};
pub use parameters::{MAX_QUERY_LEN, Parameters};
pub use request::{PromptMode, PromptOptions, ValidatedAuthorizationRequest};

/// Lifetime of a pending authorization.
pub const MAX_WAIT: SignedDuration = SignedDuration::from_hours(1);

rows! {
    /// An authorization request that is pending for a browser.
    #[derive(Clone, Debug)]
    pub struct PendingAuthorization in "openid_authorizations" by [id] {
        /// The ID of the pending authorization.
        pub id: AuthorizationId,
        /// The client that sent the request.
        pub client_id: ClientId,
        /// The domain of the issuer.
        pub domain_id: DomainId,
        /// The page cookie of the browser.
        pub cookie: CookieHash,
        /// The parameters as received, as a query.
        pub query: String,
        /// The time of the request.
        pub created_at: Timestamp,
        /// The session of the login page, if the user must log in.
        pub session_id: Option<SessionId>,
    }
}

impl PendingAuthorization {
    /// Returns true if the authorization belongs to this browser and domain, and has not expired.
    /// Compares the cookie in constant time.
    #[must_use]
    pub fn belongs_to(&self, cookie: &CookieHash, domain: &DomainId, now: Timestamp) -> bool {
        let is_current = self.domain_id == *domain && now < self.created_at + MAX_WAIT;
        self.cookie.matches(cookie) && is_current
    }
}

#[cfg(test)]
fn test_client() -> crate::clients::ClientSettings {
    let uris = crate::clients::RedirectUris::parse(["https://shop.test/cb"]).expect("a URI");
    crate::clients::ClientSettings::new(uris)
}
