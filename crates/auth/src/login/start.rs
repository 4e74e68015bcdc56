//! Starts a login: describes a session that is bound to the browser, and the cookies of its state.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};

use super::options::LoginOptions;
use super::state::{LoginState, MAX_AGE_SECS, Purpose, cookie_name, surplus_states};
use crate::client::{Flow, Metadata, NewSession};

/// A login that is about to start.
pub(super) struct LoginStart {
    state: LoginState,
}

impl LoginStart {
    /// Creates a login that continues at `next`. `random` must not be reused, and `now` is the
    /// current time in Unix seconds.
    pub(super) fn new(purpose: Purpose, next: String, random: [u8; 32], now: i64) -> Self {
        let expires = now + i64::from(MAX_AGE_SECS);
        Self { state: LoginState { browser_secret: BASE64URL_NOPAD.encode(&random), expires, purpose, next } }
    }

    /// Returns the parameters of the session to create.
    pub(super) fn session(&self, options: &LoginOptions) -> NewSession {
        let LoginOptions { domain, site, path, .. } = options;
        NewSession {
            mode: Some(self.state.purpose.mode()),
            flow: Some(Flow::Page),
            browser_hash: Some(BASE64URL_NOPAD.encode(&Sha256::digest(&self.state.browser_secret))),
            metadata: Some(Metadata::returning_to(format!("{site}{path}/return"))),
            user: self.state.purpose.user().map(str::to_owned),
            ..NewSession::on(domain)
        }
    }

    /// Returns the `Set-Cookie` values that store the state of this login and delete surplus
    /// states. `ended` are the values that delete the previous state of this login.
    pub(super) fn cookies(
        &self,
        session_id: &str,
        request_cookies: &str,
        ended: &[String],
        options: &LoginOptions,
    ) -> Vec<String> {
        let site = &options.site;
        let name = cookie_name(session_id);
        let value = self.state.sign(session_id, options.cookie_key());
        let mut set_cookies = vec![site.set_cookie(&name, &value, MAX_AGE_SECS)];
        set_cookies.extend_from_slice(ended);
        let surplus = surplus_states(request_cookies, site, &name).into_iter().map(|name| site.set_cookie(name, "", 0));
        set_cookies.extend(surplus.filter(|cookie| !ended.contains(cookie)));
        set_cookies
    }
}
