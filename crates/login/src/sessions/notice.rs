//! Notices on a login page that explain why an answer was refused.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use signpost_auth::DomainName;

/// The last refused answer, as the page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Notice {
    #[serde(flatten)]
    pub reason: NoticeReason,
    pub at: Timestamp,
}

/// The reason why a correctly signed answer or a passkey was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NoticeReason {
    /// The number was wrong or missing. When no try is left, the session is cancelled.
    ConfirmCode {
        /// The number of wrong answers that are left.
        tries_left: i64,
    },
    /// The login is for one user, and the key belongs to another user or to none. When no try is left, the session is
    /// cancelled.
    OtherUser {
        /// The number of refused answers that are left.
        tries_left: i64,
    },
    /// The answer was signed for another host: the user scanned an altered code.
    Host,
    /// The clock of the wallet is wrong.
    Clock {
        /// Seconds by which the clock is ahead; negative if it is behind.
        seconds_off: i64,
    },
    /// The answer was for a code that had been replaced.
    Replaced,
    /// No account has the key. The session now has a new code for a registration.
    UnknownKey,
    /// No account has the key, and registration is closed.
    Closed,
    /// The key was used for a registration, but already has an account.
    KeyKnown,
    /// The key was to be linked, but belongs to an account already, possibly to the user's own.
    KeyTaken,
    /// The user has the maximum number of credentials.
    TooManyKeys,
    /// No account has the passkey.
    UnknownPasskey,
    /// The passkey belongs to an account of another domain.
    OtherSite {
        /// The domain of that account.
        domain: DomainName,
    },
    /// The response of the browser is not a valid proof of a passkey.
    PasskeyRefused,
}

impl NoticeReason {
    /// Returns the notice for an answer that was refused at this time.
    #[must_use]
    pub fn at(self, at: Timestamp) -> Notice {
        Notice { reason: self, at }
    }
}
