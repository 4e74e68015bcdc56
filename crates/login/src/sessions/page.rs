//! Sessions that are shown on a page of the service: one browser owns the page, its code is replaced as time goes by, and
//! nothing is known at the site before that browser is back there.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use jiff::{SignedDuration, Timestamp};
use sha2::Sha256;
use signpost_auth::{Challenge, K1, Mode, Nonce};
use signpost_platform::accounts::Environment;
use url::Url;

use super::{
    AnswerRefusal, CompletionCode, CompletionHash, ConfirmCode, Notice, NoticeReason, PageLink, PageTerms,
    PasskeyOffer, Session, SessionState,
};
use crate::domains::{Domain, Registration};
use crate::ids::SessionId;
use signpost_platform::pages::cookie::{CookieHash, CookieName, CookieSecret};

/// Which browser it is that owns a page. It names no person, and is the same for all pages that the browser comes to.
pub const PAGE_COOKIE: CookieName = CookieName::new("signpost_page");

/// How long a browser keeps it, from the last page that it came to.
pub const PAGE_COOKIE_LASTS: Duration = Duration::from_hours(30 * 24);

/// The longest that one code stays on a page: a person watches it, and whoever copied it has no longer to find a victim.
pub const MAX_PAGE_CODE_LIFE: Duration = Duration::from_mins(2);

/// For how long a page replaces its code by itself, from the creation on and from each press of its button on.
pub const RENEWAL_WINDOW: SignedDuration = SignedDuration::from_mins(15);

/// A code is replaced when a twentieth of its life is left: six seconds of the longest.
const RENEWED_BEFORE_END: i32 = 20;

/// Where the part of a session's id begins that its LNURL names: the last 12 of 41 characters, 56 random bits.
const LNURL_SUFFIX_AT: usize = 29;

/// What a session has that is shown on a page of the service.
#[derive(Clone, Debug)]
pub struct SessionPage {
    /// Until when the page replaces its code by itself.
    pub until: Timestamp,
    /// What the creation asked for.
    pub terms: PageTerms,
    /// The first browser that came.
    pub owner: Option<PageOwner>,
    /// The challenge before the current one: who signs that is told what happened.
    pub replaced: Option<Challenge>,
    /// Why an answer was refused last.
    pub notice: Option<Notice>,
    /// Whose account a key joins, where the session is for that.
    pub link: Option<PageLink>,
    /// What became of the offer of a passkey.
    pub offer: PasskeyOffer,
    /// The hash of the secret that makes a browser the owner, for pages whose link an operator hands over.
    pub claim_secret: Option<CookieHash>,
}

/// The browser that owns a page.
#[derive(Clone, Debug)]
pub struct PageOwner {
    /// Its cookie.
    pub cookie: CookieHash,
    /// The completion code that it brings back to the site.
    pub code: CompletionHash,
}

/// Who asks for a new code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// The page, because its code is about to end.
    Automatic,
    /// The person, who is still there after the page stopped.
    ByHand,
}

/// What a proven key leads to on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyVerdict {
    /// It answers the session.
    Accept,
    /// Nobody has it: the page asks whether to create an account.
    AskToRegister,
    /// It is refused for this reason.
    Refuse(NoticeReason),
}

/// What a page draws when the mode of its session changes.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SwitchEntropy {
    pub nonce: [u8; 16],
    pub number: [u8; 8],
}

/// What the person brings back to the site.
#[derive(Clone, Copy, Debug)]
pub enum ReturnOutcome<'a> {
    /// They logged in.
    Code(&'a CompletionCode),
    /// They cancelled.
    AccessDenied,
    /// They did nothing in time.
    Expired,
}

