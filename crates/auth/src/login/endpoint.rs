//! The endpoints that browsers open.

use axum::http::Method;

use super::site::LoginStep;

/// An endpoint that browsers open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoginEndpoint {
    Login,
    Register,
    Link,
    Return,
    Logout,
}

impl LoginEndpoint {
    pub(super) const ALL: [Self; 5] = [Self::Login, Self::Register, Self::Link, Self::Return, Self::Logout];

    /// Returns the path below the configured path.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Login => "/login",
            Self::Register => "/register",
            Self::Link => "/link",
            Self::Return => "/return",
            Self::Logout => "/logout",
        }
    }

    pub(super) fn step(self) -> LoginStep {
        match self {
            Self::Login | Self::Register => LoginStep::Start,
            Self::Link => LoginStep::Link,
            Self::Return => LoginStep::Return,
            Self::Logout => LoginStep::Logout,
        }
    }

    /// Returns the value of the header `Allow`.
    pub(super) fn allowed_methods(self) -> &'static str {
        if self == Self::Logout { "GET, POST" } else { "GET" }
    }

    /// Returns `true` if the endpoint accepts the method. `HEAD` must not start or complete a login.
    pub(super) fn allows(self, method: &Method) -> bool {
        method == Method::GET || (self == Self::Logout && method == Method::POST)
    }

    /// Returns `true` if the endpoint ignores prefetches. The login page redirects to `/return`,
    /// where all requests count.
    pub(super) fn ignores_prefetches(self) -> bool {
        self != Self::Return
    }

    /// Returns `true` if the endpoint redirects requests from another host to the site.
    pub(super) fn requires_own_host(self) -> bool {
        matches!(self, Self::Login | Self::Register | Self::Link)
    }
}
