//! Verification of answers. [`Session::verify`] and its variants for other login methods check that the owner of a key
//! answered this session, and return a [`VerifiedKey`]; [`Session::accept`] decides about it, independent of the
//! method.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use signpost_auth::{
    Answer, AuthCallback, Challenge, DeviceInfo, K1, PasskeyHandle, PasskeyId, PublicKey, VerificationError,
    VerifiedAnswer, is_fresh,
};
use signpost_platform::accounts::Environment;

use super::signing::SignedHost;
use super::{AnswerRefusal, Session, SessionState};
use crate::domains::LoginMethod;
use crate::ids::SessionId;
use crate::users::Username;

/// A key that answered the challenge of a session. Only the checks of this module create it, and [`Session::accept`]
/// compares it with the session.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifiedKey {
    environment: Environment,
    session_id: SessionId,
    challenge: Challenge,
    proof: KeyProof,
}

/// The proof that a key answered a challenge, as events contain it. It is stored with the field names of an answer
/// (specification, §4).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of an event's data, §6")]
pub struct KeyProof {
    pub public_key: String,
    pub signature: String,
    #[serde(rename = "challenge")]
    pub signed_message: String,
    #[serde(rename = "timestamp")]
    pub signed_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_info: Option<DeviceInfo>,
    /// The login method. The default is not stored.
    #[serde(default, skip_serializing_if = "is_default")]
    pub method: LoginMethod,
    /// The proof of a passkey.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passkey: Option<Box<PasskeyProof>>,
}

/// The proof of a passkey, without its signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of Web Authentication")]
pub struct PasskeyProof {
    pub id: PasskeyId,
    /// The user handle from the authenticator, or of the new passkey.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<PasskeyHandle>,
    /// The name that the authenticator shows, for passkeys of new users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub petname: Option<Username>,
    pub sign_count: u32,
    /// The authenticator data, in base64url without padding.
    pub authenticator_data: String,
    /// The client data, in base64url without padding.
    pub client_data_json: String,
}

impl VerifiedKey {
    /// Creates the key from proof that the caller has checked.
    pub(super) fn new(session: &Session, proof: KeyProof) -> Self {
        Self {
            environment: session.account.environment,
            session_id: session.id.clone(),
            challenge: session.challenge.clone(),
            proof,
        }
    }

    /// Returns the proof.
    #[must_use]
    pub fn proof(&self) -> &KeyProof {
        &self.proof
    }

    /// Sets the login method, which a wallet's answer does not contain.
    #[must_use]
    pub fn by(mut self, method: LoginMethod) -> Self {
        self.proof.method = method;
        self
    }

    /// Returns the proof if the key answered this session and its current challenge.
    pub(super) fn into_proof(self, session: &Session) -> Option<KeyProof> {
        let answers_session = self.environment == session.account.environment
            && self.session_id == session.id
            && self.challenge == session.challenge;
        answers_session.then_some(self.proof)
    }
}

impl Session {
    /// Verifies the time, the challenge and the signature of an answer. [`Session::is_confirmed_by`] checks the
    /// confirmation number, after an attempt has been recorded.
    ///
    /// # Errors
    /// Returns the error of the first check that fails.
    pub fn verify(&self, answer: &Answer, now: Timestamp) -> Result<VerifiedKey, AnswerRefusal> {
        if !is_fresh(answer.timestamp, now.as_second()) {
            return Err(AnswerRefusal::Stale);
        }
        let host = self.match_text(&answer.challenge)?;
        self.check_open(now)?;
        answer.verify().map_err(AnswerRefusal::Signature)?;
        if host == SignedHost::Other {
            return Err(AnswerRefusal::Host);
        }
        Ok(VerifiedKey::new(self, KeyProof::from_answer(answer)))
    }

