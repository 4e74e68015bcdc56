use serde_json::json;

use super::host::{Host, LoggedIn};
use super::response::{HandlerRefusal, HandlerResponse};
use crate::answer::{Answer, VerifiedAnswer, is_fresh};
use crate::challenge::{Challenge, Mode};

/// Answers a wallet that logs in: 200 `{status: "authenticated", message}` or `{error}`.
///
/// `body` is the request's, bounded by the caller; `now` is in Unix seconds.
pub async fn handle_login<H: Host>(host: &H, body: &[u8], now: i64) -> HandlerResponse {
    log_in(host, body, now).await.into()
}

/// Answers a wallet that registers: 200 `{status: "registered", message}` or `{error}`.
///
/// `body` is the request's, bounded by the caller; `now` is in Unix seconds.
pub async fn handle_register<H: Host>(host: &H, body: &[u8], now: i64) -> HandlerResponse {
    sign_up(host, body, now).await.into()
}

/// Answers a wallet whose key joins an account: 200 `{status: "linked", message}` or `{error}`. Only for a host that has
/// [`Host::link`].
///
/// `body` is the request's, bounded by the caller; `now` is in Unix seconds.
pub async fn handle_link<H: Host>(host: &H, body: &[u8], now: i64) -> HandlerResponse {
    link(host, body, now).await.into()
}

async fn log_in<H: Host>(host: &H, body: &[u8], now: i64) -> Result<HandlerResponse, HandlerRefusal> {
    let CheckedAnswer { session, challenge, answer } = check_answer(host, Mode::Login, body, now).await?;
    let user = host.find_user(&session, answer.key()).await?.ok_or(HandlerRefusal::UserUnknown)?;
    let logged = host.log_in(session, user, &answer).await?;
    Ok(success("authenticated", &format!("logged in to {}", challenge.domain), logged))
}

async fn sign_up<H: Host>(host: &H, body: &[u8], now: i64) -> Result<HandlerResponse, HandlerRefusal> {
    let CheckedAnswer { session, challenge, answer } = check_answer(host, Mode::Register, body, now).await?;
    if host.find_user(&session, answer.key()).await?.is_some() {
        return Err(HandlerRefusal::UserExists);
    }
    let logged = host.register(session, &answer).await?;
    Ok(success("registered", &format!("registered with {}", challenge.domain), logged))
}

async fn link<H: Host>(host: &H, body: &[u8], now: i64) -> Result<HandlerResponse, HandlerRefusal> {
    let CheckedAnswer { session, challenge, answer } = check_answer(host, Mode::Link, body, now).await?;
    host.link(session, &answer).await?;
    Ok(success("linked", &format!("linked to an account at {}", challenge.domain), LoggedIn::default()))
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

/// Steps 1 to 4 of both handlers, in the specification's order.
async fn check_answer<H: Host>(
    host: &H,
    mode: Mode,
    body: &[u8],
    now: i64,
) -> Result<CheckedAnswer<H::Session>, HandlerRefusal> {
    let answer = Answer::parse(body).map_err(HandlerRefusal::InvalidAnswer)?;
    if !is_fresh(answer.timestamp, now) {
        return Err(HandlerRefusal::NotFresh);
    }
    // A code of one mode does nothing in another: here the others do not exist.
    let challenge = host.read_challenge(&answer.challenge).filter(|challenge| challenge.mode == mode);
    let challenge = challenge.ok_or(HandlerRefusal::NotHeld)?;
    let session = host.find_session(&challenge, now).await?.ok_or(HandlerRefusal::NotHeld)?;
    Ok(CheckedAnswer { session, challenge, answer: VerifiedAnswer::new(answer)? })
}
