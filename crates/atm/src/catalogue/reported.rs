//! What people report of the machines of a snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use signpost_locator::{AtmId, AtmStatus, Machine, Reported, StatusReason, StatusReport};

use super::moment::Moment;
use super::report_table::{MachineReports, ReportTable};
use super::snapshot::{CatalogueEntry, Snapshot};
use super::source::OPERATOR;
use crate::reports::evidence::{ReportStanding, weigh};
use crate::reports::{MachineReport, describe};

/// The part of a record that says whether the machine is in service.
const STATUS_PART: &str = "status";

impl Snapshot {
    /// The same machines with these reports, which are in `version` of them, weighed at the time `now`. Reports of a
    /// machine that is not there are left out; those of a row that was merged are its machine's.
    #[must_use]
    pub fn reported(mut self, version: i64, rows: Vec<MachineReport>, now: Timestamp) -> Self {
        let mut of_machines: HashMap<AtmId, Vec<MachineReport>> = HashMap::new();
        for row in rows {
            if let Some(entry) = self.get(row.atm_id) {
                of_machines.entry(entry.machine.id).or_default().push(row);
            }
        }
        let weighed = of_machines.into_iter().filter_map(|(id, rows)| {
            let verdict = weigh(&rows.iter().collect::<Vec<_>>(), answered_at(&self.get(id)?.machine), now);
            let summary = describe(&verdict)?.into_boxed_str();
            Some((id, MachineReports { verdict, summary }))
        });
        self.reports = ReportTable::new(version, weighed.collect());
        self.towns_left = Arc::default();
        self
    }

    /// Which change of the reports this has.
    #[must_use]
    pub fn report_version(&self) -> i64 {
        self.reports.version()
    }

    /// Whether it has this change of the reports, and none of them has grown too old since.
    pub(super) fn has_reports_of(&self, version: i64, now: Timestamp) -> bool {
        self.reports.version() == version && self.reports.holds_at(now)
    }

    /// Whether a machine is gone for good, by its sources or by what was decided on reports.
    #[must_use]
    pub fn is_gone(&self, entry: &CatalogueEntry) -> bool {
        entry.machine.record.reported == Reported::PermanentlyClosed || self.reports.is_gone(entry.machine.id)
    }

    /// What people report of a machine, where they do.
    #[must_use]
    pub fn reports(&self, entry: &CatalogueEntry) -> Option<&MachineReports> {
        self.reports.get(entry.machine.id)
    }
}

impl<'a> Moment<'a> {
    /// A status as it is where people doubt it, or where the operator or the moderator knows better.
    pub(super) fn under_reports(&self, entry: &CatalogueEntry, report: StatusReport<'a>) -> StatusReport<'a> {
        let Some(MachineReports { verdict, summary }) = self.snapshot.reports(entry) else { return report };
        let status = match (verdict.standing, report.status) {
            (ReportStanding::Undoubted, _) => return report,
            (ReportStanding::Gone(_), _) => AtmStatus::PermanentlyClosed,
            (_, AtmStatus::PermanentlyClosed | AtmStatus::OutOfService | AtmStatus::TemporarilyClosed) => {
                return report;
            }
            (ReportStanding::OutOfService(_), _) => AtmStatus::OutOfService,
            (ReportStanding::Doubted, _) => AtmStatus::Unknown,
        };
        StatusReport { status, reason: StatusReason::Said(summary), as_of: verdict.newest_at }
    }
}

/// When the operator last said that the machine is in service, as far as its record has that from the operator.
fn answered_at(machine: &Machine) -> Option<Timestamp> {
    let is_operators = |claim: &signpost_locator::SourceClaim| {
        claim.source.starts_with(OPERATOR) && claim.parts.names().any(|part| part == STATUS_PART)
    };
    let says_so = machine.record.reported == Reported::InService && machine.claims.iter().any(is_operators);
    machine.record.reported_at.filter(|_| says_so)
}
