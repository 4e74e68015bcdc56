//! The command `signpost trigger`: posts a sample event to a receiver.

mod faults;
mod through_api;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use signpost_auth::diagnosis::KnownSecret;
use signpost_auth::{DomainName, WebhookSecret};
use signpost_login::domains::{HandlerKind, SigningSecrets};
use signpost_platform::accounts::Environment;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::EgressPolicy;
use signpost_store::random;
use url::Url;

use self::faults::{EventFault, ExpectedReply, PlannedPost};
use super::domain_filter::DomainFilter;
use super::signer::{DomainChoice, SigningDomain, other_secrets};
use super::{Session, Usage, print_json, print_text};
use crate::receiver::diagnose::{RefusalCause, diagnose};
use crate::receiver::sample::{SampleEntropy, SampleEvent, SampleKind};
use crate::receiver::{EventTarget, TargetReply, parse_target};

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Trigger {
    /// Kind of the event
    #[arg(value_enum)]
    kind: SampleKind,
    /// Introduce this fault, and expect the response of a correct receiver
    #[arg(long, value_enum)]
    fault: Option<EventFault>,
    /// URL of the receiver; plain http only on this machine [default: the domain's event URL]
    #[arg(long, value_name = "URL", value_parser = parse_target)]
    forward_to: Option<Url>,
    /// Domain ID or name, as shown by 'domains list' [default: the only sandbox domain]
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    /// Sign with this secret, without a database; --domain must then be a name [default: the
    /// domain's secret]
    #[arg(long, value_name = "WHSEC", value_parser = WebhookSecret::parse, requires = "forward_to")]
    secret: Option<WebhookSecret>,
    #[command(flatten)]
    domain_filter: DomainFilter,
}

/// The domain that signs the sample events, and the receiver of the events.
struct TriggerContext {
    name: DomainName,
    handler: HandlerKind,
    secrets: SigningSecrets,
    others: Vec<KnownSecret>,
    target: EventTarget,
}

/// A request that was sent to the receiver, with its answer.
struct SentPost {
    fault: Option<EventFault>,
    id: String,
    expected: ExpectedReply,
    /// `None` if the connection was closed on purpose.
    reply: Result<Option<TargetReply>>,
}

impl Trigger {
    /// Returns true if the event is signed with a given secret, so that the command needs neither a database nor a
    /// service.
    pub(super) fn is_signed_with_given_secret(&self) -> bool {
        self.secret.is_some()
    }

    pub(super) async fn run(self, session: &Session) -> Result<()> {
        if let Some(api) = &session.api {
            return through_api::run(self, session, api).await;
        }
        let kind = self.kind;
        let faults: Vec<Option<EventFault>> = match self.fault {
            Some(EventFault::All) => std::iter::once(None).chain(EventFault::each().map(Some)).collect(),
            fault => vec![fault],
        };
        let context = self.read_context(session).await?;
        let mut posts = Vec::new();
        for fault in faults {
            for post in context.make(kind, fault).await {
                if !session.json {
                    print_text(&post.line(kind))?;
                }
                posts.push(post);
            }
        }
        let finding = context.explain(&posts).await;
        let failed = posts.iter().filter(|post| !post.is_as_expected()).count();
        if session.json {
            let documents: Vec<_> = posts.iter().map(SentPost::document).collect();
            let mut document = json!({ "event": kind.as_str(), "url": context.target.url.as_str(), "ok": failed == 0, "posts": documents });
            if let Some(finding) = &finding {
                document["diagnosis"] = finding.document();
            }
            print_json(&serde_json::to_string_pretty(&document)?)?;
        } else if let Some(finding) = &finding {
            let mut lines = vec![finding.text()];
            lines.extend(finding.remedies().into_iter().map(|line| format!("  {line}")));
            print_text(&lines.join("\n"))?;
        }
        match (failed, posts.len()) {
            (0, _) => Ok(()),
            (_, 1) => bail!("the receiver did not answer as it should"),
            (failed, all) => bail!("the receiver did not answer as it should in {failed} of {all} cases"),
        }
    }

