//! A session: one challenge, shown as a QR code, answered at most once.
//!
//! This file is the whole rule book, and pure: the time and the random bytes come in as arguments, [`sql`] remembers.

mod accept;
mod browser_hash;
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
mod proven_key;
mod requester;
mod signing;
pub mod sql;
mod status;
mod terms;
mod waiting;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use signpost_auth::{Challenge, Mode, Nonce, NotVerified};
use signpost_platform::accounts::Account;
use signpost_store::{Json, Parsed, columns, random, rows};
use url::Url;

use crate::domains::{Domain, LoginMethod};
use crate::ids::{DomainId, SessionId, UserId};

pub use accept::Accepted;
pub use browser_hash::BrowserHash;
pub use client_secret::{ClientSecret, ClientSecretHash};
pub use completion::{CompletionCode, CompletionHash, Flow};
pub use confirm::{ConfirmCode, MAX_CONFIRM_TRIES};
pub use idempotency::{IdempotencyKey, REPLAY_WINDOW};
pub use link::{Answerer, DECISION_WINDOW, LINK_LASTS, PageLink, RECENT_LOGIN};
pub use login::Login;
pub use metadata::Metadata;
pub use notice::{Notice, NoticeReason};
pub use offer::{OfferedPasskey, PasskeyOffer};
pub use page::{
    KeyVerdict, MAX_PAGE_CODE_LIFE, PAGE_COOKIE, PAGE_COOKIE_LASTS, PageOwner, RENEWAL_WINDOW, Renewal, ReturnOutcome,
    SessionPage, SwitchEntropy,
};
pub use passkey::{PASSKEY_REFUSALS, PasskeyAnswerRefusal};
pub use proven_key::{KeyEvidence, PasskeyEvidence, ProvenKey};
pub use requester::Requester;
pub use status::{SessionFilter, SessionStatus};
pub use terms::{AskingApplication, PagePurpose, PageTerms, can_log_in, takes_numbers};
pub use waiting::{TooManyWaiters, Waiter, Waiters};

/// How long a session is kept from its creation on; an authenticated one is readable for a day of that.
pub const RETENTION: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How long after its expiry a session can still be refreshed (docs/api.md, Refresh, cancel).
pub const REFRESH_WINDOW: SignedDuration = SignedDuration::from_mins(15);

/// How long a wallet's answer on one device can be completed at least.
pub const MIN_COMPLETION_WINDOW: SignedDuration = SignedDuration::from_mins(1);

/// How long an authenticated session can be read (docs/api.md, Read).
pub const READ_WINDOW: SignedDuration = SignedDuration::from_hours(24);

rows! {
    /// A session, and its row.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the fields are the specification's, §2")]
    pub struct Session in "sessions" by [id] {
        pub id: SessionId,
        pub account: Account,
        pub domain_id: DomainId,
        pub challenge: Challenge as Parsed<Challenge>,
        pub webhook_url: Url,
        /// Where the service itself takes the wallet's answer, on a domain whose handler is hosted.
        pub hosted_url: Option<Url>,
        pub metadata: Option<Metadata>,
        /// What the wallet must send back, where the integrator wants number match.
        pub confirm_code: Option<ConfirmCode>,
        pub options: SessionOptions,
        pub client_secret: Option<ClientSecretHash>,
        pub created_at: Timestamp,
        pub expires_at: Timestamp,
        /// Of a session that is shown on a page of the service, and of no other.
        pub page: Option<Box<SessionPage>> as page_sql::PageColumns,
    } later {
        pub state: SessionState,
    } beside {
        confirm_tries: i64,
    } checked by link::check_page
}

columns! {
    /// What a creation asks for and a session keeps in the words of the request. A field here is a column, and a part of
    /// what tells one request from another under an idempotency key: it must serialize as nothing where it is absent.
    #[derive(Clone, Debug, Default, Serialize)]
    #[expect(missing_docs, reason = "the fields are those of the request")]
    pub struct SessionOptions {
        pub flow: Flow,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub requester: Option<Requester> as Option<Json<Requester>>,
        /// Which browser of the site's may complete the login on a page.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub browser_hash: Option<BrowserHash>,
    }
}

