//! HTTP building blocks of every service: extractors, API key authentication and the error
//! response.

pub mod api_key;
pub mod cors;
pub mod document;
mod headers;
pub mod host;
pub mod json;
mod json_members;
pub mod path_params;
pub mod peer;
pub mod problem;
pub mod query;
pub mod receive_slots;
pub mod reply;
pub mod request_log;

use axum::http::{HeaderName, header};

pub use api_key::ApiKey;
pub use document::PublicDocument;
pub use headers::{RepeatedHeader, has_media_type, single_header};
pub use json::{EmptyBody, JsonBody, JsonBytes, LargeJsonBytes, OptionalJsonBody};
pub use json_members::{Nullable, raw_object};
pub use path_params::PathParams;
pub use query::Page;
pub use reply::JsonReply;

/// CORS header that lets scripts of any origin read a public document.
pub const ANY_ORIGIN: [(HeaderName, &str); 1] = [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
