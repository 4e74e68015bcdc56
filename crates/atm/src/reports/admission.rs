//! Which reports are taken, and what becomes of them. Pure: what is known of the other reports is an argument.

use std::time::Duration;

use data_encoding::HEXLOWER;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use signpost_platform::limits::Rate;

use super::{HoldReason, HowSeen, MAX_TEXT, REPORT_COUNTS, ReportId, ReportState, Seen};

/// How many reports of one machine are taken in a day.
pub const PER_MACHINE: Rate = Rate { count: 3, window: Duration::from_hours(24) };
/// How many a person who is signed in may send in a day.
pub const PER_PERSON: Rate = Rate { count: 20, window: Duration::from_hours(24) };
/// How many come from one network in a day, whoever sends them: of IPv4 256 addresses, of IPv6 what one customer gets.
pub const PER_NETWORK: Rate = Rate { count: 50, window: Duration::from_hours(24) };
/// How many of all are shown unseen in an hour; behind them only those with a proof of work are.
pub const SHOWN_AT_ONCE: Rate = Rate { count: 100, window: Duration::from_hours(1) };
/// How many machines of one operator may be said not to be usable in an hour before the moderator is asked.
pub const BURST: u32 = 10;
/// How many reports may wait for the moderator, and how many may say what another said.
pub const MAX_WAITING: u32 = 1_000;
/// How many reports are stored, of any state.
pub const MAX_REPORTS: u32 = 50_000;

/// How much of what somebody typed is shown to them again, in characters.
pub const MAX_TYPED: usize = 2_000;

/// How far the clocks of others may be ahead.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);
/// A text at least this long is nobody's own twice, whatever the machine.
const LONG_TEXT: usize = 20;

/// What somebody sent, as far as it can be so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentReport {
    /// What they saw.
    pub seen: Seen,
    /// How they know.
    pub how: Option<HowSeen>,
    /// When they saw it.
    pub at: Timestamp,
    /// What else they say, without what a reader cannot see.
    pub text: Option<String>,
}

/// A field of a report that cannot be so, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadReport {
    /// Which field.
    pub field: &'static str,
    /// What is allowed.
    pub reason: &'static str,
}

/// The fields of a report as they came.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the names are those of the API")]
pub struct ReportFields<'a> {
    pub seen: &'a str,
    pub how: Option<&'a str>,
    pub at: Option<&'a str>,
    pub text: Option<&'a str>,
}

/// How many reports passed in the window of a limit, and when the first of them did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PassedReports {
    pub count: u32,
    pub oldest: Option<Timestamp>,
}

/// What is known of other reports when one comes.
#[derive(Clone, Debug, Default)]
pub struct OtherReports {
    /// Which change of them was the last.
    pub version: i64,
    /// Whether the reporter is banned.
    pub is_banned: bool,
    /// Those of the address.
    pub of_address: PassedReports,
    /// Those of the network, of a day.
    pub of_network: PassedReports,
    /// Those of the machine, of a day.
    pub of_machine: PassedReports,
    /// Those of the person, of a day.
    pub of_person: PassedReports,
    /// All of an hour.
    pub of_hour: u32,
    /// Those that wait for the moderator.
    pub waiting: u32,
    /// Those that say what another said.
    pub duplicates: u32,
    /// All that are stored.
    pub stored: u32,
    /// Other machines of the operator that are said not to be usable, of an hour.
    pub machines_of_operator: u32,
    /// One with the same text.
    pub twin: Option<ReportId>,
    /// The first report of the same voice at this machine.
    pub voice: Option<ReportId>,
    /// One of the same voice that says the same, of a day.
    pub echo: Option<ReportId>,
}

/// What becomes of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is stored in this state.
    Stored(ReportState, Option<HoldReason>),
    /// The same person said so already: nothing is stored.
    Echo(ReportId),
}

/// Why a report is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAdmitted {
    /// The moderator has banned the reporter.
    Banned,
    /// Too many came: which limit, and how long until one passes.
    TooMany(&'static str, Rate, Duration),
    /// No more can be stored.
    Full,
}

