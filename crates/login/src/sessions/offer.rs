//! The offer to create a passkey after a login by wallet.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use signpost_auth::{PasskeyHandle, PasskeyId};

use super::{DECISION_WINDOW, Session};
use crate::users::Username;

/// The state of the offer to create a passkey.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "offer", rename_all = "snake_case")]
pub enum PasskeyOffer {
    /// No passkey was offered.
    #[default]
    NotMade,
    /// The page offers a passkey.
    Open,
    /// The user declined the offer.
    Declined,
    /// The user created a passkey. It is stored when the login is completed.
    Made(Box<OfferedPasskey>),
}

/// A passkey that was created after the answer of a wallet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedPasskey {
    /// The `SubjectPublicKeyInfo` in lower-case hex.
    pub public_key: String,
    /// The credential ID.
    pub id: PasskeyId,
    /// The last signature counter.
    pub sign_count: u32,
    /// The user handle.
    pub handle: PasskeyHandle,
    /// The name that the authenticator shows, for passkeys of new users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub petname: Option<Username>,
}

impl PasskeyOffer {
    /// Returns true if there is an offer, in any state.
    pub(super) fn exists(&self) -> bool {
        *self != Self::NotMade
    }
}

impl Session {
    /// Offers a passkey to the user of the answered session.
    #[must_use]
    pub fn offer_passkey(mut self, now: Timestamp) -> Self {
        self.expires_at = self.expires_at.max(now + DECISION_WINDOW);
        if let Some(page) = &mut self.page {
            page.offer = PasskeyOffer::Open;
        }
        self
    }

    /// Returns the state of the offer of a passkey.
    #[must_use]
    pub fn offer(&self) -> &PasskeyOffer {
        self.page.as_ref().map_or(&PasskeyOffer::NotMade, |page| &page.offer)
    }
}
