//! Handler of `POST /verify`: checks a wallet's signature without a session.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use signpost_auth::{PublicKey, Signature, message_hash, verify as is_signed_by};
use signpost_platform::accounts::Account;
use signpost_platform::web::JsonBody;

use crate::error::Error;
use crate::service::LoginService;

/// The body of `POST /verify`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifySignatureBody {
    public_key: String,
    signature: String,
    message: String,
}

/// The reply of `POST /verify`, with the three members of the specification (§2).
#[derive(Serialize)]
pub(crate) struct Verification {
    valid: bool,
    public_key: String,
    message_hash: String,
}

pub(crate) async fn verify(
    State(_): State<LoginService>,
    _: Account,
    JsonBody(VerifySignatureBody { public_key, signature, message }): JsonBody<VerifySignatureBody>,
) -> Result<Json<Verification>, Error> {
    let Ok(key) = PublicKey::parse(&public_key) else {
        return Err(Error::InvalidPublicKey { public_key: shorten(&public_key) });
    };
    let Ok(signature) = Signature::parse(&signature) else {
        return Err(Error::MalformedSignature { public_key: shorten(&public_key) });
    };
    let valid = is_signed_by(&key, &signature, message.as_bytes());
    Ok(Json(Verification { valid, public_key, message_hash: message_hash(message.as_bytes()) }))
}

/// Returns the start of an invalid key: valid keys have at most 130 characters, and longer text is not echoed whole.
fn shorten(public_key: &str) -> String {
    public_key.chars().take(200).collect()
}
