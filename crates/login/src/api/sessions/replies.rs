//! The JSON forms of a session in replies of the API.

use jiff::Timestamp;
use serde::Serialize;
use signpost_auth::Mode;
use signpost_platform::web::problem::Problem;

use crate::domains::LoginMethod;
use crate::error::Error;
use crate::ids::SessionId;
use crate::sessions::{Metadata, Session, SessionState, SessionStatus, User};

/// The reply to the creation of a session.
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
    /// The URL to which the site redirects the browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    page_url: Option<String>,
}

/// The reply to the refresh of a session.
#[derive(Serialize)]
pub(crate) struct RefreshedSession {
    id: SessionId,
    challenge: String,
    pub(crate) qr_data: String,
    expires_at: Timestamp,
}

/// The reply to `GET /sessions/{id}`.
#[derive(Serialize)]
pub(crate) struct SessionView {
    id: SessionId,
    status: SessionStatus,
    /// The mode of a session with a page. The user may change it there.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authenticated_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<User>,
    /// The login method of a user of a hosted domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<LoginMethod>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata>,
    /// The URL that the wallet opens, in the same-device flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect: Option<String>,
}

/// An entry in the list of sessions.
#[derive(Serialize)]
pub(crate) struct SessionListItem {
    #[serde(flatten)]
    shown: SessionView,
    domain: String,
    mode: Mode,
    created_at: Timestamp,
}

/// The caller that reads a session. It determines the visible members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// The integrator, with an API key.
    Owner,
    /// The page, with the session's client secret: it sees the status, but not the user.
    Page,
}

impl CreatedSession {
    pub(crate) fn new(session: &Session, public_address: &str) -> Result<Self, Error> {
        Ok(Self {
            refreshed: RefreshedSession::new(session)?,
            status: SessionStatus::Pending,
            created_at: session.created_at,
            metadata: session.metadata.clone(),
            confirm_code: session.confirm_code.as_ref().map(|code| code.reveal().to_owned()),
            page_url: session.page_url(public_address),
        })
    }
}

impl RefreshedSession {
    pub(crate) fn new(session: &Session) -> Result<Self, Error> {
        let qr_data = session.qr_data().map_err(|error| Problem::field("webhook_url", error.to_string()))?;
        Ok(Self {
            id: session.id.clone(),
            challenge: session.challenge.to_string(),
            qr_data: qr_data.to_string(),
            expires_at: session.expires_at,
        })
    }
}

impl SessionView {
    pub(crate) fn new(session: &Session, status: SessionStatus, viewer: Viewer) -> Self {
        let (expires_at, authenticated_at, answering_user) = match &session.state {
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
                user: answering_user.map(|user| User { method: None, ..user.clone() }),
                method: answering_user.and_then(|user| user.method),
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
        let shown = SessionView::new(session, session.status(now), Viewer::Owner);
        Self {
            // The list has the mode of every session, after the other members.
            shown: SessionView { mode: None, ..shown },
            domain: session.challenge.domain.to_string(),
            mode: session.challenge.mode,
            created_at: session.created_at,
        }
    }
}
