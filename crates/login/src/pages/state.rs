//! The states of a login page. Pure; the table is in `docs/login-page.md`.

use jiff::{SignedDuration, Timestamp};
use signpost_auth::Mode;

use crate::domains::LoginMethod;
use crate::sessions::{KeyEvidence, NoticeReason, PasskeyOffer, Session, SessionState};

/// A refusal that is younger than this when its code is replaced stands above the next code too: it would be gone before
/// anybody has read it.
const NOTICE_STAYS: SignedDuration = SignedDuration::from_secs(30);

/// How many digits of a key its owner is shown.
const SHOWN_DIGITS: usize = 8;

/// Where a login stands, for the browser that owns its page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PageState {
    /// A code waits for its answer.
    Waiting,
    /// The same, and a wallet whose key no account has just answered: the code creates an account.
    Create,
    /// The same, and an answer was refused.
    Refused(Refusal),
    /// A key that is to be added to an account answered, and the page's owner has not said whether it is theirs.
    Link(LinkedKey),
    /// A wallet or a passkey answered, and the browser goes back with the completion code.
    Done {
        /// Whether the page offers a passkey first.
        offers_passkey: bool,
    },
    /// The browser was back at the site.
    LoggedIn,
    /// Nobody answered. For a while the person can have another code.
    Expired {
        /// Whether that is so still.
        is_renewable: bool,
    },
    /// The last try of number matching was wrong.
    TriedTooOften,
    /// The person or the site cancelled.
    Cancelled,
}

/// Why an answer was refused, of the reasons that leave the page with a code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Refusal {
    /// The number was wrong, and so many answers may still be.
    Number { tries_left: i64 },
    /// It was signed for another host.
    Host,
    /// The wallet's clock is so many seconds off, to either side.
    Clock { seconds_off: i64 },
    /// It answered the code before.
    Replaced,
    /// No account has the key, and none may be created.
    Closed,
    /// An account has the key that was to create one.
    KeyKnown,
    /// An account has the key that was to be added to another.
    KeyTaken,
    /// The account to which a key was to be added has as many as there may be.
    TooManyKeys,
    /// The passkey is of another site that people log in to here.
    OtherSite { domain: String },
    /// Nobody has the passkey.
    UnknownPasskey,
    /// The passkey's answer was not good.
    Passkey,
}

/// A key that is to be added to an account, as its owner can tell it from others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LinkedKey {
    pub(crate) is_lightning: bool,
    /// In hexadecimal digits.
    pub(crate) public_key: String,
}

impl PageState {
    /// The state of a session at a time.
    pub(crate) fn of(session: &Session, now: Timestamp) -> Self {
        match &session.state {
            SessionState::Authenticated { .. } => return Self::LoggedIn,
            SessionState::Cancelled { .. } => {
                let is_tried = matches!(
                    session.notice().map(|notice| &notice.reason),
                    Some(NoticeReason::ConfirmCode { tries_left: 0 })
                );
                return if is_tried { Self::TriedTooOften } else { Self::Cancelled };
            }
            _ if now >= session.expires_at => {
                let is_renewable = !session.is_answered() && session.is_refreshable(now);
                return Self::Expired { is_renewable };
            }
            SessionState::AnsweredOnPage { evidence } if session.waits_for_confirmation() => {
                return Self::Link(LinkedKey::of(evidence));
            }
            _ if session.is_answered() => return Self::Done { offers_passkey: *session.offer() == PasskeyOffer::Open },
            _ => {}
        }
        let stays_until = |at: Timestamp| at + NOTICE_STAYS;
        let shown = session.notice().filter(|notice| {
            notice.reason == NoticeReason::UnknownKey
                || stays_until(notice.at).as_second() >= session.challenge.issued_at
        });
        let Some(shown) = shown else { return Self::Waiting };
        Self::Refused(match &shown.reason {
            NoticeReason::UnknownKey if session.challenge.mode == Mode::Register => return Self::Create,
            NoticeReason::UnknownKey => return Self::Waiting,
            NoticeReason::ConfirmCode { tries_left } => Refusal::Number { tries_left: *tries_left },
            NoticeReason::Host => Refusal::Host,
            NoticeReason::Clock { seconds_off } => Refusal::Clock { seconds_off: *seconds_off },
            NoticeReason::Replaced => Refusal::Replaced,
            NoticeReason::Closed => Refusal::Closed,
            NoticeReason::KeyKnown => Refusal::KeyKnown,
            NoticeReason::KeyTaken => Refusal::KeyTaken,
            NoticeReason::TooManyKeys => Refusal::TooManyKeys,
            NoticeReason::OtherSite { domain } => Refusal::OtherSite { domain: domain.to_string() },
            NoticeReason::UnknownPasskey => Refusal::UnknownPasskey,
            NoticeReason::PasskeyRefused => Refusal::Passkey,
        })
    }

    /// The word in `data-state`.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Create => "create",
            Self::Refused(_) | Self::TriedTooOften => "refused",
            Self::Link(_) => "link",
            Self::Done { .. } | Self::LoggedIn => "done",
            Self::Expired { .. } => "expired",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the page has a code.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Waiting | Self::Create | Self::Refused(_))
    }

    /// Whether nothing follows that a page would have to be told of.
    pub(crate) fn is_last(&self) -> bool {
        matches!(
            self,
            Self::Done { .. }
                | Self::LoggedIn
                | Self::TriedTooOften
                | Self::Cancelled
                | Self::Expired { is_renewable: false }
        )
    }
}

impl LinkedKey {
    pub(crate) fn of(evidence: &KeyEvidence) -> Self {
        let public_key = evidence.public_key.to_lowercase();
        Self { is_lightning: evidence.method == LoginMethod::Lightning, public_key }
    }

    /// The last of its digits.
    pub(crate) fn ending(&self) -> &str {
        let from = self.public_key.len().saturating_sub(SHOWN_DIGITS);
        self.public_key.get(from..).unwrap_or_default()
    }
}
