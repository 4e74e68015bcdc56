//! Handlers of `/login/{id}/passkey`: the page's script gets the options for the device, and posts
//! the device's response.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, HeaderName};
use axum::response::{IntoResponse, Response, Result};
use data_encoding::BASE64URL_NOPAD;
use maud::html;
use serde_json::{Value, json};
use signpost_auth::receiver::{HandlerRefusal, HandlerResponse};
use signpost_auth::{PasskeyAlgorithm, PasskeyId};
use signpost_platform::limits::Limit;
use signpost_platform::web::problem::Problem;

use super::context::{LoginPageContext, OwnedPage};
use super::forms::receive;
use super::words::login_words;
use crate::flows::passkey::{PasskeyDenial, PasskeyPrompt, PasskeyUserEntity, accept_passkey, prompt_passkey};
use crate::flows::passkey_log::log_refused_passkey;
use crate::sessions::PasskeyAnswerRefusal;

/// Timeout of the device's prompt in milliseconds, equal to the maximum lifetime of a code.
const PROMPT_MS: u32 = 120_000;
/// Signature algorithms of passkeys, in order of preference.
const ALGORITHMS: [PasskeyAlgorithm; 2] = [PasskeyAlgorithm::Es256, PasskeyAlgorithm::Rs256];
/// Maximum attempts for a response after concurrent changes of its session.
const MAX_ATTEMPTS: usize = 3;
const NO_STORE: [(HeaderName, &str); 1] = [(CACHE_CONTROL, "no-store")];

/// `GET /login/{id}/passkey`: returns the options for the device.
pub(crate) async fn show(context: LoginPageContext) -> Result<impl IntoResponse> {
    let page = context.find_owned().await?;
    let prompt = prompt_passkey(&context.service, &page.session, &page.domain, &page.cookie).await?;
    let Some(prompt) = prompt else { return Err(deny(&context, &page, PasskeyDenial::NotOffered).into()) };
    Ok((NO_STORE, Json(options(&prompt, page.domain.name.as_str()))))
}

/// `POST /login/{id}/passkey`: accepts the response of the device.
pub(crate) async fn answer(context: LoginPageContext, request: Request) -> Result<impl IntoResponse> {
    let elapsed = context.service.clock.elapsed();
    let counted = context.service.limits.check_tenth(Limit::Answer, context.address(), elapsed).await;
    counted.map_err(Problem::RateLimited)?;
    let (mut page, form) = receive(&context, request).await?;
    let credential = form.text("credential").unwrap_or_default();
    for attempt in 1.. {
        let OwnedPage { session, domain, cookie } = &page;
        match accept_passkey(&context.service, session.clone(), domain, cookie, credential).await {
            Ok(()) => break,
            // The code was replaced between the read and the write: the response may be for the previous code.
            Err(PasskeyDenial::Wallet(HandlerRefusal::NoPendingSession)) if attempt < MAX_ATTEMPTS => {
                page = context.find_again(cookie).await?.ok_or(Problem::NotFound)?;
            }
            Err(denial) => {
                if let Some(refusal) = denial.refusal() {
                    log_refused_passkey(&context.service, session, context.address(), refusal).await;
                }
                return Err(deny(&context, &page, denial).into());
            }
        }
    }
    Ok((NO_STORE, Json(json!({}))))
}

/// Returns the options for the device, in the JSON form of `PublicKeyCredential` (Web Authentication, 5.1.8 and 5.1.9).
fn options(prompt: &PasskeyPrompt, domain: &str) -> Value {
    let challenge = BASE64URL_NOPAD.encode(prompt.challenge.as_bytes());
    let rp = prompt.rp.id();
    match &prompt.user_entity {
        None => json!({
            "ceremony": "get",
            "publicKey": {
                "challenge": challenge, "rpId": rp, "timeout": PROMPT_MS, "userVerification": "required",
                "allowCredentials": [],
            },
        }),
        Some(user_entity) => json!({
            "ceremony": "create",
            "publicKey": {
                "challenge": challenge,
                "rp": { "id": rp, "name": rp },
                "user": user(user_entity, domain),
                "pubKeyCredParams": ALGORITHMS.map(|algorithm| json!({ "type": "public-key", "alg": algorithm.cose() })),
                "timeout": PROMPT_MS,
                "excludeCredentials": user_entity.exclude_credentials.iter().map(to_descriptor).collect::<Vec<_>>(),
                "authenticatorSelection": {
                    "residentKey": "required", "requireResidentKey": true, "userVerification": "required",
                },
                "attestation": "none",
            },
        }),
    }
}

/// Returns the user entity. The device shows its name with the passkey.
fn user(user_entity: &PasskeyUserEntity, domain: &str) -> Value {
    let name = format!("{} · {domain}", user_entity.username);
    json!({ "id": user_entity.handle.to_string(), "name": name, "displayName": name })
}

fn to_descriptor(id: &PasskeyId) -> Value {
    json!({ "type": "public-key", "id": id.to_string() })
}

/// Returns the error body for the script. The next version of the page may also show the reason.
fn deny(context: &LoginPageContext, page: &OwnedPage, denial: PasskeyDenial) -> Response {
    let words = login_words(context.language);
    let domain = html! { (page.domain.name) };
    let (reason, status, message) = match denial {
        PasskeyDenial::NotOffered => ("not_asked", StatusCode::CONFLICT, words.stale.head.to_owned()),
        PasskeyDenial::Invalid(refusal) => {
            let message = match refusal {
                PasskeyAnswerRefusal::UserHandle => words.passkey_without_user,
                _ => words.passkey_refused.head,
            };
            ("not_accepted", StatusCode::UNPROCESSABLE_ENTITY, message.to_owned())
        }
        PasskeyDenial::Unknown(id) => {
            let mut body = denial_body("unknown_passkey", &(words.unknown_passkey_head)(&domain).into_string());
            // The device may delete this passkey.
            if let Some(id) = id
                && let Some(rp) = &context.service.relying_party
            {
                body["signal"] = json!({ "rpId": rp.id(), "credentialId": id.to_string() });
            }
            return (StatusCode::NOT_FOUND, NO_STORE, Json(body)).into_response();
        }
        PasskeyDenial::OtherSite(site) => {
            ("other_site", StatusCode::CONFLICT, (words.other_site_head)(&html! { (site) }).into_string())
        }
        PasskeyDenial::Wallet(refusal) => {
            let (reason, message) = match refusal {
                HandlerRefusal::RegistrationClosed => ("closed", (words.closed_head)(&domain).into_string()),
                HandlerRefusal::UserExists | HandlerRefusal::KeyTaken => ("taken", words.key_known.head.to_owned()),
                HandlerRefusal::OtherUser => ("user", words.other_user.head.to_owned()),
                _ => ("failed", words.passkey_refused.head.to_owned()),
            };
            return HandlerResponse { body: denial_body(reason, &message), ..refusal.into() }.into_response();
        }
    };
    (status, NO_STORE, Json(denial_body(reason, &message))).into_response()
}

fn denial_body(reason: &str, message: &str) -> Value {
    json!({ "reason": reason, "message": message })
}
