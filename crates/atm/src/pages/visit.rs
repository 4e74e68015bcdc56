//! A request for a page: who asks, in which language, for what.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use signpost_platform::limits::Limit;
use signpost_platform::pages::Language;
use signpost_platform::pages::compressed::accepts_gzip;
use signpost_platform::web::peer::peer;
use signpost_platform::web::problem::Problem;
use url::form_urlencoded;

use super::ground::Ground;
use super::words::{LocatorWords, locator_words};
use crate::map::RingUnit;
use crate::service::AtmService;

/// A request for a page of the locator; it was counted.
#[derive(Debug)]
pub struct LocatorVisit {
    pub(super) service: AtmService,
    pub(super) language: Language,
    /// The language that the address names, where that is another one than the browser prefers.
    pub(super) named_language: Option<Language>,
    pub(super) now: Timestamp,
    uri: Uri,
    known_tags: Vec<HeaderValue>,
    pub(super) accepts_gzip: bool,
}

impl LocatorVisit {
    pub(super) fn words(&self) -> &'static LocatorWords {
        locator_words(self.language)
    }

    /// The unit of distances in its language.
    pub(super) fn ring_unit(&self) -> RingUnit {
        match self.language {
            Language::English => RingUnit::Miles,
            Language::Spanish => RingUnit::Kilometres,
        }
    }

    pub(super) async fn ground(&self) -> Ground {
        Ground::of(&self.service.catalogue).await
    }

    /// The day, in Greenwich.
    pub(super) fn today(&self) -> Date {
        TimeZone::UTC.to_datetime(self.now).date()
    }

    /// What an address of this server is in a link of the page: who chose a language keeps it.
    pub(super) fn link(&self, path: &str) -> String {
        let link = self.service.origin.link(path);
        match self.named_language {
            Some(language) => {
                let before = if path.contains('?') { '&' } else { '?' };
                format!("{link}{before}lang={}", language.tag())
            }
            None => link,
        }
    }

    /// A parameter of the address, the first of its name.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        let mut query = form_urlencoded::parse(self.uri.query().unwrap_or_default().as_bytes());
        query.find_map(|(found, value)| (found == name).then(|| value.into_owned()))
    }

    /// Returns the number of the page of a list that the address names, from 1. Anything else is the first page.
    pub(super) fn page_number(&self) -> usize {
        self.parameter("page").and_then(|page| page.parse().ok()).filter(|page| *page > 1).unwrap_or(1)
    }

    /// What its page is kept under: the address in its language, without what pages do not read.
    pub(super) fn name(&self) -> String {
        let named = if self.named_language.is_some() { "=" } else { "" };
        format!("{}{named}{}?{}", self.language.tag(), self.uri.path(), self.choices())
    }

    /// The part of the query that says what is shown, and how.
    fn choices(&self) -> String {
        let mut choices = form_urlencoded::Serializer::new(String::new());
        for name in ["lang", "only", "page"] {
            if let Some(value) = self.parameter(name) {
                choices.append_pair(name, &value);
            }
        }
        choices.finish()
    }

    /// Where a page stands, for good, that was asked for at another address.
    pub(super) fn moved(&self, path: &str) -> Option<Response> {
        (self.uri.path() != path).then(|| self.lead_to(StatusCode::MOVED_PERMANENTLY, path))
    }

    /// A redirect to a page of ours, with what this address chose. What somebody looked for stays behind.
    pub(super) fn lead_to(&self, status: StatusCode, path: &str) -> Response {
        let choices = self.choices();
        let before = if choices.is_empty() { "" } else { "?" };
        redirect(status, self.service.origin.link(path) + before + &choices)
    }

    /// Whether the browser has a document of this tag.
    pub(super) fn knows(&self, tag: &str) -> bool {
        let lines = self.known_tags.iter().filter_map(|line| line.to_str().ok());
        let mut tags = lines.flat_map(|line| line.split(',')).map(str::trim);
        tags.any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
    }
}

/// The address of a page with a slash behind it: the page stands at the one without.
pub(super) async fn leave_out_slash(visit: LocatorVisit) -> Response {
    visit.lead_to(StatusCode::MOVED_PERMANENTLY, visit.uri.path().trim_end_matches('/'))
}

/// The same for a search, which takes what was typed along.
pub(super) async fn leave_out_slash_of_search(visit: LocatorVisit) -> Response {
    let query = visit.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let path = visit.uri.path().trim_end_matches('/');
    redirect(StatusCode::MOVED_PERMANENTLY, visit.service.origin.link(path) + &query)
}

fn redirect(status: StatusCode, to: String) -> Response {
    let location = HeaderValue::try_from(to);
    location.map_or_else(|_| Problem::NotFound.into_response(), |to| (status, [(header::LOCATION, to)]).into_response())
}

/// A request for data of the map, counted apart from requests for pages: moving the map makes many of them.
#[derive(Debug)]
pub(super) struct MapDataVisit(pub(super) LocatorVisit);

impl FromRequestParts<AtmService> for MapDataVisit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &AtmService) -> Result<Self, Problem> {
        LocatorVisit::receive(parts, service, Limit::Map).await.map(Self)
    }
}

impl FromRequestParts<AtmService> for LocatorVisit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &AtmService) -> Result<Self, Problem> {
        Self::receive(parts, service, Limit::GetSession).await
    }
}

impl LocatorVisit {
    /// Counts the request against the limit, and reads it.
    async fn receive(parts: &Parts, service: &AtmService, limit: Limit) -> Result<Self, Problem> {
        let caller = peer(service, &parts.extensions, &parts.headers);
        let elapsed = service.clock.elapsed();
        service.limits.check(limit, &caller, elapsed).await.map_err(Problem::RateLimited)?;
        let language = Language::choose(&parts.uri, &parts.headers);
        let preferred = Language::choose(&Uri::from_static("/"), &parts.headers);
        Ok(Self {
            service: service.clone(),
            language,
            named_language: (language != preferred).then_some(language),
            now: service.clock.now(),
            uri: parts.uri.clone(),
            accepts_gzip: accepts_gzip(&parts.headers),
            known_tags: parts.headers.get_all(header::IF_NONE_MATCH).iter().cloned().collect(),
        })
    }
}
