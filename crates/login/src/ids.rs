//! The ids of this service.

signpost_store::ids! {
    /// Names a session.
    SessionId = "sess";
    /// Names a browser session.
    BrowserSessionId = "bses";
    /// Names a domain.
    DomainId = "dom";
    /// Names a user of a hosted domain.
    UserId = "usr";
    /// Names a credential of such a user.
    CredentialId = "cred";
    /// Names an event, the same on every attempt to deliver it.
    EventId = "evt";
}
