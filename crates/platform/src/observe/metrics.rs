//! Metrics of the server for Prometheus, in the `OpenMetrics` text format, at a separate listen
//! address.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Result;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::durations::DurationHistogram;
pub use super::feed_metrics::FeedGauges;
use super::feed_metrics::write_feeds;
use super::request_name::RequestName;

/// Labels of completed requests. The route is a pattern of the router instead of the requested
/// path, so that clients cannot create new series.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

/// Labels of login session events.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SessionLabels {
    environment: &'static str,
    event: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AttemptLabels {
    outcome: &'static str,
}

/// Labels of messages at the limit of the locator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitedLabels {
    outcome: &'static str,
}

/// A message that waits for its turn. Dropping it ends the wait in the metrics.
#[derive(Debug)]
pub struct WaitingMessage(Gauge);

/// The metrics of the server. They are cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<MetricsInner>);

#[derive(Default)]
struct MetricsInner {
    /// Counters, and gauges of the process.
    counted: Registry,
    /// The [`ServiceGauges`].
    service_gauges: Registry,
    /// The [`DatabaseGauges`].
    database_gauges: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, DurationHistogram>,
    sessions: Family<SessionLabels, Counter>,
    attempts: Family<AttemptLabels, Counter>,
    first_attempts: DurationHistogram,
    passes: Counter,
    limited: Family<LimitedLabels, Counter>,
    waiting_messages: Gauge,
    outbox: Gauge,
    oldest: Gauge<f64, AtomicU64>,
    disabled: Gauge,
    waiting: Gauge,
    redis: Gauge,
    atms: Gauge,
    memory: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut all = MetricsInner {
            counted: Registry::with_prefix("signpost"),
            service_gauges: Registry::with_prefix("signpost"),
            database_gauges: Registry::with_prefix("signpost"),
            ..MetricsInner::default()
        };
        let counted = &mut all.counted;
        counted.register("build", "What runs", Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]));
        counted.register("http_requests", "Requests answered", all.requests.clone());
        let durations = all.durations.clone();
        counted.register_with_unit("http_request_duration", "Duration of requests", Unit::Seconds, durations);
        counted.register("sessions", "Session events", all.sessions.clone());
        counted.register("delivery_attempts", "Attempts to deliver an event, by outcome", all.attempts.clone());
        let first = "From the event to the end of the first attempt to deliver it";
        counted.register_with_unit("first_delivery_attempt", first, Unit::Seconds, all.first_attempts.clone());
        counted.register("outbox_passes", "Passes of the delivery worker", all.passes.clone());
        let limited = "Messages to /mcp and /sse at the rate limit, by outcome";
        counted.register("mcp_limited", limited, all.limited.clone());
        for outcome in ["waited", "refused"] {
            // Created before the first message, so that a rate can be computed for it.
            drop(all.limited.get_or_create(&LimitedLabels { outcome }));
        }
        let waiting = "Messages to /mcp and /sse that wait for their turn";
        counted.register("mcp_waiting", waiting, all.waiting_messages.clone());
        counted.register_with_unit("resident_memory", "Memory of the process", Unit::Bytes, all.memory.clone());
        let database = &mut all.database_gauges;
        database.register("deliveries_pending", "Events waiting for delivery", all.outbox.clone());
        let oldest = "Age of the oldest event waiting for delivery";
        database.register_with_unit("delivery_oldest_pending", oldest, Unit::Seconds, all.oldest.clone());
        database.register("endpoints_disabled", "Endpoints disabled after failing for days", all.disabled.clone());
        let services = &mut all.service_gauges;
        services.register("session_waiters", "Requests waiting for a session", all.waiting.clone());
        let redis = "1 while Redis responds or none is configured, else 0";
        services.register("redis_up", redis, all.redis.clone());
        services.register("machines", "ATMs in the catalogue", all.atms.clone());
        Self(Arc::new(all))
    }
}

