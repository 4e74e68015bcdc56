//! `signpost status` through the API of a service: the state of the account that the key belongs to.

use anyhow::{Result, bail};
use serde_json::{Value, json};
use signpost_platform::accounts::Environment;

use super::Session;
use super::api::ServiceApi;
use crate::doctor::{CheckFinding, Grade};

/// Maximum number of deliveries in a state that are counted, so that the cost does not grow with them.
const MAX_COUNTED: u32 = 100;

/// The numbers of domains and events of an account.
struct AccountFacts {
    domains: usize,
    verified: usize,
    waiting: usize,
    failed: usize,
    disabled_endpoints: usize,
}

/// Prints the state of the account.
///
/// # Errors
/// Returns an error if a call fails, or something needs attention.
pub(super) async fn run(session: &Session, api: &ServiceApi) -> Result<()> {
    let facts = AccountFacts::read(api).await?;
    let attention = facts.findings();
    session.print(&facts.document(api, &attention), || facts.text(api, &attention))?;
    if attention.is_empty() { Ok(()) } else { bail!("to look at: {}", attention.len()) }
}

impl AccountFacts {
    async fn read(api: &ServiceApi) -> Result<Self> {
        let domains = api.list_domains().await?;
        let verified = domains.iter().filter(|domain| domain.verified).count();
        let waiting = api.list_deliveries(Some("pending"), MAX_COUNTED).await?;
        let failed = api.list_deliveries(Some("failed"), MAX_COUNTED).await?;
        let disabled = waiting.iter().filter(|event| !event["endpoint_disabled_at"].is_null());
        let mut endpoints: Vec<_> = disabled.filter_map(|event| event["url"].as_str()).collect();
        endpoints.sort_unstable();
        endpoints.dedup();
        let disabled_endpoints = endpoints.len();
        Ok(Self { domains: domains.len(), verified, waiting: waiting.len(), failed: failed.len(), disabled_endpoints })
    }

    /// Returns what needs attention.
    fn findings(&self) -> Vec<CheckFinding> {
        let mut findings = Vec::new();
        if self.failed > 0 {
            findings.push(CheckFinding {
                check: "events",
                grade: Grade::Warn,
                found: format!("{} failed", counted(self.failed)),
                remedy: Some(
                    "see 'signpost deliveries list --state failed', then 'deliveries retry --failed'".to_owned(),
                ),
            });
        }
        if self.disabled_endpoints > 0 {
            findings.push(CheckFinding {
                check: "endpoints",
                grade: Grade::Warn,
                found: format!("{} event URLs are disabled", self.disabled_endpoints),
                remedy: Some("see 'signpost deliveries list --state pending', and repair the receiver".to_owned()),
            });
        }
        findings
    }

    fn document(&self, api: &ServiceApi, attention: &[CheckFinding]) -> Value {
        let account = api.account();
        let of = |environment| if account.environment == environment { self.domains } else { 0 };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "server": { "address": api.origin(), "answering": true },
            "account": account.name,
            "environment": account.environment,
            "key_id": api.key_id(),
            "domains": {
                "live": of(Environment::Live), "sandbox": of(Environment::Sandbox), "verified": self.verified,
            },
            "events": { "waiting": self.waiting, "failed": self.failed },
            "attention": attention,
        })
    }

    fn text(&self, api: &ServiceApi, attention: &[CheckFinding]) -> String {
        let account = api.account();
        let rows = [
            ("server", format!("answers at {}", api.origin())),
            ("account", format!("{} ({})", account.name, account.environment)),
            ("key", api.key_id().to_owned()),
            ("domains", format!("{}; {} verified", self.domains, self.verified)),
            ("events", format!("{} waiting, {} failed", counted(self.waiting), counted(self.failed))),
            ("endpoints", format!("{} disabled", self.disabled_endpoints)),
        ];
        let mut lines: Vec<_> = rows.iter().map(|(label, text)| format!("{label:10}  {text}")).collect();
        lines.push(String::new());
        if attention.is_empty() {
            lines.push("Nothing needs you.".to_owned());
        }
        for CheckFinding { check, found, remedy, .. } in attention {
            lines.push(format!("{check}: {found}; {}", remedy.as_deref().unwrap_or_default()));
        }
        lines.join("\n")
    }
}

/// Returns a number that may be the maximum.
fn counted(number: usize) -> String {
    if number < MAX_COUNTED as usize { number.to_string() } else { format!("{number} or more") }
}
