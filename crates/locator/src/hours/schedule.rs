//! Evaluation of opening hours at a point in time.

use std::borrow::Cow;
use std::fmt;

use chrono::NaiveTime;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use opening_hours::localization::Country as Calendar;
use opening_hours::{Context, OpeningHours, RuleKind};

use super::Hours;
use crate::country::Country;

/// Maximum length of hours that are evaluated, in bytes: the limit of OpenStreetMap.
const MAX_TEXT_BYTES: usize = 255;
/// Maximum number of days to search for the next change.
const MAX_AHEAD_DAYS: i64 = 370;

/// Parsed opening hours in a time zone.
#[derive(Clone)]
pub struct Schedule(Rules);

#[derive(Clone)]
enum Rules {
    Always,
    Rules { rules: OpeningHours, zone: TimeZone },
}

/// Whether opening hours are open, closed or uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenState {
    /// The time is within the opening hours.
    Open,
    /// The time is outside the opening hours.
    Closed,
    /// The hours themselves state that it is unknown.
    Unknown,
}

/// The result of evaluating opening hours at a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The state.
    pub state: OpenState,
    /// The time of the next change, if it is within about a year.
    pub changes_at: Option<Timestamp>,
    /// The time until which the result is valid: the next change, or the next required evaluation.
    pub valid_until: Timestamp,
}

/// The reason why hours cannot be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotEvaluated {
    /// The hours are not in the grammar.
    #[error("its opening hours are not written in a form that can be evaluated")]
    Words,
    /// The hours depend on sunrise or sunset.
    #[error("its opening hours follow the sun, which is not evaluated")]
    Sun,
    /// The time zone is unknown.
    #[error("its time zone is not known")]
    NoZone,
}

/// Checks whether a text is in the grammar of OpenStreetMap's `opening_hours`.
pub(super) fn is_in_the_grammar(text: &str) -> bool {
    read(text).is_some()
}

fn read(text: &str) -> Option<OpeningHours> {
    if text.len() <= MAX_TEXT_BYTES { with_unknown(text).parse().ok() } else { None }
}

/// Adds `unknown` to rules with only a comment, such as `Sa "by appointment"`. The library would evaluate them as open
/// all day.
fn with_unknown(text: &str) -> Cow<'_, str> {
    if !text.split(';').any(has_only_a_comment) {
        return text.into();
    }
    let rules = text.split(';').map(|rule| {
        if has_only_a_comment(rule) { Cow::from(rule.replacen('"', "unknown \"", 1)) } else { Cow::from(rule) }
    });
    rules.collect::<Vec<_>>().join(";").into()
}

fn has_only_a_comment(rule: &str) -> bool {
    const STATES: [&str; 6] = [":", "open", "closed", "off", "unknown", "24/7"];
    if rule.matches('"').count() != 2 {
        return false;
    }
    let outside: String = rule.split('"').step_by(2).collect();
    !STATES.iter().any(|state| outside.contains(state))
}

impl Schedule {
    /// Creates a schedule for hours in the time zone with this IANA name. Public holidays are evaluated if the calendar
    /// of the country is known; regional holidays are uncertain.
    ///
    /// # Errors
    /// [`NotEvaluated`], if the hours cannot be evaluated.
    pub fn new(hours: &Hours, zone: Option<&str>, country: Option<Country>) -> Result<Self, NotEvaluated> {
        let Hours::Text(text) = hours else { return Ok(Self(Rules::Always)) };
        let lower = text.to_ascii_lowercase();
        if ["sunrise", "sunset", "dawn", "dusk"].iter().any(|event| lower.contains(event)) {
            return Err(NotEvaluated::Sun);
        }
        let rules = read(text).ok_or(NotEvaluated::Words)?;
        let zone = zone.and_then(|name| TimeZone::get(name).ok()).ok_or(NotEvaluated::NoZone)?;
        let mut context = Context::default().approx_bound_interval_size(chrono::TimeDelta::days(MAX_AHEAD_DAYS));
        if let Some(calendar) = country.and_then(|country| country.code().parse::<Calendar>().ok()) {
            context = context.with_holidays(calendar.holidays()).with_holidays_unknown(calendar.holidays_regional());
        }
        Ok(Self(Rules::Rules { rules: rules.with_context(context), zone }))
    }

