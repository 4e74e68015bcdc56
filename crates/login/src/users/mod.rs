//! Hosted handlers: for a domain that wants it the service itself answers the wallets and keeps the users, so that its
//! integrator writes no cryptography (docs/handlers.md, Hosted handlers).

pub mod sql;

use jiff::Timestamp;
use serde::Serialize;
use signpost_store::rows;

use crate::ids::DomainId;

rows! {
    /// Somebody who registered with a domain: a public key, in its one canonical spelling.
    #[derive(Clone, Debug, Serialize)]
    #[expect(missing_docs, reason = "the names say it")]
    pub struct HostedUser in "users" by [domain_id, public_key] {
        #[serde(skip)]
        pub domain_id: DomainId,
        pub public_key: String,
        pub created_at: Timestamp,
    } later {
        #[serde(skip_serializing_if = "Option::is_none")]
        pub last_login_at: Option<Timestamp>,
    }
}
