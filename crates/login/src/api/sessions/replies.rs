//! The JSON forms of a session in replies of the API.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use signpost_auth::Mode;
use signpost_platform::web::problem::Problem;

use crate::domains::LoginMethod;
use crate::error::Error;
use crate::ids::{DomainId, SessionId, UserId};
use crate::sessions::{Metadata, Session, SessionState, SessionStatus, User};
use crate::users::{Credential, ExternalId, HostedUser, UserDisplayName, UserGroups, UserMetadata};

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
    domain_id: DomainId,
    challenge: String,
    pub(crate) qr_data: String,
    expires_at: Timestamp,
}

/// The reply to `GET /sessions/{id}`.
#[derive(Serialize)]
pub(crate) struct SessionView {
    id: SessionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain_id: Option<DomainId>,
    status: SessionStatus,
    /// The mode of a session with a page. The user may change it there.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authenticated_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<SessionUser>,
    /// The login method of a user of a hosted domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<LoginMethod>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata>,
    /// The URL that the wallet opens, in the same-device flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect: Option<String>,
}

/// The user who completed a session.
#[derive(Serialize)]
struct SessionUser {
    /// The user ID, for hosted domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<UserId>,
    public_key: String,
    device_info: Map<String, Value>,
    /// Whether the session registered the user, for hosted domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_new: Option<bool>,
    #[serde(flatten)]
    account: Option<UserAccount>,
}

/// The account of a user of a hosted domain, as it is at the time of the reply.
#[derive(Debug, Serialize)]
pub(crate) struct UserAccount {
    username: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<UserDisplayName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<UserGroups>,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<ExternalId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<UserMetadata>,
    /// The number of credentials.
    credential_count: usize,
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
            domain_id: session.domain_id.clone(),
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
            domain_id: None,
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
                domain_id: Some(session.domain_id.clone()),
                mode: session.page.as_ref().map(|_| session.challenge.mode),
                user: answering_user.map(SessionUser::from),
                method: answering_user.and_then(|user| user.method),
                metadata: session.metadata.clone(),
                ..shown
            },
        }
    }

    /// Adds the account of the user who completed the session.
    pub(crate) fn with_account(mut self, account: Option<UserAccount>) -> Self {
        if let Some(user) = &mut self.user {
            user.account = account;
        }
        self
    }

    pub(crate) fn with_redirect(self, redirect: Option<String>) -> Self {
        Self { redirect, ..self }
    }
}

impl From<&User> for SessionUser {
    fn from(user: &User) -> Self {
        let User { id, public_key, device_info, is_new, .. } = user.clone();
        Self { is_new: id.is_some().then_some(is_new), id, public_key, device_info, account: None }
    }
}

impl UserAccount {
    /// Returns the account of a user with these credentials.
    pub(crate) fn new(user: HostedUser, credentials: &[Credential]) -> Self {
        let username = user.username().to_owned();
        let HostedUser { name, groups, external_id, metadata, .. } = user;
        Self { username, name, groups, external_id, metadata, credential_count: credentials.len() }
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
