//! What is said of a person, by scope: the same in ID tokens and at userinfo.

use serde::Serialize;
use signpost_login::domains::Domain;
use signpost_login::ids::UserId;
use signpost_login::users::{HostedUser, UserGroups};

use super::scopes::{OpenidScope, OpenidScopes};
use crate::clients::EmailClaim;

/// What a client learns of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are those of OpenID Connect Core, 5.1")]
pub struct UserClaims {
    pub sub: UserId,
    /// What operator or integrator call the user, else the petname.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The petname: nobody else of the realm has it, or ever gets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred_username: Option<String>,
    /// The same, for applications that look for it here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// `true`, or left out: applications refuse people of whom it is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email_verified: Option<bool>,
}

impl UserClaims {
    /// What these scopes give of a user of a domain.
    #[must_use]
    pub fn of(user: &HostedUser, domain: &Domain, scopes: OpenidScopes, email: EmailClaim) -> Self {
        let (has_profile, has_email) = (scopes.contains(OpenidScope::Profile), scopes.contains(OpenidScope::Email));
        let petname = has_profile.then(|| user.petname.as_str().to_owned());
        let name = user.name.as_ref().map_or(user.petname.as_str(), |name| name.as_str());
        let email = Some(email).filter(|email| has_email && *email != EmailClaim::None);
        let is_verified = email == Some(EmailClaim::Verified) && domain.verified_at.is_some();
        Self {
            sub: user.id.clone(),
            name: has_profile.then(|| name.to_owned()),
            preferred_username: petname.clone(),
            nickname: petname,
            groups: has_profile.then(|| user.groups.as_ref().map(UserGroups::names).unwrap_or_default().to_vec()),
            email: email.map(|_| address_of(user, domain)),
            email_verified: is_verified.then_some(true),
        }
    }
}

/// The address that stands for a user: no other user ever has it, and nobody reads what is sent there unless the operator
/// does.
#[must_use]
pub fn address_of(user: &HostedUser, domain: &Domain) -> String {
    format!("{}@{}", user.id, domain.name)
}
