//! The services of one server, on the platform that they share.

use std::ops::Deref;

use signpost_atm::AtmService;
use signpost_login::LoginService;
use signpost_openid::OpenidService;
use signpost_platform::Platform;

use crate::config::Config;

/// The services of one server, on the platform that they share.
#[derive(Debug)]
pub struct App {
    /// The operator's decisions.
    pub config: Config,
    /// What both services share.
    pub platform: Platform,
    /// The login service.
    pub login: LoginService,
    /// Standard login.
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
