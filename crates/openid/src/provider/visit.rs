//! Who comes to a page of an issuer, and where they go from it.

use std::sync::Arc;

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
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;
use signpost_store::random;
use url::form_urlencoded;

use crate::authorizations::MAX_QUERY_LEN;
use crate::flows::{VisitingBrowser, find_realm};
use crate::service::OpenidService;

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

/// What a form of another site posts, asked once more with `GET`: the browser brings its cookies then (they are `Lax`), and
/// the address can be loaded again.
pub(super) async fn ask_again(visit: &RealmVisit, path: &str, request: Request) -> Result<Response, Response> {
    let is_form = is_form(&request);
    let body = axum::body::to_bytes(request.into_body(), MAX_QUERY_LEN).await;
    let body = body.map_err(|_| Problem::PayloadTooLarge { limit: MAX_QUERY_LEN }.into_response())?;
    let mut query = form_urlencoded::Serializer::new(String::new());
    if is_form {
        query.extend_pairs(form_urlencoded::parse(&body));
    }
    let query = query.finish();
    // Spelt anew it may be longer.
    if query.len() > MAX_QUERY_LEN {
        return Err(Problem::PayloadTooLarge { limit: MAX_QUERY_LEN }.into_response());
    }
    Ok(to(&format!("{}?{query}", visit.link(path))))
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
