use std::time::Duration;

use futures_util::future::BoxFuture;
use http::request::Parts;

/// Who decides whether a request may pass: the place for a rate limit.
///
/// It is asked once for every `POST` and every stream, after Origin and Host were found in order; never for preflights
/// and 405 answers.
pub trait Gate: Send + Sync + 'static {
    /// Lets the request pass, or says when to come again.
    fn admit<'a>(&'a self, bucket: Bucket, request: &'a Parts) -> BoxFuture<'a, Result<(), RetryAfter>>;
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// A message: any `POST`.
    Message,
    /// A stream: `GET /sse`.
    Stream,
}

/// For how long not to try again; told in whole seconds (`Retry-After`) and in milliseconds (`data.retryAfterMs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter(pub Duration);
