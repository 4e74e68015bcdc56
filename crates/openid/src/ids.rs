//! The ids of this service.

signpost_store::ids! {
    /// Names a client: an application that lets people log in here.
    ClientId = "cli";
    /// Names an authorization request that waits for its person.
    AuthorizationId = "auz";
    /// Names what a client was granted by one login.
    GrantId = "grt";
}
