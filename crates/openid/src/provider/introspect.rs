//! Handler of `<issuer>/introspect` (RFC 7662): returns the state of a token to the confidential
//! client that it was issued to.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::client_request::ClientRequest;
use super::oauth_reply::{OauthRefusal, no_store};
use crate::claims::OpenidScope;
use crate::flows::{find_token, issuer};
use crate::grants::{OpaqueToken, ValidToken};

/// `POST <issuer>/introspect`: returns the state of a token.
pub(super) async fn introspect(request: ClientRequest) -> Result<Response, OauthRefusal> {
    let client = request.find_client().await?;
    if client.settings.is_public {
        return Err(OauthRefusal::Refused {
            status: StatusCode::BAD_REQUEST,
            error: "unauthorized_client",
            description: "a client without a secret may not ask here".into(),
        });
    }
    let found = match OpaqueToken::parse_access_or_refresh(request.required("token")?) {
        Some(token) => find_token(&request.service, &request.domain, &client, token.hash()).await?,
        None => None,
    };
    // A token of another client is answered like an unknown token.
    let Some(found) = found else { return Ok(no_store(StatusCode::OK, &json!({ "active": false }))) };
    let scopes = found.scopes();
    let ValidToken { token, grant, facts } = found;
    let mut reply = json!({
        "active": true,
        "iss": issuer(&request.service, &request.domain),
        "client_id": client.id,
        "sub": grant.user_id,
        "scope": scopes.to_words(),
        "token_type": "Bearer",
        "iat": token.created_at.as_second(),
        "exp": token.expires_at.as_second(),
    });
    // The username belongs to the scope `profile`, as in the ID token.
    if scopes.contains(OpenidScope::Profile) {
        reply["username"] = facts.user.username().into();
    }
    Ok(no_store(StatusCode::OK, &reply))
}
