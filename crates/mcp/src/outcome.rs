use std::error::Error;

use crate::call::{Call, CallError, InputRequired};
use crate::fault::RpcFault;

/// How a request ended that was not refused.
pub(crate) enum CallOutcome<T> {
    Done(T),
    /// Not yet: the client has to find something out first.
    Input(InputRequired),
}

/// What a handler's result comes to; `refusal` says by which error a refusal travels.
pub(crate) fn settle<T>(
    result: Result<T, CallError>,
    name: &str,
    call: &Call<'_>,
    refusal: impl FnOnce(String) -> RpcFault,
) -> Result<CallOutcome<T>, RpcFault> {
    match result {
        Ok(done) => Ok(CallOutcome::Done(done)),
        Err(CallError::BadArgument(text) | CallError::Failed(text)) => Err(refusal(text)),
        Err(CallError::Refused(text)) => Err(RpcFault::params(text)),
        Err(CallError::InputRequired(asked)) => call.may_ask(asked).map(CallOutcome::Input),
        Err(CallError::MissingCapability(capability)) => Err(RpcFault::missing_capability(capability)),
        Err(CallError::Internal(source)) => {
            let error: &(dyn Error + 'static) = &*source;
            tracing::error!(name, request_id = call.request_id, error, "a handler failed");
            Err(RpcFault::internal(call.request_id))
        }
    }
}
