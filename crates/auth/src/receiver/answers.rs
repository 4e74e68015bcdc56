//! The endpoints of a receiver that handle wallets' answers.

use serde_json::json;

use super::host::{Host, LoggedIn};
use super::response::{HandlerRefusal, HandlerResponse};
use crate::answer::{Answer, VerifiedAnswer, is_fresh};
use crate::challenge::{Challenge, Mode};

/// Handles the answer of a wallet to a login. Responds with 200
/// `{status: "authenticated", message}` or with `{error}`.
///
/// `body` is the request body, whose length the caller limits. `now` is the current time in Unix
/// seconds.
pub async fn handle_login<H: Host>(host: &H, body: &[u8], now: i64) -> HandlerResponse {
    handle_body(host, Mode::Login, body, now).await
}

/// Handles the answer of a wallet to a registration. Responds with 200
/// `{status: "registered", message}` or with `{error}`.
///
/// `body` is the request body, whose length the caller limits. `now` is the current time in Unix
/// seconds.
pub async fn handle_register<H: Host>(host: &H, body: &[u8], now: i64) -> HandlerResponse {
    handle_body(host, Mode::Register, body, now).await
}

/// Handles the answer of a wallet that links its key to an account. Responds with 200
/// `{status: "linked", message}` or with `{error}`. Requires a host that implements [`Host::link`].
///
/// `body` is the request body, whose length the caller limits. `now` is the current time in Unix
/// seconds.
pub async fn handle_link<H: Host>(host: &H, body: &[u8], now: i64) -> HandlerResponse {
    handle_body(host, Mode::Link, body, now).await
}

async fn handle_body<H: Host>(host: &H, mode: Mode, body: &[u8], now: i64) -> HandlerResponse {
    match Answer::parse(body) {
        Ok(answer) => handle_answer(host, mode, answer, now).await.into(),
        Err(error) => HandlerRefusal::InvalidAnswer(error).into(),
    }
}

/// Handles a parsed answer, for hosts that need the reason of a rejection.
///
/// `mode` is the purpose of the endpoint. `now` is the current time in Unix seconds.
///
/// # Errors
/// Returns a [`HandlerRefusal`]; it converts to the error response.
pub async fn handle_answer<H: Host>(
    host: &H,
    mode: Mode,
    answer: Answer,
    now: i64,
) -> Result<HandlerResponse, HandlerRefusal> {
    let CheckedAnswer { session, challenge, answer } = check_answer(host, mode, answer, now).await?;
    let domain = &challenge.domain;
    match mode {
        Mode::Login => {
            let user = host.find_user(&session, answer.key()).await?.ok_or(HandlerRefusal::UserUnknown)?;
            let logged_in = host.log_in(session, user, &answer).await?;
            Ok(success("authenticated", &format!("logged in to {domain}"), logged_in))
        }
        Mode::Register => {
            if host.find_user(&session, answer.key()).await?.is_some() {
                return Err(HandlerRefusal::UserExists);
            }
            let logged_in = host.register(session, &answer).await?;
            Ok(success("registered", &format!("registered with {domain}"), logged_in))
        }
        Mode::Link => {
            host.link(session, &answer).await?;
            Ok(success("linked", &format!("linked to an account at {domain}"), LoggedIn::default()))
        }
    }
}

fn success(status: &str, message: &str, LoggedIn { redirect }: LoggedIn) -> HandlerResponse {
    let mut body = json!({ "status": status, "message": message });
    if let Some(redirect) = redirect {
        body["redirect"] = redirect.into();
    }
    HandlerResponse::ok(body)
}

struct CheckedAnswer<S> {
    session: S,
    challenge: Challenge,
    answer: VerifiedAnswer,
}

/// Checks the time, the challenge, the session and the signature, in the order of the
/// specification.
async fn check_answer<H: Host>(
    host: &H,
    mode: Mode,
    answer: Answer,
    now: i64,
) -> Result<CheckedAnswer<H::Session>, HandlerRefusal> {
    if !is_fresh(answer.timestamp, now) {
        return Err(HandlerRefusal::StaleTimestamp);
    }
    // A challenge for another mode is treated as unknown at this endpoint.
    let challenge = host.read_challenge(&answer.challenge).ok_or(HandlerRefusal::NoPendingSession)?;
    if challenge.mode != mode {
        return Err(HandlerRefusal::NoPendingSession);
    }
    let session = host.find_session(&challenge, now).await?.ok_or(HandlerRefusal::NoPendingSession)?;
    Ok(CheckedAnswer { session, challenge, answer: VerifiedAnswer::new(answer)? })
}
