//! Where a login begins: a browser is bound to a session, and sent to its page.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};
use url::form_urlencoded;

use super::options::LoginOptions;
use super::state::{LoginState, MAX_AGE_SECS, cookie_name, crowded};
use crate::challenge::Mode;
use crate::client::{Flow, Metadata, NewSession};
use crate::receiver::is_local_path;

/// The longest place to go on to, in bytes: it is in a cookie, of which browsers take 4096.
const MAX_NEXT_LEN: usize = 1024;

/// A login that is about to begin.
pub(super) struct LoginStart {
    state: LoginState,
}

impl LoginStart {
    /// Creates the login. `random` is drawn for this login alone; `now` is in Unix seconds. `user` is the user who adds a key,
    /// and `None` for every other mode.
    pub(super) fn new(mode: Mode, user: Option<String>, query: &str, random: [u8; 32], now: i64) -> Self {
        let mut places = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "next");
        let place = places.next().filter(|_| places.next().is_none());
        let next = next_or_root(place.map(|(_, value)| value.into_owned()).unwrap_or_default());
        let expires = now + i64::from(MAX_AGE_SECS);
        Self { state: LoginState { browser_secret: BASE64URL_NOPAD.encode(&random), expires, mode, next, user } }
    }

    /// Returns the request that creates the session.
    pub(super) fn session(&self, options: &LoginOptions) -> NewSession {
        let LoginOptions { domain, site, path, .. } = options;
        NewSession {
            mode: Some(self.state.mode),
            flow: Some(Flow::Page),
            browser_hash: Some(BASE64URL_NOPAD.encode(&Sha256::digest(&self.state.browser_secret))),
            metadata: Some(Metadata::returning_to(format!("{site}{path}/return"))),
            user: self.state.user.clone(),
            ..NewSession::on(domain)
        }
    }

    /// The cookies that the browser gets: the state of this session, and the end of those that are too many.
    pub(super) fn cookies(&self, session_id: &str, came: &str, options: &LoginOptions) -> Vec<String> {
        let (site, name) = (&options.site, cookie_name(session_id));
        let value = self.state.sign(session_id, options.cookie_key());
        let ended = crowded(came, site, &name).into_iter().map(|name| site.set_cookie(name, "", 0));
        [site.set_cookie(&name, &value, MAX_AGE_SECS)].into_iter().chain(ended).collect()
    }
}

/// A place to go on to, if it is one of this site, else the root.
pub(super) fn next_or_root(next: String) -> String {
    let is_next = is_local_path(&next) && next.len() <= MAX_NEXT_LEN;
    if is_next { next } else { "/".to_owned() }
}
