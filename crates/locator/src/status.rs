//! Whether a machine can be used.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::atm::{Hours, Record, Reported};

/// A report older than this no longer says that a machine is in service.
pub const FRESH: SignedDuration = SignedDuration::from_hours(365 * 24);

/// Whether a machine can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In service, and within its hours.
    Open,
    /// In service, and outside its hours.
    Closed,
    /// Closed for a while.
    TemporarilyClosed,
    /// Gone.
    PermanentlyClosed,
    /// There, and not working.
    OutOfService,
    /// Not known.
    Unknown,
}

/// A status, why, and since when it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusReport {
    /// The status.
    pub status: Status,
    /// Why, in words.
    pub reason: Cow<'static, str>,
    /// When the source learned of it.
    pub as_of: Option<Timestamp>,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Open, Self::Closed, Self::TemporarilyClosed, Self::PermanentlyClosed, Self::OutOfService, Self::Unknown];

    /// As it is written: `open`, `closed`, `temporarily_closed`, `permanently_closed`, `out_of_service`, `unknown`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::TemporarilyClosed => "temporarily_closed",
            Self::PermanentlyClosed => "permanently_closed",
            Self::OutOfService => "out_of_service",
            Self::Unknown => "unknown",
        }
    }
}

/// The status of a machine at the time `now`. It follows from the reported operational state, the age of that report
/// and the opening hours.
///
/// Only a report of being in service grows old: a machine that was closed long ago is not open now. A report without a
/// date is taken as it is. Hours other than `24/7` are not evaluated, so with them nothing is said to be open or closed.
///
/// ```
/// # use signpost_locator::{Hours, Point, Record, Reported, Status, status};
/// let mut record = Record::at(Point::new(25.7617, -80.1918).unwrap());
/// let now = "2026-11-20T12:00:00Z".parse().unwrap();
/// assert_eq!(status(&record, now).status, Status::Unknown);
///
/// record.reported = Reported::InService;
/// record.reported_at = Some("2026-11-01T00:00:00Z".parse().unwrap());
/// record.hours = Some(Hours::Always);
/// assert_eq!(status(&record, now).status, Status::Open);
/// ```
#[must_use]
pub fn status(record: &Record, now: Timestamp) -> StatusReport {
    let as_of = record.reported_at;
    let report = |status, reason: &'static str| StatusReport { status, reason: Cow::Borrowed(reason), as_of };
    match record.reported {
        Reported::OutOfService => report(Status::OutOfService, "reported out of service"),
        Reported::TemporarilyClosed => report(Status::TemporarilyClosed, "reported temporarily closed"),
        Reported::PermanentlyClosed => report(Status::PermanentlyClosed, "reported permanently closed"),
        Reported::Unknown => report(Status::Unknown, "no operational state was reported"),
        Reported::InService if as_of.is_some_and(|as_of| now.duration_since(as_of) > FRESH) => {
            report(Status::Unknown, "reported in service, but more than 365 days ago")
        }
        Reported::InService => match &record.hours {
            Some(Hours::Always) => report(Status::Open, "reported in service; open 24/7"),
            Some(Hours::Text(hours)) => {
                let reason = format!("reported in service; opening hours not evaluated: {hours}").into();
                StatusReport { status: Status::Unknown, reason, as_of }
            }
            None => report(Status::Unknown, "reported in service; opening hours not known"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::Point;

    const NOW: &str = "2026-11-20T12:00:00Z";

    /// Operational state, date of the report, hours: status, and a part of the reason.
    type Case = (Reported, Option<&'static str>, Option<&'static str>, Status, &'static str);

    #[rustfmt::skip]
    const TABLE: [Case; 14] = [
        (Reported::InService,         Some("2026-11-19T00:00:00Z"), Some("24/7"), Status::Open, "open 24/7"),
        (Reported::InService,         None,                         Some("24/7"), Status::Open, "open 24/7"),
        (Reported::InService,         Some("2027-01-01T00:00:00Z"), Some("24/7"), Status::Open, "open 24/7"),
        (Reported::InService,         Some("2025-11-20T12:00:00Z"), Some("24/7"), Status::Open, "open 24/7"),
        (Reported::InService,         Some("2025-11-20T11:59:59Z"), Some("24/7"), Status::Unknown, "365 days"),
        (Reported::InService,         Some("2026-11-19T00:00:00Z"), Some("Mo-Fr 9-17"), Status::Unknown, "not evaluated: Mo-Fr 9-17"),
        (Reported::InService,         Some("2026-11-19T00:00:00Z"), None, Status::Unknown, "hours not known"),
        (Reported::OutOfService,      Some("2020-01-01T00:00:00Z"), Some("24/7"), Status::OutOfService, "out of service"),
        (Reported::OutOfService,      None,                         None, Status::OutOfService, "out of service"),
        (Reported::TemporarilyClosed, Some("2026-11-19T00:00:00Z"), Some("24/7"), Status::TemporarilyClosed, "temporarily"),
        (Reported::PermanentlyClosed, Some("2019-01-01T00:00:00Z"), Some("24/7"), Status::PermanentlyClosed, "permanently"),
        (Reported::PermanentlyClosed, None,                         None, Status::PermanentlyClosed, "permanently"),
        (Reported::Unknown,           Some("2026-11-19T00:00:00Z"), Some("24/7"), Status::Unknown, "no operational state"),
        (Reported::Unknown,           None,                         None, Status::Unknown, "no operational state"),
    ];

    #[test]
    fn the_status_follows_from_report_age_and_hours() {
        for (reported, at, hours, expected, reason) in TABLE {
            let mut record = Record::at(Point::new(25.7617, -80.1918).expect("on the earth"));
            record.reported = reported;
            record.reported_at = at.map(|at| at.parse().unwrap());
            record.hours = hours.and_then(Hours::parse);
            let report = status(&record, NOW.parse().unwrap());
            assert_eq!(report.status, expected, "{reported:?} {at:?} {hours:?}: {}", report.reason);
            assert!(report.reason.contains(reason), "{}", report.reason);
            assert_eq!(report.as_of, record.reported_at);
        }
    }

    #[test]
    fn a_status_is_written_one_way_everywhere() {
        for status in Status::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
    }
}
