//! The commands `signpost move` and `signpost migrate`: move the data to another database and
//! update its schema.

use anyhow::{Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use signpost_platform::clock::Clock;
use signpost_store::{Store, lock};

use super::Session;
use crate::server::schema::SCHEMA;

#[derive(Debug, Args)]
pub(super) struct Move {
    /// Existing database; no server may run on it
    #[arg(long, value_name = "URL")]
    from: String,
    /// New database, which must be empty
    #[arg(long, value_name = "URL")]
    to: String,
}

#[derive(Debug, Args)]
pub(super) struct Migrate {
    /// Also remove tables and columns that only older servers use; no such server may be connected
    #[arg(long)]
    contract: bool,
}

impl Move {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let Self { from, to } = self;
        let file = from.strip_prefix("sqlite:").filter(|file| *file != ":memory:").map(std::path::PathBuf::from);
        let source = match &file {
            Some(file) => {
                let shown = file.display();
                let whole = file.canonicalize().with_context(|| format!("no database at {shown}"))?;
                format!("sqlite:{}", whole.display())
            }
            // The address may contain a password.
            None => "another server".to_owned(),
        };
        let _held = file.as_deref().map(lock).transpose()?;
        let old = Store::open_existing(&from, &SCHEMA)?;
        let new = Store::open(&to, &SCHEMA)?;
        let bar = bar(session.json)?;
        let moved = new
            .copy_from(&old, &source, Clock::System.now(), |taken, all| {
                bar.set_length(all.try_into().unwrap_or_default());
                bar.set_position(taken.try_into().unwrap_or_default());
            })
            .await;
        bar.finish_and_clear();
        let moved = moved?;
        let rows: i64 = moved.iter().map(|moved| moved.rows).sum();
        new.close().await;
        session.print(&json!({ "rows": rows, "tables": moved }), || {
            let tables = moved.iter().filter(|moved| moved.rows > 0);
            let lines: Vec<String> = tables.map(|moved| format!("{:>10}  {}", moved.rows, moved.table)).collect();
            format!(
                "{}\ncopied {rows} rows and counted them on both sides; the old database is unchanged.\n\
                 Start the servers with --database-url and the new address. Imported place names and the wallet's key \
                 stay in the data folder.",
                lines.join("\n")
            )
        })
    }
}

impl Migrate {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let migrated = Store::migrate(&session.config.database_url(), &SCHEMA, self.contract).await;
        let migrated = migrated.map_err(|error| session.explain_missing(error))?;
        session.print(&migrated, || {
            let waiting = match migrated.pending.as_slice() {
                [] => String::new(),
                [..] => "; once all servers run this version, run it again with --contract".to_owned(),
            };
            match (migrated.from, migrated.to) {
                (from, to) if from == to => format!("the database schema is at version {to}{waiting}"),
                (from, to) => format!("migrated the database schema from version {from} to {to}{waiting}"),
            }
        })
    }
}

fn bar(hidden: bool) -> Result<ProgressBar> {
    if hidden {
        return Ok(ProgressBar::hidden());
    }
    Ok(ProgressBar::new(0).with_style(ProgressStyle::with_template("{bar:40} {pos} of {len} rows, {eta} left")?))
}
