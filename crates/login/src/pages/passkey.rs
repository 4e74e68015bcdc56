//! `/login/{id}/passkey`, where the page's script fetches what the device is asked for and brings what it answered, and
//! the buttons beside it.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, HeaderName};
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64URL_NOPAD;
use maud::html;
use serde_json::{Value, json};
use signpost_auth::receiver::{HandlerRefusal, HandlerResponse};
use signpost_auth::{PasskeyAlgorithm, PasskeyId};
use signpost_platform::limits::Limit;
use signpost_platform::web::problem::Problem;

use super::forms::receive;
use super::visit::{OwnedPage, PageVisit};
use super::words::login_words;
use crate::flows::passkey::{PasskeyDenial, PasskeyMaker, PasskeyPrompt, accept_passkey, prompt_passkey};
use crate::flows::passkey_log::note_refused_passkey;
use crate::sessions::PasskeyAnswerRefusal;

/// How long the device may ask its person, in milliseconds: as long as the longest code is good.
const PROMPT_MS: u32 = 120_000;
/// What a passkey may sign with, the preferred first.
const ALGORITHMS: [PasskeyAlgorithm; 2] = [PasskeyAlgorithm::Es256, PasskeyAlgorithm::Rs256];
/// How often an answer is tried whose session changed meanwhile.
const MAX_ATTEMPTS: usize = 3;
const NO_STORE: [(HeaderName, &str); 1] = [(CACHE_CONTROL, "no-store")];

/// `GET /login/{id}/passkey`
pub(crate) async fn show(visit: PageVisit) -> Result<Response, Response> {
    let page = visit.find_owned().await?;
    let prompt = prompt_passkey(&visit.service, &page.session, &page.domain, &page.cookie).await;
    match prompt.map_err(IntoResponse::into_response)? {
        Some(prompt) => Ok((NO_STORE, Json(options(&prompt, page.domain.name.as_str()))).into_response()),
        None => Err(deny(&visit, &page, PasskeyDenial::NotAsked)),
    }
}

/// `POST /login/{id}/passkey`
pub(crate) async fn answer(visit: PageVisit, request: Request) -> Result<Response, Response> {
    let counted = visit.service.limits.check_tenth(Limit::Answer, visit.address(), visit.service.clock.elapsed()).await;
    counted.map_err(|exceeded| Problem::RateLimited(exceeded).into_response())?;
    let (page, form) = receive(&visit, request).await?;
    let credential = form.text("credential").unwrap_or_default();
    let mut page = page;
    for attempt in 1.. {
        let OwnedPage { session, domain, cookie } = &page;
        match accept_passkey(&visit.service, session.clone(), domain, cookie, credential).await {
            Ok(()) => break,
            // A new code came between the read and the write: the answer may be for the one before.
            Err(PasskeyDenial::Wallet(HandlerRefusal::NotHeld)) if attempt < MAX_ATTEMPTS => {
                let again = visit.look_again(cookie).await.map_err(IntoResponse::into_response)?;
                page = again.ok_or_else(|| Problem::NotFound.into_response())?;
            }
            Err(denial) => {
                if let Some(refusal) = denial.refusal() {
                    note_refused_passkey(&visit.service, &page.session, visit.address(), refusal).await;
                }
                return Err(deny(&visit, &page, denial));
            }
        }
    }
    Ok((NO_STORE, Json(json!({}))).into_response())
}

/// What the device is asked for, as `PublicKeyCredential` reads it (Web Authentication, 5.1.8 and 5.1.9).
fn options(prompt: &PasskeyPrompt, domain: &str) -> Value {
    let (challenge, rp) = (BASE64URL_NOPAD.encode(prompt.challenge.as_bytes()), prompt.rp.id());
    match &prompt.maker {
        None => json!({
            "ceremony": "get",
            "publicKey": {
                "challenge": challenge, "rpId": rp, "timeout": PROMPT_MS, "userVerification": "required",
                "allowCredentials": [],
            },
        }),
        Some(maker) => json!({
            "ceremony": "create",
            "publicKey": {
                "challenge": challenge,
                "rp": { "id": rp, "name": rp },
                "user": user(maker, domain),
                "pubKeyCredParams": ALGORITHMS.map(|algorithm| json!({ "type": "public-key", "alg": algorithm.cose() })),
                "timeout": PROMPT_MS,
                "excludeCredentials": maker.has.iter().map(to_descriptor).collect::<Vec<_>>(),
                "authenticatorSelection": {
                    "residentKey": "required", "requireResidentKey": true, "userVerification": "required",
                },
                "attestation": "none",
            },
        }),
    }
}

/// Whose passkey it is, in the words that the device shows beside it.
fn user(maker: &PasskeyMaker, domain: &str) -> Value {
    let name = format!("{} · {domain}", maker.petname.as_str());
    json!({ "id": maker.handle.to_string(), "name": name, "displayName": name })
}

fn to_descriptor(id: &PasskeyId) -> Value {
    json!({ "type": "public-key", "id": id.to_string() })
}

/// What the script is told. The page itself says the same in its next version, where it says anything.
fn deny(visit: &PageVisit, page: &OwnedPage, denial: PasskeyDenial) -> Response {
    let (words, domain) = (login_words(visit.language), html! { (page.domain.name) });
    let (reason, status, message) = match denial {
        PasskeyDenial::NotAsked => ("not_asked", StatusCode::CONFLICT, words.stale.head.to_owned()),
        PasskeyDenial::NotAccepted(refusal) => {
            let message = match refusal {
                PasskeyAnswerRefusal::UserHandle => words.passkey_without_user,
                _ => words.passkey_refused.head,
            };
            ("not_accepted", StatusCode::UNPROCESSABLE_ENTITY, message.to_owned())
        }
        PasskeyDenial::Unknown(id) => {
            let told = told("unknown_passkey", &(words.unknown_passkey_head)(&domain).into_string());
            return (StatusCode::NOT_FOUND, NO_STORE, Json(with_signal(told, visit, id.as_ref()))).into_response();
        }
        PasskeyDenial::OtherSite(site) => {
            ("other_site", StatusCode::CONFLICT, (words.other_site_head)(&html! { (site) }).into_string())
        }
        PasskeyDenial::Wallet(refusal) => {
            let (reason, message) = match refusal {
                HandlerRefusal::RegistrationClosed => ("closed", (words.closed_head)(&domain).into_string()),
                HandlerRefusal::UserExists | HandlerRefusal::KeyTaken => ("taken", words.key_known.head.to_owned()),
                _ => ("failed", words.passkey_refused.head.to_owned()),
            };
            return HandlerResponse { body: told(reason, &message), ..refusal.into() }.into_response();
        }
    };
    (status, NO_STORE, Json(told(reason, &message))).into_response()
}

fn told(reason: &str, message: &str) -> Value {
    json!({ "reason": reason, "message": message })
}

/// The same, with the passkey that the device may forget.
fn with_signal(mut told: Value, visit: &PageVisit, dead: Option<&PasskeyId>) -> Value {
    if let (Some(id), Some(rp)) = (dead, &visit.service.relying_party) {
        told["signal"] = json!({ "rpId": rp.id(), "credentialId": id.to_string() });
    }
    told
}
