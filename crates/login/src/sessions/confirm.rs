//! Number match: the page shows two digits, the wallet's person types them, and whoever was lured into scanning another's
//! code has nothing to type (RFC 10027's relay of codes).

use std::fmt;

use signpost_auth::Answer;
use subtle::ConstantTimeEq;

/// How many answers with a good signature may be wrong about the number; the last of them ends the session.
pub const MAX_CONFIRM_TRIES: i64 = 3;

/// The two digits that a page shows.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfirmCode(String);

impl ConfirmCode {
    /// A number from 10 to 99, from random bytes: one that begins with 0 would be typed without it.
    #[must_use]
    pub fn new(random: [u8; 8]) -> Self {
        Self((10 + u64::from_be_bytes(random) % 90).to_string())
    }

    /// One that was kept.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        let is_code = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_code.then(|| Self(text.to_owned()))
    }

    /// For the page and the database.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether an answer carries it.
    #[must_use]
    pub fn is_carried_by(&self, answer: &Answer) -> bool {
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
    fn a_code_has_two_digits_and_no_zero_before_them() {
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
