//! Checks whether the user of a browser navigated to a page (Fetch Metadata Request Headers).

use axum::http::{HeaderMap, Method};

/// Headers of prefetch requests, with their names on the wire and for people.
const PREFETCH_HEADERS: [(&str, &str); 3] =
    [("purpose", "Purpose"), ("sec-purpose", "Sec-Purpose"), ("x-moz", "X-Moz")];
/// The kind of a request. Browsers send it together with the destination.
const MODE: &str = "Sec-Fetch-Mode";
/// The use of a response. Browsers send it together with the mode.
const DESTINATION: &str = "Sec-Fetch-Dest";

/// The origin of a request, as far as its method and its headers show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// The user of a browser navigated to the page. A request without these headers counts as a navigation, because
    /// programs and older browsers do not send them.
    Navigation,
    /// The request came from a script, an image, a frame or a prefetch. The header with this name shows it.
    Subresource(&'static str),
    /// The request has another method than `GET`.
    OtherMethod,
}

impl RequestKind {
    /// Returns the kind of a request.
    pub(crate) fn of(method: &Method, headers: &HeaderMap) -> Self {
        if method != Method::GET {
            return Self::OtherMethod;
        }
        if let Some((_, name)) = PREFETCH_HEADERS.iter().find(|(name, _)| headers.contains_key(*name)) {
            return Self::Subresource(name);
        }
        match (headers.get(MODE), headers.get(DESTINATION)) {
            (None, None) => Self::Navigation,
            (Some(mode), Some(destination)) if mode == "navigate" && destination == "document" => Self::Navigation,
            (Some(mode), _) if mode != "navigate" => Self::Subresource(MODE),
            _ => Self::Subresource(DESTINATION),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::RequestKind::{Navigation, OtherMethod, Subresource};
    use super::*;

    #[test]
    fn only_a_navigation_claims_a_page() {
        let (navigate, document) = (("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"));
        for (method, headers, expected) in [
            (Method::GET, &[][..], Navigation),
            (Method::GET, &[navigate, document], Navigation),
            (Method::GET, &[navigate, document, ("sec-fetch-site", "cross-site")], Navigation),
            (Method::HEAD, &[navigate, document], OtherMethod),
            (Method::HEAD, &[], OtherMethod),
            (Method::GET, &[navigate], Subresource(DESTINATION)),
            (Method::GET, &[document], Subresource(DESTINATION)),
            (Method::GET, &[navigate, ("sec-fetch-dest", "iframe")], Subresource(DESTINATION)),
            (Method::GET, &[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")], Subresource(MODE)),
            (Method::GET, &[("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")], Subresource(MODE)),
            (Method::GET, &[("sec-fetch-mode", "cors")], Subresource(MODE)),
            (Method::GET, &[navigate, document, ("sec-purpose", "prefetch;prerender")], Subresource("Sec-Purpose")),
            (Method::GET, &[("purpose", "prefetch")], Subresource("Purpose")),
            (Method::GET, &[("x-moz", "prefetch")], Subresource("X-Moz")),
        ] {
            let all =
                headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            assert_eq!(RequestKind::of(&method, &all.collect()), expected, "{method} {headers:?}");
        }
    }
}
