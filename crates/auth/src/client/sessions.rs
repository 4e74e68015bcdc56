use std::time::{Duration, SystemTime};

use reqwest::Method;

use super::session_types::{
    Completion, CreatedSession, NewSession, RefreshedSession, Session, SessionFilter, SessionList, SessionStatus,
    Simulated, Simulation,
};
use super::{Signpost, SignpostError};
use crate::answer::Answer;

/// Maximum time that a request waits for a session, in seconds.
const MAX_WAIT_SECS: u64 = 25;
/// Minimum time between the starts of two such requests.
const MIN_WAIT: Duration = Duration::from_secs(1);
/// Waiting time of [`Sessions::wait`].
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);

/// Calls about login sessions; see [`Signpost::sessions`].
#[derive(Clone, Copy, Debug)]
pub struct Sessions<'a>(pub(super) &'a Signpost);

impl Sessions<'_> {
    /// `POST /sessions` with a random `Idempotency-Key`, so that retries do not create further sessions.
    ///
    /// # Errors
    /// `domain_not_registered`, `domain_not_verified` and others of `docs/api.md`.
    pub async fn create(&self, new: &NewSession) -> Result<CreatedSession, SignpostError> {
        self.create_with_idempotency_key(&uuid(self.0.runtime().random()), new).await
    }

    /// `POST /sessions` with the caller's `Idempotency-Key`, 1 to 255 printable characters: another call within 24
    /// hours returns the same session.
    ///
    /// # Errors
    /// Returns the errors of [`Sessions::create`], and `idempotency_key_reused` for another request with this key.
    pub async fn create_with_idempotency_key(
        &self,
        idempotency_key: &str,
        new: &NewSession,
    ) -> Result<CreatedSession, SignpostError> {
        let call = self.0.call(Method::POST, &["sessions"])?.json(new)?;
        self.0.fetch(call.with_idempotency_key(idempotency_key.to_owned())).await
    }

    /// `GET /sessions`, newest first; `next_cursor` returns the next page.
    ///
    /// # Errors
    /// As every call: `invalid_api_key`, `rate_limited`, `connection_failed`, …
    pub async fn list(&self, filter: &SessionFilter) -> Result<SessionList, SignpostError> {
        let SessionFilter { status, domain, limit, cursor } = filter;
        let call = self.0.call(Method::GET, &["sessions"])?;
        let call = call.query("status", status.as_ref()).query("domain", domain.as_ref());
        self.0.fetch(call.query("limit", limit.as_ref()).query("cursor", cursor.as_ref())).await
    }

    /// `GET /sessions/{id}`.
    ///
    /// # Errors
    /// `session_not_found`; `session_expired` and `session_cancelled` if it ended without a login.
    pub async fn get(&self, id: &str) -> Result<Session, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["sessions", id])?).await
    }

    /// `GET /sessions/{id}`; while the session is pending, the service delays the reply by at most this many seconds
    /// (up to 25).
    ///
    /// # Errors
    /// Returns the errors of [`Sessions::get`].
    pub async fn get_after(&self, id: &str, wait_secs: u64) -> Result<Session, SignpostError> {
        let call = self.0.call(Method::GET, &["sessions", id])?.query("wait", Some(&wait_secs));
        self.0.fetch(call.with_wait(Duration::from_secs(wait_secs.min(MAX_WAIT_SECS)))).await
    }

    /// Waits up to 5 minutes until the session is no longer pending.
    ///
    /// # Errors
    /// Returns the errors of [`Sessions::get`], but an expired or cancelled session is returned with its status.
    pub async fn wait(&self, id: &str) -> Result<Session, SignpostError> {
        self.wait_for(id, DEFAULT_TIMEOUT).await
    }

    /// Waits at most `timeout` until the session is no longer pending; returns its last state.
    ///
    /// # Errors
    /// Returns the errors of [`Sessions::wait`].
    pub async fn wait_for(&self, id: &str, timeout: Duration) -> Result<Session, SignpostError> {
        let started = self.0.runtime().now();
        loop {
            let requested = self.0.runtime().now();
            // Rounded up: otherwise the last second is spent on requests without waiting.
            let left = timeout.saturating_sub(self.elapsed(started)).saturating_add(Duration::from_nanos(999_999_999));
            let session = match self.get_after(id, left.as_secs().min(MAX_WAIT_SECS)).await {
                Ok(session) => session,
                Err(error) => return ended(id, error),
            };
            if session.status != SessionStatus::Pending || self.elapsed(started) >= timeout {
                return Ok(session);
            }
            // Limits the rate of requests to a server that does not wait.
            let pause = MIN_WAIT.saturating_sub(self.elapsed(requested));
            if !pause.is_zero() {
                self.0.runtime().pause(pause).await;
            }
        }
    }

    /// `POST /sessions/{id}/refresh`: replaces the code of the session. The old code becomes invalid.
    ///
    /// # Errors
    /// `session_expired` when the session can no longer be refreshed; `session_already_authenticated`.
    pub async fn refresh(&self, id: &str) -> Result<RefreshedSession, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["sessions", id, "refresh"])?).await
    }

    /// `POST /sessions/{id}/complete`: completes a same-device login, or a login on a page, with the parameters of the
    /// return URL.
    ///
    /// # Errors
    /// `invalid_signature` (406) for a wrong code, with `details.reason` `browser` for another browser.
    pub async fn complete(&self, id: &str, completion: &Completion) -> Result<Session, SignpostError> {
        let call = self.0.call(Method::POST, &["sessions", id, "complete"])?.json(completion)?;
        self.0.fetch(call.not_idempotent()).await
    }

    /// `POST /sessions/{id}/authenticate`: forwards the answer of a wallet, which the service checks again. Only the
    /// first of concurrent answers succeeds.
    ///
    /// # Errors
    /// `challenge_not_found`, `invalid_signature`, `timestamp_out_of_range`, `session_already_authenticated`,
    /// `session_expired`.
    pub async fn authenticate(&self, id: &str, answer: &Answer) -> Result<Session, SignpostError> {
        let call = self.0.call(Method::POST, &["sessions", id, "authenticate"])?.json(answer)?;
        self.0.fetch(call.not_idempotent()).await
    }

    /// `DELETE /sessions/{id}`: ends a pending session.
    ///
    /// # Errors
    /// `session_already_authenticated`, `session_expired`, `session_cancelled`.
    pub async fn cancel(&self, id: &str) -> Result<(), SignpostError> {
        self.0.send(self.0.call(Method::DELETE, &["sessions", id])?.not_idempotent()).await?.expect_no_content()
    }

    /// `POST /sessions/{id}/simulate`: simulates a wallet in the sandbox.
    ///
    /// # Errors
    /// `not_found` in live.
    pub async fn simulate(&self, id: &str, simulated: &Simulated) -> Result<Simulation, SignpostError> {
        let call = self.0.call(Method::POST, &["sessions", id, "simulate"])?.json(simulated)?;
        self.0.fetch(call.not_idempotent()).await
    }

    /// `GET /sessions/{id}/qr.svg`: returns the code of a pending session as an image.
    ///
    /// # Errors
    /// Returns the errors of [`Sessions::refresh`].
    pub async fn qr_svg(&self, id: &str) -> Result<String, SignpostError> {
        self.0.send(self.0.call(Method::GET, &["sessions", id, "qr.svg"])?).await?.svg()
    }

    /// Returns the time since `start`.
    fn elapsed(self, start: SystemTime) -> Duration {
        self.0.runtime().now().duration_since(start).unwrap_or_default()
    }
}

/// Converts the error of an ended session into the session with its status.
fn ended(id: &str, error: SignpostError) -> Result<Session, SignpostError> {
    let status = match &*error.code {
        "session_expired" => SessionStatus::Expired,
        "session_cancelled" => SessionStatus::Cancelled,
        _ => return Err(error),
    };
    Ok(Session::ended(id, status))
}

/// A UUID of version 4 (RFC 9562, section 5.4).
fn uuid(random: [u8; 32]) -> String {
    let mut bytes: [u8; 16] = random[..16].try_into().expect("16 of 32");
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = data_encoding::HEXLOWER.encode(&bytes);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idempotency_key_is_a_random_uuid() {
        assert_eq!(uuid([0xff; 32]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid([0; 32]), "00000000-0000-4000-8000-000000000000");
    }
}
