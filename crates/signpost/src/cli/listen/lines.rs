//! Prints the output of `signpost listen`: a line or a JSON document for each event and each
//! answer.

use std::io::{ErrorKind, Write};

use anyhow::Result;
use jiff::Timestamp;
use serde_json::{Value, json};
use url::Url;

use super::source::ListenDomain;
use crate::receiver::TargetReply;
use crate::receiver::diagnose::RefusalCause;

/// Indentation of a finding, below the text after the time and the arrow.
const INDENT: &str = "               ";

/// The printer of the lines.
#[derive(Debug)]
pub(super) struct ListenLines {
    pub(super) json: bool,
}

/// The error for an output that was closed, such as a pipe.
#[derive(Debug, thiserror::Error)]
#[error("the output is closed")]
pub(super) struct OutputClosed;

impl ListenLines {
    /// Prints the target, and the secrets that the receiver needs if they are known.
    pub(super) fn ready(&self, target: &Url, event_source: &str, domains: &[ListenDomain]) -> Result<()> {
        if self.json {
            let domains: Vec<_> = domains.iter().map(domain_document).collect();
            return print_json(&json!({ "type": "ready", "forward_to": target.as_str(), "domains": domains }));
        }
        let mut lines = vec![format!("Ready. Forwards events of {event_source} to {target}. Ctrl+C stops.")];
        if domains.iter().any(|domain| domain.secrets.is_none()) {
            lines.push(
                "The service signs them with the secrets that it showed when the domains were registered.".to_owned(),
            );
        }
        for ListenDomain { name, events_url, secrets, .. } in domains {
            if let Some(secrets) = secrets {
                lines.push(format!("Secret of {name}: {}", secrets.current.reveal()));
                let next = secrets.next.as_ref();
                lines.extend(next.map(|next| format!("  and, from its activation on: {}", next.reveal())));
            }
            if events_url.as_ref() == Some(target) {
                lines.push(format!(
                    "  The server sends events of {name} there too: each arrives twice, with the same ID."
                ));
            }
        }
        lines.push(String::new());
        print_text(&lines.join("\n"))
    }

    pub(super) fn event(&self, now: Timestamp, id: &str, kind: &str, domain: &str) -> Result<()> {
        if self.json {
            return print_json(&json!({
                "type": "event", "at": now.to_string(), "id": id, "event": kind, "domain": domain
            }));
        }
        print_text(&format!("{}  -->  {kind:8}  {id}  {domain}", clock(now)))
    }

    pub(super) fn answer(&self, now: Timestamp, id: &str, reply: &TargetReply) -> Result<()> {
        let status = reply.status;
        let millis = reply.millis();
        if self.json {
            return print_json(&json!({
                "type": "answer", "at": now.to_string(), "id": id, "status": status, "ms": millis
            }));
        }
        let excerpt =
            if reply.is_success() || reply.excerpt.is_empty() { String::new() } else { format!("  {}", reply.excerpt) };
        print_text(&format!("{}  <--  {status}  {millis} ms{excerpt}", clock(now)))
    }

    pub(super) fn no_answer(&self, now: Timestamp, id: &str, reason: &str) -> Result<()> {
        if self.json {
            return print_json(&json!({ "type": "answer", "at": now.to_string(), "id": id, "error": reason }));
        }
        print_text(&format!("{}  <--  failed: {reason}", clock(now)))
    }

    /// Prints how to find the reason of a refusal if the secrets are unknown.
    pub(super) fn no_finding(&self, id: &str) -> Result<()> {
        const HOW: &str = "refused: log the bytes and the headers that came, and run 'signpost webhook verify' with the \
                           secret of the receiver";
        if self.json {
            return print_json(
                &json!({ "type": "diagnosis", "id": id, "mistake": "unknown", "text": HOW, "mending": [] }),
            );
        }
        print_text(&format!("{INDENT}{HOW}"))
    }

    pub(super) fn finding(&self, id: &str, finding: &RefusalCause) -> Result<()> {
        if self.json {
            let mut document = finding.document();
            document["type"] = "diagnosis".into();
            document["id"] = id.into();
            return print_json(&document);
        }
        let mut lines = vec![format!("{INDENT}{}", finding.text())];
        lines.extend(finding.remedies().into_iter().map(|line| format!("{INDENT}  {line}")));
        print_text(&lines.join("\n"))
    }
}

fn domain_document(domain: &ListenDomain) -> Value {
    let ListenDomain { id, name, environment, secrets, .. } = domain;
    let mut document = json!({ "domain_id": id, "domain": name, "environment": environment });
    if let Some(secrets) = secrets {
        document["webhook_secret"] = secrets.current.reveal().into();
        if let Some(next) = &secrets.next {
            document["next_webhook_secret"] = next.reveal().into();
        }
    }
    document
}

fn clock(now: Timestamp) -> String {
    now.strftime("%H:%M:%S").to_string()
}

fn print_json(document: &Value) -> Result<()> {
    print(&signpost_text::escape_json(&document.to_string()))
}

fn print_text(text: &str) -> Result<()> {
    print(&signpost_text::clean_text(text))
}

fn print(text: &str) -> Result<()> {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(OutputClosed.into()),
        printed => Ok(printed?),
    }
}
