//! What the reports of a machine make of it. Pure: the same reports at the same time say the same.
//!
//! People say, and only the operator or the moderator decides: from what people say no machine is ever more than doubted.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{DecidedBy, HowSeen, MachineReport, REPORT_COUNTS, ReportId, ReportState, Seen, Weight};

/// After this many days a report counts for half of what it did.
const HALF_LIFE_DAYS: f64 = 90.0;

/// How many people must say that a machine cannot be used before it is doubted.
const ENOUGH: usize = 2;

/// What one person says of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Testimony {
    /// What they saw.
    pub seen: Seen,
    /// How they know.
    pub how: Option<HowSeen>,
    /// When they saw it.
    pub at: Timestamp,
    /// How much it counts for.
    pub weight: Weight,
}

/// What the operator or the moderator says of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportDecision {
    /// What is so.
    pub seen: Seen,
    /// Who says so.
    pub by: DecidedBy,
    /// Since when.
    pub at: Timestamp,
}

/// What the reports of a machine make of its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportStanding {
    /// Nothing.
    Undoubted,
    /// Enough people say that nobody can use it: whether it is open is not known.
    Doubted,
    /// It is gone.
    Gone(DecidedBy),
    /// It is there, and does not work.
    OutOfService(DecidedBy),
}

/// What the reports of a machine say together, at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportVerdict {
    /// What they make of its status.
    pub standing: ReportStanding,
    /// What the operator or the moderator says, where one of them does.
    pub decision: Option<ReportDecision>,
    /// How many people say what.
    pub people: BTreeMap<Seen, usize>,
    /// Whether people contradict each other, or what decided.
    pub is_disputed: bool,
    /// When the newest that counts was seen, or was decided.
    pub newest_at: Option<Timestamp>,
    /// When the machine was last found there by somebody who counts: one who is signed in, the operator or the moderator,
    /// or two others.
    pub verified_at: Option<Timestamp>,
    /// When another verdict follows without another report.
    pub until: Timestamp,
}

/// Weighs the reports of a machine. `answered_at` is when the operator last said of it that it is in service, as far as
/// that is dated: what people saw before, it answers.
#[must_use]
pub fn weigh(reports: &[&MachineReport], answered_at: Option<Timestamp>, now: Timestamp) -> ReportVerdict {
    let decision = find_decision(reports, answered_at);
    let said = testimonies(reports, now);
    let answered = decision.map(|decision| decision.at).max(answered_at);
    let open: Vec<&Testimony> =
        said.iter().filter(|testimony| answered.is_none_or(|answered| testimony.at > answered)).collect();
    let mut people = BTreeMap::new();
    for testimony in &said {
        *people.entry(testimony.seen).or_default() += 1;
    }
    let standing = match decision {
        Some(ReportDecision { seen: Seen::Gone, by, .. }) => ReportStanding::Gone(by),
        Some(ReportDecision { seen: Seen::Broken, by, .. }) => ReportStanding::OutOfService(by),
        _ if is_doubted(&open, now) => ReportStanding::Doubted,
        _ => ReportStanding::Undoubted,
    };
    let has = |is: fn(Seen) -> bool| said.iter().any(|testimony| is(testimony.seen));
    let (has_against, has_for) = (has(Seen::is_against), has(|seen| seen == Seen::There));
    let is_against_decision = decision.is_some_and(|decision| match decision.seen {
        Seen::There => open.iter().any(|testimony| testimony.seen.is_against()),
        seen => seen.is_against() && open.iter().any(|testimony| testimony.seen == Seen::There),
    });
    let is_answered = answered_at.is_some() && open.len() < said.len() && has_against;
    let dated = said.iter().map(|testimony| testimony.at).chain(decision.map(|decision| decision.at));
    ReportVerdict {
        standing,
        decision,
        is_disputed: (has_against && has_for) || is_against_decision || is_answered,
        newest_at: dated.max(),
        verified_at: verified_at(&said, decision),
        until: said.iter().map(|testimony| testimony.at + REPORT_COUNTS).min().unwrap_or(Timestamp::MAX),
        people,
    }
}

