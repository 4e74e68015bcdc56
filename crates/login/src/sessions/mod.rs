//! Login sessions. A session has a challenge that is shown as a QR code and can be answered at most
//! once.
//!
//! The rules are pure functions, with the time and the random bytes as arguments; [`sql`] stores sessions.

mod accept;
mod browser_hash;
mod cache;
mod client_secret;
mod completion;
mod confirm;
pub mod idempotency;
mod link;
pub mod link_sql;
mod login;
mod metadata;
mod notice;
mod offer;
mod page;
pub mod page_sql;
mod passkey;
mod requester;
mod signing;
pub mod sql;
mod status;
mod terms;
mod verified_key;
mod waiting;
mod write;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use signpost_auth::{Challenge, Mode, Nonce, VerificationError};
use signpost_platform::accounts::Account;
use signpost_store::{Json, Parsed, columns, random, rows};
use url::Url;

use crate::domains::{Domain, LoginMethod};
use crate::ids::{DomainId, SessionId, UserId};

pub use accept::Accepted;
pub use browser_hash::BrowserHash;
pub use cache::SessionCache;
pub use client_secret::{ClientSecret, ClientSecretHash};
pub use completion::{CompletionCode, CompletionHash, Flow};
pub use confirm::{ConfirmCode, MAX_CONFIRM_TRIES};
pub use idempotency::{IdempotencyKey, REPLAY_WINDOW};
pub use link::{DECISION_WINDOW, FIRST_KEY_TTL, LINK_TTL, PageLink, RECENT_LOGIN, Responder};
pub use login::Login;
pub use metadata::Metadata;
pub use notice::{Notice, NoticeReason};
pub use offer::{OfferedPasskey, PasskeyOffer};
pub use page::{
    KeyDecision, MAX_PAGE_CODE_LIFE, PAGE_COOKIE, PAGE_COOKIE_MAX_AGE, PageOwner, RENEWAL_WINDOW, Renewal,
    ReturnOutcome, SessionPage, SwitchEntropy,
};
pub use passkey::{PASSKEY_REFUSALS, PasskeyAnswerRefusal};
pub use requester::{Requester, RequesterBody};
pub use status::{SessionFilter, SessionStatus};
pub use terms::{PagePurpose, PageTerms, RequestingApplication, can_log_in, supports_number_matching};
pub use verified_key::{KeyProof, PasskeyProof, VerifiedKey};
pub use waiting::{TooManyWaiters, Waiter, Waiters};
pub use write::SessionWriteError;

/// Lifetime of a session after its creation.
pub const RETENTION: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Time after the expiry in which a session can be refreshed (docs/api.md, Refresh, cancel).
pub const REFRESH_WINDOW: SignedDuration = SignedDuration::from_mins(15);

/// Minimum time in which the answer of a wallet can be completed.
pub const MIN_COMPLETION_WINDOW: SignedDuration = SignedDuration::from_mins(1);

/// Time after its authentication or cancellation in which a session can be read (docs/api.md, Read).
pub const READ_WINDOW: SignedDuration = SignedDuration::from_hours(24);

rows! {
    /// A login session.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the fields are the specification's, §2")]
    pub struct Session in "sessions" by [id] {
        pub id: SessionId,
        pub account: Account,
        pub domain_id: DomainId,
        pub challenge: Challenge as Parsed<Challenge>,
        pub webhook_url: Url,
        /// The URL of the service for answers, for domains with a hosted handler.
        pub hosted_url: Option<Url>,
        pub metadata: Option<Metadata>,
        /// The number that the user types into the wallet, for sessions with number matching.
        pub confirm_code: Option<ConfirmCode>,
        pub options: SessionOptions,
        pub client_secret: Option<ClientSecretHash>,
        pub created_at: Timestamp,
        pub expires_at: Timestamp,
        /// The page of the service that shows the session, in the page flow.
        pub page: Option<Box<SessionPage>> as page_sql::PageColumns,
    } mutable {
        pub state: SessionState,
    } internal {
        confirm_tries: i64,
    } validate link::check_page
}

columns! {
    /// Options of a creation request that a session stores unchanged. A field here is a column and a part of the
    /// fingerprint of an idempotent request, so it must be skipped when it is `None`.
    #[derive(Clone, Debug, Default, Serialize)]
    #[expect(missing_docs, reason = "the fields are those of the request")]
    pub struct SessionOptions {
        pub flow: Flow,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub requester: Option<Requester> as Option<Json<Requester>>,
        /// The hash of the secret of the browser that may complete the login on a page.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub browser_hash: Option<BrowserHash>,
    }
}