/// The counters of a route, which are cached so that requests do not look them up.
pub(crate) struct RouteCounts {
    route: String,
    duration: DurationHistogram,
    /// Counters by method and status, in the order of their first use. Once all slots are used,
    /// further counters are looked up for every request.
    requests: [OnceLock<((&'static str, u16), Counter)>; 8],
}

impl RouteCounts {
    /// Counts a request by its method and status. `create` returns the counter when a combination
    /// is used for the first time.
    fn count(&self, key: (&'static str, u16), create: impl Fn() -> Counter) {
        for slot in &self.requests {
            let (known, counter) = slot.get_or_init(|| (key, create()));
            if *known == key {
                counter.inc();
                return;
            }
        }
        create().inc();
    }
}

impl Metrics {
    /// Counts a completed request. The first request of a route initializes `counts`.
    pub(crate) fn count_response(
        &self,
        counts: &OnceLock<RouteCounts>,
        request: &RequestName,
        status: u16,
        elapsed: Duration,
    ) {
        let method = match request.method.as_str() {
            "GET" => "GET",
            "POST" => "POST",
            "PATCH" => "PATCH",
            "DELETE" => "DELETE",
            "OPTIONS" => "OPTIONS",
            _ => "other",
        };
        let counts = counts.get_or_init(|| self.counts_for_route(request.route()));
        counts.count((method, status), || {
            let labels = RequestLabels { method, route: counts.route.clone(), status };
            self.0.requests.get_or_create(&labels).clone()
        });
        counts.duration.observe(elapsed);
    }

    fn counts_for_route(&self, route: &str) -> RouteCounts {
        let route = route.to_owned();
        let duration = self.0.durations.get_or_create(&RouteLabels { route: route.clone() }).clone();
        RouteCounts { route, duration, requests: Default::default() }
    }

    /// Counts a login session event: `created`, `authenticated` or `cancelled`.
    pub fn count_session_event(&self, environment: crate::accounts::Environment, event: &'static str) {
        self.0.sessions.get_or_create(&SessionLabels { environment: environment.as_str(), event }).inc();
    }

    /// Counts an attempt to deliver an event, with the outcome `delivered`, `retry` or `failed`.
    pub fn count_delivery_attempt(&self, outcome: &'static str) {
        self.0.attempts.get_or_create(&AttemptLabels { outcome }).inc();
    }

    /// Records the time from an event until the end of its first delivery attempt.
    pub fn observe_first_attempt(&self, after: Duration) {
        self.0.first_attempts.observe(after);
    }

    /// Counts a pass of the delivery worker over the outbox.
    pub fn count_outbox_pass(&self) {
        self.0.passes.inc();
    }

    /// Returns the number of passes of the delivery worker over the outbox.
    #[must_use]
    pub fn outbox_passes(&self) -> u64 {
        self.0.passes.get()
    }

    /// Counts a message at the rate limit of the locator: `waited` for its turn or was `refused`.
    pub fn limited_message(&self, outcome: &'static str) {
        self.0.limited.get_or_create(&LimitedLabels { outcome }).inc();
    }

    /// Records that a message waits for its turn, until the result is dropped.
    #[must_use]
    pub fn begin_wait(&self) -> WaitingMessage {
        self.0.waiting_messages.inc();
        WaitingMessage(self.0.waiting_messages.clone())
    }

    /// Returns the number of messages that wait for their turn.
    #[must_use]
    pub fn waiting_messages(&self) -> i64 {
        self.0.waiting_messages.get()
    }

    /// Returns all metrics as text. Omits gauges that could not be measured, because an incorrect
    /// zero would trigger alerts.
    ///
    /// # Errors
    /// Returns an error if formatting fails, which does not happen in memory.
    pub fn write_text(&self, services: Option<ServiceGauges>, database: Option<DatabaseGauges>) -> Result<String> {
        let Self(all) = self;
        all.memory.set(resident_bytes().unwrap_or(0));
        let mut written = String::new();
        text::encode_registry(&mut written, &all.counted)?;
        if let Some(gauges) = services {
            all.redis.set(gauges.is_redis_reachable.into());
            all.waiting.set(gauges.waiting_requests);
            all.atms.set(gauges.atms);
            text::encode_registry(&mut written, &all.service_gauges)?;
        }
        if let Some(gauges) = database {
            all.outbox.set(gauges.pending_deliveries);
            all.oldest.set(gauges.oldest_delivery_seconds);
            all.disabled.set(gauges.disabled_endpoints);
            text::encode_registry(&mut written, &all.database_gauges)?;
            write_feeds(&mut written, &gauges.feeds)?;
        }
        text::encode_eof(&mut written)?;
        Ok(written)
    }
}

/// Gauges of the services, measured when the metrics are requested.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ServiceGauges {
    pub is_redis_reachable: bool,
    pub waiting_requests: i64,
    pub atms: i64,
}

/// Gauges from the database, queried when the metrics are requested.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct DatabaseGauges {
    pub pending_deliveries: i64,
    pub oldest_delivery_seconds: f64,
    pub disabled_endpoints: i64,
    pub feeds: Vec<FeedGauges>,
}

/// Returns the resident memory of this process in bytes, if the operating system reports it.
fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<i64>().ok().map(|kib| kib * 1024)
}

impl Drop for WaitingMessage {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl fmt::Debug for RouteCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RouteCounts")
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, Method};

