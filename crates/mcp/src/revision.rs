use std::fmt;

/// A revision of the Model Context Protocol, ordered by age.
///
/// Connections of the four revisions before 2026-07-28 start with `initialize`; since then every request has its
/// revision in `params._meta` and the server has no state between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// The first: HTTP with SSE, later deprecated.
    V2024_11_05,
    /// Streamable HTTP, tool annotations.
    V2025_03_26,
    /// `structuredContent`, the `MCP-Protocol-Version` header, no batches.
    V2025_06_18,
    /// Errors of arguments are results of the tool, so that the model can correct them.
    V2025_11_25,
    /// Stateless: `server/discover` instead of `initialize`.
    V2026_07_28,
}

impl Revision {
    /// The supported revisions, newest first, in the order of preference.
    pub const ALL: [Self; 5] =
        [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26, Self::V2024_11_05];

    /// The revision of requests without a version, defined by the protocol for servers that support clients without the
    /// `MCP-Protocol-Version` header.
    pub const ASSUMED: Self = Self::V2025_03_26;

    /// Returns the name in the protocol.
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

    /// Parses the name of a supported revision.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// Checks whether requests are stateless (since 2026-07-28), without an `initialize`.
    #[must_use]
    pub const fn is_stateless(self) -> bool {
        // The old revisions are listed, so that future revisions are stateless.
        !matches!(self, Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25)
    }

    /// Returns the newest revision with `initialize`.
    pub(crate) fn newest_stateful() -> Self {
        Self::ALL.into_iter().find(|revision| !revision.is_stateless()).expect("ALL contains revisions with initialize")
    }

    /// Returns the negotiated revision: the requested revision if it is supported and has `initialize`, otherwise the
    /// newest revision with `initialize`.
    pub(crate) fn negotiate(requested: Option<&str>) -> Self {
        requested
            .and_then(Self::parse)
            .filter(|revision| !revision.is_stateless())
            .unwrap_or_else(Self::newest_stateful)
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
    fn revisions_are_listed_newest_first() {
        assert!(Revision::ALL.is_sorted_by(|newer, older| newer > older));
        assert!(Revision::ALL.into_iter().all(|revision| Revision::parse(revision.as_str()) == Some(revision)));
    }

    #[test]
    fn newest_initialize_revision_is_offered() {
        let (new, old): (Vec<_>, Vec<_>) = Revision::ALL.into_iter().partition(|revision| revision.is_stateless());
        assert_eq!([new, old.clone()].concat(), Revision::ALL, "no revision returns to initialize");
        for asked in [None, Some("2099-01-01"), Some(Revision::ALL[0].as_str())] {
            assert_eq!(Revision::negotiate(asked), old[0], "{asked:?}");
        }
        for revision in old {
            assert_eq!(Revision::negotiate(Some(revision.as_str())), revision);
        }
    }
}