/// The stored state of a session. Expiry is not stored, because it follows from the time.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the states are the specification's, §3")]
pub enum SessionState {
    Pending,
    /// Answered in the same-device flow. The integrator is notified when the code is returned.
    Answered {
        proof: Box<KeyProof>,
        code: CompletionHash,
    },
    /// Answered in the page flow. The integrator is notified when the browser that owns the page is back at the site.
    AnsweredOnPage {
        proof: Box<KeyProof>,
    },
    Authenticated {
        at: Timestamp,
        user: User,
    },
    Cancelled {
        at: Timestamp,
    },
}

/// The parameters of a new session, except its domain.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are those of Session")]
pub struct NewSession {
    pub mode: Mode,
    pub webhook_url: Url,
    pub hosted_url: Option<Url>,
    pub metadata: Option<Metadata>,
    pub confirm_code: Option<ConfirmCode>,
    pub options: SessionOptions,
    /// The terms of the page, in the page flow.
    pub page: Option<PageTerms>,
    /// The account that gets a key, in the mode `link`.
    pub link: Option<PageLink>,
}

/// The user who answered a session: the public key in the wallet's encoding, and the device info of
/// the wallet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are the specification's, §2")]
pub struct User {
    /// The user ID, for hosted domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<UserId>,
    pub public_key: String,
    pub device_info: Map<String, Value>,
    /// The login method, for hosted domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<LoginMethod>,
    /// Whether the session registered the user of a hosted domain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_new: bool,
}

/// The random bytes that a new session needs.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct SessionEntropy {
    pub id: [u8; 16],
    pub nonce: [u8; 16],
}

impl SessionEntropy {
    /// Draws random bytes in a single system call.
    #[must_use]
    pub fn draw() -> Self {
        let [mut id, mut nonce] = [[0; 16]; 2];
        let bytes: [u8; 32] = random();
        id.copy_from_slice(&bytes[..16]);
        nonce.copy_from_slice(&bytes[16..]);
        Self { id, nonce }
    }
}

/// The reason why an answer, a refresh or a cancellation was refused, in the order of the checks (specification, §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerRefusal {
    /// The timestamp of the wallet is more than 30 s off.
    Stale,
    /// The challenge belongs to another session, or a refresh replaced it.
    UnknownChallenge,
    /// The session is authenticated or answered.
    Authenticated,
    /// The session has expired.
    Expired,
    /// The session was cancelled.
    Cancelled,
    /// The key or the signature is malformed, or the signature does not verify.
    Signature(VerificationError),
    /// The signed text names another host than the code.
    Host,
    /// The confirmation number is missing or wrong.
    ConfirmCode,
    /// The completion code is wrong.
    CompletionCode,
    /// The completion code was not returned in the browser that started the login.
    Browser,
}

impl Session {
    /// Creates a session on a domain.
    #[must_use]
    pub fn open(domain: &Domain, new: NewSession, ttl: Duration, now: Timestamp, random: SessionEntropy) -> Self {
        let NewSession { mode, webhook_url, hosted_url, metadata, confirm_code, options, page, link } = new;
        let nonce = Nonce(random.nonce);
        let challenge = Challenge { mode, domain: domain.name.clone(), issued_at: now.as_second(), nonce };
        let page = page.map(|terms| Box::new(SessionPage::new(terms, link, now)));
        let ttl = if page.is_some() { ttl.min(MAX_PAGE_CODE_LIFE) } else { ttl };
        Self {
            id: SessionId::new(now, random.id),
            account: domain.account.clone(),
            domain_id: domain.id.clone(),
            challenge,
            webhook_url,
            hosted_url,
            metadata,
            confirm_code,
            options,
            client_secret: None,
            created_at: now,
            expires_at: now + ttl,
            page,
            state: SessionState::Pending,
        }
    }

    /// Sets the client secret.
    #[must_use]
    pub fn with_client_secret(self, secret: &ClientSecret) -> Self {
        Self { client_secret: Some(secret.hash()), ..self }
    }

    /// Returns the URL for wallets' answers.
    #[must_use]
    pub fn answer_url(&self) -> &Url {
        self.hosted_url.as_ref().unwrap_or(&self.webhook_url)
    }

