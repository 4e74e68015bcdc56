//! The filters of a list, selected by `only` in the URL.

use jiff::Timestamp;
use signpost_locator::{AtmStatus, Freshness, Tri};

use crate::view::AtmView;

/// The ATMs that a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListFilter {
    All,
    Open,
    PaysOut,
    Checked,
}

impl ListFilter {
    pub(super) const EACH: [Self; 4] = [Self::All, Self::Open, Self::PaysOut, Self::Checked];

    /// Returns the filter with this value of `only`; [`Self::All`] for other values.
    pub(super) fn named(only: Option<&str>) -> Self {
        Self::EACH.into_iter().find(|filter| filter.name() == only).unwrap_or(Self::All)
    }

    /// Returns the value of `only` in the URL.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Open => Some("open"),
            Self::PaysOut => Some("sell"),
            Self::Checked => Some("checked"),
        }
    }

    /// Returns a query that ends in `&`, or nothing, with the filter added.
    pub(super) fn add_to(self, query: &str) -> String {
        match self.name() {
            Some(name) => format!("{query}only={name}&"),
            None => query.to_owned(),
        }
    }

    /// Returns `true` if the filter shows an ATM.
    pub(super) fn fits(self, view: &AtmView<'_>, now: Timestamp) -> bool {
        match self {
            Self::All => true,
            Self::Open => view.status.status == AtmStatus::Open,
            Self::PaysOut => view.record.sell == Tri::Yes,
            Self::Checked => !matches!(view.freshness(now), Freshness::Stale | Freshness::Never),
        }
    }
}
