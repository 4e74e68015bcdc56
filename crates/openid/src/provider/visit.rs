//! Who comes to a page of an issuer, and where they go from it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use signpost_login::domains::Domain;
use signpost_login::flows::sign_in::{LOGIN_COOKIE, SignedInUser, find_signed_in};
use signpost_login::ids::DomainId;
use signpost_login::sessions::PAGE_COOKIE;
use signpost_platform::accounts::Environment;
use signpost_platform::limits::Limit;
use signpost_platform::pages::Language;
use signpost_platform::pages::cookie::{CookieName, CookieSecret};
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;
use signpost_store::random;
use url::form_urlencoded;

use crate::authorizations::MAX_QUERY_LEN;
use crate::flows::{VisitingBrowser, find_realm};
use crate::posted_hint::IdTokenHint;
use crate::service::OpenidService;

/// By which a browser opens the hint of a request that it posted.
const HINT_COOKIE: CookieName = CookieName::new("signpost_hint");
/// How long a browser stores it: as long as an authorization request waits.
const HINT_COOKIE_LASTS: Duration = Duration::from_hours(1);
/// A posted hint that no browser opens.
const NO_HINT: &str = "unknown";

/// A request that an application's page posted.
#[derive(Debug)]
pub(super) struct PostedRequest {
    /// All parameters but `id_token_hint`.
    pairs: Vec<(String, String)>,
    /// `id_token_hint`, empty if it was given more than once.
    pub(super) id_token_hint: Option<String>,
}

/// A request for a page of an issuer.
#[derive(Debug)]
pub(super) struct RealmVisit {
    pub(super) service: OpenidService,
    pub(super) realm: Arc<Domain>,
    pub(super) language: Language,
    pub(super) browser: VisitingBrowser,
    /// Whether the browser came with the cookie of pages, or has it from the reply on.
    has_page_cookie: bool,
}

impl RealmVisit {
    /// The visit, where the id is that of a realm of this environment. It counts.
    pub(super) fn find(
        service: OpenidService,
        environment: Environment,
        id: String,
        request: &Request,
    ) -> impl Future<Output = Result<Self, Response>> + Send + use<> {
        let headers = request.headers();
        let page_cookie = PAGE_COOKIE.read(&service.origin, headers);
        let user_agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let has_page_cookie = page_cookie.is_some();
        let browser = VisitingBrowser {
            login_cookie: LOGIN_COOKIE.read(&service.origin, headers),
            page_cookie: page_cookie.unwrap_or_else(|| CookieSecret::from_bytes(random())),
            hint_cookie: HINT_COOKIE.read(&service.origin, headers),
            user_agent,
            address: client_address(&service, request),
        };
        let language = Language::choose(request.uri(), headers);
        async move {
            let counted = service.limits.check(Limit::GetSession, &browser.address, service.clock.elapsed()).await;
            counted.map_err(|exceeded| Problem::RateLimited(exceeded).into_response())?;
            let realm = match DomainId::parse(&id) {
                Some(id) => find_realm(&service, environment, &id, service.store.file_state()).await.map_err(failed)?,
                None => None,
            };
            let realm = realm.ok_or_else(|| Problem::NotFound.into_response())?;
            Ok(Self { service, realm, language, browser, has_page_cookie })
        }
    }

    /// The same in a language that the application speaks with the person, where pages speak it.
    pub(super) fn speaking(self, ui_locales: Option<&str>) -> Self {
        let asked = ui_locales.unwrap_or_default().split(' ').find_map(Language::of_tag);
        Self { language: asked.unwrap_or(self.language), ..self }
    }

    /// Who is signed in at the realm.
    pub(super) async fn find_signed_in(&self) -> Result<Option<SignedInUser>, Response> {
        let Some(cookie) = &self.browser.login_cookie else { return Ok(None) };
        let found = find_signed_in(&self.service, cookie, &self.realm).await;
        found.map_err(IntoResponse::into_response)
    }

    /// The cookie of pages, where the browser came with it: no form belongs to a browser without.
    pub(super) fn page_cookie(&self) -> Option<&CookieSecret> {
        self.has_page_cookie.then_some(&self.browser.page_cookie)
    }

    /// An address below the issuer, as pages link to it.
    pub(super) fn link(&self, path: &str) -> String {
        let environment = self.realm.account.environment.page_path();
        self.service.origin.link(&format!("{environment}/{}/{path}", self.realm.id))
    }

    /// The same, for a page that is to speak the language of this one.
    pub(super) fn link_in_language(&self, path: &str) -> String {
        format!("{}?lang={}", self.link(path), self.language.tag())
    }
}

/// The parameters of a request, as its query or its form has them.
///
/// # Errors
/// Where they are too long.
pub(super) fn query_of(uri: &Uri) -> Result<&str, Problem> {
    let query = uri.query().unwrap_or_default();
    if query.len() > MAX_QUERY_LEN { Err(Problem::PayloadTooLarge { limit: MAX_QUERY_LEN }) } else { Ok(query) }
}

impl PostedRequest {
    /// Reads a form of another site.
    ///
    /// # Errors
    /// 413 if it is too long.
    pub(super) async fn receive(request: Request) -> Result<Self, Response> {
        let is_form = is_form(&request);
        let body = axum::body::to_bytes(request.into_body(), MAX_QUERY_LEN).await;
        let body = body.map_err(|_| too_long())?;
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

impl RealmVisit {
    /// Sends the browser on with `GET`: it sends its cookies then (they are `Lax`), and the address can be loaded again. The
    /// address has `hint`, the verified `id_token_hint`, for this browser alone; a token that is not this issuer's stays a
    /// wrong one.
    pub(super) fn repeat_with_get(&self, path: &str, posted: PostedRequest, hint: Option<&IdTokenHint>) -> Response {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(posted.pairs);
        let cookie = self.browser.hint_cookie.clone().unwrap_or_else(|| CookieSecret::from_bytes(random()));
        match (hint, posted.id_token_hint) {
            (Some(hint), _) => {
                query.append_pair("posted_hint", &hint.seal(&cookie, &self.realm.id, random()));
            }
            (None, Some(_)) => {
                query.append_pair("posted_hint", NO_HINT);
            }
            (None, None) => {}
        }
        let query = query.finish();
        // Encoded again it may be longer.
        if query.len() > MAX_QUERY_LEN {
            return too_long();
        }
        let mut reply = to(&format!("{}?{query}", self.link(path)));
        if hint.is_some() {
            let set = HINT_COOKIE.set(&self.service.origin, &cookie, HINT_COOKIE_LASTS);
            reply.headers_mut().append(header::SET_COOKIE, set);
        }
        reply
    }
}

fn too_long() -> Response {
    Problem::PayloadTooLarge { limit: MAX_QUERY_LEN }.into_response()
}

/// Whether the body is a form.
pub(super) fn is_form(request: &Request) -> bool {
    let media_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.and_then(|text| text.split(';').next()).map(str::trim);
    media_type.is_some_and(|name| name.eq_ignore_ascii_case("application/x-www-form-urlencoded"))
}

/// 303: the browser goes on with `GET`, whatever it came with (RFC 9700, 2.1 forbids 307).
pub(super) fn to(url: &str) -> Response {
    let no_store = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (no_store, Redirect::to(url)).into_response()
}

/// The reply for a failure of ours.
pub(super) fn failed(error: anyhow::Error) -> Response {
    Problem::from(error).into_response()
}
