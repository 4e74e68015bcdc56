//! The report of a test run: the verdict for each rule.

use serde::Serialize;
use serde_json::{Value, json};

use super::SiteResponse;

/// The verdict for a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Verdict {
    Holds,
    Broken,
    NotTested,
}

/// A rule, and the result of its test.
#[derive(Clone, Debug, Serialize)]
pub struct RuleCheck {
    /// The name of the rule, stable between runs.
    pub rule: &'static str,
    /// The result.
    pub verdict: Verdict,
    /// The expected reply.
    pub expected: String,
    /// The actual reply, or the reason why the rule was not tested.
    pub got: String,
}

/// The results of all rules, in the order of their tests.
#[derive(Debug, Default)]
pub struct ConformanceReport(pub Vec<RuleCheck>);

impl ConformanceReport {
    /// Returns true if no rule is violated.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.count(Verdict::Broken) == 0
    }

    /// Returns the number of rules with this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.0.iter().filter(|check| check.verdict == verdict).count()
    }

    /// Returns the report as JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        let [holds, broken, not_tested] = [Verdict::Holds, Verdict::Broken, Verdict::NotTested].map(|v| self.count(v));
        json!({ "holds": holds, "broken": broken, "not_tested": not_tested, "checks": self.0 })
    }

    /// Returns the report as text: a line per rule, and the expected and the actual reply of violated rules.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        for RuleCheck { rule, verdict, expected, got } in &self.0 {
            match verdict {
                Verdict::Holds => lines.push(format!("ok      {rule}")),
                Verdict::Broken => {
                    lines.push(format!("BROKEN  {rule}"));
                    lines.push(format!("          expected  {expected}"));
                    lines.push(format!("          got       {got}"));
                }
                Verdict::NotTested => lines.push(format!("-       {rule}: not tested, {got}")),
            }
        }
        let [holds, broken, not_tested] = [Verdict::Holds, Verdict::Broken, Verdict::NotTested].map(|v| self.count(v));
        lines.push(format!("\n{holds} rules hold, {broken} are broken, {not_tested} were not tested"));
        lines.join("\n")
    }

    pub(super) fn note(
        &mut self,
        rule: &'static str,
        holds: bool,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) {
        let verdict = if holds { Verdict::Holds } else { Verdict::Broken };
        self.0.push(RuleCheck { rule, verdict, expected: expected.into(), got: got.into() });
    }

    pub(super) fn not_tested(&mut self, rule: &'static str, why: &str) {
        self.0.push(RuleCheck { rule, verdict: Verdict::NotTested, expected: String::new(), got: why.to_owned() });
    }

    /// Checks that the reply has this status, and `error` in the body.
    pub(super) fn expect_refusal(&mut self, rule: &'static str, status: u16, reply: &SiteResponse) {
        let holds = reply.status == status && reply.json()["error"].as_str().is_some_and(|text| !text.is_empty());
        self.note(rule, holds, format!("{status} {{error: <message>}}"), reply.describe());
    }

    /// Checks that the reply has this HTTP status, and this `status` in the body.
    pub(super) fn expect_status_word(&mut self, rule: &'static str, status: u16, word: &str, reply: &SiteResponse) {
        let holds = reply.status == status && reply.json()["status"] == word;
        self.note(rule, holds, format!("{status} {{status: '{word}'}}"), reply.describe());
    }
}
