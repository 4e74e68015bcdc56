//! Observability: metrics, tracing spans and the log of the server.

mod durations;
mod feed_metrics;
pub mod log_limiter;
pub mod metrics;
mod request_name;
pub mod telemetry;
mod turn_waits;
pub mod untrusted_proxies;
pub mod wrong_host_log;

pub(crate) use request_name::RequestName;
pub use turn_waits::add_turn_wait;
pub(crate) use turn_waits::measure_turn_wait;
