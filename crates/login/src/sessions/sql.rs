//! Queries and statements for sessions.

use anyhow::{Context, Result, anyhow, bail};
use jiff::Timestamp;
use signpost_auth::Challenge;
use signpost_platform::accounts::{Account, Environment};
use signpost_store::{
    Column, ColumnKind, Json, ReadColumns, Row, Statement, Store, Stored, Values, WriteError, params, sql, text_columns,
};

use super::write::{write, write_returning};
use crate::domains::CachedDomain;
use crate::events;
use crate::ids::{DomainId, SessionId};
use crate::sessions::{
    BrowserHash, ClientSecretHash, CompletionHash, ConfirmCode, Flow, Login, MAX_CONFIRM_TRIES, Metadata, NoticeReason,
    READ_WINDOW, REFRESH_WINDOW, RETENTION, Session, SessionFilter, SessionState, SessionStatus, SessionWriteError,
    page_sql,
};

/// Inserts a session if its domain still exists. `$4` is the domain, the fourth column of a
/// session.
const INSERT: &str = sql!(Session::INSERT_IF, " WHERE EXISTS (SELECT 1 FROM domains WHERE id = $4)");

/// Inserts a batch of sessions, and returns their first column.
const INSERT_MANY: &str = sql!(
    Session::INSERT_MANY_IF,
    " WHERE EXISTS (SELECT 1 FROM domains WHERE domains.id = new.domain_id) RETURNING id"
);

const SELECT: &str = sql!(Session::SELECT, " WHERE id = $1 AND account = $2 AND environment = $3");

const HOSTED: &str = sql!(Session::SELECT, " WHERE challenge = $1 AND environment = $2 AND hosted_url IS NOT NULL");

/// Lists sessions, newest first. The statuses match [`Session::status`].
const LIST: &str = sql!(
    Session::SELECT,
    " WHERE account = $1 AND environment = $2 AND id < $3 AND created_at > $7
     AND ($4 = '' OR domain_id = $4)
     AND ($5 = '' OR $5 = CASE WHEN authenticated_at IS NOT NULL THEN 'authenticated'
                               WHEN cancelled_at IS NOT NULL THEN 'cancelled'
                               WHEN expires_at <= $6 THEN 'expired' ELSE 'pending' END)
     AND (authenticated_at IS NULL OR authenticated_at > $8) AND (cancelled_at IS NULL OR cancelled_at > $8)
     ORDER BY id DESC LIMIT $9"
);

const COUNT_PENDING: &str = "
    SELECT COUNT(*) FROM sessions
    WHERE domain_id = $1 AND expires_at > $2 AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Counts pending sessions among the newest sessions. There is no index of pending sessions, so the
/// number of rows that are read is limited.
const COUNT_PENDING_OF_NEWEST: &str = "
    SELECT COUNT(*) FROM
      (SELECT expires_at, authenticated_at, cancelled_at FROM sessions ORDER BY id DESC LIMIT $2) AS newest
    WHERE expires_at > $1 AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Replaces the challenge of a session. Compares the old challenge, so that only the first of two
/// concurrent writes changes the row.
const REFRESH: &str = "
    UPDATE sessions SET challenge = $1, expires_at = $2
    WHERE id = $3 AND challenge = $4 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Authenticates a session. Compares the challenge, so that only the first of two concurrent writes
/// changes the row.
const AUTHENTICATE: &str = "
    UPDATE sessions SET authenticated_at = $1, user_json = $2
    WHERE id = $3 AND challenge = $4 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Stores the answer of a session. Compares the challenge, so that only the first of two concurrent
/// writes changes the row.
const ANSWER: &str = "
    UPDATE sessions SET answer = $1, completion = $2, expires_at = $3
    WHERE id = $4 AND challenge = $5 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

const COMPLETE: &str = "
    UPDATE sessions SET authenticated_at = $1, user_json = $2, answer = NULL, completion = NULL, passkey_offer = NULL
    WHERE id = $3 AND challenge = $4 AND answer IS NOT NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

