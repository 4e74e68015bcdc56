//! The facts about ATMs that a list may lack for all of its ATMs.

/// A fact about ATMs that visitors look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnknownFact {
    Hours,
    Fee,
    Services,
    /// A date on which the ATM was known to be there.
    Confirmation,
}

impl UnknownFact {
    pub(super) const EACH: [Self; 4] = [Self::Hours, Self::Fee, Self::Services, Self::Confirmation];
}
