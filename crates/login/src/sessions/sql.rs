//! Sessions in the database.

use anyhow::{Context, Result, anyhow, bail};
use jiff::Timestamp;
use signpost_auth::Challenge;
use signpost_platform::accounts::{Account, Environment};
use signpost_store::{
    Column, Json, Kind, ReadColumns, Row, Step, Store, Stored, Values, WatchedVersion, WriteError, WriteOutcome, must,
    params, sql, step, texts,
};

use crate::events;
use crate::ids::{DomainId, SessionId};
use crate::sessions::{
    BrowserHash, ClientSecretHash, CompletionHash, ConfirmCode, Flow, Login, MAX_CONFIRM_TRIES, Metadata, NoticeReason,
    READ_WINDOW, REFRESH_WINDOW, RETENTION, Session, SessionFilter, SessionState, SessionStatus, page_sql,
};

/// `$4` is the domain: the fourth column of a session.
const INSERT: &str = sql!(Session::INSERT_IF, " WHERE EXISTS (SELECT 1 FROM domains WHERE id = $4)");

/// The same for many that wait, which are known by the first column.
const INSERT_MANY: &str = sql!(
    Session::INSERT_MANY_IF,
    " WHERE EXISTS (SELECT 1 FROM domains WHERE domains.id = new.domain_id) RETURNING id"
);

const SELECT: &str = sql!(Session::SELECT, " WHERE id = $1 AND account = $2 AND environment = $3");

const ANYONES: &str = sql!(Session::SELECT, " WHERE id = $1 AND environment = $2");

/// Those that the service answers for, by what their wallets sign.
const HOSTED: &str = sql!(Session::SELECT, " WHERE challenge = $1 AND environment = $2 AND hosted_url IS NOT NULL");

/// Newest first. What a status means is said once more in [`Session::status`].
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

/// No index leads to those that are pending, so that it is the rows looked at that are bounded.
const COUNT_PENDING_OF_NEWEST: &str = "
    SELECT COUNT(*) FROM
      (SELECT expires_at, authenticated_at, cancelled_at FROM sessions ORDER BY id DESC LIMIT $2) AS newest
    WHERE expires_at > $1 AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Names the old challenge, so that of two refreshes, or a refresh and an answer, only the first changes a row.
const REFRESH: &str = "
    UPDATE sessions SET challenge = $1, expires_at = $2
    WHERE id = $3 AND challenge = $4 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Names the challenge, so that of two answers, or an answer and a refresh, only the first changes a row.
const AUTHENTICATE: &str = "
    UPDATE sessions SET authenticated_at = $1, user_json = $2
    WHERE id = $3 AND challenge = $4 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// The same on one device, where the login waits for its code.
const ANSWER: &str = "
    UPDATE sessions SET answer = $1, completion = $2, expires_at = $3
    WHERE id = $4 AND challenge = $5 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

const COMPLETE: &str = "
    UPDATE sessions SET authenticated_at = $1, user_json = $2, answer = NULL, completion = NULL, passkey_offer = NULL
    WHERE id = $3 AND challenge = $4 AND answer IS NOT NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

const TAKE_TRY: &str = "
    UPDATE sessions SET confirm_tries = confirm_tries + 1
    WHERE id = $1 AND challenge = $2 AND confirm_tries < $3
      AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

const GIVE_BACK_TRY: &str = "
    UPDATE sessions SET confirm_tries = confirm_tries - 1
    WHERE id = $1 AND confirm_tries > 0 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Stands behind [`TAKE_TRY`] in one write, for each number of tries once.
const NOTE_TRIED: &str =
    "UPDATE sessions SET notice = $1 WHERE id = $2 AND confirm_tries = $3 AND page_until IS NOT NULL";

const CANCEL_TRIED: &str = "
    UPDATE sessions SET cancelled_at = $1
    WHERE id = $2 AND confirm_tries >= $3 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Those that could be answered, and those that could be refreshed.
const CANCEL_ALL: &str = "
    UPDATE sessions SET cancelled_at = $1
    WHERE domain_id = $2 AND expires_at > $3 AND authenticated_at IS NULL AND cancelled_at IS NULL";

const CANCEL: &str = "
    UPDATE sessions SET cancelled_at = $1 WHERE id = $2 AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Calls off all sessions of a domain that are not over, in the write that takes the domain or its proof away.
pub(crate) fn cancel_sessions_of(domain: &DomainId, now: Timestamp) -> Step {
    step(CANCEL_ALL, params![now, domain, now - REFRESH_WINDOW])
}

/// Inserts a new session, in one write with the steps of `with`.
///
/// # Errors
/// [`WriteError::Conflict`] if its domain was deleted or may have changed since `as_of`, or one of the steps is refused.
pub async fn insert(
    store: &Store,
    session: Session,
    as_of: Option<WatchedVersion>,
    with: impl IntoIterator<Item = Step>,
) -> Result<(), WriteError> {
    let insert = must(INSERT, session.params()).alike(INSERT_MANY, 0).as_of(as_of);
    let steps: Vec<Step> = with.into_iter().chain([insert]).collect();
    store.commit(steps).await
}

