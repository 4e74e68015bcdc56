//! Dates in local notations: `11/20/2026`, `20.11.2026 14:30`, `Nov 20, 2026`, `2026年11月20日`.
//!
//! Whether the day or the month comes first in `5/1/2026` follows from the other dates of the column: a number above 12
//! is a day. If none is, or if the dates contradict each other, such dates are not read.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;

use super::field::Field;

/// The fields with dates.
pub(super) const DATE_FIELDS: [Field; 5] =
    [Field::ReportedAt, Field::VerifiedAt, Field::UpdatedAt, Field::CreatedAt, Field::EndDate];
/// Maximum bytes of a date.
const MAX_LEN: usize = 80;
/// Last month.
const DECEMBER: u32 = 12;
/// The range of day numbers of spreadsheets that are plausible dates: 2000 to 2099.
const DAY_NUMBERS: std::ops::Range<u32> = 36_526..73_051;
/// English names of the months in lower case.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Minimum letters of an abbreviated month.
const MIN_MONTH: usize = 3;

/// The reason why a text is not read as a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalDateError {
    /// It is not a date in a known notation.
    Unreadable,
    /// The order of day and month is unknown.
    UnknownOrder,
    /// The year has two digits.
    ShortYear,
    /// It is a day number of a spreadsheet.
    DayNumber,
}

impl LocalDateError {
    /// Returns the reason as a text that completes "is".
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Unreadable => super::time::DateError::Unreadable.reason(),
            Self::UnknownOrder => {
                "a date in which the day or the month may come first: no date of the column shows it, or they contradict \
                 each other; write dates like 2026-11-20"
            }
            Self::ShortYear => "a date with a year of two digits; write dates like 2026-11-20",
            Self::DayNumber => "a day number of a spreadsheet; format the column as a date, like 2026-11-20",
        }
    }
}

/// Evidence for the order of day and month.
#[derive(Clone, Copy, Default)]
struct OrderEvidence {
    is_day_first: bool,
    is_month_first: bool,
}

/// The order of day and month in the columns of dates.
#[derive(Clone, Default)]
pub(super) struct DayOrders(BTreeMap<Field, OrderEvidence>);

impl DayOrders {
    /// Observes a cell of a column.
    pub(super) fn observe(&mut self, field: Field, text: &str) {
        let Some((first, second)) = unordered(text) else { return };
        let evidence = self.0.entry(field).or_default();
        evidence.is_day_first |= first > DECEMBER && second <= DECEMBER;
        evidence.is_month_first |= second > DECEMBER && first <= DECEMBER;
    }

    fn is_day_first(&self, field: Field) -> Option<bool> {
        match self.0.get(&field)? {
            OrderEvidence { is_day_first: true, is_month_first: false } => Some(true),
            OrderEvidence { is_day_first: false, is_month_first: true } => Some(false),
            _ => None,
        }
    }

    /// Parses a date or time. A time without an offset is UTC.
    ///
    /// # Errors
    /// The reason why the text is not read.
    pub(super) fn parse_time(&self, field: Field, text: &str) -> Result<Timestamp, LocalDateError> {
        if let Ok(time) = rfc2822::parse(text) {
            return Ok(time.timestamp());
        }
        // JSON of .NET.
        let milliseconds = text.strip_prefix("/Date(").and_then(|text| text.strip_suffix(")/"));
        if let Some(time) = milliseconds.and_then(super::time::parse_time) {
            return Ok(time);
        }
        // JavaScript writes the name of the time zone in parentheses.
        let text = text.split(" (").next().unwrap_or_default();
        let local = self.parse_local(field, text)?;
        TimeZone::UTC.to_timestamp(local).map_err(|_| LocalDateError::Unreadable)
    }

    /// Parses the day of a date or time.
    pub(super) fn parse_day(&self, field: Field, text: &str) -> Result<Date, LocalDateError> {
        Ok(self.parse_local(field, text)?.date())
    }

    fn parse_local(&self, field: Field, text: &str) -> Result<DateTime, LocalDateError> {
        let split = SplitDate::new(text).ok_or_else(|| of_number(text))?;
        let day = self.day(field, &split)?;
        let time = parse_clock(split.clock).ok_or(LocalDateError::Unreadable)?;
        Ok(day.to_datetime(time))
    }

