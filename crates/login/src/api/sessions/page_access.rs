//! Pages that follow their own session: a browser comes from the session's domain, with its client secret.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use signpost_auth::DomainName;
use signpost_platform::accounts::Environment;
use signpost_platform::limits::{Caller, Limit, release_in_progress};
use signpost_platform::web::api_key::{Door, bearer};
use signpost_platform::web::around::{Behind, Surrounding};
use signpost_platform::web::path_id::PathId;
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;
use url::{Host, Url};

use crate::api::sessions::replies::Viewer;
use crate::error::Error;
use crate::ids::SessionId;
use crate::service::LoginService;
use crate::sessions::{ClientSecret, Session};

/// What reading a session asks of those who come, with a key or with a client secret.
#[derive(Clone)]
pub(crate) struct PageDoor {
    pub(crate) service: LoginService,
    pub(crate) environment: Environment,
    pub(crate) door: Door,
}

/// Lets API keys in as elsewhere, and client secrets to their own session; answers browsers of the session's domain so
/// that their pages may read the reply.
impl Surrounding for PageDoor {
    async fn answer(self, request: Request, behind: Behind) -> Response {
        let Self { service, environment, door } = self;
        let is_preflight = request.method() == Method::OPTIONS;
        let secret = bearer(request.headers()).and_then(ClientSecret::parse);
        let origin = request.headers().get(header::ORIGIN).cloned();
        // An API key is not for pages: whoever sends one gets no leave to read the reply from a page.
        if secret.is_none() && !(is_preflight && origin.is_some()) {
            return door.answer(request, behind).await;
        }
        let (mut parts, body) = request.into_parts();
        let Ok(PathId(id)) = PathId::from_request_parts(&mut parts, &()).await;
        let request = Request::from_parts(parts, body);
        let session = match find(&service, environment, &id).await {
            Ok(session) => session,
            Err(error) => return error.into_response(),
        };
        let own = |session: &Session, origin: &HeaderValue| is_of(origin, &session.challenge.domain);
        let origin = origin.filter(|origin| session.as_deref().is_some_and(|session| own(session, origin)));
        let response = match secret {
            Some(secret) if !is_preflight => follow(&service, session, &secret, request, behind).await.into_response(),
            _ => preflight(&service, client_address(&service, &request)).await,
        };
        match origin {
            Some(origin) => open(response, origin, is_preflight),
            None => response,
        }
    }
}

async fn find(service: &LoginService, environment: Environment, id: &str) -> Result<Option<Arc<Session>>, Error> {
    let Some(id) = SessionId::parse(id) else { return Ok(None) };
    Ok(service.find_session_in_any_account(environment, &id).await?)
}

/// Lets a client secret read its session.
async fn follow(
    service: &LoginService,
    session: Option<Arc<Session>>,
    secret: &ClientSecret,
    mut request: Request,
    behind: Behind,
) -> Result<Response, Error> {
    let now = service.clock.now();
    let Some(session) = session.filter(|session| secret.reads(session, now)) else {
        let address = client_address(service, &request);
        service.refusals.count(&address, "invalid_api_key");
        service
            .limits
            .check(Limit::GetSession, &address.without_key(), service.clock.elapsed())
            .await
            .map_err(Problem::RateLimited)?;
        return Err(Problem::InvalidApiKey.into());
    };
    let caller = Caller::Session(session.id.to_string());
    service.limits.check(Limit::GetSession, &caller, service.clock.elapsed()).await.map_err(Problem::RateLimited)?;
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return Err(Problem::InvalidApiKey.into());
    }
    release_in_progress(request.extensions());
    let address = client_address(service, &request);
    request.extensions_mut().insert(session.account.clone());
    request.extensions_mut().insert(Viewer::Page);
    request.extensions_mut().insert(address);
    Ok(behind.answer(request).await)
}

/// What a browser asks before it sends a bearer to another origin.
async fn preflight(service: &LoginService, address: Caller) -> Response {
    match service.limits.check(Limit::GetSession, &address.without_key(), service.clock.elapsed()).await {
        Ok(()) => (StatusCode::NO_CONTENT, Body::empty()).into_response(),
        Err(exceeded) => Problem::RateLimited(exceeded).into_response(),
    }
}

/// Lets the page that asked read the reply.
fn open(mut response: Response, origin: HeaderValue, is_preflight: bool) -> Response {
    let headers: &mut HeaderMap = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if is_preflight {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"));
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("authorization"));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    } else {
        let told = HeaderValue::from_static("Retry-After, X-Request-Id");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, told);
    }
    response
}

/// Whether a page is the domain's or below it: over https, and for `localhost` also over http.
fn is_of(origin: &HeaderValue, domain: &DomainName) -> bool {
    let Some(url) = origin.to_str().ok().and_then(|text| Url::parse(text).ok()) else { return false };
    // Nothing but scheme, host and port is an origin.
    if origin.as_bytes() != url.origin().ascii_serialization().as_bytes() {
        return false;
    }
    let is_loopback = match url.host() {
        Some(Host::Ipv4(v4)) => v4.is_loopback(),
        Some(Host::Ipv6(v6)) => v6.is_loopback(),
        _ => false,
    };
    let covers = domain.covers(url.host_str().unwrap_or_default());
    match domain.as_str() {
        "localhost" => matches!(url.scheme(), "http" | "https") && (covers || is_loopback),
        _ => url.scheme() == "https" && covers,
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Viewer {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        _: &S,
    ) -> Result<Self, std::convert::Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or(Self::Owner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_the_domains_or_below_it() {
        for (origin, domain, is_own) in [
            ("https://shop.test", "shop.test", true),
            ("https://www.shop.test:8443", "shop.test", true),
            ("http://shop.test", "shop.test", false),
            ("https://notshop.test", "shop.test", false),
            ("https://shop.test.evil.test", "shop.test", false),
            ("https://shop.test/", "shop.test", false),
            ("https://a@shop.test", "shop.test", false),
            ("null", "shop.test", false),
            ("http://localhost:3000", "localhost", true),
            ("http://127.0.0.1:3000", "localhost", true),
            ("http://192.0.2.1", "localhost", false),
        ] {
            let domain = DomainName::parse(domain).unwrap();
            assert_eq!(is_of(&HeaderValue::from_static(origin), &domain), is_own, "{origin} {domain}");
        }
    }
}
