//! Health: the checks of `signpost doctor`, made by the server. They take seconds, so they run beside the requests, and only
//! while somebody looks.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use axum::response::Response;
use jiff::{SignedDuration, Timestamp};
use maud::html;

use super::Console;
use super::dates::say_moment;
use super::document::{ConsolePage, Screen};
use super::running_check::RunningCheck;
use super::tables::{chip, panel, table};
use super::visit::OperatorVisit;
use crate::doctor::{CheckFinding, Grade, Installation, check_installation};

/// How long what was found is shown before it is looked for again.
const FRESH: SignedDuration = SignedDuration::from_secs(60);

/// What the last checks found.
#[derive(Debug, Default)]
pub(super) struct HealthBoard {
    seen: Mutex<Option<Arc<HealthSeen>>>,
    is_running: Arc<AtomicBool>,
}

#[derive(Debug)]
struct HealthSeen {
    at: Timestamp,
    findings: Vec<CheckFinding>,
}

impl HealthBoard {
    fn seen(&self) -> Option<Arc<HealthSeen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// `GET /console/health`
pub(super) async fn show(visit: OperatorVisit) -> Response {
    let console = &visit.console;
    let seen = console.health.seen();
    let is_old = seen.as_ref().is_none_or(|seen| visit.now.duration_since(seen.at) >= FRESH);
    if is_old && let Some(running) = RunningCheck::begin(&console.health.is_running) {
        tokio::spawn(check(console.clone(), running));
    }
    let (note, body) = match &seen {
        None => (html! { "The checks run." }, html! { p { "This page loads itself again in a moment." } }),
        Some(seen) if is_old => {
            let note = html! { "Checked " (say_moment(seen.at)) ". New checks run; this page loads itself again in a moment." };
            (note, draw(seen))
        }
        Some(seen) => (html! { "Checked " (say_moment(seen.at)) }, draw(seen)),
    };
    let reload_after = is_old.then_some(if seen.is_none() { 1 } else { 2 });
    let page = ConsolePage { note, reload_after, ..ConsolePage::new(&visit, Screen::Today, "Health", body) };
    page.respond().await
}

async fn check(console: Console, _running: RunningCheck) {
    let now = console.clock.now();
    let catalogue = console.atm.as_ref().map(|atm| &*atm.catalogue);
    let store = Ok(console.store.clone());
    let installation = Installation::look(&console.config, store, &console.outbound, catalogue, now).await;
    let seen = HealthSeen { at: now, findings: check_installation(&installation) };
    *console.health.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(seen));
}

fn draw(seen: &HealthSeen) -> maud::Markup {
    let row = |finding: &CheckFinding| {
        let class = match finding.grade {
            Grade::Pass => "ok",
            Grade::Warn => "wait",
            Grade::Fail => "fail",
        };
        vec![
            chip(class, finding.grade.as_str()),
            html! { b { (finding.check) } },
            html! { (signpost_text::line(&finding.found)) @if let Some(mend) = &finding.mend { p.sm { b { "Mend it: " } (signpost_text::line(mend)) } } },
        ]
    };
    let mut findings: Vec<&CheckFinding> = seen.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.grade));
    let rows: Vec<_> = findings.into_iter().map(row).collect();
    let failed = seen.findings.iter().filter(|finding| finding.grade == Grade::Fail).count();
    let warned = seen.findings.iter().filter(|finding| finding.grade == Grade::Warn).count();
    let title = match (failed, warned) {
        (0, 0) => "All is well".to_owned(),
        (failed, warned) => format!("{failed} failed, {warned} to look at"),
    };
    panel("checks", &title, &html! {}, &table("Checks", &["Grade", "Check", "Found"], &rows, &html! {}))
}
