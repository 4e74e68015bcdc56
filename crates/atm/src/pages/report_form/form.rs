//! The state of a report form about an ATM. A cookie binds the form to a browser.

use std::borrow::Cow;
use std::time::Duration;

use anyhow::Result;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use signpost_locator::AtmId;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::cookie::{CookieName, CookieSecret};
use signpost_platform::pages::form::{CsrfToken, PostedForm, PostedFormError};
use signpost_platform::web::problem::Problem;
use signpost_store::random;

use super::words::{ReportWords, report_words};
use crate::pages::context::PageContext;
use crate::reporting::ReportRefusal;
use crate::reports::ReportState;
use crate::service::AtmService;
use crate::visitors::KnownVisitor;

/// Name of the cookie that binds a form to a browser. It does not identify the user, and the server stores nothing for
/// it.
const FORM_COOKIE: CookieName = CookieName::new("signpost_report");
/// Lifetime of a form.
const FORM_TTL: Duration = Duration::from_hours(24);

/// A report form about an ATM for a single browser.
#[derive(Debug)]
pub(super) struct ReportForm {
    pub(super) context: PageContext,
    pub(super) atm: AtmId,
    pub(super) title: String,
    /// The postal address on one line, if known.
    pub(super) place: Option<String>,
    /// The user, if signed in.
    pub(super) visitor: Option<KnownVisitor>,
    /// The path of the login page, if the user is not signed in.
    pub(super) login_path: Option<String>,
    cookie: CookieSecret,
    has_cookie: bool,
}

impl ReportForm {
    /// Creates the form for the ATM with this ID.
    ///
    /// # Errors
    /// A 404 page if the ATM does not exist; a redirect to the canonical path if `id` is the ID of a merged row or not
    /// in canonical form; a [`Problem`] if the session of the user cannot be read.
    pub(super) async fn open(context: PageContext, id: &str, headers: &HeaderMap) -> Result<Self, Response> {
        let Some(entry) = id.parse().ok().and_then(AtmId::new).and_then(|id| context.snapshot.get(id)) else {
            return Err(ReportRefusal::AtmNotFound.into_response());
        };
        let atm = entry.atm.id;
        if id != atm.to_string() {
            let path = form_path(atm) + &context.query_suffix();
            return Err(context.redirect_exactly(StatusCode::MOVED_PERMANENTLY, &path));
        }
        let record = &entry.atm.record;
        let title = record.title().to_owned();
        let place = record.address.one_line().map(Cow::into_owned);
        let (visitor, login_path) = match find_visitor(&context.service, atm, headers).await {
            Ok(found) => found,
            Err(error) => return Err(Problem::from(error).into_response()),
        };
        let cookie = FORM_COOKIE.read(&context.service.origin, headers);
        Ok(Self {
            context,
            atm,
            title,
            place,
            visitor,
            login_path,
            has_cookie: cookie.is_some(),
            cookie: cookie.unwrap_or_else(|| CookieSecret::from_bytes(random())),
        })
    }

    /// Returns the texts of the form in the language of the page.
    pub(super) fn words(&self) -> &'static ReportWords {
        report_words(self.context.language)
    }

    /// Returns the CSRF token of the form.
    pub(super) fn token(&self) -> CsrfToken {
        CsrfToken::new(&self.cookie, &self.purpose())
    }

    /// Checks the CSRF token of a posted form.
    pub(super) fn check(&self, posted: &PostedForm) -> Result<(), PostedFormError> {
        posted.check(self.has_cookie.then_some(&self.cookie), &self.purpose())
    }

    fn purpose(&self) -> String {
        format!("report {}", self.atm)
    }

    /// Creates the reply with a document, and sets the cookie if the browser does not have it yet.
    pub(super) fn page(&self, document: String) -> HtmlPage {
        let page = HtmlPage::personal(document);
        if self.has_cookie {
            return page;
        }
        page.with_header(header::SET_COOKIE, FORM_COOKIE.set(&self.context.service.origin, &self.cookie, FORM_TTL))
    }

    /// Returns a link to a path of this server, in the language of the page.
    pub(super) fn link(&self, path: &str) -> String {
        format!("{}?lang={}", self.context.service.origin.link(path), self.context.language.tag())
    }

    /// Returns the link to the form.
    pub(super) fn form_link(&self) -> String {
        self.link(&form_path(self.atm))
    }

    /// Returns the link to the confirmation of a report in this state.
    pub(super) fn thanks_link(&self, state: ReportState) -> String {
        format!("{}&said={}", self.form_link(), state.as_str())
    }
}

fn form_path(atm: AtmId) -> String {
    format!("/atm/{atm}/report")
}

/// Returns the user if signed in, otherwise the path of the login page.
async fn find_visitor(
    service: &AtmService,
    atm: AtmId,
    headers: &HeaderMap,
) -> Result<(Option<KnownVisitor>, Option<String>)> {
    let Some(visitors) = &service.visitors else { return Ok((None, None)) };
    match visitors.find(headers).await? {
        Some(visitor) => Ok((Some(visitor), None)),
        None => Ok((None, visitors.find_login_path(&form_path(atm)).await?)),
    }
}
