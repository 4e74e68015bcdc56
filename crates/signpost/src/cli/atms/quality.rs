//! `signpost atms check`

use std::collections::BTreeMap;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use signpost_atm::catalogue;
use signpost_locator::MergedAtm;
use signpost_locator::quality::{Concern, find_concerns};
use signpost_platform::clock::Clock;
use signpost_store::Store;

use crate::cli::{Session, table};

/// Maximum number of ATMs that are printed for people.
const MAX_PRINTED: usize = 50;

#[derive(Debug, Args)]
pub(in crate::cli) struct CheckCommand {
    /// Only ATMs with a record of this source
    #[arg(long)]
    source: Option<String>,
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
        let found = find_concerns(&machines, &gazetteer, now);
        let mut counts: BTreeMap<Concern, usize> = BTreeMap::new();
        for concern in found.iter().flat_map(|(_, concerns)| concerns) {
            *counts.entry(*concern).or_default() += 1;
        }
        let listed = found.iter().take(self.limit).map(|(machine, concerns)| {
            let sources: Vec<&str> = machine.claims.iter().map(|claim| &*claim.source).collect();
            json!({ "id": machine.id, "name": machine.record.title(), "sources": sources, "concerns": concerns })
        });
        let listed: Vec<_> = listed.collect();
        let document =
            json!({ "checked": machines.len(), "concerned": found.len(), "counts": counts, "machines": listed });
        session.print(&document, || readable(machines.len(), &found, &counts))
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
