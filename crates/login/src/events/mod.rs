//! The outbox of events. An event is stored in the transaction that causes it, and delivered to an
//! endpoint later.
//!
//! The rules in this module are pure functions; [`sql`] stores deliveries, and a background job
//! delivers them.

pub mod attempts;
pub mod deliveries;
pub(crate) mod due_sql;
pub mod endpoints;
pub mod refusal;
pub mod retries;
pub mod sample;
pub mod slots;
pub mod sql;
mod user_events;

use std::time::Duration;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use signpost_auth::sign_event;
use signpost_platform::accounts::Environment;
use url::Url;

use crate::domains::SigningSecrets;
use crate::ids::{DomainId, EventId};

pub use deliveries::{DeliveryFilter, DeliveryListItem, DeliveryRow, DeliveryScope};
pub use endpoints::FailingEndpoint;
pub use retries::RetryScope;
pub use slots::AttemptSlots;
pub use sql::{Claim, EndedAttempt, MoreDue, UpcomingAttempts, queue};
pub use user_events::{
    AllUsersDeleted, SignOutExtent, UserChanges, UserEvent, delete_all_with_events, queue_user_event,
};

/// Maximum wait that an endpoint may request with `Retry-After`.
const MAX_RETRY_DELAY: SignedDuration = SignedDuration::from_hours(24);

/// An event that is to be delivered to an endpoint.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The ID of the event, equal for all attempts.
    pub id: EventId,
    /// The domain whose secrets sign the event.
    pub domain_id: DomainId,
    /// The environment. It determines the allowed addresses.
    pub environment: Environment,
    /// The account of the event.
    pub account: String,
    /// The URL of the endpoint.
    pub url: Url,
    /// The body, equal for all attempts.
    pub body: String,
    /// Whether the previous attempt at the endpoint failed.
    pub failed_before: bool,
}

/// A delivery that is leased for an attempt.
#[derive(Debug)]
pub struct ClaimedDelivery {
    /// The ID of the event.
    pub id: String,
    /// Environment and account in the form of the row.
    pub owner: String,
    /// The number of attempts, including this attempt.
    pub attempts: u32,
    /// The stored previous attempts.
    pub past_attempts: Option<String>,
    /// The delivery, or the reason why its row cannot be read.
    pub delivery: Result<Delivery>,
}

/// The result of a delivery attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The HTTP status of the response.
    pub status: Option<u16>,
    /// The reason why there was no response, or the error in the response.
    pub error: Option<String>,
    /// The wait that the endpoint requested.
    pub retry_after: Option<Duration>,
    /// The response body, for public endpoints.
    pub answer: Option<String>,
    /// Seconds by which the clock of an endpoint that refused the event was ahead.
    pub clock_ahead_s: Option<i64>,
}

/// The decision about a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The endpoint accepted the event.
    Delivered,
    /// Another attempt follows at this time.
    Retry(Timestamp),
    /// The delivery has failed. No automatic attempt follows.
    Failed,
}

impl DeliveryOutcome {
    /// Returns the name in metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Retry(_) => "retry",
            Self::Failed => "failed",
        }
    }
}

