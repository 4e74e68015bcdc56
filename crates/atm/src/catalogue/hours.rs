//! A table of the opening hours of all ATMs. Each distinct combination of text, time zone and country is evaluated
//! once, and again only when the result expires.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use arc_swap::ArcSwap;
use jiff::Timestamp;
use signpost_locator::{ArcStr, Country, Hours, NotEvaluated, OpenState, Record, Schedule};

/// The parsed opening hours of all ATMs, and their current results.
#[derive(Debug)]
pub(crate) struct HoursTable {
    schedules: Vec<Result<Schedule, NotEvaluated>>,
    evaluated: ArcSwap<EvaluatedHours>,
}

/// The results of all opening hours in a period without changes.
#[derive(Debug)]
pub(crate) struct EvaluatedHours {
    hours: Vec<HoursNow>,
    /// Whether each entry of `hours` is open, in contiguous memory for fast searches.
    open: Vec<bool>,
    from: Timestamp,
    until: Timestamp,
}

/// The evaluation of opening hours at a point in time.
#[derive(Clone, Debug)]
pub(crate) struct HoursNow {
    /// The state at the time of the evaluation, or the reason why the hours cannot be evaluated.
    pub(crate) opening: Result<OpenState, NotEvaluated>,
    /// The time of the next state change, in local time.
    pub(crate) changes_at: Option<Box<str>>,
    valid_until: Timestamp,
}

/// A builder of an [`HoursTable`] that assigns an index to each distinct value.
#[derive(Default)]
pub(crate) struct HoursTableBuilder {
    numbers: HashMap<(Hours, Option<ArcStr>, Option<Country>), u32>,
    schedules: Vec<Result<Schedule, NotEvaluated>>,
}

impl HoursTableBuilder {
    /// Returns the index of an ATM's opening hours, or `None` if they are unknown.
    pub(crate) fn number(&mut self, record: &Record) -> Option<u32> {
        let hours = record.hours.as_ref()?;
        // `24/7` does not depend on the country or the time zone.
        let anywhere = *hours == Hours::Always;
        let (zone, country) = if anywhere { (None, None) } else { (record.time_zone.clone(), record.address.country) };
        match self.numbers.entry((hours.clone(), zone, country)) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(new) => {
                let number = u32::try_from(self.schedules.len()).ok()?;
                self.schedules.push(Schedule::new(hours, record.time_zone.as_deref(), country));
                Some(*new.insert(number))
            }
        }
    }

    pub(crate) fn build(self) -> HoursTable {
        // The initial period is empty, so the first call of `at` evaluates all hours.
        let evaluated =
            EvaluatedHours { hours: Vec::new(), open: Vec::new(), from: Timestamp::MAX, until: Timestamp::MIN };
        HoursTable { schedules: self.schedules, evaluated: ArcSwap::from_pointee(evaluated) }
    }
}

impl HoursTable {
    /// Returns the results at the time `now`. Only opening hours with an expired result are evaluated again.
    pub(crate) fn at(&self, now: Timestamp) -> Arc<EvaluatedHours> {
        let evaluated = self.evaluated.load();
        if evaluated.from <= now && now < evaluated.until {
            return Arc::clone(&evaluated);
        }
        let next = Arc::new(evaluated.next(&self.schedules, now));
        self.evaluated.store(Arc::clone(&next));
        next
    }
}

impl EvaluatedHours {
    fn next(&self, schedules: &[Result<Schedule, NotEvaluated>], now: Timestamp) -> Self {
        let results = schedules.iter().enumerate().map(|(at, schedule)| match self.hours.get(at) {
            Some(last) if self.from <= now && now < last.valid_until => last.clone(),
            _ => HoursNow::evaluate(schedule, now),
        });
        let hours: Vec<HoursNow> = results.collect();
        let until = hours.iter().map(|hours| hours.valid_until).fold(Timestamp::MAX, Timestamp::min);
        let open = hours.iter().map(|hours| hours.opening == Ok(OpenState::Open)).collect();
        Self { hours, open, from: now, until }
    }

