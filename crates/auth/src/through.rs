use std::fmt;

use url::Url;

use crate::challenge::{Challenge, NotAChallenge};

/// The rendering of a [`Challenge`] that wallets sign for a code of `v=2`: the sentence, and behind it the host that gets
/// the answer, and the number that the page shows where it shows one.
///
/// Whoever puts a host of their own into a code gets a signature that names that host, and without the right number one
/// that names another: neither is a text that the service would write.
///
/// ```
/// use signpost_auth::{Challenge, Through};
///
/// let challenge = Challenge::parse("svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAA")?;
/// let webhook = "https://Login.Example.com:443/v1/hosted/login".parse()?;
/// let text = Through::new(challenge, &webhook, Some("42")).to_string();
/// assert_eq!(
///     text,
///     "Sign this to login to example.com at 1700000000:AAAAAAAAAAAAAAAAAAAAAA through login.example.com with 42"
/// );
/// assert_eq!(Through::parse(&text)?.authority(), "login.example.com");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Through {
    challenge: Challenge,
    authority: String,
    number: Option<String>,
}

/// A URL's host and port as the URL standard serialises them: lower case, punycode, brackets around an IPv6 address, no
/// port where it is the scheme's own.
///
/// ```
/// let url = "https://[2001:DB8::1]:443/hook".parse()?;
/// assert_eq!(signpost_auth::authority(&url), "[2001:db8::1]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

impl Through {
    /// What a wallet signs that answers at `webhook`, with the number that its person read off the page.
    #[must_use]
    pub fn new(challenge: Challenge, webhook: &Url, number: Option<&str>) -> Self {
        Self { challenge, authority: authority(webhook), number: number.map(ToOwned::to_owned) }
    }

    /// Reads a text that was signed, to say what is wrong with it: host and number are whatever stands there. Whether the
    /// text is right is decided by comparing it with the one that is expected, byte for byte.
    ///
    /// # Errors
    /// [`NotAChallenge`] for the other renderings and for any other text.
    pub fn parse(text: &str) -> Result<Self, NotAChallenge> {
        let (sentence, rest) = text.split_once(" through ").ok_or(NotAChallenge)?;
        let challenge = Challenge::parse(sentence)?;
        let (authority, number) = rest.split_once(" with ").map_or((rest, None), |(host, number)| (host, Some(number)));
        let is_word = |word: &str| !word.is_empty() && !word.contains(char::is_whitespace);
        if challenge.sentence() != sentence || !is_word(authority) || !number.is_none_or(is_word) {
            return Err(NotAChallenge);
        }
        Ok(Self { challenge, authority: authority.to_owned(), number: number.map(ToOwned::to_owned) })
    }

    /// What was signed for.
    #[must_use]
    pub fn challenge(&self) -> &Challenge {
        &self.challenge
    }

    /// The host, and its port if it is not the scheme's own, that gets the answer.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The number that the page shows, if it shows one.
    #[must_use]
    pub fn number(&self) -> Option<&str> {
        self.number.as_deref()
    }
}

impl fmt::Display for Through {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} through {}", self.challenge.sentence(), self.authority)?;
        self.number.iter().try_for_each(|number| write!(f, " with {number}"))
    }
}

impl fmt::Debug for Through {
    /// Leaves the number out: what confirms a login does not belong in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Through({} through {})", self.challenge, self.authority)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::challenge::tests::challenges;

    #[test]
    fn neither_of_the_other_renderings_is_read() {
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
            assert_eq!(Through::parse(text), Err(NotAChallenge), "{text:?}");
        }
        assert!(Challenge::parse(&format!("{sentence} through example.com")).is_err());
    }

    #[test]
    fn a_debug_text_tells_no_number() {
        let text = "Sign this to login to example.com at 1:AAAAAAAAAAAAAAAAAAAAAA through example.com with 42";
        assert!(!format!("{:?}", Through::parse(text).unwrap()).contains("42"));
    }

    proptest! {
        #[test]
        fn a_text_reads_back(
            challenge in challenges(),
            host in "https?://([a-zA-Zäß-]{1,9}\\.){1,2}[a-z]{2,4}(:[0-9]{1,4})?/",
            number in prop::option::of("[1-9][0-9]"),
        ) {
            let Ok(webhook) = Url::parse(&host) else { return Ok(()) };
            let through = Through::new(challenge, &webhook, number.as_deref());
            prop_assert_eq!(Through::parse(&through.to_string()), Ok(through.clone()));
            prop_assert_eq!(through.number(), number.as_deref());
            prop_assert!(Challenge::parse(&through.to_string()).is_err());
            // The standard's own reading of it is the same host and port.
            let again = Url::parse(&format!("{}://{}/", webhook.scheme(), through.authority())).unwrap();
            prop_assert_eq!(again, webhook);
        }

        #[test]
        fn arbitrary_text_never_panics_and_is_read_only_as_it_prints(
            rest in "( through )?\\PC{0,20}( with \\PC{0,5})?", challenge in challenges(),
        ) {
            let text = format!("{}{rest}", challenge.sentence());
            if let Ok(through) = Through::parse(&text) {
                prop_assert_eq!(through.to_string(), text);
            }
        }
    }
}
