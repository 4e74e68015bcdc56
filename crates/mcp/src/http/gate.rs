use std::any::Any;
use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::request::Parts;

/// Who decides whether a request may pass: the place for a rate limit.
///
/// It is asked once for every `POST` and every stream, after Origin and Host were found in order; never for preflights
/// and 405 answers.
pub trait Gate: Send + Sync + 'static {
    /// Lets the request pass, or says when to come again.
    fn admit<'a>(&'a self, bucket: Bucket, request: &'a Parts) -> BoxFuture<'a, Result<Permit, RetryAfter>>;
}

/// Leave to pass. A stream keeps it for as long as it is open: whoever counts open streams puts what ends the count into
/// it.
#[derive(Default)]
pub struct Permit(Option<Box<dyn Any + Send + Sync>>);

impl Permit {
    /// Leave to pass, with something that is dropped when what passed has ended.
    pub fn holding(held: impl Any + Send + Sync) -> Self {
        Self(Some(Box::new(held)))
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("holds", &self.0.is_some()).finish()
    }
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
