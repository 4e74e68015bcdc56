//! Decides about the acceptance and the state of reports. Pure: the other reports are an argument.

use std::time::Duration;

use data_encoding::HEXLOWER;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use signpost_platform::limits::Rate;

use super::{EvidenceSource, Finding, MAX_TEXT, ModerationReason, REPORT_VALIDITY, ReportId, ReportState};

/// Maximum reports about one ATM in a day.
pub const MAX_PER_ATM: Rate = Rate { count: 3, window: Duration::from_hours(24) };
/// Maximum reports of one signed-in person in a day.
pub const MAX_PER_ACCOUNT: Rate = Rate { count: 20, window: Duration::from_hours(24) };
/// Maximum reports from one network in a day: 256 addresses of IPv4, one customer's network of IPv6.
pub const MAX_PER_NETWORK: Rate = Rate { count: 50, window: Duration::from_hours(24) };
/// Maximum reports in an hour that are shown without moderation. Beyond it, only those with a proof of work are.
pub const MAX_UNMODERATED: Rate = Rate { count: 100, window: Duration::from_hours(1) };
/// Number of ATMs of an operator that were reported as unusable in an hour, from which reports need moderation.
pub const BURST: u32 = 10;
/// Maximum number of reports that wait for the moderator, and of duplicates.
pub const MAX_WAITING: u32 = 1_000;
/// Maximum stored reports, of any state.
pub const MAX_REPORTS: u32 = 50_000;

/// Maximum characters of an input that the form shows again.
pub const MAX_INPUT_CHARS: usize = 2_000;

/// Maximum lead of a client's clock.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);
/// Minimum characters of a text that counts as a duplicate across ATMs.
const LONG_TEXT: usize = 20;

/// A report with valid fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidReport {
    /// The observation.
    pub seen: Finding,
    /// The source of the observation.
    pub how: Option<EvidenceSource>,
    /// The time of the observation.
    pub at: Timestamp,
    /// A note without invisible characters.
    pub text: Option<String>,
}

/// An invalid field of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidReport {
    /// The name of the field.
    pub field: &'static str,
    /// The allowed values.
    pub reason: &'static str,
}

/// The fields of a report as they were sent.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the names are those of the API")]
pub struct ReportFields<'a> {
    pub seen: &'a str,
    pub how: Option<&'a str>,
    pub at: Option<&'a str>,
    pub text: Option<&'a str>,
}

/// The number of reports in the window of a limit, and the time of the oldest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct RecentReports {
    pub count: u32,
    pub oldest: Option<Timestamp>,
}

/// The existing reports for comparison with a new report.
#[derive(Clone, Debug, Default)]
pub struct ExistingReports {
    /// The version of the reports.
    pub version: i64,
    /// Whether the reporter is banned.
    pub is_banned: bool,
    /// Reports from the address.
    pub from_address: RecentReports,
    /// Reports from the network in a day.
    pub from_network: RecentReports,
    /// Reports about the ATM in a day.
    pub about_atm: RecentReports,
    /// Reports of the person in a day.
    pub by_account: RecentReports,
    /// All reports in an hour.
    pub in_hour: u32,
    /// Reports that wait for the moderator.
    pub waiting: u32,
    /// Duplicates.
    pub duplicates: u32,
    /// All stored reports.
    pub stored: u32,
    /// Other ATMs of the operator that were reported as unusable in an hour.
    pub atms_of_operator: u32,
    /// A report with an equal text.
    pub equal_report: Option<ReportId>,
    /// The first report of this voice about this ATM.
    pub voice: Option<ReportId>,
    /// A report of this voice with an equal observation in a day.
    pub repetition: Option<ReportId>,
}

/// The decision about a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is stored in this state, and waits for the moderator for this reason.
    Stored(ReportState, Option<ModerationReason>),
    /// A repetition of this report by one person: nothing is stored.
    Repetition(ReportId),
}

/// The reason for rejecting a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdmissionError {
    /// The moderator has banned the reporter.
    Banned,
    /// This limit is exceeded until so much time has passed.
    TooMany(&'static str, Rate, Duration),
    /// No more can be stored.
    Full,
}

impl ValidReport {
    /// Checks the fields of a report.
    ///
    /// # Errors
    /// The first invalid field.
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

    /// Returns the hash of the text without regard to case and spaces, to find duplicates.
    #[must_use]
    pub fn text_hash(&self) -> Option<String> {
        let folded = self.text.as_ref()?.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        Some(HEXLOWER.encode(&Sha256::digest(folded)[..16]))
    }
}

/// Returns `true` if a text is so long that two people do not write it independently.
pub(super) fn is_long(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.chars().count() >= LONG_TEXT)
}

/// Decides about a report of a person who is not the operator of the ATM. `per_address` is the limit of one address, if
/// any; `has_proof` is whether the report has a proof of work.
///
/// # Errors
/// [`AdmissionError`] if the reporter is banned, a limit is exceeded or no more reports can be stored.
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
        // Without a limit for an address there is none for its network.
        ("reports_of_network", per_address.and(Some(MAX_PER_NETWORK)), others.from_network),
    ];
    for (name, rate, passed) in limits {
        check(name, rate, passed, now)?;
    }
    // A repetition is neither stored nor counted.
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
    // Another server's clock may be ahead: the wait is at most the window.
    let wait = Duration::try_from(free_at.duration_since(now).min(window)).unwrap_or_default();
    Err(AdmissionError::TooMany(name, rate, wait))
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