    async fn read_context(self, session: &Session) -> Result<TriggerContext> {
        let Self { kind, forward_to, domain, secret, domain_filter, .. } = self;
        // clap requires --forward-to with --secret.
        if let Some(secret) = secret
            && let Some(url) = forward_to.clone()
        {
            let name = domain.as_deref().unwrap_or("localhost");
            let name = DomainName::parse(name).map_err(|error| Usage(format!("--domain: {error}")))?;
            let secrets = SigningSecrets { current: secret, next: None };
            let target = EventTarget::new(url, EgressPolicy::Loopback);
            return Ok(TriggerContext { name, handler: HandlerKind::default(), secrets, others: Vec::new(), target });
        }
        let store = session.store()?;
        let choice = DomainChoice { domain, domain_filter };
        let SigningDomain { domain, secrets } = choice.only(session, &store).await?;
        let environment = domain.account.environment;
        let target = match forward_to {
            Some(url) => EventTarget::new(url, EgressPolicy::Loopback),
            // A live site must not act on an event that did not happen.
            None if environment == Environment::Live && kind != SampleKind::Test => {
                let reason = "a live receiver takes a sample for a real event: add --forward-to, or trigger a test";
                return Err(Usage(reason.to_owned()).into());
            }
            None => {
                let egress = session.config.login.egress_policy(environment, session.config.is_loopback_only());
                EventTarget::new(domain.event_url.clone().unwrap_or_else(|| domain.webhook_url.clone()), egress)
            }
        };
        let others = other_secrets(session, &store, Some(&domain.id)).await;
        Ok(TriggerContext { name: domain.name, handler: domain.handler, secrets, others, target })
    }
}

impl TriggerContext {
    /// Sends the requests of a fault, or an event without a fault.
    async fn make(&self, kind: SampleKind, fault: Option<EventFault>) -> Vec<SentPost> {
        let now = Clock::System.now();
        let event = SampleEvent::new(kind, &self.name, self.handler, now, SampleEntropy::draw());
        let id = event.id.to_string();
        let unknown_secret = WebhookSecret::from_bytes(&random());
        let planned = match fault {
            Some(fault) => fault.plan(event, &self.secrets, &unknown_secret),
            None => vec![PlannedPost::new(&event, &self.secrets)],
        };
        let mut posts = Vec::new();
        for PlannedPost { body, fields, expected } in planned {
            let reply = match expected {
                ExpectedReply::Nothing => self.target.post_half(body.as_bytes(), &fields).await.map(|()| None),
                ExpectedReply::Success | ExpectedReply::Unauthorised => {
                    self.target.post(body.as_bytes(), &fields).await.map(Some)
                }
            };
            posts.push(SentPost { fault, id: id.clone(), expected, reply });
        }
        posts
    }

    /// Finds out why the receiver rejected a valid event, or accepted an invalid event.
    async fn explain(&self, posts: &[SentPost]) -> Option<RefusalCause> {
        let mut refusal = None;
        let mut accepted = None;
        for post in posts.iter().filter(|post| !post.is_as_expected()) {
            let Ok(Some(reply)) = &post.reply else { continue };
            // A rejection with another status than 401 needs no explanation.
            if reply.mistake.is_some() || post.expected == ExpectedReply::Success && reply.is_refusal() {
                refusal = refusal.or(Some(reply));
            }
            if reply.is_success() {
                accepted = accepted.or(Some(reply));
            }
        }
        let finding = diagnose(&self.target, refusal.or(accepted)?, &self.secrets, &self.others).await;
        let is_reason =
            refusal.is_some() || matches!(finding, RefusalCause::Mistake(..) | RefusalCause::SignatureUnchecked);
        is_reason.then_some(finding)
    }
}

impl SentPost {
    fn is_as_expected(&self) -> bool {
        match &self.reply {
            Ok(Some(reply)) => self.expected.is_met_by(reply.status),
            Ok(None) => self.expected == ExpectedReply::Nothing,
            Err(_) => false,
        }
    }

    fn line(&self, kind: SampleKind) -> String {
        let expected = self.expected.as_str();
        let kind = kind.as_str();
        let fault = self.fault.map(|fault| format!("  {}", fault.name())).unwrap_or_default();
        let got = match &self.reply {
            Ok(Some(reply)) if self.is_as_expected() => format!("{}  {} ms  as expected", reply.status, reply.millis()),
            Ok(Some(reply)) => {
                let excerpt = if reply.excerpt.is_empty() { String::new() } else { format!("  {}", reply.excerpt) };
                format!("{}  {} ms  expected {expected}{excerpt}", reply.status, reply.millis())
            }
            Ok(None) => "cut off".to_owned(),
            Err(error) => format!("failed: {error:#}"),
        };
        format!("-->  {kind:8}  {}{fault}\n<--  {got}", self.id)
    }

    fn document(&self) -> Value {
        let fault = self.fault.map_or_else(|| "none".to_owned(), EventFault::name);
        let mut document = json!({
            "id": self.id, "fault": fault, "expected": self.expected.as_str(), "ok": self.is_as_expected(),
        });
        match &self.reply {
            Ok(Some(reply)) => {
                document["status"] = reply.status.into();
                document["ms"] = reply.millis().into();
            }
            Ok(None) => {}
            Err(error) => document["error"] = format!("{error:#}").into(),
        }
        document
    }
}
