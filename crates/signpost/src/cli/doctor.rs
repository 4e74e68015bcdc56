//! The command `signpost doctor`: diagnoses an installation or a URL.

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{NameResolver, Outbound};
use url::Url;

use super::Session;
use crate::doctor::{AddressProbe, CheckFinding, Grade, Installation, check_address, check_installation};

#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// URL to check from outside, such as `https://login.example` [default: this installation]
    #[arg(value_parser = parse_address)]
    url: Option<Url>,
}

impl Doctor {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let outbound = Outbound::new(&NameResolver::System);
        let now = Clock::System.now();
        let findings = match &self.url {
            Some(url) => check_address(&AddressProbe::run(url.clone(), &outbound, now).await),
            None => {
                check_installation(&Installation::inspect(&session.config, session.store(), &outbound, None, now).await)
            }
        };
        let [passed, warned, failed] = [Grade::Pass, Grade::Warn, Grade::Fail]
            .map(|grade| findings.iter().filter(|finding| finding.grade == grade).count());
        let document = json!({ "passed": passed, "warned": warned, "failed": failed, "checks": findings });
        session.print(&document, || {
            let mut lines: Vec<_> = findings.iter().map(line).collect();
            lines.push(format!("\n{passed} passed, {warned} warned, {failed} failed"));
            lines.join("\n")
        })?;
        if failed == 0 { Ok(()) } else { bail!("checks failed: {failed}") }
    }
}

/// Returns a line with the finding, and a second line with the fix, if any.
fn line(finding: &CheckFinding) -> String {
    let CheckFinding { check, grade, found, remedy } = finding;
    let found = signpost_text::clean_line(found);
    let remedy =
        remedy.as_ref().map(|remedy| format!("\n{:23}{}", "", signpost_text::clean_line(remedy))).unwrap_or_default();
    format!("{:4}  {check:15}  {found}{remedy}", grade.as_str())
}

fn parse_address(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|error| format!("{error}; write it as https://login.example"))?;
    let is_plain = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.query().is_none();
    if is_plain && url.password().is_none() {
        Ok(url)
    } else {
        Err("must be an http or https URL without a user or a query".to_owned())
    }
}
