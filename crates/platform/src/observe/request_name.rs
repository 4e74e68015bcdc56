//! Adds the request to each of its log lines.
//!
//! Log lines start with the name of their request, but few requests log a line. A tracing span is
//! formatted when it begins, even if no line is logged; this name is formatted only for log lines.

use std::fmt;

use axum::extract::MatchedPath;
use axum::http::{HeaderValue, Method};
use serde_json::Value;
use tokio::task::futures::TaskLocalFuture;
use tracing::{Event, Subscriber};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::{DefaultFields, Format, Json, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

tokio::task_local! {
    /// The request that the current task handles.
    static CURRENT: RequestName;
}

/// The name of a request in the log.
#[derive(Clone, Debug)]
pub(crate) struct RequestName {
    /// The request ID, also sent in the response.
    pub(crate) id: HeaderValue,
    pub(crate) method: Method,
    /// The matched route, or `None` if no route matches.
    pub(crate) route: Option<MatchedPath>,
    /// The status of the response, if it was sent.
    pub(crate) status: Option<u16>,
}

impl RequestName {
    /// Returns the route for log lines and metrics.
    pub(crate) fn route(&self) -> &str {
        self.route.as_ref().map_or("none", MatchedPath::as_str)
    }

    pub(crate) fn id(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }

    /// Runs a future and adds this name to all log lines in it.
    pub(crate) fn scope<F: Future>(self, running: F) -> TaskLocalFuture<Self, F> {
        CURRENT.scope(self, running)
    }

    /// Runs a function and adds this name to all log lines in it.
    pub(crate) fn in_scope<T>(self, run: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self, run)
    }

    /// Writes the name in the text format of a span with these fields.
    fn write(&self, writer: &mut Writer<'_>) -> fmt::Result {
        paint(writer, BOLD, "request")?;
        paint(writer, BOLD, "{")?;
        write_field(writer, "id", self.id())?;
        writer.write_char(' ')?;
        write_field(writer, "method", self.method.as_str())?;
        writer.write_char(' ')?;
        write_field(writer, "route", &format!("{:?}", self.route()))?;
        if let Some(status) = self.status {
            writer.write_char(' ')?;
            write_field(writer, "status", &status.to_string())?;
        }
        paint(writer, BOLD, "}")?;
        paint(writer, DIMMED, ":")?;
        writer.write_char(' ')
    }

    /// Returns the name in the JSON format of a span with these fields.
    fn to_json(&self) -> String {
        let [id, method, route] = [self.id(), self.method.as_str(), self.route()].map(Value::from);
        let status = self.status.map(|status| format!("\"status\":{status},")).unwrap_or_default();
        format!("{{\"id\":{id},\"method\":{method},\"route\":{route},{status}\"name\":\"request\"}}")
    }
}

const BOLD: u8 = 1;
const DIMMED: u8 = 2;
const ITALIC: u8 = 3;

fn write_field(writer: &mut Writer<'_>, name: &str, value: &str) -> fmt::Result {
    paint(writer, ITALIC, name)?;
    paint(writer, DIMMED, "=")?;
    writer.write_str(value)
}

/// Writes a text, with an ANSI style if the log is a terminal.
fn paint(writer: &mut Writer<'_>, style: u8, text: &str) -> fmt::Result {
    if writer.has_ansi_escapes() { write!(writer, "\x1b[{style}m{text}\x1b[0m") } else { writer.write_str(text) }
}

/// Formats the fields of a log line as text, after the name of the current request, if any.
#[derive(Debug)]
pub(crate) struct TextFields;

impl<'writer> FormatFields<'writer> for TextFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        CURRENT.try_with(|name| name.write(&mut writer)).unwrap_or(Ok(()))?;
        DefaultFields::new().format_fields(writer, fields)
    }
}

/// Formats a log line as JSON, with the name of the current request as the last member.
#[derive(Debug)]
pub(crate) struct JsonLines<T>(pub(crate) Format<Json, T>);

impl<S, N, T> FormatEvent<S, N> for JsonLines<T>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    T: FormatTime,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let Ok(request) = CURRENT.try_with(RequestName::to_json) else {
            return self.0.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        let open = line.trim_end().strip_suffix('}').ok_or(fmt::Error)?;
        writeln!(writer, "{open},\"span\":{request}}}")
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing::subscriber::with_default;
    use tracing_subscriber::Layer;
    use tracing_subscriber::fmt::format::JsonFields;
    use tracing_subscriber::fmt::{format, layer};
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::registry::Registry;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    type Log = Box<dyn Layer<Registry> + Send + Sync>;

    /// Returns the lines that a tracing layer writes.
    fn written(log: impl FnOnce(Written) -> Log, emit: impl FnOnce()) -> String {
        let written = Written::default();
        with_default(tracing_subscriber::registry().with(log(written.clone())), emit);
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn emit() {
        tracing::warn!(caller = "192.0.2.1", count = 3, "a \"line\"");
        tracing::info!("another");
    }

    fn named(status: Option<u16>) -> RequestName {
        RequestName { id: HeaderValue::from_static("req_1"), method: Method::GET, route: None, status }
    }

    fn in_a_span(status: Option<u16>) {
        let span = tracing::info_span!("request", id = %"req_1", method = %Method::GET, route = "none", status);
        span.in_scope(emit);
    }

    #[test]
    fn text_line_equals_a_span() {
        for status in [None, Some(404)] {
            for ansi in [false, true] {
                let by_span = |to: Written| {
                    let log = layer().without_time().with_target(false).with_ansi(ansi);
                    log.with_writer(move || to.clone()).boxed()
                };
                let ours = |to: Written| {
                    let log = layer().without_time().with_target(false).fmt_fields(TextFields).with_ansi(ansi);
                    log.with_writer(move || to.clone()).boxed()
                };
                let expected = written(by_span, || in_a_span(status));
                assert!(expected.contains("req_1") && expected.contains("404") == status.is_some(), "{expected}");
                assert_eq!(written(ours, || named(status).in_scope(emit)), expected);
                assert_eq!(written(ours, emit), written(by_span, emit));
            }
        }
    }

    #[test]
    fn json_line_equals_a_span() {
        let lines = || format().json().without_time().flatten_event(true).with_span_list(false);
        let by_span = |to: Written| {
            let log = layer().event_format(lines()).fmt_fields(JsonFields::new());
            log.with_writer(move || to.clone()).boxed()
        };
        let ours = |to: Written| {
            let log = layer().event_format(JsonLines(lines())).fmt_fields(JsonFields::new());
            log.with_writer(move || to.clone()).boxed()
        };
        for status in [None, Some(404)] {
            let expected = written(by_span, || in_a_span(status));
            assert!(expected.contains("req_1"), "{expected}");
            assert_eq!(written(ours, || named(status).in_scope(emit)), expected);
        }
        assert_eq!(written(ours, emit), written(by_span, emit));
    }
}
