//! What the reports of all machines say at a moment.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use signpost_locator::AtmId;

use crate::reports::evidence::{ReportStanding, ReportVerdict};

/// What the reports of all machines say at a moment.
#[derive(Clone, Debug, Default)]
pub struct ReportTable {
    version: i64,
    /// When a report grows too old to count.
    until: Option<Timestamp>,
    machines: Arc<HashMap<AtmId, MachineReports>>,
    has_gone: bool,
}

/// What the reports of a machine say.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct MachineReports {
    pub verdict: ReportVerdict,
    /// The same in words, without any that a stranger wrote.
    pub summary: Box<str>,
}

impl ReportTable {
    /// The reports of these machines, which are in `version` of them all.
    pub(super) fn new(version: i64, machines: HashMap<AtmId, MachineReports>) -> Self {
        let until = machines.values().map(|reports| reports.verdict.until).min();
        let has_gone = machines.values().any(|reports| is_gone(&reports.verdict));
        Self { version, until, machines: Arc::new(machines), has_gone }
    }

    pub(super) fn version(&self) -> i64 {
        self.version
    }

    /// Whether none of them has grown too old.
    pub(super) fn holds_at(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    pub(super) fn get(&self, id: AtmId) -> Option<&MachineReports> {
        self.machines.get(&id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.machines.is_empty()
    }

    /// Whether any machine is gone by what was decided on reports.
    pub(super) fn has_gone(&self) -> bool {
        self.has_gone
    }

    /// The machines that are gone by that.
    pub(super) fn gone(&self) -> impl Iterator<Item = AtmId> {
        self.machines.iter().filter(|(_, reports)| is_gone(&reports.verdict)).map(|(id, _)| *id)
    }

    /// Whether a machine is gone by that.
    pub(super) fn is_gone(&self, id: AtmId) -> bool {
        self.has_gone && self.get(id).is_some_and(|reports| is_gone(&reports.verdict))
    }

    /// Whether a machine may not be open, by what people say or by what was decided.
    pub(super) fn is_doubted(&self, id: AtmId) -> bool {
        self.get(id).is_some_and(|reports| reports.verdict.standing != ReportStanding::Undoubted)
    }
}

fn is_gone(verdict: &ReportVerdict) -> bool {
    matches!(verdict.standing, ReportStanding::Gone(_))
}
