//! Evaluates the reports of an ATM. Pure: the result depends on the reports and the time only.
//!
//! Only the operator or the moderator decides. Reports of other people make the status of an ATM doubtful at most.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{DecidedBy, HowSeen, MachineReport, REPORT_COUNTS, ReportId, ReportState, Seen, Weight};

/// Half-life of the weight of a report, in days.
const HALF_LIFE_DAYS: f64 = 90.0;

/// Minimum number of people who report that an ATM cannot be used before its status is doubted.
const ENOUGH: usize = 2;

/// An observation of a person at an ATM.
#[derive(Debug)]
struct Observation {
    seen: Seen,
    how: Option<HowSeen>,
    at: Timestamp,
    weight: Weight,
}

/// A decision of the operator or the moderator about an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportDecision {
    /// The state of the ATM.
    pub seen: Seen,
    /// The moderator or the operator.
    pub by: DecidedBy,
    /// When it was decided.
    pub at: Timestamp,
}

/// The effect of the reports on the status of an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportStanding {
    /// No effect.
    Undoubted,
    /// Enough people report that it cannot be used: its status is unknown.
    Doubted,
    /// It is gone.
    Gone(DecidedBy),
    /// It is there, and does not work.
    OutOfService(DecidedBy),
}

/// The result of the reports of an ATM at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportVerdict {
    /// The effect on the status.
    pub standing: ReportStanding,
    /// The decision of the operator or the moderator.
    pub decision: Option<ReportDecision>,
    /// The number of people for each observation.
    pub people: BTreeMap<Seen, usize>,
    /// Whether people contradict each other or the decision.
    pub is_disputed: bool,
    /// The time of the newest observation that counts, or of the decision.
    pub newest_at: Option<Timestamp>,
    /// When the ATM was last confirmed to be there: by a signed-in person, the operator or the moderator, or by two
    /// others.
    pub verified_at: Option<Timestamp>,
    /// When the result changes without another report.
    pub until: Timestamp,
}

/// Weighs the reports of an ATM. `answered_at` is when the operator last declared the ATM to be in service, if that has
/// a date: it answers earlier observations.
#[must_use]
pub fn weigh(reports: &[&MachineReport], answered_at: Option<Timestamp>, now: Timestamp) -> ReportVerdict {
    let decision = find_decision(reports, answered_at);
    let observations = observations(reports, now);
    let answered = decision.map(|decision| decision.at).max(answered_at);
    let open: Vec<&Observation> =
        observations.iter().filter(|observation| answered.is_none_or(|answered| observation.at > answered)).collect();
    let mut people = BTreeMap::new();
    for observation in &observations {
        *people.entry(observation.seen).or_default() += 1;
    }
    let standing = match decision {
        Some(ReportDecision { seen: Seen::Gone, by, .. }) => ReportStanding::Gone(by),
        Some(ReportDecision { seen: Seen::Broken, by, .. }) => ReportStanding::OutOfService(by),
        _ if is_doubted(&open, now) => ReportStanding::Doubted,
        _ => ReportStanding::Undoubted,
    };
    let has_against = observations.iter().any(|observation| observation.seen.is_against());
    let has_for = observations.iter().any(|observation| observation.seen == Seen::There);
    let is_against_decision = decision.is_some_and(|decision| match decision.seen {
        Seen::There => open.iter().any(|observation| observation.seen.is_against()),
        seen => seen.is_against() && open.iter().any(|observation| observation.seen == Seen::There),
    });
    let is_answered = answered_at.is_some() && open.len() < observations.len() && has_against;
    let dates = observations.iter().map(|observation| observation.at).chain(decision.map(|decision| decision.at));
    let expiry = observations.iter().map(|observation| observation.at + REPORT_COUNTS).min();
    ReportVerdict {
        standing,
        decision,
        is_disputed: (has_against && has_for) || is_against_decision || is_answered,
        newest_at: dates.max(),
        verified_at: verified_at(&observations, decision),
        until: expiry.unwrap_or(Timestamp::MAX),
        people,
    }
}

