//! The outbox: events wait here from the transaction that made them until an endpoint took them.
//!
//! This file is the rules, and pure; [`sql`] remembers, and a job delivers.

pub mod attempts;
pub mod deliveries;
pub(crate) mod due_sql;
pub mod endpoints;
pub mod refusal;
pub mod retries;
pub mod slots;
pub mod sql;

use std::time::Duration;

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use signpost_auth::{
    Event, EventKind, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP, WebhookSecret, X_SVC_SIGNATURE,
    X_SVC_SIGNATURE_NEXT,
};
use signpost_platform::accounts::{Account, Environment};
use signpost_store::Step;
use url::Url;

use crate::domains::{Domain, SigningSecrets};
use crate::ids::{DomainId, EventId};

pub use deliveries::{DeliveryFilter, DeliveryListItem, DeliveryRow, DeliveryScope};
pub use endpoints::FailingEndpoint;
pub use retries::RetryChoice;
pub use slots::AttemptSlots;
pub use sql::{Claim, EndedAttempt, MoreDue, Upcoming};

/// Longest wait that an endpoint may ask for with `Retry-After`.
const MAX_RETRY_DELAY: SignedDuration = SignedDuration::from_hours(24);

/// An event on its way to an endpoint.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The event's id, the same on every attempt.
    pub id: EventId,
    /// Whose secrets sign it.
    pub domain_id: DomainId,
    /// Decides how far it may reach.
    pub environment: Environment,
    /// Whose event it is.
    pub account: String,
    /// Where to.
    pub url: Url,
    /// The bytes that every attempt sends.
    pub body: String,
    /// Whether the endpoint's last attempt before was a failure.
    pub failed_before: bool,
}

/// A delivery that was taken for one attempt.
#[derive(Debug)]
pub struct ClaimedDelivery {
    /// The event's id.
    pub id: String,
    /// Environment and account, as the row names them.
    pub owner: String,
    /// How many attempts there were, this one included.
    pub attempts: u32,
    /// What is stored of those before.
    pub past_attempts: Option<String>,
    /// What to send, or why its row cannot be read.
    pub delivery: Result<Delivery>,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// Why there was none, or what was wrong with it.
    pub error: Option<String>,
    /// How long the endpoint asked us to wait.
    pub retry_after: Option<Duration>,
    /// What it said, where it is a public one.
    pub answer: Option<String>,
    /// By how many seconds its clock was ahead of ours, where it refused and said so.
    pub clock_ahead_s: Option<i64>,
}

/// What follows from an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The endpoint has it.
    Delivered,
    /// Again then.
    Retry(Timestamp),
    /// Never again by itself.
    Failed,
}

impl DeliveryOutcome {
    /// Its word among the metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Retry(_) => "retry",
            Self::Failed => "failed",
        }
    }
}

/// The step that queues an event, to be written with what it tells of.
///
/// # Errors
/// Where the event cannot be written as JSON, which no event of ours does.
pub fn queue(
    id: &EventId,
    event: &Event,
    account: &Account,
    domain: &DomainId,
    url: &Url,
    now: Timestamp,
) -> Result<Step> {
    let body = serde_json::to_string(event).context("an event is JSON")?;
    Ok(sql::queue(id, account, domain, url, body, now))
}

/// The step that queues a test: an integrator sees whether events arrive.
///
/// # Errors
/// As [`queue`].
pub(crate) fn queue_test(id: &EventId, domain: &Domain, now: Timestamp) -> Result<Step> {
    let event = Event {
        id: id.to_string(),
        event: EventKind::Test,
        timestamp: now.to_string(),
        session_id: String::new(),
        data: None,
    };
    let url = domain.event_url.as_ref().unwrap_or(&domain.webhook_url);
    queue(id, &event, &domain.account, &domain.id, url, now)
}

