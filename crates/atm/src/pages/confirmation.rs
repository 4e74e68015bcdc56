//! The sentence on a page about the last confirmation of an ATM: by reports of visitors, or by its sources.

use jiff::Timestamp;

use super::context::PageContext;
use super::report_form::quote;
use super::words::{capitalized, utc_date};
use crate::reports::Finding;
use crate::reports::evidence::ReportVerdict;
use crate::view::AtmView;

/// Maximum age of a confirmation, in days. Older ones are shown with their year.
const MAX_DAYS: i32 = 365;

/// The last confirmation of an ATM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Confirmation {
    /// Neither a report nor a dated record of a source exists.
    None,
    /// The sentence about a report of visitors that the ATM is missing, out of order, or different from the page.
    Doubted(String),
    /// The sentence about the confirmation.
    Confirmed(String),
    /// The sentence about a confirmation that is too old.
    Outdated(String),
}

impl Confirmation {
    /// Returns the confirmation of an ATM. Reports of visitors have priority over the dates of its sources.
    pub(super) fn of(context: &PageContext, view: &AtmView<'_>) -> Self {
        if let Some(reports) = view.reports
            && let Some(confirmation) = by_reports(context, view, &reports.verdict)
        {
            return confirmation;
        }
        let words = context.words();
        let record = view.record;
        let (at, text) = match (record.verified_at, record.reported_at) {
            (Some(checked), reported) if reported.is_none_or(|reported| reported <= checked) => {
                (checked, words.confirmed)
            }
            (_, Some(reported)) => (reported, words.reported),
            _ => return Self::None,
        };
        let days = days_since(context, at);
        if days > MAX_DAYS {
            return Self::Outdated((words.not_confirmed_since)(utc_date(at).year()));
        }
        Self::Confirmed(text(&(words.ago)(days)))
    }

    /// Returns the sentence, without a full stop.
    pub(super) fn sentence(&self, context: &PageContext) -> String {
        match self {
            Self::None => context.words().not_confirmed.to_owned(),
            Self::Doubted(text) | Self::Confirmed(text) | Self::Outdated(text) => text.clone(),
        }
    }
}

/// Returns the confirmation by reports, or `None` if there are none, or if they agree with a newer source.
fn by_reports(context: &PageContext, view: &AtmView<'_>, verdict: &ReportVerdict) -> Option<Confirmation> {
    let words = context.words();
    let newest_at = verdict.newest_at?;
    let people = verdict.people.get(&Finding::There).copied();
    let is_undisputed = verdict.decision.is_none() && verdict.people.keys().all(|seen| *seen == Finding::There);
    if is_undisputed && view.record.verified_at.max(view.record.reported_at) > Some(newest_at) {
        return None;
    }
    if let (Some(people), Some(verified_at), true) = (people, verdict.verified_at, is_undisputed) {
        let ago = (words.ago)(days_since(context, verified_at));
        return Some(Confirmation::Confirmed((words.confirmed_by)(people, &ago)));
    }
    let day = utc_date(newest_at);
    let is_this_year = day.year() == context.today().year();
    let day = if is_this_year { (words.day_and_month)(day) } else { (words.date)(day) };
    let sentence = format!("{} ({day})", capitalized(&quote(verdict, context.language)));
    let is_good = is_undisputed || verdict.decision.is_some_and(|decision| decision.seen == Finding::There);
    Some(if is_good && !verdict.is_disputed {
        Confirmation::Confirmed(sentence)
    } else {
        Confirmation::Doubted(sentence)
    })
}

/// Returns the number of days from the day of a time to today, in UTC.
fn days_since(context: &PageContext, at: Timestamp) -> i32 {
    utc_date(at).until(context.today()).map_or(i32::MAX, |span| span.get_days())
}
