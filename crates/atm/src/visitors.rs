//! The locator's interface for looking up signed-in users. The program implements it.

use std::fmt;

use anyhow::Result;
use axum::http::HeaderMap;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

/// A signed-in user of the locator's pages, with a session on the system domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownVisitor {
    /// The user ID, a pseudonym.
    pub id: String,
    /// The time when the account was created.
    pub since: Timestamp,
}

/// A lookup of the signed-in user of a request.
pub trait VisitorLookup: fmt::Debug + Send + Sync {
    /// Returns the signed-in user of a request with these headers, if any.
    fn find<'a>(&'a self, headers: &'a HeaderMap) -> BoxFuture<'a, Result<Option<KnownVisitor>>>;

    /// Returns the path of a login page that returns to `path` after the login, if logins are available.
    fn find_login_path<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<String>>>;
}
