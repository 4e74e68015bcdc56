//! Login challenges, in the two renderings that the API and wallets use.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};

use crate::domain::DomainName;

/// A login challenge: a purpose, a domain, a time and a random number.
///
/// It has two renderings. The `Display` implementation writes the rendering of the API,
/// `svc:<mode>:<domain>:<unix>:<nonce>`. [`Challenge::sentence`] returns the rendering that wallets
/// display and sign.
///
/// ```
/// use signpost_auth::{Challenge, DomainName, Mode, Nonce};
///
/// let domain = DomainName::parse("example.com")?;
/// let challenge = Challenge { mode: Mode::Login, domain, issued_at: 1_700_000_000, nonce: Nonce([7; 16]) };
/// assert_eq!(challenge.to_string(), "svc:login:example.com:1700000000:BwcHBwcHBwcHBwcHBwcHBw");
/// assert_eq!(challenge.sentence(), "Sign this to login to example.com at 1700000000:BwcHBwcHBwcHBwcHBwcHBw");
/// assert_eq!(Challenge::parse(&challenge.sentence())?, challenge);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Challenge {
    /// The purpose of the login.
    pub mode: Mode,
    /// The domain that the user logs in to.
    pub domain: DomainName,
    /// The time of creation in Unix seconds.
    pub issued_at: i64,
    /// The random number that makes the challenge unpredictable.
    pub nonce: Nonce,
}

/// The purpose of a login session.
///
/// `registration`, which the text of the specification also uses, is parsed as `register` but never
/// written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A login with a known key.
    Login,
    /// A registration of a new key.
    #[serde(alias = "registration")]
    Register,
    /// Linking another key to the account of a logged-in user. Only pages of the service use this
    /// mode: it is not part of the specification, and the specified handlers reject it.
    Link,
}

/// A random number of 128 bits, written as 22 characters of base64url without padding (RFC 4648,
/// section 5).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nonce(pub [u8; 16]);

/// Error that a text is not exactly a rendering of a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a challenge: it is svc:<mode>:<domain>:<unix>:<nonce> or the sentence \
     \"Sign this to <mode> to <domain> at <unix>:<nonce>\", character for character"
)]
pub struct InvalidChallenge;

/// Error that a text is not a [`Mode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown mode: it is login, register or link")]
pub struct UnknownMode;

/// Error that a text is not a [`Nonce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a nonce is 16 bytes as 22 characters of base64url without padding")]
pub struct InvalidNonce;

impl Challenge {
    /// Parses either rendering. Accepts only the canonical form.
    ///
    /// # Errors
    /// Returns [`InvalidChallenge`] for any other text. Nothing is trimmed or normalized, so each
    /// challenge has exactly one text per rendering.
    pub fn parse(text: &str) -> Result<Self, InvalidChallenge> {
        let challenge = Self::from_short(text).or_else(|| Self::from_sentence(text)).ok_or(InvalidChallenge)?;
        if challenge.to_string() == text || challenge.sentence() == text {
            Ok(challenge)
        } else {
            Err(InvalidChallenge)
        }
    }

    /// Returns the rendering that wallets display and sign:
    /// `Sign this to login to <domain> at <unix>:<nonce>`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { mode, domain, issued_at, nonce } = self;
        format!("Sign this to {mode} to {domain} at {issued_at}:{nonce}")
    }

    fn from_short(text: &str) -> Option<Self> {
        let (mode, rest) = text.strip_prefix("svc:")?.split_once(':')?;
        let (domain, rest) = rest.split_once(':')?;
        Self::from_parts(mode, domain, rest)
    }

    fn from_sentence(text: &str) -> Option<Self> {
        let (mode, rest) = text.strip_prefix("Sign this to ")?.split_once(" to ")?;
        let (domain, rest) = rest.split_once(" at ")?;
        Self::from_parts(mode, domain, rest)
    }

    fn from_parts(mode: &str, domain: &str, unix_and_nonce: &str) -> Option<Self> {
        let (issued_at, nonce) = unix_and_nonce.split_once(':')?;
        Some(Self {
            mode: mode.parse().ok()?,
            domain: DomainName::parse(domain).ok()?,
            issued_at: issued_at.parse().ok()?,
            nonce: nonce.parse().ok()?,
        })
    }
}

impl FromStr for Challenge {
    type Err = InvalidChallenge;

    fn from_str(text: &str) -> Result<Self, InvalidChallenge> {
        Self::parse(text)
    }
}

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mode, domain, issued_at, nonce } = self;
        write!(f, "svc:{mode}:{domain}:{issued_at}:{nonce}")
    }
}

impl Mode {
    /// Returns the name that the API uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Register => "register",
            Self::Link => "link",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        match text {
            "login" => Ok(Self::Login),
            "register" | "registration" => Ok(Self::Register),
            "link" => Ok(Self::Link),
            _ => Err(UnknownMode),
        }
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64URL_NOPAD.encode(&self.0))
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nonce({self})")
    }
}

