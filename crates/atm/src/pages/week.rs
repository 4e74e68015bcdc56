//! The opening hours of a machine, a day a line, with today marked.

use jiff::Timestamp;
use jiff::civil::{Time, Weekday};
use jiff::tz::TimeZone;
use maud::{Markup, html};
use signpost_locator::{Hours, OpenDay, OpenSpan, Record, Schedule};

use super::visit::LocatorVisit;
use super::words::LocatorWords;
use crate::view::MachineView;

/// What is known of the coming days.
#[derive(Debug)]
pub(super) enum MachineWeek {
    /// Its hours are not known.
    Unknown,
    /// It never closes.
    Always,
    /// The seven days from today on.
    Days(Vec<OpenDay>),
    /// In the source's words.
    Words,
}

impl MachineWeek {
    pub(super) fn of(view: &MachineView<'_>, now: Timestamp) -> Self {
        let record = view.record;
        let Some(hours) = &record.hours else { return Self::Unknown };
        if *hours == Hours::Always {
            return Self::Always;
        }
        let schedule = Schedule::new(hours, record.time_zone.as_deref(), record.address.country).ok();
        schedule.and_then(|schedule| schedule.week(now)).map_or(Self::Words, Self::Days)
    }
}

/// The day and the time that clocks show there.
pub(super) fn local_time(record: &Record, now: Timestamp) -> Option<(Weekday, Time)> {
    let zone = TimeZone::get(record.time_zone.as_deref()?).ok()?;
    let there = zone.to_datetime(now);
    Some((there.weekday(), Time::constant(there.hour(), there.minute(), 0, 0)))
}

/// The card of its hours.
pub(super) fn hours_card(visit: &LocatorVisit, view: &MachineView<'_>, week: &MachineWeek) -> Markup {
    let words = visit.words();
    html! {
        section.card {
            h2 { (words.hours) }
            @match week {
                MachineWeek::Unknown => { p { (words.hours_unknown) } }
                MachineWeek::Always => { p { (words.always) } }
                MachineWeek::Words => { p { bdi { (view.record.hours.as_ref().map_or("", Hours::text)) } } p.xs.soft.gap-sm { (words.hours_in_words) } }
                MachineWeek::Days(days) => (table(words, days)),
            }
            @if let (MachineWeek::Days(_), Some(zone)) = (week, &view.record.time_zone) {
                p.xs.soft.gap { ((words.time_zone)(zone)) }
            }
        }
    }
}

/// Monday first, whatever day it is.
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
                            (capitalised((words.weekday)(day.date.weekday())))
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
    let span = |span: &OpenSpan| {
        if *span == OpenSpan::WHOLE_DAY {
            return words.all_day.to_owned();
        }
        (words.from_to)(&(words.time)(span.opens), &(words.time)(span.closes))
    };
    match (day.spans.as_slice(), day.is_uncertain) {
        ([], true) => words.uncertain.to_owned(),
        ([], false) => words.closed_that_day.to_owned(),
        (spans, _) => spans.iter().map(span).collect::<Vec<_>>().join(", "),
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
