//! Who comes to the form, about which machine.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use signpost_locator::AtmId;
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::pages::cookie::{CookieName, CookieSecret};
use signpost_platform::pages::form::{FormRefusal, FormToken, PostedForm};
use signpost_platform::pages::{HtmlPage, Language};
use signpost_platform::web::problem::Problem;
use signpost_store::random;

use super::words::{ReportWords, report_words};
use crate::reporting::ReportRefusal;
use crate::reports::ReportState;
use crate::service::AtmService;
use crate::visitors::KnownVisitor;

/// Binds a form to a browser; it names no person, and nothing is stored under it.
const FORM_COOKIE: CookieName = CookieName::new("signpost_report");
/// How long a form can be sent.
const FORM_LASTS: Duration = Duration::from_hours(24);

/// A request for the form of a machine.
#[derive(Debug)]
pub(super) struct ReportVisit {
    pub(super) service: AtmService,
    pub(super) language: Language,
    /// The machine's number.
    pub(super) atm: String,
    pub(super) title: String,
    /// Its postal address on one line, where one is known.
    pub(super) place: Option<String>,
    pub(super) address: Caller,
    pub(super) person: Option<KnownVisitor>,
    /// Where somebody logs in who is not signed in.
    pub(super) login_path: Option<String>,
    pub(super) now: Timestamp,
    cookie: CookieSecret,
    has_cookie: bool,
}

impl ReportVisit {
    pub(super) async fn new(
        service: AtmService,
        language: Language,
        atm: &str,
        address: Caller,
        parts: &Parts,
    ) -> Result<Self, Response> {
        let headers = &parts.headers;
        count(&service, &address).await?;
        let snapshot = service.catalogue.snapshot();
        let entry = atm.parse().ok().and_then(AtmId::new).and_then(|id| snapshot.get(id));
        let entry = entry.ok_or_else(|| ReportRefusal::AtmNotFound.into_response())?;
        // One of several rows that are one machine, or a number that is spelt otherwise.
        if atm != entry.machine.id.to_string() {
            return Err(lead_to_form(&service, entry.machine.id, parts.uri.query()));
        }
        let (atm, record) = (entry.machine.id.to_string(), &entry.machine.record);
        let (title, place) = (record.title().to_owned(), record.address.one_line().map(Cow::into_owned));
        let cookie = FORM_COOKIE.read(&service.origin, headers);
        let failed = |error: anyhow::Error| Problem::from(error).into_response();
        let (mut person, mut login_path) = (None, None);
        if let Some(visitors) = &service.visitors {
            person = visitors.find(headers).await.map_err(failed)?;
            if person.is_none() {
                login_path = visitors.find_login_path(&format!("/atm/{atm}/report")).await.map_err(failed)?;
            }
        }
        Ok(Self {
            address,
            now: service.clock.now(),
            has_cookie: cookie.is_some(),
            cookie: cookie.unwrap_or_else(|| CookieSecret::from_bytes(random())),
            service,
            language,
            atm,
            title,
            place,
            person,
            login_path,
        })
    }

    pub(super) fn words(&self) -> &'static ReportWords {
        report_words(self.language)
    }

    pub(super) fn token(&self) -> FormToken {
        FormToken::new(&self.cookie, &self.purpose())
    }

    pub(super) fn check(&self, form: &PostedForm) -> Result<(), FormRefusal> {
        form.check(self.has_cookie.then_some(&self.cookie), &self.purpose())
    }

    fn purpose(&self) -> String {
        format!("report {}", self.atm)
    }

    /// A page for this browser alone.
    pub(super) fn page(&self, document: String) -> HtmlPage {
        let page = HtmlPage::personal(document);
        if self.has_cookie {
            return page;
        }
        page.with_header(header::SET_COOKIE, self.set_cookie())
    }

    fn set_cookie(&self) -> HeaderValue {
        FORM_COOKIE.set(&self.service.origin, &self.cookie, FORM_LASTS)
    }

    /// An address of this server that keeps the language.
    pub(super) fn link(&self, path: &str) -> String {
        format!("{}?lang={}", self.service.origin.link(path), self.language.tag())
    }

    pub(super) fn form_link(&self) -> String {
        self.link(&format!("/atm/{}/report", self.atm))
    }

    pub(super) fn thanks_link(&self, state: ReportState) -> String {
        format!("{}&said={}", self.form_link(), state.as_str())
    }
}

/// Counts a visit for its address, before anything is read for it.
async fn count(service: &AtmService, address: &Caller) -> Result<(), Response> {
    let counted = service.limits.check(Limit::GetSession, address, service.clock.elapsed()).await;
    counted.map_err(|exceeded| Problem::RateLimited(exceeded).into_response())
}

/// A redirect to the one address of the form of a machine, with what was asked there.
fn lead_to_form(service: &AtmService, id: AtmId, query: Option<&str>) -> Response {
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let location = HeaderValue::try_from(service.origin.link(&format!("/atm/{id}/report")) + &query);
    match location {
        Ok(to) => (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, to)]).into_response(),
        Err(_) => Problem::NotFound.into_response(),
    }
}
