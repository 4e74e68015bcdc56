//! Sessions as they are asked for and shown.

use std::fmt;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};

use super::shapes::{Confirm, LoginMethod, Metadata};
use crate::answer::{Answer, DeviceInfo};
use crate::challenge::Mode;

/// A session to be created.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewSession {
    /// The registered domain that people log in to.
    pub domain: String,
    /// What it is for; a login by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// With [`Mode::Link`], whose account another key joins: `usr_…`, who logged in within 5 minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Where wallets post, if not where the domain says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_url: Option<String>,
    /// What comes back with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Number matching.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Confirm>,
    /// Where the code is shown; on another device by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// The browser that asked, for wallets to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester: Option<Requester>,
    /// With [`Flow::Page`], the SHA-256 in base64url of a secret that the browser keeps in a cookie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_hash: Option<String>,
}

/// Where the code of a session is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// On one device, and the wallet is on another.
    CrossDevice,
    /// On the wallet's own device.
    SameDevice,
    /// On a page of the service.
    Page,
}

/// The browser that asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requester {
    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    /// The country of the address, ISO 3166-1 alpha-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Its `User-Agent`, at most 256 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
}

/// A session that was created.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedSession {
    /// `sess_…`
    pub id: String,
    /// The challenge, in its `svc:` rendering.
    pub challenge: String,
    /// The text of the QR code.
    pub qr_data: String,
    /// When the code ends.
    pub expires_at: String,
    /// Pending.
    pub status: SessionStatus,
    /// When it was created.
    pub created_at: String,
    /// What lets a page wait for this session, and for nothing else. Left out when printed.
    #[serde(default, skip_serializing, deserialize_with = "secret")]
    pub client_secret: Option<SecretString>,
    /// The number for the page to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_code: Option<String>,
    /// With [`Flow::Page`], where you send the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    /// As it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// Another code for a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefreshedSession {
    /// `sess_…`
    pub id: String,
    /// The challenge, in its `svc:` rendering.
    pub challenge: String,
    /// The text of the QR code.
    pub qr_data: String,
    /// When the code ends.
    pub expires_at: String,
}

/// A session as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// `sess_…`
    pub id: String,
    /// Where it stands.
    pub status: SessionStatus,
    /// With [`Flow::Page`], where the person may change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// When the code ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// When somebody logged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authenticated_at: Option<String>,
    /// Who logged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<SessionUser>,
    /// Of a hosted domain, how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<LoginMethod>,
    /// As it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Where the wallet sends the person, in the same-device flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
}

/// Who logged in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionUser {
    /// Of a hosted domain: `usr_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The key, as the wallet spelled it.
    pub public_key: String,
    /// What the wallet said it runs on.
    pub device_info: DeviceInfo,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedSession {
    /// `sess_…`
    pub id: String,
    /// Where it stands.
    pub status: SessionStatus,
    /// What it is for.
    pub mode: Mode,
    /// When the code ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// When somebody logged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authenticated_at: Option<String>,
    /// Who logged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<SessionUser>,
    /// Of a hosted domain, how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<LoginMethod>,
    /// As it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Where the wallet sends the person, in the same-device flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    /// What people log in to.
    pub domain: String,
    /// When it was created.
    pub created_at: String,
}

/// A page of sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionList {
    /// The newest first.
    pub sessions: Vec<ListedSession>,
    /// Where the next page begins; none on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which sessions are listed. The default is all, from the newest on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Those that stand so.
    pub status: Option<SessionStatus>,
    /// Those of this domain.
    pub domain: Option<String>,
    /// The maximum number, 1 to 100.
    pub limit: Option<u8>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Where a session stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// It waits for an answer.
    Pending,
    /// Somebody logged in.
    Authenticated,
    /// Nobody did in time.
    Expired,
    /// It was ended.
    Cancelled,
    /// A word of a later version.
    #[serde(untagged)]
    Other(String),
}

/// What completes a login whose browser came back.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// `code` of the return URL.
    pub code: String,
    /// The secret whose hash the session has as `browser_hash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_secret: Option<String>,
}

/// The wallet that `simulate` plays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulated {
    /// Which of the sandbox's wallets, 1 to 100; the first by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wallet: Option<u8>,
    /// What is wrong with its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<SimulatedFault>,
}

/// What is wrong with a simulated answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimulatedFault {
    /// It is of another text.
    Signature,
    /// It is too old.
    Timestamp,
    /// It was never issued.
    Challenge,
    /// It is another number.
    ConfirmCode,
}

/// What the simulated wallet did, and what came back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulation {
    /// The wallet's key.
    pub public_key: String,
    /// Where the answer went.
    pub posted_to: String,
    /// The answer.
    pub payload: Answer,
    /// The status of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The beginning of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Why there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl NewSession {
    /// A login to this domain, answered where the domain says.
    pub fn on(domain: impl Into<String>) -> Self {
        Self { domain: domain.into(), ..Self::default() }
    }
}

impl Session {
    pub(super) fn ended(id: &str, status: SessionStatus) -> Self {
        Self {
            id: id.to_owned(),
            status,
            mode: None,
            expires_at: None,
            authenticated_at: None,
            user: None,
            method: None,
            metadata: None,
            redirect: None,
        }
    }
}

impl fmt::Display for SessionStatus {
    /// The word as the API writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Authenticated => "authenticated",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Other(word) => word,
        })
    }
}

impl fmt::Debug for Completion {
    /// Without what completes the login.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion").finish_non_exhaustive()
    }
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretString::from))
}
