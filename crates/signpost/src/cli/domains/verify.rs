//! The command `signpost domains verify`: checks the ownership proof of a domain.

use anyhow::{Result, anyhow, bail};
use clap::Args;
use jiff::Timestamp;
use serde_json::json;
use signpost_login::domains::{self, Domain, DomainVerifier, ProofCheck};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::Store;

use super::DomainSelector;
use crate::cli::Session;
use crate::cli::api::VerifiedByApi;
use crate::cli::backend::Backend;
use crate::server::name_server;

#[derive(Debug, Args)]
pub(in crate::cli) struct VerifyDomain {
    #[command(flatten)]
    selector: DomainSelector,
}

impl VerifyDomain {
    pub(super) async fn run(self, session: &Session, backend: &Backend) -> Result<()> {
        let domain = self.selector.find_registered(backend).await?;
        let (verified, checks) = match backend {
            Backend::Database(store) => {
                let egress = session.webhook_egress(domain.account.environment);
                let domain_verifier = DomainVerifier::new(name_server(&session.config));
                match domain_verifier.find_proof(&domain.name, &domain.verification_token, egress).await {
                    Ok(check) => (Some(set_verified(store, &domain).await?), vec![check]),
                    Err(checks) => (None, checks),
                }
            }
            Backend::Api(api) => match api.verify_domain(&domain.id).await? {
                VerifiedByApi::Since(verified_at) => (Some(verified_at), Vec::new()),
                VerifiedByApi::Unproven(checks) => (None, checks),
            },
        };
        if let Some(verified_at) = verified {
            let result = format!("{} is verified since {verified_at}", domain.name);
            return print(session, &domain, Some(verified_at), &checks, &result);
        }
        let token = domain.verification_token.as_str();
        let how = format!(
            "Publish this token as a TXT record at _svc-challenge.{0}, or as a line of\n\
             https://{0}/.well-known/svc-verify, and run this again:\n\n  {token}",
            domain.name
        );
        print(session, &domain, domain.verified_at, &checks, &how)?;
        let still = if domain.verified_at.is_some() { "; it is verified still, until rechecks fail too" } else { "" };
        bail!("no proof of {} was found{still}", domain.name)
    }
}

/// Marks the domain as verified, unless it is already, and returns the time of the first verification.
async fn set_verified(store: &Store, domain: &Domain) -> Result<Timestamp> {
    if let Some(at) = domain.verified_at {
        return Ok(at);
    }
    let now = Clock::System.now();
    let verified = domains::sql::set_verified(store, &domain.account, &domain.id, &Actor::Operator, now).await;
    verified.map_err(|error| error.on_conflict(anyhow!("{} was removed just now", domain.id)))?;
    Ok(now)
}

fn print(session: &Session, domain: &Domain, at: Option<Timestamp>, checks: &[ProofCheck], text: &str) -> Result<()> {
    let mut document = json!({ "id": domain.id, "domain": domain.name, "verified": at.is_some(), "checks": checks });
    if let Some(at) = at {
        document["verified_at"] = json!(at);
    }
    session.print(&document, || {
        let mut lines: Vec<_> = checks.iter().map(line).collect();
        // The API returns the lookups only if none found the proof.
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(text.to_owned());
        lines.join("\n")
    })
}

/// Returns the location of a check, and its result.
fn line(check: &ProofCheck) -> String {
    let kind = if check.method == "dns_txt" { "TXT " } else { "" };
    let found = match (check.found.as_slice(), &check.error) {
        ([], Some(error)) => error.clone(),
        ([], None) => "nothing found".to_owned(),
        (found, _) => format!("found {}", found.join(", ")),
    };
    signpost_text::clean_line(&format!("{kind}{}: {found}", check.name)).to_string()
}
