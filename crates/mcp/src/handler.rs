use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::{Call, InputRequired};

/// What serves a tool, a resource, a prompt or a method: a function of the server's state `S` and an input `I`.
pub enum Handler<S, I: 'static, O> {
    /// It only computes, so it runs where the request was read and must neither block nor wait.
    Now(for<'a> fn(&'a S, &'a I, &'a Call<'a>) -> Result<O, CallError>),
    /// It waits for something. It is polled as fast as its client reads, and dropped when its client goes away.
    Later(for<'a> fn(&'a S, &'a I, &'a Call<'a>) -> BoxFuture<'a, Result<O, CallError>>),
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// An argument makes no sense. The text says which, what was received, what is allowed, and gives an example that
    /// works. Of a tool it travels as the error -32602 up to 2025-06-18, and since then as a result the model sees and
    /// learns from.
    #[error("invalid params: {0}")]
    BadArgument(String),
    /// The arguments are fine, the answer is no. The text says what to try instead.
    #[error("{0}")]
    Failed(String),
    /// The request itself cannot be accepted (a `requestState` that is not ours): the error -32602 at every revision.
    #[error("invalid request: {0}")]
    Refused(String),
    /// The client must answer something first (2026-07-28); an older client is told that it cannot.
    #[error("input from the client is required")]
    InputRequired(InputRequired),
    /// The client would have to have a capability that it did not declare, such as `sampling`.
    #[error("the client lacks the capability {0}")]
    MissingCapability(&'static str),
    /// A fault of ours. It is logged; the client is told nothing of it.
    #[error("internal error")]
    Internal(#[source] Box<dyn Error + Send + Sync>),
}

impl CallError {
    /// A fault of ours, from whatever caused it.
    pub fn internal(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }
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
