//! What a wallet must sign for a session, and what its code says of that: which rendering is accepted follows from who takes
//! the answer and whether the page shows a number.

use signpost_auth::{Answer, InvalidQrData, QrData, Signing, Through};
use subtle::ConstantTimeEq;

use super::{AnswerRefusal, Session};

impl Session {
    /// What the QR code says.
    ///
    /// # Errors
    /// Where the webhook's URL is too long for a code that a phone can read.
    pub fn qr_data(&self) -> Result<QrData, InvalidQrData> {
        let signing = self.through().map_or(Signing::Sentence, |_| Signing::Through { number: true });
        let expires_at = self.expires_at.as_second();
        QrData::signed_as(signing, self.answer_url().clone(), self.challenge.clone(), expires_at)
    }

    /// The one text that an answer signs, where the service itself takes it and the page shows a number: whoever relays
    /// such a code has to send the wallet to a host that the text does not name. All other sessions take the two
    /// renderings of the specification, which wallets that know nothing else sign.
    #[must_use]
    pub fn through(&self) -> Option<Through> {
        let (webhook, number) = (self.hosted_url.as_ref()?, self.confirm_code.as_ref()?);
        Some(Through::new(self.challenge.clone(), webhook, Some(number.reveal())))
    }

    /// Whether an answer carries the number that the page shows, where it shows one.
    #[must_use]
    pub fn is_confirmed_by(&self, answer: &Answer) -> bool {
        match (self.through(), &self.confirm_code) {
            (Some(expected), _) => expected.to_string().as_bytes().ct_eq(answer.challenge.as_bytes()).into(),
            (None, Some(code)) => code.is_carried_by(answer),
            (None, None) => true,
        }
    }

    /// Whether an answer is the one that a wallet signs for us without any number, where the page shows one.
    #[must_use]
    pub fn is_without_number(&self, answer: &Answer) -> bool {
        let Some(webhook) = self.hosted_url.as_ref().filter(|_| self.confirm_code.is_some()) else { return false };
        answer.challenge == Through::new(self.challenge.clone(), webhook, None).to_string()
    }

    /// Whether the text that was signed names our host too, where it has to. What it names is compared with what we would
    /// write, byte for byte: what merely means the same was not ours to sign.
    pub(crate) fn is_named_by(&self, text: &str) -> Result<bool, AnswerRefusal> {
        let Some(expected) = self.through() else {
            let is_ours = text == self.challenge.to_string() || text == self.challenge.sentence();
            return if is_ours { Ok(true) } else { Err(AnswerRefusal::UnknownChallenge) };
        };
        let said = Through::parse(text).ok().filter(|said| said.challenge() == &self.challenge);
        Ok(said.ok_or(AnswerRefusal::UnknownChallenge)?.authority() == expected.authority())
    }
}
