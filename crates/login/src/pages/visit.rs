//! Who comes to a page, and whether it is theirs.

use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use signpost_platform::accounts::Environment;
use signpost_platform::limits::{Caller, Limit, RequestPermit};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::FormToken;
use signpost_platform::pages::{HtmlPage, Language};
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;
use signpost_store::random;

use super::claim_page::render_claim;
use super::document::LoginDocument;
use super::outcomes;
use super::view::{LoginHost, LoginView, SiteNames};
use super::words::{Headed, login_words};
use crate::domains::Domain;
use crate::error::Error;
use crate::flows::page::{claim_page, find_page, renew_page};
use crate::flows::sign_in::{LOGIN_COOKIE, LOGIN_COOKIE_LASTS, begin_browser_session};
use crate::service::LoginService;
use crate::sessions::{PAGE_COOKIE, PAGE_COOKIE_LASTS, Renewal, Session};

/// What a browser says that asks for a page before its person does.
const AHEAD_OF_ITS_PERSON: [&str; 3] = ["purpose", "sec-purpose", "x-moz"];

/// A request for a page.
#[derive(Debug)]
pub(crate) struct PageVisit {
    pub(crate) service: LoginService,
    pub(crate) language: Language,
    environment: Environment,
    id: String,
    cookie: Option<CookieSecret>,
    /// Who is signed in here is behind it.
    login_cookie: Option<CookieSecret>,
    address: Caller,
    /// The place among the requests in progress; `None` for a request that came over no connection.
    permit: Option<RequestPermit>,
    is_navigation: bool,
}

/// A page, for the browser that owns it.
#[derive(Debug)]
pub(crate) struct OwnedPage {
    pub(crate) session: Session,
    pub(crate) domain: Domain,
    pub(crate) cookie: CookieSecret,
}

impl PageVisit {
    pub(crate) fn new(
        service: LoginService,
        environment: Environment,
        language: Language,
        id: String,
        request: &Request,
    ) -> Self {
        let cookie = PAGE_COOKIE.read(&service.origin, request.headers());
        let login_cookie = LOGIN_COOKIE.read(&service.origin, request.headers());
        let address = client_address(&service, request);
        let permit = RequestPermit::of(request.extensions()).cloned();
        let is_navigation = is_navigation(request.method(), request.headers());
        Self { service, language, environment, id, cookie, login_cookie, address, permit, is_navigation }
    }

    /// The page, where this browser owns it, with a code that is not about to end; else the reply that says so.
    pub(crate) async fn find_owned(&self) -> Result<OwnedPage, Response> {
        let (session, domain) = self.find().await?;
        self.admit(session, domain, self.cookie.clone()).await
    }

    /// The same, where a page that nobody owns yet becomes that of the browser whose person came, and what its reply
    /// sets.
    pub(crate) async fn find_or_claim(&self) -> Result<(OwnedPage, Option<header::HeaderValue>), Response> {
        let (session, domain) = self.find().await?;
        if session.needs_claim_secret() {
            self.count(&self.address).await?;
            return Err(HtmlPage::personal(self.render_claim(&domain, None)).into_response());
        }
        if session.page_owner().is_some() || !self.is_navigation {
            return Ok((self.admit(session, domain, self.cookie.clone()).await?, None));
        }
        self.claim(session, domain).await
    }

    /// The page, which becomes that of the browser that brought its secret, and what its reply sets. `secret` is `None` if the
    /// client does not ask for a page: previews of links do not.
    pub(crate) async fn claim_by_secret(
        &self,
        secret: Option<&CookieSecret>,
    ) -> Result<(OwnedPage, Option<header::HeaderValue>), Response> {
        let (session, domain) = self.find().await?;
        if session.page_owner().is_some() {
            return Ok((self.admit(session, domain, self.cookie.clone()).await?, None));
        }
        self.count(&self.address).await?;
        if !secret.is_some_and(|secret| session.accepts_claim_secret(secret)) {
            let words = &login_words(self.language).claim_refused;
            let page = HtmlPage::personal(self.render_claim(&domain, Some(words)));
            return Err(page.with_status(StatusCode::FORBIDDEN).into_response());
        }
        self.claim(session, domain).await
    }

    fn render_claim(&self, domain: &Domain, refused: Option<&Headed>) -> String {
        render_claim((self.language, &self.service.origin, &self.path()), domain, refused)
    }

    async fn claim(
        &self,
        session: Session,
        domain: Domain,
    ) -> Result<(OwnedPage, Option<header::HeaderValue>), Response> {
        let cookie = self.cookie.clone().unwrap_or_else(|| CookieSecret::from_bytes(random()));
        let session = claim_page(&self.service, session, &cookie).await.map_err(IntoResponse::into_response)?;
        let set = PAGE_COOKIE.set(&self.service.origin, &cookie, PAGE_COOKIE_LASTS);
        Ok((self.admit(session, domain, Some(cookie)).await?, Some(set)))
    }

    /// The page as it is now, for one who owned it a moment ago; `None` where there is none any more.
    pub(crate) async fn look_again(&self, cookie: &CookieSecret) -> Result<Option<OwnedPage>, Error> {
        let found = find_page(&self.service, self.environment, &self.id).await?;
        let Some((session, domain)) = found.filter(|(session, _)| session.is_owned_by(&cookie.hash())) else {
            return Ok(None);
        };
        let session = self.keep_current(session).await?;
        Ok(Some(OwnedPage { session, domain, cookie: cookie.clone() }))
    }

