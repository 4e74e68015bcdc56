//! The catalogue of ATMs: the rows in the database, and the immutable snapshot of them that requests search.

mod advice;
mod apply;
mod countries;
mod describe_import;
mod facts;
mod hours;
mod knowledge;
mod law;
mod live;
mod moment;
mod plan;
mod report_table;
mod reported;
mod snapshot;
mod source;
pub mod sql;
mod stored;
mod towns;
mod watch;

pub use apply::{Reading, Terms, TooManyMachines, apply, apply_with};
pub use countries::country_of;
pub use describe_import::describe_import;
pub use facts::{AtmFilter, TradeSide};
pub use knowledge::{Knowledge, KnownAnswers};
pub use live::{Catalogue, load};
pub use moment::{Moment, NextOpening};
pub use plan::{Extent, ImportCounts, Plan, TooManyGone, plan};
pub use report_table::{MachineReports, ReportTable};
pub use snapshot::{CatalogueEntry, Snapshot, SnapshotParts};
pub use source::{OPERATOR, SAMPLE, Source};
pub use sql::{Conflict, ImportSteps, RequiredStepRefused, SourceCount, StoredCatalogue};
pub use stored::{AtmApart, StoredAtm};
pub use towns::{Town, TownArea, Towns};
pub use watch::watch;
