//! Verifies answers of passkeys. The challenge that an authenticator signs is the SHA-256 of the
//! challenge text, as for Lightning wallets.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use jiff::Timestamp;
use signpost_auth::{Challenge, K1, PasskeyAssertion, PasskeyKey, PasskeyRefusal, PasskeyRegistration, RelyingParty};

use super::verified_key::{KeyProof, PasskeyProof, VerifiedKey};
use super::{AnswerRefusal, PasskeyOffer, Session};
use crate::domains::LoginMethod;
use crate::users::AuthenticatorUser;

/// The reason why a passkey was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasskeyAnswerRefusal {
    /// The session accepts no passkey.
    #[error("the session takes no passkey: {0:?}")]
    Session(AnswerRefusal),
    /// The proof is not valid.
    #[error(transparent)]
    Proof(#[from] PasskeyRefusal),
    /// The authenticator names no user, or not the passkey's user (Web Authentication, section 7.2, step 6).
    #[error("the authenticator must name the user of the passkey, and names none or another")]
    UserHandle,
    /// No user has the passkey.
    #[error("no user has this passkey")]
    Unknown,
    /// A user of another domain has the passkey.
    #[error("a user of another domain has this passkey")]
    OtherSite,
    /// A new passkey has the credential ID of another passkey.
    #[error("a passkey with this credential ID is in use")]
    Taken,
}

/// Names of all reasons. Each has its own limit for log lines.
pub const PASSKEY_REFUSALS: [&str; 19] = [
    "session",
    "malformed",
    "type",
    "challenge",
    "origin",
    "cross_origin",
    "relying_party",
    "user_presence",
    "user_verification",
    "backup",
    "algorithm",
    "key",
    "credential_id",
    "attestation",
    "signature",
    "user_handle",
    "unknown",
    "other_site",
    "taken",
];

impl PasskeyAnswerRefusal {
    /// Returns the name of the reason, as listed in [`PASSKEY_REFUSALS`].
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::Proof(refusal) => refusal.as_str(),
            Self::UserHandle => "user_handle",
            Self::Unknown => "unknown",
            Self::OtherSite => "other_site",
            Self::Taken => "taken",
        }
    }

    /// Returns the position of the reason in [`PASSKEY_REFUSALS`].
    #[must_use]
    pub fn kind(self) -> usize {
        PASSKEY_REFUSALS.iter().position(|reason| *reason == self.as_str()).unwrap_or(PASSKEY_REFUSALS.len())
    }
}

impl Session {
    /// Checks a login by the passkey with this key, against the current or the previous code of the page: the user may
    /// need longer than the lifetime of a code.
    ///
    /// # Errors
    /// Returns [`PasskeyAnswerRefusal::Session`] if the session accepts no answer, or the first
    /// check that fails.
    pub fn verify_passkey(
        &self,
        assertion: &PasskeyAssertion,
        key: &PasskeyKey,
        rp: &RelyingParty,
        now: Timestamp,
    ) -> Result<VerifiedKey, PasskeyAnswerRefusal> {
        self.check_open(now).map_err(PasskeyAnswerRefusal::Session)?;
        let (signed, proof) = self.check_codes(|challenge| assertion.verify(rp, challenge, key))?;
        let passkey = PasskeyProof {
            id: assertion.id().clone(),
            handle: assertion.user_handle().copied(),
            petname: None,
            sign_count: proof.sign_count,
            authenticator_data: BASE64URL_NOPAD.encode(&proof.authenticator_data),
            client_data_json: BASE64URL_NOPAD.encode(&proof.client_data_json),
        };
        let signature = HEXLOWER.encode(&proof.signature);
        Ok(self.prove(signed, key, signature, passkey, now))
    }

    /// Checks a passkey that was created for this user: to create an account, to add a key to an account, or after an
    /// offer. It has not signed anything.
    ///
    /// # Errors
    /// Returns [`PasskeyAnswerRefusal::Session`] if the session accepts no answer, or the first
    /// check that fails.
    pub fn verify_new_passkey(
        &self,
        registration: &PasskeyRegistration,
        user: AuthenticatorUser,
        rp: &RelyingParty,
        now: Timestamp,
    ) -> Result<VerifiedKey, PasskeyAnswerRefusal> {
        let checked = match self.offer() {
            PasskeyOffer::Open => self.check_pending(now),
            _ => self.check_open(now),
        };
        checked.map_err(PasskeyAnswerRefusal::Session)?;
        let (signed, new) = self.check_codes(|challenge| registration.verify(rp, challenge))?;
        let passkey = PasskeyProof {
            id: new.id,
            handle: Some(user.handle),
            petname: user.username,
            sign_count: new.sign_count,
            authenticator_data: BASE64URL_NOPAD.encode(&new.authenticator_data),
            client_data_json: BASE64URL_NOPAD.encode(&new.client_data_json),
        };
        Ok(self.prove(signed, &new.key, String::new(), passkey, now))
    }

    /// Checks an answer against the current code, and then against the previous code, if that had the current mode.
    /// Returns the answered challenge.
    fn check_codes<T>(
        &self,
        check: impl Fn(&[u8; 32]) -> Result<T, PasskeyRefusal>,
    ) -> Result<(&Challenge, T), PasskeyRefusal> {
        let checked = check(K1::of(&self.challenge).as_bytes());
        if let Err(PasskeyRefusal::Challenge) = checked
            && let Some(replaced) = self.replaced()
            && replaced.mode == self.challenge.mode
        {
            return Ok((replaced, check(K1::of(replaced).as_bytes())?));
        }
        Ok((&self.challenge, checked?))
    }

    fn prove(
        &self,
        signed: &Challenge,
        key: &PasskeyKey,
        signature: String,
        passkey: PasskeyProof,
        now: Timestamp,
    ) -> VerifiedKey {
        let proof = KeyProof {
            public_key: key.canonical(),
            signature,
            signed_message: signed.to_string(),
            signed_at: now.as_second(),
            device_info: None,
            method: LoginMethod::Passkey,
            passkey: Some(Box::new(passkey)),
        };
        VerifiedKey::new(self, proof)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_its_log_reason() {
        let proofs = [
            PasskeyRefusal::Malformed("x"),
            PasskeyRefusal::Type,
            PasskeyRefusal::Challenge,
            PasskeyRefusal::Origin,
            PasskeyRefusal::CrossOrigin,
            PasskeyRefusal::RelyingParty,
            PasskeyRefusal::UserPresence,
            PasskeyRefusal::UserVerification,
            PasskeyRefusal::Backup,
            PasskeyRefusal::Algorithm,
            PasskeyKey::parse_hex("x").unwrap_err().into(),
            PasskeyRefusal::CredentialId,
            PasskeyRefusal::Attestation,
            PasskeyRefusal::Signature,
        ];
        let others = [
            PasskeyAnswerRefusal::UserHandle,
            PasskeyAnswerRefusal::Unknown,
            PasskeyAnswerRefusal::OtherSite,
            PasskeyAnswerRefusal::Taken,
        ];
        let session = PasskeyAnswerRefusal::Session(AnswerRefusal::Expired);
        let proofs = proofs.into_iter().map(PasskeyAnswerRefusal::from);
        let kinds: Vec<_> = [session].into_iter().chain(proofs).chain(others).map(PasskeyAnswerRefusal::kind).collect();
        assert_eq!(kinds, (0..PASSKEY_REFUSALS.len()).collect::<Vec<_>>());
    }
}
