//! The hours of the coming days, a day at a time, as people read them.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

use super::schedule::{OpenState, Schedule};

/// Most spans of a day: hours that change more often are no help to anybody.
const MAX_SPANS: usize = 8;
/// What is open until then in the morning was opened the evening before.
const LATE: Time = Time::constant(6, 0, 0, 0);

/// What the hours of one day are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDay {
    /// The day.
    pub date: Date,
    /// When it is open, in order; empty where it is closed all day.
    pub spans: Vec<OpenSpan>,
    /// Whether the hours themselves leave open what is so on this day.
    pub is_uncertain: bool,
}

/// A span of time in which something is open, on a clock there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenSpan {
    /// From when.
    pub opens: Time,
    /// Until when; midnight is the end of the day. Past midnight where it is before `opens`.
    pub closes: Time,
}

impl OpenSpan {
    /// From midnight to midnight.
    pub const WHOLE_DAY: Self = Self { opens: Time::MIN, closes: Time::MIN };
}

impl Schedule {
    /// The hours of the seven days from that of the moment `now` on, in the schedule's time zone. A span that goes on past
    /// midnight belongs to the day on which it began. `None` where the days do not differ: it never closes.
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
        let start_of = |date: Date| date.to_zoned_datetime(zone.clone()).map(|start| start.timestamp()).ok();
        let (Some(start), Some(end)) = (start_of(date), date.tomorrow().ok().and_then(start_of)) else { return day };
        let clock = |moment: Timestamp| zone.to_datetime(moment).time();
        let mut at = start;
        while at < end && day.spans.len() < MAX_SPANS {
            let opening = self.at(at);
            let change = opening.changes_at.unwrap_or(Timestamp::MAX).min(at + SignedDuration::from_hours(48));
            match opening.state {
                OpenState::Closed => {}
                OpenState::Unknown => day.is_uncertain = true,
                // It began the evening before, and stands there.
                OpenState::Open if at == start && self.is_late(start, change, zone) => {}
                OpenState::Open if change >= end && at == start => day.spans.push(OpenSpan::WHOLE_DAY),
                OpenState::Open => {
                    let is_late =
                        change > end && clock(change) <= LATE && change < end + SignedDuration::from_hours(12);
                    let closes = if is_late { clock(change) } else { clock(change.min(end)) };
                    day.spans.push(OpenSpan { opens: clock(at), closes });
                }
            }
            at = change.max(at + SignedDuration::from_secs(1));
        }
        day
    }

    /// Whether what is open at the start of a day, until `change`, is the end of the evening before.
    fn is_late(&self, start: Timestamp, change: Timestamp, zone: &TimeZone) -> bool {
        let until = zone.to_datetime(change);
        let is_soon = change < start + SignedDuration::from_hours(12) && until.time() <= LATE;
        let before = self.at(start - SignedDuration::from_secs(1));
        is_soon && before.state == OpenState::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hours::Hours;

    /// The week of a Friday, a day as text: `9-17`, nothing where it is closed, `?` where it is not certain.
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
    fn a_week_begins_today_and_has_each_day_once() {
        let nine = "09:00-17:00";
        assert_eq!(week("Mo-Fr 09:00-17:00"), [nine, "", "", nine, nine, nine, nine]);
        assert_eq!(week("Mo-Su 08:00-12:00,13:00-18:00")[3], "08:00-12:00,13:00-18:00");
        assert_eq!(week("Sa 00:00-24:00")[..3], ["", "00:00-00:00", ""]);
        assert_eq!(week("Sa \"by appointment\"")[..3], ["", "?", ""]);
    }

    #[test]
    fn a_night_belongs_to_the_evening_on_which_it_began() {
        assert_eq!(week("Mo-Su 18:00-02:00"), ["18:00-02:00"; 7]);
        assert_eq!(week("Fr 20:00-24:00")[..2], ["20:00-00:00", ""]);
        assert_eq!(week("24/7; Dec 25 off"), ["00:00-00:00"; 7]);
    }

    #[test]
    fn what_never_closes_has_no_week() {
        let schedule = Schedule::new(&Hours::Always, None, None).unwrap();
        assert_eq!(schedule.week(Timestamp::UNIX_EPOCH), None);
    }
}
