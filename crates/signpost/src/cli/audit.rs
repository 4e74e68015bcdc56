//! The command `signpost audit`: lists and exports the audit log.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use signpost_platform::accounts::audit::{self, AuditEntry};
use signpost_platform::clock::Clock;
use signpost_store::Store;

use crate::cli::{Session, Usage, print_json, table};

/// Number of entries that an export reads at a time.
const EXPORT_PAGE_LEN: u32 = 1000;

#[derive(Debug, Subcommand)]
pub(super) enum Audit {
    /// List audit entries, newest first
    ///
    /// With --json, an entry is `{id, at, account, environment, actor, action, object, details}`.
    List {
        #[command(flatten)]
        chosen: AuditFilter,
        /// Maximum number of results
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Export audit entries as JSON lines, oldest first
    Export {
        /// Output file [default: standard output]
        file: Option<PathBuf>,
        #[command(flatten)]
        chosen: AuditFilter,
    },
}

/// A filter of audit entries.
#[derive(Debug, Args)]
pub(super) struct AuditFilter {
    /// Only entries since this time: 2026-01-31T00:00:00Z, or 7d for the last seven days
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only entries of this account
    #[arg(long, default_value = "")]
    account: String,
    /// Only entries of this action, such as key.created or access.refused; docs/operate.md lists
    /// them
    #[arg(long, default_value = "")]
    action: String,
}

impl Audit {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let store = session.store()?;
        match self {
            Self::List { chosen, limit } => list(session, &store, &chosen, limit).await,
            Self::Export { file, chosen } => export(session, &store, file, &chosen).await,
        }
    }
}

impl AuditFilter {
    fn since(&self) -> Result<Timestamp> {
        let Some(text) = &self.since else { return Ok(Timestamp::UNIX_EPOCH) };
        if let Some(days) = text.strip_suffix('d')
            && let Ok(days) = days.parse::<i64>()
            && days <= 10_000
        {
            return Ok(Clock::System.now() - SignedDuration::from_hours(days * 24));
        }
        let time = text.parse();
        Ok(time.map_err(|_| Usage(format!("--since: '{text}' is not a time; use 2026-01-31T00:00:00Z or 7d")))?)
    }
}

async fn list(session: &Session, store: &Store, chosen: &AuditFilter, limit: u32) -> Result<()> {
    let entries = audit::sql::list_newest(store, chosen.since()?, &chosen.account, &chosen.action, limit).await?;
    session.print(&json!({ "entries": entries }), || {
        let rows = entries.iter().map(|entry| {
            let AuditEntry { at, account, actor, action, object, details, .. } = entry;
            let is_empty = details.as_object().is_some_and(serde_json::Map::is_empty);
            let details = if is_empty { String::new() } else { details.to_string() };
            [at.to_string(), action.clone(), object.clone(), account.clone(), actor.clone(), details]
        });
        table(["AT", "ACTION", "OBJECT", "ACCOUNT", "ACTOR", "DETAILS"], rows)
    })
}

async fn export(session: &Session, store: &Store, file: Option<PathBuf>, chosen: &AuditFilter) -> Result<()> {
    let since = chosen.since()?;
    let shown = file.as_ref().map(|path| path.display().to_string());
    let opened = file.map(File::create).transpose().with_context(|| format!("cannot write {shown:?}"))?;
    let mut out = opened.map(BufWriter::new);
    let mut after = None;
    let mut count = 0;
    loop {
        let entries =
            audit::sql::list(store, after.as_ref(), since, &chosen.account, &chosen.action, EXPORT_PAGE_LEN).await?;
        let Some(last) = entries.last() else { break };
        after = Some(last.id.clone());
        count += entries.len();
        for entry in &entries {
            let line = serde_json::to_string(entry)?;
            match &mut out {
                Some(out) => writeln!(out, "{line}")?,
                None => print_json(&line)?,
            }
        }
    }
    let Some(shown) = shown else { return Ok(()) };
    if let Some(out) = out {
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    }
    session.print(&json!({ "file": shown, "entries": count }), || format!("wrote {count} entries to {shown}"))
}
