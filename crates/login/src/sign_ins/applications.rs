//! The interface to the sign-ins at applications, whose rows belong to a crate above this one.

use std::fmt::Debug;

use anyhow::Result;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use signpost_store::{Statement, Store};

use super::{SignIn, SignInsQuery};
use crate::ids::{BrowserSessionId, DomainId, SignInId, UserId};

/// Lists and ends the sign-ins at applications. A sign-in ends with all of its authorization codes and tokens.
pub trait ApplicationSignIns: Debug + Send + Sync {
    /// Returns the valid sign-ins of a user at applications, newest first.
    fn list<'a>(&'a self, store: &'a Store, query: SignInsQuery<'a>) -> BoxFuture<'a, Result<Vec<SignIn>>>;

    /// Returns the client ID of a sign-in of a user of the domain. `None` if [`Self::list`] does not return it.
    fn find_client<'a>(
        &'a self,
        store: &'a Store,
        id: &'a SignInId,
        domain: &'a DomainId,
        user: &'a UserId,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<String>>>;

    /// Returns the statement that ends a sign-in of a user of the domain. It refuses the write if there is no such
    /// sign-in.
    fn end_statement(&self, id: &SignInId, domain: &DomainId, user: &UserId, now: Timestamp) -> Statement;

    /// Returns the statement that ends the sign-ins that were authorized in a browser session at the domain.
    fn end_of_browser_statement(&self, browser: &BrowserSessionId, domain: &DomainId, now: Timestamp) -> Statement;
}