impl SentReport {
    /// Reads what was sent.
    ///
    /// # Errors
    /// The first field that cannot be so.
    pub fn read(fields: ReportFields<'_>, now: Timestamp) -> Result<Self, BadReport> {
        const SEEN: &str = "must be 'there', 'gone', 'broken', 'wrong_place', 'wrong_hours' or 'other'";
        const AT: &str = "must be an RFC 3339 time such as 2026-11-23T14:00:00Z, of the last 90 days";
        let bad = |field, reason| BadReport { field, reason };
        let seen = Seen::parse(fields.seen).ok_or(bad("seen", SEEN))?;
        let how = fields.how.map(|how| {
            HowSeen::parse(how).ok_or(bad("how", "must be 'used', 'saw', 'asked' or 'phoned', or left out"))
        });
        let at = match fields.at {
            None => now,
            Some(text) => text.parse::<Timestamp>().map_err(|_| bad("at", AT))?,
        };
        if at > now + CLOCK_SKEW || at <= now - REPORT_COUNTS {
            return Err(bad("at", AT));
        }
        let text = fields.text.map(|text| signpost_text::line(text).trim().to_owned());
        let text = text.filter(|text| !text.is_empty());
        if text.as_deref().is_some_and(|text| text.chars().count() > MAX_TEXT) {
            return Err(bad("text", "must be at most 280 characters"));
        }
        if seen == Seen::Other && text.is_none() {
            return Err(bad("text", "is required with 'other': say what is wrong"));
        }
        Ok(Self { seen, how: how.transpose()?, at: at.min(now), text })
    }

    /// What texts are compared by: case and spaces aside.
    #[must_use]
    pub fn text_hash(&self) -> Option<String> {
        let folded = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let hash = |text: &String| HEXLOWER.encode(&Sha256::digest(folded(text))[..16]);
        self.text.as_ref().map(hash)
    }
}

/// Whether a text is so long that two people do not both write it.
pub(super) fn is_long(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.chars().count() >= LONG_TEXT)
}

/// Decides on a report of somebody who is not the operator of the machine. `per_address` is the limit of one address, if
/// there is one; `has_proof` is whether work was spent on it.
///
/// # Errors
/// Where it is not taken.
pub fn admit(
    seen: Seen,
    others: &OtherReports,
    per_address: Option<Rate>,
    has_proof: bool,
    now: Timestamp,
) -> Result<Admission, NotAdmitted> {
    if others.is_banned {
        return Err(NotAdmitted::Banned);
    }
    let limits = [
        ("reports", per_address, others.of_address),
        ("reports_of_person", Some(PER_PERSON), others.of_person),
        // Who runs a server without a limit for an address wants none for its neighbours.
        ("reports_of_network", per_address.and(Some(PER_NETWORK)), others.of_network),
    ];
    for (name, rate, passed) in limits {
        check(name, rate, passed, now)?;
    }
    // Said again, it is neither news nor a flood of them.
    if let Some(echo) = &others.echo {
        return Ok(Admission::Echo(echo.clone()));
    }
    check("reports_of_machine", Some(PER_MACHINE), others.of_machine, now)?;
    if others.stored >= MAX_REPORTS {
        return Err(NotAdmitted::Full);
    }
    let held = if seen.is_against() && others.machines_of_operator >= BURST {
        Some(HoldReason::Burst)
    } else {
        (others.of_hour >= SHOWN_AT_ONCE.count && !has_proof).then_some(HoldReason::Flood)
    };
    Ok(match (&others.twin, held) {
        (Some(_), _) if others.duplicates >= MAX_WAITING => return Err(NotAdmitted::Full),
        (Some(_), _) => Admission::Stored(ReportState::Duplicate, None),
        (None, Some(_)) if others.waiting >= MAX_WAITING => return Err(NotAdmitted::Full),
        (None, Some(reason)) => Admission::Stored(ReportState::New, Some(reason)),
        (None, None) => Admission::Stored(ReportState::Shown, None),
    })
}

fn check(name: &'static str, rate: Option<Rate>, passed: PassedReports, now: Timestamp) -> Result<(), NotAdmitted> {
    let Some(rate) = rate.filter(|rate| passed.count >= rate.count) else { return Ok(()) };
    let window = SignedDuration::try_from(rate.window).unwrap_or(SignedDuration::MAX);
    let free_at = passed.oldest.map_or(now, |oldest| oldest + window);
    // What came in the same moment leaves the window with it: nobody waits for longer than that.
    let wait = Duration::try_from(free_at.duration_since(now).min(window)).unwrap_or_default();
    Err(NotAdmitted::TooMany(name, rate, wait))
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
