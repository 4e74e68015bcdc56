//! Why an answer was refused, for the page that waits for one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use signpost_auth::DomainName;

/// Why an answer was refused, for the page that waits for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Notice {
    #[serde(flatten)]
    pub reason: NoticeReason,
    pub at: Timestamp,
}

/// Why an answer was refused whose signature was good, or a passkey that was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NoticeReason {
    /// The number was wrong or missing; with no try left the session is cancelled.
    ConfirmCode {
        /// How many more answers may be wrong about it.
        tries_left: i64,
    },
    /// It was signed for another host: the person scanned an altered code.
    Host,
    /// The wallet's clock is off.
    Clock {
        /// How far it is ahead, in seconds; negative where it is behind.
        seconds_off: i64,
    },
    /// It was for a code that was replaced meanwhile.
    Replaced,
    /// No account has the key: the session is for creating one now, with the code that the page shows since.
    UnknownKey,
    /// No account has the key, and none may be created.
    Closed,
    /// An account has the key that was to create one.
    KeyKnown,
    /// An account has the key that was to be linked: the person's own, or another.
    KeyTaken,
    /// The user to whom a key was to be linked has as many as there may be.
    TooManyKeys,
    /// No account has the passkey.
    UnknownPasskey,
    /// The passkey is of another domain's account.
    OtherSite {
        /// That domain.
        domain: DomainName,
    },
    /// What the browser sent is no proof of a passkey.
    PasskeyRefused,
}

impl NoticeReason {
    /// The reason at a time.
    #[must_use]
    pub fn at(self, at: Timestamp) -> Notice {
        Notice { reason: self, at }
    }
}
