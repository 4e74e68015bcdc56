//! Sessions that are shown on a page of the service. A single browser owns the page, the code is
//! renewed automatically, and the site is notified when the owning browser returns to it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use signpost_auth::{Challenge, K1, Mode, Nonce};
use signpost_platform::accounts::Environment;
use url::Url;

use super::{
    AnswerRefusal, CompletionCode, CompletionHash, ConfirmCode, FIRST_KEY_TTL, Notice, NoticeReason, PageLink,
    PageTerms, PasskeyOffer, Session, SessionState,
};
use crate::domains::{Domain, Registration};
use crate::ids::{SessionId, UserId};
use signpost_platform::pages::cookie::{CookieHash, CookieName, CookieSecret};

/// Name of the cookie of the browser that owns a page. It identifies no user, and is shared by all pages.
pub const PAGE_COOKIE: CookieName = CookieName::new("signpost_page");

/// Lifetime of the page cookie after the last page.
pub const PAGE_COOKIE_MAX_AGE: Duration = Duration::from_hours(30 * 24);

/// Maximum lifetime of a code on a page. It limits the time that an attacker who copied the code has to find a victim.
pub const MAX_PAGE_CODE_LIFE: Duration = Duration::from_mins(2);

/// Time after its creation, and after each renewal by hand, in which a page renews its code automatically.
pub const RENEWAL_WINDOW: SignedDuration = SignedDuration::from_mins(15);

/// Divisor of a code's lifetime. The code is renewed when this fraction of its lifetime remains, at
/// most six seconds.
const RENEWED_BEFORE_END: i32 = 20;

/// Offset of the LNURL suffix in a session ID. The suffix is the last 12 of 41 characters (56
/// random bits).
const LNURL_SUFFIX_AT: usize = 29;

/// The properties of a session that is shown on a page of the service.
#[derive(Clone, Debug)]
pub struct SessionPage {
    /// The end of automatic renewal.
    pub until: Timestamp,
    /// The terms of the creation request.
    pub terms: PageTerms,
    /// The first browser that opened the page.
    pub owner: Option<PageOwner>,
    /// The previous challenge. A wallet that answers it gets a specific error.
    pub replaced: Option<Challenge>,
    /// The last refused answer.
    pub notice: Option<Notice>,
    /// The account that gets a key, for links.
    pub link: Option<PageLink>,
    /// The state of the offer of a passkey.
    pub offer: PasskeyOffer,
    /// The hash of the secret that makes a browser the owner, for pages with a link from an operator.
    pub claim_secret: Option<CookieHash>,
}

/// The browser that owns a page.
#[derive(Clone, Debug)]
pub struct PageOwner {
    /// The hash of the browser's page cookie.
    pub cookie: CookieHash,
    /// The hash of the browser's completion code.
    pub code: CompletionHash,
}

/// The cause of the renewal of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// The code is about to expire.
    Automatic,
    /// The user asked for a new code.
    ByHand,
}

/// The decision about a verified key on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyDecision {
    /// The key answers the session.
    Accept,
    /// No user has the key: the page offers to create an account.
    OfferRegistration,
    /// The key is refused for this reason.
    Refuse(NoticeReason),
    /// The key is refused, because the login is for one user, and the key belongs to another user or to none. It counts
    /// as a try.
    RefuseUser,
}

/// The random bytes that a change of the mode needs.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct SwitchEntropy {
    pub nonce: [u8; 16],
    pub number: [u8; 8],
}

/// The outcome of a login, as the return URL reports it.
#[derive(Clone, Copy, Debug)]
pub enum ReturnOutcome<'a> {
    /// The user logged in.
    Code(&'a CompletionCode),
    /// The user cancelled.
    AccessDenied,
    /// The session expired.
    Expired,
}

impl SessionPage {
    /// Creates the page of a new session.
    #[must_use]
    pub fn new(terms: PageTerms, link: Option<PageLink>, now: Timestamp) -> Self {
        let window = if terms.first_key { FIRST_KEY_TTL } else { RENEWAL_WINDOW };
        Self {
            until: now + window,
            terms,
            owner: None,
            replaced: None,
            notice: None,
            link,
            offer: PasskeyOffer::NotMade,
            claim_secret: None,
        }
    }
}

impl PageOwner {
    /// Returns the browser with this cookie as the owner of the session's page.
    #[must_use]
    pub fn new(cookie: &CookieSecret, id: &SessionId) -> Self {
        Self { cookie: cookie.hash(), code: Session::page_code_for(cookie, id).hash() }
    }
}