impl FromStr for Nonce {
    type Err = InvalidNonce;

    fn from_str(text: &str) -> Result<Self, InvalidNonce> {
        if text.len() != 22 {
            return Err(InvalidNonce);
        }
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| InvalidNonce)?;
        bytes.try_into().map(Self).map_err(|_| InvalidNonce)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn challenges() -> impl Strategy<Value = Challenge> {
        let modes = prop_oneof![Just(Mode::Login), Just(Mode::Register), Just(Mode::Link)];
        let domains = "([a-z][a-z0-9]{0,9}\\.){1,3}[a-z]{2,8}|localhost";
        (modes, domains, any::<i64>(), any::<[u8; 16]>()).prop_map(|(mode, domain, issued_at, nonce)| Challenge {
            mode,
            domain: DomainName::parse(&domain).unwrap(),
            issued_at,
            nonce: Nonce(nonce),
        })
    }

    #[test]
    fn only_the_printed_form_parses() {
        let nonce = "AAAAAAAAAAAAAAAAAAAAAA";
        for good in [
            format!("svc:login:example.com:1700000000:{nonce}"),
            format!("svc:register:localhost:-1:{nonce}"),
            format!("Sign this to login to example.com at 1700000000:{nonce}"),
            format!("Sign this to register to to.at at 0:{nonce}"),
            format!("svc:link:example.com:1700000000:{nonce}"),
            format!("Sign this to link to example.com at 1700000000:{nonce}"),
        ] {
            assert!(Challenge::parse(&good).is_ok(), "{good}");
        }
        for bad in [
            String::new(),
            "svc:".to_owned(),
            format!("svc:login:example.com:1700000000:{nonce} "),
            format!(" svc:login:example.com:1700000000:{nonce}"),
            format!("SVC:login:example.com:1700000000:{nonce}"),
            format!("svc:Login:example.com:1700000000:{nonce}"),
            format!("svc:registration:example.com:1700000000:{nonce}"),
            format!("svc:linking:example.com:1700000000:{nonce}"),
            format!("svc:login:Example.com:1700000000:{nonce}"),
            format!("svc:login:example.com.:1700000000:{nonce}"),
            format!("svc:login:example.com:443:1700000000:{nonce}"),
            format!("svc:login:bücher.example:1700000000:{nonce}"),
            format!("svc:login:example.com:01700000000:{nonce}"),
            format!("svc:login:example.com:+1700000000:{nonce}"),
            format!("svc:login:example.com:-0:{nonce}"),
            format!("svc:login:example.com:1.7e9:{nonce}"),
            format!("svc:login:example.com:9223372036854775808:{nonce}"),
            format!("svc:login:example.com:1700000000:{nonce}="),
            format!("svc:login:example.com:1700000000:{}", &nonce[1..]),
            "svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAB".to_owned(),
            "svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAA+".to_owned(),
            format!("Sign this to registration to example.com at 1700000000:{nonce}"),
            format!("sign this to login to example.com at 1700000000:{nonce}"),
            format!("Sign this to login  to example.com at 1700000000:{nonce}"),
            format!("Sign this to login to example.com at 1700000000:{nonce}\n"),
        ] {
            assert_eq!(Challenge::parse(&bad), Err(InvalidChallenge), "{bad:?}");
        }
    }

    #[test]
    fn registration_parses_as_register() {
        assert_eq!("registration".parse(), Ok(Mode::Register));
        assert_eq!(serde_json::from_str::<Mode>("\"registration\"").unwrap(), Mode::Register);
        assert_eq!(serde_json::to_string(&Mode::Register).unwrap(), "\"register\"");
        assert_eq!("link".parse(), Ok(Mode::Link));
        assert_eq!("linking".parse::<Mode>(), Err(UnknownMode));
    }

    proptest! {
        #[test]
        fn both_renderings_round_trip(challenge in challenges()) {
            prop_assert_eq!(Challenge::parse(&challenge.to_string()), Ok(challenge.clone()));
            prop_assert_eq!(Challenge::parse(&challenge.sentence()), Ok(challenge));
        }

        #[test]
        fn other_texts_are_rejected(
            challenge in challenges(), sentence: bool, at: prop::sample::Index, with in prop::option::of(any::<char>()),
        ) {
            let text = if sentence { challenge.sentence() } else { challenge.to_string() };
            let mut letters: Vec<char> = text.chars().collect();
            let at = at.index(letters.len());
            match with {
                Some(letter) => letters[at] = letter,
                None => drop(letters.remove(at)),
            }
            let changed: String = letters.into_iter().collect();
            if changed != text {
                prop_assert_ne!(Challenge::parse(&changed), Ok(challenge));
            }
        }

        #[test]
        fn arbitrary_text_parses_only_as_printed(text in "(svc:|Sign this to )?\\PC{0,80}") {
            if let Ok(challenge) = Challenge::parse(&text) {
                prop_assert!(challenge.to_string() == text || challenge.sentence() == text);
            }
        }
    }
}
