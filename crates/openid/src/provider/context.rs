//! Extracts the context of a browser's request for a page of an issuer.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use signpost_login::domains::Domain;
use signpost_login::flows::sign_in::{LOGIN_COOKIE, SignedInUser, find_signed_in};
use signpost_login::ids::DomainId;
use signpost_login::sessions::PAGE_COOKIE;
use signpost_platform::limits::Limit;
use signpost_platform::pages::Language;
use signpost_platform::pages::cookie::{CookieName, CookieSecret};
use signpost_platform::web::peer::peer;
use signpost_platform::web::problem::Problem;
use signpost_store::random;
use url::form_urlencoded;

use crate::authorizations::MAX_QUERY_LEN;
use crate::flows::{BrowserContext, find_issuer_domain};
use crate::posted_hint::IdTokenHint;
use crate::service::{IssuerState, OpenidService};

/// The cookie that decrypts a posted hint.
const HINT_COOKIE: CookieName = CookieName::new("signpost_hint");
/// Lifetime of the cookie, equal to the lifetime of a pending authorization.
const HINT_COOKIE_MAX_AGE: Duration = Duration::from_hours(1);
/// The value of a posted hint that no browser can decrypt.
const NO_HINT: &str = "unknown";

/// The parameters of a request that a page of the client posted.
#[derive(Debug)]
pub(super) struct PostedRequest {
    /// All parameters but `id_token_hint`.
    pairs: Vec<(String, String)>,
    /// `id_token_hint`; empty if it was given more than once.
    pub(super) id_token_hint: Option<String>,
}

/// A request for a page of an issuer.
#[derive(Debug)]
pub(super) struct IssuerContext {
    pub(super) service: OpenidService,
    pub(super) domain: Arc<Domain>,
    pub(super) language: Language,
    pub(super) browser: BrowserContext,
    /// Whether the browser sent the page cookie; if not, the response sets it.
    has_page_cookie: bool,
}

impl FromRequestParts<IssuerState> for IssuerContext {
    type Rejection = Response;

    /// Finds the issuer, and counts the request for its client IP.
    async fn from_request_parts(parts: &mut Parts, state: &IssuerState) -> Result<Self, Response> {
        let service = state.service.clone();
        let headers = &parts.headers;
        let page_cookie = PAGE_COOKIE.read(&service.origin, headers);
        let has_page_cookie = page_cookie.is_some();
        let browser = BrowserContext {
            login_cookie: LOGIN_COOKIE.read(&service.origin, headers),
            page_cookie: page_cookie.unwrap_or_else(|| CookieSecret::from_bytes(random())),
            hint_cookie: HINT_COOKIE.read(&service.origin, headers),
            user_agent: headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).map(str::to_owned),
            address: peer(&service, &parts.extensions, headers),
        };
        let language = Language::choose(&parts.uri, headers);
        let counted = service.limits.check(Limit::GetSession, &browser.address, service.clock.elapsed()).await;
        counted.map_err(|exceeded| Problem::RateLimited(exceeded).into_response())?;
        let Some(id) = path_domain_id(parts).await else { return Err(Problem::NotFound.into_response()) };
        let domain = find_issuer_domain(&service, state.environment, &id, service.store.file_state()).await;
        let domain = domain.map_err(internal_error)?.ok_or_else(|| Problem::NotFound.into_response())?;
        Ok(Self { service, domain, language, browser, has_page_cookie })
    }
}

/// Returns the domain ID in a path below an issuer.
pub(super) async fn path_domain_id(parts: &mut Parts) -> Option<DomainId> {
    let parameters = RawPathParams::from_request_parts(parts, &()).await.ok()?;
    let (_, id) = parameters.iter().next()?;
    DomainId::parse(id)
}

impl IssuerContext {
    /// Sets the language to the first of `ui_locales` that pages support.
    pub(super) fn with_locales(self, ui_locales: Option<&str>) -> Self {
        let language = ui_locales.unwrap_or_default().split(' ').find_map(Language::from_tag);
        Self { language: language.unwrap_or(self.language), ..self }
    }

