//! The job that delivers the events in the outbox, each at least once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result};
use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue};
use signpost_platform::outbound::{EgressPolicy, Request, parse_http_date};
use signpost_store::random;
use tokio::sync::OnceCell;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::Instrument;

use crate::domains::{self, SigningSecrets};
use crate::events::attempts::{PastAttempt, append_attempt, fingerprints};
use crate::events::endpoints::{self, endpoint_statements};
use crate::events::{
    Attempt, AttemptSlots, Claim, ClaimedDelivery, Delivery, DeliveryOutcome, EndedAttempt, MoreDue, decide_outcome,
    endpoint_from_url, longest_wait, signatures, sql,
};
use crate::ids::DomainId;
use crate::service::LoginService;

/// Timeout of a delivery attempt (docs/handlers.md, Delivery).
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);
/// Lease of a claimed delivery: the timeout of an attempt, and 30 s more.
const LEASE_DURATION: SignedDuration = SignedDuration::from_secs(45);
/// Maximum bytes of a response that are read, so that the connection can be reused.
const MAX_RESPONSE_LEN: usize = 2048;
/// Maximum sleep between two scans, because another process may have queued an event.
const MAX_SLEEP: Duration = Duration::from_secs(1);
/// Delay before the endpoints that the last scan omitted are examined.
const NEXT_SCAN_DELAY: Duration = Duration::from_millis(20);
/// Minimum time between two scans of the outbox, to batch ended attempts and queued events. After a longer scan, the
/// pause is as long as the scan, so that scans use at most half of the time.
const GATHER_WINDOW: Duration = Duration::from_millis(2);
/// Maximum time between two scans after a long scan.
const MAX_GATHER_WINDOW: Duration = Duration::from_millis(20);

/// Maximum tolerated difference between the clocks of two servers.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_hours(1);

/// Maximum events that are made ready in a write.
const MAX_READY_PER_WRITE: u32 = 256;

/// The running attempts, and the slots that they use.
#[derive(Default)]
struct RunningAttempts {
    attempts: JoinSet<()>,
    owners: HashMap<task::Id, String>,
    slots: AttemptSlots,
}

/// Delivers events until the server drains, then waits for the running attempts.
pub async fn run(service: LoginService) {
    let mut running = RunningAttempts::default();
    while !service.draining.is_cancelled() {
        let scan_started_at = Instant::now();
        let wait = match claim_due(&service, &mut running).await {
            Ok(wait) => {
                service.metrics.count_outbox_pass();
                wait
            }
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "could not read the outbox");
                MAX_SLEEP
            }
        };
        let pause = scan_started_at.elapsed().clamp(GATHER_WINDOW, MAX_GATHER_WINDOW);
        tokio::select! {
            () = service.draining.cancelled() => {}
            () = service.outbox.notified() => sleep_until(scan_started_at + GATHER_WINDOW).await,
            () = sleep(wait.max(pause)) => {}
            // The end of an attempt frees a slot.
            Some(ended) = running.attempts.join_next_with_id() => {
                running.end(ended);
                sleep(pause).await;
                while let Some(ended) = running.attempts.try_join_next_with_id() {
                    running.end(ended);
                }
            }
        }
    }
    while running.attempts.join_next().await.is_some() {}
}

impl RunningAttempts {
    fn end(&mut self, ended: std::result::Result<(task::Id, ()), JoinError>) {
        let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
        if let Some(owner) = self.owners.remove(&id) {
            self.slots.end(&owner);
        }
    }
}

