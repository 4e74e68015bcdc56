//! Detection of the user's likely country from the languages of the browser.

use axum::http::HeaderMap;
use signpost_locator::Country;
use signpost_platform::pages::accept::language_tags;

use crate::catalogue::country_of;

/// The languages that are mostly spoken in a single country, with this country. Languages of many countries, such as
/// English and Arabic, are not included.
#[rustfmt::skip]
const COUNTRIES: [(&str, &str); 43] = [
    ("az", "AZ"), ("be", "BY"), ("bg", "BG"), ("ca", "ES"), ("cs", "CZ"), ("cy", "GB"), ("da", "DK"), ("de", "DE"),
    ("el", "GR"), ("et", "EE"), ("eu", "ES"), ("fi", "FI"), ("ga", "IE"), ("gl", "ES"), ("he", "IL"), ("hi", "IN"),
    ("hr", "HR"), ("hu", "HU"), ("hy", "AM"), ("id", "ID"), ("is", "IS"), ("it", "IT"), ("ja", "JP"), ("ka", "GE"),
    ("kk", "KZ"), ("ko", "KR"), ("lt", "LT"), ("lv", "LV"), ("mk", "MK"), ("mt", "MT"), ("nb", "NO"), ("nl", "NL"),
    ("nn", "NO"), ("no", "NO"), ("pl", "PL"), ("ro", "RO"), ("sk", "SK"), ("sl", "SI"), ("sv", "SE"), ("th", "TH"),
    ("tr", "TR"), ("uk", "UA"), ("vi", "VN"),
];

/// Returns the country of the preferred language in `Accept-Language`: the region of its tag, as in `en-GB`, or the
/// only country of the language. Other languages in the list are ignored, because browsers add English to every list.
pub(super) fn likely_country(headers: &HeaderMap) -> Option<Country> {
    let tags = language_tags(headers);
    let preferred = language(tags.first()?);
    let same = || tags.iter().filter(|tag| language(tag).eq_ignore_ascii_case(preferred));
    let country = same().find_map(|tag| region(tag)).or_else(|| only_country(preferred));
    // The gazetteer assigns the places of US territories to the United States.
    country_of(None, country)
}

/// Returns the country of a language that is mostly spoken in a single country.
fn only_country(language: &str) -> Option<Country> {
    let (_, code) = COUNTRIES.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(language))?;
    Country::parse(code)
}

/// Returns the language subtag of a language tag.
fn language(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or_default()
}

/// Returns the region subtag of a language tag (RFC 5646, section 2.2.4), if it is a country.
fn region(tag: &str) -> Option<Country> {
    // A single-letter subtag starts an extension, such as `u-co-phonebk`.
    let subtags = tag.split(['-', '_']).skip(1).take_while(|subtag| subtag.len() > 1);
    subtags.filter(|subtag| subtag.len() == 2).find_map(Country::parse)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, header};

    use super::*;

    #[test]
    fn country_follows_the_preferred_language() {
        for (accepted, expected) in [
            ("en-GB,en;q=0.9", Some("GB")),
            ("de", Some("DE")),
            ("de-AT,de;q=0.9", Some("AT")),
            ("de,en-US;q=0.7,en;q=0.3", Some("DE")),
            ("es-MX", Some("MX")),
            ("ES_mx", Some("MX")),
            ("es-PR", Some("US")),
            ("en-US;q=0.5, fr-CA", Some("CA")),
            ("fr,fr-FR;q=0.8,en-US;q=0.5", Some("FR")),
            ("zh-Hant-TW", Some("TW")),
            ("ja-u-ca-japanese", Some("JP")),
            ("pt-u-rg-brzzzz", None),
            ("ar,en-US;q=0.7,en;q=0.3", None),
            ("es-419,en-US;q=0.8", None),
            ("en", None),
            ("fr", None),
            ("en-XX", None),
            ("*", None),
            ("de;q=0", None),
            ("", None),
            ("-, é", None),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_LANGUAGE, HeaderValue::from_str(accepted).unwrap())]);
            assert_eq!(
                likely_country(&headers).map(|country| country.code().to_owned()).as_deref(),
                expected,
                "{accepted}"
            );
        }
        assert_eq!(likely_country(&HeaderMap::new()), None);
    }

    #[test]
    fn languages_are_sorted_and_have_a_country() {
        assert!(COUNTRIES.is_sorted_by(|(one, _), (other, _)| one < other));
        assert!(COUNTRIES.iter().all(|(_, code)| Country::parse(code).is_some()));
    }
}
