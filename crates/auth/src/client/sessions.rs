//! Calls about login sessions, including waiting for their completion.

use std::time::{Duration, SystemTime};

use reqwest::Method;

use super::session_types::{
    Completion, CreatedSession, NewSession, RefreshedSession, Session, SessionFilter, SessionList, SessionStatus,
    Simulated, Simulation,
};
use super::stream::SessionStream;
use super::{ErrorCode, Signpost, SignpostError};
use crate::answer::Answer;

/// Maximum time that the service delays the response for a pending session, in seconds.
const MAX_WAIT_SECS: u64 = 25;
/// Minimum time between the starts of two delayed requests for a session.
const MIN_WAIT: Duration = Duration::from_secs(1);
/// Timeout of [`Sessions::wait`].
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);

/// The calls about login sessions; see [`Signpost::sessions`].
#[derive(Clone, Copy, Debug)]
pub struct Sessions<'a>(pub(super) &'a Signpost);

impl Sessions<'_> {
    /// Creates a session.
    ///
    /// Sends `POST /sessions` with a random `Idempotency-Key`, so that a retry does not create
    /// another session.
    ///
    /// # Errors
    /// Returns `domain_not_registered`, `domain_not_verified`, or another error of `docs/api.md`.
    pub async fn create(&self, new: &NewSession) -> Result<CreatedSession, SignpostError> {
        self.create_with_idempotency_key(&uuid(self.0.runtime().random()), new).await
    }

    /// Creates a session, unless a call with this idempotency key already created it.
    ///
    /// Sends `POST /sessions` with the caller's `Idempotency-Key`, 1 to 255 printable characters.
    /// Another call with this key within 24 hours returns the existing session.
    ///
    /// # Errors
    /// Returns the errors of [`Sessions::create`], or `idempotency_key_reused` if another request
    /// used this key.
    pub async fn create_with_idempotency_key(
        &self,
        idempotency_key: &str,
        new: &NewSession,
    ) -> Result<CreatedSession, SignpostError> {
        let call = self.0.call(Method::POST, &["sessions"])?.json(new)?;
        self.0.fetch(call.with_idempotency_key(idempotency_key.to_owned())).await
    }

    /// Returns a page of sessions, newest first.
    ///
    /// Sends `GET /sessions`.
    ///
    /// # Errors
    /// Returns the errors of every call: `invalid_api_key`, `rate_limited`, `connection_failed`, …
    pub async fn list(&self, filter: &SessionFilter) -> Result<SessionList, SignpostError> {
        let SessionFilter { status, domain, limit, cursor } = filter;
        let call = self.0.call(Method::GET, &["sessions"])?;
        let call = call.query("status", status.as_ref()).query("domain", domain.as_ref());
        self.0.fetch(call.query("limit", limit.as_ref()).query("cursor", cursor.as_ref())).await
    }

    /// Returns a session.
    ///
    /// Sends `GET /sessions/{id}`.
    ///
    /// # Errors
    /// Returns `session_not_found` for an unknown ID, or `session_expired` or `session_cancelled`
    /// if the session ended without a login.
    pub async fn get(&self, id: &str) -> Result<Session, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["sessions", id])?).await
    }

    /// Returns a session, after waiting for its completion.
    ///
    /// Sends `GET /sessions/{id}`. While the session is pending, the service delays its response by
    /// at most `wait_secs` seconds (up to 25).
    ///
    /// # Errors
    /// Returns the errors of [`Sessions::get`].
    pub async fn get_after(&self, id: &str, wait_secs: u64) -> Result<Session, SignpostError> {
        let call = self.0.call(Method::GET, &["sessions", id])?.query("wait", Some(&wait_secs));
        self.0.fetch(call.with_wait(Duration::from_secs(wait_secs.min(MAX_WAIT_SECS)))).await
    }

    /// Waits up to 5 minutes until the session is no longer pending, and returns it.
    ///
    /// # Errors
    /// Returns the errors of [`Sessions::get`], except that an expired or cancelled session is not
    /// an error.
    pub async fn wait(&self, id: &str) -> Result<Session, SignpostError> {
        self.wait_for(id, DEFAULT_TIMEOUT).await
    }

    /// Waits at most `timeout` until the session is no longer pending, and returns its last state.
    ///
    /// # Errors
    /// Returns the errors of [`Sessions::wait`].
    pub async fn wait_for(&self, id: &str, timeout: Duration) -> Result<Session, SignpostError> {
        let started = self.0.runtime().now();
        loop {
            let requested = self.0.runtime().now();
            // Rounded up, because otherwise requests in the last second would not wait.
            let left = timeout.saturating_sub(self.elapsed(started)).saturating_add(Duration::from_nanos(999_999_999));
            let session = match self.get_after(id, left.as_secs().min(MAX_WAIT_SECS)).await {
                Ok(session) => session,
                Err(error) => return ended(id, error),
            };
            if session.status != SessionStatus::Pending || self.elapsed(started) >= timeout {
                return Ok(session);
            }
            // Limits the rate of requests to a server that does not delay its responses.
            let pause = MIN_WAIT.saturating_sub(self.elapsed(requested));
            if !pause.is_zero() {
                self.0.runtime().pause(pause).await;
            }
        }
    }

    /// Replaces the code of the session. The old code becomes invalid.
    ///
    /// Sends `POST /sessions/{id}/refresh`.
    ///
    /// # Errors
    /// Returns `session_expired` if the session can no longer be refreshed, or
    /// `session_already_authenticated`.
    pub async fn refresh(&self, id: &str) -> Result<RefreshedSession, SignpostError> {
        self.0.fetch(self.0.call(Method::POST, &["sessions", id, "refresh"])?).await
    }

    /// Completes a login of the same-device or the page flow with the parameters of the return
    /// URL.
    ///
    /// Sends `POST /sessions/{id}/complete`.
    ///
    /// # Errors
    /// Returns `invalid_signature` (406) for a wrong code. `details.reason` is `browser` if another
    /// browser started the login.
    pub async fn complete(&self, id: &str, completion: &Completion) -> Result<Session, SignpostError> {
        let call = self.0.call(Method::POST, &["sessions", id, "complete"])?.json(completion)?;
        self.0.fetch(call.not_idempotent()).await
    }

    /// Forwards the answer of a wallet. The service verifies it again. Only the first of several
    /// concurrent answers succeeds.
    ///
    /// Sends `POST /sessions/{id}/authenticate`.
    ///
    /// # Errors
    /// Returns `challenge_not_found`, `invalid_signature`, `timestamp_out_of_range`,
    /// `session_already_authenticated` or `session_expired` if the answer is rejected.
    pub async fn authenticate(&self, id: &str, answer: &Answer) -> Result<Session, SignpostError> {
        let call = self.0.call(Method::POST, &["sessions", id, "authenticate"])?.json(answer)?;
        self.0.fetch(call.not_idempotent()).await
    }

    /// Cancels a pending session.
    ///
    /// Sends `DELETE /sessions/{id}`.
    ///
    /// # Errors
    /// Returns `session_already_authenticated`, `session_expired` or `session_cancelled` if the
    /// session is not pending.
    pub async fn cancel(&self, id: &str) -> Result<(), SignpostError> {
        self.0.send(self.0.call(Method::DELETE, &["sessions", id])?.not_idempotent()).await?.expect_no_content()
    }

    /// Simulates a wallet in the sandbox.
    ///
    /// Sends `POST /sessions/{id}/simulate`.
    ///
    /// # Errors
    /// Returns `not_found` in the live environment.
    pub async fn simulate(&self, id: &str, simulated: &Simulated) -> Result<Simulation, SignpostError> {
        let call = self.0.call(Method::POST, &["sessions", id, "simulate"])?.json(simulated)?;
        self.0.fetch(call.not_idempotent()).await
    }

    /// Returns the QR code of a pending session as an image.
    ///
    /// Sends `GET /sessions/{id}/qr.svg`.
    ///
    /// # Errors
    /// Returns the errors of [`Sessions::refresh`].
    pub async fn qr_svg(&self, id: &str) -> Result<String, SignpostError> {
        self.0.send(self.0.call(Method::GET, &["sessions", id, "qr.svg"])?).await?.svg()
    }

    /// Returns the QR code of a pending session as a PNG image.
    ///
    /// Sends `GET /sessions/{id}/qr.png`.
    ///
    /// # Errors
    /// Returns the errors of [`Sessions::refresh`].
    pub async fn qr_png(&self, id: &str) -> Result<Vec<u8>, SignpostError> {
        self.0.send(self.0.call(Method::GET, &["sessions", id, "qr.png"])?).await?.png()
    }

    /// Follows a session: the stream has its state, and each later state until the final one.
    /// Unlike [`Sessions::wait`], it is not resumed after a lost connection.
    ///
    /// Sends `GET /sessions/{id}/events`.
    ///
    /// # Errors
    /// Returns `session_not_found` for an unknown ID.
    pub async fn follow(&self, id: &str) -> Result<SessionStream, SignpostError> {
        let call = self.0.call(Method::GET, &["sessions", id, "events"])?;
        self.0.transport.open(&call, self.0.runtime()).await
    }

    /// Returns the time since `start` by the client's clock.
    fn elapsed(self, start: SystemTime) -> Duration {
        self.0.runtime().now().duration_since(start).unwrap_or_default()
    }
}

/// Converts the error for an expired or cancelled session into the session with its status.
fn ended(id: &str, error: SignpostError) -> Result<Session, SignpostError> {
    let status = match error.code {
        ErrorCode::SessionExpired => SessionStatus::Expired,
        ErrorCode::SessionCancelled => SessionStatus::Cancelled,
        _ => return Err(error),
    };
    Ok(Session::ended(id, status))
}

/// Formats random bytes as a UUID of version 4 (RFC 9562, section 5.4).
pub(super) fn uuid(random: [u8; 32]) -> String {
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