/// Starts the due deliveries that get a slot. Returns the time until the next scan.
async fn claim_due(service: &LoginService, running: &mut RunningAttempts) -> Result<Duration> {
    let now = service.clock.now();
    let upcoming = sql::find_upcoming(&service.store, now).await?;
    let latest = now + longest_wait(&service.settings.webhook_retry_schedule) + CLOCK_TOLERANCE;
    let is_backoff_over = upcoming.backoff_until.is_some_and(|until| until <= now);
    let is_too_far = upcoming.last_backoff_until.is_some_and(|until| until > latest);
    if !upcoming.is_ready && !is_backoff_over && !is_too_far {
        let wait = upcoming.backoff_until.and_then(|until| Duration::try_from(until.duration_since(now)).ok());
        return Ok(wait.unwrap_or(MAX_SLEEP).min(MAX_SLEEP));
    }
    if running.slots.free() == 0 {
        return Ok(MAX_SLEEP);
    }
    let mut ready = 0;
    if is_backoff_over {
        ready += sql::make_ready(&service.store, now, MAX_READY_PER_WRITE).await?;
    }
    if is_too_far {
        ready += sql::make_ready_beyond(&service.store, latest, now, MAX_READY_PER_WRITE).await?;
    }
    let leased_until = now + LEASE_DURATION;
    let Claim { deliveries, more } = sql::claim(&service.store, now, leased_until, &mut running.slots).await?;
    let wait = match more {
        _ if !deliveries.is_empty() || ready > 0 => Duration::ZERO,
        // Another server leased the chosen events first. It leases as many as it can at once, so
        // the remaining events can be leased after a short pause.
        MoreDue::NotLeased => GATHER_WINDOW,
        MoreDue::NotExamined => NEXT_SCAN_DELAY,
        // Due events are left, but all slots are in use. The end of an attempt wakes this task.
        MoreDue::None => MAX_SLEEP,
    };
    let mut secrets: HashMap<DomainId, SharedSecrets> = HashMap::new();
    for claimed in deliveries {
        let secrets = match &claimed.delivery {
            Ok(delivery) => secrets.entry(delivery.domain_id.clone()).or_default().clone(),
            Err(_) => SharedSecrets::default(),
        };
        let span = tracing::info_span!("delivery", event = claimed.id, attempt = claimed.attempts);
        let owner = claimed.owner.clone();
        let attempt = running.attempts.spawn(deliver(service.clone(), claimed, secrets, leased_until).instrument(span));
        running.slots.begin(owner.clone());
        running.owners.insert(attempt.id(), owner);
    }
    Ok(wait)
}

/// The signing secrets of a domain, read once for all events that were claimed together.
type SharedSecrets = Arc<OnceCell<Option<SigningSecrets>>>;

/// Performs a delivery attempt and records its result. An error ends only this attempt.
async fn deliver(service: LoginService, claimed: ClaimedDelivery, secrets: SharedSecrets, leased_until: Timestamp) {
    let started_at = service.clock.now();
    let began = Instant::now();
    let (attempt, sent) = match prepare(&service, claimed.delivery, &secrets).await {
        Ok((delivery, headers)) => (send(&service, &delivery, headers).await, Some(delivery)),
        // The endpoint is not the cause of this error.
        Err(error) => (Attempt::failed(&error), None),
    };
    let now = service.clock.now();
    let jitter = u32::from_be_bytes(random());
    let outcome = decide_outcome(&attempt, claimed.attempts, &service.settings.webhook_retry_schedule, now, jitter);
    log(&attempt, sent.as_ref(), outcome);
    service.metrics.count_delivery_attempt(outcome.as_str());
    if let Some(delivery) = &sent
        && claimed.attempts == 1
    {
        let after = now.duration_since(delivery.id.time());
        service.metrics.observe_first_attempt(Duration::try_from(after).unwrap_or_default());
    }
    let signed_by = secrets.get().and_then(Option::as_ref).map(fingerprints).unwrap_or_default();
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let past_attempt = PastAttempt::new(&attempt, signed_by, started_at, duration_ms);
    let past_attempts = append_attempt(claimed.past_attempts.as_deref(), past_attempt);
    let ended = EndedAttempt { id: &claimed.id, leased_until, attempt: &attempt, past_attempts, outcome, now };
    let judged =
        sent.as_ref().map(|delivery| endpoint_statements(delivery, &attempt, outcome, now)).unwrap_or_default();
    let rows = match sql::end_attempt(&service.store, ended, judged).await {
        Ok(Some(rows)) => rows,
        Ok(None) => {
            tracing::warn!("the attempt outlived its lease; the event may arrive twice");
            return;
        }
        Err(error) => {
            tracing::warn!(error = format!("{error:#}"), "could not record the delivery attempt");
            return;
        }
    };
    let Some(delivery) = sent else { return };
    if let Err(error) = endpoints::report_change(&service.store, &delivery, outcome, &rows, now).await {
        tracing::warn!(error = format!("{error:#}"), "could not record that an endpoint was disabled or enabled");
    }
}

