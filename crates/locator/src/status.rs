//! The status of an ATM, and the freshness of the data it is based on.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::atm::{Record, ReportedState};
use crate::hours::{Hours, NotEvaluated, OpenState};

/// Maximum age of a report that an ATM is in service. Older reports are ignored.
pub const IN_SERVICE_VALIDITY: SignedDuration = SignedDuration::from_hours(365 * 24);
/// Maximum age of a live report, sent by the ATM itself.
const LIVE: SignedDuration = SignedDuration::from_mins(15);
/// Maximum age of a recent report.
const RECENT: SignedDuration = SignedDuration::from_hours(90 * 24);

/// The status of an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtmStatus {
    /// The ATM is in service and within its opening hours.
    Open,
    /// The ATM is outside its opening hours.
    Closed,
    /// The ATM is temporarily closed.
    TemporarilyClosed,
    /// The ATM is permanently closed.
    PermanentlyClosed,
    /// The ATM exists but does not work.
    OutOfService,
    /// The status is unknown.
    Unknown,
}

/// The reason for a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusReason<'a> {
    /// The ATM is in service and always open.
    AlwaysOpen,
    /// The ATM is in service and within its opening hours.
    WithinHours,
    /// The ATM is outside its opening hours.
    OutsideHours,
    /// The ATM was reported in service more than [`IN_SERVICE_VALIDITY`] ago.
    OldReport,
    /// The ATM was reported in service without a date.
    Undated,
    /// The ATM is in service, but its hours are uncertain now.
    UncertainHours,
    /// The ATM is in service, but its hours cannot be evaluated.
    HoursInWords,
    /// The ATM is in service, but its hours depend on sunrise or sunset.
    HoursBySun,
    /// The ATM is in service, but its time zone is unknown.
    NoTimeZone,
    /// The ATM is in service, but its hours are unknown.
    NoHours,
    /// The ATM was reported out of service.
    OutOfService,
    /// The ATM was reported temporarily closed.
    ClosedForNow,
    /// The ATM was reported permanently closed.
    Gone,
    /// The ATM is always open, but no operational state was reported.
    UnreportedAlways,
    /// The ATM is within its hours, but no operational state was reported.
    UnreportedWithinHours,
    /// No operational state was reported.
    NothingReported,
    /// A law forbids the ATM. The value describes the law.
    Law(&'a str),
    /// The status follows from user reports or from a decision about them. The value summarizes the reports.
    Reports(&'a str),
}

/// A status with its reason and the time of the report that it is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusReport<'a> {
    /// The status.
    pub status: AtmStatus,
    /// The reason.
    pub reason: StatusReason<'a>,
    /// The time of the report that the status is based on, if known.
    pub as_of: Option<Timestamp>,
}

impl<'a> StatusReport<'a> {
    /// Applies a `law` that forbids ATMs. `open`, `closed` and `unknown` become `unknown`, because a forbidden ATM may
    /// not be in service. Other statuses do not change.
    #[must_use]
    pub fn with_ban(self, law: &'a str) -> Self {
        match self.status {
            AtmStatus::OutOfService | AtmStatus::TemporarilyClosed | AtmStatus::PermanentlyClosed => self,
            AtmStatus::Open | AtmStatus::Closed | AtmStatus::Unknown => {
                Self { status: AtmStatus::Unknown, reason: StatusReason::Law(law), ..self }
            }
        }
    }

    /// Returns `true` if the reason adds information to the status. [`StatusReason::NothingReported`] does not.
    #[must_use]
    pub fn has_reason(&self) -> bool {
        self.reason != StatusReason::NothingReported
    }
}

