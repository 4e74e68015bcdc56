//! Types of login sessions.

use std::fmt;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};

use super::shared_types::{Confirm, LoginMethod, Metadata};
use crate::answer::{Answer, DeviceInfo};
use crate::challenge::Mode;

/// A new session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewSession {
    /// The registered domain.
    pub domain: String,
    /// The purpose; a login by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// With [`Mode::Link`], the user who gets another key: `usr_…`, logged in within the last 5 minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The URL for answers of wallets, if it is not the domain's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_url: Option<String>,
    /// Metadata that are returned with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Number matching.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Confirm>,
    /// The device with the code; by default not the wallet's device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// The requesting browser, shown by wallets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester: Option<Requester>,
    /// With [`Flow::Page`], the SHA-256 in base64url of a secret in a cookie of the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_hash: Option<String>,
}

/// The display of a session's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// On another device than the wallet.
    CrossDevice,
    /// On the same device as the wallet.
    SameDevice,
    /// On a page of the service.
    Page,
}

/// The requesting browser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requester {
    /// Its IP address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    /// The country of the IP address, ISO 3166-1 alpha-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Its `User-Agent`, at most 256 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
}

/// A created session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedSession {
    /// `sess_…`
    pub id: String,
    /// The challenge, in its `svc:` rendering.
    pub challenge: String,
    /// The text of the QR code.
    pub qr_data: String,
    /// Time of expiry of the code.
    pub expires_at: String,
    /// The status: pending.
    pub status: SessionStatus,
    /// Time of creation.
    pub created_at: String,
    /// The secret with which a page can wait for this session only. Left out when serialized.
    #[serde(default, skip_serializing, deserialize_with = "secret")]
    pub client_secret: Option<SecretString>,
    /// The number for the page to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_code: Option<String>,
    /// With [`Flow::Page`], the URL for the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    /// The metadata of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// A session with a new code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefreshedSession {
    /// `sess_…`
    pub id: String,
    /// The challenge, in its `svc:` rendering.
    pub challenge: String,
    /// The text of the QR code.
    pub qr_data: String,
    /// Time of expiry of the code.
    pub expires_at: String,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// `sess_…`
    pub id: String,
    /// The status.
    pub status: SessionStatus,
    /// With [`Flow::Page`], the purpose, which can change on the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Time of expiry of the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Time of the login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authenticated_at: Option<String>,
    /// The user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<SessionUser>,
    /// The login method; hosted domains only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<LoginMethod>,
    /// The metadata of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The URL to which the wallet sends the user, in the same-device flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
}

/// The user of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionUser {
    /// The ID, `usr_…`; hosted domains only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The public key, as sent by the wallet.
    pub public_key: String,
    /// Description of the wallet's device.
    pub device_info: DeviceInfo,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedSession {
    /// `sess_…`
    pub id: String,
    /// The status.
    pub status: SessionStatus,
    /// The purpose.
    pub mode: Mode,
    /// Time of expiry of the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Time of the login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authenticated_at: Option<String>,
    /// The user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<SessionUser>,
    /// The login method; hosted domains only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<LoginMethod>,
    /// The metadata of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The URL to which the wallet sends the user, in the same-device flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    /// The domain.
    pub domain: String,
    /// Time of creation.
    pub created_at: String,
}

/// A page of sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionList {
    /// The entries, newest first.
    pub sessions: Vec<ListedSession>,
    /// The cursor of the next page; `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A filter for sessions. The default selects all, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// The status.
    pub status: Option<SessionStatus>,
    /// The domain.
    pub domain: Option<String>,
    /// The maximum number, 1 to 100.
    pub limit: Option<u8>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The status of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// Waiting for an answer.
    Pending,
    /// Completed by a login.
    Authenticated,
    /// Expired without a login.
    Expired,
    /// Cancelled.
    Cancelled,
    /// A value of a later version.
    #[serde(untagged)]
    Other(String),
}

/// The values that complete a login when the browser returns.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The parameter `code` of the return URL.
    pub code: String,
    /// The secret of the session's `browser_hash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_secret: Option<String>,
}

/// The wallet simulated by `simulate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulated {
    /// The number of the sandbox wallet, 1 to 100; the first by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wallet: Option<u8>,
    /// The fault of its answer, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<SimulatedFault>,
}

/// The fault of a simulated answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimulatedFault {
    /// A signature of another text.
    Signature,
    /// A time that is too old.
    Timestamp,
    /// An unknown challenge.
    Challenge,
    /// A wrong number.
    ConfirmCode,
}

/// The request of the simulated wallet, and the response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulation {
    /// The wallet's key.
    pub public_key: String,
    /// The URL of the request.
    pub posted_to: String,
    /// The answer.
    pub payload: Answer,
    /// The status of the response, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The start of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The error, if there was no response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl NewSession {
    /// Creates a login to this domain with default options.
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
    /// Writes the name used by the API.
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
    /// Leaves out the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion").finish_non_exhaustive()
    }
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretString::from))
}
