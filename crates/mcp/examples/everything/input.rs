//! Tools that request input from the client before they return a result (revision 2026-07-28).

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use signpost_mcp::{Call, CallError, Handler, InputRequired, Output, Tool};

use crate::Everything;
use crate::tools::tool;

pub(crate) fn all() -> Vec<Tool<Everything>> {
    let asks = "Asks the client for something first";
    vec![
        tool("test_input_required_result_elicitation", asks, Handler::Sync(|_, _, call| greet(call))),
        tool("test_streaming_elicitation", asks, Handler::Sync(|_, _, call| greet(call))),
        tool(
            "test_input_required_result_sampling",
            asks,
            Handler::Sync(|_, _, call| match call.input("capital_question") {
                Some(answer) => Ok(Output::text(format!("The model says {}", answer["content"]["text"]))),
                None => {
                    Err(asked(InputRequired::new().request("capital_question", SAMPLE, &question("capital of France"))))
                }
            }),
        ),
        tool(
            "test_input_required_result_list_roots",
            asks,
            Handler::Sync(|_, _, call| match call.input("client_roots") {
                Some(answer) => Ok(Output::text(format!("The roots are {}", answer["roots"]))),
                None => Err(asked(InputRequired::new().request("client_roots", "roots/list", &json!({})))),
            }),
        ),
        tool(
            "test_input_required_result_request_state",
            asks,
            Handler::Sync(|everything, _, call| confirm(everything, call)),
        ),
        tool(
            "test_input_required_result_tampered_state",
            asks,
            Handler::Sync(|everything, _, call| confirm(everything, call)),
        ),
        tool(
            "test_input_required_result_multiple_inputs",
            asks,
            Handler::Sync(|everything, _, call| several(everything, call)),
        ),
        tool(
            "test_input_required_result_multi_round",
            asks,
            Handler::Sync(|everything, _, call| rounds(everything, call)),
        ),
        tool(
            "test_input_required_result_capabilities",
            asks,
            Handler::Sync(|_, _, call| request_supported_inputs(call)),
        ),
    ]
}

const ELICIT: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";

fn asked(what: InputRequired) -> CallError {
    CallError::InputRequired(what)
}

/// Returns a form with one text field.
pub(crate) fn form(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    json!({ "message": message, "requestedSchema": schema })
}

fn question(about: &str) -> Value {
    let content = json!({ "type": "text", "text": format!("What is the {about}?") });
    json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 100 })
}

fn greet(call: &Call<'_>) -> Result<Output, CallError> {
    match call.input("user_name") {
        Some(answer) => Ok(Output::text(format!("Hello, {}!", answer["content"]["name"]))),
        None => {
            Err(asked(InputRequired::new().request("user_name", ELICIT, &form("What is your name?", "name", "string"))))
        }
    }
}

fn confirm(everything: &Everything, call: &Call<'_>) -> Result<Output, CallError> {
    if state(everything, call)?.is_some() && call.input("confirm").is_some() {
        return Ok(Output::text("Confirmed; state-ok: it came back whole."));
    }
    let request = InputRequired::new().request("confirm", ELICIT, &form("Please confirm", "ok", "boolean"));
    Err(asked(request.state(signed(everything, "confirming"))))
}

fn several(everything: &Everything, call: &Call<'_>) -> Result<Output, CallError> {
    let answers = ["user_name", "greeting", "client_roots"].map(|key| call.input(key));
    if answers.iter().all(Option::is_some) && state(everything, call)?.is_some() {
        return Ok(Output::text("All is answered."));
    }
    let request = InputRequired::new()
        .request("user_name", ELICIT, &form("What is your name?", "name", "string"))
        .request("greeting", SAMPLE, &question("best greeting"))
        .request("client_roots", "roots/list", &json!({}));
    Err(asked(request.state(signed(everything, "several"))))
}

fn rounds(everything: &Everything, call: &Call<'_>) -> Result<Output, CallError> {
    let next = |key, message, field, state: &str| {
        let request = InputRequired::new().request(key, ELICIT, &form(message, field, "string"));
        Err(asked(request.state(signed(everything, state))))
    };
    match (state(everything, call)?.as_deref(), call.input("step1"), call.input("step2")) {
        (Some("second"), _, Some(_)) => Ok(Output::text("Both rounds are done.")),
        (Some("first"), Some(_), _) => {
            next("step2", "ResponseStep 2: What is your favourite colour?", "color", "second")
        }
        _ => next("step1", "ResponseStep 1: What is your name?", "name", "first"),
    }
}

/// Requests only the inputs that the client has declared as capabilities.
fn request_supported_inputs(call: &Call<'_>) -> Result<Output, CallError> {
    let mut request = InputRequired::new();
    if call.supports("elicitation") {
        request = request.request("user_name", ELICIT, &form("What is your name?", "name", "string"));
    }
    if call.supports("sampling") {
        request = request.request("greeting", SAMPLE, &question("best greeting"));
    }
    Err(asked(request))
}

fn tag(everything: &Everything, state: &str) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&everything.key).expect("a key may have any length");
    mac.update(state.as_bytes());
    mac
}

/// Appends the server's signature to a state.
fn signed(everything: &Everything, state: &str) -> String {
    format!("{state}.{}", HEXLOWER.encode(&tag(everything, state).finalize().into_bytes()))
}

/// Returns the state in the request, if it is present and its signature is valid.
fn state(everything: &Everything, call: &Call<'_>) -> Result<Option<String>, CallError> {
    let Some(sent) = call.state() else { return Ok(None) };
    let refused =
        || CallError::InvalidRequest("requestState was not written by this server; begin again without it".into());
    let (state, signature) = sent.rsplit_once('.').ok_or_else(refused)?;
    let signature = HEXLOWER.decode(signature.as_bytes()).map_err(|_| refused())?;
    tag(everything, state).verify_slice(&signature).map_err(|_| refused())?;
    Ok(Some(state.to_owned()))
}
