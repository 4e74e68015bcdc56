//! The command `signpost atms check`: lists likely mistakes in the records of ATMs.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use signpost_atm::catalogue;
use signpost_locator::MergedAtm;
use signpost_locator::quality::{Concern, find_concerns};
use signpost_platform::clock::Clock;
use signpost_store::Store;

use crate::cli::{Session, table};

/// Maximum number of ATMs that the text output lists.
const MAX_PRINTED: usize = 50;

#[derive(Debug, Args)]
pub(in crate::cli) struct CheckCommand {
    /// Only ATMs with a record of this source
    #[arg(long)]
    source: Option<String>,
    /// Only ATMs without a date, and those not reported or checked for more than 365 days, the oldest first
    #[arg(long)]
    stale: bool,
    /// Maximum number of ATMs listed; all are counted
    #[arg(long, default_value_t = 1_000)]
    limit: usize,
}

impl CheckCommand {
    pub(super) async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let now = Clock::System.now();
        let snapshot = catalogue::load(store, now).await?;
        let gazetteer = session.places()?.now();
        let mut machines: Vec<&MergedAtm> = snapshot.entries().iter().map(|entry| &entry.atm).collect();
        if let Some(source) = &self.source {
            machines.retain(|machine| machine.claims.iter().any(|claim| *claim.source == **source));
        }
        let mut found = find_concerns(&machines, &gazetteer, now);
        if self.stale {
            keep_stale(&mut found);
        }
        let mut counts: BTreeMap<Concern, usize> = BTreeMap::new();
        for concern in found.iter().flat_map(|(_, concerns)| concerns) {
            *counts.entry(*concern).or_default() += 1;
        }
        let listed: Vec<_> =
            found.iter().take(self.limit).map(|(machine, concerns)| describe(machine, concerns)).collect();
        let document =
            json!({ "checked": machines.len(), "concerned": found.len(), "counts": counts, "machines": listed });
        session.print(&document, || {
            if self.stale { readable_stale(machines.len(), &found) } else { readable(machines.len(), &found, &counts) }
        })
    }
}

fn readable(checked: usize, found: &[(&MergedAtm, Vec<Concern>)], counts: &BTreeMap<Concern, usize>) -> String {
    let head = format!("{checked} ATMs checked, {} with likely mistakes", found.len());
    if found.is_empty() {
        return head;
    }
    let counts = counts.iter().map(|(concern, count)| [count.to_string(), concern.to_string()]);
    let counts = table(["MACHINES", "CONCERN"], counts);
    let machines = found
        .iter()
        .flat_map(|(machine, concerns)| concerns.iter().map(move |concern| (machine, concern)))
        .take(MAX_PRINTED)
        .map(|(machine, concern)| [machine.id.to_string(), machine.record.title().to_owned(), concern.to_string()]);
    let listed = table(["ID", "NAME", "CONCERN"], machines);
    format!("{head}\n\n{counts}\n\n{listed}\n\n--json lists more of them")
}

/// Removes all concerns except old or missing dates, and sorts the ATMs: first those without a
/// date, then by date.
fn keep_stale(found: &mut Vec<(&MergedAtm, Vec<Concern>)>) {
    for (_, concerns) in &mut *found {
        concerns.retain(|concern| matches!(concern, Concern::Stale | Concern::Undated));
    }
    found.retain(|(_, concerns)| !concerns.is_empty());
    found.sort_by_key(|(machine, _)| (machine.known_at(), machine.id));
}

/// Returns an ATM with its concerns; unknown members are left out.
fn describe(machine: &MergedAtm, concerns: &[Concern]) -> Value {
    let mut document = json!({
        "id": machine.id, "name": machine.record.title(), "sources": sources(machine), "concerns": concerns,
    });
    if let Some(address) = machine.record.address.one_line() {
        document["address"] = json!(address);
    }
    if let Some(known_at) = machine.known_at() {
        document["data_as_of"] = json!(known_at);
    }
    document
}

fn sources(machine: &MergedAtm) -> Vec<&str> {
    machine.claims.iter().map(|claim| &*claim.source).collect()
}

fn readable_stale(checked: usize, found: &[(&MergedAtm, Vec<Concern>)]) -> String {
    let undated = found.iter().filter(|(machine, _)| machine.known_at().is_none()).count();
    let old = found.len() - undated;
    let head = format!("{checked} ATMs checked: {undated} without a date, {old} older than 365 days");
    if found.is_empty() {
        return head;
    }
    let rows = found.iter().take(MAX_PRINTED).map(|(machine, _)| {
        let date = machine.known_at().map_or_else(|| "none".to_owned(), |at| at.strftime("%Y-%m-%d").to_string());
        let address = machine.record.address.one_line().unwrap_or_default().into_owned();
        [machine.id.to_string(), date, machine.record.title().to_owned(), address, sources(machine).join(", ")]
    });
    let listed = table(["ID", "DATE", "NAME", "ADDRESS", "SOURCE"], rows);
    let more = if found.len() > MAX_PRINTED { "\n\n--json lists more of them" } else { "" };
    format!("{head}\n\n{listed}{more}")
}