impl<'a> StatusReason<'a> {
    /// Returns the reason in English.
    #[must_use]
    pub const fn text(self) -> &'a str {
        match self {
            Self::AlwaysOpen => "reported in service; open 24/7",
            Self::WithinHours => "reported in service; within its opening hours",
            Self::OutsideHours => "outside its opening hours",
            Self::OldReport => "reported in service, but more than 365 days ago",
            Self::Undated => "reported in service, but without a date",
            Self::UncertainHours => "reported in service; its opening hours leave open whether it is open now",
            Self::HoursInWords => "reported in service; its opening hours are not in a form that can be evaluated",
            Self::HoursBySun => "reported in service; its opening hours follow the sun",
            Self::NoTimeZone => "reported in service; its time zone is not known",
            Self::NoHours => "reported in service; opening hours not known",
            Self::OutOfService => "reported out of service",
            Self::ClosedForNow => "reported temporarily closed",
            Self::Gone => "reported permanently closed",
            Self::UnreportedAlways => "its hours are 24/7, but no operational state was reported",
            Self::UnreportedWithinHours => "within its opening hours, but no operational state was reported",
            Self::NothingReported => "no operational state was reported",
            Self::Law(words) | Self::Reports(words) => words,
        }
    }
}

/// The age class of the newest report or verification of an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// The data is at most 15 minutes old, so it was reported by the ATM itself.
    Live,
    /// The data is at most 90 days old.
    Recent,
    /// The data is at most 365 days old.
    Aging,
    /// The data is more than 365 days old.
    Stale,
    /// The date of the data is unknown.
    Never,
}

impl Freshness {
    /// Returns the freshness at the time `now` of data that was reported at the time `at`.
    #[must_use]
    pub fn of(at: Option<Timestamp>, now: Timestamp) -> Self {
        let Some(at) = at else { return Self::Never };
        match now.duration_since(at) {
            age if age <= LIVE => Self::Live,
            age if age <= RECENT => Self::Recent,
            age if age <= IN_SERVICE_VALIDITY => Self::Aging,
            _ => Self::Stale,
        }
    }
}

impl AtmStatus {
    /// All statuses.
    pub const ALL: [Self; 6] =
        [Self::Open, Self::Closed, Self::TemporarilyClosed, Self::PermanentlyClosed, Self::OutOfService, Self::Unknown];

    /// Returns the serialized form: `open`, `closed`, `temporarily_closed`, `permanently_closed`, `out_of_service`,
    /// `unknown`.
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

/// Returns the status of an ATM at the time `now`. It follows from the reported operational state, the age of the
/// report, and the `opening` state of its hours at `now` ([`Schedule::at`](crate::Schedule::at)), if the hours are
/// known.
///
/// Only reports of being in service expire, because an ATM that was closed long ago is not open now. An in-service
/// state without a date is ignored, because it may have expired. An ATM is open only if it was reported in service;
/// outside its hours it is closed even if nothing was reported.
///
/// ```
/// # use signpost_locator::{Hours, OpenState, Point, Record, ReportedState, AtmStatus, status};
/// let mut record = Record::at(Point::new(25.7617, -80.1918).unwrap());
/// let now = "2026-11-20T12:00:00Z".parse().unwrap();
/// assert_eq!(status(&record, None, now).status, AtmStatus::Unknown);
///
/// record.reported = ReportedState::InService;
/// record.reported_at = Some("2026-11-01T00:00:00Z".parse().unwrap());
/// record.hours = Some(Hours::Always);
/// assert_eq!(status(&record, Some(Ok(OpenState::Open)), now).status, AtmStatus::Open);
/// ```
#[must_use]
pub fn status(
    record: &Record,
    opening: Option<Result<OpenState, NotEvaluated>>,
    now: Timestamp,
) -> StatusReport<'static> {
    let as_of = record.reported_at;
    let always = record.hours == Some(Hours::Always);
    let (status, reason) = match record.reported {
        ReportedState::OutOfService => (AtmStatus::OutOfService, StatusReason::OutOfService),
        ReportedState::TemporarilyClosed => (AtmStatus::TemporarilyClosed, StatusReason::ClosedForNow),
        ReportedState::PermanentlyClosed => (AtmStatus::PermanentlyClosed, StatusReason::Gone),
        ReportedState::InService if as_of.is_some_and(|as_of| now.duration_since(as_of) > IN_SERVICE_VALIDITY) => {
            (AtmStatus::Unknown, StatusReason::OldReport)
        }
        ReportedState::InService if as_of.is_some() => in_service(opening, always),
        ReportedState::InService | ReportedState::Unknown => match opening {
            Some(Ok(OpenState::Closed)) => (AtmStatus::Closed, StatusReason::OutsideHours),
            _ if record.reported == ReportedState::InService => (AtmStatus::Unknown, StatusReason::Undated),
            Some(Ok(OpenState::Open)) if always => (AtmStatus::Unknown, StatusReason::UnreportedAlways),
            Some(Ok(OpenState::Open)) => (AtmStatus::Unknown, StatusReason::UnreportedWithinHours),
            _ => (AtmStatus::Unknown, StatusReason::NothingReported),
        },
    };
    StatusReport { status, reason, as_of }
}

