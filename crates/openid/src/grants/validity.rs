//! The rules for the validity of grants and tokens. A grant is not deleted together with the rows
//! that it depends on, so its validity is checked at each use.

use signpost_login::domains::{Domain, HandlerKind};
use signpost_login::users::{Credential, HostedUser};

use jiff::Timestamp;

use super::{Grant, StoredToken};
use crate::claims::OpenidScopes;
use crate::clients::Client;

/// The rows that a grant depends on.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct GrantFacts {
    pub client: Client,
    pub domain: Domain,
    pub user: HostedUser,
    /// The credential that proved the login, and others of the user if the client's allow list needs them.
    pub credentials: Vec<Credential>,
}

impl GrantFacts {
    /// Returns the approximate size in bytes, the grant included.
    #[must_use]
    pub fn size(&self) -> usize {
        // Names, addresses and IDs have a bounded length; a credential is about as long as the fields that name a user.
        4096 + 512 * self.credentials.len()
    }
}

/// A token of a valid grant.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ValidToken {
    pub token: StoredToken,
    pub grant: Grant,
    pub facts: GrantFacts,
}

impl ValidToken {
    /// Returns the scopes of the token: the scopes of its grant, unless a refresh narrowed them.
    #[must_use]
    pub fn scopes(&self) -> OpenidScopes {
        self.token.scopes.unwrap_or(self.grant.scopes)
    }

    /// Returns true if the token itself is valid: it has not expired and was not replaced.
    #[must_use]
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.token.replaced_at.is_none() && now < self.token.expires_at
    }
}

/// Returns true if a grant is valid and the client still admits its user.
#[must_use]
pub fn is_valid_and_admitted(grant: &Grant, facts: &GrantFacts) -> bool {
    let GrantFacts { client, user, credentials, .. } = facts;
    let is_admitted = client.settings.allowed.as_ref().is_none_or(|list| list.admits(user, credentials));
    is_admitted && is_grant_valid(grant, facts)
}

/// Returns true if a grant is valid: it was not revoked, its domain is hosted and has its client and user, and the user
/// has the credential that proved the login and has not signed out everywhere since.
#[must_use]
pub fn is_grant_valid(grant: &Grant, facts: &GrantFacts) -> bool {
    let GrantFacts { client, domain, user, credentials } = facts;
    let is_of_domain = domain.id == grant.domain_id
        && domain.handler == HandlerKind::Hosted
        && client.id == grant.client_id
        && client.domain_id == domain.id
        && user.domain_id == domain.id;
    let has_key = credentials.iter().any(|credential| credential.public_key == grant.public_key);
    // The sign-out is compared with the time of the login and not of the grant, because a request
    // in progress during the sign-out may have been granted a moment later.
    let is_signed_out = user.signed_out_at.is_some_and(|at| grant.authenticated_at <= at);
    let is_user = user.id == grant.user_id && has_key && !is_signed_out;
    grant.revoked_at.is_none() && is_of_domain && is_user
}
