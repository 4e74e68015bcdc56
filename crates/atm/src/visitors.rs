//! Who comes to the locator's pages. It knows nobody by itself: the program may tell it who is signed in.

use std::fmt;

use anyhow::Result;
use axum::http::HeaderMap;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

/// Somebody who is signed in at the server's own domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownVisitor {
    /// Their id, which names no person.
    pub id: String,
    /// Since when they have it.
    pub since: Timestamp,
}

/// Tells who is signed in, for the locator's pages on the same host.
pub trait VisitorLookup: fmt::Debug + Send + Sync {
    /// Who sent a request with these headers, if they are signed in.
    fn find<'a>(&'a self, headers: &'a HeaderMap) -> BoxFuture<'a, Result<Option<KnownVisitor>>>;

    /// The path of the page where people log in, which leads them back to `path` of this server.
    fn find_login_path<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<String>>>;
}
