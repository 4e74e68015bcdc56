//! Starts a login: creates a session that is bound to the browser, and redirects the browser to the
//! login page.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};
use url::form_urlencoded;

use super::options::LoginOptions;
use super::state::{LoginState, MAX_AGE_SECS, cookie_name, surplus_states};
use crate::challenge::Mode;
use crate::client::{Flow, Metadata, NewSession};
use crate::receiver::is_local_path;

/// Maximum length of `next` in bytes. It is stored in a cookie, and browsers accept cookies of up
/// to 4096 bytes.
const MAX_NEXT_LEN: usize = 1024;

/// A login that is about to start.
pub(super) struct LoginStart {
    state: LoginState,
}

impl LoginStart {
    /// Creates a login. `random` must not be reused, and `now` is the current time in Unix seconds.
    /// `user` is the user who links a key, and is `None` in all other modes.
    pub(super) fn new(mode: Mode, user: Option<String>, query: &str, random: [u8; 32], now: i64) -> Self {
        let next = next_or_root(single_parameter(query, "next").unwrap_or_default());
        let expires = now + i64::from(MAX_AGE_SECS);
        Self { state: LoginState { browser_secret: BASE64URL_NOPAD.encode(&random), expires, mode, next, user } }
    }

    /// Returns the parameters of the session to create.
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

    /// Returns the `Set-Cookie` values that store the state of this login and delete surplus
    /// states.
    pub(super) fn cookies(&self, session_id: &str, request_cookies: &str, options: &LoginOptions) -> Vec<String> {
        let site = &options.site;
        let name = cookie_name(session_id);
        let value = self.state.sign(session_id, options.cookie_key());
        let ended = surplus_states(request_cookies, site, &name).into_iter().map(|name| site.set_cookie(name, "", 0));
        [site.set_cookie(&name, &value, MAX_AGE_SECS)].into_iter().chain(ended).collect()
    }
}

/// Returns the value of a query parameter, or `None` if it is missing or repeated.
pub(super) fn single_parameter(query: &str, name: &str) -> Option<String> {
    let mut found = form_urlencoded::parse(query.as_bytes()).filter(|(other, _)| other == name);
    let (_, value) = found.next()?;
    if found.next().is_some() { None } else { Some(value.into_owned()) }
}

/// Returns `next` if it is a path of this site, and the root path otherwise.
pub(super) fn next_or_root(next: String) -> String {
    if is_local_path(&next) && next.len() <= MAX_NEXT_LEN { next } else { "/".to_owned() }
}
