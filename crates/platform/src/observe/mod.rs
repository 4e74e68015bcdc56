//! Metrics, spans and the log of a server.

mod durations;
pub mod host_refusals;
pub mod log_limiter;
pub mod metrics;
mod request_name;
pub mod telemetry;
pub mod untrusted_proxies;

pub(crate) use request_name::RequestName;
