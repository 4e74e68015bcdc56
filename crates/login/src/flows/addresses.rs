//! Where the service itself takes answers.

use anyhow::Context;
use signpost_auth::Mode;
use signpost_platform::accounts::{Account, Environment};
use url::Url;

use crate::error::Error;
use crate::service::LoginService;

/// Where wallets of a mode post: where their people reach the service. In live never in clear text, but for the server's
/// own domain on its own machine.
///
/// # Errors
/// [`Error::InsecurePublicUrl`], or where the server's own address is no URL, which a server that started has checked.
pub(crate) fn make_hosted_url(service: &LoginService, account: &Account, mode: Mode) -> Result<Url, Error> {
    let address = &service.public_address;
    let environment = account.environment;
    let is_own = account.is_server() && service.serves_only_its_machine;
    if environment == Environment::Live && !service.is_https && !is_own {
        return Err(Error::InsecurePublicUrl(address.clone()));
    }
    Ok(hosted_url_at(address, environment, mode)?)
}

/// The same at a public address, whatever is allowed there.
///
/// # Errors
/// Where that is no URL.
pub(crate) fn hosted_url_at(address: &str, environment: Environment, mode: Mode) -> anyhow::Result<Url> {
    let text = format!("{address}{}/hosted/{mode}", environment.path());
    text.parse().with_context(|| format!("{text} is no address"))
}
