//! The counts in the menu.

use anyhow::Result;
use jiff::Timestamp;

use super::Console;
use super::facts::DeploymentFacts;
use super::todo::list_todo;

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
        Ok(Self::of(&DeploymentFacts::read(console, now).await?, now))
    }

    pub(super) fn of(facts: &DeploymentFacts, now: Timestamp) -> Self {
        Self {
            today: bounded(list_todo(facts, now).len()),
            reports: facts.locator.as_ref().map_or(0, |locator| locator.reports_waiting),
            sites: bounded(facts.failing.len()) + u32::from(!facts.failed.is_zero()),
        }
    }
}

fn bounded(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