/// An account's session.
///
/// # Errors
/// As [`Store::read`].
pub async fn find(store: &Store, account: &Account, id: &SessionId) -> Result<Option<Session>> {
    let row = store.read_by_index(SELECT, params![id, &account.name, account.environment]).await?;
    row.map(|row| from_row(id, row)).transpose()
}

/// A session, whosever it is: for those who prove in another way that they may see it.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_in_any_account(store: &Store, environment: Environment, id: &SessionId) -> Result<Option<Session>> {
    read_in_any_account(store, environment, id).await?.map(|row| from_row(id, row)).transpose()
}

/// The row of the same.
///
/// # Errors
/// As [`Store::read`].
pub async fn read_in_any_account(store: &Store, environment: Environment, id: &SessionId) -> Result<Option<Row>> {
    store.read_by_index(ANYONES, params![id, environment]).await
}

/// What the row of a session says.
///
/// # Errors
/// Where a column cannot be read.
pub fn from_row(id: &SessionId, row: Row) -> Result<Session> {
    Session::from_row(row).with_context(|| format!("session {id}"))
}

/// The session whose answer the service itself takes, by its challenge.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_hosted(store: &Store, environment: Environment, challenge: &Challenge) -> Result<Option<Session>> {
    let row = store.read_by_index(HOSTED, params![challenge.to_string(), environment]).await?;
    row.map(Session::from_row).transpose()
}

/// An account's sessions, newest first, as far as they can still be read.
///
/// # Errors
/// As [`Store::read`].
pub async fn list(store: &Store, account: &Account, filter: &SessionFilter, now: Timestamp) -> Result<Vec<Session>> {
    let SessionFilter { before, domain, status, most } = filter;
    let params = params![
        &account.name,
        account.environment,
        before.as_ref().map_or("sess_~", SessionId::as_str),
        domain.as_ref().map_or("", DomainId::as_str),
        status.map_or("", SessionStatus::as_str),
        now,
        now - RETENTION,
        now - READ_WINDOW,
        i64::from(*most),
    ];
    store.read(LIST, params).await?.into_iter().map(Session::from_row).collect()
}

/// How many sessions of a domain can still be answered.
///
/// # Errors
/// As [`Store::read`].
pub async fn count_pending(store: &Store, domain: &DomainId, now: Timestamp) -> Result<i64> {
    let row = store.read_one(COUNT_PENDING, params![domain, now]).await?;
    row.context("COUNT is one row")?.int(0)
}

/// How many of the newest sessions of all domains, as many as `newest`, can still be answered.
///
/// # Errors
/// As [`Store::read`].
pub async fn count_pending_of_newest(store: &Store, now: Timestamp, newest: u32) -> Result<i64> {
    let row = store.read_one(COUNT_PENDING_OF_NEWEST, params![now, newest]).await?;
    row.context("COUNT is one row")?.int(0)
}

/// Replaces the challenge `old` by that of the session.
///
/// # Errors
/// [`WriteError::Conflict`] if the session was answered, or has another challenge.
pub async fn refresh(store: &Store, session: &Session, old: &Challenge) -> Result<(), WriteError> {
    if session.page.is_some() {
        return page_sql::renew(store, session, old).await;
    }
    let params = params![session.challenge.to_string(), session.expires_at, &session.id, old.to_string()];
    store.commit([must(REFRESH, params)]).await
}

/// Counts an attempt with the right confirmation number, before the answer is accepted, so that concurrent answers cannot
/// exceed the number of attempts.
///
/// # Errors
/// [`WriteError::Conflict`] if no attempt is left, or the session does not wait for an answer.
pub async fn use_confirm_try(store: &Store, session: &Session) -> Result<(), WriteError> {
    store.commit([take_try(session)]).await
}

/// Counts an attempt with a wrong confirmation number and notes it on the page. The last one cancels the session in the
/// same write, because no answer could be accepted any more.
///
/// # Errors
/// [`WriteError::Conflict`] if no attempt is left, or the session does not wait for an answer.
pub async fn lose_confirm_try(store: &Store, session: &Session, now: Timestamp) -> Result<(), WriteError> {
    let note = |tries_left| {
        let notice = NoticeReason::ConfirmCode { tries_left }.at(now);
        step(NOTE_TRIED, params![Json(notice), &session.id, MAX_CONFIRM_TRIES - tries_left])
    };
    let cancel = step(CANCEL_TRIED, params![now, &session.id, MAX_CONFIRM_TRIES]);
    let steps = [take_try(session)].into_iter().chain((0..MAX_CONFIRM_TRIES).map(note)).chain([cancel]);
    store.commit(steps.collect::<Vec<_>>()).await
}

fn take_try(session: &Session) -> Step {
    must(TAKE_TRY, params![&session.id, session.challenge.to_string(), MAX_CONFIRM_TRIES])
}