/// Logs a line per attempt, in the span of the event.
fn log(attempt: &Attempt, sent: Option<&Delivery>, outcome: DeliveryOutcome) {
    let Attempt { status, error, .. } = attempt;
    let domain = sent.map(|sent| sent.domain_id.as_str());
    let endpoint = sent.map(|sent| endpoint_from_url(&sent.url));
    match outcome {
        DeliveryOutcome::Delivered => tracing::info!(domain, endpoint, status, "event delivered"),
        DeliveryOutcome::Retry(next_attempt_at) => {
            tracing::warn!(domain, endpoint, status, error, %next_attempt_at, "delivery failed");
        }
        DeliveryOutcome::Failed => tracing::warn!(domain, endpoint, status, error, "delivery failed for good"),
    }
}

/// Returns the delivery, and the header fields with its signatures.
async fn prepare(
    service: &LoginService,
    delivery: Result<Delivery>,
    secrets: &SharedSecrets,
) -> Result<(Delivery, HeaderMap)> {
    let delivery = delivery.context("cannot read the delivery from the database")?;
    let read = domains::sql::find_secrets(&service.store, &service.seal, &delivery.domain_id);
    let secrets = secrets.get_or_try_init(|| read).await.context("cannot read the webhook secret")?;
    let secrets = secrets.as_ref().context("the domain was deleted")?;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let sent_at = service.clock.now().as_second();
    for (name, value) in signatures(delivery.id.as_str(), delivery.body.as_bytes(), secrets, sent_at) {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(&value)?);
    }
    Ok((delivery, headers))
}

async fn send(service: &LoginService, delivery: &Delivery, headers: HeaderMap) -> Attempt {
    let body = Bytes::from(delivery.body.clone());
    let request = Request {
        method: Method::POST,
        url: &delivery.url,
        headers,
        body: Some(body),
        timeout: ATTEMPT_TIMEOUT,
        max_body: MAX_RESPONSE_LEN,
    };
    let egress = service.egress_policy(delivery.environment);
    let response = match service.outbound.send_for_status(egress, request).await {
        Ok(response) => response,
        Err(error) => return Attempt::failed(&error),
    };
    let now = service.clock.now();
    let is_success = (200..300).contains(&response.status);
    // If private targets are allowed, their responses must not become readable through this server.
    let is_public = egress == EgressPolicy::Public;
    Attempt {
        status: Some(response.status),
        error: (!is_success).then(|| format!("the endpoint responded with {}", response.status)),
        retry_after: response.retry_after.map(|after| after.wait(now)),
        answer: is_public.then(|| String::from_utf8_lossy(&response.body).replace('\0', "")),
        clock_ahead_s: if is_success { None } else { seconds_ahead(&response.headers, now) },
    }
}

/// Returns by how many seconds the `Date` header is ahead of this time.
fn seconds_ahead(headers: &HeaderMap, now: Timestamp) -> Option<i64> {
    let date = headers.get(DATE)?.to_str().ok()?;
    let date = parse_http_date(date)?;
    Some(date.as_second().saturating_sub(now.as_second()))
}

impl Attempt {
    /// Returns an attempt without a response.
    fn failed(error: &Error) -> Self {
        Self { status: None, error: Some(format!("{error:#}")), retry_after: None, answer: None, clock_ahead_s: None }
    }
}
