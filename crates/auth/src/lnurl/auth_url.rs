//! The login URL that Lightning wallets scan (LNURL-auth).

use std::collections::HashSet;
use std::str::FromStr;

use url::{Host, Url};

use super::encoding::{InvalidLnurl, Lnurl, MAX_CHARS};
use super::k1::{InvalidK1, K1};
use crate::challenge::Mode;
use crate::host_bound::authority;
use crate::wallet::Wallet;

/// A login URL for Lightning wallets (LUD-04), with the challenge to sign.
///
/// ```
/// use signpost_auth::{AuthUrl, Lnurl};
///
/// let url = format!("https://login.example.com/lnurl/x?tag=login&k1={}&action=register", "ab".repeat(32));
/// let read = AuthUrl::parse(&Lnurl::new(&url).unwrap().qr_text())?;
/// assert_eq!((read.host(), read.action().as_str()), ("login.example.com".to_owned(), "register"));
/// assert_eq!(AuthUrl::parse(&url)?, read);
/// # Ok::<(), signpost_auth::InvalidAuthUrl>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthUrl {
    url: Url,
    k1: K1,
    action: LnurlAction,
}

/// The purpose of a login by Lightning wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LnurlAction {
    /// A login with a known key, the default.
    Login,
    /// A registration of a new key.
    Register,
    /// Linking another key to the account of a logged-in user.
    Link,
    /// An action of the service that is not a login.
    Auth,
}

/// Reason a text is not a login URL for Lightning wallets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAuthUrl {
    /// The text is not valid bech32.
    #[error(transparent)]
    Bech32(#[from] InvalidLnurl),
    /// The text is neither bech32 nor a supported URL.
    #[error("not an LNURL: it begins with lnurl1, lightning:, keyauth:// or https://")]
    NotAnLnurl,
    /// The encoded content is not a URL with a host.
    #[error("the LNURL is invalid: it contains an https URL with a host and without a user name")]
    NotAUrl,
    /// The URL is not encrypted.
    #[error("the LNURL leads to a host without encryption: it must be https, plain http is for localhost alone")]
    Insecure,
    /// The LNURL has another purpose, such as a payment.
    #[error("this LNURL is not for a login: its URL must have tag=login")]
    NotALogin,
    /// The URL repeats a parameter, which wallets would interpret differently.
    #[error("the LNURL's URL names a parameter twice: each may stand there once")]
    Duplicate,
    /// The URL has no valid `k1`.
    #[error("the LNURL's URL has nothing to sign: it must have k1 with 64 hex digits")]
    K1,
    /// The URL has an action that LUD-04 does not define.
    #[error("the LNURL's action is unknown: it is login, register, link or auth")]
    Action,
}

