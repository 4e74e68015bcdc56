//! Sessions on pages in the database.

use anyhow::{Result, anyhow, bail};
use jiff::Timestamp;
use signpost_auth::{Challenge, PublicKey};
use signpost_platform::accounts::Environment;
use signpost_platform::pages::cookie::CookieHash;
use signpost_store::column::Via;
use signpost_store::{
    Column, Json, Kind, Parsed, ReadColumns, Store, Stored, Value, Values, WatchedVersion, WriteColumns, WriteError,
    must, params, sql,
};

use super::{Notice, NoticeReason, PageLink, PageOwner, PasskeyOffer, Session, SessionPage, SessionState};
use crate::ids::{CredentialId, SessionId};

/// Of two browsers that come at once only the first changes a row.
const CLAIM: &str = "
    UPDATE sessions SET page_cookie = $1, page_code = $2
    WHERE id = $3 AND page_until IS NOT NULL AND page_cookie IS NULL";

/// Names the old challenge, as a refresh does. What else a page changes with its code stands beside it.
const RENEW: &str = "
    UPDATE sessions SET challenge = $1, expires_at = $2, replaced_challenge = $3, page_until = $4, notice = $5,
        confirm_code = $6, hosted_url = $7
    WHERE id = $8 AND challenge = $3 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Names the challenge, so that of two answers, or an answer and a new code, only the first changes a row.
const ANSWER: &str = "
    UPDATE sessions SET answer = $1, expires_at = $2, notice = NULL, link_confirmed_at = $5, passkey_offer = $6
    WHERE id = $3 AND challenge = $4 AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Of two tabs that settle an offer only the first changes a row.
const SETTLE_OFFER: &str = "
    UPDATE sessions SET passkey_offer = $1
    WHERE id = $2 AND passkey_offer = $3
      AND answer IS NOT NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Of the code that a page shows, or of the one before: what was refused earlier is of no interest any more.
const NOTE: &str = "
    UPDATE sessions SET notice = $1
    WHERE id = $2 AND (challenge = $3 OR replaced_challenge = $3)
      AND answer IS NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// The same of what concerns the code before, or anybody's clock: the question whether to create an account stays.
const NOTE_BESIDE: &str = sql!(NOTE, r#" AND (notice IS NULL OR notice NOT LIKE '%"reason":"unknown_key"%')"#);

const REPLACED: &str = sql!(Session::SELECT, " WHERE replaced_challenge = $1 AND environment = $2");

/// What an LNURL names: the last characters of an id, in either environment, and at the same time whether anybody at the
/// session's domain has the key. How many sessions have such an id is counted too, for two that have are nobody's.
const BY_SUFFIX: &str = sql!(
    "SELECT ",
    Session::COLUMN_LIST,
    ", (SELECT COUNT(*) FROM credentials AS known WHERE known.domain_id = sessions.domain_id AND known.public_key = $2)
     , (SELECT COUNT(*) FROM sessions AS alike WHERE substr(alike.id, 30) = $1 AND alike.page_until IS NOT NULL)
     FROM sessions WHERE substr(id, 30) = $1 AND page_until IS NOT NULL LIMIT 1"
);

/// A session that an LNURL names, and whether anybody at its domain has the wallet's key.
#[derive(Debug)]
pub struct NamedPage {
    /// The session.
    pub session: Session,
    /// Whether a user has the key.
    pub is_known: bool,
}

/// Makes the browser with this cookie the owner of a page.
///
/// # Errors
/// [`WriteError::Conflict`] if the page has an owner.
pub async fn claim(store: &Store, id: &SessionId, owner: &PageOwner) -> Result<(), WriteError> {
    let PageOwner { cookie, code } = owner.clone();
    store.commit([must(CLAIM, params![cookie, code, id])]).await
}

/// Replaces the challenge `old` by that of the session, and with it the other properties of a page.
///
/// # Errors
/// [`WriteError::Conflict`] if the session was answered, or has another challenge.
pub async fn renew(store: &Store, session: &Session, old: &Challenge) -> Result<(), WriteError> {
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
    store.commit([must(RENEW, params)]).await
}

/// Stores the answer of a session on a page.
///
/// # Errors
/// [`WriteError::Conflict`] if the session was answered, has another challenge, or the watched tables may have changed
/// since `as_of`.
pub async fn store_answer(store: &Store, session: &Session, as_of: Option<WatchedVersion>) -> Result<(), WriteError> {
    let SessionState::AnsweredOnPage { evidence } = &session.state else {
        return Err(anyhow!("{} has no answer", session.id).into());
    };
    let params = params![
        Json(evidence),
        session.expires_at,
        &session.id,
        session.challenge.to_string(),
        session.link().and_then(|link| link.confirmed_at),
        to_stored(session.offer()),
    ];
    store.commit([must(ANSWER, params).as_of(as_of)]).await
}

/// Stores the outcome of an open offer of a passkey.
///
/// # Errors
/// [`WriteError::Conflict`] if the offer is settled, or the session has ended.
pub async fn settle_offer(store: &Store, id: &SessionId, outcome: PasskeyOffer) -> Result<(), WriteError> {
    let params = params![Json(outcome), id, Json(PasskeyOffer::Open)];
    store.commit([must(SETTLE_OFFER, params)]).await
}

/// Records why an answer to this challenge was refused.
///
/// # Errors
/// [`WriteError::Conflict`] if the session does not wait for an answer to it, or the page shows a more important notice.
pub async fn note(store: &Store, id: &SessionId, challenge: &Challenge, notice: Notice) -> Result<(), WriteError> {
    let sql = match notice.reason {
        NoticeReason::Replaced | NoticeReason::Clock { .. } => NOTE_BESIDE,
        _ => NOTE,
    };
    store.commit([must(sql, params![Json(notice), id, challenge.to_string()])]).await
}

/// The session whose challenge this was before the current one.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_replaced(store: &Store, environment: Environment, challenge: &Challenge) -> Result<Option<Session>> {
    let row = store.read_by_index(REPLACED, params![challenge.to_string(), environment]).await?;
    row.map(Session::from_row).transpose()
}

