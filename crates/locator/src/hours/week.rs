//! The opening hours of the next seven days, for display.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

use super::schedule::{OpenState, Schedule};

/// Maximum number of spans in a day.
const MAX_SPANS: usize = 8;
/// Latest end of a span that counts as part of the previous evening.
const LATEST_NIGHT_END: Time = Time::constant(6, 0, 0, 0);

/// The opening hours of one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDay {
    /// The date.
    pub date: Date,
    /// The spans in chronological order; empty if the ATM is closed all day.
    pub spans: Vec<OpenSpan>,
    /// Whether the hours of this day are uncertain.
    pub is_uncertain: bool,
}

/// A span of opening hours, in local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenSpan {
    /// The start of the span.
    pub opens: Time,
    /// The end of the span. Midnight means the end of the day; a time before `opens` is on the next day.
    pub closes: Time,
}

impl OpenSpan {
    /// The span of a whole day, from midnight to midnight.
    pub const WHOLE_DAY: Self = Self { opens: Time::MIN, closes: Time::MIN };
}

impl Schedule {
    /// Returns the hours of seven days, starting with the day of `now`, in the schedule's time zone. A span that ends
    /// after midnight belongs to the day on which it starts. Returns `None` if the hours are always open.
    ///
    /// ```
    /// # use signpost_locator::{Hours, Schedule};
    /// let hours = Hours::parse("Mo-Fr 09:00-17:00").unwrap();
    /// let schedule = Schedule::new(&hours, Some("America/Chicago"), None).unwrap();
    /// let week = schedule.week("2026-11-20T18:00:00Z".parse().unwrap()).unwrap();
    /// assert_eq!(week[0].spans[0].closes.to_string(), "17:00:00");
    /// assert!(week[1].spans.is_empty(), "a Saturday");
    /// ```
    #[must_use]
    pub fn week(&self, now: Timestamp) -> Option<Vec<OpenDay>> {
        let zone = self.zone()?;
        let today = zone.to_datetime(now).date();
        let days = (0..7).map_while(|day| today.checked_add(day.days()).ok());
        Some(days.map(|date| self.day(date, zone)).collect())
    }

    fn day(&self, date: Date, zone: &TimeZone) -> OpenDay {
        let mut day = OpenDay { date, spans: Vec::new(), is_uncertain: false };
        let Some(start) = start_of(date, zone) else { return day };
        let Ok(tomorrow) = date.tomorrow() else { return day };
        let Some(end) = start_of(tomorrow, zone) else { return day };
        let mut at = start;
        while at < end && day.spans.len() < MAX_SPANS {
            let opening = self.at(at);
            let change = opening.changes_at.unwrap_or(Timestamp::MAX).min(at + SignedDuration::from_hours(48));
            match opening.state {
                OpenState::Closed => {}
                OpenState::Unknown => day.is_uncertain = true,
                // The span belongs to the previous evening.
                OpenState::Open if at == start && self.is_late(start, change, zone) => {}
                OpenState::Open if change >= end && at == start => day.spans.push(OpenSpan::WHOLE_DAY),
                OpenState::Open => {
                    let until = zone.to_datetime(change).time();
                    let is_late =
                        change > end && until <= LATEST_NIGHT_END && change < end + SignedDuration::from_hours(12);
                    let closes = if is_late { until } else { zone.to_datetime(change.min(end)).time() };
                    day.spans.push(OpenSpan { opens: zone.to_datetime(at).time(), closes });
                }
            }
            at = change.max(at + SignedDuration::from_secs(1));
        }
        day
    }

    /// Checks whether a span from the start of a day to `change` is the continuation of a span on the previous evening.
    fn is_late(&self, start: Timestamp, change: Timestamp, zone: &TimeZone) -> bool {
        let until = zone.to_datetime(change);
        let is_soon = change < start + SignedDuration::from_hours(12) && until.time() <= LATEST_NIGHT_END;
        let before = self.at(start - SignedDuration::from_secs(1));
        is_soon && before.state == OpenState::Open
    }
}

fn start_of(date: Date, zone: &TimeZone) -> Option<Timestamp> {
    date.to_zoned_datetime(zone.clone()).map(|start| start.timestamp()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hours::Hours;

    /// Formats the week from a Friday, with a text for each day: `9-17`, empty if closed, with `?` if uncertain.
    fn week(text: &str) -> Vec<String> {
        let schedule = Schedule::new(&Hours::parse(text).unwrap(), Some("America/Chicago"), None).unwrap();
        let days = schedule.week("2026-11-20T18:00:00Z".parse().unwrap()).unwrap();
        let span = |span: &OpenSpan| format!("{}-{}", span.opens.strftime("%H:%M"), span.closes.strftime("%H:%M"));
        let day = |day: &OpenDay| {
            let spans: Vec<_> = day.spans.iter().map(span).collect();
            spans.join(",") + if day.is_uncertain { "?" } else { "" }
        };
        days.iter().map(day).collect()
    }

    #[test]
    fn week_begins_today_and_has_each_day_once() {
        let nine = "09:00-17:00";
        assert_eq!(week("Mo-Fr 09:00-17:00"), [nine, "", "", nine, nine, nine, nine]);
        assert_eq!(week("Mo-Su 08:00-12:00,13:00-18:00")[3], "08:00-12:00,13:00-18:00");
        assert_eq!(week("Sa 00:00-24:00")[..3], ["", "00:00-00:00", ""]);
        assert_eq!(week("Sa \"by appointment\"")[..3], ["", "?", ""]);
    }

    #[test]
    fn night_belongs_to_the_preceding_evening() {
        assert_eq!(week("Mo-Su 18:00-02:00"), ["18:00-02:00"; 7]);
        assert_eq!(week("Fr 20:00-24:00")[..2], ["20:00-00:00", ""]);
        assert_eq!(week("24/7; Dec 25 off"), ["00:00-00:00"; 7]);
    }

    #[test]
    fn always_open_hours_have_no_week() {
        let schedule = Schedule::new(&Hours::Always, None, None).unwrap();
        assert_eq!(schedule.week(Timestamp::UNIX_EPOCH), None);
    }
}
