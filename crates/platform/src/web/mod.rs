//! The ground of HTTP: extractors, the API key's door, and the one error body.

pub mod api_key;
pub mod around;
pub mod cors;
pub mod document;
pub mod host;
pub mod json;
pub mod path_id;
pub mod peer;
pub mod problem;
pub mod query;
pub mod receive_slots;
pub mod reply;
pub mod request_id;

use axum::http::{HeaderName, header};

pub use api_key::ApiKey;
pub use document::PublicDocument;
pub use json::{Fields, LargePayload, Nothing, OptionalFields, Payload};
pub use path_id::{PathId, PathPair, PathTriple};
pub use query::Page;
pub use reply::JsonReply;

/// Every page may read public documents.
pub const ANY_ORIGIN: [(HeaderName, &str); 1] = [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
