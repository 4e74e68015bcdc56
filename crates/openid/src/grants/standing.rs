//! Whether a grant still counts. What it stands on may be gone: nothing is deleted for its sake, so it is asked at each use.

use signpost_login::domains::{Domain, HandlerKind};
use signpost_login::users::{Credential, HostedUser};

use jiff::Timestamp;

use super::{Grant, StoredToken};
use crate::claims::OpenidScopes;
use crate::clients::Client;

/// What a grant stands on, as it is now.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct GrantFacts {
    pub client: Client,
    pub domain: Domain,
    pub user: HostedUser,
    /// The key that proved it, and others that count.
    pub credentials: Vec<Credential>,
}

impl GrantFacts {
    /// About how many bytes they take, with the grant.
    #[must_use]
    pub fn size(&self) -> usize {
        // Names, addresses and ids of bounded length; a credential is about as long as what names a user.
        4096 + 512 * self.credentials.len()
    }
}

/// A token of a grant that counts, and what it stands on.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct TokenStanding {
    pub token: StoredToken,
    pub grant: Grant,
    pub facts: GrantFacts,
}

impl TokenStanding {
    /// Returns the scopes of the token: those of its grant, unless a refresh narrowed them.
    #[must_use]
    pub fn scopes(&self) -> OpenidScopes {
        self.token.scopes.unwrap_or(self.grant.scopes)
    }

    /// Whether the token still counts: it is not over, and no other replaced it.
    #[must_use]
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.token.replaced_at.is_none() && now < self.token.expires_at
    }
}

/// Whether a grant counts: it stands, and its user is still admitted by the client.
#[must_use]
pub fn check_standing(grant: &Grant, facts: &GrantFacts) -> bool {
    let GrantFacts { client, user, credentials, .. } = facts;
    let is_admitted = client.settings.allowed.as_ref().is_none_or(|list| list.admits(user, credentials));
    is_admitted && is_standing(grant, facts)
}

/// Whether a grant stands: nobody revoked it, its client and its user are still of its domain, which is still hosted; the
/// user still has the key that proved it, and signed out nowhere since.
#[must_use]
pub fn is_standing(grant: &Grant, facts: &GrantFacts) -> bool {
    let GrantFacts { client, domain, user, credentials } = facts;
    let is_of_domain = domain.id == grant.domain_id
        && domain.handler == HandlerKind::Hosted
        && client.id == grant.client_id
        && client.domain_id == domain.id
        && user.domain_id == domain.id;
    let has_key = credentials.iter().any(|credential| credential.public_key == grant.public_key);
    // Of the login, since a request that was under way then may have been granted a moment later.
    let is_signed_out = user.signed_out_at.is_some_and(|at| grant.authenticated_at <= at);
    let is_user = user.id == grant.user_id && has_key && !is_signed_out;
    grant.revoked_at.is_none() && is_of_domain && is_user
}
