//! The catalogue of ATMs: the rows in the database, and the immutable snapshot of them that requests search.

mod advice;
mod apply;
mod countries;
mod describe_import;
mod facts;
mod hours;
mod law;
mod live;
mod moment;
mod plan;
mod property_counts;
mod report_table;
mod reported;
mod snapshot;
mod source;
pub mod sql;
mod stored;
mod towns;
mod watch;

pub use apply::{FileContents, ImportRules, TooManyAtms, apply, apply_with};
pub use countries::country_of;
pub use describe_import::describe_import;
pub use facts::{AtmFilter, TradeSide};
pub use live::{Catalogue, load};
pub use moment::{Moment, NextOpening};
pub use plan::{Coverage, ImportCounts, Plan, RemovalLimitExceeded, plan};
pub use property_counts::{PropertyCounts, ValueCounts};
pub use report_table::{AtmReports, ReportTable};
pub use snapshot::{CatalogueEntry, Snapshot, SnapshotParts};
pub use source::{OPERATOR, SAMPLE, Source};
pub use sql::{Conflict, ImportSteps, RequiredStatementRefused, SourceCount, StoredCatalogue};
pub use stored::{StoredAtm, UnmergedAtm};
pub use towns::{Town, TownArea, Towns};
pub use watch::watch;
