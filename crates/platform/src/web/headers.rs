//! Reading single header fields of a request.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// A header field that was sent more than once, although it allows a single value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the header '{0}' is sent more than once")]
pub struct RepeatedHeader(pub HeaderName);

/// Returns the value of a header field that may be sent at most once.
///
/// # Errors
/// Returns an error if the field is sent more than once.
pub fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, RepeatedHeader> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(RepeatedHeader(name.clone()));
    }
    Ok(first)
}

/// Returns true if the body has this media type, with any parameters.
#[must_use]
pub fn has_media_type(headers: &HeaderMap, media_type: &str) -> bool {
    let Some(Ok(sent)) = headers.get(header::CONTENT_TYPE).map(HeaderValue::to_str) else { return false };
    let essence = sent.split_once(';').map_or(sent, |(essence, _)| essence);
    essence.trim().eq_ignore_ascii_case(media_type)
}

#[cfg(test)]
mod tests {
    use axum::http::header::ORIGIN;

    use super::*;

    #[test]
    fn a_repeated_header_is_an_error() {
        let mut headers = HeaderMap::new();
        assert_eq!(single_header(&headers, &ORIGIN), Ok(None));
        headers.append(ORIGIN, HeaderValue::from_static("https://a.test"));
        assert_eq!(single_header(&headers, &ORIGIN), Ok(Some(&HeaderValue::from_static("https://a.test"))));
        headers.append(ORIGIN, HeaderValue::from_static("https://a.test"));
        assert_eq!(single_header(&headers, &ORIGIN), Err(RepeatedHeader(ORIGIN)));
    }
}
