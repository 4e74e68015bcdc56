//! `POST /sandbox/v1/sessions/{id}/simulate`: a wallet that anybody has, for trying out a login without a phone.

use std::time::Duration;

use anyhow::Context;
use axum::Json;
use axum::extract::State as Extract;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use signpost_auth::{Answer, DeviceInfo, Wallet};
use signpost_platform::accounts::Account;
use signpost_platform::outbound::{Reach, Request};
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{Fields, OptionalFields, PathId};

use crate::error::Error;
use crate::flows::asker::Asker;
use crate::flows::hosted;
use crate::flows::lookup::{find_session, refused};
use crate::service::LoginService;
use crate::sessions::{ConfirmCode, Session};

/// How long a handler may take to answer.
const HANDLER_TIMEOUT: Duration = Duration::from_secs(15);
/// How many bytes of its answer are passed on.
const MAX_BODY_LEN: usize = 2048;
/// How many wallets there are to choose from.
const MAX_WALLET: u64 = 100;

/// What a simulated wallet does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SimulatedFault {
    Signature,
    Timestamp,
    Challenge,
    ConfirmCode,
}

/// Signs the session's challenge and posts the answer where a wallet would; tells what was posted and how it was
/// answered. `wallet` (1 to 100) says who signs, `fault` what is wrong with the answer.
pub(crate) async fn simulate(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathId(id): PathId,
    OptionalFields(fields): OptionalFields,
) -> Result<Json<Value>, Error> {
    let (wallet, fault) = parse_request(fields)?;
    let session = find_session(&service, &account, &id).await?;
    session.check_pending(service.clock.now()).map_err(|refusal| refused(refusal, &session, &service))?;
    let answer = make_answer(&session, &account, wallet, fault, service.clock.now().as_second())?;
    let (posted_to, payload) = (session.answer_url().to_string(), json!(answer));
    let reply = post_answer(&service, &session, &payload).await;
    let mut told = json!({ "public_key": answer.public_key, "posted_to": posted_to, "payload": payload });
    match reply {
        Ok(HandlerReply { status, body }) => {
            told["status"] = status.into();
            if let Some(body) = body {
                told["body"] = body.into();
            }
        }
        Err(error) => told["error"] = format!("{error:#}").into(),
    }
    Ok(Json(told))
}

fn parse_request(mut fields: Fields) -> Result<(u64, Option<SimulatedFault>), Error> {
    let wallet = fields.optional_integer("wallet", 1, MAX_WALLET)?.unwrap_or(1);
    let fault = match fields.optional_text("fault")?.as_deref() {
        None => None,
        Some("signature") => Some(SimulatedFault::Signature),
        Some("timestamp") => Some(SimulatedFault::Timestamp),
        Some("challenge") => Some(SimulatedFault::Challenge),
        Some("confirm_code") => Some(SimulatedFault::ConfirmCode),
        Some(_) => {
            return Err(
                Problem::field("fault", "must be 'signature', 'timestamp', 'challenge' or 'confirm_code'").into()
            );
        }
    };
    fields.done()?;
    Ok((wallet, fault))
}

/// What the wallet with this number answers. Its key follows from account and number: it opens nothing but sandboxes.
fn make_answer(
    session: &Session,
    account: &Account,
    number: u64,
    fault: Option<SimulatedFault>,
    now: i64,
) -> Result<Answer, Error> {
    let seed = |salt: u64| Sha256::digest(format!("sandbox wallet {salt} {number} {}", account.name)).into();
    let wallet = (0..).find_map(|salt| Wallet::from_bytes(seed(salt)).ok()).expect("nearly every number is a key");
    let device = DeviceInfo { platform: Some("sandbox".to_owned()), version: None, device_id: None };
    let code = session.qr_data().context("a session that was opened has a code")?;
    let shown = session.confirm_code.as_ref().map(ConfirmCode::reveal);
    let typed = if fault == Some(SimulatedFault::ConfirmCode) { Some("00") } else { shown };
    let timestamp = if fault == Some(SimulatedFault::Timestamp) { now - 31 } else { now };
    let mut answer = wallet.answer_code(&code, typed, timestamp, Some(device));
    match fault {
        Some(SimulatedFault::Signature) => answer.signature = wallet.sign("another text"),
        Some(SimulatedFault::Challenge) => {
            let spoilt = wallet.answer_text(format!("{}x", session.challenge.sentence()), now, None);
            answer = Answer { signature: spoilt.signature, challenge: spoilt.challenge, ..answer };
        }
        None | Some(SimulatedFault::Timestamp | SimulatedFault::ConfirmCode) => {}
    }
    Ok(answer)
}

/// What the handler answered.
struct HandlerReply {
    status: u16,
    /// The beginning of what it said. None where the operator opened private networks to webhooks: these must not be read
    /// through this server. Loopback is open only where the server serves its own machine, so that is the developer's own.
    body: Option<String>,
}

async fn post_answer(service: &LoginService, session: &Session, payload: &Value) -> anyhow::Result<HandlerReply> {
    let body = Bytes::from(payload.to_string());
    if session.hosted_url.is_some() {
        let (environment, mode) = (session.account.environment, session.challenge.mode);
        let reply = hosted::handle_answer(service, environment, mode, Asker::default(), &body).await;
        return Ok(HandlerReply { status: reply.status, body: Some(reply.body.to_string()) });
    }
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let url = &session.webhook_url;
    let request =
        Request { method: Method::POST, url, headers, body: Some(body), within: HANDLER_TIMEOUT, keep: MAX_BODY_LEN };
    let reach = service.reach(session.account.environment);
    let answer = service.outbound.notify(reach, request).await?;
    let is_open = reach != Reach::Everything;
    Ok(HandlerReply {
        status: answer.status,
        body: is_open.then(|| signpost_text::lines(&String::from_utf8_lossy(&answer.body)).into_owned()),
    })
}
