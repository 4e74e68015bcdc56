//! The facts that are unknown for every ATM of a list. The list has one sentence about them, and its rows omit them.

use signpost_locator::{StatusReason, Tri};

use super::confirmation::Confirmation;
use super::context::PageContext;
use super::fact::UnknownFact;
use crate::view::AtmView;

/// Returns the facts that are unknown for all of these ATMs; none for an empty list.
pub(super) fn unknown_facts(context: &PageContext, views: &[&AtmView<'_>]) -> Vec<UnknownFact> {
    if views.is_empty() {
        return Vec::new();
    }
    let is_unknown_for_all = |fact: &UnknownFact| views.iter().all(|view| is_unknown(context, *fact, view));
    UnknownFact::EACH.into_iter().filter(is_unknown_for_all).collect()
}

fn is_unknown(context: &PageContext, fact: UnknownFact, view: &AtmView<'_>) -> bool {
    let record = view.record;
    match fact {
        UnknownFact::Hours => record.hours.is_none(),
        UnknownFact::Fee => record.more.as_deref().is_none_or(|more| more.fees.buy_percent.is_none()),
        UnknownFact::Services => record.buy == Tri::Unknown && record.sell == Tri::Unknown,
        UnknownFact::Confirmation => {
            !matches!(view.status.reason, StatusReason::Law(_)) && Confirmation::of(context, view) == Confirmation::None
        }
    }
}
