//! The state of a pending login, stored in a signed cookie of the browser.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

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
    pub(super) mode: Mode,
    /// The path of the site where the user continues.
    pub(super) next: String,
    /// The user who started a link, or `None` in all other modes.
    pub(super) user: Option<String>,
}

/// Returns the name of the cookie for a session. Over https, the actual name has the prefix
/// `__Host-`.
pub(super) fn cookie_name(session_id: &str) -> String {
    format!("{COOKIE_PREFIX}{}", HEXLOWER.encode(&Sha256::digest(session_id)[..8]))
}

impl LoginState {
    /// Returns the cookie value: this state, signed for this session.
    pub(super) fn sign(&self, session_id: &str, key: &[u8]) -> String {
        let Self { browser_secret, expires, mode, next, user } = self;
        let mut text = format!("v1.{browser_secret}.{expires}.{mode}.{}", BASE64URL_NOPAD.encode(next.as_bytes()));
        if let Some(user) = user {
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
        let mode: Mode = parts.next()?.parse().ok()?;
        let next = decode(parts.next()?)?;
        let user = if mode == Mode::Link { Some(decode(parts.next()?)?) } else { None };
        let state = Self { browser_secret, expires, mode, next, user };
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
    let prefix = if site.is_secure() { "__Host-" } else { "" };
    let pairs = cookies.split(';').filter_map(|pair| pair.trim_matches(' ').split_once('='));
    let states = pairs.filter_map(|(name, value)| {
        let name = name.strip_prefix(prefix)?;
        let is_state = name.strip_prefix(COOKIE_PREFIX).is_some_and(|hash| hash.len() == 16 && is_hex(hash));
        let expires = value.split('.').nth(2).and_then(parse_seconds).unwrap_or(0);
        (is_state && name != own).then_some((name, expires))
    });
    let mut states: Vec<_> = states.enumerate().collect();
    states.sort_by_key(|(_, (_, expires))| std::cmp::Reverse(*expires));
    let mut surplus_states: Vec<_> = states.into_iter().skip(MAX_STATES - 1).collect();
    surplus_states.sort_by_key(|(at, _)| *at);
    surplus_states.into_iter().map(|(_, (name, _))| name).collect()
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
