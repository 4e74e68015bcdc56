//! The command `signpost listen`: forwards events to a receiver on this machine.

mod cursor;
mod lines;
mod source;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use serde_json::Value;
use signpost_login::ids::EventId;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::EgressPolicy;
use tokio::time::sleep;
use url::Url;

use self::cursor::OutboxCursor;
use self::lines::{ListenLines, OutputClosed};
use self::source::{EventSource, OutboxEvent};
use super::Session;
use super::domain_filter::DomainFilter;
use super::signer::{self, DomainChoice, SigningDomain};
use super::stop_signal::stop_signal;
use crate::receiver::diagnose::{RefusalCause, diagnose, diagnose_without_secret};
use crate::receiver::{EventTarget, TargetReply, parse_target};

/// Maximum length of the kind of an event in the output, in characters.
const MAX_KIND_LEN: usize = 64;
/// Lifetime of a finding: the receiver is tested once for a burst of refused events.
const FINDING_LIFETIME: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Listen {
    /// URL of your receiver; plain http only on this machine
    #[arg(long, value_name = "URL", value_parser = parse_target)]
    forward_to: Url,
    /// Only events of this domain, by its ID or name [default: all domains of the sandbox]
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    #[command(flatten)]
    domain_filter: DomainFilter,
}

/// Forwards new events to a receiver.
struct Forwarder<'a> {
    session: &'a Session,
    source: EventSource<'a>,
    target: EventTarget,
    lines: ListenLines,
    cursor: OutboxCursor,
    /// The last finding, and its time.
    finding: Option<(Instant, RefusalCause)>,
}

impl Listen {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let stop = stop_signal()?;
        let Self { forward_to, domain, domain_filter } = self;
        let choice = DomainChoice { domain, domain_filter };
        let (source, domains, selection) = EventSource::open(session, &choice).await?;
        let lines = ListenLines { json: session.json };
        let target = EventTarget::new(forward_to, EgressPolicy::Loopback);
        let cursor = OutboxCursor::default();
        let mut forwarder = Forwarder { session, source, target, lines, cursor, finding: None };
        forwarder.begin().await?;
        if let Err(error) = forwarder.lines.ready(&forwarder.target.url, &selection, &domains) {
            return ignore_closed_output(error);
        }
        tokio::select! {
            () = stop => Ok(()),
            ended = forwarder.run() => ended.or_else(ignore_closed_output),
        }
    }
}

/// Ends the command without an error if the output was closed.
fn ignore_closed_output(error: anyhow::Error) -> Result<()> {
    if error.is::<OutputClosed>() { Ok(()) } else { Err(error) }
}

impl Forwarder<'_> {
    /// Marks the existing events as seen. They are not forwarded.
    async fn begin(&mut self) -> Result<()> {
        if let Some(newest) = self.source.newest().await? {
            self.cursor.is_new(&newest);
        }
        let mut after = self.cursor.start();
        loop {
            let page = self.source.page(&after).await?;
            for event in &page.events {
                self.cursor.is_new(&event.id);
            }
            self.cursor.prune();
            match page.next {
                Some(next) => after = later(next, &after)?,
                None => return Ok(()),
            }
        }
    }

    /// Forwards new events until the output is closed.
    async fn run(&mut self) -> Result<()> {
        let mut has_failed = false;
        loop {
            match self.pass().await {
                Ok(()) => has_failed = false,
                Err(error) if error.is::<OutputClosed>() => return Err(error),
                // The database or the service may be unavailable temporarily. The error is reported once, and the
                // read is retried.
                Err(error) if !has_failed => {
                    has_failed = true;
                    let line = format!("signpost: cannot read events, trying again: {error:#}");
                    eprintln!("{}", signpost_text::clean_line(&line));
                }
                Err(_) => {}
            }
            sleep(self.source.interval()).await;
        }
    }

    /// Reads the events of the last minute, page by page, and forwards new events.
    async fn pass(&mut self) -> Result<()> {
        let mut after = self.cursor.start();
        loop {
            let page = self.source.page(&after).await?;
            for event in page.events {
                if self.cursor.is_new(&event.id) {
                    self.forward(event).await?;
                }
            }
            self.cursor.prune();
            match page.next {
                Some(next) => after = later(next, &after)?,
                None => return Ok(()),
            }
        }
    }

    async fn forward(&mut self, mut event: OutboxEvent) -> Result<()> {
        let signed = self.source.sign(&mut event).await;
        let OutboxEvent { id, body, domain_id, .. } = event;
        let name = signed.as_ref().map_or(domain_id.as_str(), |signed| &signed.domain);
        let now = Clock::System.now();
        self.lines.event(now, id.as_str(), &kind(&body), name)?;
        let signed = match signed {
            Ok(signed) => signed,
            Err(error) => return self.lines.no_answer(now, id.as_str(), &format!("{error:#}")),
        };
        match self.target.post(body.as_bytes(), &signed.fields).await {
            Ok(reply) => {
                self.lines.answer(Clock::System.now(), id.as_str(), &reply)?;
                self.explain(&id, signed.signing.as_ref(), &reply).await
            }
            Err(error) => self.lines.no_answer(Clock::System.now(), id.as_str(), &format!("{error:#}")),
        }
    }

    /// Prints why the receiver refused the event, if it did. Without the secrets of the domain, only causes that need
    /// no signature are found.
    async fn explain(&mut self, id: &EventId, signing: Option<&SigningDomain>, reply: &TargetReply) -> Result<()> {
        if !reply.is_refusal() {
            self.finding = None;
            return Ok(());
        }
        if let Some((at, finding)) = &self.finding
            && at.elapsed() < FINDING_LIFETIME
        {
            return self.lines.finding(id.as_str(), finding);
        }
        let finding = match (signing, &self.source) {
            (Some(signing), EventSource::Database { store, .. }) => {
                let others = signer::other_secrets(self.session, store, Some(&signing.domain.id)).await;
                Some(diagnose(&self.target, reply, &signing.secrets, &others).await)
            }
            _ => diagnose_without_secret(&self.target, reply).await,
        };
        let Some(finding) = finding else { return self.lines.no_finding(id.as_str()) };
        self.lines.finding(id.as_str(), &finding)?;
        self.finding = Some((Instant::now(), finding));
        Ok(())
    }
}

/// Returns the start of the next page. It must be after the start of this page, or the pages would have no end.
fn later(next: EventId, after: &EventId) -> Result<EventId> {
    ensure!(next > *after, "the service repeats a page of events");
    Ok(next)
}

/// Returns the kind of an event, as the start of a single line.
fn kind(body: &str) -> String {
    let event: Value = serde_json::from_str(body).unwrap_or_default();
    let kind = event["event"].as_str().unwrap_or("unknown");
    signpost_text::clean_line(kind).chars().take(MAX_KIND_LEN).collect()
}
