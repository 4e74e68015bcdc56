//! The ID types of the login service, with their prefixes.

signpost_store::ids! {
    /// The ID of a session.
    SessionId = "sess";
    /// The ID of a browser session.
    BrowserSessionId = "bses";
    /// The ID of a domain.
    DomainId = "dom";
    /// The ID of a user of a hosted domain.
    UserId = "usr";
    /// The ID of a credential of a user.
    CredentialId = "cred";
    /// The ID of an event, equal for all attempts.
    EventId = "evt";
}
