//! Hosted handlers: for a domain that wants it the service itself answers the wallets and keeps the users, so that its
//! integrator writes no cryptography (contract, §3.5).

pub mod routes;
mod sql;

use anyhow::Context;
use jiff::Timestamp;
use serde::Serialize;
use signpost_auth::{Mode, PublicKey};
use url::Url;

use crate::account::Environment;
use crate::app::App;
use crate::error::Error;
use crate::sessions::{Login, State};
use crate::store::Step;

pub(crate) use sql::forget_users_of;

/// Somebody who registered with a domain: a public key, in its one canonical spelling.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct HostedUser {
    pub public_key: String,
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_login_at: Option<Timestamp>,
}

/// Where wallets of a mode post: where their people reach the service. In live never in clear text.
///
/// # Errors
/// [`Error::InsecurePublicUrl`], or where the server's own address is no URL, which a server that started has checked.
pub(crate) fn url(app: &App, environment: Environment, mode: Mode) -> Result<Url, Error> {
    let address = &app.public_address;
    if environment == Environment::Live && !app.config.is_https() {
        return Err(Error::InsecurePublicUrl(address.clone()));
    }
    let text = format!("{address}{}/hosted/{mode}", environment.path());
    Ok(text.parse().with_context(|| format!("{text} is no address"))?)
}

/// What a login on one device changes among the users, once its code came back. The answer was checked against them
/// when it came; of two registrations that race the second finds what it wanted.
pub(crate) fn completes(login: &Login) -> Option<Step> {
    login.session.hosted_url.as_ref()?;
    let State::Authenticated { at, user } = &login.session.state else { return None };
    let key = PublicKey::parse(&user.public_key).ok()?;
    Some(sql::keep_user(&login.session.domain_id, &key, *at))
}
