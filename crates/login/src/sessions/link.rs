//! Linking: another key joins the account of somebody who is logged in. The session says whose account it is; the key
//! joins it once the owner of the page said that it is theirs.

use std::time::Duration;

use anyhow::{Result, bail};
use jiff::{SignedDuration, Timestamp};
use signpost_auth::Mode;
use signpost_platform::accounts::Environment;

use super::{AnswerRefusal, Flow, RENEWAL_WINDOW, Session, SessionState};
use crate::ids::{CredentialId, UserId};

/// How long ago the user of a link may have logged in.
pub const RECENT_LOGIN: SignedDuration = SignedDuration::from_mins(5);

/// How long after its creation a link has new codes. What its user proved before it was opened is not good for days, however
/// often somebody asks for another code.
pub const LINK_LASTS: SignedDuration = SignedDuration::from_mins(30);

/// How long the owner of a page has to decide, after an answer: whether a key is theirs, or whether they want a passkey.
pub const DECISION_WINDOW: SignedDuration = SignedDuration::from_mins(5);

/// Where an answer to a page came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answerer {
    /// From the browser that owns the page.
    Owner,
    /// From anywhere: whoever sees the code can answer it.
    Anybody,
}

/// Whose account a key joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLink {
    /// The user's.
    pub user: UserId,
    /// The credential by which the user was logged in when the link was opened: the link can be completed only as long as
    /// the user has it. `None` for links that an operator created.
    pub credential: Option<CredentialId>,
    /// Since when the owner of the page has said that the key which answered is theirs.
    pub confirmed_at: Option<Timestamp>,
}

impl PageLink {
    /// A link that is not confirmed yet.
    #[must_use]
    pub fn new(user: UserId, credential: Option<CredentialId>) -> Self {
        Self { user, credential, confirmed_at: None }
    }
}

impl Session {
    /// Whose account a key joins, where the session is for that.
    #[must_use]
    pub fn link(&self) -> Option<&PageLink> {
        self.page.as_ref()?.link.as_ref()
    }

    /// The same link, answered, which the owner of the page confirms, or has by answering it.
    #[must_use]
    pub fn await_confirmation(mut self, answerer: Answerer, now: Timestamp) -> Self {
        self.expires_at = self.expires_at.max(now + DECISION_WINDOW);
        if let Some(link) = self.page.as_mut().and_then(|page| page.link.as_mut()) {
            link.confirmed_at = (answerer == Answerer::Owner).then_some(now);
        }
        self
    }

    /// Drops the answer of a key of which the owner of the page says that it is not theirs: another code takes the place
    /// of the one that somebody else answered.
    ///
    /// # Errors
    /// Where there is no such answer, or the session is over.
    pub fn decline_answer(mut self, ttl: Duration, now: Timestamp, nonce: [u8; 16]) -> Result<Self, AnswerRefusal> {
        self.check_pending(now)?;
        if !self.waits_for_confirmation() {
            return Err(AnswerRefusal::UnknownChallenge);
        }
        self.state = SessionState::Pending;
        let (until, ttl) = (self.renews_from(now), if self.is_link_over(now) { Duration::ZERO } else { ttl });
        let mut renewed = self.with_nonce(ttl, now, nonce);
        if let Some(page) = &mut renewed.page {
            page.until = until;
            page.notice = None;
        }
        Ok(renewed)
    }

    /// Until when a page replaces its code by itself whose person is there now.
    pub(super) fn renews_from(&self, now: Timestamp) -> Timestamp {
        let until = now + RENEWAL_WINDOW;
        if self.link().is_some() { until.min(self.created_at + LINK_LASTS) } else { until }
    }

    /// Whether it is a link that was opened too long ago for another code.
    pub(super) fn is_link_over(&self, now: Timestamp) -> bool {
        self.link().is_some() && now.duration_since(self.created_at) >= LINK_LASTS
    }

    /// Whether a key answered of which the owner of the page has not said yet that it is theirs.
    #[must_use]
    pub fn waits_for_confirmation(&self) -> bool {
        let is_answered = matches!(self.state, SessionState::AnsweredOnPage { .. });
        is_answered && self.link().is_some_and(|link| link.confirmed_at.is_none())
    }
}

/// Ends well where the columns of a session's page and the others agree: one that was read as a session without a page,
/// or as one for another user, would be answered by rules that know nothing of its browser.
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
    let must_be_bound = session.account.environment == Environment::Live && !session.is_login_hosts();
    if is_page && must_be_bound && session.options.browser_hash.is_none() {
        bail!("sessions: flow, environment and browser_hash contradict each other");
    }
    match session.state {
        SessionState::Answered { .. } if is_page => bail!("sessions: flow and completion contradict each other"),
        SessionState::AnsweredOnPage { .. } if !is_page => bail!("sessions: flow and answer contradict each other"),
        SessionState::Pending if session.link().is_some_and(|link| link.confirmed_at.is_some()) => {
            bail!("sessions: answer and link_confirmed_at contradict each other")
        }
        SessionState::Pending if session.page.as_ref().is_some_and(|page| page.offer.is_made_to_somebody()) => {
            bail!("sessions: answer and passkey_offer contradict each other")
        }
        _ => Ok(()),
    }
}
