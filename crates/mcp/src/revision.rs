use std::fmt;

/// A revision of the Model Context Protocol, oldest first, so that `>=` reads as "at least as new as".
///
/// The four revisions before 2026-07-28 begin with `initialize`; since then every request carries its revision in
/// `params._meta` and a server keeps nothing between two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// The first: HTTP with SSE, later deprecated.
    V2024_11_05,
    /// Streamable HTTP, tool annotations.
    V2025_03_26,
    /// `structuredContent`, the `MCP-Protocol-Version` header, no more batches.
    V2025_06_18,
    /// A bad argument is a tool's result, so that the model can correct itself.
    V2025_11_25,
    /// Stateless: `server/discover` instead of `initialize`.
    V2026_07_28,
}

impl Revision {
    /// Every revision this crate speaks, newest first: the order in which a client should prefer them.
    pub const ALL: [Self; 5] =
        [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26, Self::V2024_11_05];

    /// What a request without any sign of a revision is taken for, as the protocol asks of servers that also serve
    /// clients older than the `MCP-Protocol-Version` header.
    pub const ASSUMED: Self = Self::V2025_03_26;

    /// The revision as the protocol writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision that `text` names, if this crate speaks it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// Whether every request stands alone (since 2026-07-28), rather than after an `initialize`.
    #[must_use]
    pub const fn is_stateless(self) -> bool {
        // The old ones are named: whatever comes next is like the newest.
        !matches!(self, Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25)
    }

    /// The newest revision that begins with `initialize`.
    pub(crate) fn newest_stateful() -> Self {
        Self::ALL.into_iter().find(|revision| !revision.is_stateless()).expect("ALL holds revisions with initialize")
    }

    /// The revision that `initialize` answers: the one asked for if it has an `initialize`, else the newest that has.
    pub(crate) fn negotiate(asked: Option<&str>) -> Self {
        asked.and_then(Self::parse).filter(|revision| !revision.is_stateless()).unwrap_or_else(Self::newest_stateful)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_revisions_are_there_newest_first() {
        assert!(Revision::ALL.is_sorted_by(|newer, older| newer > older));
        assert!(Revision::ALL.into_iter().all(|revision| Revision::parse(revision.as_str()) == Some(revision)));
    }

    #[test]
    fn only_the_old_revisions_begin_with_initialize_and_the_newest_of_them_is_offered() {
        let (new, old): (Vec<_>, Vec<_>) = Revision::ALL.into_iter().partition(|revision| revision.is_stateless());
        assert_eq!([new, old.clone()].concat(), Revision::ALL, "no revision goes back to initialize");
        for asked in [None, Some("2099-01-01"), Some(Revision::ALL[0].as_str())] {
            assert_eq!(Revision::negotiate(asked), old[0], "{asked:?}");
        }
        for revision in old {
            assert_eq!(Revision::negotiate(Some(revision.as_str())), revision);
        }
    }
}
