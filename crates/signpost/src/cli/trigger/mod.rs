//! `signpost trigger`

mod faults;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use signpost_auth::diagnosis::KnownSecret;
use signpost_auth::{DomainName, WebhookSecret};
use signpost_login::domains::{HandlerKind, SigningSecrets};
use signpost_login::events::signatures;
use signpost_platform::accounts::Environment;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::Reach;
use signpost_store::random;
use url::Url;

use self::faults::{EventFault, ExpectedReply, PlannedPost};
use super::domains::Namesakes;
use super::signer::{DomainChoice, SigningDomain, other_secrets};
use super::{Session, Usage};
use crate::receiver::diagnose::{RefusalCause, diagnose};
use crate::receiver::sample::{SampleEntropy, SampleEvent, SampleKind};
use crate::receiver::{EventTarget, TargetReply, parse_target};

#[derive(Debug, Args)]
pub(super) struct Trigger {
    /// What the event says
    #[arg(value_enum)]
    kind: SampleKind,
    /// Make this fault, and expect what a good receiver answers
    #[arg(long, value_enum)]
    fault: Option<EventFault>,
    /// URL of the receiver; plain http on this machine alone [default: the domain's event URL]
    #[arg(long, value_name = "URL", value_parser = parse_target)]
    forward_to: Option<Url>,
    /// Domain ID or name, as shown by 'domains list' [default: the only one of the sandbox]
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    /// Sign with this secret, without any database; --domain is then a name alone [default: the domain's secret]
    #[arg(long, value_name = "WHSEC", value_parser = WebhookSecret::parse, requires = "forward_to")]
    secret: Option<WebhookSecret>,
    #[command(flatten)]
    among: Namesakes,
}

/// Who signs, and who receives.
struct Stage {
    name: DomainName,
    handler: HandlerKind,
    secrets: SigningSecrets,
    others: Vec<KnownSecret>,
    target: EventTarget,
}

/// A request that was made.
struct MadePost {
    fault: Option<EventFault>,
    id: String,
    expected: ExpectedReply,
    /// The answer; none where the connection was closed on purpose.
    reply: Result<Option<TargetReply>>,
}

impl Trigger {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let (kind, fault) = (self.kind, self.fault);
        let stage = self.stage(session).await?;
        let faults: Vec<Option<EventFault>> = match fault {
            Some(EventFault::All) => std::iter::once(None).chain(EventFault::each().map(Some)).collect(),
            one => vec![one],
        };
        let mut made = Vec::new();
        for fault in faults {
            for post in stage.make(kind, fault).await {
                if !session.json {
                    super::say(&post.line(kind))?;
                }
                made.push(post);
            }
        }
        let finding = stage.explain(&made).await;
        let failed = made.iter().filter(|post| !post.is_as_expected()).count();
        if session.json {
            let posts: Vec<_> = made.iter().map(MadePost::document).collect();
            let mut document =
                json!({ "event": kind.as_str(), "url": stage.target.url.as_str(), "ok": failed == 0, "posts": posts });
            if let Some(finding) = &finding {
                document["diagnosis"] = finding.document();
            }
            super::say_json(&serde_json::to_string_pretty(&document)?)?;
        } else if let Some(finding) = &finding {
            let mending = finding.mending().into_iter().map(|line| format!("  {line}"));
            super::say(&std::iter::once(finding.text()).chain(mending).collect::<Vec<_>>().join("\n"))?;
        }
        match (failed, made.len()) {
            (0, _) => Ok(()),
            (_, 1) => bail!("the receiver did not answer as it should"),
            (failed, all) => bail!("the receiver did not answer as it should in {failed} of {all} cases"),
        }
    }

    async fn stage(self, session: &Session) -> Result<Stage> {
        let Self { kind, forward_to, domain, secret, among, .. } = self;
        if let (Some(secret), Some(url)) = (secret, forward_to.clone()) {
            let name = domain.as_deref().unwrap_or("localhost");
            let name = DomainName::parse(name).map_err(|error| Usage(format!("--domain: {error}")))?;
            let secrets = SigningSecrets { current: secret, next: None };
            let target = EventTarget::new(url, Reach::Loopback);
            return Ok(Stage { name, handler: HandlerKind::default(), secrets, others: Vec::new(), target });
        }
        let store = session.store()?;
        let choice = DomainChoice { domain, among };
        let SigningDomain { domain, secrets } = choice.only(session, &store).await?;
        let environment = domain.account.environment;
        let target = match forward_to {
            Some(url) => EventTarget::new(url, Reach::Loopback),
            // Nobody logged in: a site that people use must not act on it.
            None if environment == Environment::Live && kind != SampleKind::Test => {
                let reason = "a live receiver takes a sample for a login: add --forward-to, or trigger a test";
                return Err(Usage(reason.to_owned()).into());
            }
            None => {
                let reach = session.config.login.reach(environment, session.config.serves_only_its_machine());
                EventTarget::new(domain.event_url.clone().unwrap_or_else(|| domain.webhook_url.clone()), reach)
            }
        };
        let others = other_secrets(session, &store, Some(&domain.id)).await;
        Ok(Stage { name: domain.name, handler: domain.handler, secrets, others, target })
    }
}

