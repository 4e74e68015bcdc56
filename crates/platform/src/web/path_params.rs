//! Extracts parameters from the path of a request.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// Extracts path parameters like axum's [`Path`], into a string or a tuple of strings.
///
/// A path that is not UTF-8 yields empty strings. These are not valid IDs, so the request gets the
/// response for an unknown ID.
#[derive(Debug)]
pub struct PathParams<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Default + Send> FromRequestParts<S> for PathParams<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(params)) => Ok(Self(params)),
            Err(_) => Ok(Self(T::default())),
        }
    }
}
