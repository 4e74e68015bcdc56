//! The state of a pending login, stored in a signed cookie of the browser.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::query::next_or_root;
use crate::challenge::Mode;
use crate::receiver::SiteOrigin;

/// Maximum duration of a login in seconds.
pub(super) const MAX_AGE_SECS: u32 = 30 * 60;
/// Maximum number of concurrent logins of a browser, because each state is sent with every request.
const MAX_STATES: usize = 3;
const COOKIE_PREFIX: &str = "signpost-";

/// The state of a login that a browser started.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct LoginState {
    /// The secret whose hash is stored with the session.
    pub(super) browser_secret: String,
    /// The time of expiry in Unix seconds.
    pub(super) expires: i64,
    pub(super) purpose: Purpose,
    /// The path of the site where the user continues.
    pub(super) next: String,
}

/// The purpose of a login that a browser started.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    Login,
    Register,
    /// Adds a key to the account of this user.
    Link {
        user: String,
    },
    /// Logs this user in again, before a link.
    Confirm {
        user: String,
    },
}

impl Purpose {
    /// Returns the user of a link, or of the login before it.
    pub(super) fn user(&self) -> Option<&str> {
        match self {
            Self::Login | Self::Register => None,
            Self::Link { user } | Self::Confirm { user } => Some(user),
        }
    }

    /// Returns the mode of the session.
    pub(super) fn mode(&self) -> Mode {
        match self {
            Self::Login | Self::Confirm { .. } => Mode::Login,
            Self::Register => Mode::Register,
            Self::Link { .. } => Mode::Link,
        }
    }

    /// Returns the name in the cookie.
    fn as_str(&self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Register => "register",
            Self::Link { .. } => "link",
            Self::Confirm { .. } => "confirm",
        }
    }

    /// Parses the name in the cookie, with the user.
    fn parse(name: &str, user: Option<String>) -> Option<Self> {
        match (name, user) {
            ("login", None) => Some(Self::Login),
            ("register", None) => Some(Self::Register),
            ("link", Some(user)) => Some(Self::Link { user }),
            ("confirm", Some(user)) => Some(Self::Confirm { user }),
            _ => None,
        }
    }
}

/// Returns the name of the cookie for a session. Over https, the actual name has the prefix
/// `__Host-`.
pub(super) fn cookie_name(session_id: &str) -> String {
    format!("{COOKIE_PREFIX}{}", HEXLOWER.encode(&Sha256::digest(session_id)[..8]))
}

impl LoginState {
    /// Returns the cookie value: this state, signed for this session.
    pub(super) fn sign(&self, session_id: &str, key: &[u8]) -> String {
        let Self { browser_secret, expires, purpose, next } = self;
        let next = BASE64URL_NOPAD.encode(next.as_bytes());
        let mut text = format!("v1.{browser_secret}.{expires}.{}.{next}", purpose.as_str());
        if let Some(user) = purpose.user() {
            text.push('.');
            text.push_str(&BASE64URL_NOPAD.encode(user.as_bytes()));
        }
        let tag = mac(session_id, &text, key).finalize().into_bytes();
        format!("{text}.{}", BASE64URL_NOPAD.encode(&tag))
    }

    /// Parses a cookie value. Returns `None` if it was not signed for this session, or has expired.
    pub(super) fn parse(value: &str, session_id: &str, key: &[u8], now: i64) -> Option<Self> {
        let (text, tag) = value.rsplit_once('.')?;
        let tag = BASE64URL_NOPAD.decode(tag.as_bytes()).ok()?;
        mac(session_id, text, key).verify_slice(&tag).ok()?;
        let mut parts = text.strip_prefix("v1.")?.split('.');
        let browser_secret = parts.next()?.to_owned();
        let expires = parts.next()?.parse().ok()?;
        let purpose = parts.next()?;
        let next = next_or_root(decode(parts.next()?)?);
        let user = match parts.next() {
            Some(user) => Some(decode(user)?),
            None => None,
        };
        let purpose = Purpose::parse(purpose, user)?;
        let state = Self { browser_secret, expires, purpose, next };
        (parts.next().is_none() && now < expires).then_some(state)
    }
}

/// Decodes a part in base64url without padding.
fn decode(part: &str) -> Option<String> {
    String::from_utf8(BASE64URL_NOPAD.decode(part.as_bytes()).ok()?).ok()
}

/// Returns the names of the state cookies to delete, so that a new state fits: all except those
/// with the latest expiry, in the order of the request.
pub(super) fn surplus_states<'a>(cookies: &'a str, site: &SiteOrigin, own: &str) -> Vec<&'a str> {
    let mut states: Vec<(usize, (&str, i64))> =
        states(cookies, site).into_iter().filter(|(name, _)| *name != own).enumerate().collect();
    states.sort_by_key(|(_, (_, expires))| std::cmp::Reverse(*expires));
    let mut surplus_states: Vec<_> = states.into_iter().skip(MAX_STATES - 1).collect();
    surplus_states.sort_by_key(|(at, _)| *at);
    surplus_states.into_iter().map(|(_, (name, _))| name).collect()
}

/// Returns the `Set-Cookie` values that delete all states of a browser.
pub(super) fn ended_states(cookies: &str, site: &SiteOrigin) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in states(cookies, site) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().map(|name| site.set_cookie(name, "", 0)).collect()
}

/// Returns the names of the state cookies without their prefix, and the times of expiry in Unix
/// seconds, which are not verified.
fn states<'a>(cookies: &'a str, site: &SiteOrigin) -> Vec<(&'a str, i64)> {
    let prefix = if site.is_secure() { "__Host-" } else { "" };
    let pairs = cookies.split(';').filter_map(|pair| pair.trim_matches(' ').split_once('='));
    let states = pairs.filter_map(|(name, value)| {
        let name = name.strip_prefix(prefix)?;
        let is_state = name.strip_prefix(COOKIE_PREFIX).is_some_and(|hash| hash.len() == 16 && is_hex(hash));
        let expires = value.split('.').nth(2).and_then(parse_seconds).unwrap_or(0);
        is_state.then_some((name, expires))
    });
    states.collect()
}

fn parse_seconds(text: &str) -> Option<i64> {
    let is_time = text.len() <= 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_time { text.parse().ok() } else { None }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

fn mac(session_id: &str, text: &str, key: &[u8]) -> Hmac<Sha256> {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.chain_update(format!("signpost-state:{session_id}:{text}"))
}