    /// Evaluates the hours at the time `now`. When clocks are set back, both occurrences of the repeated hour have the
    /// same state. When clocks are set forward, changes in the skipped hour take effect at the transition.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Opening {
        let Rules::Rules { rules, zone } = &self.0 else {
            return Opening { state: OpenState::Open, changes_at: None, valid_until: Timestamp::MAX };
        };
        let local = naive(zone.to_datetime(now));
        let state = match rules.state(local).0 {
            RuleKind::Open => OpenState::Open,
            RuleKind::Closed => OpenState::Closed,
            RuleKind::Unknown => OpenState::Unknown,
        };
        let bound = local + chrono::TimeDelta::days(MAX_AHEAD_DAYS);
        let change = rules.next_change(local).filter(|change| *change < bound);
        let changes_at = change.and_then(|change| first_after(now, zone, change));
        let shift = zone.following(now).next().map(|transition| transition.timestamp());
        // The result is valid for at most a day, because the library ignores that uncertain holidays interrupt constant
        // hours.
        let midnight = local.date().succ_opt().and_then(|day| first_after(now, zone, day.and_time(NaiveTime::MIN)));
        let valid_until = [changes_at, shift, midnight].into_iter().flatten().fold(Timestamp::MAX, Timestamp::min);
        Opening { state, changes_at, valid_until }
    }

    /// Returns the time zone, or `None` if the hours are always open.
    pub(super) fn zone(&self) -> Option<&TimeZone> {
        match &self.0 {
            Rules::Always => None,
            Rules::Rules { zone, .. } => Some(zone),
        }
    }

    /// Formats a time in the schedule's time zone, with its offset. Returns `None` if the hours are always open.
    #[must_use]
    pub fn local(&self, moment: Timestamp) -> Option<String> {
        match &self.0 {
            Rules::Always => None,
            Rules::Rules { zone, .. } => Some(moment.display_with_offset(zone.to_offset(moment)).to_string()),
        }
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Rules::Always => f.write_str("24/7"),
            Rules::Rules { rules, zone } => write!(f, "{rules} in {}", zone.iana_name().unwrap_or("an unnamed zone")),
        }
    }
}

/// Returns the first time after `now` when clocks in the zone show this local time.
fn first_after(now: Timestamp, zone: &TimeZone, shown: chrono::NaiveDateTime) -> Option<Timestamp> {
    let shown = zone.to_ambiguous_timestamp(civil(shown)?);
    let is_skipped = matches!(shown.offset(), AmbiguousOffset::Gap { .. });
    let earlier = shown.earlier().ok()?;
    let later = shown.later().ok()?;
    if is_skipped {
        return zone.following(earlier).next().map(|shift| shift.timestamp());
    }
    [earlier, later].into_iter().find(|moment| *moment > now)
}

fn naive(local: DateTime) -> chrono::NaiveDateTime {
    let [month, day, hour, minute, second] =
        [local.month(), local.day(), local.hour(), local.minute(), local.second()].map(i8::unsigned_abs).map(u32::from);
    let date = chrono::NaiveDate::from_ymd_opt(local.year().into(), month, day);
    date.and_then(|date| date.and_hms_opt(hour, minute, second)).expect("a civil date is a date")
}

fn civil(shown: chrono::NaiveDateTime) -> Option<DateTime> {
    use chrono::{Datelike as _, Timelike as _};
    let year = i16::try_from(shown.year()).ok()?;
    let month = i8::try_from(shown.month()).ok()?;
    let day = i8::try_from(shown.day()).ok()?;
    let hour = i8::try_from(shown.hour()).ok()?;
    let minute = i8::try_from(shown.minute()).ok()?;
    let second = i8::try_from(shown.second()).ok()?;
    DateTime::new(year, month, day, hour, minute, second, 0).ok()
}
