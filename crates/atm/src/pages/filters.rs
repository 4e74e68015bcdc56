//! The filters for lists of ATMs, selected by the URL parameter `only`.

use jiff::Timestamp;
use signpost_locator::{AtmStatus, Freshness, Tri};

use crate::view::AtmView;

/// A filter for a list of ATMs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListFilter {
    All,
    Open,
    PaysOut,
    Checked,
}

impl ListFilter {
    pub(super) const EACH: [Self; 4] = [Self::All, Self::Open, Self::PaysOut, Self::Checked];

    /// Parses a value of the URL parameter `only`. Unknown and missing values are [`Self::All`].
    pub(super) fn named(only: Option<&str>) -> Self {
        Self::EACH.into_iter().find(|filter| filter.name() == only).unwrap_or(Self::All)
    }

    /// Returns the value of the URL parameter `only`, or `None` for [`Self::All`].
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Open => Some("open"),
            Self::PaysOut => Some("sell"),
            Self::Checked => Some("checked"),
        }
    }

    /// Appends the filter to a query. Both `query` and the result are empty or end in `&`.
    pub(super) fn add_to(self, query: &str) -> String {
        match self.name() {
            Some(name) => format!("{query}only={name}&"),
            None => query.to_owned(),
        }
    }

    /// Returns `true` if an ATM matches the filter.
    pub(super) fn fits(self, view: &AtmView<'_>, now: Timestamp) -> bool {
        match self {
            Self::All => true,
            Self::Open => view.status.status == AtmStatus::Open,
            Self::PaysOut => view.record.sell == Tri::Yes,
            Self::Checked => !matches!(view.freshness(now), Freshness::Stale | Freshness::Never),
        }
    }
}
