//! A table of the verdicts of user reports about ATMs.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use signpost_locator::AtmId;

use crate::reports::evidence::{ReportEffect, ReportVerdict};

/// The verdicts of the user reports about all ATMs, by ATM.
#[derive(Clone, Debug, Default)]
pub struct ReportTable {
    pub(super) version: i64,
    /// The time when the first verdict changes because a report expires.
    until: Option<Timestamp>,
    machines: Arc<HashMap<AtmId, AtmReports>>,
    has_gone: bool,
}

/// The verdict of the user reports about an ATM.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct AtmReports {
    pub verdict: ReportVerdict,
    /// An English summary of the verdict. It never contains text written by reporters.
    pub summary: Box<str>,
}

impl ReportTable {
    /// Creates a table from the verdicts of the reports at this version.
    pub(super) fn new(version: i64, machines: HashMap<AtmId, AtmReports>) -> Self {
        let until = machines.values().map(|reports| reports.verdict.until).min();
        let has_gone = machines.values().any(|reports| is_gone(&reports.verdict));
        Self { version, until, machines: Arc::new(machines), has_gone }
    }

    /// Returns `true` if the table has this version of the reports and no report has expired since.
    pub(super) fn is_current(&self, version: i64, now: Timestamp) -> bool {
        self.version == version && self.until.is_none_or(|until| now < until)
    }

    pub(super) fn get(&self, id: AtmId) -> Option<&AtmReports> {
        self.machines.get(&id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.machines.is_empty()
    }

    /// Returns `true` if any ATM is marked as gone by a decision about its reports.
    pub(super) fn has_gone(&self) -> bool {
        self.has_gone
    }

    /// Returns the ATMs that are marked as gone by a decision about their reports.
    pub(super) fn gone(&self) -> impl Iterator<Item = AtmId> {
        self.machines.iter().filter(|(_, reports)| is_gone(&reports.verdict)).map(|(id, _)| *id)
    }

    /// Returns `true` if this ATM is marked as gone by a decision about its reports.
    pub(super) fn is_gone(&self, id: AtmId) -> bool {
        self.has_gone && self.get(id).is_some_and(|reports| is_gone(&reports.verdict))
    }

    /// Returns `true` if reports or a decision make it doubtful that an ATM is open.
    pub(super) fn is_doubted(&self, id: AtmId) -> bool {
        self.get(id).is_some_and(|reports| reports.verdict.effect != ReportEffect::Undoubted)
    }
}

fn is_gone(verdict: &ReportVerdict) -> bool {
    matches!(verdict.effect, ReportEffect::Gone(_))
}