/// Whom a slow answer delays: one host and port.
#[must_use]
pub fn endpoint_from_url(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// What follows from an attempt, the `attempts`th that was made (1 or more). `random` varies the wait by 20 % either
/// way, so that a thousand events that failed together do not come back together.
#[must_use]
pub fn judge(attempt: &Attempt, attempts: u32, schedule: &[Duration], now: Timestamp, random: u32) -> DeliveryOutcome {
    match attempt.status {
        Some(200..=299) => return DeliveryOutcome::Delivered,
        // "Gone": the endpoint asks us to stop.
        Some(410) => return DeliveryOutcome::Failed,
        _ => {}
    }
    let made = usize::try_from(attempts).unwrap_or(usize::MAX);
    let Some(wait) = made.checked_sub(1).and_then(|failed| schedule.get(failed)) else {
        return DeliveryOutcome::Failed;
    };
    let varied = wait.mul_f64(0.8 + 0.4 * f64::from(random) / f64::from(u32::MAX));
    let asked = attempt.retry_after.unwrap_or_default().min(MAX_RETRY_DELAY.unsigned_abs());
    DeliveryOutcome::Retry(now + SignedDuration::try_from(varied.max(asked)).unwrap_or(MAX_RETRY_DELAY))
}

/// Returns the longest wait that [`judge`] can return with this schedule. An event whose next attempt is further ahead was
/// written by a clock that was wrong.
#[must_use]
pub fn longest_wait(schedule: &[Duration]) -> SignedDuration {
    let longest = schedule.iter().max().copied().unwrap_or_default().mul_f64(1.2);
    SignedDuration::try_from(longest).unwrap_or(SignedDuration::MAX).max(MAX_RETRY_DELAY)
}

/// The header fields that sign a body (docs/handlers.md, Events).
#[must_use]
pub fn signatures(id: &EventId, body: &[u8], secrets: &SigningSecrets, now: Timestamp) -> Vec<(&'static str, String)> {
    let SigningSecrets { current, next } = secrets;
    let sent_at = now.as_second();
    let standard = |secret: &WebhookSecret| secret.standard_signature(id.as_str(), sent_at, body);
    let all: Vec<_> = [Some(current), next.as_ref()].into_iter().flatten().map(standard).collect();
    let mut fields = vec![
        (X_SVC_SIGNATURE, current.x_svc_signature(body)),
        (WEBHOOK_ID, id.to_string()),
        (WEBHOOK_TIMESTAMP, sent_at.to_string()),
        (WEBHOOK_SIGNATURE, all.join(" ")),
    ];
    fields.extend(next.as_ref().map(|next| (X_SVC_SIGNATURE_NEXT, next.x_svc_signature(body))));
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: [Duration; 2] = [Duration::from_secs(10), Duration::from_mins(1)];

    fn outcome_of(status: Option<u16>, attempts: u32, random: u32, retry_after: Option<u64>) -> DeliveryOutcome {
        let retry_after = retry_after.map(Duration::from_secs);
        let attempt = Attempt { status, error: None, retry_after, answer: None, clock_ahead_s: None };
        judge(&attempt, attempts, &SCHEDULE, Timestamp::UNIX_EPOCH, random)
    }

    fn retry(millis: i64) -> DeliveryOutcome {
        DeliveryOutcome::Retry(Timestamp::from_millisecond(millis).unwrap())
    }

    #[test]
    fn every_answer_has_its_consequence() {
        for status in [200, 201, 204, 299] {
            assert_eq!(outcome_of(Some(status), 1, 0, None), DeliveryOutcome::Delivered);
        }
        assert_eq!(outcome_of(Some(410), 1, 0, None), DeliveryOutcome::Failed);
        for status in [None, Some(100), Some(301), Some(307), Some(400), Some(404), Some(429), Some(500), Some(503)] {
            assert_eq!(outcome_of(status, 1, 0, None), retry(8_000), "{status:?}");
        }
    }

    #[test]
    fn waits_follow_the_schedule_and_end_with_it() {
        assert_eq!(outcome_of(None, 1, u32::MAX, None), retry(12_000));
        assert_eq!(outcome_of(None, 2, 0, None), retry(48_000));
        assert_eq!(outcome_of(None, 3, 0, None), DeliveryOutcome::Failed);
    }

    #[test]
    fn no_outcome_is_later_than_the_longest_wait() {
        let hour = |hours| Duration::from_hours(hours);
        for (schedule, expected) in [(vec![hour(1)], 24), (vec![hour(48), hour(720)], 864), (Vec::new(), 24)] {
            let longest = longest_wait(&schedule);
            assert_eq!(longest.as_hours(), expected);
            for retry_after in [None, Some(Duration::MAX)] {
                let attempt = Attempt { status: None, error: None, retry_after, answer: None, clock_ahead_s: None };
                for attempts in 1..=2 {
                    let outcome = judge(&attempt, attempts, &schedule, Timestamp::UNIX_EPOCH, u32::MAX);
                    if let DeliveryOutcome::Retry(at) = outcome {
                        assert!(at.duration_since(Timestamp::UNIX_EPOCH) <= longest, "{schedule:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_endpoint_may_ask_for_a_longer_wait_but_not_for_ever() {
        assert_eq!(outcome_of(Some(503), 1, 0, Some(30)), retry(30_000));
        assert_eq!(outcome_of(Some(503), 2, 0, Some(5)), retry(48_000));
        assert_eq!(outcome_of(Some(503), 1, 0, Some(u64::MAX / 2)), retry(24 * 3_600_000));
    }
}
