//! Builds the URLs of the hosted handlers for wallets' answers.

use anyhow::Context;
use signpost_auth::Mode;
use signpost_platform::accounts::{Account, Environment};
use url::Url;

use crate::error::Error;
use crate::service::LoginService;

/// Returns the URL of the hosted handler of a mode, at the public address. Live sessions require https, except for the
/// system domain on a local address.
///
/// # Errors
/// Returns [`Error::InsecurePublicUrl`], or an internal error if the public address is not a URL,
/// which is checked at the start.
pub(crate) fn make_hosted_url(service: &LoginService, account: &Account, mode: Mode) -> Result<Url, Error> {
    let address = &service.public_address;
    let environment = account.environment;
    let is_own = account.is_server() && service.is_loopback_only;
    if environment == Environment::Live && !service.is_https && !is_own {
        return Err(Error::InsecurePublicUrl(address.clone()));
    }
    Ok(hosted_url_at(address, environment, mode)?)
}

/// Returns the URL of the hosted handler of a mode, at this public address, without a check for https.
///
/// # Errors
/// Returns an error if the address is not a URL.
pub(crate) fn hosted_url_at(address: &str, environment: Environment, mode: Mode) -> anyhow::Result<Url> {
    let text = format!("{address}{}/hosted/{mode}", environment.path());
    text.parse().with_context(|| format!("{text} is no address"))
}
