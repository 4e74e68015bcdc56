//! The command `signpost atms`: imports, searches and checks ATMs.

mod export;
mod feed_add;
mod feed_list;
mod feeds;
mod import;
mod import_summary;
mod quality;
mod records;

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::{Map, Value, json};
use signpost_atm::catalogue;
use signpost_atm::locator::{Deployment, Locator};
use signpost_atm::mcp::tools;
use signpost_locator::AtmId;
use signpost_mcp::{CallError, Structured};
use signpost_platform::clock::Clock;
use signpost_store::Store;

use crate::cli::{Session, Usage, table};

#[derive(Debug, Subcommand)]
pub(super) enum Atms {
    /// Import ATMs from a file; a running server serves them within 5 seconds
    ///
    /// Requests continue during the import, which is atomic. Columns (of documents: properties) are
    /// detected by their names. The command lists the unused columns; with --json, `unused_columns`
    /// is `{total, first}`.
    Import(import::ImportCommand),
    /// Fetch feeds now and import them
    Sync(feeds::Sync),
    /// Manage feeds: sources that are fetched by URL
    #[command(subcommand)]
    Feeds(feeds::Feeds),
    /// Show all records of an ATM
    Show {
        /// ATM ID, as shown by searches
        id: u64,
    },
    /// List the ATMs nearest to a place
    Near {
        /// Place, such as "Austin, TX", 78701, "30.27,-97.74"
        location: String,
        /// Prefer places of this country, by its ISO 3166-1 code, such as DE
        #[arg(long, value_name = "CODE")]
        country: Option<String>,
        #[arg(long, default_value_t = tools::LIMIT.default(),
              help = format!("Maximum number of results, {}", tools::LIMIT.range()))]
        limit: u64,
        #[arg(long, default_value_t = tools::MAX_DISTANCE.default(), value_name = "MILES",
              help = format!("Maximum distance, {}", tools::MAX_DISTANCE.range()))]
        max_distance: f64,
    },
    /// Count ATMs by source and status
    Stats,
    /// Export ATMs to a file that 'atms import' reads
    ///
    /// In CSV, a cell that a spreadsheet would evaluate as a formula is prefixed with an
    /// apostrophe, which an import removes. These are cells that start with =, @, +, -, a
    /// full-width form of these, or a tab, and are not numbers.
    Export(export::Export),
    /// List likely mistakes in the records: position, details, age, duplicates
    ///
    /// Finds swapped coordinates and wrong signs; coordinates in another country or state than the
    /// address, or far from the postcode or the city; invalid opening hours; names that indicate a
    /// closed ATM; stale records; records without a date; possible duplicates.
    Check(quality::CheckCommand),
    /// Split the records of an ATM: undo a merge
    Split {
        /// ATM ID, as shown by searches
        id: u64,
    },
    /// Let a split record be merged again
    Join {
        /// ID of a record that was split
        id: u64,
    },
    /// Delete all ATMs of a source
    Forget {
        /// Source, as shown by 'atms stats'
        source: String,
    },
}

impl Atms {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        match self {
            // Creates the database in a new folder.
            Self::Import(import) => import.run(session).await,
            Self::Sync(sync) => sync.run(session, &session.store()?).await,
            Self::Feeds(feeds) => feeds.run(session).await,
            Self::Show { id } => show(session, &session.store()?, id).await,
            Self::Near { location, country, limit, max_distance } => {
                let arguments =
                    json!({ "location": location, "country": country, "limit": limit, "maxDistance": max_distance });
                near(session, &session.store()?, arguments).await
            }
            Self::Stats => stats(session, &session.store()?).await,
            Self::Export(export) => export.run(session, &session.store()?).await,
            Self::Check(check) => check.run(session, &session.store()?).await,
            Self::Split { id } => records::split(session, &session.store()?, id).await,
            Self::Join { id } => records::join(session, &session.store()?, id).await,
            Self::Forget { source } => records::forget(session, &session.store()?, &source).await,
        }
    }
}

async fn locator(session: &Session, store: &Store) -> Result<Locator> {
    let clock = Clock::System;
    let catalogue = Arc::new(session.catalogue(store, &clock).await?);
    let store = Some(store.clone());
    Ok(Locator { catalogue, clock, deployment: Deployment::Local, pages: None, store })
}

/// Returns the members of a tool's answer.
fn document(answer: Result<Structured, CallError>) -> Result<Map<String, Value>> {
    match answer {
        Ok(structured) => Ok(serde_json::from_str(structured.json())?),
        Err(CallError::InvalidArgument(reason)) => Err(Usage(reason).into()),
        Err(CallError::Internal(cause)) => bail!("{cause}"),
        Err(other) => bail!("{other}"),
    }
}

fn arguments(value: Value) -> Map<String, Value> {
    if let Value::Object(arguments) = value { arguments } else { Map::new() }
}

async fn near(session: &Session, store: &Store, parameters: Value) -> Result<()> {
    let locator = locator(session, store).await?;
    let parameters = arguments(parameters);
    tools::ask_geocoder(&locator, &parameters).await;
    let found = document(tools::find_nearest(&locator, &parameters))?;
    session.print(&found, || {
        let rows = found["atms"].as_array().into_iter().flatten().map(|item| {
            let [distance, status, name, address] = ["distance", "status", "name", "address"]
                .map(|member| item[member].as_str().unwrap_or_default().to_owned());
            [item["id"].to_string(), distance, status, name, address]
        });
        let mut lines = vec![table(["ID", "DISTANCE", "STATUS", "NAME", "ADDRESS"], rows)];
        lines.push(format!("\n{} found", found["total"]));
        lines.extend(found.get("notice").and_then(Value::as_str).map(ToOwned::to_owned));
        lines.join("\n")
    })
}

async fn show(session: &Session, store: &Store, id: u64) -> Result<()> {
    let locator = locator(session, store).await?;
    let mut details = document(tools::get_details(&locator, &arguments(json!({ "atmId": id }))).await)?;
    details.insert("history".to_owned(), json!(catalogue::sql::find_history(store, atm_id(id)?).await?));
    session.print(&details, || {
        let mut lines = Vec::new();
        for (member, value) in &details {
            match value {
                Value::Null => {}
                Value::String(text) => lines.push(format!("{member}: {text}")),
                other => lines.push(format!("{member}: {other}")),
            }
        }
        lines.join("\n")
    })
}

pub(super) fn atm_id(id: u64) -> Result<AtmId> {
    AtmId::new(id).context("an ID is a whole number from 1 to 9007199254740992")
}

async fn stats(session: &Session, store: &Store) -> Result<()> {
    let locator = locator(session, store).await?;
    let snapshot = locator.catalogue.snapshot();
    let moment = snapshot.at(locator.clock.now());
    let mut statuses = BTreeMap::<_, usize>::new();
    for entry in snapshot.entries() {
        *statuses.entry(moment.status(entry).status).or_default() += 1;
    }
    let sources = catalogue::sql::count_by_source(store).await?;
    let document = json!({
        "total": snapshot.len(),
        "sample": snapshot.is_sample(),
        "version": snapshot.version(),
        "statuses": statuses,
        "sources": sources,
    });
    session.print(&document, || {
        let rows =
            sources.iter().map(|count| [count.source.clone(), count.machines.to_string(), count.gone.to_string()]);
        let statuses = statuses.iter().map(|(status, count)| [status.as_str().to_owned(), count.to_string()]);
        let sources = table(["SOURCE", "MACHINES", "GONE"], rows);
        let statuses = table(["STATUS", "MACHINES"], statuses);
        format!("{} machines\n\n{sources}\n\n{statuses}", snapshot.len())
    })
}
