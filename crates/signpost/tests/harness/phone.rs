//! A phone with a wallet: scans what the page shows and answers.

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
    /// A phone of somebody whose secret key is made of this byte (1 or more).
    pub(crate) fn of(somebody: u8, clock: &Clock) -> Self {
        Self { wallet: Wallet::from_bytes([somebody; 32]).expect("a secret key"), clock: clock.clone() }
    }

    pub(crate) fn public_key(&self) -> String {
        self.wallet.public_key().canonical()
    }

    /// Scans the QR code of a session and signs what it asks for, as wallets do. Its person types no number.
    pub(crate) fn answers(&self, session: &Value) -> Value {
        self.answers_with(session, None)
    }

    /// The same, with the number that its person typed.
    pub(crate) fn answers_with(&self, session: &Value, number: Option<&str>) -> Value {
        let device = DeviceInfo { platform: Some("ios".to_owned()), version: Some("17.5".to_owned()), device_id: None };
        json!(self.wallet.answer_code(&scan(session), number, self.clock.now().as_second(), Some(device)))
    }

    /// Signs a text of its own choice instead.
    pub(crate) fn signs(&self, challenge: &str) -> Value {
        json!(self.wallet.answer_text(challenge.to_owned(), self.clock.now().as_second(), None))
    }
}

/// What the QR code of a session says.
pub(crate) fn scan(session: &Value) -> QrData {
    QrData::parse(text(session, "qr_data")).expect("a QR code that wallets can read")
}
