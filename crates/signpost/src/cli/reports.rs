//! The command `signpost reports`: lists and moderates reports about ATMs.

use anyhow::{Context, Result, anyhow, bail};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use signpost_atm::catalogue::{self, CatalogueEntry, Snapshot};
use signpost_atm::reports::admission::MAX_WAITING;
use signpost_atm::reports::sql::{self, Moderation};
use signpost_atm::reports::{MachineReport, ModerationReason, ReportId, ReportState};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::{Store, WriteError};

use crate::cli::atms::atm_id;
use crate::cli::{Session, table};

/// Maximum number of reports that a command rejects.
const MAX_REJECTED: usize = MAX_WAITING as usize;

#[derive(Debug, Subcommand)]
pub(super) enum ReportsCommand {
    /// List reports, newest first
    ///
    /// New reports wait for moderation: too many arrived within an hour, or they affect too many
    /// machines of an operator. With --json: `{reports}`.
    List {
        /// Only reports in this state
        #[arg(long, value_enum)]
        state: Option<StateArg>,
        /// Only reports of the ATM with this ID
        #[arg(long, value_name = "ID")]
        atm: Option<u64>,
        /// Maximum number of results
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Show a report, its ATM, and the contact of the source
    ///
    /// With --json: the report with `atm` and `tell_source`.
    Show {
        /// Report ID, as shown by 'reports list'
        id: String,
    },
    /// Accept a report: it determines the status of the ATM
    ///
    /// 'gone' closes the ATM permanently, 'broken' marks it as out of service, 'there' refutes
    /// earlier reports. Other reports do not change the status. A running server shows the change
    /// within a second.
    Accept {
        /// Report ID, as shown by 'reports list'
        id: String,
        /// Publish the pending report without deciding the status
        #[arg(long)]
        release: bool,
    },
    /// Reject reports, including reports of operators: they have no effect
    ///
    /// After a flood, --state new --yes rejects all pending reports, oldest first, at most 1000 at
    /// once. Each rejection is written to the audit log, and 'reports undo' reverts it. With
    /// --json: the report; for several reports `{rejected, left}`, with the IDs that could not be
    /// rejected.
    Reject {
        /// Report IDs, as shown by 'reports list'
        #[arg(required_unless_present = "state", num_args = 1..=MAX_REJECTED, value_name = "ID")]
        ids: Vec<String>,
        /// All pending reports, instead of IDs
        #[arg(long, value_parser = ["new"], conflicts_with = "ids")]
        state: Option<String>,
        /// Only reports that are pending for this reason
        #[arg(long, value_enum, requires = "state", conflicts_with = "ids")]
        held: Option<ModerationReasonArg>,
        /// Do not ask for confirmation
        #[arg(long, requires = "state", conflicts_with = "ids")]
        yes: bool,
    },
    /// Undo accepting or rejecting a report: restore its previous state
    Undo {
        /// Report ID, as shown by 'reports list'
        id: String,
    },
    /// Ban a person or an API key: reject their published and future reports
    ///
    /// The ban does not reject reports that an operator's key has decided: use 'reports reject'.
    Ban {
        /// User ID or key ID, as shown by 'reports show'
        reporter: String,
        /// Remove the ban
        #[arg(long)]
        lift: bool,
    },
    /// List banned reporters
    Bans,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum StateArg {
    New,
    Shown,
    Accepted,
    Rejected,
    Duplicate,
    Expired,
}

/// The reason why a report is pending.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ModerationReasonArg {
    /// Too many reports arrived within an hour
    Flood,
    /// Too many machines of an operator were reported as unusable
    Burst,
}

impl From<ModerationReasonArg> for ModerationReason {
    fn from(word: ModerationReasonArg) -> Self {
        match word {
            ModerationReasonArg::Flood => Self::Flood,
            ModerationReasonArg::Burst => Self::Burst,
        }
    }
}

impl From<StateArg> for ReportState {
    fn from(word: StateArg) -> Self {
        match word {
            StateArg::New => Self::New,
            StateArg::Shown => Self::Shown,
            StateArg::Accepted => Self::Accepted,
            StateArg::Rejected => Self::Rejected,
            StateArg::Duplicate => Self::Duplicate,
            StateArg::Expired => Self::Expired,
        }
    }
}

impl ReportsCommand {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let store = session.store()?;
        match self {
            Self::List { state, atm, limit } => list(session, &store, state, atm, limit).await,
            Self::Show { id } => show(session, &store, &id).await,
            Self::Accept { id, release: false } => decide(session, &store, &id, Moderation::Accept).await,
            Self::Accept { id, release: true } => decide(session, &store, &id, Moderation::Release).await,
            Self::Reject { state: Some(_), held, yes, .. } => {
                reject_waiting(session, &store, held.map(ModerationReason::from), yes).await
            }
            Self::Reject { ids, .. } => match &ids[..] {
                [id] => decide(session, &store, id, Moderation::Reject).await,
                _ => reject_named(session, &store, &ids).await,
            },
            Self::Undo { id } => decide(session, &store, &id, Moderation::Undo).await,
            Self::Ban { reporter, lift } => ban(session, &store, &reporter, lift).await,
            Self::Bans => list_bans(session, &store).await,
        }
    }
}

