//! The status of an ATM and the age of the evidence.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::atm::{Record, ReportedState};
use crate::hours::{Hours, NotEvaluated, OpenState};

/// Maximum age of a report that an ATM is in service.
pub const FRESH: SignedDuration = SignedDuration::from_hours(365 * 24);
/// Maximum age of a live report, sent by the ATM itself.
const LIVE: SignedDuration = SignedDuration::from_mins(15);
/// Maximum age of a recent report.
const RECENT: SignedDuration = SignedDuration::from_hours(90 * 24);

/// The status of an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtmStatus {
    /// In service, and within its hours.
    Open,
    /// In service, and outside its hours.
    Closed,
    /// Closed temporarily.
    TemporarilyClosed,
    /// Closed permanently.
    PermanentlyClosed,
    /// Present, but not working.
    OutOfService,
    /// Unknown.
    Unknown,
}

/// The reason for a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusReason<'a> {
    /// In service, and always open.
    AlwaysOpen,
    /// In service, and within its hours.
    WithinHours,
    /// Outside its hours.
    OutsideHours,
    /// Reported in service more than [`FRESH`] ago.
    OldReport,
    /// Reported in service without a date.
    Undated,
    /// In service, with hours that are uncertain now.
    UncertainHours,
    /// In service, with hours that cannot be evaluated.
    HoursInWords,
    /// In service, with hours that depend on the sun.
    HoursBySun,
    /// In service, with an unknown time zone.
    NoTimeZone,
    /// In service, with unknown hours.
    NoHours,
    /// Reported out of service.
    OutOfService,
    /// Reported temporarily closed.
    ClosedForNow,
    /// Reported permanently closed.
    Gone,
    /// Always open, without a reported state.
    UnreportedAlways,
    /// Within its hours, without a reported state.
    UnreportedWithinHours,
    /// Without a reported state.
    NothingReported,
    /// Forbidden by a law, with a description of it.
    Law(&'a str),
    /// Reported by visitors, the operator or a moderator, with a description.
    Reports(&'a str),
}

/// A status with its reason and the time of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusReport<'a> {
    /// The status.
    pub status: AtmStatus,
    /// The reason.
    pub reason: StatusReason<'a>,
    /// The time of the report.
    pub as_of: Option<Timestamp>,
}

impl<'a> StatusReport<'a> {
    /// Applies a `law` that forbids ATMs: `open`, `closed` and `unknown` become `unknown`, because a forbidden ATM may
    /// not be in service. Other states do not change.
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

/// The age of the newest report or verification of an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// At most 15 minutes: reported by the ATM itself.
    Live,
    /// At most 90 days.
    Recent,
    /// At most 365 days.
    Aging,
    /// More than 365 days.
    Stale,
    /// Unknown.
    Never,
}

impl Freshness {
    /// Returns the freshness of evidence of the time `at` at the time `now`.
    #[must_use]
    pub fn of(at: Option<Timestamp>, now: Timestamp) -> Self {
        let Some(at) = at else { return Self::Never };
        match now.duration_since(at) {
            age if age <= LIVE => Self::Live,
            age if age <= RECENT => Self::Recent,
            age if age <= FRESH => Self::Aging,
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
/// report and the `opening` state of its hours at `now` ([`Schedule::at`](crate::Schedule::at)), if it has any.
///
/// Only reports of being in service expire: an ATM that was closed long ago is not open now. A record in service without
/// a date is no report of service, because it may have expired long ago. An ATM is open only if it was reported in
/// service; outside its hours it is closed even if nothing was reported.
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
        ReportedState::InService if as_of.is_some_and(|as_of| now.duration_since(as_of) > FRESH) => {
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

    /// Operational state, date of the report, hours and their result; the status, and a part of the reason.
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
