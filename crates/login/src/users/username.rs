//! Generated usernames for users of hosted domains, such as `amber-otter-4821`, called petnames in the API.

use anyhow::{Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::words::{ADJECTIVES, ANIMALS};

/// A generated username: an adjective, an animal and a number. A domain never reuses a username.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Username(String);

impl Username {
    /// Creates one of ninety million usernames from 64 random bits.
    #[must_use]
    pub fn draw(random: [u8; 8]) -> Self {
        let rest = u64::from_be_bytes(random);
        let (rest, adjective) = pick_word(rest, ADJECTIVES);
        let (rest, animal) = pick_word(rest, ANIMALS);
        Self(format!("{adjective}-{animal}-{}", 1000 + rest % 9000))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses a stored username.
    pub(super) fn from_stored(text: &str) -> Result<Self> {
        let parts: Vec<_> = text.split('-').collect();
        let [adjective, animal, number] = &*parts else { bail!("is no username") };
        let is_number = number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
        ensure!(is_word(adjective) && is_word(animal) && is_number, "is no username");
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for Username {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        Self::from_stored(&text)
    }
}

impl From<Username> for String {
    fn from(username: Username) -> Self {
        username.0
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns the quotient of a number by the count of words, and the word at the remainder.
fn pick_word(number: u64, words: &[&'static str]) -> (u64, &'static str) {
    let count = words.len() as u64;
    let at = usize::try_from(number % count).unwrap_or_default();
    (number / count, words[at])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn username_is_two_words_and_four_digits() {
        let usernames: BTreeSet<_> =
            (0..=255).map(|byte| Username::draw([byte, 7, byte, 1, byte, 3, 9, byte]).0).collect();
        assert_eq!(usernames.len(), 256);
        for username in &usernames {
            assert_eq!(Username::from_stored(username).unwrap().as_str(), username);
            assert_eq!(username.rsplit('-').next().map(str::len), Some(4), "{username}");
        }
        assert_eq!(Username::draw([0; 8]).as_str(), format!("{}-{}-1000", ADJECTIVES[0], ANIMALS[0]));
    }

    #[test]
    fn words_are_unique_and_ascii() {
        for words in [ADJECTIVES, ANIMALS] {
            let known: BTreeSet<_> = words.iter().collect();
            assert_eq!((known.len(), words.len()), (100, 100));
            for word in words {
                let is_plain = word.bytes().all(|byte| byte.is_ascii_lowercase());
                assert!(is_plain && (3..=8).contains(&word.len()), "{word}");
            }
        }
    }

    #[test]
    fn malformed_username_is_rejected() {
        for text in ["", "amber-otter", "amber-otter-12", "Amber-otter-1234", "amber-otter-12a4", "amber-otter-1234-x"]
        {
            assert!(Username::from_stored(text).is_err(), "{text}");
        }
        assert!(Username::from_stored("amber-otter-10000").is_ok());
    }
}
