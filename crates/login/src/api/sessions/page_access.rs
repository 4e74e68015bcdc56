//! Grants pages of a site access to a session's status. The page sends the session's client secret,
//! and its origin must be the session's domain.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use signpost_auth::DomainName;
use signpost_platform::accounts::Environment;
use signpost_platform::limits::{Caller, Limit, release_request_slot};
use signpost_platform::web::PathParams;
use signpost_platform::web::api_key::{self, ApiKeyGuard, bearer};
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;
use url::{Host, Url};

use crate::api::sessions::replies::Viewer;
use crate::error::Error;
use crate::ids::SessionId;
use crate::service::LoginService;
use crate::sessions::{ClientSecret, Session};

/// The state of the middleware that guards a session: it accepts API keys and the session's client
/// secret.
#[derive(Clone)]
pub(crate) struct SessionGuard {
    pub(crate) service: LoginService,
    pub(crate) environment: Environment,
    pub(crate) api_keys: ApiKeyGuard,
}

/// Middleware that admits API keys, and client secrets to their own session. Pages of the session's domain may read the
/// replies to client secrets.
pub(crate) async fn authenticate(State(guard): State<SessionGuard>, request: Request, next: Next) -> Response {
    let SessionGuard { service, environment, api_keys } = guard;
    let is_preflight = request.method() == Method::OPTIONS;
    let secret = bearer(request.headers()).and_then(ClientSecret::parse);
    let origin = request.headers().get(header::ORIGIN).cloned();
    // API keys are not for pages: without CORS headers, pages cannot read these replies.
    if secret.is_none() && !(is_preflight && origin.is_some()) {
        return api_key::authenticate(State(api_keys), request, next).await;
    }
    let (mut parts, body) = request.into_parts();
    let Ok(PathParams(id)) = PathParams::<String>::from_request_parts(&mut parts, &()).await;
    let request = Request::from_parts(parts, body);
    let session = match find(&service, environment, &id).await {
        Ok(session) => session,
        Err(error) => return error.into_response(),
    };
    let own_origin = match (&session, origin) {
        (Some(session), Some(origin)) if is_domain_origin(&origin, &session.challenge.domain) => Some(origin),
        _ => None,
    };
    let response = match secret {
        Some(secret) if !is_preflight => follow(&service, session, &secret, request, next).await.into_response(),
        _ => preflight(&service, client_address(&service, &request)).await,
    };
    match own_origin {
        Some(origin) => open(response, origin, is_preflight),
        None => response,
    }
}

async fn find(service: &LoginService, environment: Environment, id: &str) -> Result<Option<Arc<Session>>, Error> {
    let Some(id) = SessionId::parse(id) else { return Ok(None) };
    Ok(service.sessions.find(environment, &id).await?)
}

/// Forwards a request to its handler if the client secret belongs to the session.
async fn follow(
    service: &LoginService,
    session: Option<Arc<Session>>,
    secret: &ClientSecret,
    mut request: Request,
    next: Next,
) -> Result<Response, Error> {
    let now = service.clock.now();
    let Some(session) = session.filter(|session| secret.grants_access_to(session, now)) else {
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
    release_request_slot(request.extensions());
    let address = client_address(service, &request);
    request.extensions_mut().insert(session.account.clone());
    request.extensions_mut().insert(Viewer::Page);
    request.extensions_mut().insert(address);
    Ok(next.run(request).await)
}

/// Answers a preflight request, which precedes a bearer token to another origin (Fetch standard, CORS).
async fn preflight(service: &LoginService, address: Caller) -> Response {
    match service.limits.check(Limit::GetSession, &address.without_key(), service.clock.elapsed()).await {
        Ok(()) => (StatusCode::NO_CONTENT, Body::empty()).into_response(),
        Err(exceeded) => Problem::RateLimited(exceeded).into_response(),
    }
}

/// Adds the CORS headers that let the page read the response.
fn open(mut response: Response, origin: HeaderValue, is_preflight: bool) -> Response {
    let headers: &mut HeaderMap = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if is_preflight {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"));
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("authorization"));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    } else {
        let exposed = HeaderValue::from_static("Retry-After, X-Request-Id");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    response
}

/// Returns true if an origin is the domain or below it: over https, and for `localhost` also over http.
fn is_domain_origin(origin: &HeaderValue, domain: &DomainName) -> bool {
    let Some(url) = origin.to_str().ok().and_then(|text| Url::parse(text).ok()) else { return false };
    // An origin has a scheme, a host and a port only.
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
    fn page_origins_belong_to_the_domain() {
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
            assert_eq!(is_domain_origin(&HeaderValue::from_static(origin), &domain), is_own, "{origin} {domain}");
        }
    }
}
