use super::key::MalformedPasskeyKey;

/// Why an authenticator's answer is not accepted. The checks are those of Web Authentication, sections 7.1 and 7.2; the
/// first that fails is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasskeyRefusal {
    /// It cannot be read.
    #[error("not an authenticator's answer: {0}")]
    Malformed(&'static str),
    /// The client answered the other question: a registration for a login, or the other way round.
    #[error("the client data is of another type: webauthn.create registers, webauthn.get logs in")]
    Type,
    /// It answers another challenge.
    #[error("the client data names another challenge")]
    Challenge,
    /// A page of another origin asked.
    #[error("the client data names another origin")]
    Origin,
    /// A page in a frame of another site asked.
    #[error("a frame of another site asked, or may have: crossOrigin must be false, topOrigin absent")]
    CrossOrigin,
    /// The authenticator answered for another relying party.
    #[error("the authenticator answered for another relying party")]
    RelyingParty,
    /// Nobody was there.
    #[error("the authenticator has not found anybody present")]
    UserPresence,
    /// Somebody was there, but neither fingerprint, face nor PIN was asked for.
    #[error("the authenticator has not verified the user")]
    UserVerification,
    /// It is backed up though it cannot be.
    #[error("the flags say backed up, but not that it may be")]
    Backup,
    /// The key signs in a way that was not offered.
    #[error("the key's algorithm was not offered: it is ES256 or RS256")]
    Algorithm,
    /// The key cannot be used.
    #[error("{0}")]
    Key(#[from] MalformedPasskeyKey),
    /// The authenticator names another credential than the client.
    #[error("client and authenticator name different credentials")]
    CredentialId,
    /// An attestation that says nothing, and has a statement.
    #[error("an attestation of format none has a statement")]
    Attestation,
    /// Another key signed, or other bytes.
    #[error("the signature is not that of the passkey's key")]
    Signature,
}

impl PasskeyRefusal {
    /// One word, for logs and tests.
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
