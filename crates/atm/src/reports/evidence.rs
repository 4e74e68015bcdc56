//! The rules that weigh the reports about an ATM. All functions are pure: the result depends only on the reports and
//! the time.
//!
//! Only reports of the operator and decisions of the moderator can close an ATM. Reports by other people can only make
//! its status doubtful.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{DecidedBy, EvidenceSource, Finding, MachineReport, REPORT_VALIDITY, ReportId, ReportState, Weight};

/// Half-life of the weight of a report, in days.
const HALF_LIFE_DAYS: f64 = 90.0;

/// Minimum number of people who must report that an ATM cannot be used before its status becomes doubtful.
const MIN_REPORTERS: usize = 2;

/// A person's observation at an ATM, taken from a report that counts.
#[derive(Debug)]
struct Observation {
    seen: Finding,
    how: Option<EvidenceSource>,
    at: Timestamp,
    weight: Weight,
}

/// A decision of the operator or the moderator about an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportDecision {
    /// The decided state of the ATM.
    pub seen: Finding,
    /// The role that made the decision.
    pub by: DecidedBy,
    /// The time of the decision.
    pub at: Timestamp,
}

/// The effect of the reports on the status of an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportEffect {
    /// The reports do not change the status.
    Undoubted,
    /// Enough people report that the ATM cannot be used, so its status is unknown.
    Doubted,
    /// The ATM is gone.
    Gone(DecidedBy),
    /// The ATM exists but does not work.
    OutOfService(DecidedBy),
}

/// The result of weighing the reports about an ATM at a point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportVerdict {
    /// The effect on the status of the ATM.
    pub effect: ReportEffect,
    /// The decision of the operator or the moderator, if there is one.
    pub decision: Option<ReportDecision>,
    /// The number of people who reported each finding.
    pub people: BTreeMap<Finding, usize>,
    /// Whether reports contradict each other or the decision.
    pub is_disputed: bool,
    /// The time of the decision or of the newest observation that counts, whichever is later.
    pub newest_at: Option<Timestamp>,
    /// The time when the existence of the ATM was last confirmed by a signed-in user, the operator, the moderator, or
    /// two anonymous reporters.
    pub verified_at: Option<Timestamp>,
    /// The time when the verdict changes without a new report.
    pub until: Timestamp,
}

/// Weighs the reports about an ATM. `answered_at` is the time when the operator last declared the ATM to be in service,
/// if known; it overrides earlier observations.
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
    let effect = match decision {
        Some(ReportDecision { seen: Finding::Gone, by, .. }) => ReportEffect::Gone(by),
        Some(ReportDecision { seen: Finding::Broken, by, .. }) => ReportEffect::OutOfService(by),
        _ if is_doubted(&open, now) => ReportEffect::Doubted,
        _ => ReportEffect::Undoubted,
    };
    let has_unusable = observations.iter().any(|observation| observation.seen.is_unusable());
    let has_working = observations.iter().any(|observation| observation.seen == Finding::There);
    let contradicts_decision = decision.is_some_and(|decision| match decision.seen {
        Finding::There => open.iter().any(|observation| observation.seen.is_unusable()),
        seen => seen.is_unusable() && open.iter().any(|observation| observation.seen == Finding::There),
    });
    let is_answered = answered_at.is_some() && open.len() < observations.len() && has_unusable;
    let dates = observations.iter().map(|observation| observation.at).chain(decision.map(|decision| decision.at));
    let expiry = observations.iter().map(|observation| observation.at + REPORT_VALIDITY).min();
    ReportVerdict {
        effect,
        decision,
        is_disputed: (has_unusable && has_working) || contradicts_decision || is_answered,
        newest_at: dates.max(),
        verified_at: verified_at(&observations, decision),
        until: expiry.unwrap_or(Timestamp::MAX),
        people,
    }
}

/// Returns the newest valid decision. Only the moderator can revoke the moderator's decision that an ATM is gone. The
/// operator revokes its own decision by later declaring the ATM to be in service.
fn find_decision(reports: &[&MachineReport], answered_at: Option<Timestamp>) -> Option<ReportDecision> {
    let mut decisions = Vec::new();
    for report in reports.iter().filter(|report| report.state == ReportState::Accepted) {
        let Some(by) = report.decided_by else { continue };
        let Some(at) = report.decided_at else { continue };
        if report.seen == Finding::There || report.seen.is_unusable() {
            decisions.push((&report.id, ReportDecision { seen: report.seen, by, at }));
        }
    }
    decisions.sort_by_key(|(id, decision)| (decision.at, *id));
    let (_, newest) = *decisions.last()?;
    let by_moderator = decisions.iter().rev().find(|(_, decision)| decision.by == DecidedBy::Moderator);
    let decision = match by_moderator {
        Some((_, decision)) if decision.seen == Finding::Gone => *decision,
        _ => newest,
    };
    let is_revoked = decision.by == DecidedBy::Operator && answered_at.is_some_and(|answered| answered > decision.at);
    if is_revoked { None } else { Some(decision) }
}

/// Returns the observations that count: for each reporter, the report with the highest weight, and among these the
/// newest.
fn observations(reports: &[&MachineReport], now: Timestamp) -> Vec<Observation> {
    let mut best: BTreeMap<&ReportId, &MachineReport> = BTreeMap::new();
    for &report in reports {
        if report.state != ReportState::Shown || now >= report.seen_at + REPORT_VALIDITY {
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

/// Returns `true` if enough people report that the ATM cannot be used and outweigh the reports that it works. If any
/// reporter is signed in, the newest report by a signed-in user is decisive.
fn is_doubted(open: &[&Observation], now: Timestamp) -> bool {
    let against: Vec<&Observation> =
        open.iter().copied().filter(|observation| observation.seen.is_unusable()).collect();
    let there: Vec<&Observation> =
        open.iter().copied().filter(|observation| observation.seen == Finding::There).collect();
    let is_strong = against.iter().any(|observation| {
        observation.weight == Weight::High || observation.how.is_some_and(EvidenceSource::is_first_hand)
    });
    if against.len() < MIN_REPORTERS || !is_strong {
        return false;
    }
    if there.is_empty() {
        return true;
    }
    let signed = against.iter().chain(&there).filter(|observation| observation.weight == Weight::High);
    match signed.max_by_key(|observation| observation.at) {
        Some(newest) => newest.seen.is_unusable(),
        None => total_weight(&against, now) > total_weight(&there, now),
    }
}

/// Returns the sum of the weights of these observations at the time `now`, each reduced by its age.
fn total_weight(observations: &[&Observation], now: Timestamp) -> f64 {
    let weights = observations.iter().map(|observation| {
        let days = now.duration_since(observation.at).as_secs_f64() / (24.0 * 3600.0);
        f64::from(u8::from(observation.weight)) * 0.5_f64.powf(days / HALF_LIFE_DAYS)
    });
    weights.sum()
}

fn verified_at(observations: &[Observation], decision: Option<ReportDecision>) -> Option<Timestamp> {
    let mut there: Vec<_> = observations.iter().filter(|observation| observation.seen == Finding::There).collect();
    there.sort_by_key(|observation| Reverse(observation.at));
    let signed = there.iter().find(|observation| observation.weight == Weight::High).map(|observation| observation.at);
    // The second observation confirms the first.
    let by_two = if there.len() >= MIN_REPORTERS { Some(there[0].at) } else { None };
    let decided = decision.filter(|decision| decision.seen == Finding::There).map(|decision| decision.at);
    signed.max(by_two).max(decided)
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