    fn day(&self, field: Field, split: &SplitDate) -> Result<Date, LocalDateError> {
        let [first, second, third] = &split.parts;
        let (year, month, day) = match (number(first), number(second), number(third)) {
            (Some(year), Some(month), Some(day)) if first.len() == 4 => (year, month, day),
            (Some(day), None, Some(year)) => (year, month_named(second)?, day),
            (None, Some(day), Some(year)) => (year, month_named(first)?, day),
            (Some(_), Some(_), Some(_)) if third.len() == 2 => return Err(LocalDateError::ShortYear),
            (Some(first), Some(second), Some(year)) => {
                let is_day_first = match self.is_day_first(field) {
                    _ if split.has_full_stops || first == second => true,
                    Some(is_day_first) => is_day_first,
                    None => return Err(LocalDateError::UnknownOrder),
                };
                if is_day_first { (year, second, first) } else { (year, first, second) }
            }
            _ => return Err(LocalDateError::Unreadable),
        };
        if year < 100 {
            return Err(LocalDateError::ShortYear);
        }
        let parts = (i16::try_from(year), i8::try_from(month), i8::try_from(day));
        let (Ok(year), Ok(month), Ok(day)) = parts else { return Err(LocalDateError::Unreadable) };
        Date::new(year, month, day).map_err(|_| LocalDateError::Unreadable)
    }
}

/// A date of three parts and a time of day.
struct SplitDate<'a> {
    parts: [String; 3],
    /// Whether full stops separate the parts: then the day comes first.
    has_full_stops: bool,
    clock: &'a str,
}

impl<'a> SplitDate<'a> {
    fn new(text: &'a str) -> Option<Self> {
        let text = text.trim();
        if text.len() > MAX_LEN || !text.contains(|letter: char| letter.is_ascii_digit()) {
            return None;
        }
        let (day, clock) = text.split_at(clock_start(text));
        let day = day.trim_end_matches([' ', ',', 'T', '\u{a0}']);
        let separates = |letter: char| letter.is_whitespace() || "/.-,年月日".contains(letter);
        let mut parts: Vec<String> =
            day.split(separates).filter(|part| !part.is_empty()).map(str::to_ascii_lowercase).collect();
        if parts.len() == 4 && is_weekday(&parts[0]) {
            parts.remove(0);
        }
        let parts: [String; 3] = parts.try_into().ok()?;
        let is_named = number(&parts[0]).is_none() || number(&parts[1]).is_none();
        // A hyphen or a slash beside full stops is no date.
        let separators = ['/', '.', '-'].iter().filter(|separator| day.contains(**separator)).count();
        if separators > 1 && !is_named {
            return None;
        }
        Some(Self { parts, has_full_stops: day.contains('.'), clock })
    }
}

/// Returns the first two numbers of a date without a fixed order of day and month.
fn unordered(text: &str) -> Option<(u32, u32)> {
    let split = SplitDate::new(text)?;
    let [first, second, third] = &split.parts;
    if split.has_full_stops || third.len() != 4 {
        return None;
    }
    Some((number(first)?, number(second)?))
}

/// Returns the start of the time of day: that of the number before the first colon.
fn clock_start(text: &str) -> usize {
    let Some(colon) = text.find(':') else { return text.len() };
    let digits = text[..colon].bytes().rev().take_while(u8::is_ascii_digit).count();
    colon - digits
}

/// Parses a time of day such as `14:30`, `2:30 PM` or `14:30:05 UTC`. Empty text is midnight.
fn parse_clock(text: &str) -> Option<Time> {
    let mut text = text.trim().to_ascii_lowercase();
    if text.is_empty() {
        return Some(Time::midnight());
    }
    for zone in ["utc", "gmt+0000", "gmt", "z"] {
        if let Some(before) = text.strip_suffix(zone) {
            text = before.trim_end().to_owned();
            break;
        }
    }
    let plain = text.replace('.', "");
    let half =
        [("am", 0), ("pm", 12)].iter().find_map(|(name, add)| Some((plain.strip_suffix(name)?.trim_end(), *add)));
    let (clock, add) = half.map_or((text.as_str(), None), |(clock, add)| (clock, Some(add)));
    let mut parts = clock.split(':');
    let mut hour: i8 = parts.next()?.parse().ok()?;
    let minute: i8 = parts.next()?.parse().ok()?;
    let second = parts.next().unwrap_or("0").split('.').next().unwrap_or_default();
    let second: i8 = second.parse().ok()?;
    if parts.next().is_some() {
        return None;
    }
    if let Some(add) = add {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + add;
    }
    Time::new(hour, minute, second, 0).ok()
}

fn month_named(name: &str) -> Result<u32, LocalDateError> {
    if name.len() < MIN_MONTH {
        return Err(LocalDateError::Unreadable);
    }
    let found = (1..).zip(MONTHS).find(|(_, month)| month.starts_with(name));
    found.map(|(number, _)| number).ok_or(LocalDateError::Unreadable)
}

fn is_weekday(name: &str) -> bool {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    name.len() >= 3 && DAYS.iter().any(|day| day.starts_with(name))
}

/// Parses a number of at most four digits, also with the ending of an ordinal such as `20th`.
fn number(text: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| text.strip_suffix(ending)).unwrap_or(text);
    let is_number = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

