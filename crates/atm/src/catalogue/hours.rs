//! What the opening hours of all machines say now: each text in each time zone is evaluated once, and again only when
//! the result ends.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use arc_swap::ArcSwap;
use jiff::Timestamp;
use signpost_locator::{ArcStr, Country, Hours, NotEvaluated, OpenState, Record, Schedule};

/// The opening hours of all machines, ready to be evaluated.
#[derive(Debug)]
pub(crate) struct HoursTable {
    schedules: Vec<Result<Schedule, NotEvaluated>>,
    board: ArcSwap<HoursBoard>,
}

/// What all opening hours say in a span of time in which no result changes.
#[derive(Debug)]
pub(crate) struct HoursBoard {
    hours: Vec<HoursNow>,
    /// Which of them say that it is open: what a search asks of many machines, close together.
    open: Vec<bool>,
    from: Timestamp,
    until: Timestamp,
}

/// What opening hours say at a moment.
#[derive(Clone, Debug)]
pub(crate) struct HoursNow {
    /// Whether it is open.
    pub(crate) opening: Result<OpenState, NotEvaluated>,
    /// When that changes, on a clock there.
    pub(crate) changes_at: Option<Box<str>>,
    valid_until: Timestamp,
}

/// Collects hours, and numbers them.
#[derive(Default)]
pub(crate) struct HoursBook {
    numbers: HashMap<(Hours, Option<ArcStr>, Option<Country>), u32>,
    schedules: Vec<Result<Schedule, NotEvaluated>>,
}

impl HoursBook {
    /// The number of a machine's hours, if it has any.
    pub(crate) fn number(&mut self, record: &Record) -> Option<u32> {
        let hours = record.hours.as_ref()?;
        // What never closes does so in every country.
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

    pub(crate) fn table(self) -> HoursTable {
        // Of no moment at all: the first question fills it.
        let board = HoursBoard { hours: Vec::new(), open: Vec::new(), from: Timestamp::MAX, until: Timestamp::MIN };
        HoursTable { schedules: self.schedules, board: ArcSwap::from_pointee(board) }
    }
}

impl HoursTable {
    /// What all opening hours say at a moment. Only those whose last result has ended are evaluated.
    pub(crate) fn at(&self, now: Timestamp) -> Arc<HoursBoard> {
        let board = self.board.load();
        if board.from <= now && now < board.until {
            return Arc::clone(&board);
        }
        let next = Arc::new(board.next(&self.schedules, now));
        self.board.store(Arc::clone(&next));
        next
    }
}

impl HoursBoard {
    fn next(&self, schedules: &[Result<Schedule, NotEvaluated>], now: Timestamp) -> Self {
        let last = |at: usize| self.hours.get(at).filter(|hours| self.from <= now && now < hours.valid_until);
        let numbered = schedules.iter().enumerate();
        let hours: Vec<HoursNow> = numbered
            .map(|(at, schedule)| last(at).cloned().unwrap_or_else(|| HoursNow::evaluate(schedule, now)))
            .collect();
        let until = hours.iter().map(|hours| hours.valid_until).fold(Timestamp::MAX, Timestamp::min);
        let open = hours.iter().map(|hours| hours.opening == Ok(OpenState::Open)).collect();
        Self { hours, open, from: now, until }
    }

    /// Until when it is right.
    pub(crate) fn until(&self) -> Timestamp {
        self.until
    }

    /// Whether hours say that it is open; what they do not say is not.
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
            Err(why) => Self { opening: Err(*why), changes_at: None, valid_until: Timestamp::MAX },
            Ok(schedule) => {
                let opening = schedule.at(now);
                let changes_at = opening.changes_at.and_then(|moment| schedule.local(moment));
                let changes_at = changes_at.map(String::into_boxed_str);
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
    fn the_same_hours_are_kept_once_for_each_time_zone() {
        let mut book = HoursBook::default();
        let mut number = |hours, zone| book.number(&record(hours, zone));
        let first = number("Mo-Fr 09:00-17:00", "America/Chicago");
        assert_eq!(number("Mo-Fr 09:00-17:00", "America/Chicago"), first);
        assert_ne!(number("Mo-Fr 09:00-17:00", "America/Denver"), first);
        assert_eq!(number("24/7", "America/Chicago"), number("24/7", "America/Denver"));
        assert_eq!(number("", "America/Chicago"), None);
    }

    #[test]
    fn a_board_is_right_from_change_to_change() {
        let mut book = HoursBook::default();
        let chicago = book.number(&record("Mo-Fr 09:00-17:00", "America/Chicago")).unwrap();
        let words = book.number(&record("ask inside", "America/Chicago")).unwrap();
        let table = book.table();
        // A Friday; Chicago is six hours behind in winter.
        for (now, open, changes_at) in [
            ("2026-11-20T14:59:59Z", OpenState::Closed, "2026-11-20T09:00:00-06:00"),
            ("2026-11-20T15:00:00Z", OpenState::Open, "2026-11-20T17:00:00-06:00"),
            ("2026-11-20T22:59:59Z", OpenState::Open, "2026-11-20T17:00:00-06:00"),
            ("2026-11-20T23:00:00Z", OpenState::Closed, "2026-11-23T09:00:00-06:00"),
            ("2026-11-20T16:00:00Z", OpenState::Open, "2026-11-20T17:00:00-06:00"),
        ] {
            let board = table.at(time(now));
            let hours = board.get(chicago).unwrap();
            assert_eq!((hours.opening, hours.changes_at.as_deref()), (Ok(open), Some(changes_at)), "{now}");
            assert_eq!(board.get(words).unwrap().opening, Err(NotEvaluated::Words));
        }
    }

    #[test]
    fn a_board_is_made_again_only_when_an_answer_ends() {
        let mut book = HoursBook::default();
        book.number(&record("Mo-Fr 09:00-17:00", "America/Chicago"));
        let table = book.table();
        let board = table.at(time("2026-11-20T15:00:00Z"));
        assert!(Arc::ptr_eq(&board, &table.at(time("2026-11-20T22:59:59Z"))));
        assert!(!Arc::ptr_eq(&board, &table.at(time("2026-11-20T23:00:00Z"))));
    }
}
