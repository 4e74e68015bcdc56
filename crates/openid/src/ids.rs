//! The ID types of the OpenID Connect service, with their prefixes.

signpost_store::ids! {
    /// The ID of a client.
    ClientId = "cli";
    /// The ID of a pending authorization.
    AuthorizationId = "auz";
    /// The ID of a grant.
    GrantId = "grt";
}
