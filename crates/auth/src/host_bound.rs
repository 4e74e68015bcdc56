//! The rendering of a challenge that binds a signature to the host that receives it.

use std::fmt;

use url::Url;

use crate::challenge::{Challenge, InvalidChallenge};

/// The rendering of a [`Challenge`] that wallets sign for QR data of `v=2`: the sentence, followed
/// by the host that receives the answer and, if the page displays a number, by that number.
///
/// If an attacker puts another host or another number into a QR code, the wallet signs a text that
/// the service does not accept.
///
/// ```
/// use signpost_auth::{Challenge, HostBoundChallenge};
///
/// let challenge = Challenge::parse("svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAA")?;
/// let webhook = "https://Login.Example.com:443/v1/hosted/login".parse()?;
/// let text = HostBoundChallenge::new(challenge, &webhook, Some("42")).to_string();
/// assert_eq!(
///     text,
///     "Sign this to login to example.com at 1700000000:AAAAAAAAAAAAAAAAAAAAAA through login.example.com with 42"
/// );
/// assert_eq!(HostBoundChallenge::parse(&text)?.authority(), "login.example.com");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct HostBoundChallenge {
    challenge: Challenge,
    authority: String,
    number: Option<String>,
}

/// Returns the host and port of a URL as the URL standard serializes them: in lower case and
/// punycode, with brackets around an IPv6 address, and without the default port.
///
/// ```
/// let url = "https://[2001:DB8::1]:443/hook".parse()?;
/// assert_eq!(signpost_auth::authority(&url), "[2001:db8::1]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

impl HostBoundChallenge {
    /// Creates the text that a wallet signs for an answer to `webhook`, with the number that the
    /// user entered, if any.
    #[must_use]
    pub fn new(challenge: Challenge, webhook: &Url, number: Option<&str>) -> Self {
        Self { challenge, authority: authority(webhook), number: number.map(ToOwned::to_owned) }
    }

    /// Parses a signed text for use in error messages. The host and the number are not validated.
    /// To accept a text, compare it byte for byte with the expected text.
    ///
    /// # Errors
    /// Returns [`InvalidChallenge`] for the other renderings and for any other text.
    pub fn parse(text: &str) -> Result<Self, InvalidChallenge> {
        let (sentence, rest) = text.split_once(" through ").ok_or(InvalidChallenge)?;
        let challenge = Challenge::parse(sentence)?;
        let (authority, number) = match rest.split_once(" with ") {
            Some((authority, number)) => (authority, Some(number)),
            None => (rest, None),
        };
        if challenge.sentence() != sentence || !is_word(authority) || !number.is_none_or(is_word) {
            return Err(InvalidChallenge);
        }
        Ok(Self { challenge, authority: authority.to_owned(), number: number.map(ToOwned::to_owned) })
    }

    /// Returns the challenge that the text contains.
    #[must_use]
    pub fn challenge(&self) -> &Challenge {
        &self.challenge
    }

    /// Returns the host that receives the answer, with its port unless it is the default port.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the number that the page displays, if any.
    #[must_use]
    pub fn number(&self) -> Option<&str> {
        self.number.as_deref()
    }
}

impl fmt::Display for HostBoundChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} through {}", self.challenge.sentence(), self.authority)?;
        match &self.number {
            Some(number) => write!(f, " with {number}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for HostBoundChallenge {
    /// Omits the number, which must not appear in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBoundChallenge({} through {})", self.challenge, self.authority)
    }
}

/// Returns `true` if a text is not empty and contains no white space.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::challenge::tests::challenges;

    #[test]
    fn other_renderings_are_rejected() {
        let sentence = "Sign this to login to example.com at 1700000000:AAAAAAAAAAAAAAAAAAAAAA";
        for text in [
            "",
            " through example.com",
            sentence,
            "svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAA",
            "svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAA through example.com",
            &format!("{sentence} through "),
            &format!("{sentence} through  example.com"),
            &format!("{sentence} through example.com "),
            &format!("{sentence} through example.com with "),
            &format!("{sentence} through example.com with 42\n"),
            &format!("{sentence} through example.com with 42 with 42"),
            &format!("{sentence} through a through b"),
            &format!("{sentence}  through example.com"),
        ] {
            assert_eq!(HostBoundChallenge::parse(text), Err(InvalidChallenge), "{text:?}");
        }
        assert!(Challenge::parse(&format!("{sentence} through example.com")).is_err());
    }

    #[test]
    fn debug_output_hides_the_number() {
        let text = "Sign this to login to example.com at 1:AAAAAAAAAAAAAAAAAAAAAA through example.com with 42";
        assert!(!format!("{:?}", HostBoundChallenge::parse(text).unwrap()).contains("42"));
    }

    proptest! {
        #[test]
        fn host_bound_text_round_trips(
            challenge in challenges(),
            host in "https?://([a-zA-Zäß-]{1,9}\\.){1,2}[a-z]{2,4}(:[0-9]{1,4})?/",
            number in prop::option::of("[1-9][0-9]"),
        ) {
            let Ok(webhook) = Url::parse(&host) else { return Ok(()) };
            let through = HostBoundChallenge::new(challenge, &webhook, number.as_deref());
            prop_assert_eq!(HostBoundChallenge::parse(&through.to_string()), Ok(through.clone()));
            prop_assert_eq!(through.number(), number.as_deref());
            prop_assert!(Challenge::parse(&through.to_string()).is_err());
            // The URL standard parses this authority to an equal host and port.
            let reparsed = Url::parse(&format!("{}://{}/", webhook.scheme(), through.authority())).unwrap();
            prop_assert_eq!(reparsed, webhook);
        }

        #[test]
        fn arbitrary_text_parses_only_as_printed(
            rest in "( through )?\\PC{0,20}( with \\PC{0,5})?", challenge in challenges(),
        ) {
            let text = format!("{}{rest}", challenge.sentence());
            if let Ok(through) = HostBoundChallenge::parse(&text) {
                prop_assert_eq!(through.to_string(), text);
            }
        }
    }
}
