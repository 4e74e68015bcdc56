//! What an operator sees of a running server: counters, spans and the log.

pub mod metrics;
pub mod telemetry;
