//! Reports in the database. What was decided by reading other reports is written only if none changed since: so each limit
//! is exact, however many come at once and at however many servers.

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use signpost_locator::AtmId;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Row, Step, Store, Stored, WriteError, WriteOutcome, must, params, random, sql, step};

use super::admission::{OtherReports, PassedReports, is_long};
use super::salt::{ADDRESS_KEPT, HashedAddress, ReportSalt, day_of};
use super::{BannedReporter, MachineReport, REPORT_LASTS, ReportId, ReportState, Weight};

/// How many reports of a machine are stored beside those that were accepted: the oldest go.
const MAX_OF_MACHINE: i64 = 100;
/// How long after it no longer counted a report is stored; a duplicate never did.
const STORED_AFTER: SignedDuration = SignedDuration::from_hours(30 * 24);

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
/// Of what the operator decided the newest counts.
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
/// Nobody but the operator's key has decided before the moderator. Of decisions by a program that did not note what was before,
/// a guess is made.
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

const FORGET_ADDRESSES: &str = "
    UPDATE atm_reports SET address = NULL, network = NULL WHERE address IS NOT NULL AND created_at <= $1";
const FORGET_SALTS: &str = "DELETE FROM atm_report_salts WHERE day < $1";
const EXPIRE: &str = "UPDATE atm_reports SET state = 'expired' WHERE state IN ('new', 'shown') AND created_at <= $1";
const PURGE: &str = "
    DELETE FROM atm_reports
    WHERE (state IN ('rejected', 'expired') AND created_at <= $1) OR (state = 'duplicate' AND created_at <= $2)";

/// Who sends a report, as far as that is compared.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ReportOrigin {
    /// The user who is signed in.
    pub person: Option<String>,
    pub weight: Weight,
    /// By the salt of today, and by that of yesterday.
    pub address: [HashedAddress; 2],
    /// Of the machine, folded.
    pub operator: String,
    /// Since when reports of the address count against its limit.
    pub address_since: Timestamp,
}

/// How the write of a report ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportWrite {
    /// It is stored.
    Stored,
    /// Others changed since they were read.
    Changed,
    /// Its proof of work was used before.
    ProofUsed,
}

/// A decision of the moderator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moderation {
    /// It is so.
    Accept,
    /// It is shown like any other; it waited.
    Release,
    /// It is not so.
    Reject,
    /// What was decided is not.
    Undo,
}

/// Which change of the reports is the last.
///
/// # Errors
/// As [`Store::read`].
pub async fn read_version(store: &Store) -> Result<i64> {
    store.read_one(VERSION, params![]).await?.context("atm_report_state is one row")?.int(0)
}

/// What a report that comes now is compared with.
///
/// # Errors
/// As [`Store::read`].
pub async fn read_others(
    store: &Store,
    report: &MachineReport,
    origin: &ReportOrigin,
    now: Timestamp,
) -> Result<OtherReports> {
    let (hour, day) = (now - SignedDuration::from_hours(1), now - SignedDuration::from_hours(24));
    let [today, before] = &origin.address;
    let params = params![
        i64::try_from(report.atm_id.get())?,
        today.address.as_str(),
        before.address.as_str(),
        today.network.as_str(),
        before.network.as_str(),
        origin.person.as_deref().unwrap_or_default(),
        origin.address_since,
        hour,
        day,
        origin.operator.as_str(),
        report.text_hash.as_deref().unwrap_or_default(),
        if is_long(report.text.as_deref()) { "long" } else { "short" },
        origin.weight,
        report.seen,
    ];
    let row = store.read_one(OTHERS, params).await?.context("one row")?;
    let count = |at: usize| anyhow::Ok(u32::try_from(row.int(at)?)?);
    let passed = |at: usize| anyhow::Ok(PassedReports { count: count(at)?, oldest: row.opt_time(at + 1)? });
    let id = |at: usize| anyhow::Ok(row.opt_text(at)?.and_then(ReportId::parse));
    Ok(OtherReports {
        version: row.int(0)?,
        is_banned: count(1)? > 0,
        of_address: passed(2)?,
        of_machine: passed(4)?,
        of_person: passed(6)?,
        of_hour: count(8)?,
        waiting: count(9)?,
        stored: count(10)?,
        machines_of_operator: count(11)?,
        twin: id(12)?,
        voice: id(13)?,
        echo: id(14)?,
        of_network: passed(15)?,
        duplicates: count(17)?,
    })
}

/// Stores a report, if nothing of the others changed since `version`.
///
/// # Errors
/// As [`Store::write`].
pub async fn insert(store: &Store, report: MachineReport, version: i64) -> Result<ReportWrite> {
    let atm = i64::try_from(report.atm_id.get())?;
    let mut steps = vec![must(ADVANCE_FROM, params![version])];
    if report.state == ReportState::Accepted {
        steps.push(step(TRIM_DECIDED, params![atm]));
    }
    let at_insert = steps.len();
    steps.push(must(INSERT, report.params()));
    steps.push(step(TRIM, params![atm, MAX_OF_MACHINE]));
    Ok(match store.write(steps).await? {
        WriteOutcome::Committed(_) => ReportWrite::Stored,
        WriteOutcome::Refused(at) if at == at_insert => ReportWrite::ProofUsed,
        WriteOutcome::Refused(_) => ReportWrite::Changed,
    })
}