/// The session whose id ends so, where only one does.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_by_suffix(store: &Store, suffix: &str, key: &PublicKey) -> Result<Option<NamedPage>> {
    let Some(row) = store.read_by_index(BY_SUFFIX, params![suffix, key.canonical()]).await? else { return Ok(None) };
    let mut values = Values::new(Session::TABLE, row);
    let session = Session::from_values(&mut values)?;
    let (known, alike) = (values.next_column::<i64>()?, values.next_column::<i64>()?);
    Ok((alike == 1).then_some(NamedPage { session, is_known: known > 0 }))
}

/// An offer as a row has it, which has none of one that was not made.
fn to_stored(offer: &PasskeyOffer) -> Option<Json<PasskeyOffer>> {
    (*offer != PasskeyOffer::NotMade).then(|| Json(offer.clone()))
}

/// How a row has what a session has on a page.
#[derive(Debug)]
pub struct PageColumns(Option<Box<SessionPage>>);

/// Only what a write of ours makes is a page: whoever read any other combination as the nearest one might let a second
/// browser own it.
impl ReadColumns for PageColumns {
    const COLUMNS: &'static [Column] = &[
        Column { name: "page_until", kind: Kind::Integer },
        Column { name: "page_terms", kind: Kind::Text },
        Column { name: "page_cookie", kind: Kind::Text },
        Column { name: "page_code", kind: Kind::Text },
        Column { name: "replaced_challenge", kind: Kind::Text },
        Column { name: "notice", kind: Kind::Text },
        Column { name: "link_user", kind: Kind::Text },
        Column { name: "link_credential", kind: Kind::Text },
        Column { name: "link_confirmed_at", kind: Kind::Integer },
        Column { name: "passkey_offer", kind: Kind::Text },
        Column { name: "claim_secret", kind: Kind::Text },
    ];

    fn read(values: &mut Values) -> Result<Self> {
        let (until, terms) = (values.next_column()?, values.next_column()?);
        let owner = (values.next_column()?, values.next_column()?);
        let replaced = values.next_column::<Option<Parsed<Challenge>>>()?.map(|Parsed(challenge)| challenge);
        let notice = values.next_column::<Option<Json<Notice>>>()?.map(|Json(notice)| notice);
        let owner = match owner {
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
        let is_owned = owner.is_some() || claim_secret.is_some();
        let is_bare = !is_owned && replaced.is_none() && notice.is_none() && link.is_none();
        Ok(Self(match (until, terms) {
            (Some(until), Some(Json(terms))) => {
                Some(Box::new(SessionPage { until, terms, owner, replaced, notice, link, offer, claim_secret }))
            }
            (None, None) if is_bare && offer == PasskeyOffer::NotMade => None,
            _ => bail!(
                "sessions: page_until, page_terms, page_cookie, replaced_challenge, notice, link_user, passkey_offer \
                 and claim_secret contradict each other"
            ),
        }))
    }
}

impl WriteColumns for PageColumns {
    fn write(self, values: &mut Vec<Value>) {
        let page = self.0.map(|page| *page);
        let owner = page.as_ref().and_then(|page| page.owner.clone());
        let link = page.as_ref().and_then(|page| page.link.as_ref());
        values.extend(params![
            page.as_ref().map(|page| page.until),
            page.as_ref().map(|page| Json(page.terms.clone())),
            owner.as_ref().map(|owner| owner.cookie.clone()),
            owner.map(|owner| owner.code),
            page.as_ref().and_then(|page| page.replaced.as_ref()).map(ToString::to_string),
            page.as_ref().and_then(|page| page.notice.clone()).map(Json),
            link.map(|link| link.user.clone()),
            link.and_then(|link| link.credential.clone()),
            link.and_then(|link| link.confirmed_at),
            page.as_ref().and_then(|page| to_stored(&page.offer)),
            page.as_ref().and_then(|page| page.claim_secret.clone()),
        ]);
    }
}

impl Via<Option<Box<SessionPage>>> for PageColumns {
    fn wrap(value: Option<Box<SessionPage>>) -> Self {
        Self(value)
    }

    fn unwrap_via(self) -> Option<Box<SessionPage>> {
        self.0
    }
}
