//! Yes, no, or not known.

use serde::{Deserialize, Serialize};

/// A yes-or-no answer that may be unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tri {
    /// Yes, as stated by the source.
    Yes,
    /// No, as stated by the source.
    No,
    /// Not stated.
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