    /// Checks that the session is open and that a verified answer signed its text. Neither time nor signature is
    /// checked again.
    ///
    /// # Errors
    /// Returns the error of the first check that fails.
    pub fn match_answer(&self, verified: &VerifiedAnswer, now: Timestamp) -> Result<VerifiedKey, AnswerRefusal> {
        let host = self.match_text(&verified.answer().challenge)?;
        self.check_open(now)?;
        if host == SignedHost::Other {
            return Err(AnswerRefusal::Host);
        }
        Ok(VerifiedKey::new(self, KeyProof::from_answer(verified.answer())))
    }
}

impl KeyProof {
    fn from_answer(answer: &Answer) -> Self {
        Self {
            public_key: answer.public_key.clone(),
            signature: answer.signature.clone(),
            signed_message: answer.challenge.clone(),
            signed_at: answer.timestamp,
            device_info: answer.device_info.clone(),
            method: LoginMethod::Scan,
            passkey: None,
        }
    }
}

impl Session {
    /// Verifies the answer of a Lightning wallet, which signs the SHA-256 of the challenge text.
    ///
    /// # Errors
    /// Returns an error if the session accepts no answer, [`AnswerRefusal::UnknownChallenge`] for
    /// the answer to another code, and [`AnswerRefusal::Signature`] if the signature does not
    /// verify.
    pub fn verify_lightning(&self, callback: &AuthCallback, now: Timestamp) -> Result<VerifiedKey, AnswerRefusal> {
        self.check_open(now)?;
        if callback.k1().is_some_and(|k1| k1 != K1::of(&self.challenge)) {
            return Err(AnswerRefusal::UnknownChallenge);
        }
        if !callback.signs(&self.challenge) {
            return Err(AnswerRefusal::Signature(VerificationError::Mismatch));
        }
        let proof = KeyProof {
            public_key: callback.key().as_given().to_owned(),
            signature: callback.signature_hex().to_owned(),
            signed_message: self.challenge.to_string(),
            signed_at: now.as_second(),
            device_info: None,
            method: LoginMethod::Lightning,
            passkey: None,
        };
        Ok(VerifiedKey::new(self, proof))
    }

    /// Returns true if the pending session has this answer of a Lightning wallet already.
    #[must_use]
    pub fn is_answered_by(&self, callback: &AuthCallback, now: Timestamp) -> bool {
        let SessionState::AnsweredOnPage { proof } = &self.state else { return false };
        let is_key = PublicKey::parse(&proof.public_key).is_ok_and(|key| key.canonical() == callback.key().canonical());
        proof.method == LoginMethod::Lightning
            && is_key
            && self.check_pending(now).is_ok()
            && callback.k1().is_none_or(|k1| k1 == K1::of(&self.challenge))
            && callback.signs(&self.challenge)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn is_default(method: &LoginMethod) -> bool {
    *method == LoginMethod::default()
}

impl fmt::Debug for KeyProof {
    /// Leaves out the signed text, which may contain the confirmation number, and the device info.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyProof").field("public_key", &self.public_key).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_proof_parses_as_an_answer() {
        let stored = r#"{"public_key":"02","signature":"30","challenge":"Sign","timestamp":5,"device_info":{"platform":"ios"},"confirm_code":"42"}"#;
        let proof: KeyProof = serde_json::from_str(stored).unwrap();
        let written = serde_json::to_string(&proof).unwrap();
        assert_eq!(written, stored.replace(r#","confirm_code":"42""#, ""));
        let answer = Answer::parse(written.as_bytes()).unwrap();
        assert_eq!((answer.challenge, answer.timestamp), (proof.signed_message, proof.signed_at));
    }

    #[test]
    fn debug_output_hides_device_and_number() {
        let stored = r#"{"public_key":"02","signature":"30","challenge":"Sign this with 42","timestamp":5,"device_info":{"device_id":"DEVICE-7"}}"#;
        let debug = format!("{:?}", serde_json::from_str::<KeyProof>(stored).unwrap());
        assert!(debug.contains("02") && !debug.contains("42") && !debug.contains("DEVICE-7"), "{debug}");
    }
}
