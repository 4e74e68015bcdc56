//! Extracts the context of requests for this server's pages on an application's host, forwarded by
//! the application's proxy.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
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
use crate::flows::{FlowError, find_client_and_domain};
use crate::grants::AppSession;
use crate::ids::ClientId;
use crate::service::OpenidService;

/// The cookie of the session at an application.
pub(super) const APP_COOKIE: CookieName = CookieName::new("signpost_app");

/// The cookie of the browser that started a login at an application.
pub(super) const STATE_COOKIE: CookieName = CookieName::new("signpost_state");

/// Lifetime of [`STATE_COOKIE`], equal to the lifetime of a pending authorization.
pub(super) const STATE_COOKIE_MAX_AGE: Duration = Duration::from_hours(1);

/// Name in the log for requests to these pages, in place of the kind of a proxy.
const PAGES_LOG_NAME: &str = "pages";

/// A request for a page of this server on an application's host.
#[derive(Debug)]
pub(super) struct AppContext {
    pub(super) service: OpenidService,
    pub(super) app: AppOrigin,
    pub(super) page: AppPage,
    pub(super) session_cookie: Option<CookieSecret>,
    pub(super) state_cookie: Option<CookieSecret>,
    pub(super) now: Timestamp,
}

impl FromRequestParts<OpenidService> for AppContext {
    type Rejection = Response;

    /// Reads the application that a trusted proxy reports, and counts the request for its client IP.
    async fn from_request_parts(parts: &mut Parts, service: &OpenidService) -> Result<Self, Response> {
        let headers = &parts.headers;
        let app = read_proxied(service, parts).map_err(|fault| fault.reply(service, PAGES_LOG_NAME))?;
        let caller = peer(service, &parts.extensions, headers);
        let counted = service.limits.check(Limit::GetSession, &caller, service.clock.elapsed()).await;
        counted.map_err(|exceeded| Problem::RateLimited(exceeded).into_response())?;
        let origin = app.public_origin();
        Ok(Self {
            service: service.clone(),
            page: AppPage::new(&app, Language::choose(&parts.uri, headers)),
            app,
            session_cookie: APP_COOKIE.read(&origin, headers),
            state_cookie: STATE_COOKIE.read(&origin, headers),
            now: service.clock.now(),
        })
    }
}

impl AppContext {
    /// Returns the client with this ID, if it belongs to this application, with its domain.
    ///
    /// # Errors
    /// Returns the error response.
    pub(super) async fn find_client(&self, id: Option<&ClientId>) -> Result<(Client, Domain), Response> {
        find_app_client(&self.service, id, &self.app).await.map_err(|error| match error {
            FlowError::Refused(fault) => fault.reply(&self.service, PAGES_LOG_NAME),
            FlowError::Internal(error) => internal(error),
        })
    }

    /// Returns the valid session at the application, even if its user is not admitted.
    pub(super) async fn find_session(&self) -> Result<Option<Arc<AppSession>>, Response> {
        let Some(cookie) = &self.session_cookie else { return Ok(None) };
        let session = find_app_session(&self.service, cookie).await.map_err(internal)?;
        Ok(session.filter(|session| session.is_alive(self.now) && session.is_for_callback(&self.app.callback())))
    }
}

/// Returns the application that a request is for, as its proxy reports it.
///
/// # Errors
/// Returns an error if the request does not come from a trusted proxy, or the proxy sets the
/// headers incorrectly.
fn read_proxied(service: &OpenidService, parts: &Parts) -> Result<AppOrigin, ForwardFault> {
    if !is_from_proxy(service, &parts.extensions) {
        return Err(ForwardFault::Untrusted);
    }
    Ok(read_app(&parts.headers)?)
}

/// Returns the client with this ID, with its domain. The client must have registered the host of the application: a
/// host does not identify a client.
///
/// # Errors
/// Returns [`ForwardFault`], or a failure of the database.
pub(super) async fn find_app_client(
    service: &OpenidService,
    id: Option<&ClientId>,
    app: &AppOrigin,
) -> Result<(Client, Domain), FlowError<ForwardFault>> {
    let id = id.ok_or(FlowError::Refused(ForwardFault::NoClient))?;
    let found = find_client_and_domain(service, id).await?;
    let (client, domain) = found.ok_or(FlowError::Refused(ForwardFault::UnknownClient))?;
    let callback = app.callback();
    if !client.has_redirect_uri(&callback) {
        return Err(FlowError::Refused(ForwardFault::ForeignHost(callback)));
    }
    Ok((client, domain))
}

/// Returns the value of a query parameter. `None` if it is missing or repeated.
pub(super) fn single_parameter(uri: &Uri, name: &str) -> Option<String> {
    let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let mut values = pairs.filter(|(found, _)| found == name).map(|(_, value)| value);
    let value = values.next()?;
    if values.next().is_some() { None } else { Some(value.into_owned()) }
}

/// Returns the query parameter `client`.
pub(super) fn client_parameter(uri: &Uri) -> Option<ClientId> {
    ClientId::parse(&single_parameter(uri, "client")?)
}

/// Returns the response to an internal error.
pub(super) fn internal(error: anyhow::Error) -> Response {
    Problem::from(error).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_parameter_has_no_value() {
        for (query, value) in [
            ("client=a", Some("a")),
            ("x=1&client=a%2Fb&y", Some("a/b")),
            ("client=a&client=a", None),
            ("client=a&cl%69ent=b", None),
            ("x=client", None),
            ("", None),
        ] {
            let uri = format!("/?{query}").parse().unwrap();
            assert_eq!(single_parameter(&uri, "client").as_deref(), value, "{query}");
        }
    }
}