/// What is remembered. That a session *expired* is not: it follows from the clock.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the states are the specification's, §3")]
pub enum SessionState {
    Pending,
    /// On one device: answered, and told to nobody until the code comes back.
    Answered {
        evidence: Box<KeyEvidence>,
        code: CompletionHash,
    },
    /// On a page of the service: answered, and told to nobody until the browser that owns the page is back at the site.
    AnsweredOnPage {
        evidence: Box<KeyEvidence>,
    },
    Authenticated {
        at: Timestamp,
        user: User,
    },
    Cancelled {
        at: Timestamp,
    },
}

/// What is asked for beside the domain.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are those of Session")]
pub struct NewSession {
    pub mode: Mode,
    pub webhook_url: Url,
    pub hosted_url: Option<Url>,
    pub metadata: Option<Metadata>,
    pub confirm_code: Option<ConfirmCode>,
    pub options: SessionOptions,
    /// What was asked for where the service shows the session on a page.
    pub page: Option<PageTerms>,
    /// Whose account a key joins: there in the mode that does that, and in no other.
    pub link: Option<PageLink>,
}

/// Who answered: the key as the wallet spelled it, and what the wallet said of its device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are the specification's, §2")]
pub struct User {
    /// Of a hosted domain, which user that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<UserId>,
    pub public_key: String,
    pub device_info: Map<String, Value>,
    /// Of a hosted domain, how the key was proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<LoginMethod>,
}

/// What opening a session draws.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SessionEntropy {
    pub id: [u8; 16],
    pub nonce: [u8; 16],
}

impl SessionEntropy {
    /// Drawn anew, in one call of the operating system.
    #[must_use]
    pub fn draw() -> Self {
        let [mut id, mut nonce] = [[0; 16]; 2];
        let drawn: [u8; 32] = random();
        id.copy_from_slice(&drawn[..16]);
        nonce.copy_from_slice(&drawn[16..]);
        Self { id, nonce }
    }
}

/// Why an answer or a refresh was turned away, in the order in which the contract checks (§3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerRefusal {
    /// The wallet's timestamp is more than 30 s off.
    Stale,
    /// The challenge is not this session's, or a refresh replaced it.
    UnknownChallenge,
    /// Somebody answered before.
    Authenticated,
    /// Too late.
    Expired,
    /// The integrator called it off.
    Cancelled,
    /// The key, the signature or both are not what they must be.
    Signature(NotVerified),
    /// Signed for another host than the code names.
    Host,
    /// The number is missing or another than the page shows.
    ConfirmCode,
    /// The code is not the one that the wallet, or the page's browser, was told.
    CompletionCode,
    /// The code came back in another browser than the one in which the login began.
    Browser,
}

impl Session {
    /// Opens a session on a domain.
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

    /// The same session, readable by the page that holds this.
    #[must_use]
    pub fn with_client_secret(self, secret: &ClientSecret) -> Self {
        Self { client_secret: Some(secret.hash()), ..self }
    }

    /// Where wallets post their answer.
    #[must_use]
    pub fn answer_url(&self) -> &Url {
        self.hosted_url.as_ref().unwrap_or(&self.webhook_url)
    }

    /// Where the person goes on, if the integrator said so: a path is one on the site that has the webhook, where that
    /// is the domain's, else on the domain.
    #[must_use]
    pub fn return_url(&self) -> Option<Url> {
        if self.is_login_hosts() {
            return self.login_host_url();
        }
        let text = self.metadata.as_ref()?.return_url()?;
        let domain = &self.challenge.domain;
        let is_own = |url: &Url| domain.covers(url.host_str().unwrap_or_default());
        let site = if is_own(&self.webhook_url) || domain.as_str() == "localhost" {
            self.webhook_url.clone()
        } else {
            Url::parse(&format!("https://{domain}/")).ok()?
        };
        site.join(&text).ok()
    }

