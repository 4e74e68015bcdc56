//! Sessions in the database.

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use signpost_auth::Challenge;

use super::{Accepted, ConfirmCode, Metadata, REFRESHABLE, Session, State, TRIES};
use crate::account::{Account, Environment};
use crate::id::{DomainId, SessionId};
use crate::outbox;
use crate::store::{Row, Step, Store, must, params, step};

const INSERT: &str = "
    INSERT INTO sessions (id, account, environment, domain_id, challenge, webhook_url, metadata, created_at, expires_at,
                          confirm_code)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 WHERE EXISTS (SELECT 1 FROM domains WHERE id = $4)";

const SELECT: &str = "
    SELECT id, account, environment, domain_id, challenge, webhook_url, metadata, created_at, expires_at,
           authenticated_at, user_json, cancelled_at, confirm_code
    FROM sessions WHERE id = $1 AND account = $2 AND environment = $3";

/// Names the old challenge, so that of two refreshes, or a refresh and an answer, only the first changes a row.
const REFRESH: &str = "
    UPDATE sessions SET challenge = $1, expires_at = $2
    WHERE id = $3 AND challenge = $4 AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Names the challenge, so that of two answers, or an answer and a refresh, only the first changes a row.
const AUTHENTICATE: &str = "
    UPDATE sessions SET authenticated_at = $1, user_json = $2
    WHERE id = $3 AND challenge = $4 AND authenticated_at IS NULL AND cancelled_at IS NULL";

const TAKE_TRY: &str = "
    UPDATE sessions SET confirm_tries = confirm_tries + 1
    WHERE id = $1 AND challenge = $2 AND confirm_tries < $3 AND authenticated_at IS NULL AND cancelled_at IS NULL";

const CANCEL_TRIED: &str = "
    UPDATE sessions SET cancelled_at = $1
    WHERE id = $2 AND confirm_tries >= $3 AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Those that could be answered, and those that could be refreshed.
const CANCEL_ALL: &str = "
    UPDATE sessions SET cancelled_at = $1
    WHERE domain_id = $2 AND expires_at > $3 AND authenticated_at IS NULL AND cancelled_at IS NULL";

const CANCEL: &str = "
    UPDATE sessions SET cancelled_at = $1 WHERE id = $2 AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Calls off all sessions of a domain that are not over, in the write that takes the domain or its proof away.
pub(crate) fn cancel_sessions_of(domain: &DomainId, now: Timestamp) -> Step {
    step(CANCEL_ALL, params![now, domain, now - REFRESHABLE])
}

impl Store {
    /// Keeps a new session, and with it what `with` says, both or neither. False where its domain is gone meanwhile, or
    /// the other step changes nothing.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn insert_session(&self, session: &Session, with: Option<Step>) -> Result<bool> {
        let Session { id, account, domain_id, challenge, webhook_url, metadata, created_at, expires_at, .. } = session;
        let metadata = metadata.as_ref().map(Metadata::as_str);
        let params = params![
            id,
            &account.name,
            account.environment,
            domain_id,
            challenge.to_string(),
            webhook_url,
            metadata,
            *created_at,
            *expires_at,
            session.confirm.as_ref().map(ConfirmCode::reveal)
        ];
        let steps: Vec<Step> = with.into_iter().chain([must(INSERT, params)]).collect();
        Ok(self.write(steps).await?.is_committed())
    }

    /// An account's session.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn session(&self, account: &Account, id: &SessionId) -> Result<Option<Session>> {
        let row = self.read_one(SELECT, params![id, &account.name, account.environment]).await?;
        row.map(|row| Session::try_from(row).with_context(|| format!("session {id}"))).transpose()
    }

    /// Replaces the challenge `old` by the session's. False where an answer or another refresh came first.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn refresh_session(&self, session: &Session, old: &Challenge) -> Result<bool> {
        let params = params![session.challenge.to_string(), session.expires_at, &session.id, old.to_string()];
        Ok(self.write([must(REFRESH, params)]).await?.is_committed())
    }

    /// Uses up one of the tries that number match allows, before anybody looks at the number: of answers that come at
    /// once no more are looked at than may be. False where none is left, or the session is not pending any more.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn take_confirm_try(&self, session: &Session) -> Result<bool> {
        let params = params![&session.id, session.challenge.to_string(), TRIES];
        Ok(self.write([must(TAKE_TRY, params)]).await?.is_committed())
    }

    /// Calls a session off whose tries are used up. False where some are left.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn cancel_if_no_try_is_left(&self, id: &SessionId, now: Timestamp) -> Result<bool> {
        Ok(self.write([must(CANCEL_TRIED, params![now, id, TRIES])]).await?.is_committed())
    }

    /// Calls a session off. False where it was answered or called off meanwhile.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn cancel_session(&self, id: &SessionId, now: Timestamp) -> Result<bool> {
        Ok(self.write([must(CANCEL, params![now, id])]).await?.is_committed())
    }

    /// Keeps an accepted answer and queues its event, both or neither. False where another answer came first.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn authenticate(&self, accepted: &Accepted, url: &url::Url) -> Result<bool> {
        let Accepted { session, event, event_id } = accepted;
        let State::Authenticated { at, user } = &session.state else { bail!("{} is pending", session.id) };
        let user = serde_json::to_string(user)?;
        let steps = [
            must(AUTHENTICATE, params![*at, user, &session.id, session.challenge.to_string()]),
            outbox::queue(event_id, event, session, url, *at)?,
        ];
        Ok(self.write(steps).await?.is_committed())
    }
}

impl TryFrom<Row> for Session {
    type Error = anyhow::Error;

    fn try_from(row: Row) -> Result<Self> {
        let state = match (row.opt_time(9)?, row.opt_text(10)?) {
            (None, None) => row.opt_time(11)?.map_or(State::Pending, |at| State::Cancelled { at }),
            (Some(at), Some(user)) => State::Authenticated { at, user: serde_json::from_str(user)? },
            (Some(_), None) | (None, Some(_)) => bail!("it is neither pending nor authenticated"),
        };
        let environment = Environment::parse(row.text(2)?).context("sessions.environment")?;
        Ok(Self {
            id: SessionId::parse(row.text(0)?).context("sessions.id")?,
            account: Account { name: row.text(1)?.to_owned(), environment },
            domain_id: DomainId::parse(row.text(3)?).context("sessions.domain_id")?,
            challenge: Challenge::parse(row.text(4)?).context("sessions.challenge")?,
            webhook_url: row.text(5)?.parse().context("sessions.webhook_url")?,
            metadata: row.opt_text(6)?.map(Metadata::kept).transpose().context("sessions.metadata")?,
            confirm: row.opt_text(12)?.and_then(ConfirmCode::kept),
            created_at: row.time(7)?,
            expires_at: row.time(8)?,
            state,
        })
    }
}
