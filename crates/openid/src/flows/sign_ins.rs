//! The sign-ins of users at applications, for the account pages and the API of the login service.

use anyhow::Result;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use signpost_login::ids::{BrowserSessionId, DomainId, SignInId, UserId};
use signpost_login::sign_ins::{ApplicationSignIns, SignIn, SignInApplication, SignInPlace, SignInsQuery};
use signpost_store::{Statement, Store};

use crate::authorizations::host_of;
use crate::grants::sign_in_sql::{self, GrantSignIn};
use crate::grants::sql::revoke_by_browser_statement;
use crate::ids::GrantId;

/// The grants of OpenID Connect and of forward authentication, as sign-ins.
#[derive(Clone, Copy, Debug)]
pub struct OpenidSignIns;

impl ApplicationSignIns for OpenidSignIns {
    fn list<'a>(&'a self, store: &'a Store, query: SignInsQuery<'a>) -> BoxFuture<'a, Result<Vec<SignIn>>> {
        Box::pin(async move {
            let grants = sign_in_sql::list(store, query).await?;
            Ok(grants.into_iter().map(sign_in).collect())
        })
    }

    fn find_client<'a>(
        &'a self,
        store: &'a Store,
        id: &'a SignInId,
        domain: &'a DomainId,
        user: &'a UserId,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<String>>> {
        Box::pin(async move {
            let client = sign_in_sql::find_client(store, &GrantId::of_sign_in(id), (domain, user), now).await?;
            Ok(client.map(|client| client.to_string()))
        })
    }

    fn end_statement(&self, id: &SignInId, domain: &DomainId, user: &UserId, now: Timestamp) -> Statement {
        sign_in_sql::revoke_statement(&GrantId::of_sign_in(id), domain, user, now)
    }

    fn end_of_browser_statement(&self, browser: &BrowserSessionId, domain: &DomainId, now: Timestamp) -> Statement {
        revoke_by_browser_statement(browser, domain, now)
    }
}

fn sign_in(grant: GrantSignIn) -> SignIn {
    let GrantSignIn { id, client_id, settings, redirect_uri, created_at, used_at, browser } = grant;
    SignIn {
        id: SignInId::from_grant(id.as_str()),
        place: SignInPlace::Application(SignInApplication {
            client_id: client_id.to_string(),
            name: settings.name.map(|name| name.as_str().to_owned()),
            host: host_of(&redirect_uri),
        }),
        created_at,
        last_used_at: used_at,
        browser,
    }
}
