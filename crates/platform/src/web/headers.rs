//! Reads request headers that allow only a single value.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Error that a header that allows a single value was sent more than once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the header '{0}' is sent more than once")]
pub struct RepeatedHeader(pub HeaderName);

/// Returns the value of a header that may be sent at most once.
///
/// # Errors
/// Returns [`RepeatedHeader`] if the header was sent more than once.
pub fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, RepeatedHeader> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(RepeatedHeader(name.clone()));
    }
    Ok(first)
}

/// Returns `true` if the body has this media type. Parameters of the media type are ignored.
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
