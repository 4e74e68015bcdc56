//! Which language a page is in.

use std::cmp::Reverse;
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header::ACCEPT_LANGUAGE;
use axum::http::request::Parts;
use url::form_urlencoded;

/// How many languages of a reader are looked at.
const MOST_ACCEPTED: usize = 32;

/// A language that pages speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// For whoever says nothing, or names others alone.
    English,
    /// With “tú”.
    Spanish,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::English, Self::Spanish];

    /// The language of a page: what `lang` in the query says, else what `Accept-Language` prefers (RFC 9110, section
    /// 12.5.4), else English.
    #[must_use]
    pub fn choose(query: &str, accepted: &str) -> Self {
        let mut query = form_urlencoded::parse(query.as_bytes());
        let asked = query.find_map(|(name, value)| (name == "lang").then(|| Self::of_tag(&value))).flatten();
        asked.unwrap_or_else(|| Self::preferred(accepted))
    }

    fn preferred(accepted: &str) -> Self {
        let ranges: Vec<_> = accepted.split(',').take(MOST_ACCEPTED).filter_map(range).collect();
        // What is first of equals counts, and the sort keeps their order.
        let mut found: Vec<_> = ranges.iter().filter_map(|(tag, weight)| Some((Self::of_tag(tag)?, *weight))).collect();
        let is_named = |language| found.iter().any(|(named, _)| *named == language);
        if let Some((_, weight)) = ranges.iter().find(|(tag, _)| *tag == "*")
            && !is_named(Self::English)
        {
            found.push((Self::English, *weight));
        }
        found.retain(|(_, weight)| *weight > 0);
        found.sort_by_key(|(_, weight)| Reverse(*weight));
        found.first().map_or(Self::English, |(language, _)| *language)
    }

    /// The language of a tag, whatever country it names.
    fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| primary.eq_ignore_ascii_case(language.tag()))
    }

    /// As in `lang`.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Spanish => "es",
        }
    }

    /// What its readers call it.
    #[must_use]
    pub fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Spanish => "Español",
        }
    }
}

/// A range of languages with its weight in thousandths.
fn range(text: &str) -> Option<(&str, u16)> {
    let (tag, parameter) = text.split_once(';').unwrap_or((text, "q=1"));
    let (name, weight) = parameter.trim().split_once('=')?;
    let weight = weight.trim();
    let is_weight = weight.len() <= 5 && weight.starts_with(['0', '1']);
    let weight = weight.parse::<f64>().ok().filter(|weight| is_weight && (0.0..=1.0).contains(weight))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 1000")]
    let thousandths = (weight * 1000.0).round() as u16;
    name.trim().eq_ignore_ascii_case("q").then_some((tag.trim(), thousandths))
}

impl<S: Send + Sync> FromRequestParts<S> for Language {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let accepted = parts.headers.get_all(ACCEPT_LANGUAGE).iter().filter_map(|line| line.to_str().ok());
        let accepted = accepted.collect::<Vec<_>>().join(",");
        Ok(Self::choose(parts.uri.query().unwrap_or_default(), &accepted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_speaks_what_its_reader_prefers() {
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
            ("", "es;q=nan, es;q=-1, es;x=1, ;;,=", "en"),
            ("", "est", "en"),
            ("lang=es", "en", "es"),
            ("lang=es-419", "en", "es"),
            ("a=b&lang=en", "es", "en"),
            ("lang=fr", "es", "es"),
            ("lang=", "es", "es"),
            ("lang=en&lang=es", "es", "en"),
        ] {
            assert_eq!(Language::choose(query, accepted).tag(), language, "{query} {accepted}");
        }
    }

    #[test]
    fn what_stands_behind_the_bound_is_not_read() {
        assert_eq!(Language::choose("", &("fr,".repeat(MOST_ACCEPTED) + "es")), Language::English);
    }
}