    /// Returns the time when the first result expires.
    pub(crate) fn until(&self) -> Timestamp {
        self.until
    }

    /// Returns `true` if the opening hours with this index are known to be open.
    pub(crate) fn is_open(&self, number: u32) -> bool {
        self.open.get(number as usize).copied().unwrap_or_default()
    }

    pub(crate) fn get(&self, number: u32) -> Option<&HoursNow> {
        self.hours.get(number as usize)
    }
}

impl HoursNow {
    fn evaluate(schedule: &Result<Schedule, NotEvaluated>, now: Timestamp) -> Self {
        match schedule {
            Err(reason) => Self { opening: Err(*reason), changes_at: None, valid_until: Timestamp::MAX },
            Ok(schedule) => {
                let opening = schedule.at(now);
                let changes_at = opening.changes_at.and_then(|at| schedule.local(at)).map(String::into_boxed_str);
                Self { opening: Ok(opening.state), changes_at, valid_until: opening.valid_until }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use signpost_locator::Point;

    use super::*;

    fn record(hours: &str, zone: &str) -> Record {
        let mut record = Record::at(Point::new(30.0, -97.0).expect("on the earth"));
        record.hours = Hours::parse(hours);
        record.time_zone = Some(zone.into());
        record
    }

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn equal_hours_are_stored_once_per_time_zone() {
        let mut builder = HoursTableBuilder::default();
        let mut number = |hours, zone| builder.number(&record(hours, zone));
        let first = number("Mo-Fr 09:00-17:00", "America/Chicago");
        assert_eq!(number("Mo-Fr 09:00-17:00", "America/Chicago"), first);
        assert_ne!(number("Mo-Fr 09:00-17:00", "America/Denver"), first);
        assert_eq!(number("24/7", "America/Chicago"), number("24/7", "America/Denver"));
        assert_eq!(number("", "America/Chicago"), None);
    }

    #[test]
    fn board_is_correct_between_changes() {
        let mut builder = HoursTableBuilder::default();
        let chicago = builder.number(&record("Mo-Fr 09:00-17:00", "America/Chicago")).unwrap();
        let words = builder.number(&record("ask inside", "America/Chicago")).unwrap();
        let table = builder.build();
        // A Friday; Chicago is at UTC-6 in winter.
        for (now, open, changes_at) in [
            ("2026-11-20T14:59:59Z", OpenState::Closed, "2026-11-20T09:00:00-06:00"),
            ("2026-11-20T15:00:00Z", OpenState::Open, "2026-11-20T17:00:00-06:00"),
            ("2026-11-20T22:59:59Z", OpenState::Open, "2026-11-20T17:00:00-06:00"),
            ("2026-11-20T23:00:00Z", OpenState::Closed, "2026-11-23T09:00:00-06:00"),
            ("2026-11-20T16:00:00Z", OpenState::Open, "2026-11-20T17:00:00-06:00"),
        ] {
            let evaluated = table.at(time(now));
            let hours = evaluated.get(chicago).unwrap();
            assert_eq!((hours.opening, hours.changes_at.as_deref()), (Ok(open), Some(changes_at)), "{now}");
            assert_eq!(evaluated.get(words).unwrap().opening, Err(NotEvaluated::Words));
        }
    }

    #[test]
    fn board_is_rebuilt_only_when_a_status_changes() {
        let mut builder = HoursTableBuilder::default();
        builder.number(&record("Mo-Fr 09:00-17:00", "America/Chicago"));
        let table = builder.build();
        let evaluated = table.at(time("2026-11-20T15:00:00Z"));
        assert!(Arc::ptr_eq(&evaluated, &table.at(time("2026-11-20T22:59:59Z"))));
        assert!(!Arc::ptr_eq(&evaluated, &table.at(time("2026-11-20T23:00:00Z"))));
    }
}
