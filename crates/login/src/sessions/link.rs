//! Links: sessions that add another key to the account of a logged-in user. The session identifies
//! the account, and the key is added after the owner of the page has confirmed it.

use std::time::Duration;

use anyhow::{Result, bail};
use jiff::{SignedDuration, Timestamp};
use signpost_auth::Mode;
use signpost_platform::accounts::Environment;

use super::{AnswerRefusal, Flow, RENEWAL_WINDOW, Session, SessionState};
use crate::ids::{CredentialId, UserId};

/// Maximum age of the user's last login when a link is created.
pub const RECENT_LOGIN: SignedDuration = SignedDuration::from_mins(5);

/// Maximum age of a link that gets new codes. It is limited, because a link relies on a login
/// before its creation.
pub const LINK_TTL: SignedDuration = SignedDuration::from_mins(30);

/// Lifetime of a link that adds the first key of a user. It is short, because the service knows no login of the user.
pub const FIRST_KEY_TTL: SignedDuration = SignedDuration::from_mins(10);

/// Minimum time that the owner of a page has after an answer to confirm a key or to decide about a
/// passkey.
pub const DECISION_WINDOW: SignedDuration = SignedDuration::from_mins(5);

/// The device that answered a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Responder {
    /// The browser that owns the page.
    PageOwner,
    /// Any other device: everyone who sees the code can answer it.
    AnyDevice,
}

/// The account to which a session adds a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLink {
    /// The user with the account.
    pub user: UserId,
    /// The credential of the login before the creation of the link: the link can be completed only as long as the user
    /// has it. `None` for links that an operator created.
    pub credential: Option<CredentialId>,
    /// The time at which the owner of the page confirmed the answering key.
    pub confirmed_at: Option<Timestamp>,
}

impl PageLink {
    /// Creates a link that is not confirmed.
    #[must_use]
    pub fn new(user: UserId, credential: Option<CredentialId>) -> Self {
        Self { user, credential, confirmed_at: None }
    }
}

impl Session {
    /// Returns the account to which the session adds a key, if it is a link.
    #[must_use]
    pub fn link(&self) -> Option<&PageLink> {
        self.page.as_ref()?.link.as_ref()
    }

    /// Returns the answered link without the confirmation of the page's owner. An answer by the owner is confirmed.
    #[must_use]
    pub fn await_confirmation(mut self, responder: Responder, now: Timestamp) -> Self {
        self.expires_at = self.limit_expiry(self.expires_at.max(now + DECISION_WINDOW));
        if let Some(link) = self.page.as_mut().and_then(|page| page.link.as_mut()) {
            link.confirmed_at = (responder == Responder::PageOwner).then_some(now);
        }
        self
    }

    /// Drops an answer that the owner of the page declined, and replaces the code that was answered.
    ///
    /// # Errors
    /// Returns [`AnswerRefusal::UnknownChallenge`] if no answer waits for confirmation, and an
    /// error if the session is not pending.
    pub fn decline_answer(mut self, ttl: Duration, now: Timestamp, nonce: [u8; 16]) -> Result<Self, AnswerRefusal> {
        self.check_pending(now)?;
        if !self.waits_for_confirmation() {
            return Err(AnswerRefusal::UnknownChallenge);
        }
        self.state = SessionState::Pending;
        let until = self.renews_from(now);
        let ttl = if self.is_link_expired(now) { Duration::ZERO } else { ttl };
        let mut renewed = self.with_nonce(ttl, now, nonce);
        if let Some(page) = &mut renewed.page {
            page.until = until;
            page.notice = None;
        }
        Ok(renewed)
    }

    /// Returns the end of automatic renewal for a page whose user is active now.
    pub(super) fn renews_from(&self, now: Timestamp) -> Timestamp {
        let until = now + RENEWAL_WINDOW;
        if self.link().is_some() { until.min(self.created_at + self.link_ttl()) } else { until }
    }

    /// Returns true if this is a link that is too old for a new code.
    pub(super) fn is_link_expired(&self, now: Timestamp) -> bool {
        self.link().is_some() && now.duration_since(self.created_at) >= self.link_ttl()
    }

    /// Returns true if this is a link that adds the first key of a user.
    #[must_use]
    pub fn is_first_key_link(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.terms.first_key)
    }

    fn link_ttl(&self) -> SignedDuration {
        if self.is_first_key_link() { FIRST_KEY_TTL } else { LINK_TTL }
    }

    /// Returns the time, or the end of [`FIRST_KEY_TTL`] if this is earlier and the link adds the first key of a user.
    pub(super) fn limit_expiry(&self, at: Timestamp) -> Timestamp {
        if self.is_first_key_link() { at.min(self.created_at + FIRST_KEY_TTL) } else { at }
    }

    /// Returns true if a key has answered the link, without a confirmation of the page's owner.
    #[must_use]
    pub fn waits_for_confirmation(&self) -> bool {
        let is_answered = matches!(self.state, SessionState::AnsweredOnPage { .. });
        is_answered && self.link().is_some_and(|link| link.confirmed_at.is_none())
    }
}

/// Checks that the columns of a session's page agree with its other columns: a session that is read without its page or
/// with another user would be answered by the wrong rules.
pub(super) fn check_page(session: &Session) -> Result<()> {
    let is_page = session.page.is_some();
    if is_page != (session.options.flow == Flow::Page) {
        bail!("sessions: flow and page_until contradict each other");
    }
    if is_page && session.hosted_url.is_none() {
        bail!("sessions: flow and hosted_url contradict each other");
    }
    if (session.challenge.mode == Mode::Link) != session.link().is_some() {
        bail!("sessions: challenge and link_user contradict each other");
    }
    if session.required_user().is_some() && (session.challenge.mode != Mode::Login || session.belongs_to_login_host()) {
        bail!("sessions: page_terms name a user of a session that is no login at a site");
    }
    if session.is_first_key_link() && session.link().is_none_or(|link| link.credential.is_some()) {
        bail!("sessions: page_terms and link_credential contradict each other");
    }
    let must_be_bound = session.account.environment == Environment::Live && !session.belongs_to_login_host();
    if is_page && must_be_bound && session.options.browser_hash.is_none() {
        bail!("sessions: flow, environment and browser_hash contradict each other");
    }
    match session.state {
        SessionState::Answered { .. } if is_page => bail!("sessions: flow and completion contradict each other"),
        SessionState::AnsweredOnPage { .. } if !is_page => bail!("sessions: flow and answer contradict each other"),
        SessionState::Pending if session.link().is_some_and(|link| link.confirmed_at.is_some()) => {
            bail!("sessions: answer and link_confirmed_at contradict each other")
        }
        SessionState::Pending if session.page.as_ref().is_some_and(|page| page.offer.exists()) => {
            bail!("sessions: answer and passkey_offer contradict each other")
        }
        _ => Ok(()),
    }
}
