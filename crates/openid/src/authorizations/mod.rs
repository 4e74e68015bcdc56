//! Authorization requests: what a client asks for, and those that wait for their person to log in or to agree.
//!
//! This file and its neighbours are the rules, and pure; [`sql`] remembers.

mod answer;
mod decide;
mod parameters;
mod refusal;
mod request;
pub mod sql;

use jiff::{SignedDuration, Timestamp};
use signpost_login::ids::{DomainId, SessionId};
use signpost_platform::pages::cookie::CookieHash;
use signpost_store::rows;

use crate::ids::{AuthorizationId, ClientId};

pub use answer::{ReturnAddress, append_query, host_of};
pub use decide::{Decision, SignedInVisitor, decide};
pub use parameters::{MAX_QUERY_LEN, Parameters};
pub use refusal::{AuthorizationRefusal, RefusalCode};
pub use request::{AuthorizationRequest, PromptWish, PromptedFor};

/// How long a request waits for its person.
pub const MAX_WAIT: SignedDuration = SignedDuration::from_hours(1);

rows! {
    /// A request that waits, for one browser.
    #[derive(Clone, Debug)]
    pub struct WaitingAuthorization in "openid_authorizations" by [id] {
        /// Its name.
        pub id: AuthorizationId,
        /// Who asks.
        pub client_id: ClientId,
        /// Where its person logs in.
        pub domain_id: DomainId,
        /// The browser that it came from.
        pub cookie: CookieHash,
        /// Its parameters, as they came: a query.
        pub query: String,
        /// When it came.
        pub created_at: Timestamp,
        /// The session on the login page, where one is needed.
        pub session_id: Option<SessionId>,
    }
}

impl WaitingAuthorization {
    /// Whether it still waits, for a browser with this cookie, at this domain; takes the same time wherever cookies differ.
    #[must_use]
    pub fn waits_for(&self, cookie: &CookieHash, domain: &DomainId, now: Timestamp) -> bool {
        let is_here = self.domain_id == *domain && now < self.created_at + MAX_WAIT;
        self.cookie.matches(cookie) && is_here
    }
}

#[cfg(test)]
fn test_client() -> crate::clients::ClientSettings {
    let uris = crate::clients::RedirectUris::parse(["https://shop.test/cb"]).expect("a URI");
    crate::clients::ClientSettings::new(uris)
}
