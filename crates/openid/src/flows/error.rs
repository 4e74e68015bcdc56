//! The error type of the flows.

/// An error of a flow: a refusal with a reason for the client or the user, or a failure of the server.
#[derive(Debug)]
pub enum FlowError<R> {
    /// The request is refused for this reason.
    Refused(R),
    /// The database is unavailable, or no key can sign.
    Internal(anyhow::Error),
}

impl<R> From<anyhow::Error> for FlowError<R> {
    fn from(error: anyhow::Error) -> Self {
        Self::Internal(error)
    }
}
