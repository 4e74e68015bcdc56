//! The application state of a server.

use std::ops::Deref;

use signpost_atm::AtmService;
use signpost_login::LoginService;
use signpost_openid::OpenidService;
use signpost_platform::Platform;

use crate::config::Config;

/// The services of a server, and the platform that they share.
#[derive(Debug)]
pub struct App {
    /// The settings.
    pub config: Config,
    /// The platform.
    pub platform: Platform,
    /// The login service.
    pub login: LoginService,
    /// The OpenID Connect service.
    pub openid: OpenidService,
    /// The ATM service.
    pub atm: AtmService,
}

impl Deref for App {
    type Target = Platform;

    fn deref(&self) -> &Platform {
        &self.platform
    }
}