    /// Returns the user who is signed in at the issuer.
    pub(super) async fn find_signed_in(&self) -> Result<Option<SignedInUser>, Response> {
        let Some(cookie) = &self.browser.login_cookie else { return Ok(None) };
        let found = find_signed_in(&self.service, cookie, &self.domain).await;
        found.map_err(IntoResponse::into_response)
    }

    /// Returns the page cookie, if the browser sent it: a form cannot belong to a browser without it.
    pub(super) fn page_cookie(&self) -> Option<&CookieSecret> {
        self.has_page_cookie.then_some(&self.browser.page_cookie)
    }

    /// Returns the link to a path below the issuer.
    pub(super) fn link(&self, path: &str) -> String {
        let environment = self.domain.account.environment.page_path();
        self.service.origin.link(&format!("{environment}/{}/{path}", self.domain.id))
    }

    /// Returns the link to a page below the issuer in the language of this page.
    pub(super) fn link_in_language(&self, path: &str) -> String {
        format!("{}?lang={}", self.link(path), self.language.tag())
    }

    /// Redirects to `GET` of a path below the issuer: the browser sends its cookies then (they are `Lax`), and the page
    /// can be reloaded. The query has `hint`, the verified `id_token_hint`, encrypted for this browser; a token of
    /// another issuer is replaced by a hint that is never valid.
    pub(super) fn repeat_with_get(&self, path: &str, posted: PostedRequest, hint: Option<&IdTokenHint>) -> Response {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(posted.pairs);
        let cookie = self.browser.hint_cookie.clone().unwrap_or_else(|| CookieSecret::from_bytes(random()));
        if let Some(hint) = hint {
            query.append_pair("posted_hint", &hint.seal(&cookie, &self.domain.id, random()));
        } else if posted.id_token_hint.is_some() {
            query.append_pair("posted_hint", NO_HINT);
        }
        let query = query.finish();
        // This encoding may be longer than the form's.
        if query.len() > MAX_QUERY_LEN {
            return too_long().into_response();
        }
        let mut reply = redirect_to(&format!("{}?{query}", self.link(path)));
        if hint.is_some() {
            let set = HINT_COOKIE.set(&self.service.origin, &cookie, HINT_COOKIE_MAX_AGE);
            reply.headers_mut().append(header::SET_COOKIE, set);
        }
        reply
    }
}

/// Returns the query of a request.
///
/// # Errors
/// Returns 413 if it is too long.
pub(super) fn query_of(uri: &Uri) -> Result<&str, Problem> {
    let query = uri.query().unwrap_or_default();
    if query.len() > MAX_QUERY_LEN { Err(too_long()) } else { Ok(query) }
}

impl PostedRequest {
    /// Reads a form of another site. A body of another type has no parameters.
    ///
    /// # Errors
    /// Returns 413 if it is too long.
    pub(super) async fn receive(request: Request) -> Result<Self, Response> {
        let is_form = is_form(request.headers());
        let body = axum::body::to_bytes(request.into_body(), MAX_QUERY_LEN).await;
        let body = body.map_err(|_| too_long().into_response())?;
        let mut posted = Self { pairs: Vec::new(), id_token_hint: None };
        for (name, value) in form_urlencoded::parse(if is_form { &body } else { b"" }).into_owned() {
            match name.as_str() {
                "posted_hint" => {}
                "id_token_hint" if value.is_empty() => {}
                "id_token_hint" if posted.id_token_hint.is_some() => posted.id_token_hint = Some(String::new()),
                "id_token_hint" => posted.id_token_hint = Some(value),
                _ => posted.pairs.push((name, value)),
            }
        }
        Ok(posted)
    }
}

fn too_long() -> Problem {
    Problem::PayloadTooLarge { limit: MAX_QUERY_LEN }
}

/// Returns true if the body is a form.
pub(super) fn is_form(headers: &HeaderMap) -> bool {
    signpost_platform::web::has_media_type(headers, "application/x-www-form-urlencoded")
}

/// Redirects with 303, so that the browser continues with `GET` (RFC 9700, 2.1 forbids 307).
pub(super) fn redirect_to(url: &str) -> Response {
    let no_store = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (no_store, Redirect::to(url)).into_response()
}

/// Returns the response to an internal error.
pub(super) fn internal_error(error: anyhow::Error) -> Response {
    Problem::from(error).into_response()
}
