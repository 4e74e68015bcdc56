//! Database access for reports. A write that depends on other reports fails if any report has changed since they were
//! read, so that limits are exact despite concurrent requests and several servers.

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use signpost_locator::AtmId;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Row, Statement, Store, Stored, WriteError, WriteOutcome, params, random, sql};

use super::admission::{ExistingReports, RecentReports, is_long};
use super::salt::{ADDRESS_HASH_RETENTION, HashedAddress, ReportSalt, day_of};
use super::{BannedReporter, MachineReport, REPORT_RETENTION, ReportId, ReportState, Weight};

/// Maximum number of stored reports about an ATM, not counting accepted reports. The oldest reports beyond it are
/// deleted.
const MAX_STORED_PER_ATM: i64 = 100;
/// Retention of a report that no longer counts. Duplicates never count.
const EXPIRED_RETENTION: SignedDuration = SignedDuration::from_hours(30 * 24);

const VERSION: &str = "SELECT version FROM atm_report_state";
const ADVANCE_FROM: &str = "UPDATE atm_report_state SET version = version + 1 WHERE version = $1";
const ADVANCE: &str = "UPDATE atm_report_state SET version = version + 1";
const ADVANCE_IF_OLD: &str = "
    UPDATE atm_report_state SET version = version + 1
    WHERE EXISTS (SELECT 1 FROM atm_reports WHERE state IN ('new', 'shown') AND created_at <= $1)";

const OTHERS: &str = "
    SELECT (SELECT version FROM atm_report_state),
        (SELECT COUNT(*) FROM atm_report_bans WHERE reporter = $6),
        (SELECT COUNT(*) FROM atm_reports WHERE address IN ($2, $3) AND created_at > $7),
        (SELECT MIN(created_at) FROM atm_reports WHERE address IN ($2, $3) AND created_at > $7),
        (SELECT COUNT(DISTINCT voice) FROM atm_reports
            WHERE atm_id = $1 AND created_at > $9 AND COALESCE(decided_by, '') <> 'operator'),
        (SELECT MIN(created_at) FROM atm_reports WHERE atm_id = $1 AND created_at > $9 AND COALESCE(decided_by, '') <> 'operator'),
        (SELECT COUNT(*) FROM atm_reports WHERE reporter = $6 AND created_at > $9),
        (SELECT MIN(created_at) FROM atm_reports WHERE reporter = $6 AND created_at > $9),
        (SELECT COUNT(*) FROM atm_reports WHERE created_at > $8 AND COALESCE(decided_by, '') <> 'operator'),
        (SELECT COUNT(*) FROM atm_reports WHERE state = 'new'),
        (SELECT COUNT(*) FROM atm_reports),
        (SELECT COUNT(DISTINCT atm_id) FROM atm_reports
            WHERE operator = $10 AND $10 <> '' AND created_at > $8 AND seen IN ('gone', 'broken') AND atm_id <> $1
            AND COALESCE(decided_by, '') <> 'operator'),
        (SELECT id FROM atm_reports
            WHERE text_hash = $11 AND seen = $14 AND state <> 'rejected' AND (atm_id = $1 OR $12 = 'long')
            ORDER BY id LIMIT 1),
        (SELECT voice FROM atm_reports WHERE atm_id = $1
            AND (reporter = $6 OR address IN ($2, $3) OR (network IN ($4, $5) AND $13 <> '3'))
            ORDER BY id DESC LIMIT 1),
        (SELECT id FROM atm_reports WHERE atm_id = $1 AND seen = $14 AND created_at > $9
            AND (reporter = $6 OR address IN ($2, $3) OR (network IN ($4, $5) AND $13 <> '3'))
            AND state <> 'rejected' ORDER BY id DESC LIMIT 1),
        (SELECT COUNT(*) FROM atm_reports WHERE network IN ($4, $5) AND created_at > $9),
        (SELECT MIN(created_at) FROM atm_reports WHERE network IN ($4, $5) AND created_at > $9),
        (SELECT COUNT(*) FROM atm_reports WHERE state = 'duplicate')";

const INSERT: &str = sql!(MachineReport::INSERT, " ON CONFLICT DO NOTHING");

const TRIM: &str = "
    DELETE FROM atm_reports WHERE atm_id = $1 AND state <> 'accepted' AND id NOT IN (
        SELECT id FROM atm_reports WHERE atm_id = $1 AND state <> 'accepted' ORDER BY id DESC LIMIT $2
    )";
/// Deletes earlier decisions of the operator, because only the newest counts.
const TRIM_DECIDED: &str = "DELETE FROM atm_reports WHERE atm_id = $1 AND decided_by = 'operator'";

