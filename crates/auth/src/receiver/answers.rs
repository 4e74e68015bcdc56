use serde_json::json;

use super::host::{Host, LoggedIn};
use super::response::{HandlerRefusal, HandlerResponse};
use crate::answer::{Answer, VerifiedAnswer, is_fresh};
use crate::challenge::{Challenge, Mode};

/// Answers a wallet that logs in: 200 `{status: "authenticated", message}` or `{error}`.
///
/// `body` is the request's, bounded by the caller; `now` is in Unix seconds.
pub async fn handle_login<H: Host>(host: &H, body: &[u8], now: i64) -> HandlerResponse {
    handle_body(host, Mode::Login, body, now).await
}

/// Answers a wallet that registers: 200 `{status: "registered", message}` or `{error}`.
///
/// `body` is the request's, bounded by the caller; `now` is in Unix seconds.
pub async fn handle_register<H: Host>(host: &H, body: &[u8], now: i64) -> HandlerResponse {
    handle_body(host, Mode::Register, body, now).await
}

/// Answers a wallet whose key joins an account: 200 `{status: "linked", message}` or `{error}`. Only for a host that
/// has [`Host::link`].
///
/// `body` is the request's, bounded by the caller; `now` is in Unix seconds.
pub async fn handle_link<H: Host>(host: &H, body: &[u8], now: i64) -> HandlerResponse {
    handle_body(host, Mode::Link, body, now).await
}

async fn handle_body<H: Host>(host: &H, mode: Mode, body: &[u8], now: i64) -> HandlerResponse {
    match Answer::parse(body) {
        Ok(answer) => handle_answer(host, mode, answer, now).await.into(),
        Err(error) => HandlerRefusal::InvalidAnswer(error).into(),
    }
}

/// Answers a wallet with a parsed body, for hosts that examine a rejected answer.
///
/// `mode` is the purpose of the endpoint; `now` is in Unix seconds.
///
/// # Errors
/// [`HandlerRefusal`], which converts into the response.
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
            let logged = host.log_in(session, user, &answer).await?;
            Ok(success("authenticated", &format!("logged in to {domain}"), logged))
        }
        Mode::Register => {
            if host.find_user(&session, answer.key()).await?.is_some() {
                return Err(HandlerRefusal::UserExists);
            }
            let logged = host.register(session, &answer).await?;
            Ok(success("registered", &format!("registered with {domain}"), logged))
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

/// Checks the time, the challenge, the session and the signature, in the specification's order.
async fn check_answer<H: Host>(
    host: &H,
    mode: Mode,
    answer: Answer,
    now: i64,
) -> Result<CheckedAnswer<H::Session>, HandlerRefusal> {
    if !is_fresh(answer.timestamp, now) {
        return Err(HandlerRefusal::StaleTimestamp);
    }
    // A code of another mode does not exist at this endpoint.
    let challenge = host.read_challenge(&answer.challenge).ok_or(HandlerRefusal::NoPendingSession)?;
    if challenge.mode != mode {
        return Err(HandlerRefusal::NoPendingSession);
    }
    let session = host.find_session(&challenge, now).await?.ok_or(HandlerRefusal::NoPendingSession)?;
    Ok(CheckedAnswer { session, challenge, answer: VerifiedAnswer::new(answer)? })
}