impl Session {
    /// Makes the browser with this cookie the owner of the page.
    #[must_use]
    pub fn with_owner(mut self, cookie: &CookieSecret) -> Self {
        let owner = PageOwner::new(cookie, &self.id);
        if let Some(page) = &mut self.page {
            page.owner = Some(owner);
        }
        self
    }

    /// Makes the first browser that sends this secret the owner of the page.
    #[must_use]
    pub fn with_claim_secret(mut self, secret: &CookieSecret) -> Self {
        if let Some(page) = &mut self.page {
            page.claim_secret = Some(secret.hash());
        }
        self
    }

    /// Returns true if the page has no owner, and only a secret assigns an owner. This is the case for account pages
    /// with a link from an operator; all other account pages have an owner from the start.
    #[must_use]
    pub fn needs_claim_secret(&self) -> bool {
        self.page_owner().is_none() && self.is_for_account()
    }

    /// Returns true if this secret makes a browser the owner of the page, in constant time.
    #[must_use]
    pub fn accepts_claim_secret(&self, secret: &CookieSecret) -> bool {
        let expected = self.page.as_ref().and_then(|page| page.claim_secret.as_ref());
        expected.is_some_and(|expected| expected.matches(&secret.hash()))
    }

    /// Returns the browser that owns the page, if any.
    #[must_use]
    pub fn page_owner(&self) -> Option<&PageOwner> {
        self.page.as_ref()?.owner.as_ref()
    }

    /// Returns true if the browser with this cookie owns the page, in constant time.
    #[must_use]
    pub fn is_owned_by(&self, cookie: &CookieHash) -> bool {
        self.page_owner().is_some_and(|owner| owner.cookie.matches(cookie))
    }

    /// Returns the last refused answer to the current or the previous code.
    #[must_use]
    pub fn notice(&self) -> Option<&Notice> {
        self.page.as_ref()?.notice.as_ref()
    }

    /// Returns the previous challenge, if the code was replaced.
    pub(crate) fn replaced(&self) -> Option<&Challenge> {
        self.page.as_ref()?.replaced.as_ref()
    }

    /// Returns the end of automatic renewal.
    #[must_use]
    pub fn renews_until(&self) -> Option<Timestamp> {
        Some(self.page.as_ref()?.until)
    }

    /// Derives the completion code of the browser with this cookie.
    #[must_use]
    pub fn page_code_for(cookie: &CookieSecret, id: &SessionId) -> CompletionCode {
        let mut code = [0; 16];
        code.copy_from_slice(&cookie.derive("signpost completion ", id.as_str())[..16]);
        CompletionCode::new(code)
    }

    /// Returns true if the session may create an account: if registration is open, or if the integrator created the
    /// session for it. A login at the account pages may create an account only if it continues to another page.
    #[must_use]
    pub fn may_register(&self, domain: &Domain) -> bool {
        if self.required_user().is_some() {
            return false;
        }
        if self.challenge.mode == Mode::Link || (self.is_for_account() && self.metadata.is_none()) {
            return false;
        }
        // The mode of a client's session is from its authorization request, which attackers can send too.
        let was_created_to_register =
            !self.is_for_client() && self.page.as_ref().is_none_or(|page| page.terms.mode == Mode::Register);
        was_created_to_register || domain.registration == Registration::Open
    }

    /// Decides about a verified key. `user` is the user of the domain who has the key. A login never
    /// creates an account without asking the user, and a registration never becomes a login.
    #[must_use]
    pub fn evaluate_key(&self, domain: &Domain, user: Option<&UserId>) -> KeyDecision {
        if !self.accepts_user(user) {
            return KeyDecision::RefuseUser;
        }
        match (self.challenge.mode, user.is_some()) {
            (Mode::Link, true) => KeyDecision::Refuse(NoticeReason::KeyTaken),
            (Mode::Link, false) => KeyDecision::Accept,
            (Mode::Register, true) => KeyDecision::Refuse(NoticeReason::KeyKnown),
            (_, false) if !self.may_register(domain) => KeyDecision::Refuse(NoticeReason::Closed),
            (Mode::Login, false) => KeyDecision::OfferRegistration,
            (Mode::Login, true) | (Mode::Register, false) => KeyDecision::Accept,
        }
    }

