//! Handler of `<issuer>/userinfo` (OpenID Connect Core, 5.3): returns the claims about the user of
//! an access token.

use axum::http::StatusCode;
use axum::response::Response;
use signpost_platform::limits::Caller;

use super::client_request::ClientRequest;
use super::oauth_reply::{OauthRefusal, no_store};
use crate::claims::{OpenidScope, UserClaims};
use crate::flows::{find_access_token, issuer};
use crate::grants::{OpaqueToken, OpaqueTokenKind};

/// `GET` and `POST <issuer>/userinfo`, with the token in the header or in a form. A token in the query is not accepted,
/// because URLs are logged.
pub(super) async fn show(request: ClientRequest) -> Result<Response, OauthRefusal> {
    let in_header = request.bearer_token();
    let in_form = request.text("access_token");
    if in_header.is_some() && in_form.is_some() {
        return Err(OauthRefusal::request("the access token is sent in the header and in the form; choose one"));
    }
    let token = in_header.or(in_form);
    let found = match token.and_then(|text| OpaqueToken::parse(OpaqueTokenKind::Access, text)) {
        Some(token) => find_access_token(&request.service, &request.domain, &token, request.file_state).await?,
        None => None,
    };
    let Some(found) = found else {
        request.count_unauthenticated().await?;
        return Err(refuse(&request, token.is_some()));
    };
    request.count(&Caller::Client(found.grant.id.to_string())).await?;
    let scopes = found.scopes();
    if !scopes.contains(OpenidScope::Openid) {
        return Err(refuse_scope(&request));
    }
    let facts = &found.facts;
    let claims = UserClaims::new(&facts.user, &request.domain, scopes, facts.client.settings.email);
    Ok(no_store(StatusCode::OK, &claims))
}

/// Returns the error for a missing or an invalid token (RFC 6750, 3).
fn refuse(request: &ClientRequest, has_token: bool) -> OauthRefusal {
    let realm = issuer(&request.service, &request.domain);
    let description = "the access token is missing, over or revoked; send 'Authorization: Bearer <token>'";
    let error = if has_token { ", error=\"invalid_token\"" } else { "" };
    let challenge = format!("Bearer realm=\"{realm}\"{error}");
    OauthRefusal::Unauthorized { error: has_token.then_some("invalid_token"), description, challenge }
}

/// Returns the error for an access token without the scope `openid`, omitted by a refresh (RFC 6750, 3.1).
fn refuse_scope(request: &ClientRequest) -> OauthRefusal {
    let realm = issuer(&request.service, &request.domain);
    OauthRefusal::InsufficientScope {
        description: "the access token lacks the scope 'openid'; refresh without 'scope' for all that was granted",
        challenge: format!("Bearer realm=\"{realm}\", error=\"insufficient_scope\", scope=\"openid\""),
    }
}