async fn list(session: &Session, store: &Store, state: Option<StateArg>, atm: Option<u64>, limit: u32) -> Result<()> {
    let atm = atm.map(atm_id).transpose()?;
    let reports = sql::list(store, state.map(ReportState::from), atm, limit).await?;
    session.print(&json!({ "reports": reports }), || {
        let rows = reports.iter().map(|report| {
            [
                report.id.to_string(),
                report.atm_id.to_string(),
                report.seen.as_str().to_owned(),
                describe_state(report),
                report.created_at.to_string(),
                report.text.clone().unwrap_or_default(),
            ]
        });
        table(["ID", "ATM", "SEEN", "STATE", "SENT", "TEXT"], rows)
    })
}

/// Returns the state of a report, with the reason if it is pending moderation.
fn describe_state(report: &MachineReport) -> String {
    let reason = match report.held.filter(|_| report.state == ReportState::New) {
        Some(ModerationReason::Flood) => " (flood)",
        Some(ModerationReason::Burst) => " (burst)",
        None => "",
    };
    format!("{}{reason}", report.state.as_str())
}

async fn find(store: &Store, id: &str) -> Result<MachineReport> {
    let found = match ReportId::parse(id) {
        Some(id) => sql::find(store, &id).await?,
        None => None,
    };
    found.with_context(|| format!("no report has the ID {id}; 'signpost reports list' shows all"))
}

async fn show(session: &Session, store: &Store, id: &str) -> Result<()> {
    let report = find(store, id).await?;
    let now = Clock::System.now();
    let mut document = json!(report);
    let snapshot = catalogue::load(store, now).await?;
    if let Some(entry) = snapshot.get(report.atm_id) {
        document["atm"] = describe_atm(&snapshot, entry, now);
        document["tell_source"] = source_note_url(entry).into();
    }
    session.print(&document, || format!("{document:#}"))
}

/// Describes the ATM of a report for a moderator.
fn describe_atm(snapshot: &Snapshot, entry: &CatalogueEntry, now: jiff::Timestamp) -> Value {
    let record = &entry.atm.record;
    let status = snapshot.at(now).status(entry);
    json!({
        "id": entry.atm.id, "name": record.title(), "operator": record.operator,
        "address": record.address.one_line(), "status": status.status, "reason": status.reason.text(),
        "reports": snapshot.reports(entry).map(|reports| &reports.summary),
        "sources": entry.atm.claims.iter().map(|claim| &*claim.source).collect::<Vec<_>>(),
    })
}

/// Returns the page of OpenStreetMap for a note to the mappers, if the ATM is on the map. This program does not write
/// there.
fn source_note_url(entry: &CatalogueEntry) -> Option<String> {
    let mut urls = entry.atm.claims.iter().filter_map(|claim| claim.url.as_deref());
    if !urls.any(|url| url.starts_with("https://www.openstreetmap.org/")) {
        return None;
    }
    let point = entry.atm.record.point;
    let lat = point.lat();
    let lon = point.lon();
    Some(format!("https://www.openstreetmap.org/note/new?lat={lat:.6}&lon={lon:.6}#map=19/{lat:.6}/{lon:.6}"))
}

