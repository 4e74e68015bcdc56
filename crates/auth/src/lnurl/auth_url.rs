use std::collections::HashSet;
use std::str::FromStr;

use url::{Host, Url};

use super::k1::{K1, NotAK1};
use super::spelling::{InvalidLnurl, Lnurl, MAX_CHARS};
use crate::challenge::Mode;
use crate::through::authority;
use crate::wallet::Wallet;

/// The URL of a login by Lightning wallet (LUD-04): where the signature goes, and what is signed.
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

/// What a service says that the login is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LnurlAction {
    /// A known key comes back; also where nothing is said.
    Login,
    /// A new key introduces itself.
    Register,
    /// Another key for somebody who is logged in.
    Link,
    /// Something else that the service wants a proof for.
    Auth,
}

/// The text leads to no login by Lightning wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAuthUrl {
    /// Bech32 with a mistake in it.
    #[error(transparent)]
    Bech32(#[from] InvalidLnurl),
    /// Neither bech32 nor one of the URLs that wallets read.
    #[error("not an LNURL: it begins with lnurl1, lightning:, keyauth:// or https://")]
    NotAnLnurl,
    /// What is inside is no URL with a host.
    #[error("the LNURL leads nowhere: it contains an https URL with a host and without a user name")]
    NotAUrl,
    /// Anybody on the way could read and change the exchange.
    #[error("the LNURL leads to a host without encryption: it must be https, plain http is for localhost alone")]
    Insecure,
    /// An LNURL for something else, such as a payment.
    #[error("this LNURL is not for a login: its URL must have tag=login")]
    NotALogin,
    /// Two wallets would read two different values.
    #[error("the LNURL's URL names a parameter twice: each may stand there once")]
    Twice,
    /// Nothing to sign.
    #[error("the LNURL's URL has nothing to sign: it must have k1 with 64 hex digits")]
    K1,
    /// A purpose that LUD-04 does not have.
    #[error("the LNURL's action is unknown: it is login, register, link or auth")]
    Action,
}

impl AuthUrl {
    /// Reads what a person pastes or scans: bech32 of either case, with `lightning:` or without, `keyauth://` (LUD-17),
    /// an `https` URL that carries bech32 as `lightning=`, or the login's own URL. White space around it is dropped.
    ///
    /// # Errors
    /// [`InvalidAuthUrl`] says what is wrong.
    pub fn parse(text: &str) -> Result<Self, InvalidAuthUrl> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_CHARS {
            return Err(InvalidLnurl::Length(text.chars().count()).into());
        }
        let bare = without(text, "lightning:").map_or(text, |rest| rest.trim_start_matches("//"));
        if bare != text || without(bare, "lnurl1").is_some() {
            return Self::from_url(&Lnurl::decode(bare)?);
        }
        if let Some(rest) = without(text, "keyauth://") {
            let url = Url::parse(&format!("https://{rest}")).map_err(|_| InvalidAuthUrl::NotAUrl)?;
            return Self::from_url(&if is_this_machine(&url) { format!("http://{rest}") } else { url.into() });
        }
        if without(text, "https://").or_else(|| without(text, "http://")).is_none() {
            return Err(InvalidAuthUrl::NotAnLnurl);
        }
        let url = Url::parse(text).map_err(|_| InvalidAuthUrl::NotAUrl)?;
        let carried = url.query_pairs().find(|(name, _)| name == "lightning").map(|(_, lnurl)| Lnurl::decode(&lnurl));
        carried.transpose()?.map_or_else(|| Self::from_url(text), |inside| Self::from_url(&inside))
    }

    fn from_url(text: &str) -> Result<Self, InvalidAuthUrl> {
        let mut url = Url::parse(text).map_err(|_| InvalidAuthUrl::NotAUrl)?;
        if !["http", "https"].contains(&url.scheme()) || !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidAuthUrl::NotAUrl);
        }
        if url.scheme() == "http" && !is_this_machine(&url) {
            return Err(InvalidAuthUrl::Insecure);
        }
        // It is never sent.
        url.set_fragment(None);
        let (mut names, mut is_login, mut k1, mut action) = (HashSet::new(), false, None, LnurlAction::Login);
        for (name, value) in url.query_pairs() {
            match &*name {
                "tag" => is_login = value == "login",
                "k1" => k1 = Some(value.parse().map_err(|NotAK1| InvalidAuthUrl::K1)?),
                "action" => action = value.parse()?,
                _ => {}
            }
            if !names.insert(name) {
                return Err(InvalidAuthUrl::Twice);
            }
        }
        if !is_login {
            return Err(InvalidAuthUrl::NotALogin);
        }
        let k1 = k1.ok_or(InvalidAuthUrl::K1)?;
        Ok(Self { url, k1, action })
    }

    /// The URL.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The host, and its port if it is not the scheme's own: what a person must recognise.
    #[must_use]
    pub fn host(&self) -> String {
        authority(&self.url)
    }

    /// What the wallet signs.
    #[must_use]
    pub fn k1(&self) -> K1 {
        self.k1
    }

    /// What the service says that the login is for.
    #[must_use]
    pub fn action(&self) -> LnurlAction {
        self.action
    }

    /// The wallet's answer: the URL as it is, with `sig` and `key` behind it. `key` is the wallet's key for this host,
    /// as [`Wallet::linking_key`] derives it.
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
    /// The word as it stands in the URL.
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

/// Whether a URL leads to the machine that asks: `localhost`, a name below it, or a loopback address.
///
/// ```
/// assert!(signpost_auth::is_this_machine(&"http://[::1]:8080/".parse()?));
/// assert!(!signpost_auth::is_this_machine(&"http://localhost.example.com/".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(v4)) => v4.is_loopback(),
        Some(Host::Ipv6(v6)) => v6.to_canonical().is_loopback(),
        None => false,
    }
}

/// What stands behind a beginning that is written in any case.
fn without<'a>(text: &'a str, beginning: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(beginning.len())?;
    head.eq_ignore_ascii_case(beginning).then_some(rest)
}
