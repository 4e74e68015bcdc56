//! Who comes to an account page, and whether they are signed in there.

use axum::extract::Request;
use axum::http::{HeaderValue, Method, header};
use axum::response::{IntoResponse, Redirect, Response};
use jiff::Timestamp;
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::{FormRefusal, FormToken, PostedForm};
use signpost_platform::pages::{HtmlPage, Language};
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;
use signpost_store::random;
use url::form_urlencoded;

use crate::domains::{self, Domain, HandlerKind};
use crate::error::Error;
use crate::flows::sign_in::{LOGIN_COOKIE, LOGIN_COOKIE_LASTS, SignedInUser, find_signed_in};
use crate::ids::DomainId;
use crate::service::LoginService;
use crate::sessions::{PAGE_COOKIE, PAGE_COOKIE_LASTS};

/// A request for an account page.
#[derive(Debug)]
pub(super) struct AccountVisit {
    pub(super) service: LoginService,
    pub(super) language: Language,
    /// What the browser came with, else a new one, which leads to nothing yet and binds the forms of the reply.
    pub(super) cookie: CookieSecret,
    has_cookie: bool,
    /// A reply to a form sets no login cookie: the form of another site comes without the browser's cookie, which the reply
    /// would overwrite.
    is_form: bool,
    /// Which browser it is on login pages.
    page_cookie: Option<CookieSecret>,
    pub(super) address: Caller,
    pub(super) user_agent: Option<String>,
    /// Where they go on once they are logged in: what the address says, to be looked at when they do.
    pub(super) next: Option<String>,
    pub(super) now: Timestamp,
}

/// A domain where the visitor is signed in.
#[derive(Debug)]
pub(super) struct OwnRealm {
    pub(super) domain: Domain,
    pub(super) who: SignedInUser,
}

/// What a page says was done before it was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Renamed,
    Added,
    /// The key was gone already.
    Gone,
    /// The person came back without having logged in, or without a key.
    Nothing,
}

