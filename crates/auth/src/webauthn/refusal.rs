use super::key::MalformedPasskeyKey;

/// Reason why the answer of an authenticator is rejected: the first failed check of Web Authentication, sections 7.1
/// and 7.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasskeyRefusal {
    /// The answer is malformed.
    #[error("not an authenticator's answer: {0}")]
    Malformed(&'static str),
    /// The answer is of the other ceremony: a registration instead of a login, or the reverse.
    #[error("the client data is of another type: webauthn.create registers, webauthn.get logs in")]
    Type,
    /// The answer is for another challenge.
    #[error("the client data names another challenge")]
    Challenge,
    /// The request came from a page of another origin.
    #[error("the client data names another origin")]
    Origin,
    /// The request came from a page in a frame of another site.
    #[error("a frame of another site asked, or may have: crossOrigin must be false, topOrigin absent")]
    CrossOrigin,
    /// The answer is for another relying party.
    #[error("the authenticator answered for another relying party")]
    RelyingParty,
    /// The user was not present.
    #[error("the authenticator did not detect a user")]
    UserPresence,
    /// The user was present but not verified by fingerprint, face or PIN.
    #[error("the authenticator has not verified the user")]
    UserVerification,
    /// The flags are backed up, but not backup eligible.
    #[error("the flags say backed up, but not that it may be")]
    Backup,
    /// The algorithm of the key was not offered.
    #[error("the key's algorithm was not offered: it is ES256 or RS256")]
    Algorithm,
    /// The key is not valid.
    #[error("{0}")]
    Key(#[from] MalformedPasskeyKey),
    /// Authenticator data and client name different credentials.
    #[error("client and authenticator name different credentials")]
    CredentialId,
    /// The attestation has the format `none` and a statement.
    #[error("an attestation of format none has a statement")]
    Attestation,
    /// The signature is not valid for the key and these bytes.
    #[error("the signature is not that of the passkey's key")]
    Signature,
}

impl PasskeyRefusal {
    /// Returns a word, for logs and tests.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::Type => "type",
            Self::Challenge => "challenge",
            Self::Origin => "origin",
            Self::CrossOrigin => "cross_origin",
            Self::RelyingParty => "relying_party",
            Self::UserPresence => "user_presence",
            Self::UserVerification => "user_verification",
            Self::Backup => "backup",
            Self::Algorithm => "algorithm",
            Self::Key(_) => "key",
            Self::CredentialId => "credential_id",
            Self::Attestation => "attestation",
            Self::Signature => "signature",
        }
    }
}
