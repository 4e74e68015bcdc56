//! Queries and statements for sessions that are shown on a page.

use anyhow::{Result, anyhow, bail};
use jiff::Timestamp;
use signpost_auth::{Challenge, PublicKey};
use signpost_platform::accounts::Environment;
use signpost_platform::pages::cookie::CookieHash;
use signpost_store::column::Wrapper;
use signpost_store::{
    Column, ColumnKind, Json, Parsed, ReadColumns, Statement, Store, Stored, Value, Values, WriteColumns, WriteError,
    params, sql,
};

use super::write::{write, write_returning};
use super::{
    Notice, NoticeReason, PageLink, PageOwner, PasskeyOffer, Session, SessionPage, SessionState, SessionWriteError,
};
use crate::domains::CachedDomain;
use crate::ids::{CredentialId, SessionId, UserId};

/// Makes a browser the owner of a page. Changes no row if another browser owns it.
const CLAIM: &str = sql!(
    "UPDATE sessions SET page_cookie = $1, page_code = $2
     WHERE id = $3 AND page_until IS NOT NULL AND page_cookie IS NULL
     RETURNING ",
    Session::COLUMN_LIST
);

/// Replaces the code of a page. Compares the old challenge, so that only the first of two
/// concurrent writes changes the row.
const RENEW: &str = "
    UPDATE sessions SET challenge = $1, expires_at = $2, replaced_challenge = $3, page_until = $4, notice = $5,
        confirm_code = $6, hosted_url = $7
    WHERE id = $8 AND challenge = $3 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Stores the answer to a page. Compares the challenge, so that only the first of two concurrent
/// writes changes the row.
const ANSWER: &str = "
    UPDATE sessions SET answer = $1, expires_at = $2, notice = NULL, link_confirmed_at = $5, passkey_offer = $6
    WHERE id = $3 AND challenge = $4 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Stores the outcome of an open offer of a passkey. Changes no row if another tab has settled the
/// offer.
const SETTLE_OFFER: &str = "
    UPDATE sessions SET passkey_offer = $1
    WHERE id = $2 AND passkey_offer = $3
      AND answer IS NOT NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Stores a notice about the current or the previous code.
const SET_NOTICE: &str = "
    UPDATE sessions SET notice = $1
    WHERE id = $2 AND (challenge = $3 OR replaced_challenge = $3)
      AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Stores a notice, unless the page offers to create an account.
