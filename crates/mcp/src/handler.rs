use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::call::{Call, CallError};

/// What serves a tool, a resource, a prompt or a method: a function of the server's state `S` and an input `I`.
pub enum Handler<S, I: 'static, O> {
    /// It only computes, so it runs where the request was read and must neither block nor wait.
    Now(for<'a> fn(&'a S, &'a I, &'a Call<'a>) -> Result<O, CallError>),
    /// It waits for something. It is polled as fast as its client reads, and dropped when its client goes away.
    Later(for<'a> fn(&'a S, &'a I, &'a Call<'a>) -> BoxFuture<'a, Result<O, CallError>>),
}

impl<S, I, O> Handler<S, I, O> {
    pub(crate) fn waits(&self) -> bool {
        matches!(self, Self::Later(_))
    }
}

impl<S: Sync, I: Sync, O> Handler<S, I, O> {
    /// A panic is a fault like any other: it costs one reply, not the connection and all that runs on it.
    pub(crate) async fn run(&self, state: &S, input: &I, call: &Call<'_>) -> Result<O, CallError> {
        let panicked = |_| Err(CallError::internal("the handler panicked"));
        match self {
            Self::Now(run) => catch_unwind(AssertUnwindSafe(|| run(state, input, call))).unwrap_or_else(panicked),
            Self::Later(run) => {
                let running = async { run(state, input, call).await };
                AssertUnwindSafe(running).catch_unwind().await.unwrap_or_else(panicked)
            }
        }
    }
}

impl<S, I, O> std::fmt::Debug for Handler<S, I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Now(_) => "Now",
            Self::Later(_) => "Later",
        })
    }
}