    use super::*;

    #[test]
    fn each_request_is_counted_once() {
        let (metrics, counts) = (Metrics::default(), OnceLock::new());
        for status in (200..212).chain(200..212) {
            for method in [Method::GET, Method::PUT] {
                let id = HeaderValue::from_static("req_1");
                let request = RequestName { id, method, route: None, status: None };
                metrics.count_response(&counts, &request, status, Duration::from_millis(2));
            }
        }
        let text = metrics.write_text(None, None).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with("signpost_http_requests_total{")).collect();
        assert_eq!(lines.len(), 24, "{text}");
        assert!(lines.iter().all(|line| line.ends_with("} 2")), "{lines:?}");
        assert!(text.contains("signpost_http_request_duration_seconds_count{route=\"none\"} 48"), "{text}");
    }

    #[test]
    fn waiting_messages_are_counted_until_they_end() {
        let metrics = Metrics::default();
        let waiting = [metrics.begin_wait(), metrics.begin_wait()];
        metrics.limited_message("waited");
        let text = metrics.write_text(None, None).unwrap();
        assert!(text.contains("signpost_mcp_waiting 2"), "{text}");
        assert!(text.contains("signpost_mcp_limited_total{outcome=\"waited\"} 1"), "{text}");
        drop(waiting);
        assert_eq!(metrics.waiting_messages(), 0);
    }

    #[test]
    fn unmeasured_gauges_are_omitted() {
        let metrics = Metrics::default();
        let services = ServiceGauges { is_redis_reachable: true, waiting_requests: 3, atms: 40 };
        let feed = FeedGauges { name: "osm-US".to_owned(), failures: 2, last_success_seconds: None };
        let database = DatabaseGauges {
            pending_deliveries: 7,
            oldest_delivery_seconds: 1.5,
            disabled_endpoints: 0,
            feeds: vec![feed],
        };
        let full = metrics.write_text(Some(services), Some(database)).unwrap();
        for line in [
            "signpost_deliveries_pending 7",
            "signpost_machines 40",
            "signpost_session_waiters 3",
            "signpost_feed_failures{feed=\"osm-US\"} 2",
        ] {
            assert!(full.lines().any(|found| found == line), "{line} is not in {full}");
        }
        let without = metrics.write_text(None, None).unwrap();
        for name in ["signpost_deliveries_pending", "signpost_machines", "signpost_redis_up", "signpost_feed_failures"]
        {
            assert!(!without.contains(name), "{name} is in {without}");
        }
        assert!(full.ends_with("# EOF\n") && full.matches("# EOF").count() == 1, "{full}");
        assert!(without.contains("signpost_build_info{version=") && without.ends_with("# EOF\n"), "{without}");
    }
}
