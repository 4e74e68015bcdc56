//! A Boolean value that may be unknown.

use serde::{Deserialize, Serialize};

/// A yes-or-no answer that may be unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tri {
    /// The source states yes.
    Yes,
    /// The source states no.
    No,
    /// The source does not state it.
    #[default]
    Unknown,
}

impl Tri {
    /// Returns the answer, or `None` if it is unknown.
    #[must_use]
    pub fn known(self) -> Option<Self> {
        (self != Self::Unknown).then_some(self)
    }
}
