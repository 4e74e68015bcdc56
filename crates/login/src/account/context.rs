//! Extracts the context of a request for an account page: the browser, its cookies, and the account
//! that it is signed in to.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Redirect, Response, Result};
use jiff::Timestamp;
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::{CsrfToken, PostedForm, PostedFormError};
use signpost_platform::pages::{HtmlPage, Language};
use signpost_platform::web::PathParams;
use signpost_platform::web::peer::peer;
use signpost_platform::web::problem::Problem;
use signpost_store::random;
use url::form_urlencoded;

use crate::domains::{self, Domain, HandlerKind};
use crate::error::Error;
use crate::flows::sign_in::{LOGIN_COOKIE, LOGIN_COOKIE_MAX_AGE, SignedInUser, find_signed_in};
use crate::ids::DomainId;
use crate::service::LoginService;
use crate::sessions::{PAGE_COOKIE, PAGE_COOKIE_MAX_AGE};

/// Name of the query parameter with the notice that the account page shows.
pub(super) const NOTICE_PARAMETER: &str = "said";

/// The context of a request for an account page. Handlers get it from an axum extractor.
#[derive(Debug)]
pub(super) struct AccountContext {
    pub(super) service: LoginService,
    pub(super) language: Language,
    /// The domain ID in the path; empty on the list of accounts.
    pub(super) id: String,
    /// The login cookie of the browser, or a new cookie, which belongs to no browser session yet and binds the forms of
    /// the page.
    pub(super) cookie: CookieSecret,
    has_cookie: bool,
    /// Whether the request may be a posted form. The response to a form sets no login cookie,
    /// because a form from another site arrives without the browser's cookie, and the response
    /// would overwrite that cookie.
    is_form: bool,
    /// The cookie that owns login pages.
    page_cookie: Option<CookieSecret>,
    pub(super) address: Caller,
    pub(super) user_agent: Option<String>,
    /// The path to return to after the login, from the query.
    pub(super) next: Option<String>,
    pub(super) now: Timestamp,
}

/// An account that the browser of the request is signed in to, at one domain.
#[derive(Debug)]
pub(super) struct SignedInAccount {
    pub(super) domain: Domain,
    pub(super) sign_in: SignedInUser,
}

/// The result of the action that redirected to the account page, shown above the list of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccountNotice {
    KeyRenamed,
    KeyAdded,
    /// The key in the form does not exist (any more).
    KeyNotFound,
    /// The user returned from the login page without logging in or adding a key.
    Unchanged,
    SignInEnded,
    /// The sign-in in the form does not exist (any more).
    SignInNotFound,
}

impl FromRequestParts<LoginService> for AccountContext {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, service: &LoginService) -> Result<Self, Infallible> {
        let Ok(PathParams(id)) = PathParams::<String>::from_request_parts(parts, service).await;
        let headers = &parts.headers;
        let cookie = LOGIN_COOKIE.read(&service.origin, headers);
        let user_agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        Ok(Self {
            service: service.clone(),
            language: Language::choose(&parts.uri, headers),
            id,
            has_cookie: cookie.is_some(),
            cookie: cookie.unwrap_or_else(|| CookieSecret::from_bytes(random())),
            is_form: ![Method::GET, Method::HEAD].contains(&parts.method),
            page_cookie: PAGE_COOKIE.read(&service.origin, headers),
            address: peer(service, &parts.extensions, headers),
            user_agent: user_agent.map(str::to_owned),
            next: query_parameter(&parts.uri, "next").filter(|path| is_local_path(path)),
            now: service.clock.now(),
        })
    }
}

impl AccountContext {
    /// Returns the account, and counts the request. `None` if the browser is not signed in at the domain, or if there
    /// is no such domain.
    pub(super) async fn find_account(&self) -> Result<Option<SignedInAccount>> {
        let account = self.read_account().await?;
        let caller = match &account {
            Some(account) => Caller::Session(account.sign_in.session.id.to_string()),
            None => self.address.clone(),
        };
        self.count(&caller).await?;
        Ok(account)
    }

    async fn read_account(&self) -> Result<Option<SignedInAccount>, Error> {
        let Some(domain) = self.find_domain(&self.id).await? else { return Ok(None) };
        let sign_in = find_signed_in(&self.service, &self.cookie, &domain).await?;
        Ok(sign_in.map(|sign_in| SignedInAccount { domain, sign_in }))
    }

    /// Returns the hosted domain with this ID.
    pub(super) async fn find_domain(&self, id: &str) -> Result<Option<Domain>, Error> {
        let Some(id) = DomainId::parse(id) else { return Ok(None) };
        let domain = domains::sql::find_in_any_account(&self.service.store, &id).await?;
        Ok(domain.filter(|domain| domain.handler == HandlerKind::Hosted))
    }

    /// Checks that the form was made for this browser and purpose.
    pub(super) fn check(&self, form: &PostedForm, purpose: &str) -> Result<(), PostedFormError> {
        form.check(self.has_cookie.then_some(&self.cookie), &scoped(&self.id, purpose))
    }