async fn decide(session: &Session, store: &Store, id: &str, what: Moderation) -> Result<()> {
    let report = find(store, id).await?;
    let moderated = sql::moderate(store, &report, what, &Actor::Operator, Clock::System.now()).await;
    moderated.map_err(|error| {
        error.on_conflict(anyhow!("the report is {}: {}", report.state.as_str(), explain_conflict(what)))
    })?;
    let report = find(store, id).await?;
    session.print(&report, || {
        format!("the report is {}; a running server shows it within a second", report.state.as_str())
    })
}

/// Rejects several reports. If an ID is unknown, none is rejected.
async fn reject_named(session: &Session, store: &Store, ids: &[String]) -> Result<()> {
    let mut reports = Vec::with_capacity(ids.len());
    for id in ids {
        reports.push(find(store, id).await?);
    }
    reject_all(session, store, &reports).await
}

/// Rejects all pending reports, or only those with this reason.
async fn reject_waiting(session: &Session, store: &Store, held: Option<ModerationReason>, is_sure: bool) -> Result<()> {
    let mut waiting = sql::list(store, Some(ReportState::New), None, MAX_WAITING).await?;
    waiting.retain(|report| held.is_none_or(|held| report.held == Some(held)));
    waiting.reverse();
    if !is_sure && !waiting.is_empty() {
        bail!("{} would be rejected; add --yes to confirm", counted(waiting.len()));
    }
    reject_all(session, store, &waiting).await
}

/// Rejects reports, each with an entry in the audit log, and prints the numbers.
async fn reject_all(session: &Session, store: &Store, reports: &[MachineReport]) -> Result<()> {
    let mut left = Vec::new();
    for report in reports {
        match sql::moderate(store, report, Moderation::Reject, &Actor::Operator, Clock::System.now()).await {
            Ok(()) => {}
            Err(WriteError::Conflict) => left.push(&report.id),
            Err(WriteError::Internal(error)) => return Err(error),
        }
    }
    let rejected = reports.len() - left.len();
    session.print(&json!({ "rejected": rejected, "left": left }), || {
        let mut lines = vec![format!("{} rejected; a running server shows it within a second", counted(rejected))];
        lines.extend(left.iter().map(|id| format!("{id} is as it was: {}", explain_conflict(Moderation::Reject))));
        lines.join("\n")
    })
}

fn counted(reports: usize) -> String {
    if reports == 1 { "1 report".to_owned() } else { format!("{reports} reports") }
}

/// Returns the states that allow the action.
fn explain_conflict(action: Moderation) -> &'static str {
    match action {
        Moderation::Accept => "only new, shown and duplicate ones can be accepted; 'reports undo' first",
        Moderation::Reject => {
            "only new, shown and duplicate ones, and what an operator said, can be rejected; 'reports undo' first"
        }
        Moderation::Release => "only new ones are released",
        Moderation::Undo => "only what a moderator accepted or rejected can be undone",
    }
}

async fn ban(session: &Session, store: &Store, reporter: &str, lift: bool) -> Result<()> {
    let now = Clock::System.now();
    let has_prefix = reporter.starts_with("usr_") || reporter.starts_with("key_");
    if !has_prefix || reporter.len() > 100 {
        bail!("a reporter is a user ID (usr_…) or a key ID (key_…), as 'signpost reports show' shows it");
    }
    if lift {
        sql::lift_ban(store, reporter, now).await.map_err(|error| {
            error.on_conflict(anyhow!("{reporter} is not banned; 'signpost reports bans' lists the bans"))
        })?;
        return session
            .print(&json!({ "reporter": reporter, "banned": false }), || format!("{reporter} may report again"));
    }
    let banned = sql::ban(store, reporter, now).await;
    banned.map_err(|error| error.on_conflict(anyhow!("{reporter} is banned already")))?;
    session.print(&json!({ "reporter": reporter, "banned": true }), || format!("{reporter} is banned"))
}

async fn list_bans(session: &Session, store: &Store) -> Result<()> {
    let bans = sql::list_bans(store).await?;
    session.print(&json!({ "bans": bans }), || {
        let rows = bans.iter().map(|ban| [ban.reporter.clone(), ban.banned_at.to_string()]);
        table(["REPORTER", "SINCE"], rows)
    })
}