    async fn find(&self) -> Result<(Session, Domain), Response> {
        match find_page(&self.service, self.environment, &self.id).await {
            Ok(Some(found)) => Ok(found),
            Ok(None) => {
                self.count(&self.address).await?;
                let document = outcomes::render_unknown(self.language, &self.service.origin);
                Err(HtmlPage::personal(document).with_status(StatusCode::NOT_FOUND).into_response())
            }
            Err(error) => Err(error.into_response()),
        }
    }

    async fn admit(
        &self,
        session: Session,
        domain: Domain,
        cookie: Option<CookieSecret>,
    ) -> Result<OwnedPage, Response> {
        let Some(cookie) = cookie.filter(|cookie| session.is_owned_by(&cookie.hash())) else {
            self.count(&self.address).await?;
            let site = SiteNames::of(&session, &domain);
            let document = outcomes::render_other(self.language, &self.service.origin, &site);
            return Err(HtmlPage::personal(document).with_status(StatusCode::FORBIDDEN).into_response());
        };
        self.count(&Caller::Session(session.id.to_string())).await?;
        let session = self.keep_current(session).await.map_err(IntoResponse::into_response)?;
        Ok(OwnedPage { session, domain, cookie })
    }

    /// A page is looked at: its code is replaced before it ends.
    async fn keep_current(&self, session: Session) -> Result<Session, Error> {
        if session.is_renewal_due(self.service.clock.now()) {
            return renew_page(&self.service, session, Renewal::Automatic).await;
        }
        Ok(session)
    }

    /// Frees the place among the requests in progress: the bounds of waiting requests hold from now on.
    pub(crate) fn release_in_progress(&self) {
        if let Some(permit) = &self.permit {
            permit.release();
        }
    }

    async fn count(&self, caller: &Caller) -> Result<(), Response> {
        let counted = self.service.limits.check(Limit::GetSession, caller, self.service.clock.elapsed()).await;
        counted.map_err(|exceeded| Problem::RateLimited(exceeded).into_response())
    }

    /// The browser goes back to the site with a completion code: it is signed in here from the completion on. Returns what
    /// the reply sets, where that is not set already.
    pub(crate) async fn begin_sign_in(&self, page: &OwnedPage) -> Result<Option<header::HeaderValue>, Error> {
        let before = self.login_cookie.as_ref();
        let cookie = begin_browser_session(&self.service, &page.session, &page.cookie, before).await?;
        Ok(cookie.map(|cookie| LOGIN_COOKIE.set(&self.service.origin, &cookie, LOGIN_COOKIE_LASTS)))
    }

    pub(crate) fn cookie(&self) -> Option<&CookieSecret> {
        self.cookie.as_ref()
    }

    pub(crate) fn address(&self) -> &Caller {
        &self.address
    }

    /// What the page's forms are for.
    pub(crate) fn purpose(&self) -> String {
        format!("login {}", self.id)
    }

    /// What the page links to for itself.
    pub(crate) fn path(&self) -> String {
        self.service.origin.link(&format!("{}/login/{}", self.environment.page_path(), self.id))
    }

    /// What the page shows at a time.
    pub(crate) fn view(&self, page: &OwnedPage, now: Timestamp) -> Result<LoginView, Error> {
        let can = self.service.supported_methods(self.environment);
        let wallet = self.service.wallet_url(self.environment);
        let public_address = &self.service.public_address;
        let host = LoginHost { public_address, can: &can, wallet: wallet.as_deref() };
        Ok(LoginView::of(&page.session, &page.domain, &page.cookie, host, now)?)
    }

    /// The page in words.
    pub(crate) fn document<'a>(&'a self, page: &OwnedPage, view: &'a LoginView) -> LoginDocument<'a> {
        let (path, token) = (self.path(), FormToken::new(&page.cookie, &self.purpose()));
        LoginDocument { view, language: self.language, origin: &self.service.origin, path, token }
    }
}

/// Whether the person of a browser went to the page, as far as the browser says (Fetch Metadata Request Headers); one that
/// says nothing is taken by its word.
fn is_navigation(method: &Method, headers: &HeaderMap) -> bool {
    let said = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let is_ahead = AHEAD_OF_ITS_PERSON.iter().any(|name| headers.contains_key(*name));
    let is_document = match (said("sec-fetch-mode"), said("sec-fetch-dest")) {
        (None, None) => true,
        (Some(mode), Some(destination)) => mode == "navigate" && destination == "document",
        _ => false,
    };
    method == Method::GET && is_document && !is_ahead
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn a_page_is_claimed_by_a_person_who_goes_there() {
        let (navigate, document) = (("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"));
        for (method, headers, expected) in [
            (Method::GET, &[][..], true),
            (Method::GET, &[navigate, document], true),
            (Method::GET, &[navigate, document, ("sec-fetch-site", "cross-site")], true),
            (Method::HEAD, &[navigate, document], false),
            (Method::HEAD, &[], false),
            (Method::GET, &[navigate], false),
            (Method::GET, &[document], false),
            (Method::GET, &[navigate, ("sec-fetch-dest", "iframe")], false),
            (Method::GET, &[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")], false),
            (Method::GET, &[("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")], false),
            (Method::GET, &[navigate, document, ("sec-purpose", "prefetch;prerender")], false),
            (Method::GET, &[("purpose", "prefetch")], false),
            (Method::GET, &[("x-moz", "prefetch")], false),
        ] {
            let all =
                headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            assert_eq!(is_navigation(&method, &all.collect()), expected, "{method} {headers:?}");
        }
    }
}
