//! What the console knows of the deployment at a glance. Every question is one that costs little however much there is.

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
use super::doubts::find_doubts;

/// How far is counted: beyond it a number helps nobody.
pub(super) const COUNTED_TO: u32 = 1_000;
/// How many failing endpoints are looked at.
pub(super) const FAILING: u32 = 100;
/// How many of a kind are named.
const NAMED: u32 = 5;

/// A count that ends somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CountUpTo(pub(super) u32);

/// What is known at a glance.
#[derive(Debug, Default)]
pub(super) struct DeploymentFacts {
    pub(super) waiting: CountUpTo,
    pub(super) failed: CountUpTo,
    pub(super) failing: Vec<FailingEndpoint>,
    pub(super) missing_proof: Vec<Domain>,
    pub(super) has_domain: bool,
    pub(super) has_key: bool,
    pub(super) last_deliveries: Vec<DeliveryRow>,
    /// `None` where the locator does not run here.
    pub(super) locator: Option<LocatorFacts>,
}

/// The same of the locator.
#[derive(Debug, Default)]
pub(super) struct LocatorFacts {
    pub(super) machines: usize,
    pub(super) is_sample: bool,
    pub(super) reports_waiting: u32,
    pub(super) first_reports: Vec<MachineReport>,
    pub(super) overdue: Vec<String>,
    pub(super) failing_feeds: Vec<Feed>,
    /// How many machines may be wrong, as far as they were checked.
    pub(super) doubtful: usize,
}

impl CountUpTo {
    /// `37`, `more than 1,000`
    pub(super) fn say(self) -> String {
        if self.0 > COUNTED_TO { "more than 1,000".to_owned() } else { self.0.to_string() }
    }

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl DeploymentFacts {
    pub(super) async fn read(console: &Console, now: Timestamp) -> Result<Self> {
        let store = &console.store;
        let some_domain = overview::list_page(store, None, 1);
        Ok(Self {
            waiting: CountUpTo(event_rows::count_waiting_up_to(store, COUNTED_TO + 1).await?),
            failed: CountUpTo(deliveries::count_failed_up_to(store, COUNTED_TO + 1).await?),
            failing: list_failing(store, FAILING).await?,
            missing_proof: overview::list_missing_proof(store, NAMED).await?,
            has_domain: !some_domain.await?.is_empty(),
            has_key: keys::sql::has_any(store).await?,
            last_deliveries: deliveries::list_newest(store, None, 10).await?,
            locator: LocatorFacts::read(console, now).await?,
        })
    }
}

impl LocatorFacts {
    async fn read(console: &Console, now: Timestamp) -> Result<Option<Self>> {
        let Some(atm) = &console.atm else { return Ok(None) };
        let (store, snapshot) = (&console.store, atm.catalogue.snapshot());
        let today = now.to_zoned_datetime(TimeZone::UTC).date();
        let advisories = atm.catalogue.advisories.now();
        let overdue = advisories.rows().iter().filter(|row| row.is_overdue(today)).map(|row| row.id.clone());
        let feeds = feeds::sql::list(store).await?;
        Ok(Some(Self {
            machines: snapshot.len(),
            is_sample: snapshot.is_sample(),
            reports_waiting: report_rows::count_new(store).await?,
            first_reports: report_rows::list(store, Some(ReportState::New), None, NAMED).await?,
            overdue: overdue.collect(),
            failing_feeds: feeds.into_iter().filter(|feed| feed.failures > 0).collect(),
            doubtful: find_doubts(console, now).map_or(0, |doubts| doubts.machines),
        }))
    }
}
