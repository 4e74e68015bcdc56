//! Delivers what waits in the outbox, at least once each.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result};
use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue};
use signpost_platform::outbound::{Reach, Request};
use signpost_store::random;
use tokio::sync::OnceCell;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::Instrument;

use crate::domains::{self, SigningSecrets};
use crate::events::attempts::{PastAttempt, append_attempt, fingerprints};
use crate::events::endpoints::{self, judge_endpoint};
use crate::events::{
    Attempt, AttemptSlots, Claim, ClaimedDelivery, Delivery, DeliveryOutcome, EndedAttempt, MoreDue, endpoint_from_url,
    judge, longest_wait, signatures, sql,
};
use crate::ids::DomainId;
use crate::service::LoginService;

/// How long an endpoint may take to answer (docs/handlers.md, Delivery).
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a delivery belongs to the process that took it: one attempt, and 30 s more.
const LEASE_DURATION: SignedDuration = SignedDuration::from_secs(45);
/// How much of an answer is read, so that the connection can serve the next event.
const MAX_ANSWER_LEN: usize = 2048;
/// The longest sleep: another process may have queued something.
const MAX_SLEEP: Duration = Duration::from_secs(1);
/// The wait before endpoints are looked at that were not.
const NEXT_LOOK_DELAY: Duration = Duration::from_millis(20);
/// How long an end waits for others, so that their slots are taken at once; and how long a look serves for all that is
/// queued behind it: a login a moment after the last one is not worth another. Where looks take longer than that, as long
/// as the last one took, so that at most half of the time is spent looking.
const GATHER_WINDOW: Duration = Duration::from_millis(2);
const MAX_GATHER_WINDOW: Duration = Duration::from_millis(20);

/// Difference between the clocks of two servers that changes nothing.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_hours(1);

/// How many events are made ready in one write.
const MAX_READY_PER_WRITE: u32 = 256;

/// The attempts that run, and the slots that they take.
#[derive(Default)]
struct RunningAttempts {
    attempts: JoinSet<()>,
    owners: HashMap<task::Id, String>,
    slots: AttemptSlots,
}

