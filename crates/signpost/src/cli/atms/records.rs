//! The commands `signpost atms split`, `join` and `forget`: change stored records of ATMs.

use anyhow::{Context, Result};
use serde_json::json;
use signpost_atm::catalogue;
use signpost_locator::AtmId;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::clock::Clock;
use signpost_store::{Statement, Store};

use crate::cli::Session;
use crate::cli::atms::atm_id;

pub(super) async fn split(session: &Session, store: &Store, id: u64) -> Result<()> {
    let snapshot = catalogue::load(store, Clock::System.now()).await?;
    let entry = snapshot.get(atm_id(id)?).with_context(|| format!("no ATM has the ID {id}"))?;
    let rows: Vec<AtmId> = entry.atm.claims.iter().map(|claim| claim.id).collect();
    anyhow::ensure!(rows.len() > 1, "the ATM {id} is known from one source only; there is nothing to split");
    catalogue::sql::set_apart(store, &rows, true, audit_entry(Action::AtmSplit, id, &rows)).await?;
    session.print(&json!({ "split": rows }), || {
        let rows: Vec<_> = rows.iter().map(ToString::to_string).collect();
        format!("split into: {}", rows.join(", "))
    })
}

pub(super) async fn join(session: &Session, store: &Store, id: u64) -> Result<()> {
    let row = atm_id(id)?;
    catalogue::sql::find_history(store, row).await?.with_context(|| format!("no ATM has the ID {id}"))?;
    catalogue::sql::set_apart(store, &[row], false, audit_entry(Action::AtmJoined, id, &[row])).await?;
    let machine = catalogue::load(store, Clock::System.now()).await?.get(row).map(|entry| entry.atm.id);
    session.print(&json!({ "id": row, "machine": machine }), || match machine {
        Some(machine) if machine != row => format!("{id} is merged into the ATM {machine}"),
        _ => format!("{id} may be merged again; no other record matches it now"),
    })
}

pub(super) async fn forget(session: &Session, store: &Store, source: &str) -> Result<()> {
    let count = catalogue::sql::count_by_source(store).await?.into_iter().find(|count| count.source == source);
    let machines = count.with_context(|| format!("no source is named {source}"))?.machines;
    catalogue::sql::delete_source(store, source, &Actor::Operator, machines, Clock::System.now()).await?;
    session.print(&json!({ "source": source, "removed": machines }), || {
        format!("deleted {machines} ATMs of {source}; the next fetch of a feed of that name imports all of them again")
    })
}

fn audit_entry(action: Action, id: u64, rows: &[AtmId]) -> Statement {
    insert_entry(&Actor::Operator, None, action, &id.to_string(), &json!({ "rows": rows }), Clock::System.now())
}
