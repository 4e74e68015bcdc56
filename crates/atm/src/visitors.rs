//! Signed-in visitors of the locator's pages, as provided by the program.

use std::fmt;

use anyhow::Result;
use axum::http::HeaderMap;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

/// A user with a session on the server's own domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownVisitor {
    /// The user ID, a pseudonym.
    pub id: String,
    /// When the user was created.
    pub since: Timestamp,
}

/// A lookup of signed-in users for the locator's pages on the same host.
pub trait VisitorLookup: fmt::Debug + Send + Sync {
    /// Returns the signed-in user of a request with these headers.
    fn find<'a>(&'a self, headers: &'a HeaderMap) -> BoxFuture<'a, Result<Option<KnownVisitor>>>;

    /// Returns the path of the login page that leads back to `path` of this server.
    fn find_login_path<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<String>>>;
}