const FIND: &str = sql!(MachineReport::SELECT, " WHERE id = $1");
const COUNTING: &str = sql!(MachineReport::SELECT, " WHERE state IN ('shown', 'accepted') ORDER BY id");
const LIST: &str = sql!(
    MachineReport::SELECT,
    " WHERE ($1 = '' OR state = $1) AND (CAST($2 AS BIGINT) = 0 OR atm_id = $2) ORDER BY id DESC LIMIT $3"
);
const COUNT_NEW: &str = "SELECT COUNT(*) FROM atm_reports WHERE state = 'new'";
const DECIDE: &str = "
    UPDATE atm_reports SET decided_from = state, state = $2, decided_by = 'moderator', decided_at = $3
    WHERE id = $1 AND (state IN ('new', 'shown', 'duplicate')
        OR ($2 = 'rejected' AND state = 'accepted' AND decided_by = 'operator'))";
const RELEASE: &str = "UPDATE atm_reports SET state = 'shown', held = NULL WHERE id = $1 AND state = 'new'";
/// Restores the state before the moderator's decision. Older versions did not store this state, so it is inferred: only
/// the operator can have decided before the moderator.
const UNDO: &str = "
    UPDATE atm_reports SET decided_from = NULL,
        decided_by = CASE WHEN decided_from = 'accepted' THEN 'operator' END,
        decided_at = CASE WHEN decided_from = 'accepted' THEN created_at END,
        state = COALESCE(decided_from, CASE WHEN held IS NULL THEN 'shown' ELSE 'new' END)
    WHERE id = $1 AND state IN ('accepted', 'rejected') AND decided_by = 'moderator'";
const BAN: &str = sql!(BannedReporter::INSERT, " ON CONFLICT (reporter) DO NOTHING");
const REJECT_ALL_OF: &str = "
    UPDATE atm_reports SET decided_from = state, state = 'rejected', decided_by = 'moderator', decided_at = $2
    WHERE reporter = $1 AND state IN ('new', 'shown')";
const LIFT_BAN: &str = "DELETE FROM atm_report_bans WHERE reporter = $1";
const IS_BANNED: &str = "SELECT 1 FROM atm_report_bans WHERE reporter = $1";
const BANS: &str = sql!(BannedReporter::SELECT, " ORDER BY banned_at DESC LIMIT 1000");

const SALTS: &str = sql!(ReportSalt::SELECT, " WHERE day = $1 OR day = $2 ORDER BY day DESC");
const ADD_SALT: &str = sql!(ReportSalt::INSERT, " ON CONFLICT (day) DO NOTHING");

const DELETE_ADDRESSES: &str = "
    UPDATE atm_reports SET address = NULL, network = NULL WHERE address IS NOT NULL AND created_at <= $1";
const DELETE_SALTS: &str = "DELETE FROM atm_report_salts WHERE day < $1";
const EXPIRE: &str = "UPDATE atm_reports SET state = 'expired' WHERE state IN ('new', 'shown') AND created_at <= $1";
const PURGE: &str = "
    DELETE FROM atm_reports
    WHERE (state IN ('rejected', 'expired') AND created_at <= $1) OR (state = 'duplicate' AND created_at <= $2)";

/// The identity of a report's sender, for the comparison with other reports.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ReportOrigin {
    /// The user ID, if the sender is signed in.
    pub person: Option<String>,
    pub weight: Weight,
    /// The address hashes with the salts of today and yesterday.
    pub address: [HashedAddress; 2],
    /// The folded name of the ATM's operator.
    pub operator: String,
    /// The start of the window of the address limit.
    pub address_since: Timestamp,
}

/// The result of writing a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportWrite {
    /// The report is stored.
    Stored,
    /// Nothing is stored, because other reports have changed since they were read.
    Changed,
    /// Nothing is stored, because the proof of work was used before.
    ProofUsed,
}

/// An action of the moderator on a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moderation {
    /// Confirms the report and makes it a decision.
    Accept,
    /// Shows a report that was held for moderation.
    Release,
    /// Rejects the report.
    Reject,
    /// Revokes the moderator's earlier decision.
    Undo,
}

/// Returns the version of the stored reports.
///
/// # Errors
/// If the database cannot be read.
pub async fn read_version(store: &Store) -> Result<i64> {
    store.read_one(VERSION, params![]).await?.context("atm_report_state is one row")?.int(0)
}

