//! Yes, no, or not known.

use serde::{Deserialize, Serialize};

/// An answer that may be missing. Only what a source says explicitly is a yes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tri {
    /// The source says so.
    Yes,
    /// The source denies it.
    No,
    /// The source says nothing.
    #[default]
    Unknown,
}

impl Tri {
    /// The answer, or `None` where there is none.
    #[must_use]
    pub fn known(self) -> Option<Self> {
        (self != Self::Unknown).then_some(self)
    }
}
