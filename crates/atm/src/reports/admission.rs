//! The rules for accepting new reports and for their initial state. All functions are pure: the existing reports are an
//! argument.

use std::time::Duration;

use data_encoding::HEXLOWER;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use signpost_platform::limits::Rate;

use super::{EvidenceSource, Finding, MAX_TEXT, ModerationReason, REPORT_VALIDITY, ReportId, ReportState};

/// Maximum number of reports about an ATM per day.
pub const MAX_PER_ATM: Rate = Rate { count: 3, window: Duration::from_hours(24) };
/// Maximum number of reports by a signed-in user per day.
pub const MAX_PER_ACCOUNT: Rate = Rate { count: 20, window: Duration::from_hours(24) };
/// Maximum number of reports from a network per day. A network has 256 IPv4 addresses, or is the IPv6 network of one
/// customer.
pub const MAX_PER_NETWORK: Rate = Rate { count: 50, window: Duration::from_hours(24) };
/// Maximum number of reports per hour that are shown without moderation. Further reports require moderation or a proof
/// of work.
pub const MAX_UNMODERATED: Rate = Rate { count: 100, window: Duration::from_hours(1) };
/// Number of an operator's other ATMs reported as unusable within an hour that makes reports require moderation.
pub const BURST: u32 = 10;
/// Maximum number of reports that wait for the moderator, and maximum number of duplicates.
pub const MAX_WAITING: u32 = 1_000;
/// Maximum number of stored reports in any state.
pub const MAX_REPORTS: u32 = 50_000;

/// Maximum length of an input that the form shows again, in characters.
pub const MAX_INPUT_CHARS: usize = 2_000;

/// Maximum lead of a client's clock.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);
/// Minimum length of a text that is compared with reports about other ATMs to find duplicates, in characters.
const MIN_DUPLICATE_CHARS: usize = 20;

/// The validated fields of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidReport {
    /// The observation.
    pub seen: Finding,
    /// How the reporter made the observation.
    pub how: Option<EvidenceSource>,
    /// The time of the observation.
    pub at: Timestamp,
    /// A note by the reporter, without invisible characters.
    pub text: Option<String>,
}

/// The error of a report with an invalid field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidReport {
    /// The name of the field.
    pub field: &'static str,
    /// The allowed values.
    pub reason: &'static str,
}

/// The fields of a report as sent by the client, before validation.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the names are those of the API")]
pub struct ReportFields<'a> {
    pub seen: &'a str,
    pub how: Option<&'a str>,
    pub at: Option<&'a str>,
    pub text: Option<&'a str>,
}

/// The number of reports in the window of a rate limit, and the time of the oldest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct RecentReports {
    pub count: u32,
    pub oldest: Option<Timestamp>,
}

/// The properties of the existing reports that determine whether a new report is accepted.
#[derive(Clone, Debug, Default)]
pub struct ExistingReports {
    /// The version of the stored reports.
    pub version: i64,
    /// Whether the reporter is banned.
    pub is_banned: bool,
    /// Reports from the client address within the configured window.
    pub from_address: RecentReports,
    /// Reports from the network within a day.
    pub from_network: RecentReports,
    /// Reports about the ATM within a day.
    pub about_atm: RecentReports,
    /// Reports by the signed-in user within a day.
    pub by_account: RecentReports,
    /// The number of all reports within an hour.
    pub in_hour: u32,
    /// The number of reports that wait for the moderator.
    pub waiting: u32,
    /// The number of duplicates.
    pub duplicates: u32,
    /// The number of all stored reports.
    pub stored: u32,
    /// The number of other ATMs of the operator that were reported as unusable within an hour.
    pub atms_of_operator: u32,
    /// An existing report with an equal text.
    pub equal_report: Option<ReportId>,
    /// The first report by this reporter about this ATM.
    pub first_by_reporter: Option<ReportId>,
    /// A report by this reporter with an equal finding within a day.
    pub repetition: Option<ReportId>,
}

/// The decision to accept a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The report is stored in this state. If it requires moderation, the reason is given.
    Stored(ReportState, Option<ModerationReason>),
    /// The report repeats this earlier report by the same person, and is not stored.
    Repetition(ReportId),
}

/// The reason for rejecting a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdmissionError {
    /// The moderator has banned the reporter.
    Banned,
    /// The named limit is exceeded. The duration is the time until the next report is accepted.
    TooMany(&'static str, Rate, Duration),
    /// The maximum number of stored reports is reached.
    Full,
}