/// Reads the existing reports for comparison with a new report.
///
/// # Errors
/// If the database cannot be read.
pub async fn read_others(
    store: &Store,
    report: &MachineReport,
    origin: &ReportOrigin,
    now: Timestamp,
) -> Result<ExistingReports> {
    let [today, before] = &origin.address;
    let params = params![
        i64::try_from(report.atm_id.get())?,
        today.address.as_str(),
        before.address.as_str(),
        today.network.as_str(),
        before.network.as_str(),
        origin.person.as_deref().unwrap_or_default(),
        origin.address_since,
        now - SignedDuration::from_hours(1),
        now - SignedDuration::from_hours(24),
        origin.operator.as_str(),
        report.text_hash.as_deref().unwrap_or_default(),
        if is_long(report.text.as_deref()) { "long" } else { "short" },
        origin.weight,
        report.seen,
    ];
    let row = store.read_one(OTHERS, params).await?.context("one row")?;
    Ok(ExistingReports {
        version: row.int(0)?,
        is_banned: count(&row, 1)? > 0,
        from_address: recent_reports(&row, 2)?,
        about_atm: recent_reports(&row, 4)?,
        by_account: recent_reports(&row, 6)?,
        in_hour: count(&row, 8)?,
        waiting: count(&row, 9)?,
        stored: count(&row, 10)?,
        atms_of_operator: count(&row, 11)?,
        equal_report: report_id(&row, 12)?,
        first_by_reporter: report_id(&row, 13)?,
        repetition: report_id(&row, 14)?,
        from_network: recent_reports(&row, 15)?,
        duplicates: count(&row, 17)?,
    })
}

fn count(row: &Row, column: usize) -> Result<u32> {
    Ok(u32::try_from(row.int(column)?)?)
}

/// Reads the number of reports from a column, and the time of the oldest report from the next column.
fn recent_reports(row: &Row, column: usize) -> Result<RecentReports> {
    Ok(RecentReports { count: count(row, column)?, oldest: row.opt_time(column + 1)? })
}

fn report_id(row: &Row, column: usize) -> Result<Option<ReportId>> {
    Ok(row.opt_text(column)?.and_then(ReportId::parse))
}

/// Stores a report if no other report has changed since `version`.
///
/// # Errors
/// If the database cannot be written.
pub async fn insert(store: &Store, report: MachineReport, version: i64) -> Result<ReportWrite> {
    let atm = i64::try_from(report.atm_id.get())?;
    let mut statements = vec![Statement::expect_row(ADVANCE_FROM, params![version])];
    if report.state == ReportState::Accepted {
        statements.push(Statement::new(TRIM_DECIDED, params![atm]));
    }
    let at_insert = statements.len();
    statements.push(Statement::expect_row(INSERT, report.params()));
    statements.push(Statement::new(TRIM, params![atm, MAX_STORED_PER_ATM]));
    Ok(match store.write(statements).await? {
        WriteOutcome::Committed(_) => ReportWrite::Stored,
        WriteOutcome::Refused(at) if at == at_insert => ReportWrite::ProofUsed,
        WriteOutcome::Refused(_) => ReportWrite::Changed,
    })
}

/// Returns the report with this ID.
///
/// # Errors
/// If the database cannot be read.
pub async fn find(store: &Store, id: &ReportId) -> Result<Option<MachineReport>> {
    store.read_one(FIND, params![id]).await?.map(MachineReport::from_row).transpose()
}

/// Returns all reports that are shown or decide.
///
/// # Errors
/// If the database cannot be read.
pub async fn list_counting(store: &Store) -> Result<Vec<MachineReport>> {
    read_all(store.read(COUNTING, params![]).await?)
}

/// Returns the newest reports, newest first, optionally only those in a state or about an ATM.
///
/// # Errors
/// If the database cannot be read.
pub async fn list(
    store: &Store,
    state: Option<ReportState>,
    atm: Option<AtmId>,
    max: u32,
) -> Result<Vec<MachineReport>> {
    let state = state.map_or("", ReportState::as_str);
    let atm = atm.map_or(Ok(0), |atm| i64::try_from(atm.get()))?;
    read_all(store.read(LIST, params![state, atm, max]).await?)
}

/// Returns the number of reports that wait for the moderator.
///
/// # Errors
/// If the database cannot be read.
pub async fn count_new(store: &Store) -> Result<u32> {
    count(&store.read_one(COUNT_NEW, params![]).await?.context("COUNT is one row")?, 0)
}

