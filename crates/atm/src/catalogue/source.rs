//! The sources of ATM data: imports, feeds, operators, and the fictional samples.

use jiff::Timestamp;
use signpost_store::rows;

/// Name of the source of the fictional ATMs that fill an empty catalogue.
pub const SAMPLE: &str = "sample";

/// Prefix of the source names of operators that submit ATMs with an API key.
pub const OPERATOR: &str = "operator/";

rows! {
    /// A source of ATM data.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Source in "atm_sources" by [name] {
        /// The unique name.
        pub name: String,
        /// The attribution that the licence requires.
        pub attribution: String,
        /// The time of the last import.
        pub imported_at: Timestamp,
    }
}

impl Source {
    /// Creates the source of the ATMs that an operator's account submits.
    #[must_use]
    pub fn of_operator(account: &str, now: Timestamp) -> Self {
        Self { name: format!("{OPERATOR}{account}"), attribution: format!("Reported by {account}"), imported_at: now }
    }
}
