//! Determines the state of a login page from its session. This module is pure; `docs/login-page.md`
//! has a table of the states.

use jiff::{SignedDuration, Timestamp};
use signpost_auth::Mode;

use crate::domains::LoginMethod;
use crate::sessions::{KeyProof, NoticeReason, PasskeyOffer, Session, SessionState};

/// Minimum display time of a refusal: a younger refusal remains above the next code when its code is replaced.
const MIN_NOTICE_TIME: SignedDuration = SignedDuration::from_secs(30);

/// Number of digits of a key that are shown.
const SHOWN_DIGITS: usize = 8;

/// The state of a login, for the browser that owns its page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PageState {
    /// The code has not been answered.
    Waiting,
    /// A wallet with an unknown key answered, and the new code creates an account.
    Create,
    /// An answer was refused, and the page has a code.
    Refused(Refusal),
    /// A key that is to be added to an account answered, and the user has not confirmed it.
    Link(LinkedKey),
    /// A wallet or a passkey answered, and the browser returns with the completion code.
    Done {
        /// Whether the page offers a passkey first.
        offers_passkey: bool,
    },
    /// The site has completed the login.
    LoggedIn,
    /// The code expired without an answer.
    Expired {
        /// Whether the user can still request another code.
        is_renewable: bool,
    },
    /// The last try was refused: a wrong number, or a key of another user.
    TriedTooOften,
    /// The user or the site cancelled the session.
    Cancelled,
}

/// The reason why an answer was refused, if the page still has a code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Refusal {
    /// The confirmation number was wrong; `tries_left` attempts remain.
    Number { tries_left: i64 },
    /// The login is for one user, and the key is not of this user; `tries_left` attempts remain.
    OtherUser { tries_left: i64 },
    /// The answer was signed for another host.
    Host,
    /// The wallet's clock is wrong by this number of seconds; negative if it is behind.
    Clock { seconds_off: i64 },
    /// The previous code was answered.
    Replaced,
    /// The key is unknown, and registration is closed.
    Closed,
    /// The key for a registration belongs to an account.
    KeyKnown,
    /// The key to be added belongs to another account.
    KeyTaken,
    /// The account has the maximum number of keys.
    TooManyKeys,
    /// The passkey belongs to another domain of this server.
    OtherSite { domain: String },
    /// No user has the passkey.
    UnknownPasskey,
    /// The response of the passkey is invalid.
    Passkey,
}

/// A key that is to be added to an account, as the page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LinkedKey {
    pub(crate) is_lightning: bool,
    /// The public key in hexadecimal digits.
    pub(crate) public_key: String,
}

impl PageState {
    /// Returns the state of a session at a time.
    pub(crate) fn from_session(session: &Session, now: Timestamp) -> Self {
        match &session.state {
            SessionState::Authenticated { .. } => return Self::LoggedIn,
            SessionState::Cancelled { .. } => {
                let is_tried = matches!(
                    session.notice().map(|notice| &notice.reason),
                    Some(NoticeReason::ConfirmCode { tries_left: 0 } | NoticeReason::OtherUser { tries_left: 0 })
                );
                return if is_tried { Self::TriedTooOften } else { Self::Cancelled };
            }
            _ if now >= session.expires_at => {
                let is_renewable = !session.is_answered() && session.is_refreshable(now);
                return Self::Expired { is_renewable };
            }
            SessionState::AnsweredOnPage { proof } if session.waits_for_confirmation() => {
                return Self::Link(LinkedKey::from_proof(proof));
            }
            _ if session.is_answered() => return Self::Done { offers_passkey: *session.offer() == PasskeyOffer::Open },
            _ => {}
        }
        let Some(notice) = session.notice() else { return Self::Waiting };
        let shown_until = notice.at + MIN_NOTICE_TIME;
        if notice.reason != NoticeReason::UnknownKey && shown_until.as_second() < session.challenge.issued_at {
            return Self::Waiting;
        }
        Self::Refused(match &notice.reason {
            NoticeReason::UnknownKey if session.challenge.mode == Mode::Register => return Self::Create,
            NoticeReason::UnknownKey => return Self::Waiting,
            NoticeReason::ConfirmCode { tries_left } => Refusal::Number { tries_left: *tries_left },
            NoticeReason::OtherUser { tries_left } => Refusal::OtherUser { tries_left: *tries_left },
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

    /// Returns the word in `data-state`.
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

    /// Returns true if the page has a code.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Waiting | Self::Create | Self::Refused(_))
    }

    /// Returns true if the state is final.
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
    pub(crate) fn from_proof(proof: &KeyProof) -> Self {
        let public_key = proof.public_key.to_lowercase();
        Self { is_lightning: proof.method == LoginMethod::Lightning, public_key }
    }

    /// Returns the last digits of the key.
    pub(crate) fn ending(&self) -> &str {
        let from = self.public_key.len().saturating_sub(SHOWN_DIGITS);
        self.public_key.get(from..).unwrap_or_default()
    }
}
