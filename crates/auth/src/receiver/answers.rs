use serde_json::json;

use super::{Host, Logged, Refusal, Reply};
use crate::{Answer, Challenge, Mode, PublicKey, is_fresh};

/// Answers a wallet that logs in: 200 `{status: "authenticated", message}` or `{error}`.
///
/// `body` is the request's, bounded by the caller; `now` is in Unix seconds.
pub async fn login<H: Host>(host: &H, body: &[u8], now: i64) -> Reply {
    log_in(host, body, now).await.into()
}

/// Answers a wallet that registers: 200 `{status: "registered", message}` or `{error}`.
///
/// `body` is the request's, bounded by the caller; `now` is in Unix seconds.
pub async fn register<H: Host>(host: &H, body: &[u8], now: i64) -> Reply {
    sign_up(host, body, now).await.into()
}

async fn log_in<H: Host>(host: &H, body: &[u8], now: i64) -> Result<Reply, Refusal> {
    let Checked { session, challenge, key, answer } = check(host, Mode::Login, body, now).await?;
    let user = host.user(&key).await?.ok_or(Refusal::UserUnknown)?;
    let logged = host.log_in(session, user, &answer).await?;
    Ok(told("authenticated", &format!("logged in to {}", challenge.domain), logged))
}

async fn sign_up<H: Host>(host: &H, body: &[u8], now: i64) -> Result<Reply, Refusal> {
    let Checked { session, challenge, key, answer } = check(host, Mode::Register, body, now).await?;
    if host.user(&key).await?.is_some() {
        return Err(Refusal::UserExists);
    }
    let logged = host.register(session, key, &answer).await?;
    Ok(told("registered", &format!("registered with {}", challenge.domain), logged))
}

fn told(status: &str, message: &str, Logged { redirect }: Logged) -> Reply {
    let mut body = json!({ "status": status, "message": message });
    if let Some(redirect) = redirect {
        body["redirect"] = redirect.into();
    }
    Reply::ok(body)
}

struct Checked<S> {
    session: S,
    challenge: Challenge,
    key: PublicKey,
    answer: Answer,
}

/// Steps 1 to 4 of both handlers, in the specification's order.
async fn check<H: Host>(host: &H, mode: Mode, body: &[u8], now: i64) -> Result<Checked<H::Session>, Refusal> {
    let answer = Answer::parse(body).map_err(Refusal::InvalidAnswer)?;
    if !is_fresh(answer.timestamp, now) {
        return Err(Refusal::NotFresh);
    }
    // A code for registering must not log anybody in, nor the reverse: here the other kind does not exist.
    let challenge = host.named(&answer.challenge).filter(|challenge| challenge.mode == mode);
    let challenge = challenge.ok_or(Refusal::NotHeld)?;
    let session = host.held(&challenge, now).await?.ok_or(Refusal::NotHeld)?;
    let key = answer.verify()?;
    Ok(Checked { session, challenge, key, answer })
}
