//! The status of an ATM on a page, shown as a word, a shape and a date, and never only by colour.

use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use signpost_locator::{AtmStatus, StatusReason};

use super::words::{LocatorWords, utc_date};
use crate::catalogue::{Moment, NextOpening};
use crate::map::StatusShape;
use crate::view::AtmView;

/// Renders the shape of a status in a square with this side length in pixels.
pub(super) fn status_shape(status: AtmStatus, pixels: u8) -> Markup {
    html! {
        svg width=(pixels) height=(pixels) viewBox="0 0 12 12" fill="none" stroke="currentColor" stroke-width="1.6"
            stroke-linecap="round" aria-hidden="true" {
            @match StatusShape::of(status) {
                StatusShape::Open => { circle cx="6" cy="6" r="5" fill="currentColor" stroke="none" {} }
                StatusShape::Closed => { circle cx="6" cy="6" r="4.2" {} }
                StatusShape::Paused => {
                    circle cx="6" cy="6" r="4.2" {}
                    path d="M3.5 6h5" {}
                }
                StatusShape::Out => {
                    path fill="currentColor" stroke="none" fill-rule="evenodd"
                        d="M2.5 1h7A1.5 1.5 0 0 1 11 2.5v7A1.5 1.5 0 0 1 9.5 11h-7A1.5 1.5 0 0 1 1 9.5v-7A1.5 1.5 0 0 1 2.5 1zM4 3.3l-.7.7 2 2-2 2 .7.7 2-2 2 2 .7-.7-2-2 2-2-.7-.7-2 2z" {}
                }
                StatusShape::Unknown => {
                    path d="M6 .9 11.1 6 6 11.1.9 6z" {}
                    path d="M6 3.7v2.6M6 8.2h.01" {}
                }
            }
        }
    }
}

/// Formats the status, such as `Open until 10 pm` or `Hours not known`.
pub(super) fn status_text(words: &LocatorWords, moment: &Moment<'_>, view: &AtmView<'_>) -> String {
    let next = moment.next_opening(view.entry, view.status.status);
    match (view.status.status, view.status.reason) {
        (AtmStatus::Open, StatusReason::AlwaysOpen) => words.open_always.to_owned(),
        (AtmStatus::Open, _) => match next {
            Some(NextOpening::ClosesAt(at)) => (words.open_until)(&format_time(words, at, moment.now())),
            _ => words.open.to_owned(),
        },
        (AtmStatus::Closed, _) => match next {
            Some(NextOpening::OpensAt(at)) => (words.closed_until)(&format_time(words, at, moment.now())),
            _ => words.closed.to_owned(),
        },
        (AtmStatus::TemporarilyClosed, _) => words.closed_for_now.to_owned(),
        (AtmStatus::PermanentlyClosed, _) => words.closed_for_good.to_owned(),
        (AtmStatus::OutOfService, _) => words.out_of_service.to_owned(),
        (AtmStatus::Unknown, reason) => {
            let year = view.record.known_at().map(|at| utc_date(at).year());
            (words.unknown_status)(reason, year)
        }
    }
}

/// Formats a local time, such as `10 pm`. Times more than 20 hours ahead have a weekday (`Monday, 7 am`) or are only a
/// date.
fn format_time(words: &LocatorWords, at: &str, now: Timestamp) -> String {
    let Ok(moment) = at.parse::<Timestamp>() else { return at.to_owned() };
    let Some(Ok(local)) = at.get(..19).map(str::parse::<DateTime>) else { return at.to_owned() };
    let time = (words.time)(local.time());
    let left = moment.duration_since(now);
    if left < SignedDuration::from_hours(20) {
        return time;
    }
    if left < SignedDuration::from_hours(6 * 24) {
        return (words.on_day)((words.weekday)(local.weekday()), &time);
    }
    (words.long_date)(local.date())
}