/// A report.
///
/// # Errors
/// As [`Store::read`].
pub async fn find(store: &Store, id: &ReportId) -> Result<Option<MachineReport>> {
    store.read_one(FIND, params![id]).await?.map(MachineReport::from_row).transpose()
}

/// All that are shown or decide.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_counting(store: &Store) -> Result<Vec<MachineReport>> {
    read_all(store.read(COUNTING, params![]).await?)
}

/// The newest of a state and of a machine, newest first; without them, of all.
///
/// # Errors
/// As [`Store::read`].
pub async fn list(
    store: &Store,
    state: Option<ReportState>,
    atm: Option<AtmId>,
    most: u32,
) -> Result<Vec<MachineReport>> {
    let state = state.map_or("", ReportState::as_str);
    let atm = atm.map_or(Ok(0), |atm| i64::try_from(atm.get()))?;
    read_all(store.read(LIST, params![state, atm, most]).await?)
}

/// How many wait for the moderator.
///
/// # Errors
/// As [`Store::read`].
pub async fn count_new(store: &Store) -> Result<u32> {
    let row = store.read_one(COUNT_NEW, params![]).await?.context("COUNT is one row")?;
    Ok(u32::try_from(row.int(0)?)?)
}

/// Moderates a report.
///
/// # Errors
/// [`WriteError::Conflict`] if the state of the report does not allow this.
pub async fn moderate(
    store: &Store,
    report: &MachineReport,
    what: Moderation,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let (change, action) = match what {
        Moderation::Accept => (must(DECIDE, params![&report.id, "accepted", now]), Action::ReportAccepted),
        Moderation::Reject => (must(DECIDE, params![&report.id, "rejected", now]), Action::ReportRejected),
        Moderation::Release => (must(RELEASE, params![&report.id]), Action::ReportReleased),
        Moderation::Undo => (must(UNDO, params![&report.id]), Action::ReportUndone),
    };
    let told = serde_json::json!({ "atm_id": report.atm_id, "seen": report.seen });
    let entry = insert_entry(by, None, action, report.id.as_str(), &told, now);
    store.commit([must(ADVANCE, params![]), change, entry]).await
}

/// Bans a reporter, and rejects the reports of this reporter that are pending or shown.
///
/// # Errors
/// [`WriteError::Conflict`] if the reporter is banned already.
pub async fn ban(store: &Store, reporter: &str, now: Timestamp) -> Result<(), WriteError> {
    let new = BannedReporter { reporter: reporter.to_owned(), banned_at: now };
    let steps = [
        must(ADVANCE, params![]),
        must(BAN, new.params()),
        step(REJECT_ALL_OF, params![reporter, now]),
        ban_entry(Action::ReporterBanned, reporter, now),
    ];
    store.commit(steps).await
}

/// Lifts the ban of a reporter.
///
/// # Errors
/// [`WriteError::Conflict`] if the reporter is not banned.
pub async fn lift_ban(store: &Store, reporter: &str, now: Timestamp) -> Result<(), WriteError> {
    let entry = ban_entry(Action::ReporterUnbanned, reporter, now);
    let steps = [must(ADVANCE, params![]), must(LIFT_BAN, params![reporter]), entry];
    store.commit(steps).await
}

fn ban_entry(action: Action, reporter: &str, now: Timestamp) -> Step {
    insert_entry(&Actor::Operator, None, action, reporter, &serde_json::json!({}), now)
}

/// Whether reports of this reporter are refused.
///
/// # Errors
/// As [`Store::read`].
pub async fn is_banned(store: &Store, reporter: &str) -> Result<bool> {
    Ok(store.read_by_index(IS_BANNED, params![reporter]).await?.is_some())
}

/// Who is banned, the newest first.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_bans(store: &Store) -> Result<Vec<BannedReporter>> {
    store.read(BANS, params![]).await?.into_iter().map(BannedReporter::from_row).collect()
}

/// What addresses are hashed with today, and what they were hashed with yesterday, where any came then.
///
/// # Errors
/// As [`Store::write`].
pub async fn read_salts(store: &Store, now: Timestamp) -> Result<[ReportSalt; 2]> {
    let today = day_of(now);
    let mut salts = find_salts(store, today).await?;
    if salts.first().is_none_or(|salt| salt.day != today) {
        store.write([step(ADD_SALT, ReportSalt::new(today, random()).params())]).await?;
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

/// Forgets addresses of a day ago, and reports that are too old.
///
/// # Errors
/// As [`Store::write`].
pub async fn sweep(store: &Store, now: Timestamp) -> Result<()> {
    let old = now - REPORT_LASTS;
    let steps = [
        step(FORGET_ADDRESSES, params![now - ADDRESS_KEPT]),
        step(FORGET_SALTS, params![day_of(now) - 1]),
        step(ADVANCE_IF_OLD, params![old]),
        step(EXPIRE, params![old]),
        step(PURGE, params![old - STORED_AFTER, now - STORED_AFTER]),
    ];
    store.write(steps).await?;
    Ok(())
}

fn read_all(rows: Vec<Row>) -> Result<Vec<MachineReport>> {
    rows.into_iter().map(MachineReport::from_row).collect()
}