/// Applies an action of the moderator to a report.
///
/// # Errors
/// [`WriteError::Conflict`] if the state of the report does not allow the action.
pub async fn moderate(
    store: &Store,
    report: &MachineReport,
    moderation: Moderation,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let (change, action) = match moderation {
        Moderation::Accept => {
            (Statement::expect_row(DECIDE, params![&report.id, "accepted", now]), Action::ReportAccepted)
        }
        Moderation::Reject => {
            (Statement::expect_row(DECIDE, params![&report.id, "rejected", now]), Action::ReportRejected)
        }
        Moderation::Release => (Statement::expect_row(RELEASE, params![&report.id]), Action::ReportReleased),
        Moderation::Undo => (Statement::expect_row(UNDO, params![&report.id]), Action::ReportUndone),
    };
    let details = serde_json::json!({ "atm_id": report.atm_id, "seen": report.seen });
    let entry = insert_entry(by, None, action, report.id.as_str(), &details, now);
    store.commit([Statement::expect_row(ADVANCE, params![]), change, entry]).await
}

/// Bans a reporter, and rejects the reporter's pending and shown reports.
///
/// # Errors
/// [`WriteError::Conflict`] if the reporter is banned already.
pub async fn ban(store: &Store, reporter: &str, now: Timestamp) -> Result<(), WriteError> {
    let new = BannedReporter { reporter: reporter.to_owned(), banned_at: now };
    let statements = [
        Statement::expect_row(ADVANCE, params![]),
        Statement::expect_row(BAN, new.params()),
        Statement::new(REJECT_ALL_OF, params![reporter, now]),
        ban_entry(Action::ReporterBanned, reporter, now),
    ];
    store.commit(statements).await
}

/// Lifts the ban of a reporter.
///
/// # Errors
/// [`WriteError::Conflict`] if the reporter is not banned.
pub async fn lift_ban(store: &Store, reporter: &str, now: Timestamp) -> Result<(), WriteError> {
    let entry = ban_entry(Action::ReporterUnbanned, reporter, now);
    let statements =
        [Statement::expect_row(ADVANCE, params![]), Statement::expect_row(LIFT_BAN, params![reporter]), entry];
    store.commit(statements).await
}

fn ban_entry(action: Action, reporter: &str, now: Timestamp) -> Statement {
    insert_entry(&Actor::Operator, None, action, reporter, &serde_json::json!({}), now)
}

/// Returns `true` if this reporter is banned.
///
/// # Errors
/// If the database cannot be read.
pub async fn is_banned(store: &Store, reporter: &str) -> Result<bool> {
    Ok(store.read_by_index(IS_BANNED, params![reporter]).await?.is_some())
}

/// Returns the banned reporters, newest first.
///
/// # Errors
/// If the database cannot be read.
pub async fn list_bans(store: &Store) -> Result<Vec<BannedReporter>> {
    store.read(BANS, params![]).await?.into_iter().map(BannedReporter::from_row).collect()
}

/// Returns the salts of today and yesterday. Creates today's salt if it is missing, and returns it twice if there is no
/// salt of yesterday.
///
/// # Errors
/// If the database cannot be written.
pub async fn read_salts(store: &Store, now: Timestamp) -> Result<[ReportSalt; 2]> {
    let today = day_of(now);
    let mut salts = find_salts(store, today).await?;
    if salts.first().is_none_or(|salt| salt.day != today) {
        store.write([Statement::new(ADD_SALT, ReportSalt::new(today, random()).params())]).await?;
        salts = find_salts(store, today).await?;
    }
    let mut salts = salts.into_iter();
    let first = salts.next().context("the salt of today is not there")?;
    let before = salts.next().unwrap_or_else(|| first.clone());
    Ok([first, before])
}

async fn find_salts(store: &Store, today: i64) -> Result<Vec<ReportSalt>> {
    store.read(SALTS, params![today, today - 1]).await?.into_iter().map(ReportSalt::from_row).collect()
}

/// Deletes expired address hashes, salts and reports.
///
/// # Errors
/// If the database cannot be written.
pub async fn sweep(store: &Store, now: Timestamp) -> Result<()> {
    let old = now - REPORT_RETENTION;
    let statements = [
        Statement::new(DELETE_ADDRESSES, params![now - ADDRESS_HASH_RETENTION]),
        Statement::new(DELETE_SALTS, params![day_of(now) - 1]),
        Statement::new(ADVANCE_IF_OLD, params![old]),
        Statement::new(EXPIRE, params![old]),
        Statement::new(PURGE, params![old - EXPIRED_RETENTION, now - EXPIRED_RETENTION]),
    ];
    store.write(statements).await?;
    Ok(())
}

fn read_all(rows: Vec<Row>) -> Result<Vec<MachineReport>> {
    rows.into_iter().map(MachineReport::from_row).collect()
}
