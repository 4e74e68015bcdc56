//! The ID types of the OpenID Connect service, with their prefixes.

use signpost_login::ids::SignInId;

signpost_store::ids! {
    /// The ID of a client.
    ClientId = "cli";
    /// The ID of a pending authorization.
    AuthorizationId = "auz";
    /// The ID of a grant.
    GrantId = "grt";
}

impl GrantId {
    /// Returns the ID of the grant of a sign-in at an application, if it is one.
    #[must_use]
    pub fn of_sign_in(sign_in: &SignInId) -> Self {
        Self(format!("grt_{}", sign_in.suffix()))
    }
}