/// Gives a try back that was used for the right number, where the session waits on for another answer.
///
/// # Errors
/// As [`Store::write`].
pub async fn give_back_confirm_try(store: &Store, id: &SessionId) -> Result<()> {
    store.write([step(GIVE_BACK_TRY, params![id])]).await?;
    Ok(())
}

/// Cancels a session.
///
/// # Errors
/// [`WriteError::Conflict`] if it was answered or cancelled before.
pub async fn cancel(store: &Store, id: &SessionId, now: Timestamp) -> Result<(), WriteError> {
    store.commit([must(CANCEL, params![now, id])]).await
}

/// Keeps a login and queues its event, where it has one that goes to `url`, and with it what `with` says, all or nothing.
/// Refused at 0 where another answer came first or the watched tables may have changed since `as_of`, behind that where a
/// step of `with` is.
///
/// # Errors
/// As [`Store::write`].
pub async fn authenticate(
    store: &Store,
    login: &Login,
    url: Option<&url::Url>,
    as_of: Option<WatchedVersion>,
    with: Vec<Step>,
) -> Result<WriteOutcome> {
    log_in(store, AUTHENTICATE, login, url, as_of, with).await
}

/// The same for a login on one device whose code came back.
///
/// # Errors
/// As [`Store::write`].
pub async fn complete(
    store: &Store,
    login: &Login,
    url: Option<&url::Url>,
    as_of: Option<WatchedVersion>,
    with: Vec<Step>,
) -> Result<WriteOutcome> {
    log_in(store, COMPLETE, login, url, as_of, with).await
}

async fn log_in(
    store: &Store,
    sql: &'static str,
    login: &Login,
    url: Option<&url::Url>,
    as_of: Option<WatchedVersion>,
    with: Vec<Step>,
) -> Result<WriteOutcome> {
    let Login { session, event, event_id, .. } = login;
    let SessionState::Authenticated { at, user } = &session.state else { bail!("{} is pending", session.id) };
    let user = serde_json::to_string(user)?;
    let mut steps = vec![must(sql, params![*at, user, &session.id, session.challenge.to_string()]).as_of(as_of)];
    if let Some(url) = url {
        steps.push(events::queue(event_id, event, &session.account, &session.domain_id, url, *at)?);
    }
    steps.extend(with);
    store.write(steps).await
}

/// Stores the answer of a same-device session.
///
/// # Errors
/// [`WriteError::Conflict`] if another answer came first.
pub async fn store_answer(store: &Store, session: &Session) -> Result<(), WriteError> {
    let SessionState::Answered { evidence, code } = &session.state else {
        return Err(anyhow!("{} has no answer", session.id).into());
    };
    let challenge = session.challenge.to_string();
    let params = params![Json(evidence), code.as_str(), session.expires_at, &session.id, challenge];
    store.commit([must(ANSWER, params)]).await
}

/// Only what a write of ours makes is a state, for whoever read any other combination as the nearest one would open an
/// answered session again.
impl ReadColumns for SessionState {
    const COLUMNS: &'static [Column] = &[
        Column { name: "authenticated_at", kind: Kind::Integer },
        Column { name: "user_json", kind: Kind::Text },
        Column { name: "cancelled_at", kind: Kind::Integer },
        Column { name: "answer", kind: Kind::Text },
        Column { name: "completion", kind: Kind::Text },
    ];

    fn read(values: &mut Values) -> Result<Self> {
        let authenticated = (values.next_column()?, values.next_column()?);
        let cancelled_at = values.next_column()?;
        let answered = (values.next_column()?, values.next_column()?);
        Ok(match (authenticated, cancelled_at, answered) {
            ((None, None), None, (None, None)) => Self::Pending,
            ((None, None), None, (Some(Json(evidence)), Some(code))) => Self::Answered { evidence, code },
            ((None, None), None, (Some(Json(evidence)), None)) => Self::AnsweredOnPage { evidence },
            ((Some(at), Some(Json(user))), None, (None, None)) => Self::Authenticated { at, user },
            ((None, None), Some(at), (None, None) | (Some(_), _)) => Self::Cancelled { at },
            _ => bail!(
                "sessions: authenticated_at, user_json, cancelled_at, answer and completion contradict each other"
            ),
        })
    }
}

texts! {
    Flow: |flow| flow.as_str(), |text| Flow::parse(text).context("is no flow");
    Metadata: Metadata::as_str, |text| Ok(Metadata::from_stored(text)?);
    ConfirmCode: ConfirmCode::reveal, |text| ConfirmCode::from_stored(text).context("is not two digits");
    ClientSecretHash: ClientSecretHash::as_str, |text| Ok(ClientSecretHash::from_stored(text));
    BrowserHash: BrowserHash::as_str, |text| BrowserHash::parse(text).context("is no hash of a browser's secret");
    CompletionHash: CompletionHash::as_str, |text| CompletionHash::from_stored(text).context("is no hash of a code");
}
