//! The command `signpost advisories`: lists and checks advisories.

use std::path::Path;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use signpost_atm::advisories::{Advisories, Advisory, FileRows, LiveAdvisories, embedded};
use signpost_platform::clock::Clock;

use super::{Common, Session, table};
use crate::config::{Origin, RawSettings};

#[derive(Debug, Args)]
pub(super) struct AdvisoriesCommand {
    #[command(flatten)]
    flag: AdvisoriesFlag,
    #[command(subcommand)]
    action: AdvisoriesAction,
}

/// The flag for a file of advisories.
#[derive(Debug, Args)]
pub(super) struct AdvisoriesFlag {
    /// File of your own advisories, added to the built-in ones
    #[arg(long, global = true, value_name = "FILE")]
    advisories: Option<String>,
}

#[derive(Debug, Subcommand)]
enum AdvisoriesAction {
    /// List the advisories in use: built-in and your own
    ///
    /// With --json, an advisory is `{id, kind, where, status, effective, until, text, values,
    /// source, checked, review_days, overdue, origin}`.
    List,
    /// Find invalid rows, and overdue rows
    ///
    /// A row is overdue if its source was last checked more than `review_days` ago (default: 180).
    /// Exit code 1 if there is an invalid or overdue row. With --json: `{checked, overdue: [{id,
    /// checked, source}], bad: [{line, reason}]}`.
    Check,
}

impl AdvisoriesFlag {
    /// Sets the flag in the settings.
    pub(super) fn set(&self, raw: &mut RawSettings) {
        if let Some(file) = &self.advisories {
            raw.set("advisories", file, Origin::Flag);
        }
    }

    /// Returns the file of the flag.
    pub(super) fn file(&self) -> Option<&Path> {
        self.advisories.as_deref().map(Path::new)
    }
}

impl AdvisoriesCommand {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let session = common.session_with(|raw| self.flag.set(raw))?;
        let file = session.config.atm.advisories.as_deref();
        let today = Clock::System.now().to_zoned_datetime(TimeZone::UTC).date();
        match self.action {
            AdvisoriesAction::List => list(&session, file, today),
            AdvisoriesAction::Check => check(&session, file, today),
        }
    }
}

fn list(session: &Session, file: Option<&Path>, today: Date) -> Result<()> {
    let advisories = LiveAdvisories::open(file)?.now();
    let built_in = embedded();
    let document: Vec<Value> =
        advisories.rows().iter().map(|row| describe(row, today, built_in.contains(row))).collect();
    session.print(&document, || {
        let rows = advisories.rows().iter().map(|row| summary(row, today));
        table(["ID", "KIND", "WHERE", "STATUS", "SINCE", "CHECKED", "TEXT"], rows)
    })
}

fn describe(row: &Advisory, today: Date, is_built_in: bool) -> Value {
    json!({
        "id": row.id, "kind": row.kind, "where": row.area, "status": row.status, "effective": row.effective,
        "until": row.until, "text": row.text, "values": row.values, "source": row.source, "checked": row.checked,
        "review_days": row.review_days, "overdue": row.is_overdue(today),
        "origin": if is_built_in { "built-in" } else { "file" },
    })
}

fn summary(row: &Advisory, today: Date) -> [String; 7] {
    let overdue = if row.is_overdue(today) { " (overdue)" } else { "" };
    [
        row.id.clone(),
        row.kind.to_string(),
        row.area.label(),
        row.status.to_string(),
        row.effective.map(|date| date.to_string()).unwrap_or_default(),
        format!("{}{overdue}", row.checked),
        row.text.clone(),
    ]
}

fn check(session: &Session, file: Option<&Path>, today: Date) -> Result<()> {
    let FileRows { rows, bad } = file.map(FileRows::from_file).transpose()?.unwrap_or_default();
    let advisories = Advisories::merged(rows);
    let overdue: Vec<&Advisory> = advisories.rows().iter().filter(|row| row.is_overdue(today)).collect();
    let listed = overdue.iter().map(|row| json!({ "id": row.id, "checked": row.checked, "source": row.source.url }));
    let checked = advisories.rows().len() + bad.len();
    let document = json!({ "checked": checked, "overdue": listed.collect::<Vec<_>>(), "bad": bad });
    session.print(&document, || {
        let bad = bad.iter().map(|row| format!("{row}"));
        let overdue = overdue
            .iter()
            .map(|row| format!("{}: overdue, last checked {}; read {} again", row.id, row.checked, row.source.url));
        let found: Vec<_> = bad.chain(overdue).collect();
        if found.is_empty() { format!("{checked} advisories checked, all in order") } else { found.join("\n") }
    })?;
    if bad.is_empty() && overdue.is_empty() {
        return Ok(());
    }
    bail!("of {checked} advisories {} are overdue and {} are not understood", overdue.len(), bad.len())
}
