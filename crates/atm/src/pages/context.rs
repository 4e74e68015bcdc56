//! The context of a page request: language, URL parameters, and the state of the catalogue for the reply.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use jiff::civil::Date;
use signpost_locator::Country;
use signpost_locator::gazetteer::Gazetteer;
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::pages::Language;
use signpost_platform::pages::compressed::accepts_gzip;
use signpost_platform::web::peer::peer;
use signpost_platform::web::problem::Problem;
use url::form_urlencoded;

use super::likely_country::likely_country;
use super::words::{LocatorWords, locator_words, utc_date};
use crate::catalogue::{Moment, Snapshot, Towns};
use crate::map::RingUnit;
use crate::service::AtmService;

/// The context of a page request. Extracting it counts the request against a rate limit and fixes the versions of the
/// catalogue and the place names for the whole reply.
#[derive(Debug)]
pub struct PageContext {
    pub(super) service: AtmService,
    pub(super) caller: Caller,
    pub(super) language: Language,
    /// The language in the URL, if it differs from the browser's preferred language.
    pub(super) named_language: Option<Language>,
    /// The likely country of the user, derived from the browser's preferred language.
    pub(super) likely_country: Option<Country>,
    pub(super) now: Timestamp,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) places: Arc<Gazetteer>,
    pub(super) accepts_gzip: bool,
    uri: Uri,
    known_tags: Vec<HeaderValue>,
}

impl FromRequestParts<AtmService> for PageContext {
    type Rejection = Problem;

    /// Counts the request against the [`Limit`] in its extensions (by default the limit for pages), and creates its
    /// context.
    async fn from_request_parts(parts: &mut Parts, service: &AtmService) -> Result<Self, Problem> {
        let caller = peer(service, &parts.extensions, &parts.headers);
        let limit = parts.extensions.get::<Limit>().copied().unwrap_or(Limit::GetSession);
        let elapsed = service.clock.elapsed();
        service.limits.check(limit, &caller, elapsed).await.map_err(Problem::RateLimited)?;
        let language = Language::choose(&parts.uri, &parts.headers);
        let preferred = Language::choose(&Uri::from_static("/"), &parts.headers);
        Ok(Self {
            service: service.clone(),
            caller,
            language,
            named_language: (language != preferred).then_some(language),
            likely_country: likely_country(&parts.headers),
            now: service.clock.now(),
            snapshot: service.catalogue.snapshot(),
            places: service.catalogue.places.now(),
            accepts_gzip: accepts_gzip(&parts.headers),
            uri: parts.uri.clone(),
            known_tags: parts.headers.get_all(header::IF_NONE_MATCH).iter().cloned().collect(),
        })
    }
}

impl PageContext {
    /// Returns the locator's texts in the language of the page.
    pub(super) fn words(&self) -> &'static LocatorWords {
        locator_words(self.language)
    }

    /// Returns the unit of distances on maps.
    pub(super) fn ring_unit(&self) -> RingUnit {
        match self.language {
            Language::English => RingUnit::Miles,
            Language::Spanish => RingUnit::Kilometres,
        }
    }

    /// Returns the catalogue at the time of the request.
    pub(super) fn moment(&self) -> Moment<'_> {
        self.snapshot.at(self.now)
    }

    /// Returns the towns of the catalogue. The first call for a snapshot computes them and blocks the thread for a
    /// while.
    pub(super) fn towns(&self) -> &Towns {
        self.snapshot.towns(&self.places)
    }

    /// Returns today's date in UTC.
    pub(super) fn today(&self) -> Date {
        utc_date(self.now)
    }

    /// Returns a link to a path of this server. It contains the `lang` parameter if the URL of this request does.
    pub(super) fn link(&self, path: &str) -> String {
        let link = self.service.origin.link(path);
        match self.named_language {
            Some(language) => {
                let separator = if path.contains('?') { '&' } else { '?' };
                format!("{link}{separator}lang={}", language.tag())
            }
            None => link,
        }
    }

    /// Returns the value of the first query parameter with this name.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        let mut query = form_urlencoded::parse(self.uri.query().unwrap_or_default().as_bytes());
        query.find_map(|(found, value)| (found == name).then(|| value.into_owned()))
    }

    /// Returns the page number in the URL, starting from 1. Invalid or missing numbers are the first page.
    pub(super) fn page_number(&self) -> usize {
        let number = self.parameter("page").and_then(|page| page.parse::<usize>().ok());
        number.unwrap_or(1).max(1)
    }

    /// Returns the key of the page in the page cache: the language, the path and the parameters that affect pages.
    pub(super) fn cache_key(&self) -> String {
        let named = if self.named_language.is_some() { "=" } else { "" };
        format!("{}{named}{}?{}", self.language.tag(), self.uri.path(), self.page_parameters())
    }

    /// Returns the query parameters for language, filter and page number.
    fn page_parameters(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for name in ["lang", "only", "page"] {
            if let Some(value) = self.parameter(name) {
                query.append_pair(name, &value);
            }
        }
        query.finish()
    }

    /// Returns the whole query with a leading `?`, or an empty string if the URL has no query.
    pub(super) fn query_suffix(&self) -> String {
        self.uri.query().map(|query| format!("?{query}")).unwrap_or_default()
    }

    /// Returns a permanent redirect to the canonical path of the page, if the request has another path.
    pub(super) fn redirect_unless_at(&self, path: &str) -> Option<Response> {
        (self.uri.path() != path).then(|| self.redirect(StatusCode::MOVED_PERMANENTLY, path))
    }

    /// Returns a redirect to a path of this server with the language, filter and page number of this request, but
    /// without its search text.
    pub(super) fn redirect(&self, status: StatusCode, path: &str) -> Response {
        let parameters = self.page_parameters();
        let separator = if parameters.is_empty() { "" } else { "?" };
        self.redirect_exactly(status, &format!("{path}{separator}{parameters}"))
    }

    /// Returns a redirect to exactly this path and query of this server.
    pub(super) fn redirect_exactly(&self, status: StatusCode, path_and_query: &str) -> Response {
        match HeaderValue::try_from(self.service.origin.link(path_and_query)) {
            Ok(location) => (status, [(header::LOCATION, location)]).into_response(),
            Err(_) => Problem::NotFound.into_response(),
        }
    }

    /// Returns `true` if `If-None-Match` contains this entity tag.
    pub(super) fn has_current(&self, tag: &str) -> bool {
        let lines = self.known_tags.iter().filter_map(|line| line.to_str().ok());
        let mut tags = lines.flat_map(|line| line.split(',')).map(str::trim);
        tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
    }
}

/// Redirects to the path without its trailing slash. The search text is dropped.
pub(super) async fn remove_trailing_slash(context: PageContext) -> Response {
    context.redirect(StatusCode::MOVED_PERMANENTLY, context.uri.path().trim_end_matches('/'))
}

/// Redirects to the path without its trailing slash, with the whole query including the search text.
pub(super) async fn remove_trailing_slash_of_search(context: PageContext) -> Response {
    let path = context.uri.path().trim_end_matches('/');
    context.redirect_exactly(StatusCode::MOVED_PERMANENTLY, &format!("{path}{}", context.query_suffix()))
}
