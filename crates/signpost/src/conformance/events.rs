//! Tests the endpoint that receives events (specification, §5 and §6).

use anyhow::Result;
use jiff::SignedDuration;
use signpost_auth::{DomainName, X_SVC_SIGNATURE};
use signpost_login::domains::{HandlerKind, SigningSecrets};
use url::Url;

use super::{FakeBrowser, Kit, SiteResponse};
use crate::receiver::SignatureFields;
use crate::receiver::sample::{SampleEntropy, SampleEvent, SampleKind, draw_secrets};

/// Age of an event that is too old for receivers. They accept 5 minutes.
const STALE_AGE: SignedDuration = SignedDuration::from_secs(301);

pub(super) async fn run(kit: &mut Kit, webhook: &Url) -> Result<()> {
    let secrets = SigningSecrets { current: kit.endpoints.secret.clone(), next: None };
    let other = draw_secrets();
    let url = kit.endpoints.events.clone();
    let event = kit.event(SampleKind::Login);
    let reply = kit.post(&url, &event.body, Vec::new()).await?;
    kit.report.expect_refusal("an event without a signature is 401", 401, &reply);
    let reply = kit.post(&url, &event.body, event.sign(&other)).await?;
    kit.report.expect_refusal("an event signed with another secret is 401", 401, &reply);
    let reply = kit.post(&url, &format!("{} ", event.body), event.sign(&secrets)).await?;
    kit.report.expect_refusal("a modified event is 401", 401, &reply);
    let old = SampleEvent { sent_at: event.sent_at - STALE_AGE, ..kit.event(SampleKind::Login) };
    let reply = kit.post(&url, &old.body, old.sign(&secrets)).await?;
    kit.report.expect_refusal("an event sent more than 5 minutes ago is 401", 401, &reply);
    let reply = kit.post(&url, &event.body, event.sign(&secrets)).await?;
    kit.report.note("a signed event is accepted", reply.is_success(), "2xx", reply.describe());
    let reply = kit.post(&url, &event.body, event.sign(&secrets)).await?;
    kit.report.note("a repeated event is 2xx", reply.is_success(), "2xx", reply.describe());
    let rotated = kit.event(SampleKind::Register);
    let both = SigningSecrets { current: secrets.current.clone(), next: Some(other.current) };
    let reply = kit.post(&url, &rotated.body, rotated.sign(&both)).await?;
    kit.report.note("during a rotation the old secret is accepted", reply.is_success(), "2xx", reply.describe());
    let only = kit.event(SampleKind::Login);
    let bare = vec![(X_SVC_SIGNATURE, secrets.current.x_svc_signature(only.body.as_bytes()))];
    let reply = kit.post(&url, &only.body, bare).await?;
    kit.report.note("X-Svc-Signature alone is enough", reply.is_success(), "2xx", reply.describe());
    let test = kit.event(SampleKind::Test);
    let reply = kit.post(&url, &test.body, test.sign(&secrets)).await?;
    kit.report.note("a test event is accepted", reply.is_success(), "2xx", reply.describe());
    if kit.endpoints.user_events {
        test_user_events(kit, &url, &secrets).await?;
    }
    let forged = kit.event(SampleKind::Login);
    let reply = kit.post(webhook, &forged.body, Vec::new()).await?;
    let rule = "an unsigned event at the webhook URL is not a login";
    kit.report.note(rule, reply.status >= 400, "an error", reply.describe());
    Ok(())
}

/// Tests the kinds of events about users. A site gets them only if its domain selects them.
async fn test_user_events(kit: &mut Kit, url: &Url, secrets: &SigningSecrets) -> Result<()> {
    let mut refused = None;
    for kind in SampleKind::ABOUT_USERS {
        let event = kit.event(kind);
        let reply = kit.post(url, &event.body, event.sign(secrets)).await?;
        if !reply.is_success() {
            refused = refused.or(Some(format!("{} {}", kind.as_str(), reply.describe())));
        }
    }
    let got = refused.clone().unwrap_or_else(|| "2xx".to_owned());
    kit.report.note("events about users are accepted", refused.is_none(), "2xx for each kind", got);
    Ok(())
}

impl Kit {
    fn event(&self, kind: SampleKind) -> SampleEvent {
        let domain = DomainName::parse("example.com").expect("a name");
        SampleEvent::new(kind, &domain, HandlerKind::Direct, self.clock.now(), SampleEntropy::draw())
    }

    async fn post(&self, url: &Url, body: &str, headers: SignatureFields) -> Result<SiteResponse> {
        let mut sender = FakeBrowser::with_headers(headers);
        self.send(reqwest::Method::POST, url, &mut sender, Some(body.to_owned())).await
    }
}