/// The newest word of whoever decides; but what the moderator found gone only the moderator brings back. The operator takes
/// a report of its own back by saying later that the machine is in service.
fn find_decision(reports: &[&MachineReport], answered_at: Option<Timestamp>) -> Option<ReportDecision> {
    let decided = reports.iter().filter(|report| report.state == ReportState::Accepted);
    let decisions = decided.filter_map(|report| {
        let (by, at) = (report.decided_by?, report.decided_at?);
        let is_of_use = report.seen == Seen::There || report.seen.is_against();
        is_of_use.then_some((&report.id, ReportDecision { seen: report.seen, by, at }))
    });
    let decisions: Vec<_> = decisions.collect();
    let is_taken_back = |decision: &ReportDecision| {
        decision.by == DecidedBy::Operator && answered_at.is_some_and(|answered| answered > decision.at)
    };
    let newest = |by: &[DecidedBy]| {
        let theirs = decisions.iter().filter(|(_, decision)| by.contains(&decision.by));
        theirs.max_by_key(|(id, decision)| (decision.at, (*id).clone())).map(|(_, decision)| *decision)
    };
    let found_gone = newest(&[DecidedBy::Moderator]).filter(|decision| decision.seen == Seen::Gone);
    let decision = found_gone.or_else(|| newest(&[DecidedBy::Moderator, DecidedBy::Operator]));
    decision.filter(|decision| !is_taken_back(decision))
}

/// What counts of what people say: of each voice one, the weightiest, then the newest.
fn testimonies(reports: &[&MachineReport], now: Timestamp) -> Vec<Testimony> {
    let counts = |report: &&&MachineReport| report.state == ReportState::Shown && now < report.seen_at + REPORT_COUNTS;
    let mut best: BTreeMap<&ReportId, &MachineReport> = BTreeMap::new();
    for report in reports.iter().filter(counts) {
        let rank = |report: &MachineReport| (report.weight, report.created_at, report.id.clone());
        let known = best.entry(&report.voice).or_insert(report);
        if rank(report) > rank(known) {
            *known = report;
        }
    }
    let testimony = |report: &MachineReport| Testimony {
        seen: report.seen,
        how: report.how,
        // Another server's clock may be ahead of this one.
        at: report.seen_at.min(now),
        weight: report.weight,
    };
    best.into_values().map(testimony).collect()
}

/// Whether enough people say that nobody can use the machine, and those who say that it is there weigh less. Where any of
/// them is signed in, the newest of these is believed.
fn is_doubted(open: &[&Testimony], now: Timestamp) -> bool {
    let against: Vec<_> = open.iter().filter(|testimony| testimony.seen.is_against()).collect();
    let there: Vec<_> = open.iter().filter(|testimony| testimony.seen == Seen::There).collect();
    let is_strong = |testimony: &&&Testimony| {
        testimony.weight == Weight::Signed || testimony.how.is_some_and(HowSeen::is_first_hand)
    };
    if against.len() < ENOUGH || !against.iter().any(is_strong) {
        return false;
    }
    let both = || against.iter().chain(&there);
    let newest_signed = both().filter(|testimony| testimony.weight == Weight::Signed).max_by_key(|one| one.at);
    match newest_signed {
        _ if there.is_empty() => true,
        Some(signed) => signed.seen.is_against(),
        None => {
            let sum = |side: &[&&Testimony]| side.iter().map(|testimony| worth(testimony, now)).sum::<f64>();
            sum(&against) > sum(&there)
        }
    }
}

/// What a report counts for at a moment.
fn worth(testimony: &Testimony, now: Timestamp) -> f64 {
    let days = now.duration_since(testimony.at).as_secs_f64() / (24.0 * 3600.0);
    f64::from(u8::from(testimony.weight)) * 0.5_f64.powf(days / HALF_LIFE_DAYS)
}

fn verified_at(said: &[Testimony], decision: Option<ReportDecision>) -> Option<Timestamp> {
    let mut there: Vec<_> = said.iter().filter(|testimony| testimony.seen == Seen::There).collect();
    there.sort_by_key(|testimony| Reverse(testimony.at));
    let signed = there.iter().find(|testimony| testimony.weight == Weight::Signed).map(|testimony| testimony.at);
    // Two say it once the second of them has.
    let by_two = (there.len() >= ENOUGH).then(|| there[0].at);
    let decided = decision.filter(|decision| decision.seen == Seen::There).map(|decision| decision.at);
    signed.max(by_two).max(decided)
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
