//! Handler of `POST /sandbox/v1/sessions/{id}/simulate`: answers a session with a simulated wallet,
//! for testing a login without a phone.

use std::time::Duration;

use anyhow::Context;
use axum::Json;
use axum::extract::State as Extract;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use signpost_auth::{Answer, DeviceInfo, Wallet};
use signpost_platform::accounts::Account;
use signpost_platform::outbound::{EgressPolicy, Request};
use signpost_platform::web::{OptionalJsonBody, PathParams};

use crate::error::Error;
use crate::flows::answer_context::AnswerContext;
use crate::flows::hosted;
use crate::flows::lookup::{find_session, refusal_error};
use crate::service::LoginService;
use crate::sessions::{ConfirmCode, Session};

/// Timeout of the handler's reply.
const HANDLER_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size of the part of the handler's reply that is returned, in bytes.
const MAX_BODY_LEN: usize = 2048;
/// Number of simulated wallets.
const MAX_WALLET: u64 = 100;

/// The body of `POST /sessions/{id}/simulate`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SimulateBody {
    /// Number of the simulated wallet that signs, from 1 to 100.
    #[serde(default = "first_wallet", deserialize_with = "wallet_number")]
    wallet: u64,
    fault: Option<SimulatedFault>,
}

/// An error in the answer of a simulated wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SimulatedFault {
    Signature,
    Timestamp,
    Challenge,
    ConfirmCode,
}

/// Signs the session's challenge and posts the answer to the URL that a wallet would use. The reply contains the posted
/// answer and the handler's reply.
pub(crate) async fn simulate(
    Extract(service): Extract<LoginService>,
    account: Account,
    PathParams(id): PathParams<String>,
    OptionalJsonBody(SimulateBody { wallet, fault }): OptionalJsonBody<SimulateBody>,
) -> Result<Json<Value>, Error> {
    let session = find_session(&service, &account, &id).await?;
    session.check_pending(service.clock.now()).map_err(|refusal| refusal_error(refusal, &session, &service))?;
    let answer = make_answer(&session, &account, wallet, fault, service.clock.now().as_second())?;
    let payload = json!(answer);
    let reply = post_answer(&service, &session, &payload).await;
    let posted_to = session.answer_url().to_string();
    let mut simulation = json!({ "public_key": answer.public_key, "posted_to": posted_to, "payload": payload });
    match reply {
        Ok(HandlerReply { status, body }) => {
            simulation["status"] = status.into();
            if let Some(body) = body {
                simulation["body"] = body.into();
            }
        }
        Err(error) => simulation["error"] = format!("{error:#}").into(),
    }
    Ok(Json(simulation))
}

fn first_wallet() -> u64 {
    1
}

fn wallet_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    match u64::deserialize(deserializer) {
        Ok(number @ 1..=MAX_WALLET) => Ok(number),
        _ => Err(de::Error::custom(format_args!("must be a whole number from 1 to {MAX_WALLET}"))),
    }
}

/// Creates the answer of the wallet with this number. Its key is derived from account and number, and is for sandboxes
/// only.
fn make_answer(
    session: &Session,
    account: &Account,
    number: u64,
    fault: Option<SimulatedFault>,
    now: i64,
) -> Result<Answer, Error> {
    let wallet = (0_u64..).find_map(|salt| {
        let seed = Sha256::digest(format!("sandbox wallet {salt} {number} {}", account.name));
        Wallet::from_bytes(seed.into()).ok()
    });
    let wallet = wallet.expect("nearly every number is a key");
    let device = DeviceInfo { platform: Some("sandbox".to_owned()), version: None, device_id: None };
    let code = session.qr_data().context("a session that was opened has a code")?;
    let shown = session.confirm_code.as_ref().map(ConfirmCode::reveal);
    let number = if fault == Some(SimulatedFault::ConfirmCode) { Some("00") } else { shown };
    let timestamp = if fault == Some(SimulatedFault::Timestamp) { now - 31 } else { now };
    let mut answer = wallet.answer_code(&code, number, timestamp, Some(device));
    match fault {
        Some(SimulatedFault::Signature) => answer.signature = wallet.sign("another text"),
        Some(SimulatedFault::Challenge) => {
            let invalid = wallet.answer_text(format!("{}x", session.challenge.sentence()), now, None);
            answer = Answer { signature: invalid.signature, challenge: invalid.challenge, ..answer };
        }
        None | Some(SimulatedFault::Timestamp | SimulatedFault::ConfirmCode) => {}
    }
    Ok(answer)
}

/// The reply of the session's handler to the posted answer.
struct HandlerReply {
    status: u16,
    /// The start of the reply's body. `None` if the operator allows webhooks in private networks,
    /// because their content must not become readable through this server. A body from a loopback
    /// address is returned only if the server accepts only local connections.
    body: Option<String>,
}

async fn post_answer(service: &LoginService, session: &Session, payload: &Value) -> anyhow::Result<HandlerReply> {
    let body = Bytes::from(payload.to_string());
    if session.hosted_url.is_some() {
        let environment = session.account.environment;
        let reply =
            hosted::handle_answer(service, environment, session.challenge.mode, AnswerContext::default(), &body).await;
        return Ok(HandlerReply { status: reply.status, body: Some(reply.body.to_string()) });
    }
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let url = &session.webhook_url;
    let request = Request {
        method: Method::POST,
        url,
        headers,
        body: Some(body),
        timeout: HANDLER_TIMEOUT,
        max_body: MAX_BODY_LEN,
    };
    let egress = service.egress_policy(session.account.environment);
    let answer = service.outbound.send_for_status(egress, request).await?;
    let is_open = egress != EgressPolicy::Everything;
    Ok(HandlerReply {
        status: answer.status,
        body: is_open.then(|| signpost_text::clean_text(&String::from_utf8_lossy(&answer.body)).into_owned()),
    })
}