impl Stage {
    /// Makes the requests of a fault, or the one of an event without any.
    async fn make(&self, kind: SampleKind, fault: Option<EventFault>) -> Vec<MadePost> {
        let now = Clock::System.now();
        let event = SampleEvent::new(kind, &self.name, self.handler, now, SampleEntropy::draw());
        let id = event.id.to_string();
        let stranger = WebhookSecret::from_bytes(&random());
        let planned = if let Some(fault) = fault {
            fault.plan(event, &self.secrets, &stranger, now)
        } else {
            let fields = signatures(&event.id, event.body.as_bytes(), &self.secrets, now);
            vec![PlannedPost { body: event.body, fields, expected: ExpectedReply::Success }]
        };
        let mut made = Vec::new();
        for PlannedPost { body, fields, expected } in planned {
            let reply = match expected {
                ExpectedReply::Nothing => self.target.post_half(body.as_bytes(), &fields).await.map(|()| None),
                ExpectedReply::Success | ExpectedReply::Unauthorised => {
                    self.target.post(body.as_bytes(), &fields).await.map(Some)
                }
            };
            made.push(MadePost { fault, id: id.clone(), expected, reply });
        }
        made
    }

    /// Why the receiver refused what it should have accepted, or accepted what it should have refused.
    async fn explain(&self, made: &[MadePost]) -> Option<RefusalCause> {
        let failed = made.iter().filter(|post| !post.is_as_expected());
        let replies: Vec<_> =
            failed.filter_map(|post| Some((post.expected, post.reply.as_ref().ok()?.as_ref()?))).collect();
        // Another refusal than 401 needs no explanation.
        let is_refusal = |expected: ExpectedReply, reply: &TargetReply| {
            reply.mistake.is_some() || expected == ExpectedReply::Success && reply.is_refusal()
        };
        let first = |is_it: &dyn Fn(ExpectedReply, &TargetReply) -> bool| {
            replies.iter().find(|(expected, reply)| is_it(*expected, reply)).map(|(_, reply)| *reply)
        };
        let (refusal, accepted) = (first(&is_refusal), first(&|_, reply| reply.is_success()));
        let finding = diagnose(&self.target, refusal.or(accepted)?, &self.secrets, &self.others).await;
        let is_reason = refusal.is_some() || matches!(finding, RefusalCause::Mistake(..) | RefusalCause::Unchecked);
        is_reason.then_some(finding)
    }
}

impl MadePost {
    fn is_as_expected(&self) -> bool {
        match &self.reply {
            Ok(Some(reply)) => self.expected.is_met_by(reply.status),
            Ok(None) => self.expected == ExpectedReply::Nothing,
            Err(_) => false,
        }
    }

    fn line(&self, kind: SampleKind) -> String {
        let (expected, kind) = (self.expected.as_str(), kind.as_str());
        let fault = self.fault.map(|fault| format!("  {}", fault.name())).unwrap_or_default();
        let got = match &self.reply {
            Ok(Some(reply)) if self.is_as_expected() => format!("{}  {} ms  as expected", reply.status, reply.millis()),
            Ok(Some(reply)) => {
                let said = if reply.said.is_empty() { String::new() } else { format!("  {}", reply.said) };
                format!("{}  {} ms  expected {expected}{said}", reply.status, reply.millis())
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