const USE_TRY: &str = "
    UPDATE sessions SET confirm_tries = confirm_tries + 1
    WHERE id = $1 AND challenge = $2 AND confirm_tries < $3
      AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

const RESTORE_TRY: &str = "
    UPDATE sessions SET confirm_tries = confirm_tries - 1
    WHERE id = $1 AND confirm_tries > 0 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Stores the notice about a refused try. Follows [`USE_TRY`], once for each possible number of
/// remaining tries.
const SET_TRIES_NOTICE: &str = "
    UPDATE sessions SET notice = $1
    WHERE id = $2 AND confirm_tries = $3 AND page_until IS NOT NULL
      AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

const CANCEL_WITHOUT_TRIES: &str = "
    UPDATE sessions SET cancelled_at = $1
    WHERE id = $2 AND confirm_tries >= $3 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Cancels sessions that can be answered or refreshed.
const CANCEL_ALL: &str = "
    UPDATE sessions SET cancelled_at = $1
    WHERE domain_id = $2 AND expires_at > $3 AND authenticated_at IS NULL AND cancelled_at IS NULL";

const CANCEL: &str = sql!(
    "UPDATE sessions SET cancelled_at = $1 WHERE id = $2 AND authenticated_at IS NULL AND cancelled_at IS NULL
     RETURNING ",
    Session::COLUMN_LIST
);

/// Returns the statement that cancels all sessions of a domain, for the write that deletes the domain or its
/// verification.
pub(crate) fn cancel_domain_sessions_statement(domain: &DomainId, now: Timestamp) -> Statement {
    Statement::new(CANCEL_ALL, params![now, domain, now - REFRESH_WINDOW])
}

/// Inserts a new session, in one write with `extra_statements`. `domain` is the domain from the check of the
/// request.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the domain was deleted or may have changed, or a statement
/// is refused.
pub async fn insert(
    store: &Store,
    session: Session,
    domain: Option<&CachedDomain>,
    extra_statements: impl IntoIterator<Item = Statement>,
) -> Result<(), WriteError> {
    let insert = CachedDomain::guard(domain, Statement::expect_row(INSERT, session.params()).batched(INSERT_MANY, 0));
    let statements: Vec<Statement> = extra_statements.into_iter().chain([insert]).collect();
    store.commit(statements).await
}

/// Returns the session with this ID if it belongs to the account.
///
/// # Errors
/// Returns an error if the database cannot be read, or a column of the row is not valid.
pub async fn find(store: &Store, account: &Account, id: &SessionId) -> Result<Option<Session>> {
    let row = store.read_by_index(SELECT, params![id, &account.name, account.environment]).await?;
    row.map(|row| from_row(id, row)).transpose()
}

/// Parses the row of the session with this ID.
pub(super) fn from_row(id: &SessionId, row: Row) -> Result<Session> {
    Session::from_row(row).with_context(|| format!("session {id}"))
}

/// Returns the session with this challenge if the service itself accepts its answer.
///
/// # Errors
/// Returns an error if the database cannot be read, or a column of the row is not valid.
pub async fn find_hosted(store: &Store, environment: Environment, challenge: &Challenge) -> Result<Option<Session>> {
    let row = store.read_by_index(HOSTED, params![challenge.to_string(), environment]).await?;
    row.map(Session::from_row).transpose()
}

/// Returns the readable sessions of an account, newest first.
///
/// # Errors
/// Returns an error if the database cannot be read, or a column of a row is not valid.
pub async fn list(store: &Store, account: &Account, filter: &SessionFilter, now: Timestamp) -> Result<Vec<Session>> {
    let SessionFilter { before, domain, status, limit } = filter;
    let params = params![
        &account.name,
        account.environment,
        before.as_ref().map_or("sess_~", SessionId::as_str),
        domain.as_ref().map_or("", DomainId::as_str),
        status.map_or("", SessionStatus::as_str),
        now,
        now - RETENTION,
        now - READ_WINDOW,
        i64::from(*limit),
    ];
    store.read(LIST, params).await?.into_iter().map(Session::from_row).collect()
}

