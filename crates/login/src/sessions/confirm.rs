//! Number matching: the page shows two digits, and the user types them into the wallet. A user who was lured into
//! scanning an attacker's code has no number to type (RFC 10027, relay of codes).

use std::fmt;

use signpost_auth::Answer;
use subtle::ConstantTimeEq;

/// Maximum answers with a valid signature and a wrong number. The last answer cancels the session.
pub const MAX_CONFIRM_TRIES: i64 = 3;

/// The confirmation number: two digits that the page shows.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfirmCode(String);

impl ConfirmCode {
    /// Creates a number from 10 to 99: a leading zero would not be typed.
    #[must_use]
    pub fn new(random: [u8; 8]) -> Self {
        Self((10 + u64::from_be_bytes(random) % 90).to_string())
    }

    /// Parses a stored number.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        let is_code = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_code.then(|| Self(text.to_owned()))
    }

    /// Returns the digits, for the page and the database.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns true if an answer has this number, in constant time.
    #[must_use]
    pub fn is_in_answer(&self, answer: &Answer) -> bool {
        answer.confirm_code.as_ref().is_some_and(|code| bool::from(code.trim().as_bytes().ct_eq(self.0.as_bytes())))
    }
}

impl fmt::Debug for ConfirmCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConfirmCode")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirm_code_has_two_digits() {
        for number in [0, 1, 89, 90, u64::MAX] {
            let code = ConfirmCode::new(u64::to_be_bytes(number));
            assert_eq!(ConfirmCode::from_stored(code.reveal()), Some(code.clone()));
            assert!(!code.reveal().starts_with('0') && !format!("{code:?}").contains(code.reveal()));
        }
        for text in ["", "7", "123", "ab", "1é"] {
            assert_eq!(ConfirmCode::from_stored(text), None, "{text}");
        }
    }
}
