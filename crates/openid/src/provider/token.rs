//! Handlers of the token endpoint `<issuer>/token` and the revocation endpoint `<issuer>/revoke`.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;

use super::client_request::ClientRequest;
use super::oauth_reply::{OauthRefusal, no_store};
use crate::flows::{CodeExchange, IssuedTokens, exchange_code, refresh, revoke_token};
use crate::grants::{ACCESS_TOKEN_TTL, OpaqueToken};

/// The response of the token endpoint (RFC 6749, 5.1; `OpenID` Connect Core, 3.1.3.3).
#[derive(Debug, Serialize)]
struct TokenReply<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_token: Option<&'a str>,
    scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<&'a str>,
}

/// `POST <issuer>/token`: exchanges a code or a refresh token for tokens.
pub(super) async fn issue(request: ClientRequest) -> Result<Response, OauthRefusal> {
    let client = request.find_client().await?;
    let ClientRequest { service, domain, .. } = &request;
    let issued = match request.required("grant_type")? {
        "authorization_code" => {
            let sent = CodeExchange {
                code: request.required("code")?,
                redirect_uri: request.required("redirect_uri")?,
                code_verifier: request.text("code_verifier"),
            };
            exchange_code(service, domain, &client, sent).await?
        }
        "refresh_token" => {
            refresh(service, domain, &client, request.required("refresh_token")?, request.text("scope")).await?
        }
        _ => {
            return Err(OauthRefusal::Refused {
                status: StatusCode::BAD_REQUEST,
                error: "unsupported_grant_type",
                description: "grant_type must be 'authorization_code' or 'refresh_token'".into(),
            });
        }
    };
    let IssuedTokens { access, refresh, id_token, scopes } = issued;
    let reply = TokenReply {
        access_token: access.reveal(),
        token_type: "Bearer",
        expires_in: ACCESS_TOKEN_TTL.as_secs(),
        id_token: id_token.as_deref(),
        scope: scopes.to_words(),
        refresh_token: refresh.as_ref().map(OpaqueToken::reveal),
    };
    Ok(no_store(StatusCode::OK, &reply))
}

/// `POST <issuer>/revoke` (RFC 7009): 200 for any token, valid or not.
pub(super) async fn revoke(request: ClientRequest) -> Result<Response, OauthRefusal> {
    let client = request.find_client().await?;
    revoke_token(&request.service, &request.domain, &client, request.required("token")?).await?;
    Ok(no_store(StatusCode::OK, &json!({})))
}
