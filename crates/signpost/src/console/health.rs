//! The health page: the findings of `signpost doctor` for this server. The checks last several
//! seconds, so they run in the background, and only while the page is open.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use axum::response::Response;
use jiff::{SignedDuration, Timestamp};
use maud::html;

use super::Console;
use super::context::{ConsoleError, OperatorContext};
use super::dates::format_time;
use super::document::{ConsolePage, ConsoleSection};
use super::running_check::RunningCheck;
use super::tables::{chip, panel, table};
use crate::doctor::{CheckFinding, Grade, Installation, check_installation};

/// Maximum age of the findings before the checks run again.
const MAX_AGE: SignedDuration = SignedDuration::from_secs(60);

/// The result of the last checks.
#[derive(Debug, Default)]
pub(super) struct HealthCache {
    checked: Mutex<Option<Arc<CheckedHealth>>>,
    is_running: Arc<AtomicBool>,
}

#[derive(Debug)]
struct CheckedHealth {
    at: Timestamp,
    findings: Vec<CheckFinding>,
}

/// `GET /console/health`: shows the findings of the last checks.
pub(super) async fn show(context: OperatorContext) -> Result<Response, ConsoleError> {
    let health = &context.health;
    let checked = health.checked.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let is_old = checked.as_ref().is_none_or(|checked| context.now.duration_since(checked.at) >= MAX_AGE);
    if is_old && let Some(running) = RunningCheck::begin(&health.is_running) {
        tokio::spawn(check(context.console.clone(), running));
    }
    let (note, body) = match &checked {
        None => (html! { "The checks run." }, html! { p { "This page loads itself again in a moment." } }),
        Some(checked) if is_old => {
            let note = html! { "Checked " (format_time(checked.at)) ". New checks run; this page loads itself again in a moment." };
            (note, draw(checked))
        }
        Some(checked) => (html! { "Checked " (format_time(checked.at)) }, draw(checked)),
    };
    let reload_after = is_old.then_some(if checked.is_none() { 1 } else { 2 });
    let page = ConsolePage { note, reload_after, ..ConsolePage::new(&context, ConsoleSection::Today, "Health", body) };
    page.respond().await
}

async fn check(console: Console, _running: RunningCheck) {
    let now = console.clock.now();
    let catalogue = console.atm.as_ref().map(|atm| &*atm.catalogue);
    let store = Ok(console.store.clone());
    let installation = Installation::inspect(&console.config, store, &console.outbound, catalogue, now).await;
    let checked = CheckedHealth { at: now, findings: check_installation(&installation) };
    *console.health.checked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(checked));
}

fn draw(checked: &CheckedHealth) -> maud::Markup {
    let mut findings: Vec<&CheckFinding> = checked.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.grade));
    let rows = findings.into_iter().map(|finding| {
        let class = match finding.grade {
            Grade::Pass => "ok",
            Grade::Warn => "wait",
            Grade::Fail => "fail",
        };
        vec![
            chip(class, finding.grade.as_str()),
            html! { b { (finding.check) } },
            html! { (signpost_text::clean_line(&finding.found)) @if let Some(remedy) = &finding.remedy { p.sm { b { "Mend it: " } (signpost_text::clean_line(remedy)) } } },
        ]
    });
    let failed = checked.findings.iter().filter(|finding| finding.grade == Grade::Fail).count();
    let warned = checked.findings.iter().filter(|finding| finding.grade == Grade::Warn).count();
    let title = match (failed, warned) {
        (0, 0) => "All is well".to_owned(),
        (failed, warned) => format!("{failed} failed, {warned} to look at"),
    };
    panel("checks", &title, &html! {}, &table("Checks", &["Grade", "Check", "Found"], rows, &html! {}))
}
