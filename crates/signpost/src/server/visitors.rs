//! Finds the user who is signed in at the system domain, on behalf of the locator, because the
//! locator does not depend on the login service.

use anyhow::Result;
use axum::http::HeaderMap;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use signpost_atm::visitors::{KnownVisitor, VisitorLookup};
use signpost_login::LoginService;
use signpost_login::domains::{Domain, sql, system_domain};
use signpost_login::flows::sign_in::{LOGIN_COOKIE, find_signed_in};
use url::form_urlencoded;

/// Looks up signed-in users of the system domain.
#[derive(Debug)]
pub(super) struct SystemDomainVisitors(pub(super) LoginService);

impl SystemDomainVisitors {
    async fn find_domain(&self) -> Result<Option<Domain>> {
        let name = system_domain::name(self.0.public_url.as_ref());
        sql::find_by_name(&self.0.store, &system_domain::account(), &name).await
    }

    async fn find_visitor(&self, headers: &HeaderMap) -> Result<Option<KnownVisitor>> {
        let Some(cookie) = LOGIN_COOKIE.read(&self.0.origin, headers) else { return Ok(None) };
        let Some(domain) = self.find_domain().await? else { return Ok(None) };
        let found = find_signed_in(&self.0, &cookie, &domain).await;
        let found = found.map_err(|error| anyhow::anyhow!("cannot read the login session: {error}"))?;
        Ok(found.map(|found| KnownVisitor { id: found.user.id.to_string(), since: found.user.created_at }))
    }
}

impl VisitorLookup for SystemDomainVisitors {
    fn find<'a>(&'a self, headers: &'a HeaderMap) -> BoxFuture<'a, Result<Option<KnownVisitor>>> {
        self.find_visitor(headers).boxed()
    }

    fn find_login_path<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<String>>> {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", path).finish();
        let find = async move {
            let domain = self.find_domain().await?;
            Ok(domain.map(|domain| format!("/account/{}?{query}", domain.id)))
        };
        find.boxed()
    }
}