/// Delivers until the server drains, then finishes what runs.
pub async fn run(service: LoginService) {
    let mut running = RunningAttempts::default();
    while !service.draining.is_cancelled() {
        let looked_at = Instant::now();
        let wait = match claim_due(&service, &mut running).await {
            Ok(wait) => {
                service.metrics.outbox_pass();
                wait
            }
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "could not read the outbox");
                MAX_SLEEP
            }
        };
        let gather = looked_at.elapsed().clamp(GATHER_WINDOW, MAX_GATHER_WINDOW);
        tokio::select! {
            () = service.draining.cancelled() => {}
            () = service.outbox.notified() => sleep_until(looked_at + GATHER_WINDOW).await,
            () = sleep(wait.max(gather)) => {}
            // An end makes a slot free.
            Some(ended) = running.attempts.join_next_with_id() => {
                running.end(ended);
                sleep(gather).await;
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

/// Starts what is due and has a slot; says how long there is nothing to do.
async fn claim_due(service: &LoginService, running: &mut RunningAttempts) -> Result<Duration> {
    let now = service.clock.now();
    let upcoming = sql::find_upcoming(&service.store, now).await?;
    let latest = now + longest_wait(&service.settings.webhook_retry_schedule) + CLOCK_TOLERANCE;
    let is_over = upcoming.backoff_until.is_some_and(|until| until <= now);
    let is_too_far = upcoming.last_backoff_until.is_some_and(|until| until > latest);
    if !upcoming.is_ready && !is_over && !is_too_far {
        let wait = upcoming.backoff_until.and_then(|until| Duration::try_from(until.duration_since(now)).ok());
        return Ok(wait.unwrap_or(MAX_SLEEP).min(MAX_SLEEP));
    }
    if running.slots.free() == 0 {
        return Ok(MAX_SLEEP);
    }
    let mut ready = 0;
    if is_over {
        ready += sql::make_ready(&service.store, now, MAX_READY_PER_WRITE).await?;
    }
    if is_too_far {
        ready += sql::make_ready_beyond(&service.store, latest, now, MAX_READY_PER_WRITE).await?;
    }
    let leased_until = now + LEASE_DURATION;
    let Claim { taken, more } = sql::claim(&service.store, now, leased_until, &mut running.slots).await?;
    let wait = match more {
        _ if !taken.is_empty() || ready > 0 => Duration::ZERO,
        // Another server was faster: it takes what it can at once, and leaves the rest.
        MoreDue::Chosen => GATHER_WINDOW,
        MoreDue::NotLookedAt => NEXT_LOOK_DELAY,
        // Due, but all slots are taken: an end wakes us.
        MoreDue::None => MAX_SLEEP,
    };
    let mut secrets: HashMap<DomainId, SharedSecrets> = HashMap::new();
    for claimed in taken {
        let domain = claimed.delivery.as_ref().ok().map(|delivery| delivery.domain_id.clone());
        let secrets = domain.map(|domain| secrets.entry(domain).or_default().clone()).unwrap_or_default();
        let span = tracing::info_span!("delivery", event = claimed.id, attempt = claimed.attempts);
        let owner = claimed.owner.clone();
        let attempt = running.attempts.spawn(deliver(service.clone(), claimed, secrets, leased_until).instrument(span));
        running.slots.begin(owner.clone());
        running.owners.insert(attempt.id(), owner);
    }
    Ok(wait)
}

/// What signs a domain's events, read once for all that were taken together.
type SharedSecrets = Arc<OnceCell<Option<SigningSecrets>>>;

/// One delivery to the end of its attempt. Whatever is wrong with it ends this attempt and no other's.
async fn deliver(service: LoginService, claimed: ClaimedDelivery, secrets: SharedSecrets, leased_until: Timestamp) {
    let (started_at, began) = (service.clock.now(), Instant::now());
    let (attempt, sent) = match prepare(&service, claimed.delivery, &secrets).await {
        Ok((delivery, headers)) => (send(&service, &delivery, headers).await, Some(delivery)),
        // The endpoint has no part in this.
        Err(error) => (Attempt::failed(&error), None),
    };
    let (now, random) = (service.clock.now(), u32::from_be_bytes(random()));
    let (id, attempts) = (&claimed.id, claimed.attempts);
    let outcome = judge(&attempt, attempts, &service.settings.webhook_retry_schedule, now, random);
    log(&attempt, sent.as_ref(), outcome);
    service.metrics.attempt(outcome.as_str());
    if let Some(delivery) = sent.as_ref().filter(|_| attempts == 1) {
        let after = now.duration_since(delivery.id.time());
        service.metrics.first_attempt(Duration::try_from(after).unwrap_or_default());
    }
    let signed_by = secrets.get().and_then(Option::as_ref).map(fingerprints).unwrap_or_default();
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let made = PastAttempt::new(&attempt, signed_by, started_at, duration_ms);
    let past_attempts = append_attempt(claimed.past_attempts.as_deref(), made);
    let ended = EndedAttempt { id, leased_until, attempt: &attempt, past_attempts, outcome, now };
    let judged = sent.as_ref().map(|delivery| judge_endpoint(delivery, &attempt, outcome, now)).unwrap_or_default();
    match (sql::end_attempt(&service.store, ended, judged).await, sent) {
        (Ok(Some(rows)), Some(delivery)) => {
            if let Err(error) = endpoints::report_change(&service.store, &delivery, outcome, &rows, now).await {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "could not record that an endpoint was disabled or enabled"
                );
            }
        }
        (Ok(Some(_)), None) => {}
        (Ok(None), _) => tracing::warn!("the attempt outlived its lease; the event may arrive twice"),
        (Err(error), _) => {
            tracing::warn!(error = format!("{error:#}"), "could not record the delivery attempt");
        }
    }
}

/// One line an attempt, in the span that names the event.
fn log(attempt: &Attempt, sent: Option<&Delivery>, outcome: DeliveryOutcome) {
    let Attempt { status, error, .. } = attempt;
    let (domain, endpoint) = (sent.map(|sent| sent.domain_id.as_str()), sent.map(|sent| endpoint_from_url(&sent.url)));
    match outcome {
        DeliveryOutcome::Delivered => tracing::info!(domain, endpoint, status, "event delivered"),
        DeliveryOutcome::Retry(next_attempt_at) => {
            tracing::warn!(domain, endpoint, status, error, %next_attempt_at, "delivery failed");
        }
        DeliveryOutcome::Failed => tracing::warn!(domain, endpoint, status, error, "delivery failed for good"),
    }
}

/// What is sent, and the header fields that sign it.
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
    for (name, value) in signatures(&delivery.id, delivery.body.as_bytes(), secrets, service.clock.now()) {
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
        within: ATTEMPT_TIMEOUT,
        keep: MAX_ANSWER_LEN,
    };
    let reach = service.reach(delivery.environment);
    let answer = match service.outbound.notify(reach, request).await {
        Ok(answer) => answer,
        Err(error) => return Attempt::failed(&error),
    };
    // Where private targets are open too, nobody knows which this was: a private one must not be read through us.
    let is_public = reach == Reach::Public;
    let said = is_public.then(|| String::from_utf8_lossy(&answer.body).replace('\0', ""));
    let is_refused = !(200..300).contains(&answer.status);
    let error = is_refused.then(|| format!("the endpoint responded with {}", answer.status));
    let retry_after = answer.retry_after.map(|after| after.wait(service.clock.now()));
    let date = answer.headers.get(DATE).filter(|_| is_refused).and_then(|date| date.to_str().ok());
    let clock_ahead_s = date.and_then(|date| seconds_ahead(date, service.clock.now()));
    Attempt { status: Some(answer.status), error, retry_after, answer: said, clock_ahead_s }
}

/// By how many seconds a `Date` is ahead of this time.
fn seconds_ahead(date: &str, now: Timestamp) -> Option<i64> {
    let theirs = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date).ok()?;
    Some(theirs.as_second().saturating_sub(now.as_second()))
}

impl Attempt {
    /// One without an answer.
    fn failed(error: &Error) -> Self {
        Self { status: None, error: Some(format!("{error:#}")), retry_after: None, answer: None, clock_ahead_s: None }
    }
}