impl ValidReport {
    /// Validates the fields of a report.
    ///
    /// # Errors
    /// [`InvalidReport`] with the first invalid field.
    pub fn read(fields: ReportFields<'_>, now: Timestamp) -> Result<Self, InvalidReport> {
        const SEEN: &str = "must be 'there', 'gone', 'broken', 'wrong_place', 'wrong_hours' or 'other'";
        const HOW: &str = "must be 'used', 'saw', 'asked' or 'phoned', or left out";
        const AT: &str = "must be an RFC 3339 time such as 2026-11-23T14:00:00Z, of the last 90 days";
        let Some(seen) = Finding::parse(fields.seen) else { return Err(InvalidReport { field: "seen", reason: SEEN }) };
        let at = match fields.at.map(str::parse::<Timestamp>) {
            None => now,
            Some(Ok(at)) if at <= now + CLOCK_SKEW && at > now - REPORT_VALIDITY => at,
            Some(_) => return Err(InvalidReport { field: "at", reason: AT }),
        };
        let text = signpost_text::clean_line(fields.text.unwrap_or_default()).trim().to_owned();
        if text.chars().count() > MAX_TEXT {
            return Err(InvalidReport { field: "text", reason: "must be at most 280 characters" });
        }
        if seen == Finding::Other && text.is_empty() {
            return Err(InvalidReport { field: "text", reason: "is required with 'other': say what is wrong" });
        }
        let how = fields
            .how
            .map(|how| EvidenceSource::parse(how).ok_or(InvalidReport { field: "how", reason: HOW }))
            .transpose()?;
        let text = if text.is_empty() { None } else { Some(text) };
        Ok(Self { seen, how, at: at.min(now), text })
    }

    /// Returns the hash of the text for finding duplicates, regardless of case and spaces.
    #[must_use]
    pub fn text_hash(&self) -> Option<String> {
        let folded = self.text.as_ref()?.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        Some(HEXLOWER.encode(&Sha256::digest(folded)[..16]))
    }
}

/// Returns `true` if a text is so long that two people are unlikely to write it independently.
pub(super) fn is_long(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.chars().count() >= MIN_DUPLICATE_CHARS)
}

/// Decides whether a report by a person other than the operator of the ATM is accepted. `per_address` is the limit for
/// one address, if any; `has_proof` is `true` if the report has a proof of work.
///
/// # Errors
/// [`AdmissionError`] if the reporter is banned, a limit is exceeded, or the maximum number of stored reports is
/// reached.
pub fn admit(
    seen: Finding,
    others: &ExistingReports,
    per_address: Option<Rate>,
    has_proof: bool,
    now: Timestamp,
) -> Result<Admission, AdmissionError> {
    if others.is_banned {
        return Err(AdmissionError::Banned);
    }
    let limits = [
        ("reports", per_address, others.from_address),
        ("reports_of_person", Some(MAX_PER_ACCOUNT), others.by_account),
        // Without a limit for addresses there is no limit for networks either.
        ("reports_of_network", per_address.and(Some(MAX_PER_NETWORK)), others.from_network),
    ];
    for (name, rate, passed) in limits {
        check(name, rate, passed, now)?;
    }
    // A repetition is neither stored nor counted against the limits.
    if let Some(repetition) = &others.repetition {
        return Ok(Admission::Repetition(repetition.clone()));
    }
    check("reports_of_machine", Some(MAX_PER_ATM), others.about_atm, now)?;
    if others.stored >= MAX_REPORTS {
        return Err(AdmissionError::Full);
    }
    if others.equal_report.is_some() {
        if others.duplicates >= MAX_WAITING {
            return Err(AdmissionError::Full);
        }
        return Ok(Admission::Stored(ReportState::Duplicate, None));
    }
    let reason = if seen.is_unusable() && others.atms_of_operator >= BURST {
        ModerationReason::Burst
    } else if others.in_hour >= MAX_UNMODERATED.count && !has_proof {
        ModerationReason::Flood
    } else {
        return Ok(Admission::Stored(ReportState::Shown, None));
    };
    if others.waiting >= MAX_WAITING {
        return Err(AdmissionError::Full);
    }
    Ok(Admission::Stored(ReportState::New, Some(reason)))
}

fn check(name: &'static str, rate: Option<Rate>, passed: RecentReports, now: Timestamp) -> Result<(), AdmissionError> {
    let rate = match rate {
        Some(rate) if passed.count >= rate.count => rate,
        _ => return Ok(()),
    };
    let window = SignedDuration::try_from(rate.window).unwrap_or(SignedDuration::MAX);
    let free_at = passed.oldest.map_or(now, |oldest| oldest + window);
    // The clock of another server may be ahead, so the wait is limited to the window.
    let wait = Duration::try_from(free_at.duration_since(now).min(window)).unwrap_or_default();
    Err(AdmissionError::TooMany(name, rate, wait))
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
