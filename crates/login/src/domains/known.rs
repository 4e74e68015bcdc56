//! A domain as it is known from memory, or was read just now.

use std::sync::Arc;

use signpost_store::WatchedVersion;

use super::Domain;

/// A domain, and how far it can be relied on.
#[derive(Clone, Debug)]
pub struct KnownDomain {
    /// The domain.
    pub domain: Arc<Domain>,
    /// The state of the database that it is of: it may only let somebody in, by a write that names this
    /// ([`Step::as_of`](signpost_store::Step::as_of)), and never be the reason of a refusal. `None` where it was read for
    /// this request, or changes would have been told.
    pub as_of: Option<WatchedVersion>,
}

impl KnownDomain {
    /// A domain that was read for this request.
    #[must_use]
    pub fn read_now(domain: Domain) -> Self {
        Self { domain: Arc::new(domain), as_of: None }
    }
}
