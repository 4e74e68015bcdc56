use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::call::{Call, CallError};

/// The handler of a tool, a resource, a prompt or a method: a function of the server's state `S` and an input `I`.
pub enum Handler<S, I: 'static, O> {
    /// A synchronous function. It must not block.
    Sync(for<'a> fn(&'a S, &'a I, &'a Call<'a>) -> Result<O, CallError>),
    /// An asynchronous function. It is polled as fast as the client reads, and dropped when the client disconnects.
    Async(for<'a> fn(&'a S, &'a I, &'a Call<'a>) -> BoxFuture<'a, Result<O, CallError>>),
    /// An asynchronous function that sends no notifications, so that its response needs no stream of events. It is dropped
    /// when the client disconnects.
    AsyncSilent(for<'a> fn(&'a S, &'a I, &'a Call<'a>) -> BoxFuture<'a, Result<O, CallError>>),
}

impl<S, I, O> Handler<S, I, O> {
    /// Returns `true` if the handler may send notifications before its response.
    pub(crate) fn is_async(&self) -> bool {
        matches!(self, Self::Async(_))
    }
}

impl<S: Sync, I: Sync, O> Handler<S, I, O> {
    /// Runs the handler. A panic becomes an error of this call, so the connection stays open.
    pub(crate) async fn run(&self, state: &S, input: &I, call: &Call<'_>) -> Result<O, CallError> {
        let result = match self {
            Self::Sync(run) => catch_unwind(AssertUnwindSafe(|| run(state, input, call))),
            Self::Async(run) | Self::AsyncSilent(run) => {
                AssertUnwindSafe(async { run(state, input, call).await }).catch_unwind().await
            }
        };
        result.unwrap_or_else(|_| Err(CallError::internal("the handler panicked")))
    }
}

impl<S, I, O> std::fmt::Debug for Handler<S, I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sync(_) => "Sync",
            Self::Async(_) => "Async",
            Self::AsyncSilent(_) => "AsyncSilent",
        })
    }
}