/// Returns the endpoint of a URL: scheme, host and port.
#[must_use]
pub fn endpoint_from_url(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Decides about a delivery after attempt number `attempts` (1 or more). `random` varies the wait
/// by up to 20 % (jitter), so that a thousand events that failed together are not retried together.
#[must_use]
pub fn decide_outcome(
    attempt: &Attempt,
    attempts: u32,
    schedule: &[Duration],
    now: Timestamp,
    random: u32,
) -> DeliveryOutcome {
    match attempt.status {
        Some(200..=299) => return DeliveryOutcome::Delivered,
        // With 410 Gone the endpoint requests that no further attempts are made.
        Some(410) => return DeliveryOutcome::Failed,
        _ => {}
    }
    let attempts = usize::try_from(attempts).unwrap_or(usize::MAX);
    let Some(wait) = attempts.checked_sub(1).and_then(|failed| schedule.get(failed)) else {
        return DeliveryOutcome::Failed;
    };
    let varied = wait.mul_f64(0.8 + 0.4 * f64::from(random) / f64::from(u32::MAX));
    let requested = attempt.retry_after.unwrap_or_default().min(MAX_RETRY_DELAY.unsigned_abs());
    DeliveryOutcome::Retry(now + SignedDuration::try_from(varied.max(requested)).unwrap_or(MAX_RETRY_DELAY))
}

/// Returns the longest wait that [`decide_outcome`] can return with this schedule. An event with a
/// later next attempt was stored by a server with a wrong clock.
#[must_use]
pub fn longest_wait(schedule: &[Duration]) -> SignedDuration {
    let max_wait = schedule.iter().max().copied().unwrap_or_default().mul_f64(1.2);
    SignedDuration::try_from(max_wait).unwrap_or(SignedDuration::MAX).max(MAX_RETRY_DELAY)
}

/// Returns the header fields that sign a body (docs/handlers.md, Events). `sent_at` is in Unix seconds.
#[must_use]
pub fn signatures(id: &str, body: &[u8], secrets: &SigningSecrets, sent_at: i64) -> Vec<(&'static str, String)> {
    sign_event(id, sent_at, body, &secrets.current, secrets.next.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: [Duration; 2] = [Duration::from_secs(10), Duration::from_mins(1)];

    fn outcome_of(status: Option<u16>, attempts: u32, random: u32, retry_after: Option<u64>) -> DeliveryOutcome {
        let retry_after = retry_after.map(Duration::from_secs);
        let attempt = Attempt { status, error: None, retry_after, answer: None, clock_ahead_s: None };
        decide_outcome(&attempt, attempts, &SCHEDULE, Timestamp::UNIX_EPOCH, random)
    }

    fn retry(millis: i64) -> DeliveryOutcome {
        DeliveryOutcome::Retry(Timestamp::from_millisecond(millis).unwrap())
    }

    #[test]
    fn every_status_has_an_outcome() {
        for status in [200, 201, 204, 299] {
            assert_eq!(outcome_of(Some(status), 1, 0, None), DeliveryOutcome::Delivered);
        }
        assert_eq!(outcome_of(Some(410), 1, 0, None), DeliveryOutcome::Failed);
        for status in [None, Some(100), Some(301), Some(307), Some(400), Some(404), Some(429), Some(500), Some(503)] {
            assert_eq!(outcome_of(status, 1, 0, None), retry(8_000), "{status:?}");
        }
    }

    #[test]
    fn retries_follow_the_schedule() {
        assert_eq!(outcome_of(None, 1, u32::MAX, None), retry(12_000));
        assert_eq!(outcome_of(None, 2, 0, None), retry(48_000));
        assert_eq!(outcome_of(None, 3, 0, None), DeliveryOutcome::Failed);
    }

    #[test]
    fn retries_respect_the_longest_wait() {
        let hour = |hours| Duration::from_hours(hours);
        for (schedule, expected) in [(vec![hour(1)], 24), (vec![hour(48), hour(720)], 864), (Vec::new(), 24)] {
            let max_wait = longest_wait(&schedule);
            assert_eq!(max_wait.as_hours(), expected);
            for retry_after in [None, Some(Duration::MAX)] {
                let attempt = Attempt { status: None, error: None, retry_after, answer: None, clock_ahead_s: None };
                for attempts in 1..=2 {
                    let outcome = decide_outcome(&attempt, attempts, &schedule, Timestamp::UNIX_EPOCH, u32::MAX);
                    if let DeliveryOutcome::Retry(at) = outcome {
                        assert!(at.duration_since(Timestamp::UNIX_EPOCH) <= max_wait, "{schedule:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn retry_after_is_honored_up_to_a_limit() {
        assert_eq!(outcome_of(Some(503), 1, 0, Some(30)), retry(30_000));
        assert_eq!(outcome_of(Some(503), 2, 0, Some(5)), retry(48_000));
        assert_eq!(outcome_of(Some(503), 1, 0, Some(u64::MAX / 2)), retry(24 * 3_600_000));
    }
}
