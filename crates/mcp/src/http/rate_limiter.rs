use std::any::Any;
use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::request::Parts;

/// A rate limit.
///
/// It is called for every `POST` and every stream, after the checks of Origin and Host, but not for preflights and 405
/// responses. It is called again, with [`OverLimit::Wait`], for a rejected message whose body is an `initialize` request.
pub trait RateLimiter: Send + Sync + 'static {
    /// Admits the request, possibly after a wait, or returns the time until the next attempt. The returned future is
    /// dropped if the connection of the request ends.
    fn admit<'a>(
        &'a self,
        bucket: Bucket,
        over_limit: OverLimit,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<Permit, RetryAfter>>;

    /// Called for every request that is rejected because of the limit.
    fn rejected(&self, _bucket: Bucket) {}
}

/// The treatment of a request over the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OverLimit {
    /// It is rejected at once.
    Reject,
    /// It may wait for its turn. Its body has not been read, except for an `initialize` request, of which at most 8 KiB
    /// are stored.
    Wait,
}

/// An admitted request. It lives as long as its stream, so it can contain a guard that counts open streams.
#[derive(Default)]
pub struct Permit(Option<Box<dyn Any + Send + Sync>>);

impl Permit {
    /// Creates a permit with a value that is dropped at the end of the request or stream.
    pub fn with_guard(guard: impl Any + Send + Sync) -> Self {
        Self(Some(Box::new(guard)))
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("holds", &self.0.is_some()).finish()
    }
}

/// The kind of an admitted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// A message: any `POST`.
    Message,
    /// A stream: `GET /sse`.
    Stream,
}

/// The time until the next attempt; sent in whole seconds (`Retry-After`) and in milliseconds (`data.retryAfterMs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter(pub Duration);
