//! Sessions as replies show them; what does not apply is left out.

use jiff::Timestamp;
use serde::Serialize;
use signpost_auth::Mode;
use signpost_platform::web::problem::Problem;

use crate::domains::LoginMethod;
use crate::error::Error;
use crate::ids::SessionId;
use crate::sessions::{Metadata, Session, SessionState, SessionStatus, User};

/// The answer to a creation.
#[derive(Serialize)]
pub(crate) struct CreatedSession {
    #[serde(flatten)]
    refreshed: RefreshedSession,
    status: SessionStatus,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm_code: Option<String>,
    /// Where the site sends the browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    page_url: Option<String>,
}

/// The answer to a refresh.
#[derive(Serialize)]
pub(crate) struct RefreshedSession {
    id: SessionId,
    challenge: String,
    pub(crate) qr_data: String,
    expires_at: Timestamp,
}

/// A session as `GET` shows it.
#[derive(Serialize)]
pub(crate) struct SessionView {
    id: SessionId,
    status: SessionStatus,
    /// On a page, where the person may change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authenticated_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<User>,
    /// How the user of a hosted domain logged in.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<LoginMethod>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata>,
    /// Where the wallet sends the person, on one device.
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect: Option<String>,
}

/// A session in the list.
#[derive(Serialize)]
pub(crate) struct SessionListItem {
    #[serde(flatten)]
    shown: SessionView,
    domain: String,
    mode: Mode,
    created_at: Timestamp,
}

/// For whom a session is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// The integrator, with an API key.
    Owner,
    /// The page, with the session's client secret: it learns where the session stands, not who answered.
    Page,
}

impl CreatedSession {
    pub(crate) fn new(session: &Session, public_address: &str) -> Result<Self, Error> {
        let (created_at, metadata) = (session.created_at, session.metadata.clone());
        let confirm_code = session.confirm_code.as_ref().map(|code| code.reveal().to_owned());
        Ok(Self {
            refreshed: RefreshedSession::new(session)?,
            status: SessionStatus::Pending,
            created_at,
            metadata,
            confirm_code,
            page_url: session.page_url(public_address),
        })
    }
}

impl RefreshedSession {
    pub(crate) fn new(session: &Session) -> Result<Self, Error> {
        let qr_data = session.qr_data().map_err(|error| Problem::field("webhook_url", error.to_string()))?.to_string();
        let (id, challenge) = (session.id.clone(), session.challenge.to_string());
        Ok(Self { id, challenge, qr_data, expires_at: session.expires_at })
    }
}

impl SessionView {
    pub(crate) fn new(session: &Session, status: SessionStatus, viewer: Viewer) -> Self {
        let (expires_at, authenticated_at, answerer) = match &session.state {
            SessionState::Authenticated { at, user } => (None, Some(*at), Some(user)),
            _ => (Some(session.expires_at), None, None),
        };
        let shown = Self {
            id: session.id.clone(),
            status,
            mode: None,
            expires_at,
            authenticated_at,
            user: None,
            method: None,
            metadata: None,
            redirect: None,
        };
        match viewer {
            Viewer::Page => shown,
            Viewer::Owner => Self {
                mode: session.page.as_ref().map(|_| session.challenge.mode),
                user: answerer.map(|user| User { method: None, ..user.clone() }),
                method: answerer.and_then(|user| user.method),
                metadata: session.metadata.clone(),
                ..shown
            },
        }
    }

    pub(crate) fn with_redirect(self, redirect: Option<String>) -> Self {
        Self { redirect, ..self }
    }
}

impl SessionListItem {
    pub(crate) fn new(session: &Session, now: Timestamp) -> Self {
        let (domain, mode) = (session.challenge.domain.to_string(), session.challenge.mode);
        let (created_at, status) = (session.created_at, session.status(now));
        // The list says the mode of every session, behind what is shown of it.
        let shown = SessionView { mode: None, ..SessionView::new(session, status, Viewer::Owner) };
        Self { shown, domain, mode, created_at }
    }
}