/// Returns the reason why a text without three parts is not a date.
fn of_number(text: &str) -> LocalDateError {
    let whole = text.trim().split('.').next().unwrap_or_default();
    match whole.parse::<u32>() {
        Ok(number) if whole.len() == 5 && DAY_NUMBERS.contains(&number) => LocalDateError::DayNumber,
        _ => LocalDateError::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELD: Field = Field::VerifiedAt;

    fn orders(observed: &[&str]) -> DayOrders {
        let mut orders = DayOrders::default();
        for text in observed {
            orders.observe(FIELD, text);
        }
        orders
    }

    #[test]
    fn local_notations_are_parsed() {
        let orders = DayOrders::default();
        for (text, expected) in [
            ("20.11.2026", "2026-11-20T00:00:00Z"),
            ("1.5.2026 14:30", "2026-05-01T14:30:00Z"),
            ("2026/11/20", "2026-11-20T00:00:00Z"),
            ("2026/1/5 09:00:30", "2026-01-05T09:00:30Z"),
            ("2026.11.20", "2026-11-20T00:00:00Z"),
            ("2026. 11. 20.", "2026-11-20T00:00:00Z"),
            ("2026年11月20日", "2026-11-20T00:00:00Z"),
            ("5/5/2026", "2026-05-05T00:00:00Z"),
            ("Nov 20, 2026", "2026-11-20T00:00:00Z"),
            ("November 20th, 2026 2:30 PM", "2026-11-20T14:30:00Z"),
            ("20 November 2026", "2026-11-20T00:00:00Z"),
            ("5-Jan-2026", "2026-01-05T00:00:00Z"),
            ("Fri Nov 20, 2026 12:05 a.m.", "2026-11-20T00:05:00Z"),
            ("Fri, 20 Nov 2026 12:00:00 +0100", "2026-11-20T11:00:00Z"),
            ("2026-11-20 12:00:00 UTC", "2026-11-20T12:00:00Z"),
            ("Sept 1, 2026", "2026-09-01T00:00:00Z"),
            ("Fri Nov 20 2026 12:00:00 GMT+0000 (Coordinated Universal Time)", "2026-11-20T12:00:00Z"),
            ("/Date(1795176000000)/", "2026-11-20T12:00:00Z"),
        ] {
            assert_eq!(orders.parse_time(FIELD, text), Ok(expected.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn other_texts_are_named() {
        let orders = DayOrders::default();
        for (text, expected) in [
            ("1/5/2026", LocalDateError::UnknownOrder),
            ("20/11/2026", LocalDateError::UnknownOrder),
            ("11/20/26", LocalDateError::ShortYear),
            ("20 Nov 26", LocalDateError::ShortYear),
            ("46346", LocalDateError::DayNumber),
            ("46346.5", LocalDateError::DayNumber),
            ("31.2.2026", LocalDateError::Unreadable),
            ("20.11.2026 25:00", LocalDateError::Unreadable),
            ("20.11.2026 13:00 PM", LocalDateError::Unreadable),
            ("20.11-2026", LocalDateError::Unreadable),
            ("Fri Nov 20 2026 12:00:00 GMT+0100 (CET)", LocalDateError::Unreadable),
            ("20 Foo 2026", LocalDateError::Unreadable),
            ("yesterday", LocalDateError::Unreadable),
            ("12345", LocalDateError::Unreadable),
            ("", LocalDateError::Unreadable),
            (":", LocalDateError::Unreadable),
            ("é:é", LocalDateError::Unreadable),
        ] {
            assert_eq!(orders.parse_time(FIELD, text), Err(expected), "{text}");
        }
    }

    #[test]
    fn order_follows_from_the_whole_column() {
        let day =
            |orders: &DayOrders, field: Field, text: &str| orders.parse_day(field, text).map(|day| day.to_string());
        let american = orders(&["1/5/2026", "11/20/2026 9:00 AM", "2026-13-01", ""]);
        assert_eq!(day(&american, FIELD, "1/5/2026"), Ok("2026-01-05".to_owned()));
        assert_eq!(day(&american, Field::CreatedAt, "1/5/2026"), Err(LocalDateError::UnknownOrder));
        let european = orders(&["20/11/2026", "5-1-2026"]);
        assert_eq!(day(&european, FIELD, "5-1-2026"), Ok("2026-01-05".to_owned()));
        for observed in [&["1/5/2026", "2/3/2026"][..], &["20/11/2026", "11/20/2026"], &["20.11.2026"], &["99/99/2026"]]
        {
            assert_eq!(day(&orders(observed), FIELD, "1/5/2026"), Err(LocalDateError::UnknownOrder), "{observed:?}");
        }
    }
}
