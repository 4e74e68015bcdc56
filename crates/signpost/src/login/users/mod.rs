//! Hosted handlers: for a domain that wants it the service itself answers the wallets and keeps the users, so that its
//! integrator writes no cryptography (docs/handlers.md, Hosted handlers).

pub mod sql;

use anyhow::Context;
use jiff::Timestamp;
use serde::Serialize;
use signpost_auth::{Mode, PublicKey};
use url::Url;

use crate::app::App;
use crate::login::sessions::{Login, Session, SessionState};
use crate::platform::accounts::Environment;
use crate::platform::web::problem::Error;
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
/// when it came, and who was deleted since logs in no more; of two registrations that race the second finds what it
/// wanted.
///
/// # Errors
/// Where the answer that was kept has no key.
pub(crate) fn completes(login: &Login) -> anyhow::Result<Option<Step>> {
    let Session { domain_id, challenge, hosted_url: Some(_), state: SessionState::Authenticated { at, user }, .. } =
        &login.session
    else {
        return Ok(None);
    };
    let key = PublicKey::parse(&user.public_key).context("sessions.answer")?;
    Ok(Some(match challenge.mode {
        Mode::Login => sql::log_in_user(domain_id, &key, *at),
        Mode::Register => sql::keep_user(domain_id, &key, *at),
    }))
}