    /// Returns the return URL. A path is resolved on the site of the webhook if that is on the domain, and on the
    /// domain otherwise.
    #[must_use]
    pub fn return_url(&self) -> Option<Url> {
        if self.belongs_to_login_host() {
            return self.login_host_url();
        }
        let text = self.metadata.as_ref()?.return_url()?;
        let domain = &self.challenge.domain;
        let is_webhook_on_domain = domain.covers(self.webhook_url.host_str().unwrap_or_default());
        let site = if is_webhook_on_domain || domain.as_str() == "localhost" {
            self.webhook_url.clone()
        } else {
            Url::parse(&format!("https://{domain}/")).ok()?
        };
        site.join(&text).ok()
    }

    /// Returns the return URL of a session of the login host: the account page, or the endpoint that answers a client.
    fn login_host_url(&self) -> Option<Url> {
        let url = self.hosted_url.as_ref()?.as_str();
        let environment = self.account.environment;
        let address = url.strip_suffix(&format!("{}/hosted/{}", environment.path(), self.challenge.mode))?;
        let id = &self.domain_id;
        let path = if self.is_for_client() {
            format!("{}/{id}/authorize/return", environment.page_path())
        } else {
            format!("/account/{id}/return")
        };
        Url::parse(&format!("{address}{path}")).ok()
    }

    /// Returns the status at a time.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> SessionStatus {
        match self.state {
            SessionState::Authenticated { .. } => SessionStatus::Authenticated,
            SessionState::Cancelled { .. } => SessionStatus::Cancelled,
            _ if now >= self.expires_at => SessionStatus::Expired,
            _ => SessionStatus::Pending,
        }
    }

    /// Returns true if the session has an answer.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        !matches!(self.state, SessionState::Pending | SessionState::Cancelled { .. })
    }

    /// Returns the approximate size in memory, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        1536 + self.metadata.as_ref().map_or(0, |metadata| metadata.as_str().len())
    }

    /// Returns true if the session can still be read.
    #[must_use]
    pub fn is_readable(&self, now: Timestamp) -> bool {
        match &self.state {
            SessionState::Authenticated { at, .. } | SessionState::Cancelled { at } => {
                now.duration_since(*at) < READ_WINDOW
            }
            _ => now.duration_since(self.created_at) < RETENTION,
        }
    }

    /// Checks that the session is pending.
    ///
    /// # Errors
    /// Returns [`AnswerRefusal::Authenticated`], [`AnswerRefusal::Expired`] or
    /// [`AnswerRefusal::Cancelled`].
    pub fn check_pending(&self, now: Timestamp) -> Result<(), AnswerRefusal> {
        match self.status(now) {
            SessionStatus::Pending => Ok(()),
            SessionStatus::Authenticated => Err(AnswerRefusal::Authenticated),
            SessionStatus::Expired => Err(AnswerRefusal::Expired),
            SessionStatus::Cancelled => Err(AnswerRefusal::Cancelled),
        }
    }

    /// Replaces the challenge.
    ///
    /// # Errors
    /// Returns an error if the session was answered or cancelled, or expired too long ago.
    pub fn refresh(self, ttl: Duration, now: Timestamp, nonce: [u8; 16]) -> Result<Self, AnswerRefusal> {
        match self.state {
            SessionState::Cancelled { .. } => Err(AnswerRefusal::Cancelled),
            SessionState::Pending if !self.is_refreshable(now) => Err(AnswerRefusal::Expired),
            SessionState::Pending => Ok(self.with_nonce(ttl, now, nonce)),
            _ => Err(AnswerRefusal::Authenticated),
        }
    }

    /// Returns true if the session is young enough for another code.
    #[must_use]
    pub fn is_refreshable(&self, now: Timestamp) -> bool {
        now.duration_since(self.expires_at) < REFRESH_WINDOW && !self.is_link_expired(now)
    }

    /// Checks that the session is pending and has no answer.
    ///
    /// # Errors
    /// Returns [`AnswerRefusal::Authenticated`], [`AnswerRefusal::Expired`] or
    /// [`AnswerRefusal::Cancelled`].
    pub(crate) fn check_open(&self, now: Timestamp) -> Result<(), AnswerRefusal> {
        self.check_pending(now)?;
        if self.is_answered() { Err(AnswerRefusal::Authenticated) } else { Ok(()) }
    }
}
