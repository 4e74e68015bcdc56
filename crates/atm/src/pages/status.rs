//! The status of a machine as people read it: a word, a shape, and since when. Never by colour alone.

use jiff::Timestamp;
use jiff::civil::DateTime;
use maud::{Markup, html};
use signpost_locator::{AtmStatus, StatusReason};

use super::visit::LocatorVisit;
use super::words::LocatorWords;
use crate::catalogue::{Moment, NextOpening};
use crate::map::StatusShape;
use crate::view::MachineView;

/// The shape of a status, so many pixels wide.
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

/// The status in words, beside its shape.
pub(super) fn status_chip(visit: &LocatorVisit, moment: &Moment<'_>, view: &MachineView<'_>) -> Markup {
    let status = view.status.status;
    html! {
        span.chip.(StatusShape::of(status).class()) { (status_shape(status, 12)) (status_text(visit.words(), moment, view)) }
    }
}

/// `Open until 10 pm`, `Unknown: hours not known`.
pub(super) fn status_text(words: &LocatorWords, moment: &Moment<'_>, view: &MachineView<'_>) -> String {
    let next = moment.next_opening(view.entry, view.status.status);
    match (view.status.status, view.status.reason) {
        (AtmStatus::Open, StatusReason::AlwaysOpen) => words.open_always.to_owned(),
        (AtmStatus::Open, _) => match next {
            Some(NextOpening::ClosesAt(at)) => (words.open_until)(&spoken_time(words, at, moment.now())),
            _ => words.open.to_owned(),
        },
        (AtmStatus::Closed, _) => match next {
            Some(NextOpening::OpensAt(at)) => (words.closed_until)(&spoken_time(words, at, moment.now())),
            _ => words.closed.to_owned(),
        },
        (AtmStatus::TemporarilyClosed, _) => words.closed_for_now.to_owned(),
        (AtmStatus::PermanentlyClosed, _) => words.closed_for_good.to_owned(),
        (AtmStatus::OutOfService, _) => words.out_of_service.to_owned(),
        (AtmStatus::Unknown, reason) => {
            let year = view.record.known_at().map(|at| words.day_of(at).year());
            format!("{}: {}", words.unknown, (words.why_unknown)(reason, year))
        }
    }
}

/// A time on a clock there, with the day where it is not within a day: `10 pm`, `Monday, 7 am`.
fn spoken_time(words: &LocatorWords, at: &str, now: Timestamp) -> String {
    let moment: Option<Timestamp> = at.parse().ok();
    let shown: Option<DateTime> = at.get(..19).and_then(|text| text.parse().ok());
    let (Some(moment), Some(shown)) = (moment, shown) else { return at.to_owned() };
    let time = (words.time)(shown.time());
    if moment.duration_since(now) < jiff::SignedDuration::from_hours(20) {
        return time;
    }
    if moment.duration_since(now) < jiff::SignedDuration::from_hours(6 * 24) {
        return (words.on_day)((words.weekday)(shown.weekday()), &time);
    }
    (words.long_date)(shown.date())
}

/// Since when that is known: `checked 12 Nov 2026`. Of what is not known at all nobody could say when.
pub(super) fn since(words: &LocatorWords, view: &MachineView<'_>) -> Option<String> {
    let record = view.record;
    if let Some(seen) = view.seen_there_at() {
        return Some((words.checked_on)(&(words.date)(words.day_of(seen))));
    }
    match (record.verified_at, record.reported_at) {
        (Some(checked), reported) if reported.is_none_or(|reported| reported <= checked) => {
            Some((words.checked_on)(&(words.date)(words.day_of(checked))))
        }
        (_, Some(reported)) => Some((words.reported_on)(&(words.date)(words.day_of(reported)))),
        _ => (view.status.status != AtmStatus::Unknown).then(|| words.undated.to_owned()),
    }
}
