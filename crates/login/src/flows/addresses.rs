//! Where the service itself takes answers.

use anyhow::Context;
use signpost_auth::Mode;
use signpost_platform::accounts::Environment;
use url::Url;

use crate::error::Error;
use crate::service::LoginService;

/// Where wallets of a mode post: where their people reach the service. In live never in clear text.
///
/// # Errors
/// [`Error::InsecurePublicUrl`], or where the server's own address is no URL, which a server that started has checked.
pub(crate) fn make_hosted_url(service: &LoginService, environment: Environment, mode: Mode) -> Result<Url, Error> {
    let address = &service.public_address;
    if environment == Environment::Live && !service.is_https {
        return Err(Error::InsecurePublicUrl(address.clone()));
    }
    let text = format!("{address}{}/hosted/{mode}", environment.path());
    Ok(text.parse().with_context(|| format!("{text} is no address"))?)
}
