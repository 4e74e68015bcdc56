//! A phone with a wallet that scans and answers sessions.

use serde_json::{Value, json};
use signpost_auth::{DeviceInfo, QrData, Wallet};
use signpost_platform::clock::Clock;

use super::text;

#[derive(Debug)]
pub(crate) struct Phone {
    pub(crate) wallet: Wallet,
    clock: Clock,
}

impl Phone {
    /// Creates a phone whose secret key consists of this byte (1 or more).
    pub(crate) fn of(user_number: u8, clock: &Clock) -> Self {
        Self { wallet: Wallet::from_bytes([user_number; 32]).expect("a secret key"), clock: clock.clone() }
    }

    pub(crate) fn public_key(&self) -> String {
        self.wallet.public_key().canonical()
    }

    /// Scans the QR code of a session and signs its challenge like a wallet, without a confirmation number.
    pub(crate) fn answer(&self, session: &Value) -> Value {
        self.answer_with(session, None)
    }

    /// Answers a session like [`Self::answer`], with a confirmation number.
    pub(crate) fn answer_with(&self, session: &Value, number: Option<&str>) -> Value {
        let device = DeviceInfo { platform: Some("ios".to_owned()), version: Some("17.5".to_owned()), device_id: None };
        json!(self.wallet.answer_code(&scan(session), number, self.clock.now().as_second(), Some(device)))
    }

    /// Signs an arbitrary text instead.
    pub(crate) fn sign_text(&self, challenge: &str) -> Value {
        json!(self.wallet.answer_text(challenge.to_owned(), self.clock.now().as_second(), None))
    }
}

/// Returns the data of a session's QR code.
pub(crate) fn scan(session: &Value) -> QrData {
    QrData::parse(text(session, "qr_data")).expect("a QR code that wallets can read")
}
