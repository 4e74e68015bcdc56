//! Request and response types of the calls about login sessions.

use std::fmt;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::shared_types::{Confirm, LoginMethod, Metadata};
use crate::answer::{Answer, DeviceInfo};
use crate::challenge::Mode;

/// A login session to create.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewSession {
    /// The registered domain that the user logs in to.
    pub domain: String,
    /// The purpose of the session, by default a login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The user ID, `usr_…`. With [`Mode::Link`], the user who links another key, logged in within
    /// the last 5 minutes. With [`Mode::Login`] and [`Flow::Page`], the only user who may log in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The URL that wallets post their answers to, if it is not the URL of the domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_url: Option<String>,
    /// Metadata that the service returns with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The number matching that the session requires, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Confirm>,
    /// The device that displays the QR code, by default a device other than the wallet's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// Information about the requesting browser, which wallets display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester: Option<Requester>,
    /// With [`Flow::Page`], the SHA-256 hash, in base64url, of a secret in a cookie of the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_hash: Option<String>,
}

/// The place where the login code of a session is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// On a device other than the wallet's.
    CrossDevice,
    /// On the wallet's device.
    SameDevice,
    /// On a page of the service.
    Page,
}

/// Information about the browser that requests a login.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requester {
    /// The IP address of the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    /// The ISO 3166-1 alpha-2 code of the country of the IP address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The `User-Agent` header of the browser, at most 256 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
}

/// A login session that was just created.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedSession {
    /// The session ID, `sess_…`.
    pub id: String,
    /// The challenge in its `svc:` rendering.
    pub challenge: String,
    /// The content of the QR code.
    pub qr_data: String,
    /// When the code expires.
    pub expires_at: String,
    /// The status: pending.
    pub status: SessionStatus,
    /// When the session was created.
    pub created_at: String,
    /// A secret that lets a page wait for this session only. It is omitted when serialized.
    #[serde(default, skip_serializing, deserialize_with = "secret")]
    pub client_secret: Option<SecretString>,
    /// The number that the page must display, for number matching.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_code: Option<String>,
    /// With [`Flow::Page`], the URL of the page to open in the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    /// The ID of the domain, `dom_…`. Earlier versions of the service omit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_id: Option<String>,
    /// The metadata of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// A session with a new code that replaces the old code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefreshedSession {
    /// The session ID, `sess_…`.
    pub id: String,
    /// The domain ID, `dom_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_id: Option<String>,
    /// The new challenge in its `svc:` rendering.
    pub challenge: String,
    /// The content of the new QR code.
    pub qr_data: String,
    /// When the new code expires.
    pub expires_at: String,
}

/// A login session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The session ID, `sess_…`.
    pub id: String,
    /// The status of the session.
    pub status: SessionStatus,
    /// The ID of the domain, `dom_…`. Earlier versions of the service omit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_id: Option<String>,
    /// With [`Flow::Page`], the purpose of the session, which the user can change on the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// When the code expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// When the user logged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authenticated_at: Option<String>,
    /// The user who logged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<SessionUser>,
    /// The login method. Only present for hosted domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<LoginMethod>,
    /// The metadata of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// In the same-device flow, the URL that the wallet opens after the login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
}

/// The user who logged in with a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionUser {
    /// The user ID, `usr_…`. Only present for hosted domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The public key, as the wallet sent it.
    pub public_key: String,
    /// The wallet's description of its device.
    pub device_info: DeviceInfo,
    /// The username, which is unique in the domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The groups that the website set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// The ID of the user in the website's own database, if the website set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// Further data that the website set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The number of credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_count: Option<u64>,
    /// Whether this session created the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_new: Option<bool>,
}

/// A login session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedSession {
    /// The session ID, `sess_…`.
    pub id: String,
    /// The status of the session.
    pub status: SessionStatus,
    /// The purpose of the session.
    pub mode: Mode,
    /// When the code expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// When the user logged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authenticated_at: Option<String>,
    /// The user who logged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<SessionUser>,
    /// The login method. Only present for hosted domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<LoginMethod>,
    /// The metadata of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// In the same-device flow, the URL that the wallet opens after the login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    /// The domain that the user logs in to.
    pub domain: String,
    /// The ID of the domain, `dom_…`. Earlier versions of the service omit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_id: Option<String>,
    /// When the session was created.
    pub created_at: String,
}

/// A page of sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionList {
    /// The sessions, newest first.
    pub sessions: Vec<ListedSession>,
    /// The cursor of the next page, or `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A filter for sessions. The default selects all sessions, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// The status of the sessions.
    pub status: Option<SessionStatus>,
    /// The domain of the sessions.
    pub domain: Option<String>,
    /// The maximum number of sessions per page, 1 to 100.
    pub limit: Option<u8>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The status of a login session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// The session waits for an answer.
    Pending,
    /// The user logged in.
    Authenticated,
    /// The session expired without a login.
    Expired,
    /// The session was cancelled.
    Cancelled,
    /// A status that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// The values that complete a login when the browser returns to the website.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The query parameter `code` of the return URL.
    pub code: String,
    /// The secret whose hash is the `browser_hash` of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_secret: Option<String>,
}

/// The parameters of a simulated wallet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulated {
    /// The number of the sandbox wallet, 1 to 100, by default the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wallet: Option<u8>,
    /// The fault that the answer of the wallet should have, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<SimulatedFault>,
}

/// A fault in the answer of a simulated wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimulatedFault {
    /// The signature is of a different text.
    Signature,
    /// The time is too old.
    Timestamp,
    /// The challenge is unknown.
    Challenge,
    /// The confirmation number is wrong.
    ConfirmCode,
}

/// The request of a simulated wallet, and its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulation {
    /// The public key of the wallet.
    pub public_key: String,
    /// The URL that the wallet posted its answer to.
    pub posted_to: String,
    /// The answer that the wallet posted.
    pub payload: Answer,
    /// The HTTP status of the response, if there was a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The start of the response body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The error, if there was no response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl NewSession {
    /// Creates the parameters of a login to this domain, with default options.
    pub fn on(domain: impl Into<String>) -> Self {
        Self { domain: domain.into(), ..Self::default() }
    }
}

impl Session {
    pub(super) fn ended(id: &str, status: SessionStatus) -> Self {
        Self {
            id: id.to_owned(),
            status,
            domain_id: None,
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
    /// Writes the name that the API uses.
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
    /// Omits the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion").finish_non_exhaustive()
    }
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretString::from))
}