impl SessionPage {
    /// The page of a session that is opened now.
    #[must_use]
    pub fn new(terms: PageTerms, link: Option<PageLink>, now: Timestamp) -> Self {
        Self {
            until: now + RENEWAL_WINDOW,
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
    /// The browser with this cookie, as the owner of a session's page.
    #[must_use]
    pub fn new(cookie: &CookieSecret, id: &SessionId) -> Self {
        Self { cookie: cookie.hash(), code: Session::page_code_for(cookie, id).hash() }
    }
}

impl Session {
    /// The same session, whose page the browser with this cookie owns.
    #[must_use]
    pub fn owned_by(mut self, cookie: &CookieSecret) -> Self {
        let owner = PageOwner::new(cookie, &self.id);
        if let Some(page) = &mut self.page {
            page.owner = Some(owner);
        }
        self
    }

    /// Returns the session with a page that belongs to the first browser that sends this secret.
    #[must_use]
    pub fn with_claim_secret(mut self, secret: &CookieSecret) -> Self {
        if let Some(page) = &mut self.page {
            page.claim_secret = Some(secret.hash());
        }
        self
    }

    /// Returns whether the page has no owner, and gets one only by a secret. This is the case for account pages whose link an
    /// operator hands over; all others of the account have an owner from the start.
    #[must_use]
    pub fn needs_claim_secret(&self) -> bool {
        self.page_owner().is_none() && self.is_for_account()
    }

    /// Returns whether this secret makes a browser the owner of the page, in constant time.
    #[must_use]
    pub fn accepts_claim_secret(&self, secret: &CookieSecret) -> bool {
        let expected = self.page.as_ref().and_then(|page| page.claim_secret.as_ref());
        expected.is_some_and(|expected| expected.matches(&secret.hash()))
    }

    /// The browser that owns the page, once one does.
    #[must_use]
    pub fn page_owner(&self) -> Option<&PageOwner> {
        self.page.as_ref()?.owner.as_ref()
    }

    /// Whether a browser with this cookie owns the page; takes the same time wherever the cookies differ.
    #[must_use]
    pub fn is_owned_by(&self, cookie: &CookieHash) -> bool {
        self.page_owner().is_some_and(|owner| owner.cookie.matches(cookie))
    }

    /// Why an answer was refused last, to this code or the one before.
    #[must_use]
    pub fn notice(&self) -> Option<&Notice> {
        self.page.as_ref()?.notice.as_ref()
    }

    /// Until when the page replaces its code by itself.
    #[must_use]
    pub fn renews_until(&self) -> Option<Timestamp> {
        Some(self.page.as_ref()?.until)
    }

    /// The code with which this browser, and no other, completes the login at the site. It follows from the cookie, so
    /// that two tabs and a reload have the same one, and nothing in the database can be turned into it.
    ///
    /// # Panics
    /// Never: HMAC takes keys of any length.
    #[must_use]
    pub fn page_code_for(cookie: &CookieSecret, id: &SessionId) -> CompletionCode {
        let mac = Hmac::<Sha256>::new_from_slice(cookie.reveal().as_bytes()).expect("HMAC takes keys of any length");
        let mac = mac.chain_update("signpost completion ").chain_update(id.as_str());
        let mut code = [0; 16];
        code.copy_from_slice(&mac.finalize().into_bytes()[..16]);
        CompletionCode::new(code)
    }

    /// Whether an account may be created by this session: where registration is open, or the integrator said so. The
    /// account that a person looks at is there already; who logs in to go on elsewhere may have none yet.
    #[must_use]
    pub fn may_register(&self, domain: &Domain) -> bool {
        if self.challenge.mode == Mode::Link || (self.is_for_account() && self.metadata.is_none()) {
            return false;
        }
        // Of a client's request everybody could say that it is for that.
        let was_opened_for_it =
            !self.is_for_client() && self.page.as_ref().is_none_or(|page| page.terms.mode == Mode::Register);
        was_opened_for_it || domain.registration == Registration::Open
    }

    /// What a proven key leads to, that of somebody with an account or of nobody. A login never becomes an account by
    /// itself, nor the other way round: the person sees first what they are about to do.
    #[must_use]
    pub fn judge_key(&self, domain: &Domain, is_known: bool) -> KeyVerdict {
        match (self.challenge.mode, is_known) {
            (Mode::Link, true) => KeyVerdict::Refuse(NoticeReason::KeyTaken),
            (Mode::Link, false) => KeyVerdict::Accept,
            (Mode::Register, true) => KeyVerdict::Refuse(NoticeReason::KeyKnown),
            (_, false) if !self.may_register(domain) => KeyVerdict::Refuse(NoticeReason::Closed),
            (Mode::Login, false) => KeyVerdict::AskToRegister,
            (Mode::Login, true) | (Mode::Register, false) => KeyVerdict::Accept,
        }
    }

    /// Where the browser is sent: the session's `return_url` with what it brings back.
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

    /// Where the site sends the browser.
    #[must_use]
    pub fn page_url(&self, public_address: &str) -> Option<String> {
        self.page.as_ref()?;
        let prefix = match self.account.environment {
            Environment::Live => "",
            Environment::Sandbox => "/sandbox",
        };
        Some(format!("{public_address}{prefix}/login/{}", self.id))
    }

    /// Where a Lightning wallet sends its answer (LUD-04), where one may answer.
    #[must_use]
    pub fn lnurl(&self, public_address: &str) -> Option<String> {
        self.page.as_ref().filter(|page| !page.terms.confirm)?;
        let Challenge { mode, .. } = &self.challenge;
        let (suffix, k1) = (&self.id.as_str()[LNURL_SUFFIX_AT..], K1::of(&self.challenge));
        Some(format!("{public_address}/lnurl/{suffix}?tag=login&k1={k1}&action={mode}"))
    }

    /// Whether the page should replace its code now: it is about to end, nobody has answered, and there is time left in
    /// which that happens by itself.
    #[must_use]
    pub fn is_renewal_due(&self, now: Timestamp) -> bool {
        let is_open = self.state == SessionState::Pending && self.renews_until().is_some_and(|until| now < until);
        is_open && now >= self.renewal_at()
    }

    /// When the page replaces its code.
    #[must_use]
    pub fn renewal_at(&self) -> Timestamp {
        let issued_at = Timestamp::from_second(self.challenge.issued_at).unwrap_or(self.created_at);
        self.expires_at - self.expires_at.duration_since(issued_at) / RENEWED_BEFORE_END
    }

    /// Replaces the code, for the page that shows it. The mode, the number and the tries stay.
    ///
    /// # Errors
    /// As [`Session::refresh`].
    pub fn renew(
        self,
        renewal: Renewal,
        ttl: Duration,
        now: Timestamp,
        nonce: [u8; 16],
    ) -> Result<Self, AnswerRefusal> {
        let until = self.renews_from(now);
        let mut renewed = self.refresh(ttl, now, nonce)?;
        if let (Some(page), Renewal::ByHand) = (&mut renewed.page, renewal) {
            page.until = until;
            page.notice = None;
        }
        Ok(renewed)
    }

    /// Turns a login into the creation of an account, or back, with a new code and a new number for wallets that post to
    /// `hosted_url`. The tries stay: nobody gets more of them by going back and forth. Without a `notice` the person wants it.
    ///
    /// # Errors
    /// As [`Session::refresh`].
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
            let is_wanted = notice.is_none();
            page.notice = notice;
            if is_wanted {
                // The person said so, and not a wallet: they are there, as after a new code by hand.
                page.until = now + RENEWAL_WINDOW;
            }
        }
        Ok(switched)
    }

    /// The same session with another challenge; a page remembers the one before.
    pub(super) fn with_nonce(self, ttl: Duration, now: Timestamp, nonce: [u8; 16]) -> Self {
        let challenge = Challenge { issued_at: now.as_second(), nonce: Nonce(nonce), ..self.challenge.clone() };
        let expires_at = now + self.code_life(ttl);
        let replaced = self.challenge;
        let page = self.page.map(|page| Box::new(SessionPage { replaced: Some(replaced), ..*page }));
        Self { challenge, expires_at, page, ..self }
    }

    /// How long a code is good, where others' are good for `ttl`.
    fn code_life(&self, ttl: Duration) -> Duration {
        if self.page.is_some() { ttl.min(MAX_PAGE_CODE_LIFE) } else { ttl }
    }
}
