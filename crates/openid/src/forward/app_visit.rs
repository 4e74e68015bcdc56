//! Who comes to a page of ours on an application's host, by way of its proxy.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use signpost_login::domains::Domain;
use signpost_platform::limits::Limit;
use signpost_platform::pages::Language;
use signpost_platform::pages::cookie::{CookieName, CookieSecret};
use signpost_platform::web::peer::{is_from_proxy, peer};
use signpost_platform::web::problem::Problem;
use url::form_urlencoded;

use super::app_origin::AppOrigin;
use super::app_page::AppPage;
use super::faults::ForwardFault;
use super::original::read_app;
use crate::clients::Client;
use crate::flows::app_sessions::find_app_session;
use crate::flows::{FlowError, find_client_realm};
use crate::grants::AppSession;
use crate::ids::ClientId;
use crate::service::OpenidService;

/// By what an application's host knows who is logged in there.
pub(super) const APP_COOKIE: CookieName = CookieName::new("signpost_app");

/// By what it knows which browser began a login.
pub(super) const STATE_COOKIE: CookieName = CookieName::new("signpost_state");

/// How long a browser keeps that: as long as a login waits for its person.
pub(super) const STATE_COOKIE_LASTS: Duration = Duration::from_hours(1);

/// What the log calls the way to these pages.
const PAGES: &str = "pages";

/// A request for a page of ours on an application's host.
#[derive(Debug)]
pub(super) struct AppVisit {
    pub(super) service: OpenidService,
    pub(super) app: AppOrigin,
    pub(super) page: AppPage,
    pub(super) session_cookie: Option<CookieSecret>,
    pub(super) state_cookie: Option<CookieSecret>,
    pub(super) now: Timestamp,
}

impl AppVisit {
    /// Takes a request that came by way of a proxy, and counts it for its client's address.
    ///
    /// # Errors
    /// The reply that refuses it.
    pub(super) async fn begin(service: OpenidService, language: Language, parts: &Parts) -> Result<Self, Response> {
        let headers = &parts.headers;
        let app = read_proxied(&service, &parts.extensions, headers);
        let app = app.map_err(|fault| fault.reply(&service, PAGES))?;
        let caller = peer(&service, &parts.extensions, headers);
        let counted = service.limits.check(Limit::GetSession, &caller, service.clock.elapsed()).await;
        counted.map_err(|exceeded| Problem::RateLimited(exceeded).into_response())?;
        let origin = app.public_origin();
        let [session_cookie, state_cookie] = [APP_COOKIE, STATE_COOKIE].map(|cookie| cookie.read(&origin, headers));
        let (page, now) = (AppPage::new(&app, language), service.clock.now());
        Ok(Self { service, app, page, session_cookie, state_cookie, now })
    }

    /// The client, where it is one of this application.
    ///
    /// # Errors
    /// The reply that says what is wrong.
    pub(super) async fn find_client(&self, id: Option<&ClientId>) -> Result<(Client, Domain), Response> {
        find_app_client(&self.service, id, &self.app).await.map_err(|error| match error {
            FlowError::Refused(fault) => fault.reply(&self.service, PAGES),
            FlowError::Internal(error) => internal(error),
        })
    }

    /// Who is logged in to the application, whether the operator named them or not.
    pub(super) async fn find_session(&self) -> Result<Option<Arc<AppSession>>, Response> {
        let Some(cookie) = &self.session_cookie else { return Ok(None) };
        let session = find_app_session(&self.service, cookie).await.map_err(internal)?;
        Ok(session.filter(|session| session.is_alive(self.now) && session.is_at(&self.app.callback())))
    }
}

/// The application that a request came for, by way of a proxy that may say so.
pub(super) fn read_proxied(
    service: &OpenidService,
    extensions: &Extensions,
    headers: &HeaderMap,
) -> Result<AppOrigin, ForwardFault> {
    if !is_from_proxy(service, extensions) {
        return Err(ForwardFault::Untrusted);
    }
    Ok(read_app(headers)?)
}

/// The client with this id, where the application is one of its own, with its realm. An application is never known by its
/// host alone: a client must have registered that host.
///
/// # Errors
/// [`ForwardFault`], or a failure of the database.
pub(super) async fn find_app_client(
    service: &OpenidService,
    id: Option<&ClientId>,
    app: &AppOrigin,
) -> Result<(Client, Domain), FlowError<ForwardFault>> {
    let id = id.ok_or(FlowError::Refused(ForwardFault::NoClient))?;
    let found = find_client_realm(service, id).await?;
    let (client, domain) = found.ok_or(FlowError::Refused(ForwardFault::UnknownClient))?;
    let callback = app.callback();
    if !client.has_redirect_uri(&callback) {
        return Err(FlowError::Refused(ForwardFault::ForeignHost(callback)));
    }
    Ok((client, domain))
}

/// A parameter that stands in a query once.
pub(super) fn only_parameter(uri: &Uri, name: &str) -> Option<String> {
    let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let mut values = pairs.filter(|(found, _)| found == name).map(|(_, value)| value.into_owned());
    values.next().filter(|_| values.next().is_none())
}

/// The parameter `client`.
pub(super) fn client_parameter(uri: &Uri) -> Option<ClientId> {
    only_parameter(uri, "client").and_then(|text| ClientId::parse(&text))
}

pub(super) fn internal(error: anyhow::Error) -> Response {
    Problem::from(error).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_that_stands_there_twice_says_nothing() {
        for (query, value) in [
            ("client=a", Some("a")),
            ("x=1&client=a%2Fb&y", Some("a/b")),
            ("client=a&client=a", None),
            ("client=a&cl%69ent=b", None),
            ("x=client", None),
            ("", None),
        ] {
            let uri = format!("/?{query}").parse().unwrap();
            assert_eq!(only_parameter(&uri, "client").as_deref(), value, "{query}");
        }
    }
}
