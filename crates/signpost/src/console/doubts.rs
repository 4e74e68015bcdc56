//! Machines that may be wrong, as `signpost atms check` finds them. They are looked for once for each version of the
//! catalogue, beside the requests, and only while somebody looks at the console.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use maud::{Markup, html};
use signpost_atm::catalogue::Snapshot;
use signpost_atm::processor;
use signpost_locator::quality::{Concern, find_concerns};
use signpost_locator::{AtmId, Machine};
use signpost_platform::origin::PublicOrigin;

use super::Console;
use super::running_check::RunningCheck;
use super::tables::{panel, table};

/// How many are listed.
const LISTED: usize = 50;

/// What the last look found.
#[derive(Debug, Default)]
pub(super) struct DoubtShelf {
    seen: Mutex<Option<Arc<MachineDoubts>>>,
    is_running: Arc<AtomicBool>,
}

/// Machines of a version of the catalogue that may be wrong.
#[derive(Debug, Default)]
pub(super) struct MachineDoubts {
    version: i64,
    /// How many there are.
    pub(super) machines: usize,
    /// Some of them, each with what may be wrong.
    listed: Vec<(AtmId, String, Vec<Concern>)>,
}

/// What may be wrong with the machines of now; `None` until it was looked for, and where they are fictional.
pub(super) fn find_doubts(console: &Console, now: Timestamp) -> Option<Arc<MachineDoubts>> {
    let atm = console.atm.as_ref()?;
    let snapshot = atm.catalogue.snapshot();
    if snapshot.is_sample() {
        return None;
    }
    let seen = console.doubts.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let seen = seen.filter(|seen| seen.version == snapshot.version());
    if seen.is_none()
        && let Some(running) = RunningCheck::begin(&console.doubts.is_running)
    {
        tokio::spawn(look(console.clone(), snapshot, now, running));
    }
    seen
}

async fn look(console: Console, snapshot: Arc<Snapshot>, now: Timestamp, _running: RunningCheck) {
    let Some(atm) = &console.atm else { return };
    let gazetteer = atm.catalogue.places.now();
    let found = processor::run(move |_| {
        let machines: Vec<&Machine> = snapshot.entries().iter().map(|entry| &entry.machine).collect();
        // Of when the data is, the page of health speaks.
        let is_mistake = |concern: &Concern| !matches!(concern, Concern::Stale | Concern::Undated);
        let mut found = find_concerns(&machines, &gazetteer, now);
        for (_, concerns) in &mut found {
            concerns.retain(is_mistake);
        }
        found.retain(|(_, concerns)| !concerns.is_empty());
        let listed = found.iter().take(LISTED);
        let listed =
            listed.map(|(machine, concerns)| (machine.id, machine.record.title().to_owned(), concerns.clone()));
        MachineDoubts { version: snapshot.version(), machines: found.len(), listed: listed.collect() }
    });
    match found.await {
        Ok(found) => *console.doubts.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(found)),
        Err(error) => tracing::error!(error = format!("{error:#}"), "the machines were not checked"),
    }
}

/// The list of them.
pub(super) fn draw_doubts(origin: &PublicOrigin, doubts: &MachineDoubts) -> Markup {
    if doubts.machines == 0 {
        return html! {};
    }
    let row = |(id, title, concerns): &(AtmId, String, Vec<Concern>)| {
        let concerns: Vec<_> = concerns.iter().map(ToString::to_string).collect();
        vec![
            html! { a href=(origin.link(&format!("/console/machines/{id}"))) { (signpost_text::line(title)) } },
            html! { (concerns.join("; ")) },
        ]
    };
    let rows: Vec<_> = doubts.listed.iter().map(row).collect();
    let title = match doubts.machines {
        1 => "1 machine may be wrong".to_owned(),
        LISTED.. => format!("{} machines may be wrong, {LISTED} of them here", doubts.machines),
        more => format!("{more} machines may be wrong"),
    };
    let body = table("Machines that may be wrong", &["Machine", "What may be wrong"], &rows, &html! {});
    panel("doubts", &title, &html! { p.sm { code { "signpost atms check" } } }, &body)
}