/// Returns the newest decision. Only the moderator revokes the moderator's decision that an ATM is gone. The operator
/// revokes its own decision by declaring later that the ATM is in service.
fn find_decision(reports: &[&MachineReport], answered_at: Option<Timestamp>) -> Option<ReportDecision> {
    let mut decisions = Vec::new();
    for report in reports.iter().filter(|report| report.state == ReportState::Accepted) {
        let Some(by) = report.decided_by else { continue };
        let Some(at) = report.decided_at else { continue };
        if report.seen == Seen::There || report.seen.is_against() {
            decisions.push((&report.id, ReportDecision { seen: report.seen, by, at }));
        }
    }
    decisions.sort_by_key(|(id, decision)| (decision.at, *id));
    let (_, newest) = *decisions.last()?;
    let by_moderator = decisions.iter().rev().find(|(_, decision)| decision.by == DecidedBy::Moderator);
    let decision = match by_moderator {
        Some((_, decision)) if decision.seen == Seen::Gone => *decision,
        _ => newest,
    };
    let is_revoked = decision.by == DecidedBy::Operator && answered_at.is_some_and(|answered| answered > decision.at);
    if is_revoked { None } else { Some(decision) }
}

/// Returns the observations that count: for each voice, the report with the highest weight, then the newest.
fn observations(reports: &[&MachineReport], now: Timestamp) -> Vec<Observation> {
    let mut best: BTreeMap<&ReportId, &MachineReport> = BTreeMap::new();
    for &report in reports {
        if report.state != ReportState::Shown || now >= report.seen_at + REPORT_COUNTS {
            continue;
        }
        let known = best.entry(&report.voice).or_insert(report);
        if rank(report) > rank(known) {
            *known = report;
        }
    }
    best.into_values()
        .map(|report| Observation {
            seen: report.seen,
            how: report.how,
            // The clock of another server may be ahead.
            at: report.seen_at.min(now),
            weight: report.weight,
        })
        .collect()
}

fn rank(report: &MachineReport) -> (Weight, Timestamp, &ReportId) {
    (report.weight, report.created_at, &report.id)
}

/// Returns `true` if enough people report that the ATM cannot be used, and outweigh those who report that it exists. If
/// any of them is signed in, the newest report of a signed-in person decides.
fn is_doubted(open: &[&Observation], now: Timestamp) -> bool {
    let against: Vec<&Observation> = open.iter().copied().filter(|one| one.seen.is_against()).collect();
    let there: Vec<&Observation> = open.iter().copied().filter(|one| one.seen == Seen::There).collect();
    let is_strong =
        against.iter().any(|one| one.weight == Weight::Signed || one.how.is_some_and(HowSeen::is_first_hand));
    if against.len() < ENOUGH || !is_strong {
        return false;
    }
    if there.is_empty() {
        return true;
    }
    let signed = against.iter().chain(&there).filter(|one| one.weight == Weight::Signed);
    match signed.max_by_key(|one| one.at) {
        Some(newest) => newest.seen.is_against(),
        None => total_worth(&against, now) > total_worth(&there, now),
    }
}

/// Returns the sum of the weights of these observations at a moment, each reduced by its age.
fn total_worth(observations: &[&Observation], now: Timestamp) -> f64 {
    let worths = observations.iter().map(|observation| {
        let days = now.duration_since(observation.at).as_secs_f64() / (24.0 * 3600.0);
        f64::from(u8::from(observation.weight)) * 0.5_f64.powf(days / HALF_LIFE_DAYS)
    });
    worths.sum()
}

fn verified_at(observations: &[Observation], decision: Option<ReportDecision>) -> Option<Timestamp> {
    let mut there: Vec<_> = observations.iter().filter(|observation| observation.seen == Seen::There).collect();
    there.sort_by_key(|observation| Reverse(observation.at));
    let signed = there.iter().find(|one| one.weight == Weight::Signed).map(|one| one.at);
    // The second observation confirms the first.
    let by_two = if there.len() >= ENOUGH { Some(there[0].at) } else { None };
    let decided = decision.filter(|decision| decision.seen == Seen::There).map(|decision| decision.at);
    signed.max(by_two).max(decided)
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
