//! `/sessions` over HTTP.

use std::fmt;

use anyhow::Context;
use axum::Json;
use axum::extract::{FromRequest, Request, State as Extract};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::Serialize;
use signpost_auth::{Answer, DomainName, Mode, QrCode};
use url::Url;

use super::drawing;
use super::{ConfirmCode, Metadata, Once, Random, Refusal, Session, State, Status, User};
use crate::account::Account;
use crate::app::App;
use crate::domains::{Domain, Usable, webhook_url};
use crate::error::Error;
use crate::http::{Fields, Nothing, PathId, Payload};
use crate::id::{self, SessionId};

/// A code is dead as soon as the session is refreshed.
const NOT_KEPT: (HeaderName, &str) = (CACHE_CONTROL, "no-store");

/// Says that a reply was given before.
const REPLAYED: (HeaderName, &str) = (HeaderName::from_static("idempotent-replayed"), "true");

/// How often a refresh looks again after another was first.
const REFRESHES_AT_ONCE: usize = 100;

pub(crate) async fn create(
    Extract(app): Extract<App>,
    account: Account,
    headers: HeaderMap,
    fields: Fields,
) -> Result<Response, Error> {
    let asked = Create::read(fields)?;
    let once = Once::read(&headers, &asked.to_string())?;
    if let Some(again) = again(&app, &account, once.as_ref()).await? {
        return Ok(again);
    }
    let domain = usable_domain(&app, &account, &asked.domain).await?;
    let webhook_url = asked.webhook_url(&app, &domain)?;
    let (now, ttl) = (app.clock.now(), app.config.session_ttl);
    let random = Random { id: id::random(), nonce: id::random() };
    let confirm = asked.confirm.then(|| ConfirmCode::new(id::random()));
    let session = Session::open(&domain, asked.mode, webhook_url, asked.metadata, ttl, now, random);
    let session = Session { confirm, ..session };
    let reply = serde_json::to_string(&Created::of(&session)?).context("a session is JSON")?;
    if app.store.insert_session(&session, once.as_ref().map(|once| once.keep(&account, &reply, now))).await? {
        return Ok(created(reply).into_response());
    }
    // Somebody asked for the same meanwhile, or took the domain away.
    let again = again(&app, &account, once.as_ref()).await?;
    again.ok_or_else(|| Error::DomainNotRegistered(asked.domain.to_string()))
}

/// Lets an answer pass that carries the number that the page shows; the third that does not ends the session.
async fn confirm(
    app: &App,
    account: &Account,
    session: &Session,
    code: &ConfirmCode,
    answer: &Answer,
) -> Result<(), Error> {
    if !app.store.take_confirm_try(session).await? {
        return Err(lost_race(app, account, session).await);
    }
    if code.is_in(answer) {
        return Ok(());
    }
    if app.store.cancel_if_no_try_is_left(&session.id, app.clock.now()).await? {
        app.waiting.wake(&session.id);
    }
    Err(refused(Refusal::ConfirmCode, session, app))
}

/// What was answered before to a request that names the same key.
async fn again(app: &App, account: &Account, once: Option<&Once>) -> Result<Option<Response>, Error> {
    let Some(once) = once else { return Ok(None) };
    let kept = app.store.kept_reply(account, once, app.clock.now()).await?;
    Ok(kept.map(|reply| ([REPLAYED], created(reply)).into_response()))
}

fn created(reply: String) -> impl IntoResponse {
    (StatusCode::CREATED, [(CONTENT_TYPE, "application/json")], reply)
}

pub(crate) async fn refresh(
    Extract(app): Extract<App>,
    account: Account,
    PathId(id): PathId,
    _: Nothing,
) -> Result<Json<Refreshed>, Error> {
    // Who loses to another refresh looks again: the session is still there to be refreshed.
    for _ in 0..REFRESHES_AT_ONCE {
        let old = find(&app, &account, &id).await?;
        let session = old.clone().refresh(app.config.session_ttl, app.clock.now(), id::random());
        let session = session.map_err(|refusal| refused(refusal, &old, &app))?;
        let refreshed = Refreshed::of(&session)?;
        if app.store.refresh_session(&session, &old.challenge).await? {
            return Ok(Json(refreshed));
        }
    }
    Err(Error::Unavailable("too many refresh this session at once".to_owned()))
}

