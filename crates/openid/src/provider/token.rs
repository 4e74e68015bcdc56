//! `<issuer>/token` and `<issuer>/revoke`.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;

use super::oauth_form::OauthVisit;
use super::oauth_reply::{OauthRefusal, no_store};
use crate::flows::{IssuedTokens, Redemption, redeem_code, refresh, revoke_token};
use crate::grants::{ACCESS_LASTS, Bearer};

/// The reply (RFC 6749, 5.1; `OpenID` Connect Core, 3.1.3.3).
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

/// `POST <issuer>/token`
pub(super) async fn issue(visit: OauthVisit) -> Result<Response, OauthRefusal> {
    let client = visit.find_client().await?;
    let (service, realm) = (&visit.service, &visit.realm);
    let issued = match visit.required("grant_type")? {
        "authorization_code" => {
            let sent = Redemption {
                code: visit.required("code")?,
                redirect_uri: visit.required("redirect_uri")?,
                code_verifier: visit.text("code_verifier"),
            };
            redeem_code(service, realm, &client, sent).await?
        }
        "refresh_token" => {
            refresh(service, realm, &client, visit.required("refresh_token")?, visit.text("scope")).await?
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
        expires_in: ACCESS_LASTS.as_secs(),
        id_token: id_token.as_deref(),
        scope: scopes.to_words(),
        refresh_token: refresh.as_ref().map(Bearer::reveal),
    };
    Ok(no_store(StatusCode::OK, &reply))
}

/// `POST <issuer>/revoke` (RFC 7009): 200 whatever the token was.
pub(super) async fn revoke(visit: OauthVisit) -> Result<Response, OauthRefusal> {
    let client = visit.find_client().await?;
    revoke_token(&visit.service, &visit.realm, &client, visit.required("token")?).await?;
    Ok(no_store(StatusCode::OK, &json!({})))
}
