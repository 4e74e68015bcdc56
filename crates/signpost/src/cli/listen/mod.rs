//! `signpost listen`

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
use signpost_platform::outbound::Reach;
use signpost_store::Store;
use tokio::time::sleep;
use url::Url;

use self::cursor::OutboxCursor;
use self::lines::{ListenLines, NoReader};
use super::Session;
use super::domains::Namesakes;
use super::signer::{self, DomainChoice, SigningDomain};
use super::stop_signal::stop_signal;
use crate::receiver::diagnose::{RefusalCause, diagnose};
use crate::receiver::{EventTarget, TargetReply, parse_target};

/// How long nothing is read when there was nothing new.
const PAUSE: Duration = Duration::from_millis(250);
/// How many events are read at once.
const PAGE_LEN: u32 = 200;
/// How long a finding holds: of many events that are refused together one is reason to ask.
const FINDING_LIFETIME: Duration = Duration::from_secs(5);
/// How many domains are named at the start.
const MAX_NAMED: usize = 20;

#[derive(Debug, Args)]
pub(super) struct Listen {
    /// URL of your receiver; plain http on this machine alone
    #[arg(long, value_name = "URL", value_parser = parse_target)]
    forward_to: Url,
    /// Only events of this domain, by its ID or name [default: all domains of the sandbox]
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    #[command(flatten)]
    among: Namesakes,
}

/// Events as they are written, and where they go.
struct Forwarder<'a> {
    session: &'a Session,
    store: Store,
    target: EventTarget,
    lines: ListenLines,
    scope: DeliveryScope,
    cursor: OutboxCursor,
    /// What was found out last, and when.
    finding: Option<(Instant, RefusalCause)>,
}

impl Listen {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let stop = stop_signal()?;
        let Self { forward_to, domain, among } = self;
        let choice = DomainChoice { domain, among };
        let store = session.store()?;
        let named = choice.named(session, &store).await?;
        let environment = choice.environment();
        let whose = named.as_ref().map_or_else(|| format!("the {environment}"), |one| one.domain.name.to_string());
        let (scope, domains) = if let Some(one) = named {
            (DeliveryScope { domain: Some(one.domain.id.clone()), ..DeliveryScope::default() }, vec![one])
        } else {
            let mut domains = Vec::new();
            for id in choice.all(&store).await?.iter().take(MAX_NAMED) {
                domains.push(signer::find(session, &store, id).await?);
            }
            let account = choice.among.account.clone();
            (DeliveryScope { domain: None, environment: Some(environment), account }, domains)
        };
        let lines = ListenLines { json: session.json };
        let target = EventTarget::new(forward_to, Reach::Loopback);
        let cursor = OutboxCursor::default();
        let mut forwarder = Forwarder { session, store, target, lines, scope, cursor, finding: None };
        forwarder.begin().await?;
        if let Err(error) = forwarder.lines.ready(&forwarder.target.url, &whose, &domains) {
            return until_read(error);
        }
        tokio::select! {
            () = stop => Ok(()),
            ended = forwarder.run() => ended.or_else(until_read),
        }
    }
}

/// A reader that went away wanted no more.
fn until_read(error: anyhow::Error) -> Result<()> {
    if error.is::<NoReader>() { Ok(()) } else { Err(error) }
}

impl Forwarder<'_> {
    /// Takes note of what is there already, which is not forwarded.
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

    /// Forwards what is new, until nobody reads what is printed.
    async fn run(&mut self) -> Result<()> {
        let mut is_troubled = false;
        loop {
            match self.pass().await {
                Ok(()) => is_troubled = false,
                Err(error) if error.is::<NoReader>() => return Err(error),
                // A database that is away comes back.
                Err(error) if !is_troubled => {
                    is_troubled = true;
                    eprintln!(
                        "{}",
                        signpost_text::line(&format!("signpost: cannot read events, trying again: {error:#}"))
                    );
                }
                Err(_) => {}
            }
            sleep(PAUSE).await;
        }
    }

    /// Reads from the last minute to the newest, a page at a time.
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
        let now = || Clock::System.now();
        self.lines.event(now(), id.as_str(), &kind(body), name)?;
        let signing = match signing {
            Ok(signing) => signing,
            Err(error) => return self.lines.no_answer(now(), id.as_str(), &format!("{error:#}")),
        };
        let fields = signatures(id, body.as_bytes(), &signing.secrets, now());
        match self.target.post(body.as_bytes(), &fields).await {
            Ok(reply) => {
                self.lines.answer(now(), id.as_str(), &reply)?;
                self.explain(id, &signing, &reply).await
            }
            Err(error) => self.lines.no_answer(now(), id.as_str(), &format!("{error:#}")),
        }
    }

    /// Says why the receiver refused the event, if it did.
    async fn explain(&mut self, id: &EventId, signing: &SigningDomain, reply: &TargetReply) -> Result<()> {
        if !reply.is_refusal() {
            self.finding = None;
            return Ok(());
        }
        let known = self.finding.take().filter(|(at, _)| at.elapsed() < FINDING_LIFETIME);
        let (at, finding) = if let Some(known) = known {
            known
        } else {
            let others = signer::other_secrets(self.session, &self.store, Some(&signing.domain.id)).await;
            let found = diagnose(&self.target, reply, &signing.secrets, &others).await;
            (Instant::now(), found)
        };
        self.lines.finding(id.as_str(), &finding)?;
        self.finding = Some((at, finding));
        Ok(())
    }
}

/// What an event is about.
fn kind(body: &str) -> String {
    let kind = serde_json::from_str::<Value>(body).ok().and_then(|event| Some(event["event"].as_str()?.to_owned()));
    kind.unwrap_or_else(|| "unknown".to_owned())
}
