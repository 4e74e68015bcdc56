//! The counts in the menu.

use anyhow::Result;
use jiff::Timestamp;

use super::Console;
use super::deployment_facts::DeploymentFacts;
use super::tasks::list_tasks;

/// The counts in the menu.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Badges {
    /// Number of items in the list of tasks.
    pub(super) today: u32,
    /// Number of reports that are pending moderation.
    pub(super) reports: u32,
    /// Number of failing endpoints, plus 1 if any event failed permanently.
    pub(super) sites: u32,
}

impl Badges {
    pub(super) async fn read(console: &Console, now: Timestamp) -> Result<Self> {
        Ok(Self::from_facts(&DeploymentFacts::read(console, now).await?, now))
    }

    pub(super) fn from_facts(facts: &DeploymentFacts, now: Timestamp) -> Self {
        Self {
            today: bounded(list_tasks(facts, now).len()),
            reports: facts.locator.as_ref().map_or(0, |locator| locator.reports_waiting),
            sites: bounded(facts.failing.len()) + u32::from(!facts.failed.is_zero()),
        }
    }
}

fn bounded(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