/// Returns the number of pending sessions of a domain.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn count_pending(store: &Store, domain: &DomainId, now: Timestamp) -> Result<i64> {
    store.count(COUNT_PENDING, params![domain, now]).await
}

/// Returns the number of pending sessions among the `newest` sessions of all domains.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn count_pending_of_newest(store: &Store, now: Timestamp, newest: u32) -> Result<i64> {
    store.count(COUNT_PENDING_OF_NEWEST, params![now, newest]).await
}

/// Replaces the challenge `old` by the session's challenge.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if the session was answered, or has another challenge.
pub async fn refresh(store: &Store, session: &Session, old: &Challenge) -> Result<(), SessionWriteError> {
    if session.page.is_some() {
        return page_sql::renew(store, session, old).await;
    }
    let params = params![session.challenge.to_string(), session.expires_at, &session.id, old.to_string()];
    write(store, session, [Statement::expect_row(REFRESH, params)]).await?;
    Ok(())
}

/// Counts an attempt with the right confirmation number, before the answer is accepted, so that concurrent answers
/// cannot exceed the number of attempts.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if no attempt is left, or the session does not wait for
/// an answer.
pub async fn use_confirm_try(store: &Store, session: &Session) -> Result<(), SessionWriteError> {
    write(store, session, [use_try_statement(session)]).await?;
    Ok(())
}

/// Counts an attempt with a wrong confirmation number and notes it on the page. The last attempt cancels the session in
/// this write, because no further answer could be accepted.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if no attempt is left, or the session does not wait for
/// an answer.
pub async fn record_wrong_confirm_code(
    store: &Store,
    session: &Session,
    now: Timestamp,
) -> Result<(), SessionWriteError> {
    let mut statements = vec![use_try_statement(session)];
    statements.extend(note_refused_try(session, |tries_left| NoticeReason::ConfirmCode { tries_left }, now));
    write(store, session, statements).await?;
    Ok(())
}

/// Records the answer of a key of another user than the session's, or of no user, and notes it on the page. It counts as
/// an attempt, unless its number was counted before. The last attempt cancels the session in this write.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if no attempt is left, or the session does not wait for
/// an answer.
pub async fn record_other_user(
    store: &Store,
    session: &Session,
    is_counted: bool,
    now: Timestamp,
) -> Result<(), SessionWriteError> {
    let mut statements = if is_counted { Vec::new() } else { vec![use_try_statement(session)] };
    statements.extend(note_refused_try(session, |tries_left| NoticeReason::OtherUser { tries_left }, now));
    write(store, session, statements).await?;
    Ok(())
}

/// Returns the statements after a refused attempt: the notice with the number of attempts that are left, and the
/// cancellation if there is none.
fn note_refused_try(session: &Session, reason: fn(i64) -> NoticeReason, now: Timestamp) -> Vec<Statement> {
    let mut statements = Vec::new();
    for tries_left in 0..MAX_CONFIRM_TRIES {
        let notice = Json(reason(tries_left).at(now));
        statements.push(Statement::new(SET_TRIES_NOTICE, params![notice, &session.id, MAX_CONFIRM_TRIES - tries_left]));
    }
    statements.push(Statement::new(CANCEL_WITHOUT_TRIES, params![now, &session.id, MAX_CONFIRM_TRIES]));
    statements
}

fn use_try_statement(session: &Session) -> Statement {
    Statement::expect_row(USE_TRY, params![&session.id, session.challenge.to_string(), MAX_CONFIRM_TRIES])
}

/// Restores the attempt of an answer with the right number that was refused for another reason.
///
/// # Errors
/// Returns an error if the database cannot be written.
pub async fn restore_confirm_try(store: &Store, id: &SessionId) -> Result<()> {
    store.write([Statement::new(RESTORE_TRY, params![id])]).await?;
    Ok(())
}

/// Cancels a session. Returns the session after the write.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if it was authenticated or cancelled before.
pub async fn cancel(store: &Store, session: &Session, now: Timestamp) -> Result<Session, SessionWriteError> {
    write_returning(store, session, Statement::expect_row(CANCEL, params![now, &session.id])).await
}