impl AuthUrl {
    /// Parses pasted or scanned text: bech32 in either case, with or without `lightning:`; a
    /// `keyauth://` URL (LUD-17); an `https` URL with bech32 in the parameter `lightning`; or the
    /// plain login URL. Ignores surrounding white space.
    ///
    /// # Errors
    /// Returns the reason if the text is not a login URL.
    pub fn parse(text: &str) -> Result<Self, InvalidAuthUrl> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_CHARS {
            return Err(InvalidLnurl::Length(text.chars().count()).into());
        }
        if let Some(rest) = strip_prefix_ignore_case(text, "lightning:") {
            return Self::from_url(&Lnurl::decode(rest.trim_start_matches("//"))?);
        }
        if strip_prefix_ignore_case(text, "lnurl1").is_some() {
            return Self::from_url(&Lnurl::decode(text)?);
        }
        if let Some(rest) = strip_prefix_ignore_case(text, "keyauth://") {
            let url = Url::parse(&format!("https://{rest}")).map_err(|_| InvalidAuthUrl::NotAUrl)?;
            return Self::from_url(&if is_loopback_url(&url) { format!("http://{rest}") } else { url.into() });
        }
        let is_https = strip_prefix_ignore_case(text, "https://").is_some();
        if !is_https && strip_prefix_ignore_case(text, "http://").is_none() {
            return Err(InvalidAuthUrl::NotAnLnurl);
        }
        let url = Url::parse(text).map_err(|_| InvalidAuthUrl::NotAUrl)?;
        match url.query_pairs().find(|(name, _)| name == "lightning") {
            Some((_, lnurl)) => Self::from_url(&Lnurl::decode(&lnurl)?),
            None => Self::from_url(text),
        }
    }

    fn from_url(text: &str) -> Result<Self, InvalidAuthUrl> {
        let mut url = Url::parse(text).map_err(|_| InvalidAuthUrl::NotAUrl)?;
        if !["http", "https"].contains(&url.scheme()) || !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidAuthUrl::NotAUrl);
        }
        if url.scheme() == "http" && !is_loopback_url(&url) {
            return Err(InvalidAuthUrl::Insecure);
        }
        // A fragment is never sent to the server.
        url.set_fragment(None);
        let mut names = HashSet::new();
        let mut is_login = false;
        let mut k1 = None;
        let mut action = LnurlAction::Login;
        for (name, value) in url.query_pairs() {
            match &*name {
                "tag" => is_login = value == "login",
                "k1" => k1 = Some(value.parse().map_err(|InvalidK1| InvalidAuthUrl::K1)?),
                "action" => action = value.parse()?,
                _ => {}
            }
            if !names.insert(name) {
                return Err(InvalidAuthUrl::Duplicate);
            }
        }
        if !is_login {
            return Err(InvalidAuthUrl::NotALogin);
        }
        let k1 = k1.ok_or(InvalidAuthUrl::K1)?;
        Ok(Self { url, k1, action })
    }

    /// Returns the login URL.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the host for display, with the port unless it is the default port.
    #[must_use]
    pub fn host(&self) -> String {
        authority(&self.url)
    }

    /// Returns the bytes that the wallet signs.
    #[must_use]
    pub fn k1(&self) -> K1 {
        self.k1
    }

    /// Returns the purpose of the login.
    #[must_use]
    pub fn action(&self) -> LnurlAction {
        self.action
    }

    /// Returns the wallet's answer: the login URL with the parameters `sig` and `key`. The argument
    /// `key` is the wallet's key for this host, derived by [`Wallet::linking_key`].
    #[must_use]
    pub fn signed_by(&self, key: &Wallet) -> Url {
        let mut url = self.url.clone();
        let query = url.query().unwrap_or_default();
        let signed = format!("{query}&sig={}&key={}", key.sign_k1(self.k1), key.public_key().canonical());
        url.set_query(Some(&signed));
        url
    }
}

impl LnurlAction {
    /// Returns the value of the parameter `action`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Register => "register",
            Self::Link => "link",
            Self::Auth => "auth",
        }
    }
}

impl FromStr for LnurlAction {
    type Err = InvalidAuthUrl;

    fn from_str(text: &str) -> Result<Self, InvalidAuthUrl> {
        let all = [Self::Login, Self::Register, Self::Link, Self::Auth];
        all.into_iter().find(|action| action.as_str() == text).ok_or(InvalidAuthUrl::Action)
    }
}

impl From<Mode> for LnurlAction {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Login => Self::Login,
            Mode::Register => Self::Register,
            Mode::Link => Self::Link,
        }
    }
}

/// Returns `true` if the host of a URL is the local machine: `localhost`, a subdomain of it, or a
/// loopback address.
///
/// ```
/// assert!(signpost_auth::is_loopback_url(&"http://[::1]:8080/".parse()?));
/// assert!(!signpost_auth::is_loopback_url(&"http://localhost.example.com/".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn is_loopback_url(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(v4)) => v4.is_loopback(),
        Some(Host::Ipv6(v6)) => v6.to_canonical().is_loopback(),
        None => false,
    }
}

/// Removes a prefix, ignoring case.
fn strip_prefix_ignore_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}
