//! Accepts answers. An accepted answer authenticates the session immediately, or when the
//! completion code is returned in the right browser.

use jiff::Timestamp;

use super::{
    AnswerRefusal, CompletionCode, CompletionHash, Flow, Login, MIN_COMPLETION_WINDOW, Session, SessionPage,
    SessionState, VerifiedKey,
};

/// The result of accepting an answer.
#[derive(Clone, Debug)]
pub enum Accepted {
    /// The session is authenticated immediately.
    Login(Box<Login>),
    /// The session of the same-device flow is answered, and this code completes the login.
    Answered(Box<Session>, CompletionCode),
    /// The session of the page flow is answered. The completion code of the browser that owns the
    /// page completes the login.
    AnsweredOnPage(Box<Session>),
}

impl Session {
    /// Accepts a key that was proven to answer this session.
    ///
    /// # Errors
    /// Returns [`AnswerRefusal::UnknownChallenge`] if the key answered another session, environment
    /// or challenge, and an error if the session has expired or was answered already.
    pub fn accept(self, key: VerifiedKey, now: Timestamp, random: [u8; 16]) -> Result<Accepted, AnswerRefusal> {
        let proof = key.into_proof(&self).ok_or(AnswerRefusal::UnknownChallenge)?;
        self.check_open(now)?;
        Ok(match self.options.flow {
            Flow::CrossDevice => Accepted::Login(Box::new(self.log_in(&proof, now, random))),
            Flow::SameDevice => {
                let code = CompletionCode::new(random);
                let state = SessionState::Answered { proof: Box::new(proof), code: code.hash() };
                let expires_at = self.expires_at.max(now + MIN_COMPLETION_WINDOW);
                Accepted::Answered(Box::new(Self { expires_at, state, ..self }), code)
            }
            Flow::Page => {
                let state = SessionState::AnsweredOnPage { proof: Box::new(proof) };
                let expires_at = self.limit_expiry(self.expires_at.max(now + MIN_COMPLETION_WINDOW));
                let page = self.page.map(|page| Box::new(SessionPage { notice: None, ..*page }));
                Accepted::AnsweredOnPage(Box::new(Self { expires_at, page, state, ..self }))
            }
        })
    }

    /// Completes a login of the same-device or the page flow. `secret` is the secret of the site's browser, checked if
    /// the session was created with its hash.
    ///
    /// # Errors
    /// Returns [`AnswerRefusal::CompletionCode`] if there is no confirmed answer or the code is
    /// wrong, [`AnswerRefusal::Browser`] if the secret is wrong, and an error if the session has
    /// expired, was cancelled or is authenticated.
    pub fn complete(
        self,
        code: &str,
        secret: Option<&str>,
        now: Timestamp,
        random: [u8; 16],
    ) -> Result<Login, AnswerRefusal> {
        self.check_pending(now)?;
        let (proof, expected) = match &self.state {
            SessionState::Answered { proof, code } => (proof, Some(code)),
            SessionState::AnsweredOnPage { proof } => (proof, self.page_owner().map(|owner| &owner.code)),
            _ => return Err(AnswerRefusal::CompletionCode),
        };
        if self.waits_for_confirmation() {
            return Err(AnswerRefusal::CompletionCode);
        }
        if !expected.is_some_and(|expected| expected.matches(&CompletionHash::from_code(code))) {
            return Err(AnswerRefusal::CompletionCode);
        }
        if self.options.browser_hash.as_ref().is_some_and(|hash| !hash.matches(secret.unwrap_or_default())) {
            return Err(AnswerRefusal::Browser);
        }
        let proof = proof.clone();
        Ok(self.log_in(&proof, now, random))
    }
}