/// Stores a login, in one write with its event to `url` and `extra_statements`. `domain` is the domain that `url`
/// was read from.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if another answer came first or the domain may have
/// changed, and [`SessionWriteError::StatementRefused`] if a statement is refused.
pub async fn store_login(
    store: &Store,
    login: &Login,
    url: Option<&url::Url>,
    domain: Option<&CachedDomain>,
    extra_statements: Vec<Statement>,
) -> Result<(), SessionWriteError> {
    let Login { session, event, event_id, .. } = login;
    let SessionState::Authenticated { at, user } = &session.state else {
        return Err(anyhow!("{} is pending", session.id).into());
    };
    let sql = match session.options.flow {
        Flow::CrossDevice => AUTHENTICATE,
        Flow::SameDevice | Flow::Page => COMPLETE,
    };
    let user = serde_json::to_string(user).context("a user is JSON")?;
    let statement = Statement::expect_row(sql, params![*at, user, &session.id, session.challenge.to_string()]);
    let mut statements = vec![CachedDomain::guard(domain, statement)];
    if let Some(url) = url {
        statements.push(events::queue(event_id, event, &session.account, &session.domain_id, url, *at)?);
    }
    statements.extend(extra_statements);
    write(store, session, statements).await?;
    Ok(())
}

/// Stores the answer of a same-device session.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if another answer came first.
pub async fn store_answer(store: &Store, session: &Session) -> Result<(), SessionWriteError> {
    let SessionState::Answered { proof, code } = &session.state else {
        return Err(anyhow!("{} has no answer", session.id).into());
    };
    let challenge = session.challenge.to_string();
    let params = params![Json(proof), code.as_str(), session.expires_at, &session.id, challenge];
    write(store, session, [Statement::expect_row(ANSWER, params)]).await?;
    Ok(())
}

/// Rejects combinations of columns that no write stores, because a wrong reading could reopen an answered session.
impl ReadColumns for SessionState {
    const COLUMNS: &'static [Column] = &[
        Column { name: "authenticated_at", kind: ColumnKind::Integer },
        Column { name: "user_json", kind: ColumnKind::Text },
        Column { name: "cancelled_at", kind: ColumnKind::Integer },
        Column { name: "answer", kind: ColumnKind::Text },
        Column { name: "completion", kind: ColumnKind::Text },
    ];

    fn read(values: &mut Values) -> Result<Self> {
        let authenticated_at = values.next_column()?;
        let user = values.next_column()?;
        let cancelled_at = values.next_column()?;
        let answer = values.next_column()?;
        let code = values.next_column()?;
        Ok(match (authenticated_at, user, cancelled_at, answer, code) {
            (None, None, None, None, None) => Self::Pending,
            (None, None, None, Some(Json(proof)), Some(code)) => Self::Answered { proof, code },
            (None, None, None, Some(Json(proof)), None) => Self::AnsweredOnPage { proof },
            (Some(at), Some(Json(user)), None, None, None) => Self::Authenticated { at, user },
            (None, None, Some(at), None, None) | (None, None, Some(at), Some(_), _) => Self::Cancelled { at },
            _ => bail!(
                "sessions: authenticated_at, user_json, cancelled_at, answer and completion contradict each other"
            ),
        })
    }
}

text_columns! {
    Flow: |flow| flow.as_str(), |text| Flow::parse(text).context("is no flow");
    Metadata: Metadata::as_str, |text| Ok(Metadata::from_stored(text)?);
    ConfirmCode: ConfirmCode::reveal, |text| ConfirmCode::from_stored(text).context("is not two digits");
    ClientSecretHash: ClientSecretHash::as_str, |text| Ok(ClientSecretHash::from_stored(text));
    BrowserHash: BrowserHash::as_str, |text| BrowserHash::parse(text).context("is no hash of a browser's secret");
    CompletionHash: CompletionHash::as_str, |text| CompletionHash::from_stored(text).context("is no hash of a code");
}
