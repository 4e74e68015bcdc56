//! Extracts the context of a request for a login page, and checks that the page belongs to the
//! browser.

use axum::Extension;
use axum::extract::FromRequestParts;
use axum::extract::rejection::ExtensionRejection;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Result;
use jiff::Timestamp;
use signpost_platform::accounts::Environment;
use signpost_platform::limits::{Caller, Limit, RequestPermit};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::CsrfToken;
use signpost_platform::pages::{HtmlPage, Language};
use signpost_platform::web::PathParams;
use signpost_platform::web::peer::peer;
use signpost_platform::web::problem::Problem;
use signpost_store::random;

use super::claim_page::render_claim;
use super::document::LoginDocument;
use super::navigation::RequestKind;
use super::outcomes;
use super::view::{LoginHost, LoginView, SiteNames};
use super::words::{HeadedText, login_words};
use crate::domains::Domain;
use crate::error::Error;
use crate::flows::page::{claim_page, find_page, renew_page};
use crate::flows::sign_in::{LOGIN_COOKIE, LOGIN_COOKIE_MAX_AGE, begin_browser_session};
use crate::service::LoginService;
use crate::sessions::{PAGE_COOKIE, PAGE_COOKIE_MAX_AGE, Renewal, Session};

/// The context of a request for a login page. Handlers get it from an axum extractor.
#[derive(Debug)]
pub(crate) struct LoginPageContext {
    pub(crate) service: LoginService,
    pub(crate) language: Language,
    environment: Environment,
    id: String,
    cookie: Option<CookieSecret>,
    /// The cookie of the browser's sessions at the login host.
    login_cookie: Option<CookieSecret>,
    user_agent: Option<String>,
    address: Caller,
    /// The permit that counts this request as in progress; `None` for a request without a
    /// connection.
    permit: Option<RequestPermit>,
    kind: RequestKind,
}

/// A login page that belongs to the browser of the request.
#[derive(Debug)]
pub(crate) struct OwnedPage {
    pub(crate) session: Session,
    pub(crate) domain: Domain,
    pub(crate) cookie: CookieSecret,
}

impl FromRequestParts<LoginService> for LoginPageContext {
    type Rejection = ExtensionRejection;

    async fn from_request_parts(parts: &mut Parts, service: &LoginService) -> Result<Self, ExtensionRejection> {
        let Extension(environment) = Extension::<Environment>::from_request_parts(parts, service).await?;
        let Ok(PathParams(id)) = PathParams::<String>::from_request_parts(parts, service).await;
        let headers = &parts.headers;
        Ok(Self {
            service: service.clone(),
            language: Language::choose(&parts.uri, headers),
            environment,
            id,
            cookie: PAGE_COOKIE.read(&service.origin, headers),
            login_cookie: LOGIN_COOKIE.read(&service.origin, headers),
            user_agent: headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).map(str::to_owned),
            address: peer(service, &parts.extensions, headers),
            permit: RequestPermit::from_extensions(&parts.extensions).cloned(),
            kind: RequestKind::of(&parts.method, headers),
        })
    }
}

impl LoginPageContext {
    /// Returns the page if it belongs to this browser, with a code that does not expire soon. The error is a page.
    pub(crate) async fn find_owned(&self) -> Result<OwnedPage> {
        let (session, domain) = self.find().await?;
        self.admit(session, domain, self.cookie.clone()).await
    }

    /// Returns the page if it belongs to this browser. A navigation to a page without an owner makes the browser its
    /// owner; then the `Set-Cookie` header is returned too.
    pub(crate) async fn find_or_claim(&self) -> Result<(OwnedPage, Option<HeaderValue>)> {
        let (session, domain) = self.find().await?;
        if session.needs_claim_secret() {
            self.count(&self.address).await?;
            return Err(HtmlPage::personal(self.render_claim(&domain, None)).into());
        }
        if session.page_owner().is_some() || self.kind == RequestKind::OtherMethod {
            return Ok((self.admit(session, domain, self.cookie.clone()).await?, None));
        }
        let RequestKind::Subresource(header) = self.kind else { return self.claim(session, domain).await };
        self.count(&self.address).await?;
        let site = SiteNames::new(&session, &domain);
        let document = outcomes::render_no_navigation(self.language, &self.service.origin, &site, header);
        Err(HtmlPage::personal(document).with_status(StatusCode::FORBIDDEN).into())
    }

    /// Makes the browser that sent the page's secret its owner. Returns the page and the `Set-Cookie` header. `secret`
    /// is `None` if the client does not accept HTML, as with link previews.
    pub(crate) async fn claim_by_secret(
        &self,
        secret: Option<&CookieSecret>,
    ) -> Result<(OwnedPage, Option<HeaderValue>)> {
        let (session, domain) = self.find().await?;
        if session.page_owner().is_some() {
            return Ok((self.admit(session, domain, self.cookie.clone()).await?, None));
        }
        self.count(&self.address).await?;
        if !secret.is_some_and(|secret| session.accepts_claim_secret(secret)) {
            let words = &login_words(self.language).claim_refused;
            let page = HtmlPage::personal(self.render_claim(&domain, Some(words)));
            return Err(page.with_status(StatusCode::FORBIDDEN).into());
        }
        self.claim(session, domain).await
    }

