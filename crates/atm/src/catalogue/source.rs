//! Where machines come from.

use jiff::Timestamp;
use signpost_store::rows;

/// The source of the machines that an empty catalogue is filled with.
pub const SAMPLE: &str = "sample";

/// How the names of sources begin that operators have by their API keys.
pub const OPERATOR: &str = "operator/";

rows! {
    /// Where machines come from.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Source in "atm_sources" by [name] {
        /// Its name.
        pub name: String,
        /// What its licence wants to be said.
        pub attribution: String,
        /// When it was last imported.
        pub imported_at: Timestamp,
    }
}

impl Source {
    /// What an operator submits of its own machines.
    #[must_use]
    pub fn of_operator(account: &str, now: Timestamp) -> Self {
        Self { name: format!("{OPERATOR}{account}"), attribution: format!("Reported by {account}"), imported_at: now }
    }
}
