//! The command `signpost listen`: forwards events to a receiver on this machine.

mod cursor;
mod lines;

use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use serde_json::Value;
use signpost_login::events::deliveries::list_after;
use signpost_login::events::{DeliveryRow, DeliveryScope, deliveries, signatures};
use signpost_login::ids::EventId;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::EgressPolicy;
use signpost_store::Store;
use tokio::time::sleep;
use url::Url;

use self::cursor::OutboxCursor;
use self::lines::{ListenLines, OutputClosed};
use super::Session;
use super::domain_filter::DomainFilter;
use super::signer::{self, DomainChoice, SigningDomain};
use super::stop_signal::stop_signal;
use crate::receiver::diagnose::{RefusalCause, diagnose};
use crate::receiver::{EventTarget, TargetReply, parse_target};

/// Interval between two reads of the outbox.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Number of events that are read at a time.
const PAGE_LEN: u32 = 200;
/// Lifetime of a finding: the receiver is tested once for a burst of refused events.
const FINDING_LIFETIME: Duration = Duration::from_secs(5);
/// Maximum number of domains that are listed at the start.
const MAX_NAMED: usize = 20;

#[derive(Debug, Args)]
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
    store: Store,
    target: EventTarget,
    lines: ListenLines,
    scope: DeliveryScope,
    cursor: OutboxCursor,
    /// The last finding, and its time.
    finding: Option<(Instant, RefusalCause)>,
}

impl Listen {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let stop = stop_signal()?;
        let Self { forward_to, domain, domain_filter } = self;
        let choice = DomainChoice { domain, domain_filter };
        let store = session.store()?;
        let named = choice.named(session, &store).await?;
        let environment = choice.environment();
        let event_source =
            named.as_ref().map_or_else(|| format!("the {environment}"), |one| one.domain.name.to_string());
        let (scope, domains) = if let Some(one) = named {
            (DeliveryScope { domain: Some(one.domain.id.clone()), ..DeliveryScope::default() }, vec![one])
        } else {
            let mut domains = Vec::new();
            for id in choice.all(&store).await?.iter().take(MAX_NAMED) {
                domains.push(signer::find(session, &store, id).await?);
            }
            let account = choice.domain_filter.account.clone();
            (DeliveryScope { domain: None, environment: Some(environment), account }, domains)
        };
        let lines = ListenLines { json: session.json };
        let target = EventTarget::new(forward_to, EgressPolicy::Loopback);
        let cursor = OutboxCursor::default();
        let mut forwarder = Forwarder { session, store, target, lines, scope, cursor, finding: None };
        forwarder.begin().await?;
        if let Err(error) = forwarder.lines.ready(&forwarder.target.url, &event_source, &domains) {
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
        let newest = deliveries::list_all(&self.store, None, 1).await?.pop();
        if let Some(newest) = newest {
            self.cursor.is_new(&newest.delivery.id);
        }
        let mut after = self.cursor.start();
        loop {
            let page = list_after(&self.store, &after, &self.scope, PAGE_LEN).await?;
            for row in &page {
                self.cursor.is_new(&row.id);
            }
            match page.last() {
                Some(last) if page.len() == PAGE_LEN as usize => after = last.id.clone(),
                _ => return Ok(()),
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
                // The database may be unavailable temporarily. The error is reported once, and the
                // read is retried.
                Err(error) if !has_failed => {
                    has_failed = true;
                    let line = format!("signpost: cannot read events, trying again: {error:#}");
                    eprintln!("{}", signpost_text::clean_line(&line));
                }
                Err(_) => {}
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Reads the events of the last minute, page by page, and forwards new events.
    async fn pass(&mut self) -> Result<()> {
        let mut after = self.cursor.start();
        loop {
            let page = list_after(&self.store, &after, &self.scope, PAGE_LEN).await?;
            let next = page.last().filter(|_| page.len() == PAGE_LEN as usize).map(|last| last.id.clone());
            for row in page {
                if self.cursor.is_new(&row.id) {
                    self.forward(&row).await?;
                }
            }
            self.cursor.prune();
            match next {
                Some(next) => after = next,
                None => return Ok(()),
            }
        }
    }

    async fn forward(&mut self, row: &DeliveryRow) -> Result<()> {
        let DeliveryRow { id, body, domain_id, .. } = row;
        let signing = signer::find(self.session, &self.store, domain_id).await;
        let name = signing.as_ref().map_or(domain_id.as_str(), |signing| signing.domain.name.as_str());
        let now = Clock::System.now();
        self.lines.event(now, id.as_str(), &kind(body), name)?;
        let signing = match signing {
            Ok(signing) => signing,
            Err(error) => return self.lines.no_answer(now, id.as_str(), &format!("{error:#}")),
        };
        let fields = signatures(id.as_str(), body.as_bytes(), &signing.secrets, now.as_second());
        match self.target.post(body.as_bytes(), &fields).await {
            Ok(reply) => {
                self.lines.answer(Clock::System.now(), id.as_str(), &reply)?;
                self.explain(id, &signing, &reply).await
            }
            Err(error) => self.lines.no_answer(Clock::System.now(), id.as_str(), &format!("{error:#}")),
        }
    }

    /// Prints why the receiver refused the event, if it did.
    async fn explain(&mut self, id: &EventId, signing: &SigningDomain, reply: &TargetReply) -> Result<()> {
        if !reply.is_refusal() {
            self.finding = None;
            return Ok(());
        }
        if let Some((at, finding)) = &self.finding
            && at.elapsed() < FINDING_LIFETIME
        {
            return self.lines.finding(id.as_str(), finding);
        }
        let others = signer::other_secrets(self.session, &self.store, Some(&signing.domain.id)).await;
        let finding = diagnose(&self.target, reply, &signing.secrets, &others).await;
        self.lines.finding(id.as_str(), &finding)?;
        self.finding = Some((Instant::now(), finding));
        Ok(())
    }
}

/// Returns the kind of an event.
fn kind(body: &str) -> String {
    let event: Value = serde_json::from_str(body).unwrap_or_default();
    event["event"].as_str().unwrap_or("unknown").to_owned()
}
