//! Which machines of a list are shown; the choice stands in the address.

use jiff::Timestamp;
use signpost_locator::{AtmStatus, Freshness, Tri};

use crate::view::MachineView;

/// Which machines a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListFilter {
    All,
    Open,
    PaysOut,
    Checked,
}

impl ListFilter {
    pub(super) const EACH: [Self; 4] = [Self::All, Self::Open, Self::PaysOut, Self::Checked];

    /// The one that `only` in an address names; all, where it names none.
    pub(super) fn named(only: Option<&str>) -> Self {
        Self::EACH.into_iter().find(|filter| only.is_some() && filter.name() == only).unwrap_or(Self::All)
    }

    /// As in an address.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Open => Some("open"),
            Self::PaysOut => Some("sell"),
            Self::Checked => Some("checked"),
        }
    }

    pub(super) fn fits(self, view: &MachineView<'_>, now: Timestamp) -> bool {
        match self {
            Self::All => true,
            Self::Open => view.status.status == AtmStatus::Open,
            Self::PaysOut => view.record.sell == Tri::Yes,
            Self::Checked => !matches!(view.freshness(now), Freshness::Stale | Freshness::Never),
        }
    }
}