    /// Where the person goes on whose session the login host opened: in the account there, or to its answer to a client.
    fn login_host_url(&self) -> Option<Url> {
        let (url, environment) = (self.hosted_url.as_ref()?.as_str(), self.account.environment);
        let address = url.strip_suffix(&format!("{}/hosted/{}", environment.path(), self.challenge.mode))?;
        let id = &self.domain_id;
        let path = if self.is_for_client() {
            format!("{}/{id}/authorize/return", environment.page_path())
        } else {
            format!("/account/{id}/return")
        };
        Url::parse(&format!("{address}{path}")).ok()
    }

    /// Where the session stands.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> SessionStatus {
        match self.state {
            SessionState::Authenticated { .. } => SessionStatus::Authenticated,
            SessionState::Cancelled { .. } => SessionStatus::Cancelled,
            _ if now >= self.expires_at => SessionStatus::Expired,
            _ => SessionStatus::Pending,
        }
    }

    /// Whether a wallet has answered already.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        !matches!(self.state, SessionState::Pending | SessionState::Cancelled { .. })
    }

    /// About how many bytes it takes in memory.
    #[must_use]
    pub fn size(&self) -> usize {
        1536 + self.metadata.as_ref().map_or(0, |metadata| metadata.as_str().len())
    }

    /// Whether anybody can still see it.
    #[must_use]
    pub fn is_readable(&self, now: Timestamp) -> bool {
        match &self.state {
            SessionState::Authenticated { at, .. } | SessionState::Cancelled { at } => {
                now.duration_since(*at) < READ_WINDOW
            }
            _ => now.duration_since(self.created_at) < RETENTION,
        }
    }

    /// Ends well while the session is pending.
    ///
    /// # Errors
    /// What became of it.
    pub fn check_pending(&self, now: Timestamp) -> Result<(), AnswerRefusal> {
        match self.status(now) {
            SessionStatus::Pending => Ok(()),
            SessionStatus::Authenticated => Err(AnswerRefusal::Authenticated),
            SessionStatus::Expired => Err(AnswerRefusal::Expired),
            SessionStatus::Cancelled => Err(AnswerRefusal::Cancelled),
        }
    }

    /// Issues a new challenge; the old one stops working.
    ///
    /// # Errors
    /// Where the session is authenticated, or expired too long ago.
    pub fn refresh(self, ttl: Duration, now: Timestamp, nonce: [u8; 16]) -> Result<Self, AnswerRefusal> {
        match self.state {
            SessionState::Cancelled { .. } => Err(AnswerRefusal::Cancelled),
            SessionState::Pending if !self.is_refreshable(now) => Err(AnswerRefusal::Expired),
            SessionState::Pending => Ok(self.with_nonce(ttl, now, nonce)),
            _ => Err(AnswerRefusal::Authenticated),
        }
    }

    /// Whether there is another code for it still, as far as the time says.
    #[must_use]
    pub fn is_refreshable(&self, now: Timestamp) -> bool {
        now.duration_since(self.expires_at) < REFRESH_WINDOW && !self.is_link_over(now)
    }

    /// Calls the session off, while it is pending.
    ///
    /// # Errors
    /// Where it is not pending any more.
    pub fn cancel(self, now: Timestamp) -> Result<Self, AnswerRefusal> {
        self.check_pending(now)?;
        Ok(Self { state: SessionState::Cancelled { at: now }, ..self })
    }

    /// Ends well while nobody has answered and there is time to.
    ///
    /// # Errors
    /// What became of it.
    pub(crate) fn check_open(&self, now: Timestamp) -> Result<(), AnswerRefusal> {
        self.check_pending(now)?;
        if self.is_answered() { Err(AnswerRefusal::Authenticated) } else { Ok(()) }
    }
}
