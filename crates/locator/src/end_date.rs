//! The end date of an ATM, the day on which it closes permanently.

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;

use crate::atm::{Record, ReportedState};

impl Record {
    /// Returns the start of the day on which the ATM closes permanently, in its time zone, or in UTC if the time zone
    /// is unknown.
    #[must_use]
    pub fn ends_at(&self) -> Option<Timestamp> {
        let date = self.more.as_ref()?.end_date?;
        let zone = self.time_zone.as_deref().and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC);
        zone.to_timestamp(date.to_datetime(Time::midnight())).ok()
    }

    /// Marks the ATM as permanently closed if its end date has been reached. Otherwise returns the time when it closes,
    /// if it has an end date.
    ///
    /// ```
    /// use signpost_locator::{Point, Record, ReportedState};
    ///
    /// let mut record = Record::at(Point::new(25.7617, -80.1918).unwrap());
    /// record.more_mut().end_date = Some("2027-06-30".parse().unwrap());
    /// let end = "2027-06-30T00:00:00Z".parse().unwrap();
    /// assert_eq!(record.close_if_ended("2026-11-20T12:00:00Z".parse().unwrap()), Some(end));
    /// assert_eq!(record.reported, ReportedState::Unknown);
    /// assert_eq!(record.close_if_ended(end), None);
    /// assert_eq!(record.reported, ReportedState::PermanentlyClosed);
    /// ```
    pub fn close_if_ended(&mut self, now: Timestamp) -> Option<Timestamp> {
        let end = self.ends_at()?;
        if end > now {
            return Some(end);
        }
        self.reported = ReportedState::PermanentlyClosed;
        self.reported_at = self.reported_at.max(Some(end));
        None
    }
}