    /// Counts a request against the rate limit of this caller.
    pub(super) async fn count(&self, caller: &Caller) -> Result<(), Problem> {
        let elapsed = self.service.clock.elapsed();
        self.service.limits.check(Limit::GetSession, caller, elapsed).await.map_err(Problem::RateLimited)
    }

    /// Counts a session that is opened without an API key, at a tenth of the limit of an account.
    pub(super) async fn count_opened(&self) -> Result<(), Problem> {
        let elapsed = self.service.clock.elapsed();
        let limits = &self.service.limits;
        limits.check_tenth(Limit::CreateSession, &self.address, elapsed).await.map_err(Problem::RateLimited)
    }

    /// Counts the bytes that a session stores besides its row, for a caller without a login.
    pub(super) async fn count_stored(&self, bytes: usize) -> Result<(), Problem> {
        let elapsed = self.service.clock.elapsed();
        self.service.limits.check_stored(&self.address, bytes, elapsed).await.map_err(Problem::RateLimited)
    }

    /// Returns a page for this browser, which sets the login cookie if the browser has none.
    pub(super) fn page(&self, document: String) -> HtmlPage {
        let page = HtmlPage::personal(document);
        if self.has_cookie || self.is_form {
            return page;
        }
        page.with_header(header::SET_COOKIE, LOGIN_COOKIE.set(&self.service.origin, &self.cookie, LOGIN_COOKIE_MAX_AGE))
    }

    /// Returns the cookie that owns login pages, and the header that sets it.
    pub(super) fn page_owner(&self) -> (CookieSecret, HeaderValue) {
        let cookie = self.page_cookie.clone().unwrap_or_else(|| CookieSecret::from_bytes(random()));
        let set = PAGE_COOKIE.set(&self.service.origin, &cookie, PAGE_COOKIE_MAX_AGE);
        (cookie, set)
    }

    /// Returns the CSRF token of a form of the account.
    pub(super) fn token(&self, purpose: &str) -> CsrfToken {
        self.token_at(&self.id, purpose)
    }

    /// Returns the CSRF token of a form of the account at the domain with this ID.
    pub(super) fn token_at(&self, id: &str, purpose: &str) -> CsrfToken {
        CsrfToken::new(&self.cookie, &scoped(id, purpose))
    }

    /// Returns the link to the account.
    pub(super) fn link(&self) -> String {
        self.link_at(&self.id)
    }

    /// Returns the link to the account at the domain with this ID.
    pub(super) fn link_at(&self, id: &str) -> String {
        self.localized(&format!("/account/{id}"))
    }

    /// Returns the link to a form of the account.
    pub(super) fn form_link(&self, form: &str) -> String {
        self.form_link_at(&self.id, form)
    }

    /// Returns the link to a form of the account at the domain with this ID.
    pub(super) fn form_link_at(&self, id: &str, form: &str) -> String {
        self.localized(&format!("/account/{id}/{form}"))
    }

    /// Returns the link to the list of accounts.
    pub(super) fn link_to_list(&self) -> String {
        self.localized("/account")
    }

    fn localized(&self, path: &str) -> String {
        format!("{}?lang={}", self.service.origin.link(path), self.language.tag())
    }

    /// Redirects to the account, whose page then shows the notice.
    pub(super) fn redirect_to_account(&self, notice: Option<AccountNotice>) -> Response {
        let to = match notice {
            Some(notice) => format!("{}&{NOTICE_PARAMETER}={}", self.link(), notice.as_str()),
            None => self.link(),
        };
        Redirect::to(&to).into_response()
    }
}

/// Returns the first value of a query parameter.
pub(super) fn query_parameter(uri: &Uri, name: &str) -> Option<String> {
    let mut query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    query.find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
}

/// Returns true if a text is a path on this server. Browsers parse some texts that start with a
/// slash as the URL of another host.
pub(super) fn is_local_path(path: &str) -> bool {
    let is_below_root = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
    is_below_root && path.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns the CSRF token of a form that logs in at a domain: `POST /account/{domain}/login`, where `next` is the path
/// to return to. `cookie` is the browser's [`LOGIN_COOKIE`].
#[must_use]
pub fn login_form_token(cookie: &CookieSecret, domain: &DomainId) -> CsrfToken {
    CsrfToken::new(cookie, &scoped(domain.as_str(), "login"))
}

/// Returns the purpose of a form at a domain: tokens of other domains are invalid.
fn scoped(id: &str, purpose: &str) -> String {
    format!("account {id} {purpose}")
}

impl AccountNotice {
    const ALL: [Self; 6] =
        [Self::KeyRenamed, Self::KeyAdded, Self::KeyNotFound, Self::Unchanged, Self::SignInEnded, Self::SignInNotFound];

    /// Returns the value of [`NOTICE_PARAMETER`].
    fn as_str(self) -> &'static str {
        match self {
            Self::KeyRenamed => "renamed",
            Self::KeyAdded => "added",
            Self::KeyNotFound => "gone",
            Self::Unchanged => "nothing",
            Self::SignInEnded => "ended",
            Self::SignInNotFound => "ended-before",
        }
    }

    /// Parses the value of [`NOTICE_PARAMETER`].
    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.as_str() == word)
    }
}
