//! `<issuer>/introspect` (RFC 7662): a confidential client asks what one of its tokens is worth.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::oauth_form::OauthVisit;
use super::oauth_reply::{OauthRefusal, no_store};
use crate::claims::OpenidScope;
use crate::flows::{find_token, issuer};
use crate::grants::{Bearer, BearerKind, TokenStanding};

/// `POST <issuer>/introspect`
pub(super) async fn introspect(visit: OauthVisit) -> Result<Response, OauthRefusal> {
    let client = visit.find_client().await?;
    if client.settings.is_public {
        return Err(OauthRefusal::Refused {
            status: StatusCode::BAD_REQUEST,
            error: "unauthorized_client",
            description: "a client without a secret may not ask here".into(),
        });
    }
    let token = visit.required("token")?;
    let bearer = [BearerKind::Access, BearerKind::Refresh].into_iter().find_map(|kind| Bearer::parse(kind, token));
    let found = match bearer {
        Some(bearer) => find_token(&visit.service, &visit.realm, bearer.hash()).await?,
        None => None,
    };
    // Of another client's token it learns as much as of none.
    let Some(found) = found.filter(|found| found.grant.client_id == client.id) else {
        return Ok(no_store(StatusCode::OK, &json!({ "active": false })));
    };
    let scopes = found.scopes();
    let TokenStanding { token, grant, facts } = found;
    let mut told = json!({
        "active": true,
        "iss": issuer(&visit.service, &visit.realm),
        "client_id": client.id,
        "sub": grant.user_id,
        "scope": scopes.to_words(),
        "token_type": "Bearer",
        "iat": token.created_at.as_second(),
        "exp": token.expires_at.as_second(),
    });
    // The name is what the scope `profile` gives, here as in the ID token.
    if scopes.contains(OpenidScope::Profile) {
        told["username"] = facts.user.petname.as_str().into();
    }
    Ok(no_store(StatusCode::OK, &told))
}
