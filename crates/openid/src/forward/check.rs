//! Answers the subrequest that a proxy sends for each request that it receives. The response is 200
//! only for a valid session of an admitted user; in all other cases, including errors, access is
//! refused.

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::json;
use signpost_platform::pages::Language;
use signpost_platform::web::PathParams;
use signpost_platform::web::peer::is_from_proxy;
use signpost_platform::web::problem::{Problem, error_body};

use super::app_context::{APP_COOKIE, AppContext, client_parameter, find_app_client, internal, single_parameter};
use super::app_page::{AppPage, DisplayedUser, start_query};
use super::faults::ForwardFault;
use super::identity::RemoteIdentity;
use super::local_path::LocalPath;
use super::original::{OriginalRequest, ProxyKind};
use crate::claims::{OpenidScope, UserClaims};
use crate::flows::FlowError;
use crate::flows::app_sessions::{extend_app_session, find_app_session};
use crate::grants::AppSession;
use crate::ids::ClientId;
use crate::service::OpenidService;

/// An unknown authentication scheme: browsers ignore it and do not ask for a password.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Signpost");

/// Answers the subrequest of a proxy.
pub(super) async fn answer(
    State(service): State<OpenidService>,
    language: Language,
    PathParams(kind): PathParams<String>,
    request: Request,
) -> Response {
    let Some(kind) = ProxyKind::parse(&kind) else { return Problem::NotFound.into_response() };
    let (parts, _) = request.into_parts();
    uncached(match check(&service, language, kind, &parts).await {
        Ok(response) => response,
        Err(FlowError::Refused(fault)) => fault.reply(&service, kind.as_str()),
        Err(FlowError::Internal(error)) => internal(error),
    })
}

async fn check(
    service: &OpenidService,
    language: Language,
    kind: ProxyKind,
    parts: &Parts,
) -> Result<Response, FlowError<ForwardFault>> {
    let (client, original) = &read(service, kind, parts).map_err(FlowError::Refused)?;
    let cookie = APP_COOKIE.read_over(original.origin.is_https(), &parts.headers);
    if let Some(cookie) = cookie
        && let Some(session) = find_app_session(service, &cookie).await?
        && session.is_alive(service.clock.now())
        && session.facts.client.id == *client
        && session.is_for_callback(&original.origin.callback())
    {
        if session.is_admitted() {
            extend_app_session(service, &cookie, &session).await;
        }
        return Ok(answer_user(language, &session, original));
    }
    find_app_client(service, Some(client), &original.origin).await?;
    Ok(send_to_login(language, kind, client, original))
}

/// Reads the client and the original request of a proxy's subrequest.
fn read(service: &OpenidService, kind: ProxyKind, parts: &Parts) -> Result<(ClientId, OriginalRequest), ForwardFault> {
    if !is_from_proxy(service, &parts.extensions) {
        return Err(ForwardFault::Untrusted);
    }
    let client = client_parameter(&parts.uri).ok_or(ForwardFault::NoClient)?;
    let original = kind.read(&parts.headers)?;
    if original.path.is_own() {
        return Err(ForwardFault::OwnPath);
    }
    Ok((client, original))
}

/// Returns the response for a user with a valid session.
fn answer_user(language: Language, session: &AppSession, original: &OriginalRequest) -> Response {
    if session.is_admitted() {
        let headers = session.identity.get_or_init(|| identify(session).to_headers());
        return (StatusCode::OK, headers.clone()).into_response();
    }
    if original.wants_page {
        let page = AppPage::new(&original.origin, language);
        return refuse(&page, session, &original.path);
    }
    let code = (StatusCode::FORBIDDEN, "not_admitted");
    error_body(code, "the operator of this application has not named this user", &json!({}))
}

/// Returns the response without a valid session. nginx redirects to the URL in `Location` by its configuration.
fn send_to_login(language: Language, kind: ProxyKind, client: &ClientId, original: &OriginalRequest) -> Response {
    let start = original.origin.own_page(&start_query(client, &original.path, false));
    match (original.is_navigation, kind) {
        (true, ProxyKind::Caddy | ProxyKind::Traefik) => {
            (StatusCode::FOUND, [(header::LOCATION, start)]).into_response()
        }
        (true, ProxyKind::Nginx) => {
            let headers = [(header::LOCATION, HeaderValue::try_from(start).unwrap_or(CHALLENGE))];
            (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, CHALLENGE)], headers).into_response()
        }
        (false, _) if original.wants_page => {
            let page = AppPage::new(&original.origin, language).login_required(client);
            page.with_header(header::WWW_AUTHENTICATE, CHALLENGE).into_response()
        }
        (false, _) => {
            let code = (StatusCode::UNAUTHORIZED, "login_required");
            let body = error_body(code, "this browser is not logged in to this application", &json!({}));
            ([(header::WWW_AUTHENTICATE, CHALLENGE)], body).into_response()
        }
    }
}

/// `GET /.signpost/denied`: the page for nginx, which discards the body of the response and serves this page instead.
pub(super) async fn show_denied(context: AppContext, uri: Uri) -> Result<Response, Response> {
    let session = context.find_session().await?;
    let to = LocalPath::or_root(&single_parameter(&uri, "to").unwrap_or_default());
    Ok(match session {
        Some(session) if session.is_admitted() => uncached(Redirect::to(to.as_str()).into_response()),
        Some(session) => refuse(&context.page, &session, &to),
        None => context.page.callback_expired(None).with_status(StatusCode::FORBIDDEN).into_response(),
    })
}

fn refuse(page: &AppPage, session: &AppSession, to: &LocalPath) -> Response {
    let facts = &session.facts;
    let user = DisplayedUser { username: facts.user.username(), id: facts.user.id.as_str() };
    let is_list = facts.client.settings.allowed.is_some();
    page.not_admitted(user, is_list, &facts.client.id, to).into_response()
}

/// Returns the identity of the user with the claims of all scopes: the proxy's operator selects the headers for the
/// application, and an application could treat an empty header as another user.
fn identify(session: &AppSession) -> RemoteIdentity {
    let facts = &session.facts;
    let scopes = OpenidScope::ALL.into_iter().collect();
    let UserClaims { sub, name, email, groups, .. } =
        UserClaims::new(&facts.user, &facts.domain, scopes, facts.client.settings.email);
    RemoteIdentity {
        user: facts.user.username().to_owned(),
        name: name.unwrap_or_default(),
        email: email.unwrap_or_default(),
        groups: groups.unwrap_or_default(),
        sub: sub.to_string(),
    }
}

fn uncached(mut reply: Response) -> Response {
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}
