//! The card on an ATM's page with its opening hours in the next seven days.

use jiff::Timestamp;
use jiff::civil::{Time, Weekday};
use jiff::tz::TimeZone;
use maud::{Markup, html};
use signpost_locator::{Hours, OpenDay, OpenSpan, Record, Schedule};

use super::context::PageContext;
use super::words::{LocatorWords, capitalized};
use crate::view::AtmView;

/// The opening hours of an ATM in the next seven days.
#[derive(Debug)]
pub(super) enum AtmWeek {
    /// The hours are not known.
    Unknown,
    /// The ATM never closes.
    Always,
    /// The opening hours of seven days, starting today.
    Days(Vec<OpenDay>),
    /// The hours are only known as free text.
    Words,
}

impl AtmWeek {
    /// Evaluates the opening hours of an ATM, starting today.
    pub(super) fn of(view: &AtmView<'_>, now: Timestamp) -> Self {
        let record = view.record;
        let Some(hours) = &record.hours else { return Self::Unknown };
        if *hours == Hours::Always {
            return Self::Always;
        }
        match Schedule::new(hours, record.time_zone.as_deref(), record.address.country) {
            Ok(schedule) => schedule.week(now).map_or(Self::Words, Self::Days),
            Err(_) => Self::Words,
        }
    }
}

/// Returns the current weekday and time in the time zone of an ATM.
pub(super) fn local_time(record: &Record, now: Timestamp) -> Option<(Weekday, Time)> {
    let zone = TimeZone::get(record.time_zone.as_deref()?).ok()?;
    let there = zone.to_datetime(now);
    Some((there.weekday(), Time::constant(there.hour(), there.minute(), 0, 0)))
}

/// Renders the card of the opening hours.
pub(super) fn hours_card(context: &PageContext, view: &AtmView<'_>, week: &AtmWeek) -> Markup {
    let words = context.words();
    html! {
        section.card {
            h2 { (words.hours) }
            @match week {
                AtmWeek::Unknown => { p { (words.hours_unknown) } }
                AtmWeek::Always => { p { (words.always) } }
                AtmWeek::Words => { p { bdi { (view.record.hours.as_ref().map_or("", Hours::text)) } } p.xs.soft.gap-sm { (words.hours_in_words) } }
                AtmWeek::Days(days) => {
                    (table(words, days))
                    @if let Some(zone) = &view.record.time_zone { p.xs.soft.gap { ((words.time_zone)(zone)) } }
                }
            }
        }
    }
}

/// Renders the week as a table that starts on Monday.
fn table(words: &LocatorWords, days: &[OpenDay]) -> Markup {
    let today = days.first().map(|day| day.date);
    let mut days: Vec<&OpenDay> = days.iter().collect();
    days.sort_by_key(|day| day.date.weekday().to_monday_zero_offset());
    html! {
        table.hours {
            caption.vh { (words.hours) }
            tbody {
                @for day in days {
                    @let is_today = today == Some(day.date);
                    tr.today[is_today] aria-current=[is_today.then_some("date")] {
                        th scope="row" {
                            (capitalized((words.weekday)(day.date.weekday())))
                            @if is_today { ", " (words.today) }
                        }
                        td { (spans(words, day)) }
                    }
                }
            }
        }
    }
}

fn spans(words: &LocatorWords, day: &OpenDay) -> String {
    if day.spans.is_empty() {
        return if day.is_uncertain { words.uncertain.to_owned() } else { words.closed_that_day.to_owned() };
    }
    let spans = day.spans.iter().map(|span| {
        if *span == OpenSpan::WHOLE_DAY {
            return words.all_day.to_owned();
        }
        (words.from_to)(&(words.time)(span.opens), &(words.time)(span.closes))
    });
    spans.collect::<Vec<_>>().join(", ")
}
