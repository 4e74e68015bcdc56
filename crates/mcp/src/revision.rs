//! The supported revisions of the Model Context Protocol, and their negotiation.

use std::fmt;

/// A revision of the Model Context Protocol. Revisions are ordered by date.
///
/// In the four revisions before 2026-07-28, a connection starts with `initialize`. Since 2026-07-28, every request
/// contains its revision in `params._meta`, and the server stores no state between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// The first revision. Its HTTP+SSE transport was later deprecated.
    V2024_11_05,
    /// Introduces Streamable HTTP and tool annotations.
    V2025_03_26,
    /// Introduces `structuredContent` and the `MCP-Protocol-Version` header, and removes batches.
    V2025_06_18,
    /// Reports invalid arguments as tool results, so that the model can correct them.
    V2025_11_25,
    /// Makes the protocol stateless, with `server/discover` instead of `initialize`.
    V2026_07_28,
}

impl Revision {
    /// The supported revisions in order of preference, newest first.
    pub const ALL: [Self; 5] =
        [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26, Self::V2024_11_05];

    /// The revision of HTTP requests without the `MCP-Protocol-Version` header, as the protocol defines it.
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

    /// Returns `true` if requests are stateless and there is no `initialize` (since 2026-07-28).
    #[must_use]
    pub const fn is_stateless(self) -> bool {
        // The stateful revisions are listed, so that future revisions are stateless by default.
        !matches!(self, Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25)
    }

    /// Returns the newest revision with `initialize`.
    pub(crate) fn newest_stateful() -> Self {
        Self::ALL.into_iter().find(|revision| !revision.is_stateless()).expect("ALL contains revisions with initialize")
    }

    /// Negotiates the revision for `initialize`: the requested revision if it is supported and has `initialize`,
    /// otherwise the newest revision with `initialize`.
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
