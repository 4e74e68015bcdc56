//! The status of a session in the API, and the filter for lists of sessions.

use serde::Serialize;

use crate::ids::{DomainId, SessionId};

/// The status of a session at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the states are the specification's, §3")]
pub enum SessionStatus {
    Pending,
    Authenticated,
    Expired,
    Cancelled,
}

/// The filter for a list of sessions.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct SessionFilter {
    pub before: Option<SessionId>,
    pub domain: Option<DomainId>,
    pub status: Option<SessionStatus>,
    pub limit: u32,
}

impl SessionStatus {
    /// All statuses.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Authenticated, Self::Expired, Self::Cancelled];

    /// Returns the name in requests and replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Authenticated => "authenticated",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }
}
