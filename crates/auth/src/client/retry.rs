//! Decides if and when a failed call is retried.

use std::time::{Duration, SystemTime};

use super::error::SignpostError;

/// Default maximum delay requested by the service that is followed by a retry, in seconds.
pub(super) const MAX_WAIT_SECS: u64 = 30;
/// Maximum jitter of the first pause. It doubles with each retry.
const FIRST_JITTER: Duration = Duration::from_millis(500);

/// Parses the header `Retry-After` (RFC 9110, section 10.2.3), a number of seconds or an HTTP date.
/// Returns `None` for other values.
pub(super) fn retry_after(header: &str, now: SystemTime) -> Option<u64> {
    let header = header.trim();
    if let Ok(seconds) = header.parse() {
        return Some(seconds);
    }
    let date = httpdate::parse_http_date(header).ok()?;
    let wait = date.duration_since(now).unwrap_or_default();
    Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}

/// Returns the pause before the next attempt, or `None` if the call should not be retried.
///
/// `is_idempotent` is set if the call may be repeated after a lost response, `tries` is the number
/// of previous retries, `max_wait_secs` is the maximum delay that the service may request, and
/// `random` is the source of the jitter.
pub(super) fn pause(
    error: &SignpostError,
    is_idempotent: bool,
    tries: u32,
    max_wait_secs: u64,
    random: &[u8; 32],
) -> Option<Duration> {
    let is_refused = matches!(error.status, Some(429 | 503));
    if !(is_refused || error.is_reply_missing() && is_idempotent) {
        return None;
    }
    let wait = error.retry_after.unwrap_or(0);
    (wait <= max_wait_secs).then(|| Duration::from_secs(wait) + jitter(tries, random))
}

/// Returns a random pause between 0 and half a second, or twice as long for each further retry.
fn jitter(tries: u32, random: &[u8; 32]) -> Duration {
    let most = FIRST_JITTER * 2_u32.saturating_pow(tries.min(10));
    let part = u16::from_le_bytes([random[0], random[1]]);
    most * u32::from(part) / (u32::from(u16::MAX) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::ErrorCode;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn refused(status: u16, retry_after: Option<u64>) -> SignpostError {
        SignpostError { status: Some(status), retry_after, ..SignpostError::new(ErrorCode::RateLimited, "wait") }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        for (header, seconds) in [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("Tue, 14 Nov 2023 22:13:25 GMT", Some(5)),
            ("Tue, 14 Nov 2023 22:13:15 GMT", Some(0)),
            ("soon", None),
            ("-5", None),
            ("1.5", None),
            ("", None),
        ] {
            assert_eq!(retry_after(header, at(1_700_000_000)), seconds, "{header}");
        }
    }

    #[test]
    fn only_idempotent_requests_are_repeated() {
        let lost = SignpostError::new(ErrorCode::ConnectionFailed, "cut");
        assert_eq!(pause(&lost, false, 0, MAX_WAIT_SECS, &[255; 32]), None);
        assert!(pause(&lost, true, 0, MAX_WAIT_SECS, &[255; 32]).is_some());
        assert!(pause(&refused(503, None), false, 0, MAX_WAIT_SECS, &[255; 32]).is_some());
        assert_eq!(pause(&refused(500, None), true, 0, MAX_WAIT_SECS, &[0; 32]), None);
    }

    #[test]
    fn backoff_respects_retry_after() {
        assert_eq!(pause(&refused(429, Some(2)), false, 0, MAX_WAIT_SECS, &[0; 32]), Some(Duration::from_secs(2)));
        assert_eq!(pause(&refused(429, Some(31)), false, 0, MAX_WAIT_SECS, &[0; 32]), None);
        assert_eq!(pause(&refused(429, Some(4)), false, 0, 3, &[0; 32]), None);
        for (tries, most) in [(0, 500), (1, 1000), (2, 2000), (40, 512_000)] {
            let pause = pause(&refused(429, None), false, tries, MAX_WAIT_SECS, &[255; 32]).unwrap();
            assert!(
                pause < Duration::from_millis(most) && pause > Duration::from_millis(most - most / 50),
                "{pause:?}"
            );
        }
    }
}