fn in_service(opening: Option<Result<OpenState, NotEvaluated>>, always: bool) -> (AtmStatus, StatusReason<'static>) {
    match opening {
        Some(Ok(OpenState::Open)) if always => (AtmStatus::Open, StatusReason::AlwaysOpen),
        Some(Ok(OpenState::Open)) => (AtmStatus::Open, StatusReason::WithinHours),
        Some(Ok(OpenState::Closed)) => (AtmStatus::Closed, StatusReason::OutsideHours),
        Some(Ok(OpenState::Unknown)) => (AtmStatus::Unknown, StatusReason::UncertainHours),
        Some(Err(NotEvaluated::Words)) => (AtmStatus::Unknown, StatusReason::HoursInWords),
        Some(Err(NotEvaluated::Sun)) => (AtmStatus::Unknown, StatusReason::HoursBySun),
        Some(Err(NotEvaluated::NoZone)) => (AtmStatus::Unknown, StatusReason::NoTimeZone),
        None => (AtmStatus::Unknown, StatusReason::NoHours),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::Point;

    const NOW: &str = "2026-11-20T12:00:00Z";

    /// A test case: operational state, date of the report, opening hours and their result; the expected status, and a
    /// part of the reason.
    type Case = (
        ReportedState,
        Option<&'static str>,
        &'static str,
        Option<Result<OpenState, NotEvaluated>>,
        AtmStatus,
        &'static str,
    );

    const OPEN: Option<Result<OpenState, NotEvaluated>> = Some(Ok(OpenState::Open));
    const CLOSED: Option<Result<OpenState, NotEvaluated>> = Some(Ok(OpenState::Closed));
    const UNSURE: Option<Result<OpenState, NotEvaluated>> = Some(Ok(OpenState::Unknown));

    #[rustfmt::skip]
    const TABLE: [Case; 24] = [
        (ReportedState::InService,         Some("2026-11-19T00:00:00Z"), "24/7", OPEN, AtmStatus::Open, "open 24/7"),
        (ReportedState::InService,         None,                         "24/7", OPEN, AtmStatus::Unknown, "without a date"),
        (ReportedState::InService,         None,                         "", None, AtmStatus::Unknown, "without a date"),
        (ReportedState::InService,         None, "9:00-17:00", CLOSED, AtmStatus::Closed, "outside"),
        (ReportedState::InService,         Some("2027-01-01T00:00:00Z"), "24/7", OPEN, AtmStatus::Open, "open 24/7"),
        (ReportedState::InService,         Some("2025-11-20T12:00:00Z"), "24/7", OPEN, AtmStatus::Open, "open 24/7"),
        (ReportedState::InService,         Some("2025-11-20T11:59:59Z"), "24/7", OPEN, AtmStatus::Unknown, "365 days"),
        (ReportedState::InService,         Some("2026-11-19T00:00:00Z"), "9:00-17:00", OPEN, AtmStatus::Open, "within"),
        (ReportedState::InService,         Some("2026-11-19T00:00:00Z"), "9:00-17:00", CLOSED, AtmStatus::Closed, "outside"),
        (ReportedState::InService,         Some("2026-11-19T00:00:00Z"), "9:00-17:00", UNSURE, AtmStatus::Unknown, "whether it is open"),
        (ReportedState::InService,         Some("2025-11-19T00:00:00Z"), "9:00-17:00", CLOSED, AtmStatus::Unknown, "365 days"),
        (ReportedState::InService,         Some("2026-11-19T00:00:00Z"), "by chance", Some(Err(NotEvaluated::Words)), AtmStatus::Unknown, "form"),
        (ReportedState::InService,         Some("2026-11-19T00:00:00Z"), "sunrise-sunset", Some(Err(NotEvaluated::Sun)), AtmStatus::Unknown, "sun"),
        (ReportedState::InService,         Some("2026-11-19T00:00:00Z"), "9:00-17:00", Some(Err(NotEvaluated::NoZone)), AtmStatus::Unknown, "time zone"),
        (ReportedState::InService,         Some("2026-11-19T00:00:00Z"), "", None, AtmStatus::Unknown, "hours not known"),
        (ReportedState::OutOfService,      Some("2020-01-01T00:00:00Z"), "24/7", OPEN, AtmStatus::OutOfService, "out of service"),
        (ReportedState::OutOfService,      None,                         "", None, AtmStatus::OutOfService, "out of service"),
        (ReportedState::TemporarilyClosed, Some("2026-11-19T00:00:00Z"), "24/7", OPEN, AtmStatus::TemporarilyClosed, "temporarily"),
        (ReportedState::PermanentlyClosed, Some("2019-01-01T00:00:00Z"), "24/7", OPEN, AtmStatus::PermanentlyClosed, "permanently"),
        (ReportedState::PermanentlyClosed, None,                         "", None, AtmStatus::PermanentlyClosed, "permanently"),
        (ReportedState::Unknown,           Some("2026-11-19T00:00:00Z"), "24/7", OPEN, AtmStatus::Unknown, "no operational state"),
        (ReportedState::Unknown,           None, "9:00-17:00", OPEN, AtmStatus::Unknown, "within its opening hours"),
        (ReportedState::Unknown,           None, "9:00-17:00", CLOSED, AtmStatus::Closed, "outside"),
        (ReportedState::Unknown,           None,                         "", None, AtmStatus::Unknown, "no operational state"),
    ];

    #[test]
    fn status_depends_on_report_age_and_hours() {
        for (reported, at, hours, opening, expected, reason) in TABLE {
            let mut record = Record::at(Point::new(25.7617, -80.1918).expect("on the earth"));
            record.reported = reported;
            record.reported_at = at.map(|at| at.parse().unwrap());
            record.hours = Hours::parse(hours);
            let report = status(&record, opening, NOW.parse().unwrap());
            assert_eq!(report.status, expected, "{reported:?} {at:?} {hours:?}: {:?}", report.reason);
            assert!(report.reason.text().contains(reason), "{:?}", report.reason);
            assert_eq!(report.as_of, record.reported_at);
        }
    }

    #[test]
    fn banned_atm_is_at_best_unknown() {
        for status in AtmStatus::ALL {
            let report = StatusReport { status, reason: StatusReason::NoHours, as_of: None }.with_ban("state law");
            let stays = [AtmStatus::OutOfService, AtmStatus::TemporarilyClosed, AtmStatus::PermanentlyClosed];
            let expected = if stays.contains(&status) {
                (status, StatusReason::NoHours)
            } else {
                (AtmStatus::Unknown, StatusReason::Law("state law"))
            };
            assert_eq!((report.status, report.reason), expected);
        }
    }

    #[test]
    fn confidence_decays_in_steps() {
        let now: Timestamp = NOW.parse().unwrap();
        for (at, expected) in [
            ("2026-11-20T11:45:00Z", Freshness::Live),
            ("2026-11-20T11:44:59Z", Freshness::Recent),
            ("2026-11-21T00:00:00Z", Freshness::Live),
            ("2026-08-22T12:00:00Z", Freshness::Recent),
            ("2026-08-22T11:59:59Z", Freshness::Aging),
            ("2025-11-20T12:00:00Z", Freshness::Aging),
            ("2025-11-20T11:59:59Z", Freshness::Stale),
        ] {
            assert_eq!(Freshness::of(Some(at.parse().unwrap()), now), expected, "{at}");
        }
        assert_eq!(Freshness::of(None, now), Freshness::Never);
    }

    #[test]
    fn status_has_one_spelling() {
        for status in AtmStatus::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
    }
}
