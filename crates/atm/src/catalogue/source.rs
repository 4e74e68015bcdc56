//! Sources of ATMs.

use jiff::Timestamp;
use signpost_store::rows;

/// The source of the sample ATMs that an empty catalogue is filled with.
pub const SAMPLE: &str = "sample";

/// Prefix of the sources of operators that submit ATMs with an API key.
pub const OPERATOR: &str = "operator/";

rows! {
    /// A source of ATMs.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Source in "atm_sources" by [name] {
        /// The name.
        pub name: String,
        /// The attribution that the licence requires.
        pub attribution: String,
        /// The time of the last import.
        pub imported_at: Timestamp,
    }
}

impl Source {
    /// Returns the source of the ATMs that an account submits.
    #[must_use]
    pub fn of_operator(account: &str, now: Timestamp) -> Self {
        Self { name: format!("{OPERATOR}{account}"), attribution: format!("Reported by {account}"), imported_at: now }
    }
}
