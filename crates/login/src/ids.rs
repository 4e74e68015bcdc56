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
    /// The ID of a sign-in in a browser or at an application. It is public, unlike the claim `sid` and the cookie, and
    /// neither of them can be computed from it.
    SignInId = "sgn";
}

impl SignInId {
    /// Returns the ID of the sign-in that this login session started in a browser.
    #[must_use]
    pub fn in_browser(session: &SessionId) -> Self {
        Self::from_suffix(session.as_str())
    }

    /// Returns the ID of a sign-in at an application, from the ID of its grant.
    #[must_use]
    pub fn from_grant(grant: &str) -> Self {
        Self::from_suffix(grant)
    }

    /// Returns the ID of the login session that started the sign-in in a browser, if it is one.
    #[must_use]
    pub fn session_id(&self) -> SessionId {
        SessionId(format!("sess_{}", self.suffix()))
    }

    /// Returns the part after the prefix.
    #[must_use]
    pub fn suffix(&self) -> &str {
        self.0.split_once('_').map_or("", |(_, suffix)| suffix)
    }

    fn from_suffix(id: &str) -> Self {
        Self(format!("sgn_{}", id.split_once('_').map_or("", |(_, suffix)| suffix)))
    }
}
