//! Sets up logging to standard error and, with the feature `otlp`, the export of spans to an
//! OpenTelemetry collector.

use std::io::IsTerminal;

use anyhow::Result;
use axum::http::HeaderMap;
use serde::Deserialize;
use tracing::Span;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use url::Url;

use super::request_name::{JsonLines, RequestName, TextFields};

/// Target of request spans. They are for the collector only, because log lines already contain
/// their request.
const REQUESTS: &str = "signpost::requests";

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text for people and `grep`: time, level, message and `name=value` fields.
    Text,
    /// One JSON document per line, for programs.
    Json,
}

/// The running logging and tracing. Call [`Telemetry::end`] to send the remaining spans.
#[derive(Debug)]
#[must_use]
pub struct Telemetry {
    #[cfg(feature = "otlp")]
    #[expect(dead_code, reason = "only its drop is needed")]
    spans: Option<otlp::Spans>,
}

/// Starts logging to standard error, with colours if it is a terminal, and sends spans to the
/// `collector`, if given.
///
/// # Errors
/// Returns an error if the collector URL cannot be used, or if this program was built without the
/// feature `otlp`.
pub fn start(level: LevelFilter, format: LogFormat, collector: Option<&Url>) -> Result<Telemetry> {
    let log = tracing_subscriber::fmt::layer().with_target(false).with_writer(std::io::stderr);
    let log = match format {
        LogFormat::Text => log.fmt_fields(TextFields).with_ansi(std::io::stderr().is_terminal()).boxed(),
        LogFormat::Json => {
            let lines = tracing_subscriber::fmt::format().json().flatten_event(true).with_span_list(false);
            log.event_format(JsonLines(lines.with_target(false))).fmt_fields(JsonFields::new()).boxed()
        }
    };
    let registry = tracing_subscriber::registry().with(log.with_filter(log_filter(level)));
    #[cfg(feature = "otlp")]
    {
        let spans = collector.map(otlp::Spans::start).transpose()?;
        registry.with(spans.as_ref().map(otlp::Spans::layer)).try_init()?;
        Ok(Telemetry { spans })
    }
    #[cfg(not(feature = "otlp"))]
    {
        anyhow::ensure!(
            collector.is_none(),
            "otlp_endpoint is set, but this program was built without traces; build it with 'cargo build --release \
             --features otlp'"
        );
        registry.try_init()?;
        Ok(Telemetry {})
    }
}

/// Returns the log filter: lines of this program from `level` up, and of libraries from warnings
/// up. Other lines of some libraries contain untrusted input with its line breaks.
fn log_filter(level: LevelFilter) -> Targets {
    let lines = Targets::new().with_target("signpost", level).with_target(REQUESTS, LevelFilter::OFF);
    lines.with_default(level.min(LevelFilter::WARN))
}

impl Telemetry {
    /// Sends the remaining spans and waits for the collector.
    pub async fn end(self) {
        // Exporting blocks, so it runs on a blocking thread.
        drop(tokio::task::spawn_blocking(|| drop(self)).await);
    }
}

/// Returns the span of a request. It joins the trace that the request headers identify (W3C Trace
/// Context), if any.
pub(crate) fn request_span(request: &RequestName, headers: &HeaderMap) -> Span {
    let span = tracing::info_span!(
        target: REQUESTS,
        "request",
        id = request.id(),
        method = request.method.as_str(),
        route = request.route(),
        status = tracing::field::Empty,
    );
    #[cfg(feature = "otlp")]
    otlp::set_parent_from_headers(&span, headers);
    #[cfg(not(feature = "otlp"))]
    let _ = headers;
    span
}

#[cfg(feature = "otlp")]
mod otlp {
    use anyhow::{Context, Result};
    use axum::http::HeaderMap;
    use opentelemetry::propagation::{Extractor, TextMapPropagator};
    use opentelemetry::trace::{TraceContextExt, TracerProvider};
    use opentelemetry_otlp::{Protocol, WithExportConfig};
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::propagation::TraceContextPropagator;
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use tracing::Span;
    use tracing::level_filters::LevelFilter;
    use tracing_opentelemetry::OpenTelemetrySpanExt;
    use tracing_subscriber::Layer;
    use url::Url;

    /// Sends spans to a collector in batches, on a separate thread.
    #[derive(Debug)]
    pub(crate) struct Spans(SdkTracerProvider);

    impl Spans {
        pub(crate) fn start(endpoint: &Url) -> Result<Self> {
            // Fails only if a provider is already installed.
            drop(rustls::crypto::ring::default_provider().install_default());
            let exporter = opentelemetry_otlp::SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
            let exporter = exporter.with_endpoint(endpoint.as_str());
            // The HTTP client blocks, so it must be created on a blocking thread.
            let built = std::thread::spawn(|| exporter.build()).join();
            let exporter = built.map_err(|_| anyhow::anyhow!("the trace exporter panicked"))?;
            let exporter = exporter.with_context(|| format!("cannot send traces to {endpoint}"))?;
            let resource = Resource::builder().with_service_name("signpost").build();
            let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource);
            Ok(Self(provider.build()))
        }

        pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
        where
            S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
        {
            tracing_opentelemetry::layer().with_tracer(self.0.tracer("signpost")).with_filter(LevelFilter::INFO)
        }
    }

    impl Drop for Spans {
        fn drop(&mut self) {
            // An unreachable collector does not prevent the server from stopping.
            drop(self.0.shutdown());
        }
    }

    struct Fields<'a>(&'a HeaderMap);

    impl Extractor for Fields<'_> {
        fn get(&self, key: &str) -> Option<&str> {
            self.0.get(key)?.to_str().ok()
        }

        fn keys(&self) -> Vec<&str> {
            self.0.keys().map(axum::http::HeaderName::as_str).collect()
        }
    }

    pub(super) fn set_parent_from_headers(span: &Span, headers: &HeaderMap) {
        if span.is_disabled() {
            return;
        }
        let parent = TraceContextPropagator::new().extract(&Fields(headers));
        if parent.span().span_context().is_valid() {
            // Fails without a collector, when there is no trace.
            let _ = span.set_parent(parent);
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn libraries_log_from_warnings_on() {
        let debug = log_filter(LevelFilter::DEBUG);
        for ours in ["signpost::server", "signpost_login::flows::submit", "signpost_platform"] {
            assert!(debug.would_enable(ours, &Level::DEBUG), "{ours}");
        }
        assert!(!debug.would_enable("hickory_proto::xfer", &Level::INFO));
        assert!(debug.would_enable("hickory_proto::xfer", &Level::WARN));
        assert!(!debug.would_enable(REQUESTS, &Level::INFO) && debug.would_enable("signpost::server", &Level::INFO));
        assert!(!log_filter(LevelFilter::ERROR).would_enable("hyper", &Level::WARN));
    }
}
