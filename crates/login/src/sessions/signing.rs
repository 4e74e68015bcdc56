//! Builds the QR code of a session, and compares signed texts with the renderings that the session
//! accepts. These depend on the handler and on the number on the page.

use signpost_auth::{Answer, HostBoundChallenge, InvalidQrData, QrData, Signing};
use subtle::ConstantTimeEq;

use super::{AnswerRefusal, Session};

/// The host in a signed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignedHost {
    /// The host of the session's code, or no host in renderings that contain none.
    Expected,
    /// A different host than the host of the session's code.
    Other,
}

impl Session {
    /// Returns the content of the QR code.
    ///
    /// # Errors
    /// Returns an error if the webhook URL is too long for a code that a phone can read.
    pub fn qr_data(&self) -> Result<QrData, InvalidQrData> {
        let signing =
            if self.host_bound_challenge().is_some() { Signing::HostBound { number: true } } else { Signing::Sentence };
        let expires_at = self.expires_at.as_second();
        QrData::with_signing(signing, self.answer_url().clone(), self.challenge.clone(), expires_at)
    }

    /// Returns the only accepted text of sessions with a hosted handler and a number. It names the host of the handler,
    /// so that a relayed code with another host is detected. All other sessions accept the two renderings of the
    /// specification.
    #[must_use]
    pub fn host_bound_challenge(&self) -> Option<HostBoundChallenge> {
        let webhook = self.hosted_url.as_ref()?;
        let number = self.confirm_code.as_ref()?;
        Some(HostBoundChallenge::new(self.challenge.clone(), webhook, Some(number.reveal())))
    }

    /// Returns true if an answer has the number of the page, or the page shows none.
    #[must_use]
    pub fn is_confirmed_by(&self, answer: &Answer) -> bool {
        match (self.host_bound_challenge(), &self.confirm_code) {
            (Some(expected), _) => expected.to_string().as_bytes().ct_eq(answer.challenge.as_bytes()).into(),
            (None, Some(code)) => code.is_in_answer(answer),
            (None, None) => true,
        }
    }

    /// Returns true if an answer signed the host-bound text without the number on the page.
    #[must_use]
    pub fn is_without_number(&self, answer: &Answer) -> bool {
        let Some(webhook) = &self.hosted_url else { return false };
        self.confirm_code.is_some()
            && answer.challenge == HostBoundChallenge::new(self.challenge.clone(), webhook, None).to_string()
    }

    /// Compares a signed text with the renderings that the session accepts, byte for byte.
    ///
    /// # Errors
    /// Returns [`AnswerRefusal::UnknownChallenge`] if the text is for another challenge.
    pub(super) fn match_text(&self, text: &str) -> Result<SignedHost, AnswerRefusal> {
        let Some(expected) = self.host_bound_challenge() else {
            let is_challenge = text == self.challenge.to_string() || text == self.challenge.sentence();
            return if is_challenge { Ok(SignedHost::Expected) } else { Err(AnswerRefusal::UnknownChallenge) };
        };
        match HostBoundChallenge::parse(text) {
            Ok(signed) if *signed.challenge() != self.challenge => Err(AnswerRefusal::UnknownChallenge),
            Ok(signed) if signed.authority() == expected.authority() => Ok(SignedHost::Expected),
            Ok(_) => Ok(SignedHost::Other),
            Err(_) => Err(AnswerRefusal::UnknownChallenge),
        }
    }
}
