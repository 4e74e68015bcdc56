//! `POST /verify`: a signature checked, no session touched.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use signpost_auth::{PublicKey, Signature, message_hash, verify as is_signed_by};
use signpost_platform::accounts::Account;
use signpost_platform::web::Fields;

use crate::error::Error;
use crate::service::LoginService;

/// Exactly the specification's three members (§2).
#[derive(Serialize)]
pub(crate) struct Verification {
    valid: bool,
    public_key: String,
    message_hash: String,
}

pub(crate) async fn verify(
    State(_): State<LoginService>,
    _: Account,
    mut fields: Fields,
) -> Result<Json<Verification>, Error> {
    let (public_key, signature, message) =
        (fields.text("public_key")?, fields.text("signature")?, fields.text("message")?);
    fields.done()?;
    let malformed = |public_key| Error::MalformedSignature { public_key };
    let key =
        PublicKey::parse(&public_key).map_err(|_| Error::InvalidPublicKey { public_key: shorten(&public_key) })?;
    let signature = Signature::parse(&signature).map_err(|_| malformed(shorten(&public_key)))?;
    let valid = is_signed_by(&key, &signature, message.as_bytes());
    Ok(Json(Verification { valid, public_key, message_hash: message_hash(message.as_bytes()) }))
}

/// A key is at most 130 characters; what is longer is none, and is not sent back whole.
fn shorten(public_key: &str) -> String {
    public_key.chars().take(200).collect()
}
