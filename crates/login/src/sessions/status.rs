//! Where sessions stand, as the API says it, and which of them a list shows.

use serde::Serialize;

use crate::ids::{DomainId, SessionId};

/// Where a session stands. That it expired follows from the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the states are the specification's, §3")]
pub enum SessionStatus {
    Pending,
    Authenticated,
    Expired,
    Cancelled,
}

/// Which sessions are listed.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SessionFilter {
    pub before: Option<SessionId>,
    pub domain: Option<DomainId>,
    pub status: Option<SessionStatus>,
    pub most: u32,
}

impl SessionStatus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Authenticated, Self::Expired, Self::Cancelled];

    /// The word in requests and replies.
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
