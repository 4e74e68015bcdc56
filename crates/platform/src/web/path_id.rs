//! The id in an address.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

/// The text where an address has its id. What is no text at all is empty, which no id is.
#[derive(Debug)]
pub struct PathId(pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(Self(Path::from_request_parts(parts, state).await.map_or_else(|_| String::new(), |Path(id)| id)))
    }
}

/// The two texts where an address has an id and something of it.
#[derive(Debug)]
pub struct PathPair(pub String, pub String);

/// The three texts where an address has an id, something of it, and something of that.
#[derive(Debug)]
pub struct PathTriple(pub String, pub String, pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathTriple {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let triple = Path::<(String, String, String)>::from_request_parts(parts, state).await;
        let none = || Self(String::new(), String::new(), String::new());
        Ok(triple.map_or_else(|_| none(), |Path((id, of, part))| Self(id, of, part)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathPair {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let pair = Path::<(String, String)>::from_request_parts(parts, state).await;
        Ok(pair.map_or_else(|_| Self(String::new(), String::new()), |Path((id, of))| Self(id, of)))
    }
}
