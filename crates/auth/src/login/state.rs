//! The state between start and return, in a signed cookie of the browser.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::challenge::Mode;
use crate::receiver::SiteOrigin;

/// Maximum duration of a login, in seconds.
pub(super) const MAX_AGE_SECS: u32 = 30 * 60;
/// Maximum number of concurrent logins of a browser: each state is sent with every request.
const MAX_STATES: usize = 3;
const COOKIE_PREFIX: &str = "signpost-";

/// A login that a browser started.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct LoginState {
    /// The secret whose hash the session has.
    pub(super) browser_secret: String,
    /// When it expires, in Unix seconds.
    pub(super) expires: i64,
    pub(super) mode: Mode,
    /// The path to continue at.
    pub(super) next: String,
    /// The user who began a link. `None` for every other mode.
    pub(super) user: Option<String>,
}

/// Returns the name of the cookie of a session, without the prefix `__Host-` that it has over https.
pub(super) fn cookie_name(session_id: &str) -> String {
    format!("{COOKIE_PREFIX}{}", HEXLOWER.encode(&Sha256::digest(session_id)[..8]))
}

impl LoginState {
    /// Returns the value of the cookie, signed for this session.
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

    /// Reads the value of the cookie, if it was signed for this session and has not expired.
    pub(super) fn read(value: &str, session_id: &str, key: &[u8], now: i64) -> Option<Self> {
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

/// Parses a part in base64url without padding.
fn decode(part: &str) -> Option<String> {
    String::from_utf8(BASE64URL_NOPAD.decode(part.as_bytes()).ok()?).ok()
}

/// Returns the names of the states that are removed to make room for a new state, in the order of the request: all but
/// those that expire last.
pub(super) fn surplus_states<'a>(cookies: &'a str, site: &SiteOrigin, own: &str) -> Vec<&'a str> {
    let prefix = if site.is_secure() { "__Host-" } else { "" };
    let pairs = cookies.split(';').filter_map(|pair| pair.trim_matches(' ').split_once('='));
    let states = pairs.filter_map(|(name, value)| {
        let name = name.strip_prefix(prefix)?;
        let is_state = name.strip_prefix(COOKIE_PREFIX).is_some_and(|hash| hash.len() == 16 && is_hex(hash));
        let ends = value.split('.').nth(2).and_then(seconds).unwrap_or(0);
        (is_state && name != own).then_some((name, ends))
    });
    let mut states: Vec<_> = states.enumerate().collect();
    states.sort_by_key(|(_, (_, ends))| std::cmp::Reverse(*ends));
    let mut surplus_states: Vec<_> = states.into_iter().skip(MAX_STATES - 1).collect();
    surplus_states.sort_by_key(|(at, _)| *at);
    surplus_states.into_iter().map(|(_, (name, _))| name).collect()
}

fn seconds(text: &str) -> Option<i64> {
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
