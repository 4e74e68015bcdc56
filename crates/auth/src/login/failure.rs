//! The reasons for a failed login.

use std::fmt;

use super::navigation::encode_query;
use super::options::LoginOptions;
use crate::client::{ErrorCode, SignpostError};

/// Reason a user was not logged in. It is the value of `login_error` in the query of the site's
/// failure page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginFailure {
    /// The user cancelled the login: `access_denied`.
    AccessDenied,
    /// The login expired: `expired`.
    Expired,
    /// The login was started in another browser: `other_browser`.
    OtherBrowser,
    /// The service rejected the completion code, or a link is not allowed: `refused`.
    Refused,
    /// The service cannot be reached, or rejected the call of the site: `unavailable`.
    Unavailable,
}

impl LoginFailure {
    /// Returns the failure to show to the user for an error of the service.
    pub(super) fn of(error: &SignpostError) -> Self {
        match error.code {
            ErrorCode::InvalidResponse => return Self::Unavailable,
            ErrorCode::SessionExpired => return Self::Expired,
            ErrorCode::SessionNotFound | ErrorCode::UserNotFound | ErrorCode::RecentLoginRequired => {
                return Self::Refused;
            }
            _ => {}
        }
        let is_other_browser = error.details.get("reason").is_some_and(|reason| reason == "browser");
        match error.status {
            Some(406) if is_other_browser => Self::OtherBrowser,
            Some(406 | 409 | 410) => Self::Refused,
            _ => Self::Unavailable,
        }
    }

    /// Returns the URL of the page that shows the failure. `next` is the checked path to continue
    /// at.
    pub(super) fn page(self, next: &str, options: &LoginOptions) -> String {
        let path = &options.failed_path;
        let separator = if path.contains('?') { '&' } else { '?' };
        let next = if next == "/" { String::new() } else { format!("&next={}", encode_query(next)) };
        format!("{path}{separator}login_error={self}{next}")
    }
}

impl fmt::Display for LoginFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AccessDenied => "access_denied",
            Self::Expired => "expired",
            Self::OtherBrowser => "other_browser",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
        })
    }
}