const SET_NOTICE_UNLESS_UNKNOWN_KEY: &str =
    sql!(SET_NOTICE, r#" AND (notice IS NULL OR notice NOT LIKE '%"reason":"unknown_key"%')"#);

const FIND_REPLACED: &str = sql!(Session::SELECT, " WHERE replaced_challenge = $1 AND environment = $2");

/// Finds the session of an LNURL by the last characters of its ID, in either environment. Also reads the user of
/// the domain with the key, and counts the sessions with this suffix, because an ambiguous suffix is refused.
const FIND_BY_SUFFIX: &str = sql!(
    "SELECT ",
    Session::COLUMN_LIST,
    ", (SELECT known.user_id FROM credentials AS known WHERE known.domain_id = sessions.domain_id AND known.public_key = $2)
     , (SELECT COUNT(*) FROM sessions AS same WHERE substr(same.id, 30) = $1 AND same.page_until IS NOT NULL)
     FROM sessions WHERE substr(id, 30) = $1 AND page_until IS NOT NULL LIMIT 1"
);

/// The session of an LNURL.
#[derive(Debug)]
pub struct LnurlSession {
    /// The session.
    pub session: Session,
    /// The user of its domain who has the key of the wallet.
    pub user: Option<UserId>,
}

/// Makes a browser the owner of the session's page. Returns the session after the write.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if the page has an owner.
pub async fn claim(store: &Store, session: &Session, owner: &PageOwner) -> Result<Session, SessionWriteError> {
    let PageOwner { cookie, code } = owner.clone();
    write_returning(store, session, Statement::expect_row(CLAIM, params![cookie, code, &session.id])).await
}

/// Replaces the challenge `old` by the session's, and the other properties that change with it.
pub(super) async fn renew(store: &Store, session: &Session, old: &Challenge) -> Result<(), SessionWriteError> {
    let Session { id, challenge, expires_at, confirm_code, hosted_url, page: Some(page), .. } = session else {
        return Err(anyhow!("{} is on no page", session.id).into());
    };
    let params = params![
        challenge.to_string(),
        *expires_at,
        old.to_string(),
        page.until,
        page.notice.clone().map(Json),
        confirm_code.clone(),
        hosted_url.clone(),
        id,
    ];
    write(store, session, [Statement::expect_row(RENEW, params)]).await?;
    Ok(())
}

/// Stores the answer of a session on a page. `domain` is the domain from the acceptance of the answer.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if the session was answered, has another challenge, or
/// the domain may have changed.
pub async fn store_answer(
    store: &Store,
    session: &Session,
    domain: Option<&CachedDomain>,
) -> Result<(), SessionWriteError> {
    let SessionState::AnsweredOnPage { proof } = &session.state else {
        return Err(anyhow!("{} has no answer", session.id).into());
    };
    let params = params![
        Json(proof),
        session.expires_at,
        &session.id,
        session.challenge.to_string(),
        session.link().and_then(|link| link.confirmed_at),
        to_stored(session.offer()),
    ];
    write(store, session, [CachedDomain::guard(domain, Statement::expect_row(ANSWER, params))]).await?;
    Ok(())
}

/// Stores the outcome of an open offer of a passkey.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the offer is settled, or the session has ended.
pub async fn settle_offer(store: &Store, id: &SessionId, outcome: PasskeyOffer) -> Result<(), WriteError> {
    let params = params![Json(outcome), id, Json(PasskeyOffer::Open)];
    store.commit([Statement::expect_row(SETTLE_OFFER, params)]).await
}

/// Records why an answer to this challenge was refused.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the session was answered or has another challenge, or the
/// page has a more important notice.
pub async fn set_notice(
    store: &Store,
    id: &SessionId,
    challenge: &Challenge,
    notice: Notice,
) -> Result<(), WriteError> {
    let sql = match notice.reason {
        NoticeReason::Replaced | NoticeReason::Clock { .. } => SET_NOTICE_UNLESS_UNKNOWN_KEY,
        _ => SET_NOTICE,
    };
    store.commit([Statement::expect_row(sql, params![Json(notice), id, challenge.to_string()])]).await
}

/// Returns the session with this previous challenge.
///
/// # Errors
/// Returns an error if the database cannot be read, or a column of the row is not valid.
pub async fn find_replaced(store: &Store, environment: Environment, challenge: &Challenge) -> Result<Option<Session>> {
    let row = store.read_by_index(FIND_REPLACED, params![challenge.to_string(), environment]).await?;
    row.map(Session::from_row).transpose()
}

/// Returns the session with this ID suffix, if the suffix is unique.
///
/// # Errors
/// Returns an error if the database cannot be read, or a column of the row is not valid.
pub async fn find_by_suffix(store: &Store, suffix: &str, key: &PublicKey) -> Result<Option<LnurlSession>> {
    let Some(row) = store.read_by_index(FIND_BY_SUFFIX, params![suffix, key.canonical()]).await? else {
        return Ok(None);
    };
    let mut values = Values::new(Session::TABLE, row);
    let session = Session::from_values(&mut values)?;
    let user: Option<UserId> = values.next_column()?;
    let sessions: i64 = values.next_column()?;
    Ok((sessions == 1).then_some(LnurlSession { session, user }))
}

/// Returns the offer for its column, `None` without an offer.
fn to_stored(offer: &PasskeyOffer) -> Option<Json<PasskeyOffer>> {
    offer.exists().then(|| Json(offer.clone()))
}

/// The columns of a session's row that describe its page.
#[derive(Debug)]
pub struct PageColumns(Option<Box<SessionPage>>);

/// Rejects combinations of columns that no write stores, because a wrong interpretation could add a second owner.
impl ReadColumns for PageColumns {
    const COLUMNS: &'static [Column] = &[
        Column { name: "page_until", kind: ColumnKind::Integer },
        Column { name: "page_terms", kind: ColumnKind::Text },
        Column { name: "page_cookie", kind: ColumnKind::Text },
        Column { name: "page_code", kind: ColumnKind::Text },
        Column { name: "replaced_challenge", kind: ColumnKind::Text },
        Column { name: "notice", kind: ColumnKind::Text },
        Column { name: "link_user", kind: ColumnKind::Text },
        Column { name: "link_credential", kind: ColumnKind::Text },
        Column { name: "link_confirmed_at", kind: ColumnKind::Integer },
        Column { name: "passkey_offer", kind: ColumnKind::Text },
        Column { name: "claim_secret", kind: ColumnKind::Text },
    ];

    fn read(values: &mut Values) -> Result<Self> {
        let until = values.next_column()?;
        let terms = values.next_column()?;
        let cookie = values.next_column()?;
        let code = values.next_column()?;
        let replaced = values.next_column::<Option<Parsed<Challenge>>>()?.map(|Parsed(challenge)| challenge);
        let notice = values.next_column::<Option<Json<Notice>>>()?.map(|Json(notice)| notice);
        let owner = match (cookie, code) {
            (None, None) => None,
            (Some(cookie), Some(code)) => Some(PageOwner { cookie, code }),
            _ => bail!("sessions: page_cookie and page_code contradict each other"),
        };
        let link_user = values.next_column()?;
        let credential: Option<CredentialId> = values.next_column()?;
        let confirmed_at: Option<Timestamp> = values.next_column()?;
        let link = match link_user {
            Some(user) => Some(PageLink { user, credential, confirmed_at }),
            None if credential.is_none() && confirmed_at.is_none() => None,
            None => bail!("sessions: link_user, link_credential and link_confirmed_at contradict each other"),
        };
        let offer = values.next_column::<Option<Json<PasskeyOffer>>>()?.map(|Json(offer)| offer).unwrap_or_default();
        let claim_secret = values.next_column::<Option<CookieHash>>()?;
        let has_owner = owner.is_some() || claim_secret.is_some();
        let has_any = has_owner || replaced.is_some() || notice.is_some() || link.is_some() || offer.exists();
        Ok(Self(match (until, terms) {
            (Some(until), Some(Json(terms))) => {
                Some(Box::new(SessionPage { until, terms, owner, replaced, notice, link, offer, claim_secret }))
            }
            (None, None) if !has_any => None,
            _ => bail!(
                "sessions: page_until, page_terms, page_cookie, replaced_challenge, notice, link_user, passkey_offer \
                 and claim_secret contradict each other"
            ),
        }))
    }
}

impl WriteColumns for PageColumns {
    fn write(self, values: &mut Vec<Value>) {
        let Some(page) = self.0 else {
            values.extend(std::iter::repeat_n(Value::Null, Self::COLUMNS.len()));
            return;
        };
        let SessionPage { until, terms, owner, replaced, notice, link, offer, claim_secret } = *page;
        values.extend(params![
            until,
            Json(terms),
            owner.as_ref().map(|owner| owner.cookie.clone()),
            owner.map(|owner| owner.code),
            replaced.as_ref().map(ToString::to_string),
            notice.map(Json),
            link.as_ref().map(|link| link.user.clone()),
            link.as_ref().and_then(|link| link.credential.clone()),
            link.and_then(|link| link.confirmed_at),
            to_stored(&offer),
            claim_secret,
        ]);
    }
}

impl Wrapper<Option<Box<SessionPage>>> for PageColumns {
    fn wrap(value: Option<Box<SessionPage>>) -> Self {
        Self(value)
    }

    fn into_wrapped(self) -> Option<Box<SessionPage>> {
        self.0
    }
}
