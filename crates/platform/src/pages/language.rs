//! Chooses the language of a page.

use std::cmp::Reverse;
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use url::form_urlencoded;

use super::accept;

/// A language that pages are available in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// English, the default.
    English,
    /// Spanish with the informal “tú”.
    Spanish,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::English, Self::Spanish];

    /// Chooses the language of a page: the query parameter `lang`, else the preferred language in
    /// `Accept-Language` (RFC 9110, section 12.5.4), else English.
    #[must_use]
    pub fn choose(uri: &Uri, headers: &HeaderMap) -> Self {
        let mut query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        if let Some((_, tag)) = query.find(|(name, _)| name == "lang")
            && let Some(language) = Self::from_tag(&tag)
        {
            return language;
        }
        Self::preferred(&accept::ranges(headers, header::ACCEPT_LANGUAGE))
    }

    fn preferred(ranges: &[(&str, u16)]) -> Self {
        // The sort is stable, so the first of several equal weights is preferred.
        let mut found: Vec<_> =
            ranges.iter().filter_map(|(tag, weight)| Some((Self::from_tag(tag)?, *weight))).collect();
        if let Some((_, weight)) = ranges.iter().find(|(tag, _)| *tag == "*")
            && !found.iter().any(|(language, _)| *language == Self::English)
        {
            found.push((Self::English, *weight));
        }
        found.retain(|(_, weight)| *weight > 0);
        found.sort_by_key(|(_, weight)| Reverse(*weight));
        found.first().map_or(Self::English, |(language, _)| *language)
    }

    /// Returns the language of a BCP 47 tag, with or without a country.
    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| primary.eq_ignore_ascii_case(language.tag()))
    }

    /// Returns the BCP 47 tag, as used in the parameter `lang`.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Spanish => "es",
        }
    }

    /// Returns the name of the language in the language itself.
    #[must_use]
    pub fn native_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Spanish => "Español",
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Language {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::choose(&parts.uri, &parts.headers))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn choose(query: &str, accepted: &str) -> Language {
        let headers = [(header::ACCEPT_LANGUAGE, HeaderValue::from_str(accepted).unwrap())];
        Language::choose(&format!("/?{query}").parse().unwrap(), &headers.into_iter().collect())
    }

    #[test]
    fn page_has_the_preferred_language() {
        for (query, accepted, language) in [
            ("", "", "en"),
            ("", "es", "es"),
            ("", "es-MX", "es"),
            ("", "ES_ar", "es"),
            ("", "en, es", "en"),
            ("", "es, en", "es"),
            ("", "en;q=0.8, es;q=0.9", "es"),
            ("", "en ; q=0.8 , es ; q=0.800", "en"),
            ("", "fr, de;q=0.9, es;q=0.1", "es"),
            ("", "fr", "en"),
            ("", "es;q=0", "en"),
            ("", "es;q=0.5, *", "en"),
            ("", "es, *;q=0.1", "es"),
            ("", "es;q=0.5, en;q=0.1, *;q=0.8", "es"),
            ("", "es;q=2, en;q=0.1", "en"),
            ("", "es;q=nan, es;q=-1, ;;,=", "en"),
            ("", "est", "en"),
            ("lang=es", "en", "es"),
            ("lang=es-419", "en", "es"),
            ("a=b&lang=en", "es", "en"),
            ("lang=fr", "es", "es"),
            ("lang=", "es", "es"),
            ("lang=en&lang=es", "es", "en"),
        ] {
            assert_eq!(choose(query, accepted).tag(), language, "{query} {accepted}");
        }
    }
}
