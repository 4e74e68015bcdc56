//! The question that a proxy asks about each request, and its answer. Nothing but a session that stands, of a person whom
//! the operator named, is a yes; whatever else comes, whatever fails, is none.

use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::json;
use signpost_platform::pages::Language;
use signpost_platform::web::peer::is_from_proxy;
use signpost_platform::web::problem::{Problem, error_body};

use super::app_page::{AppPage, ShownUser, start_query};
use super::app_visit::{APP_COOKIE, AppVisit, client_parameter, find_app_client, internal, only_parameter};
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

/// Browsers ignore a scheme that they do not know, and ask for no password.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Signpost");

/// Answers a proxy of this kind.
pub(super) async fn answer(service: OpenidService, language: Language, kind: &str, parts: Parts) -> Response {
    let Some(kind) = ProxyKind::parse(kind) else { return Problem::NotFound.into_response() };
    uncached(match ask(&service, language, kind, &parts).await {
        Ok(response) => response,
        Err(FlowError::Refused(fault)) => fault.reply(&service, kind.as_str()),
        Err(FlowError::Internal(error)) => internal(error),
    })
}

async fn ask(
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
        && session.is_at(&original.origin.callback())
    {
        if session.is_admitted() {
            extend_app_session(service, &cookie, &session).await;
        }
        return Ok(judge(language, &session, original));
    }
    find_app_client(service, Some(client), &original.origin).await?;
    Ok(send_to_login(language, kind, client, original))
}

/// Which client a proxy of this kind asks for, and about which request.
fn read(service: &OpenidService, kind: ProxyKind, parts: &Parts) -> Result<(ClientId, OriginalRequest), ForwardFault> {
    if !is_from_proxy(service, &parts.extensions) {
        return Err(ForwardFault::Untrusted);
    }
    let client = client_parameter(&parts.uri).ok_or(ForwardFault::NoClient)?;
    let original = kind.read(&parts.headers)?;
    if original.path.is_own() { Err(ForwardFault::OwnPath) } else { Ok((client, original)) }
}

/// The answer about somebody who is logged in.
fn judge(language: Language, session: &AppSession, original: &OriginalRequest) -> Response {
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

/// The answer about somebody who is not. nginx keeps the address that stands in `Location` by its configuration.
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
            let page = AppPage::new(&original.origin, language).unsent(client);
            page.with_header(header::WWW_AUTHENTICATE, CHALLENGE).into_response()
        }
        (false, _) => {
            let code = (StatusCode::UNAUTHORIZED, "login_required");
            let body = error_body(code, "nobody is logged in to this application in this browser", &json!({}));
            ([(header::WWW_AUTHENTICATE, CHALLENGE)], body).into_response()
        }
    }
}

/// The page for nginx, which keeps no body of an answer: it shows this one in the place of the application's.
pub(super) async fn show_denied(visit: AppVisit, uri: &Uri) -> Result<Response, Response> {
    let session = visit.find_session().await?;
    let to = LocalPath::or_root(&only_parameter(uri, "to").unwrap_or_default());
    Ok(match session {
        Some(session) if session.is_admitted() => uncached(Redirect::to(to.as_str()).into_response()),
        Some(session) => refuse(&visit.page, &session, &to),
        None => visit.page.stale(None).with_status(StatusCode::FORBIDDEN).into_response(),
    })
}

fn refuse(page: &AppPage, session: &AppSession, to: &LocalPath) -> Response {
    let AppSession { facts, .. } = session;
    let who = ShownUser { petname: facts.user.petname.as_str(), id: facts.user.id.as_str() };
    let is_list = facts.client.settings.allowed.is_some();
    page.refused(who, is_list, &facts.client.id, to).into_response()
}

/// Who it is. A proxy's operator decides what an application learns, so scopes do not: without them the headers would be
/// empty, and an application could take that for somebody else.
fn identify(session: &AppSession) -> RemoteIdentity {
    let facts = &session.facts;
    let scopes = OpenidScope::ALL.into_iter().collect();
    let UserClaims { sub, name, email, groups, .. } =
        UserClaims::of(&facts.user, &facts.domain, scopes, facts.client.settings.email);
    RemoteIdentity {
        user: facts.user.petname.as_str().to_owned(),
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
