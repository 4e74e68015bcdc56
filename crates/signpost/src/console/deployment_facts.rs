//! Reads the state of the deployment that every page of the console needs, such as the number of
//! failed events. The cost of each query is bounded.

use anyhow::Result;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use signpost_atm::feeds::{self, Feed};
use signpost_atm::reports::{MachineReport, ReportState, sql as report_rows};
use signpost_login::domains::{Domain, overview};
use signpost_login::events::deliveries::{self, DeliveryRow};
use signpost_login::events::endpoints::list_failing;
use signpost_login::events::{FailingEndpoint, sql as event_rows};
use signpost_platform::accounts::keys;

use super::Console;
use super::concerns::check_machines;

/// Maximum count that is shown.
pub(super) const MAX_COUNTED: u32 = 1_000;
/// Maximum number of failing endpoints that are read.
pub(super) const MAX_FAILING: u32 = 100;
/// Maximum number of named items of a kind.
const MAX_NAMED: u32 = 5;

/// A count up to [`MAX_COUNTED`], or a note that it is higher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BoundedCount(pub(super) u32);

/// The state of the deployment that the console's menu and task list show.
#[derive(Debug, Default)]
pub(super) struct DeploymentFacts {
    pub(super) waiting: BoundedCount,
    pub(super) failed: BoundedCount,
    pub(super) failing: Vec<FailingEndpoint>,
    pub(super) missing_proof: Vec<Domain>,
    pub(super) has_domain: bool,
    pub(super) has_key: bool,
    pub(super) last_deliveries: Vec<DeliveryRow>,
    /// `None` if the locator does not run here.
    pub(super) locator: Option<LocatorFacts>,
}

/// The state of the ATM locator that the console's menu and task list show.
#[derive(Debug, Default)]
pub(super) struct LocatorFacts {
    pub(super) machines: usize,
    pub(super) is_sample: bool,
    pub(super) reports_waiting: u32,
    pub(super) first_reports: Vec<MachineReport>,
    pub(super) overdue: Vec<String>,
    pub(super) failing_feeds: Vec<Feed>,
    /// Number of ATMs with likely mistakes, 0 until they were checked.
    pub(super) concerned: usize,
}

impl BoundedCount {
    /// Returns a text such as `37` or `more than 1,000`.
    pub(super) fn text(self) -> String {
        if self.0 > MAX_COUNTED { "more than 1,000".to_owned() } else { self.0.to_string() }
    }

    pub(super) fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl DeploymentFacts {
    pub(super) async fn read(console: &Console, now: Timestamp) -> Result<Self> {
        let store = &console.store;
        Ok(Self {
            waiting: BoundedCount(event_rows::count_waiting_up_to(store, MAX_COUNTED + 1).await?),
            failed: BoundedCount(deliveries::count_failed_up_to(store, MAX_COUNTED + 1).await?),
            failing: list_failing(store, MAX_FAILING).await?,
            missing_proof: overview::list_missing_proof(store, MAX_NAMED).await?,
            has_domain: !overview::list_page(store, None, 1).await?.is_empty(),
            has_key: keys::sql::has_any(store).await?,
            last_deliveries: deliveries::list_newest(store, None, 10).await?,
            locator: LocatorFacts::read(console, now).await?,
        })
    }
}

impl LocatorFacts {
    async fn read(console: &Console, now: Timestamp) -> Result<Option<Self>> {
        let Some(atm) = &console.atm else { return Ok(None) };
        let store = &console.store;
        let snapshot = atm.catalogue.snapshot();
        let today = now.to_zoned_datetime(TimeZone::UTC).date();
        let advisories = atm.catalogue.advisories.now();
        let overdue = advisories.rows().iter().filter(|row| row.is_overdue(today)).map(|row| row.id.clone());
        let feeds = feeds::sql::list(store).await?;
        Ok(Some(Self {
            machines: snapshot.len(),
            is_sample: snapshot.is_sample(),
            reports_waiting: report_rows::count_new(store).await?,
            first_reports: report_rows::list(store, Some(ReportState::New), None, MAX_NAMED).await?,
            overdue: overdue.collect(),
            failing_feeds: feeds.into_iter().filter(|feed| feed.failures > 0).collect(),
            concerned: check_machines(console, &snapshot, now).map_or(0, |found| found.machines),
        }))
    }
}
