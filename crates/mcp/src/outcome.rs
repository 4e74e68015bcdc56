//! Conversion of a handler's result to the outcome of a call.

use std::error::Error;

use crate::call::{Call, CallError, InputRequired};
use crate::fault::RpcFault;

/// The outcome of a successful call.
pub(crate) enum CallOutcome<T> {
    Done(T),
    /// The handler requests input from the client.
    Input(InputRequired),
}

/// Converts the result of a handler. `refusal` creates the error for invalid arguments and failed calls.
pub(crate) fn call_outcome<T>(
    result: Result<T, CallError>,
    name: &str,
    call: &Call<'_>,
    refusal: impl FnOnce(String) -> RpcFault,
) -> Result<CallOutcome<T>, RpcFault> {
    match result {
        Ok(done) => Ok(CallOutcome::Done(done)),
        Err(CallError::InvalidArgument(text) | CallError::Failed(text)) => Err(refusal(text)),
        Err(CallError::InvalidRequest(text)) => Err(RpcFault::params(text)),
        Err(CallError::InputRequired(required)) => call.check_input(required).map(CallOutcome::Input),
        Err(CallError::MissingCapability(capability)) => Err(RpcFault::missing_capability(capability)),
        Err(CallError::Internal(source)) => {
            let error: &(dyn Error + 'static) = &*source;
            tracing::error!(name, request_id = call.request_id, error, "a handler failed");
            Err(RpcFault::internal(call.request_id))
        }
    }
}
