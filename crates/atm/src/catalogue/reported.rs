//! Application of user reports to the ATMs of a snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use signpost_locator::{AtmStatus, MergedAtm, ReportedState, StatusReason, StatusReport};

use super::moment::Moment;
use super::report_table::{AtmReports, ReportTable};
use super::snapshot::{CatalogueEntry, Snapshot};
use super::source::OPERATOR;
use crate::reports::evidence::{ReportEffect, weigh};
use crate::reports::{MachineReport, describe};

/// Name of the record part that contains the operational state.
const STATUS_PART: &str = "status";

impl Snapshot {
    /// Adds all reports of this version, weighed at the time `now`. Reports about unknown ATMs are ignored; reports
    /// about a merged row are assigned to its ATM.
    #[must_use]
    pub fn with_reports(mut self, version: i64, rows: Vec<MachineReport>, now: Timestamp) -> Self {
        let mut rows_by_position: HashMap<usize, Vec<MachineReport>> = HashMap::new();
        for row in rows {
            if let Some(at) = self.position(row.atm_id) {
                rows_by_position.entry(at).or_default().push(row);
            }
        }
        let mut machines = HashMap::new();
        for (at, rows) in rows_by_position {
            let machine = &self.entries[at].atm;
            let verdict = weigh(&rows.iter().collect::<Vec<_>>(), answered_at(machine), now);
            if let Some(summary) = describe(&verdict) {
                machines.insert(machine.id, AtmReports { verdict, summary: summary.into_boxed_str() });
            }
        }
        self.reports = ReportTable::new(version, machines);
        self.towns_left = Arc::default();
        self
    }

    /// Returns `true` if an ATM is permanently closed, by its sources or by a decision about reports.
    #[must_use]
    pub fn is_gone(&self, entry: &CatalogueEntry) -> bool {
        entry.atm.record.reported == ReportedState::PermanentlyClosed || self.reports.is_gone(entry.atm.id)
    }

    /// Returns the reports about an ATM, if there are any.
    #[must_use]
    pub fn reports(&self, entry: &CatalogueEntry) -> Option<&AtmReports> {
        self.reports.get(entry.atm.id)
    }
}

impl<'a> Moment<'a> {
    /// Applies user reports, and the decisions of the operator and the moderator, to the status of an ATM.
    pub(super) fn apply_reports(&self, entry: &CatalogueEntry, report: StatusReport<'a>) -> StatusReport<'a> {
        let Some(AtmReports { verdict, summary }) = self.snapshot.reports(entry) else { return report };
        let status = match (verdict.effect, report.status) {
            (ReportEffect::Undoubted, _) => return report,
            (ReportEffect::Gone(_), _) => AtmStatus::PermanentlyClosed,
            (_, AtmStatus::PermanentlyClosed | AtmStatus::OutOfService | AtmStatus::TemporarilyClosed) => {
                return report;
            }
            (ReportEffect::OutOfService(_), _) => AtmStatus::OutOfService,
            (ReportEffect::Doubted, _) => AtmStatus::Unknown,
        };
        StatusReport { status, reason: StatusReason::Reports(summary), as_of: verdict.newest_at }
    }
}

/// Returns the time when the operator last confirmed that the ATM is in service, if the operator is the source of its
/// state.
fn answered_at(machine: &MergedAtm) -> Option<Timestamp> {
    if machine.record.reported != ReportedState::InService {
        return None;
    }
    let is_from_operator = machine
        .claims
        .iter()
        .any(|claim| claim.source.starts_with(OPERATOR) && claim.parts.names().any(|part| part == STATUS_PART));
    if is_from_operator { machine.record.reported_at } else { None }
}
