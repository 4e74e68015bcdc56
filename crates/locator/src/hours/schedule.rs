//! Hours as rules that can be asked about a moment.

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

/// Most bytes of hours that are evaluated, as in OpenStreetMap.
const MAX_TEXT_BYTES: usize = 255;
/// How far ahead a change is looked for.
const AHEAD_DAYS: i64 = 370;

/// The hours of machines in one time zone, ready to be asked.
#[derive(Clone)]
pub struct Schedule(Rules);

#[derive(Clone)]
enum Rules {
    Always,
    Rules { rules: OpeningHours, zone: TimeZone },
}

/// Whether something is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenState {
    /// Within its hours.
    Open,
    /// Outside its hours.
    Closed,
    /// The hours themselves say that it is not certain.
    Unknown,
}

/// What hours say of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Whether it is open.
    pub state: OpenState,
    /// When that changes, where it does within about a year.
    pub changes_at: Option<Timestamp>,
    /// How long this answer stays right: until the change, or until it is time to ask again.
    pub valid_until: Timestamp,
}

/// Why hours cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotEvaluated {
    /// They are not in the grammar.
    #[error("its opening hours are not written in a form that can be evaluated")]
    Words,
    /// They follow the sun, which needs more than the hours and the time zone.
    #[error("its opening hours follow the sun, which is not evaluated")]
    Sun,
    /// Nobody said where they apply.
    #[error("its time zone is not known")]
    NoZone,
}

/// Whether a text is in the grammar of OpenStreetMap's `opening_hours`.
pub(super) fn is_in_the_grammar(text: &str) -> bool {
    read(text).is_some()
}

fn read(text: &str) -> Option<OpeningHours> {
    if text.len() <= MAX_TEXT_BYTES { with_doubts(text).parse().ok() } else { None }
}

/// A rule that only has a comment, such as `Sa "by appointment"`, leaves open whether it is open; the library takes it
/// for open all day, unless it says `unknown`.
fn with_doubts(text: &str) -> Cow<'_, str> {
    let is_only_a_comment = |rule: &str| {
        let outside: String = rule.split('"').step_by(2).collect();
        let says_more = |word: &str| outside.contains(word);
        rule.matches('"').count() == 2 && ![":", "open", "closed", "off", "unknown", "24/7"].into_iter().any(says_more)
    };
    if !text.split(';').any(is_only_a_comment) {
        return text.into();
    }
    let doubted =
        |rule: &str| if is_only_a_comment(rule) { rule.replacen('"', "unknown \"", 1) } else { rule.to_owned() };
    text.split(';').map(doubted).collect::<Vec<_>>().join(";").into()
}

impl Schedule {
    /// The hours of a machine in the time zone with this IANA name. Holidays are those of the country, where its
    /// calendar is known; those of a part of it make the day uncertain.
    ///
    /// # Errors
    /// [`NotEvaluated`], where the hours cannot be asked.
    pub fn new(hours: &Hours, zone: Option<&str>, country: Option<Country>) -> Result<Self, NotEvaluated> {
        let Hours::Text(text) = hours else { return Ok(Self(Rules::Always)) };
        let lower = text.to_ascii_lowercase();
        if ["sunrise", "sunset", "dawn", "dusk"].iter().any(|event| lower.contains(event)) {
            return Err(NotEvaluated::Sun);
        }
        let rules = read(text).ok_or(NotEvaluated::Words)?;
        let zone = zone.and_then(|name| TimeZone::get(name).ok()).ok_or(NotEvaluated::NoZone)?;
        let mut context = Context::default().approx_bound_interval_size(chrono::TimeDelta::days(AHEAD_DAYS));
        if let Some(calendar) = country.and_then(|country| country.code().parse::<Calendar>().ok()) {
            context = context.with_holidays(calendar.holidays()).with_holidays_unknown(calendar.holidays_regional());
        }
        Ok(Self(Rules::Rules { rules: rules.with_context(context), zone }))
    }

    /// What the hours say of the moment `now`. At the hour that a clock set back repeats, they say the same twice; at
    /// one that a clock set forward leaves out, what begins or ends in it does so at once.
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
        let bound = local + chrono::TimeDelta::days(AHEAD_DAYS);
        let change = rules.next_change(local).filter(|change| *change < bound);
        let changes_at = change.and_then(|change| first_after(now, zone, change));
        let shift = zone.following(now).next().map(|transition| transition.timestamp());
        // Asked again every day: the library overlooks that uncertain holidays interrupt hours that never change.
        let midnight = local.date().succ_opt().and_then(|day| first_after(now, zone, day.and_time(NaiveTime::MIN)));
        let valid_until = [changes_at, shift, midnight].into_iter().flatten().fold(Timestamp::MAX, Timestamp::min);
        Opening { state, changes_at, valid_until }
    }

    /// Where it is evaluated; `None` where the hours need no clock.
    pub(super) fn zone(&self) -> Option<&TimeZone> {
        match &self.0 {
            Rules::Always => None,
            Rules::Rules { zone, .. } => Some(zone),
        }
    }

    /// The same moment on a clock in the schedule's time zone, with its offset; `None` where the hours need none.
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

/// The first moment after `now` at which clocks in the zone show this time.
fn first_after(now: Timestamp, zone: &TimeZone, shown: chrono::NaiveDateTime) -> Option<Timestamp> {
    let shown = zone.to_ambiguous_timestamp(civil(shown)?);
    let is_left_out = matches!(shown.offset(), AmbiguousOffset::Gap { .. });
    let (earlier, later) = (shown.earlier().ok()?, shown.later().ok()?);
    if is_left_out {
        return zone.following(earlier).next().map(|shift| shift.timestamp());
    }
    [earlier, later].into_iter().find(|moment| *moment > now)
}

fn naive(local: DateTime) -> chrono::NaiveDateTime {
    let part = |part: i8| u32::try_from(part).unwrap_or_default();
    let date = chrono::NaiveDate::from_ymd_opt(local.year().into(), part(local.month()), part(local.day()));
    let time = date.and_then(|date| date.and_hms_opt(part(local.hour()), part(local.minute()), part(local.second())));
    time.expect("a civil date is a date")
}

fn civil(shown: chrono::NaiveDateTime) -> Option<DateTime> {
    use chrono::{Datelike as _, Timelike as _};
    let part = |part: u32| i8::try_from(part).ok();
    let (month, day) = (part(shown.month())?, part(shown.day())?);
    let (hour, minute, second) = (part(shown.hour())?, part(shown.minute())?, part(shown.second())?);
    DateTime::new(i16::try_from(shown.year()).ok()?, month, day, hour, minute, second, 0).ok()
}