    fn render_claim(&self, domain: &Domain, refused: Option<&HeadedText>) -> String {
        render_claim((self.language, &self.service.origin, &self.path()), domain, refused)
    }

    async fn claim(&self, session: Session, domain: Domain) -> Result<(OwnedPage, Option<HeaderValue>)> {
        let cookie = self.cookie.clone().unwrap_or_else(|| CookieSecret::from_bytes(random()));
        let session = claim_page(&self.service, session, &cookie).await?;
        let set_cookie = PAGE_COOKIE.set(&self.service.origin, &cookie, PAGE_COOKIE_MAX_AGE);
        Ok((self.admit(session, domain, Some(cookie)).await?, Some(set_cookie)))
    }

    /// Reads the page again; `None` if it no longer exists or does not belong to the browser with this cookie.
    pub(crate) async fn find_again(&self, cookie: &CookieSecret) -> Result<Option<OwnedPage>, Error> {
        let Some((session, domain)) = find_page(&self.service, self.environment, &self.id).await? else {
            return Ok(None);
        };
        if !session.is_owned_by(&cookie.hash()) {
            return Ok(None);
        }
        let session = self.renew_if_due(session).await?;
        Ok(Some(OwnedPage { session, domain, cookie: cookie.clone() }))
    }

    async fn find(&self) -> Result<(Session, Domain)> {
        if let Some(found) = find_page(&self.service, self.environment, &self.id).await? {
            return Ok(found);
        }
        self.count(&self.address).await?;
        let document = outcomes::render_unknown(self.language, &self.service.origin);
        Err(HtmlPage::personal(document).with_status(StatusCode::NOT_FOUND).into())
    }

    /// Returns the page if it belongs to the browser with this cookie, and counts the request.
    async fn admit(&self, session: Session, domain: Domain, cookie: Option<CookieSecret>) -> Result<OwnedPage> {
        let Some(cookie) = cookie.filter(|cookie| session.is_owned_by(&cookie.hash())) else {
            self.count(&self.address).await?;
            let site = SiteNames::new(&session, &domain);
            let document = outcomes::render_other(self.language, &self.service.origin, &site);
            return Err(HtmlPage::personal(document).with_status(StatusCode::FORBIDDEN).into());
        };
        self.count(&Caller::Session(session.id.to_string())).await?;
        let session = self.renew_if_due(session).await?;
        Ok(OwnedPage { session, domain, cookie })
    }

    /// Replaces the code of a page in use before it expires.
    async fn renew_if_due(&self, session: Session) -> Result<Session, Error> {
        if session.is_renewal_due(self.service.clock.now()) {
            return renew_page(&self.service, session, Renewal::Automatic).await;
        }
        Ok(session)
    }

    /// Releases the permit for a request in progress. From then on, only the limits of waiting
    /// requests apply.
    pub(crate) fn release_request_slot(&self) {
        if let Some(permit) = &self.permit {
            permit.release();
        }
    }

    async fn count(&self, caller: &Caller) -> Result<(), Problem> {
        let elapsed = self.service.clock.elapsed();
        self.service.limits.check(Limit::GetSession, caller, elapsed).await.map_err(Problem::RateLimited)
    }

    /// Begins the browser session before the return to the site; the completion of the login signs the user in. Returns
    /// the `Set-Cookie` header, unless the browser has the cookie already.
    pub(crate) async fn begin_sign_in(&self, page: &OwnedPage) -> Result<Option<HeaderValue>, Error> {
        let OwnedPage { session, cookie, .. } = page;
        let (before, user_agent) = (self.login_cookie.as_ref(), self.user_agent.as_deref());
        let cookie = begin_browser_session(&self.service, session, cookie, before, user_agent).await?;
        Ok(cookie.map(|cookie| LOGIN_COOKIE.set(&self.service.origin, &cookie, LOGIN_COOKIE_MAX_AGE)))
    }

    pub(crate) fn cookie(&self) -> Option<&CookieSecret> {
        self.cookie.as_ref()
    }

    pub(crate) fn address(&self) -> &Caller {
        &self.address
    }

    /// Returns the purpose of the page's forms.
    pub(crate) fn purpose(&self) -> String {
        format!("login {}", self.id)
    }

    /// Returns the path of the page.
    pub(crate) fn path(&self) -> String {
        self.service.origin.link(&format!("{}/login/{}", self.environment.page_path(), self.id))
    }

    /// Returns the view of the page at a time.
    pub(crate) fn view(&self, page: &OwnedPage, now: Timestamp) -> Result<LoginView, Error> {
        let supported_methods = self.service.supported_methods(self.environment);
        let wallet = self.service.wallet_url(self.environment);
        let public_address = &self.service.public_address;
        let host = LoginHost { public_address, supported_methods: &supported_methods, wallet: wallet.as_deref() };
        Ok(LoginView::new(&page.session, &page.domain, &page.cookie, host, now)?)
    }

    /// Returns the document of a view, to be rendered.
    pub(crate) fn document<'a>(&'a self, page: &OwnedPage, view: &'a LoginView) -> LoginDocument<'a> {
        let token = CsrfToken::new(&page.cookie, &self.purpose());
        LoginDocument { view, language: self.language, origin: &self.service.origin, path: self.path(), token }
    }
}
