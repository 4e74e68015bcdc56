//! Public JSON documents that scripts of any origin may read, and that clients may cache for an
//! hour.

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::ANY_ORIGIN;

const ONE_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// A public document with an entity tag that is derived from its content.
#[derive(Clone, Debug)]
pub struct PublicDocument {
    media_type: &'static str,
    tag: HeaderValue,
    body: Bytes,
}

impl PublicDocument {
    /// Creates a document with this media type.
    ///
    /// # Panics
    /// Never panics: hex is valid in a header.
    #[must_use]
    pub fn new(media_type: &'static str, document: &Value) -> Self {
        let body = Bytes::from(document.to_string());
        let tag = format!("\"{}\"", HEXLOWER.encode(&Sha256::digest(&body)[..8]));
        Self { media_type, tag: HeaderValue::try_from(tag).expect("hex is valid in a header"), body }
    }

    /// Returns the document, or 304 if the client already has this version (RFC 9110, section
    /// 13.1.2).
    #[must_use]
    pub fn reply(&self, request: &HeaderMap) -> Response {
        let Self { media_type, tag, body } = self;
        let caching = [(header::ETAG, tag.clone()), (header::CACHE_CONTROL, ONE_HOUR)];
        if request.get_all(header::IF_NONE_MATCH).iter().any(|known| matches_tag(known, tag)) {
            return (StatusCode::NOT_MODIFIED, ANY_ORIGIN, caching).into_response();
        }
        (ANY_ORIGIN, caching, [(header::CONTENT_TYPE, *media_type)], body.clone()).into_response()
    }
}

/// Returns `true` if a list of entity tags contains `tag` or `*`.
fn matches_tag(known: &HeaderValue, tag: &HeaderValue) -> bool {
    let tags = known.to_str().unwrap_or_default().split(',').map(str::trim);
    let tag = tag.to_str().unwrap_or_default();
    tags.into_iter().any(|known| known == "*" || known.trim_start_matches("W/") == tag)
}
