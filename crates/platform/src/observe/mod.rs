//! Observability: metrics, tracing spans and the log of the server.

mod durations;
pub mod log_limiter;
pub mod metrics;
mod request_name;
pub mod telemetry;
pub mod untrusted_proxies;
pub mod wrong_host_log;

pub(crate) use request_name::RequestName;