    /// Returns the URL of the browser's return: the session's `return_url` with the outcome in its query.
    #[must_use]
    pub fn return_with(&self, outcome: ReturnOutcome<'_>) -> Option<Url> {
        let mut url = self.return_url()?;
        let (name, value) = match outcome {
            ReturnOutcome::Code(code) => ("code", code.reveal()),
            ReturnOutcome::AccessDenied => ("error", "access_denied"),
            ReturnOutcome::Expired => ("error", "expired"),
        };
        url.query_pairs_mut().append_pair("session_id", self.id.as_str()).append_pair(name, value);
        Some(url)
    }

    /// Returns the URL of the page, for the site's redirect.
    #[must_use]
    pub fn page_url(&self, public_address: &str) -> Option<String> {
        self.page.as_ref()?;
        let prefix = match self.account.environment {
            Environment::Live => "",
            Environment::Sandbox => "/sandbox",
        };
        Some(format!("{public_address}{prefix}/login/{}", self.id))
    }

    /// Returns the URL for the answer of a Lightning wallet (LUD-04). `None` if the session does not accept such
    /// wallets.
    #[must_use]
    pub fn lnurl(&self, public_address: &str) -> Option<String> {
        if self.page.as_ref()?.terms.confirm {
            return None;
        }
        let suffix = &self.id.as_str()[LNURL_SUFFIX_AT..];
        let k1 = K1::of(&self.challenge);
        Some(format!("{public_address}/lnurl/{suffix}?tag=login&k1={k1}&action={}", self.challenge.mode))
    }

    /// Returns true if the code must be renewed now: it is about to expire, has no answer, and automatic renewal has
    /// not ended.
    #[must_use]
    pub fn is_renewal_due(&self, now: Timestamp) -> bool {
        let is_open = self.state == SessionState::Pending && self.renews_until().is_some_and(|until| now < until);
        is_open && now >= self.renewal_at()
    }

    /// Returns the time at which the code is renewed.
    #[must_use]
    pub fn renewal_at(&self) -> Timestamp {
        let issued_at = Timestamp::from_second(self.challenge.issued_at).unwrap_or(self.created_at);
        self.expires_at - self.expires_at.duration_since(issued_at) / RENEWED_BEFORE_END
    }

    /// Replaces the code of a page. The mode, the number and the tries are unchanged.
    ///
    /// # Errors
    /// Returns an error if the session was answered or cancelled, or expired too long ago.
    pub fn renew(
        self,
        renewal: Renewal,
        ttl: Duration,
        now: Timestamp,
        nonce: [u8; 16],
    ) -> Result<Self, AnswerRefusal> {
        let until = self.renews_from(now);
        let mut renewed = self.refresh(ttl, now, nonce)?;
        if renewal == Renewal::ByHand
            && let Some(page) = &mut renewed.page
        {
            page.until = until;
            page.notice = None;
        }
        Ok(renewed)
    }

    /// Changes a login into a registration, or back, with a new code and a new number for wallets that post to
    /// `hosted_url`. The number of tries is unchanged. Without a `notice` the user requested the change.
    ///
    /// # Errors
    /// Returns an error if the session was answered or cancelled, or expired too long ago.
    pub fn switch(
        self,
        mode: Mode,
        hosted_url: Url,
        notice: Option<Notice>,
        ttl: Duration,
        now: Timestamp,
        random: SwitchEntropy,
    ) -> Result<Self, AnswerRefusal> {
        let mut switched = self.refresh(ttl, now, random.nonce)?;
        switched.challenge.mode = mode;
        switched.hosted_url = Some(hosted_url);
        switched.confirm_code = switched.confirm_code.map(|_| ConfirmCode::new(random.number));
        if let Some(page) = &mut switched.page {
            if notice.is_none() {
                // The user is at the page, as after a renewal by hand.
                page.until = now + RENEWAL_WINDOW;
            }
            page.notice = notice;
        }
        Ok(switched)
    }

    /// Replaces the challenge. A page stores the previous challenge.
    pub(super) fn with_nonce(self, ttl: Duration, now: Timestamp, nonce: [u8; 16]) -> Self {
        let challenge = Challenge { issued_at: now.as_second(), nonce: Nonce(nonce), ..self.challenge.clone() };
        let ttl = if self.page.is_some() { ttl.min(MAX_PAGE_CODE_LIFE) } else { ttl };
        let expires_at = self.limit_expiry(now + ttl);
        let replaced = self.challenge;
        let page = self.page.map(|page| Box::new(SessionPage { replaced: Some(replaced), ..*page }));
        Self { challenge, expires_at, page, ..self }
    }
}
