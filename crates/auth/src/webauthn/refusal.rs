//! The reasons why responses of authenticators are rejected.

use super::key::MalformedPasskeyKey;

/// Reason the response of an authenticator is rejected: the first check of Web Authentication,
/// sections 7.1 and 7.2, that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasskeyRefusal {
    /// The response is malformed.
    #[error("not an authenticator's answer: {0}")]
    Malformed(&'static str),
    /// The response belongs to the other ceremony: a registration instead of a login, or the
    /// reverse.
    #[error("the client data is of another type: webauthn.create registers, webauthn.get logs in")]
    Type,
    /// The response is for another challenge.
    #[error("the client data names another challenge")]
    Challenge,
    /// A page of another origin sent the request.
    #[error("the client data names another origin")]
    Origin,
    /// A page that is embedded in another site sent the request.
    #[error("a frame of another site asked, or may have: crossOrigin must be false, topOrigin absent")]
    CrossOrigin,
    /// The response is for another relying party.
    #[error("the authenticator answered for another relying party")]
    RelyingParty,
    /// The user was not present.
    #[error("the authenticator did not detect a user")]
    UserPresence,
    /// The user was present but not verified, for example by fingerprint, face or PIN.
    #[error("the authenticator has not verified the user")]
    UserVerification,
    /// The flags claim that the passkey is backed up but not eligible for backup.
    #[error("the flags say backed up, but not that it may be")]
    Backup,
    /// The key uses an algorithm that was not offered.
    #[error("the key's algorithm was not offered: it is ES256 or RS256")]
    Algorithm,
    /// The public key is not valid.
    #[error("{0}")]
    Key(#[from] MalformedPasskeyKey),
    /// The authenticator data and the client report different credential IDs.
    #[error("client and authenticator name different credentials")]
    CredentialId,
    /// The attestation has the format `none`, but a statement.
    #[error("an attestation of format none has a statement")]
    Attestation,
    /// The signature is not valid for the key and the signed bytes.
    #[error("the signature is not that of the passkey's key")]
    Signature,
}

impl PasskeyRefusal {
    /// Returns a short name for logs and tests.
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
