//! Verifying apart from logging in. [`Session::verify`] decides whether a wallet's answer shows that its key's owner
//! answers this session; [`Session::accept`] decides what follows from that, and asks nothing about how it was shown.
//! A Lightning wallet (which signs the SHA-256 of the same challenge) or a passkey is then another way to a
//! [`ProvenKey`], and no other login.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use signpost_auth::{
    Answer, AuthCallback, Challenge, DeviceInfo, K1, NotVerified, PasskeyHandle, PasskeyId, PublicKey, VerifiedAnswer,
    is_fresh,
};
use signpost_platform::accounts::Environment;

use super::{AnswerRefusal, Session, SessionState};
use crate::domains::LoginMethod;
use crate::ids::SessionId;
use crate::users::Petname;

/// A key whose owner answered the challenge of a session. Only a check creates one, and [`Session::accept`] compares all of it
/// with the session.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvenKey {
    environment: Environment,
    session_id: SessionId,
    challenge: Challenge,
    evidence: KeyEvidence,
}

/// What shows that a key answered a challenge, as events repeat it. The database has it under the names of the wallet's
/// answer (specification, §4).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of an event's data, §6")]
pub struct KeyEvidence {
    pub public_key: String,
    pub signature: String,
    #[serde(rename = "challenge")]
    pub signed_message: String,
    #[serde(rename = "timestamp")]
    pub signed_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_info: Option<DeviceInfo>,
    /// How the key was proven: by a wallet that scanned the code, where nothing else is said.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub method: LoginMethod,
    /// What a passkey proved it with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passkey: Option<Box<PasskeyEvidence>>,
}

/// What a passkey proved its key with, beside its signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of Web Authentication")]
pub struct PasskeyEvidence {
    pub id: PasskeyId,
    /// How its authenticator knows the user, where it says so, or was told when it made the passkey.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<PasskeyHandle>,
    /// The name that stands beside it, of somebody who was no user when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub petname: Option<Petname>,
    pub sign_count: u32,
    /// In base64url without padding, as the next.
    pub authenticator_data: String,
    pub client_data_json: String,
}

impl ProvenKey {
    /// The caller has checked the evidence.
    pub(super) fn new(session: &Session, evidence: KeyEvidence) -> Self {
        Self {
            environment: session.account.environment,
            session_id: session.id.clone(),
            challenge: session.challenge.clone(),
            evidence,
        }
    }

    /// What shows it.
    #[must_use]
    pub fn evidence(&self) -> &KeyEvidence {
        &self.evidence
    }

    /// The same of a wallet that answered in this way: the answer itself does not tell.
    #[must_use]
    pub fn by(mut self, method: LoginMethod) -> Self {
        self.evidence.method = method;
        self
    }

    /// Returns the evidence if the key answered this session and its current challenge.
    pub(super) fn into_evidence(self, session: &Session) -> Option<KeyEvidence> {
        let answers_session = self.environment == session.account.environment
            && self.session_id == session.id
            && self.challenge == session.challenge;
        answers_session.then_some(self.evidence)
    }
}

impl Session {
    /// Verifies an answer from a wallet, its time and its signature included. The confirmation number is not checked:
    /// [`Session::is_confirmed_by`] does that when an attempt has been recorded.
    ///
    /// # Errors
    /// The first rule that the answer breaks.
    pub fn verify(&self, answer: &Answer, now: Timestamp) -> Result<ProvenKey, AnswerRefusal> {
        if !is_fresh(answer.timestamp, now.as_second()) {
            return Err(AnswerRefusal::Stale);
        }
        let is_for_us = self.is_named_by(&answer.challenge)?;
        self.check_open(now)?;
        answer.verify().map_err(AnswerRefusal::Signature)?;
        if !is_for_us {
            return Err(AnswerRefusal::Host);
        }
        Ok(ProvenKey::new(self, KeyEvidence::of_answer(answer)))
    }

    /// Checks that a verified answer signed the text of this session, which is open. Neither time nor signature is checked
    /// again.
    ///
    /// # Errors
    /// The first rule that the answer breaks.
    pub fn match_answer(&self, verified: &VerifiedAnswer, now: Timestamp) -> Result<ProvenKey, AnswerRefusal> {
        let is_for_us = self.is_named_by(&verified.answer().challenge)?;
        self.check_open(now)?;
        if !is_for_us {
            return Err(AnswerRefusal::Host);
        }
        Ok(ProvenKey::new(self, KeyEvidence::of_answer(verified.answer())))
    }
}

impl KeyEvidence {
    fn of_answer(answer: &Answer) -> Self {
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
    /// Checks what a Lightning wallet sent: its signature is one over the challenge's text, as any other wallet's.
    ///
    /// # Errors
    /// Where the session takes no answer any more, the wallet means another code, or the signature is not its key's.
    pub fn verify_lightning(&self, callback: &AuthCallback, now: Timestamp) -> Result<ProvenKey, AnswerRefusal> {
        self.check_open(now)?;
        if callback.k1().is_some_and(|k1| k1 != K1::of(&self.challenge)) {
            return Err(AnswerRefusal::UnknownChallenge);
        }
        if !callback.signs(&self.challenge) {
            return Err(AnswerRefusal::Signature(NotVerified::Mismatch));
        }
        let evidence = KeyEvidence {
            public_key: callback.key().as_given().to_owned(),
            signature: callback.signature_hex().to_owned(),
            signed_message: self.challenge.to_string(),
            signed_at: now.as_second(),
            device_info: None,
            method: LoginMethod::Lightning,
            passkey: None,
        };
        Ok(ProvenKey::new(self, evidence))
    }

    /// Whether this is the answer once more that the session has, of a Lightning wallet, and waits with for its browser.
    #[must_use]
    pub fn is_answered_by(&self, callback: &AuthCallback, now: Timestamp) -> bool {
        let SessionState::AnsweredOnPage { evidence } = &self.state else { return false };
        let is_key =
            PublicKey::parse(&evidence.public_key).is_ok_and(|key| key.canonical() == callback.key().canonical());
        evidence.method == LoginMethod::Lightning
            && is_key
            && self.check_pending(now).is_ok()
            && callback.k1().is_none_or(|k1| k1 == K1::of(&self.challenge))
            && callback.signs(&self.challenge)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn is_usual(method: &LoginMethod) -> bool {
    *method == LoginMethod::default()
}

impl fmt::Debug for KeyEvidence {
    /// The text that was signed may hold the number that confirms a login, and the device is nobody's business.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyEvidence").field("public_key", &self.public_key).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_kept_as_the_answer_that_older_servers_read() {
        let stored = r#"{"public_key":"02","signature":"30","challenge":"Sign","timestamp":5,"device_info":{"platform":"ios"},"confirm_code":"42"}"#;
        let evidence: KeyEvidence = serde_json::from_str(stored).unwrap();
        let written = serde_json::to_string(&evidence).unwrap();
        assert_eq!(written, stored.replace(r#","confirm_code":"42""#, ""));
        let answer = Answer::parse(written.as_bytes()).unwrap();
        assert_eq!((answer.challenge, answer.timestamp), (evidence.signed_message, evidence.signed_at));
    }

    #[test]
    fn a_debug_text_tells_neither_the_device_nor_the_number() {
        let stored = r#"{"public_key":"02","signature":"30","challenge":"Sign this with 42","timestamp":5,"device_info":{"device_id":"DEVICE-7"}}"#;
        let debug = format!("{:?}", serde_json::from_str::<KeyEvidence>(stored).unwrap());
        assert!(debug.contains("02") && !debug.contains("42") && !debug.contains("DEVICE-7"), "{debug}");
    }
}
