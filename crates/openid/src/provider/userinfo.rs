//! `<issuer>/userinfo` (OpenID Connect Core, 5.3): what an access token lets its client know.

use axum::http::StatusCode;
use axum::response::Response;
use signpost_platform::limits::Caller;

use super::oauth_form::OauthVisit;
use super::oauth_reply::{OauthRefusal, no_store};
use crate::claims::{OpenidScope, UserClaims};
use crate::flows::{find_access, issuer};
use crate::grants::{Bearer, BearerKind, TokenStanding};

/// `GET` and `POST <issuer>/userinfo`, with the token in the header, or in a form. In an address it would be written down
/// everywhere: there it counts for nothing.
pub(super) async fn show(visit: OauthVisit) -> Result<Response, OauthRefusal> {
    let in_header = visit.authorization().and_then(|text| text.split_once(' '));
    let in_header =
        in_header.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    let token = match (in_header, visit.text("access_token")) {
        (Some(_), Some(_)) => {
            return Err(OauthRefusal::request("the access token is sent in the header and in the form; choose one"));
        }
        (in_header, in_form) => in_header.or(in_form),
    };
    let found = match token.and_then(|text| Bearer::parse(BearerKind::Access, text)) {
        Some(bearer) => find_access(&visit.service, &visit.realm, &bearer, visit.state).await?,
        None => None,
    };
    let Some(found) = found else {
        visit.count_stranger().await?;
        return Err(refuse(&visit, token.is_some()));
    };
    let (TokenStanding { grant, facts, .. }, scopes) = (&*found, found.scopes());
    visit.count(&Caller::Client(grant.id.to_string())).await?;
    if !scopes.contains(OpenidScope::Openid) {
        return Err(refuse_scope(&visit));
    }
    let claims = UserClaims::of(&facts.user, &visit.realm, scopes, facts.client.settings.email);
    Ok(no_store(StatusCode::OK, &claims))
}

/// Whoever sends no token is told how to; one that does not count is named (RFC 6750, 3).
fn refuse(visit: &OauthVisit, has_token: bool) -> OauthRefusal {
    let realm = issuer(&visit.service, &visit.realm);
    let description = "the access token is missing, over or revoked; send 'Authorization: Bearer <token>'";
    let error = if has_token { ", error=\"invalid_token\"" } else { "" };
    let challenge = format!("Bearer realm=\"{realm}\"{error}");
    OauthRefusal::Unauthorized { error: has_token.then_some("invalid_token"), description, challenge }
}

/// An access token whose scopes a refresh narrowed to others than `openid` (RFC 6750, 3.1).
fn refuse_scope(visit: &OauthVisit) -> OauthRefusal {
    let realm = issuer(&visit.service, &visit.realm);
    OauthRefusal::InsufficientScope {
        description: "the access token lacks the scope 'openid'; refresh without 'scope' for all that was granted",
        challenge: format!("Bearer realm=\"{realm}\", error=\"insufficient_scope\", scope=\"openid\""),
    }
}