impl AccountVisit {
    pub(super) fn new(service: LoginService, language: Language, request: &Request) -> Self {
        let headers = request.headers();
        let cookie = LOGIN_COOKIE.read(&service.origin, headers);
        let page_cookie = PAGE_COOKIE.read(&service.origin, headers);
        let (has_cookie, address) = (cookie.is_some(), client_address(&service, request));
        let user_agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (cookie, now) = (cookie.unwrap_or_else(|| CookieSecret::from_bytes(random())), service.clock.now());
        let query = form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes());
        let next = query.into_iter().find_map(|(name, path)| (name == "next").then(|| path.into_owned()));
        let next = next.filter(|path| is_path_here(path));
        let is_form = ![Method::GET, Method::HEAD].contains(request.method());
        Self { service, language, cookie, has_cookie, is_form, page_cookie, address, user_agent, next, now }
    }

    /// The domain with this id, where the visitor is signed in; `None` where they are not, or where there is no such domain.
    pub(super) async fn find_own(&self, id: &str) -> Result<Option<OwnRealm>, Response> {
        let own = self.look_for_own(id).await.map_err(IntoResponse::into_response)?;
        let caller = match &own {
            Some(own) => Caller::Session(own.who.session.id.to_string()),
            None => self.address.clone(),
        };
        self.count(&caller).await?;
        Ok(own)
    }

    async fn look_for_own(&self, id: &str) -> Result<Option<OwnRealm>, Error> {
        let Some(domain) = self.find_domain(id).await? else { return Ok(None) };
        let who = find_signed_in(&self.service, &self.cookie, &domain).await?;
        Ok(who.map(|who| OwnRealm { domain, who }))
    }

    /// The domain with this id, where people log in here.
    pub(super) async fn find_domain(&self, id: &str) -> Result<Option<Domain>, Error> {
        let Some(id) = DomainId::parse(id) else { return Ok(None) };
        let domain = domains::sql::find_in_any_account(&self.service.store, &id).await?;
        Ok(domain.filter(|domain| domain.handler == HandlerKind::Hosted))
    }

    /// Whether the form was made for this browser and purpose.
    pub(super) fn check(&self, id: &str, form: &PostedForm, purpose: &str) -> Result<(), FormRefusal> {
        form.check(self.has_cookie.then_some(&self.cookie), &scoped(id, purpose))
    }

    pub(super) async fn count(&self, caller: &Caller) -> Result<(), Response> {
        let counted = self.service.limits.check(Limit::GetSession, caller, self.service.clock.elapsed()).await;
        counted.map_err(|exceeded| Problem::RateLimited(exceeded).into_response())
    }

    /// Counts a session that is opened for a stranger, who has a tenth of what an account has.
    pub(super) async fn count_opened(&self) -> Result<(), Response> {
        let (limits, elapsed) = (&self.service.limits, self.service.clock.elapsed());
        let counted = limits.check_tenth(Limit::CreateSession, &self.address, elapsed).await;
        counted.map_err(|exceeded| Problem::RateLimited(exceeded).into_response())
    }

    /// Counts what a session stores that is opened for a caller without a login, beside its row.
    pub(super) async fn count_stored(&self, bytes: usize) -> Result<(), Response> {
        let counted = self.service.limits.check_stored(&self.address, bytes, self.service.clock.elapsed()).await;
        counted.map_err(|exceeded| Problem::RateLimited(exceeded).into_response())
    }

    /// A page for this browser alone.
    pub(super) fn page(&self, document: String) -> HtmlPage {
        let page = HtmlPage::personal(document);
        match self.set_cookie() {
            Some(cookie) => page.with_header(header::SET_COOKIE, cookie),
            None => page,
        }
    }

    fn set_cookie(&self) -> Option<HeaderValue> {
        if self.has_cookie || self.is_form {
            return None;
        }
        Some(LOGIN_COOKIE.set(&self.service.origin, &self.cookie, LOGIN_COOKIE_LASTS))
    }

    /// Which browser it is on login pages, and what the reply sets for that.
    pub(super) fn page_owner(&self) -> (CookieSecret, HeaderValue) {
        let cookie = self.page_cookie.clone().unwrap_or_else(|| CookieSecret::from_bytes(random()));
        let set = PAGE_COOKIE.set(&self.service.origin, &cookie, PAGE_COOKIE_LASTS);
        (cookie, set)
    }

    pub(super) fn token(&self, id: &str, purpose: &str) -> FormToken {
        FormToken::new(&self.cookie, &scoped(id, purpose))
    }

    /// The address of a realm's page, or of a form there.
    pub(super) fn link(&self, id: &str, form: &str) -> String {
        let slash = if form.is_empty() { "" } else { "/" };
        let path = self.service.origin.link(&format!("/account/{id}{slash}{form}"));
        format!("{path}?lang={}", self.language.tag())
    }

    /// To the page of a realm, which says what was done.
    pub(super) fn to_realm(&self, domain: &Domain, deed: Option<Deed>) -> Response {
        let said = deed.map(|deed| format!("&said={}", deed.as_str())).unwrap_or_default();
        Redirect::to(&format!("{}{said}", self.link(domain.id.as_str(), ""))).into_response()
    }
}

/// Whether a text is a path of this server, and nothing that a browser takes for another's address.
pub(super) fn is_path_here(path: &str) -> bool {
    let is_below_root = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
    is_below_root && path.bytes().all(|byte| byte.is_ascii_graphic())
}

/// What a form carries that logs its person in at a domain: `POST /account/{domain}/login` with `next`, the path where they
/// go on. `cookie` is the browser's [`LOGIN_COOKIE`].
#[must_use]
pub fn login_form_token(cookie: &CookieSecret, domain: &DomainId) -> FormToken {
    FormToken::new(cookie, &scoped(domain.as_str(), "login"))
}

/// What a form of a realm is for: no token of one realm is one of another.
fn scoped(id: &str, purpose: &str) -> String {
    format!("account {id} {purpose}")
}

impl Deed {
    const ALL: [Self; 4] = [Self::Renamed, Self::Added, Self::Gone, Self::Nothing];

    /// The word in the address.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Renamed => "renamed",
            Self::Added => "added",
            Self::Gone => "gone",
            Self::Nothing => "nothing",
        }
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|deed| deed.as_str() == word)
    }
}
