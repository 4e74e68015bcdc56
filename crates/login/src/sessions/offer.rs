//! The offer of a passkey for the next time, after a login by wallet.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use signpost_auth::{PasskeyHandle, PasskeyId};

use super::{DECISION_WINDOW, Session};
use crate::users::Petname;

/// What became of the offer of a passkey.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "offer", rename_all = "snake_case")]
pub enum PasskeyOffer {
    /// None is made.
    #[default]
    NotMade,
    /// The page offers it.
    Open,
    /// The person wants none.
    Declined,
    /// The person has one, which is written with the user.
    Made(Box<OfferedPasskey>),
}

/// A passkey that was made beside a wallet's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedPasskey {
    /// Its `SubjectPublicKeyInfo` in lower-case hex.
    pub public_key: String,
    /// What its authenticator calls it.
    pub id: PasskeyId,
    /// How often it signed, as it said last.
    pub sign_count: u32,
    /// How the authenticator knows its user.
    pub handle: PasskeyHandle,
    /// The name that stands beside it, of somebody who was no user yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub petname: Option<Petname>,
}

impl PasskeyOffer {
    /// Whether there is one, whatever became of it.
    pub(super) fn is_made_to_somebody(&self) -> bool {
        *self != Self::NotMade
    }
}

impl Session {
    /// The same session, answered, whose page offers a passkey for the next time.
    #[must_use]
    pub fn offer_passkey(mut self, now: Timestamp) -> Self {
        self.expires_at = self.expires_at.max(now + DECISION_WINDOW);
        if let Some(page) = &mut self.page {
            page.offer = PasskeyOffer::Open;
        }
        self
    }

    /// What became of the offer of a passkey.
    #[must_use]
    pub fn offer(&self) -> &PasskeyOffer {
        self.page.as_ref().map_or(&PasskeyOffer::NotMade, |page| &page.offer)
    }
}
