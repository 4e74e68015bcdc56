//! The counts beside the menu.

use anyhow::Result;
use jiff::Timestamp;

use super::Console;
use super::facts::DeploymentFacts;
use super::todo::list_todo;

/// The counts beside the menu.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Badges {
    /// How much needs a person.
    pub(super) today: u32,
    /// How many reports wait.
    pub(super) reports: u32,
    /// How many endpoints fail, and whether events failed.
    pub(super) sites: u32,
}

impl Badges {
    pub(super) async fn read(console: &Console, now: Timestamp) -> Result<Self> {
        Ok(Self::of(&DeploymentFacts::read(console, now).await?, now))
    }

    pub(super) fn of(facts: &DeploymentFacts, now: Timestamp) -> Self {
        let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        Self {
            today: count(list_todo(facts, now).len()),
            reports: facts.locator.as_ref().map_or(0, |locator| locator.reports_waiting),
            sites: count(facts.failing.len()) + u32::from(!facts.failed.is_none()),
        }
    }
}
