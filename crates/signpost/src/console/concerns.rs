//! Finds ATMs with likely mistakes, like `signpost atms check`. The check runs once per version of
//! the catalogue, in the background, and only while the console is open.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use maud::{Markup, html};
use signpost_atm::catalogue::Snapshot;
use signpost_atm::processor;
use signpost_locator::quality::{Concern, find_concerns};
use signpost_locator::{AtmId, MergedAtm};
use signpost_platform::origin::PublicOrigin;

use super::Console;
use super::running_check::RunningCheck;
use super::tables::{panel, table};

/// Maximum number of ATMs that are listed.
const MAX_LISTED: usize = 50;

/// The result of the last check.
#[derive(Debug, Default)]
pub(super) struct ConcernCache {
    found: Mutex<Option<Arc<MachineConcerns>>>,
    is_running: Arc<AtomicBool>,
}

/// The ATMs of a version of the catalogue with likely mistakes.
#[derive(Debug, Default)]
pub(super) struct MachineConcerns {
    version: i64,
    /// Number of ATMs with likely mistakes.
    pub(super) machines: usize,
    /// The first of these ATMs, with their names and concerns.
    listed: Vec<(AtmId, String, Vec<Concern>)>,
}

/// Returns the likely mistakes in a snapshot, and starts a check if there was none. `None` until the check has ended,
/// and for sample data.
pub(super) fn check_machines(
    console: &Console,
    snapshot: &Arc<Snapshot>,
    now: Timestamp,
) -> Option<Arc<MachineConcerns>> {
    if snapshot.is_sample() {
        return None;
    }
    let found = console.concerns.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(found) = found
        && found.version == snapshot.version()
    {
        return Some(found);
    }
    if let Some(running) = RunningCheck::begin(&console.concerns.is_running) {
        tokio::spawn(check(console.clone(), Arc::clone(snapshot), now, running));
    }
    None
}

async fn check(console: Console, snapshot: Arc<Snapshot>, now: Timestamp, _running: RunningCheck) {
    let Some(atm) = &console.atm else { return };
    let gazetteer = atm.catalogue.places.now();
    let found = processor::run(move |_| {
        let machines: Vec<&MergedAtm> = snapshot.entries().iter().map(|entry| &entry.atm).collect();
        let mut found = find_concerns(&machines, &gazetteer, now);
        for (_, concerns) in &mut found {
            // Old and undated data is omitted, because the health page shows the age of the data.
            concerns.retain(|concern| !matches!(concern, Concern::Stale | Concern::Undated));
        }
        found.retain(|(_, concerns)| !concerns.is_empty());
        let listed = found.iter().take(MAX_LISTED);
        let listed =
            listed.map(|(machine, concerns)| (machine.id, machine.record.title().to_owned(), concerns.clone()));
        MachineConcerns { version: snapshot.version(), machines: found.len(), listed: listed.collect() }
    });
    match found.await {
        Ok(found) => *console.concerns.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(found)),
        Err(error) => tracing::error!(error = format!("{error:#}"), "the machines were not checked"),
    }
}

/// Draws the list of ATMs.
pub(super) fn draw_concerns(origin: &PublicOrigin, found: &MachineConcerns) -> Markup {
    if found.machines == 0 {
        return html! {};
    }
    let rows = found.listed.iter().map(|(id, title, concerns)| {
        let concerns: Vec<_> = concerns.iter().map(ToString::to_string).collect();
        vec![
            html! { a href=(origin.link(&format!("/console/machines/{id}"))) { (signpost_text::clean_line(title)) } },
            html! { (concerns.join("; ")) },
        ]
    });
    let title = match found.machines {
        1 => "1 machine may be wrong".to_owned(),
        MAX_LISTED.. => format!("{} machines may be wrong, {MAX_LISTED} of them here", found.machines),
        more => format!("{more} machines may be wrong"),
    };
    let body = table("Machines that may be wrong", &["Machine", "What may be wrong"], rows, &html! {});
    panel("doubts", &title, &html! { p.sm { code { "signpost atms check" } } }, &body)
}