/// `GET /sessions/{id}/qr.svg`
pub(crate) async fn svg(
    extract: Extract<App>,
    account: Account,
    id: PathId,
) -> Result<([(HeaderName, &'static str); 2], String), Error> {
    let code = code(extract, account, id).await?;
    Ok(([(CONTENT_TYPE, "image/svg+xml"), NOT_KEPT], code.svg()))
}

/// `GET /sessions/{id}/qr.png`
pub(crate) async fn png(
    extract: Extract<App>,
    account: Account,
    id: PathId,
) -> Result<([(HeaderName, &'static str); 2], Vec<u8>), Error> {
    let code = code(extract, account, id).await?;
    Ok(([(CONTENT_TYPE, "image/png"), NOT_KEPT], drawing::png(&code)?))
}

/// The code of a session that waits for its answer.
async fn code(Extract(app): Extract<App>, account: Account, PathId(id): PathId) -> Result<QrCode, Error> {
    let session = find(&app, &account, &id).await?;
    let refusal = match session.status(app.clock.now()) {
        Status::Pending => None,
        Status::Authenticated => Some(Refusal::Authenticated),
        Status::Expired => Some(Refusal::Expired),
        Status::Cancelled => Some(Refusal::Cancelled),
    };
    if let Some(refusal) = refusal {
        return Err(refused(refusal, &session, &app));
    }
    let text = Refreshed::of(&session)?.qr_data;
    Ok(QrCode::of(&text).context("qr_data fits in a code")?)
}

/// `DELETE /sessions/{id}`
pub(crate) async fn cancel(
    Extract(app): Extract<App>,
    account: Account,
    PathId(id): PathId,
    _: Nothing,
) -> Result<StatusCode, Error> {
    let session = find(&app, &account, &id).await?;
    let now = app.clock.now();
    let cancelled = session.clone().cancel(now).map_err(|refusal| refused(refusal, &session, &app))?;
    if app.store.cancel_session(&cancelled.id, now).await? {
        app.waiting.wake(&cancelled.id);
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(lost_race(&app, &account, &session).await)
}

pub(crate) async fn authenticate(
    Extract(app): Extract<App>,
    account: Account,
    PathId(id): PathId,
    request: Request,
) -> Result<Json<Shown>, Error> {
    let session = find(&app, &account, &id).await?;
    // Only now, for the contract says of an unknown session first that it is unknown.
    let Payload(body) = Payload::from_request(request, &app).await?;
    let answer =
        Answer::parse(&body).map_err(|error| Error::field(error.field().unwrap_or("body"), error.to_string()))?;
    let asked = session.clone();
    let accepted = session.answer(&answer, app.clock.now(), id::random());
    let accepted = accepted.map_err(|refusal| refused(refusal, &asked, &app))?;
    if let Some(code) = &asked.confirm {
        confirm(&app, &account, &asked, code, &answer).await?;
    }
    let url = event_url(&app, &asked).await?;
    if !app.store.authenticate(&accepted, &url).await? {
        return Err(lost_race(&app, &account, &asked).await);
    }
    app.outbox.notify_one();
    app.waiting.wake(&accepted.session.id);
    Ok(Json(Shown::of(accepted.session, Status::Authenticated)))
}

/// What `POST /sessions` asks for.
struct Create {
    domain: DomainName,
    mode: Mode,
    webhook_url: Option<String>,
    metadata: Option<Metadata>,
    /// Whether the wallet must send back what the page shows.
    confirm: bool,
}

impl Create {
    fn read(mut fields: Fields) -> Result<Self, Error> {
        let domain = fields.text("domain")?;
        let mode = match fields.optional_text("mode")? {
            None => Mode::Login,
            Some(word) => word.parse().map_err(|_| Error::field("mode", "must be 'login' or 'register'"))?,
        };
        let webhook_url = fields.optional_text("webhook_url")?;
        let metadata = fields.optional_object("metadata")?;
        let confirm = match fields.optional_text("confirm")?.as_deref() {
            None => false,
            Some("code") => true,
            Some(_) => return Err(Error::field("confirm", "must be 'code'")),
        };
        fields.done()?;
        let domain = DomainName::parse(&domain).map_err(|error| Error::field("domain", error.to_string()))?;
        let metadata = metadata.map(|object| Metadata::new(object, &domain)).transpose();
        let metadata = metadata.map_err(|(field, reason)| Error::field(field, reason))?;
        Ok(Self { domain, mode, webhook_url, metadata, confirm })
    }

    /// The session's own webhook if it names one, else the domain's.
    fn webhook_url(&self, app: &App, domain: &Domain) -> Result<Url, Error> {
        let Some(text) = &self.webhook_url else { return Ok(domain.webhook_url.clone()) };
        let reach = app.reach(domain.account.environment);
        let url = webhook_url(text, reach).map_err(|reason| Error::field("webhook_url", reason))?;
        if domain.owns_webhook(&url) {
            return Ok(url);
        }
        let reason = format!("must be on {0}, below it, or on the host of the domain's own webhook_url", domain.name);
        Err(Error::field("webhook_url", reason))
    }
}

/// All of it that counts, in one spelling.
impl fmt::Display for Create {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metadata = self.metadata.as_ref().map(Metadata::as_str);
        let Self { domain, mode, webhook_url, confirm, .. } = self;
        write!(f, "{:?}", (domain.as_str(), mode, webhook_url, metadata, confirm))
    }
}

/// The account's domain, if sessions may be opened on it.
async fn usable_domain(app: &App, account: &Account, name: &DomainName) -> Result<Domain, Error> {
    let not_verified = |reason| Error::DomainNotVerified { domain: name.to_string(), reason };
    match app.store.usable_domain(account, name, app.config.require_verified_domains).await? {
        Usable::Yes(domain) => Ok(*domain),
        Usable::NotRegistered => Err(Error::DomainNotRegistered(name.to_string())),
        Usable::NotVerified => Err(not_verified("this server opens sessions on verified domains only")),
        Usable::ClaimedByAnother => Err(not_verified("another account has proved this name or a related one")),
    }
}

/// Where the session's event goes: the domain's `event_url` if it has one, else where wallets post.
async fn event_url(app: &App, session: &Session) -> Result<Url, Error> {
    let domain = app.store.domain(&session.account, &session.domain_id).await?;
    Ok(domain.and_then(|domain| domain.event_url).unwrap_or_else(|| session.webhook_url.clone()))
}

pub(super) async fn find(app: &App, account: &Account, id: &str) -> Result<Session, Error> {
    let id = SessionId::parse(id).ok_or(Error::SessionNotFound)?;
    let session = app.store.session(account, &id).await?;
    session.filter(|session| session.is_readable(app.clock.now())).ok_or(Error::SessionNotFound)
}

pub(super) fn refused(refusal: Refusal, session: &Session, app: &App) -> Error {
    match refusal {
        Refusal::Stale => Error::TimestampOutOfRange { server_time: app.clock.now() },
        Refusal::UnknownChallenge => Error::ChallengeNotFound,
        Refusal::Authenticated => Error::SessionAlreadyAuthenticated,
        Refusal::Cancelled => Error::SessionCancelled { id: session.id.to_string() },
        Refusal::Expired => Error::SessionExpired { id: session.id.to_string(), expired_at: session.expires_at },
        Refusal::Signature(reason) => Error::SignatureRefused { reason },
        Refusal::ConfirmCode => Error::ConfirmCodeRefused,
    }
}

/// The row changed between reading and writing: what it is now says who was first.
async fn lost_race(app: &App, account: &Account, session: &Session) -> Error {
    match app.store.session(account, &session.id).await {
        Ok(Some(Session { state: State::Authenticated { .. }, .. })) => Error::SessionAlreadyAuthenticated,
        Ok(Some(Session { state: State::Cancelled { .. }, .. })) => {
            Error::SessionCancelled { id: session.id.to_string() }
        }
        Ok(Some(_)) => Error::ChallengeNotFound,
        Ok(None) => Error::SessionNotFound,
        Err(error) => error.into(),
    }
}

/// The answer to a creation.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the names are the specification's")]
pub(crate) struct Created {
    #[serde(flatten)]
    refreshed: Refreshed,
    status: Status,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm_code: Option<String>,
}

/// The answer to a refresh.
#[derive(Serialize)]
pub(crate) struct Refreshed {
    id: SessionId,
    challenge: String,
    qr_data: String,
    expires_at: Timestamp,
}

/// A session as `GET` shows it; what does not apply is left out.
#[derive(Serialize)]
pub(crate) struct Shown {
    id: SessionId,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authenticated_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<User>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata>,
}

impl Created {
    fn of(session: &Session) -> Result<Self, Error> {
        let (created_at, metadata) = (session.created_at, session.metadata.clone());
        let confirm_code = session.confirm.as_ref().map(|code| code.reveal().to_owned());
        Ok(Self { refreshed: Refreshed::of(session)?, status: Status::Pending, created_at, metadata, confirm_code })
    }
}

impl Refreshed {
    fn of(session: &Session) -> Result<Self, Error> {
        let qr_data = session.qr_data().map_err(|error| Error::field("webhook_url", error.to_string()))?.to_string();
        let (id, challenge) = (session.id.clone(), session.challenge.to_string());
        Ok(Self { id, challenge, qr_data, expires_at: session.expires_at })
    }
}

impl Shown {
    pub(super) fn of(session: Session, status: Status) -> Self {
        let Session { id, metadata, expires_at, state, .. } = session;
        match state {
            State::Pending | State::Cancelled { .. } => {
                Self { id, status, expires_at: Some(expires_at), authenticated_at: None, user: None, metadata }
            }
            State::Authenticated { at, user } => {
                Self { id, status, expires_at: None, authenticated_at: Some(at), user: Some(user), metadata }
            }
        }
    }
}
