//! Selects the claims about a user for ID tokens and userinfo responses, by the granted scopes.

use serde::Serialize;
use signpost_login::domains::Domain;
use signpost_login::ids::UserId;
use signpost_login::users::{HostedUser, UserGroups};

use super::scopes::{OpenidScope, OpenidScopes};
use crate::clients::EmailClaim;

/// The claims about a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are those of OpenID Connect Core, 5.1")]
pub struct UserClaims {
    pub sub: UserId,
    /// The name set by the operator or the integrator, or else the username.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The username, which is unique in the domain and never reused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred_username: Option<String>,
    /// The username, for applications that read this claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// `true`, or left out: applications refuse users for whom it is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email_verified: Option<bool>,
}

impl UserClaims {
    /// Returns the claims of these scopes for a user of a domain.
    #[must_use]
    pub fn new(user: &HostedUser, domain: &Domain, scopes: OpenidScopes, email: EmailClaim) -> Self {
        let mut claims = Self {
            sub: user.id.clone(),
            name: None,
            preferred_username: None,
            nickname: None,
            groups: None,
            email: None,
            email_verified: None,
        };
        if scopes.contains(OpenidScope::Profile) {
            let username = user.username();
            claims.name = Some(user.name.as_ref().map_or(username, |name| name.as_str()).to_owned());
            claims.preferred_username = Some(username.to_owned());
            claims.nickname = Some(username.to_owned());
            claims.groups = Some(user.groups.as_ref().map(UserGroups::names).unwrap_or_default().to_vec());
        }
        if scopes.contains(OpenidScope::Email) && email != EmailClaim::None {
            claims.email = Some(address_of(user, domain));
            if email == EmailClaim::Verified && domain.verified_at.is_some() {
                claims.email_verified = Some(true);
            }
        }
        claims
    }
}

/// Returns the synthetic e-mail address of a user, which is never reused. Mail to it is read only if the operator
/// receives it.
#[must_use]
pub fn address_of(user: &HostedUser, domain: &Domain) -> String {
    format!("{}@{}", user.id, domain.name)
}
