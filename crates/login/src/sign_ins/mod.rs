//! Sign-ins of a user: in browsers at the login host, and at applications with a grant. The account page shows them to
//! users, the API to integrators.
//!
//! A sign-in in a browser is a [browser session](crate::browser_sessions). Grants belong to the crate for OpenID
//! Connect, a crate above: it implements [`ApplicationSignIns`].

mod applications;
pub mod sql;

use jiff::Timestamp;

use crate::browser_sessions::SignInBrowser;
use crate::ids::{DomainId, SignInId, UserId};

pub use applications::ApplicationSignIns;

/// A sign-in of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// The ID. IDs sort by time.
    pub id: SignInId,
    /// The kind of place.
    pub place: SignInPlace,
    /// The time when the user signed in.
    pub created_at: Timestamp,
    /// The time of the last recorded use.
    pub last_used_at: Timestamp,
    /// The browser of the login.
    pub browser: SignInBrowser,
}

/// The place of a sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignInPlace {
    /// A browser at the login host.
    Browser,
    /// An application with tokens, or with a session behind a proxy.
    Application(SignInApplication),
}

/// The application of a sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInApplication {
    /// The client ID.
    pub client_id: String,
    /// The name of the client.
    pub name: Option<String>,
    /// The host of the redirect URI.
    pub host: String,
}

/// A page of the valid sign-ins of a user, newest first.
#[derive(Clone, Copy, Debug)]
pub struct SignInsQuery<'a> {
    /// The domain of the user.
    pub domain: &'a DomainId,
    /// The user.
    pub user: &'a UserId,
    /// The last sign-in of the previous page.
    pub before: Option<&'a SignInId>,
    /// Maximum number of sign-ins.
    pub limit: u32,
    /// The time at which the sign-ins must be valid.
    pub now: Timestamp,
}

impl SignInPlace {
    /// Returns the name in the API.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Application(_) => "grant",
        }
    }

    /// Returns the client ID of an application.
    #[must_use]
    pub fn client_id(&self) -> Option<&str> {
        match self {
            Self::Browser => None,
            Self::Application(application) => Some(&application.client_id),
        }
    }
}
