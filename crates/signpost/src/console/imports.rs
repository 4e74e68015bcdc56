//! Imports: a file is uploaded and compared, the operator sees what would change, and only then it is taken over.

use std::io::{Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use jiff::SignedDuration;
use maud::{Markup, html};
use serde_json::json;
use signpost_atm::catalogue::{Extent, ImportCounts, ImportSteps, Reading, Source, Terms, apply_with};
use signpost_atm::processor;
use signpost_locator::import::{Import, Options};
use signpost_platform::accounts::audit::Action;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::bounded_file;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::{FormRefusal, PostedForm, is_from};
use signpost_platform::pages::icons::Sign;
use signpost_platform::web::peer::client_address;
use signpost_platform::web::receive_slots::ReceiveEnd;
use signpost_store::random;

use super::Console;
use super::document::{ConsolePage, Screen};
use super::reports::no_locator;
use super::tables::{panel, table};
use super::uploads::{APPLY_PATH, MAX_BESIDE, MAX_FILE, MAX_NAME, UPLOAD_PATH, Upload, name_source, receive_upload};
use super::visit::{FormError, OperatorVisit, refuse};

/// How long an upload waits to be taken over.
const UPLOAD_LASTS: SignedDuration = SignedDuration::from_mins(30);
const TOO_SLOW: &str = "The file arrived too slowly. Nothing of it was kept: send it again over a faster connection, or \
                        import it on the command line.";
const DISPLACED: &str = "The file arrived so slowly that another upload took its place. Nothing of it was kept: send it \
                         again.";
/// How many skipped rows and doubts are shown.
const SHOWN: usize = 20;

pub(super) fn router() -> Router<Console> {
    let upload = post(upload).layer(DefaultBodyLimit::max(MAX_FILE + MAX_BESIDE));
    Router::new().route(UPLOAD_PATH, get(show).merge(upload)).route(APPLY_PATH, post(take_over))
}

/// `GET /console/machines/import`
async fn show(visit: OperatorVisit) -> Response {
    render_form(&visit, None).await
}

async fn render_form(visit: &OperatorVisit, refused: Option<&str>) -> Response {
    if visit.console.atm.is_none() {
        return no_locator(visit, Screen::Machines, "Import").await;
    }
    let action = visit.console.origin.link(UPLOAD_PATH);
    let body = html! {
        @if let Some(reason) = refused {
            div.notice.danger role="alert" { (Sign::Stop.draw(20)) div { p { b { "The file was not imported." } } p { (signpost_text::line(reason)) } } }
        }
        (panel("file", "A file of machines", &html! {}, &html! {
            form.inset.columns method="post" action=(action) enctype="multipart/form-data" {
                (visit.token("upload"))
                div.field { label for="source" { "Source" } input #source name="source" maxlength=(MAX_NAME); p.hint { "A later file of the same source replaces this one. Empty: the file's name" } }
                div.field { label for="attribution" { "Credit" } input #attribution name="attribution" maxlength=(MAX_NAME); p.hint { "What its licence asks for; it stands in every answer" } }
                div.field { label for="upload" { "File" } input #upload type="file" name="file" required; p.hint { "CSV, GeoJSON, JSON or an OpenStreetMap file, up to " (MAX_FILE >> 20) " MB" } }
                label.choice { input type="checkbox" name="partial" value="yes"; "It has only changes: machines that are not in it stay" }
                button.btn.primary { "Compare it" }
            }
        }))
    };
    let note = html! { "Nothing changes before you have seen what would." };
    let page = ConsolePage { note, ..ConsolePage::new(visit, Screen::Machines, "Import machines", body) };
    page.respond().await
}

/// `POST /console/machines/import`: `token`, `source`, `attribution`, `partial`, and behind them `file`.
async fn upload(visit: OperatorVisit, request: Request) -> Result<Response, Response> {
    if !is_from(&visit.console.origin, request.headers()) {
        return Err(refuse(&visit.console, FormRefusal::Foreign));
    }
    // So many files at most are on the disk, however many tabs send one.
    let (owner, address) = (visit.who.user.id.to_string(), client_address(&visit.console, &request));
    let Ok(slot) = visit.console.uploads.slots.begin(owner, address, visit.console.clock.elapsed()) else {
        return Ok(refused(&visit, "Other uploads are under way. Send the file again in a moment.").await);
    };
    let receipt = receive_upload(&visit, slot.count(request));
    let form = match slot.receive(&visit.console.clock, receipt).await {
        Ok(Ok(form)) => form,
        Ok(Err(FormError::Invalid(reason))) => return Ok(refused(&visit, &reason).await),
        Ok(Err(FormError::Response(response))) => return Err(response),
        Err(ReceiveEnd::TooSlow) => return Ok(refused(&visit, TOO_SLOW).await),
        Err(ReceiveEnd::Displaced) => return Ok(refused(&visit, DISPLACED).await),
    };
    visit.authorize_again().await?;
    let (Some(file), Some(source)) = (form.file, name_source(&form.source, &form.file_name)) else {
        return Ok(refused(&visit, "Choose a file, and a name of 1 to 64 characters for its source.").await);
    };
    let attribution = if form.attribution.is_empty() { source.clone() } else { form.attribution };
    let id = CookieSecret::from_bytes(random()).hash();
    let upload = Arc::new(Upload {
        id: id.as_str().to_owned(),
        by: visit.who.user.id.to_string(),
        at: visit.now,
        source,
        attribution,
        extent: if form.is_partial { Extent::Part } else { Extent::Whole },
        file: Mutex::new(file),
    });
    match import(&visit, &upload, Taking { dry_run: true, force: true }).await {
        Ok((counts, found)) => {
            let page = render_comparison(&visit, &upload, counts, &found).await;
            visit.console.uploads.keep(upload);
            Ok(page)
        }
        Err(error) => Ok(refused(&visit, &format!("{error:#}.")).await),
    }
}

async fn refused(visit: &OperatorVisit, reason: &str) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, render_form(visit, Some(reason)).await).into_response()
}

/// How a file is taken.
#[derive(Clone, Copy, Debug)]
struct Taking {
    dry_run: bool,
    /// Whether more than a fifth of the source's machines may go.
    force: bool,
}

async fn import(visit: &OperatorVisit, upload: &Arc<Upload>, taking: Taking) -> Result<(ImportCounts, Import)> {
    let atm = visit.console.atm.as_ref().context("the locator does not run here")?;
    let (gazetteer, now) = (atm.catalogue.places.now(), visit.now);
    let options = Options { partial: upload.extent == Extent::Part, now: Some(now), ..Options::default() };
    let read = {
        let upload = Arc::clone(upload);
        processor::run(move |stop| {
            let mut file = upload.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(0))?;
            let bytes = bounded_file::read_from(&mut *file, MAX_FILE as u64)?;
            drop(file);
            anyhow::Ok(Reading::from_bytes(&bytes, &Options { stop: stop.clone(), ..options }, &gazetteer)?)
        })
    };
    let reading = read.await??;
    let source = Source { name: upload.source.clone(), attribution: upload.attribution.clone(), imported_at: now };
    let terms = Terms { extent: upload.extent, force: taking.force, dry_run: taking.dry_run, most: usize::MAX };
    let tell = |counts: ImportCounts| {
        let ImportCounts { added, changed, unchanged, removed } = counts;
        let details = json!({ "added": added, "changed": changed, "unchanged": unchanged, "removed": removed });
        let entry = insert_entry(&visit.actor(), None, Action::AtmsImported, &upload.source, &details, now);
        // Reading a large file takes minutes. The write is refused if the operator was removed, or signed out, by then.
        let [signed_in, operator] = visit.require_steps();
        ImportSteps { others: vec![signed_in, operator, entry], feed: None }
    };
    let counts = apply_with(&visit.console.store, &source, &reading, terms, tell).await?;
    Ok((counts, reading.import))
}

async fn render_comparison(visit: &OperatorVisit, upload: &Upload, counts: ImportCounts, found: &Import) -> Response {
    let ImportCounts { added, changed, unchanged, removed } = counts;
    let tile = |name: &str, count: usize, text: &str| html! { div.tile { dt { (name) } dd { p.v { (count) } p.xs.soft { (text) } } } };
    let action = visit.console.origin.link(APPLY_PATH);
    let known = unchanged + changed + removed;
    let is_many = known > 0 && removed * 5 > known;
    let body = html! {
        h2.vh { "What would change" }
        dl.tiles {
            (tile("New", added, "machines")) (tile("Changed", changed, "machines"))
            (tile("Unchanged", unchanged, "machines")) (tile("Gone", removed, "machines of this source"))
        }
        (details(found))
        (panel("apply", "Import it?", &html! {}, &html! {
            form.inset.stack method="post" action=(action) {
                (visit.token(&format!("import {}", upload.id)))
                input type="hidden" name="upload" value=(upload.id);
                p { "Source " b { (signpost_text::line(&upload.source)) } ", credit " b { (signpost_text::line(&upload.attribution)) } "." }
                @if is_many {
                    div.notice.warn { (Sign::Info.draw(20)) p { "More than a fifth of the machines of this source would be gone. Is the file whole?" } }
                    label.choice { input type="checkbox" name="force" value="yes" required; "Yes, they are gone" }
                }
                div.row {
                    a.btn href=(visit.console.origin.link(UPLOAD_PATH)) { "No, go back" }
                    button.btn.primary { "Import it" }
                }
            }
        }))
    };
    let note = html! { "Nothing has changed yet. This comparison waits for 30 minutes." };
    let page = ConsolePage { note, ..ConsolePage::new(visit, Screen::Machines, "What would change", body) };
    page.respond().await
}

fn say_count(count: usize, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

/// What was not understood.
fn details(found: &Import) -> Markup {
    let skipped = found.skipped.first.iter().take(SHOWN);
    let skipped: Vec<_> = skipped
        .map(|row| vec![html! { (found.counted) " " (row.line) }, html! { (signpost_text::line(&row.reason)) }])
        .collect();
    let doubts = found.doubts.first.iter().take(SHOWN).map(|doubt| {
        let what = format!("{} ‘{}’ {}", doubt.field, doubt.value, doubt.reason);
        vec![html! { (found.counted) " " (doubt.line) }, html! { (signpost_text::line(&what)) }]
    });
    let columns: Vec<_> = found
        .columns
        .iter()
        .map(|(field, column)| vec![html! { (field.to_string()) }, html! { (signpost_text::line(column)) }])
        .collect();
    html! {
        (panel("skipped", &say_count(found.skipped.total, "row is skipped", "rows are skipped"), &html! {},
            &table("Skipped rows", &["Where", "Why"], &skipped, &html! { p { "Every row can be used." } })))
        (panel("doubts", &say_count(found.doubts.total, "value is not understood", "values are not understood"), &html! {},
            &table("Doubts", &["Where", "What"], &doubts.collect::<Vec<_>>(), &html! { p { "Every value is understood." } })))
        @if !columns.is_empty() {
            (panel("columns", "Columns that are read", &html! {}, &table("Columns", &["Fact", "Column"], &columns, &html! {})))
        }
    }
}

/// `POST /console/machines/import/apply`: `upload`, and `force` where many machines would be gone.
async fn take_over(visit: OperatorVisit, request: Request) -> Result<Response, Response> {
    let form = PostedForm::receive(&visit.console.origin, request).await;
    let form = form.map_err(|refusal| refuse(&visit.console, refusal))?;
    let id = form.text("upload").unwrap_or_default();
    visit.accept(&form, &format!("import {id}")).await?;
    let waiting = visit.console.uploads.waiting();
    let by = visit.who.user.id.to_string();
    let is_it =
        |upload: &Arc<Upload>| upload.id == id && upload.by == by && visit.now.duration_since(upload.at) < UPLOAD_LASTS;
    let Some(upload) = waiting.filter(is_it) else {
        return Ok(refused(
            &visit,
            "This upload is not here any more: another one took its place, or 30 minutes are over.",
        )
        .await);
    };
    let taking = Taking { dry_run: false, force: form.text("force") == Some("yes") };
    let (counts, _) = match import(&visit, &upload, taking).await {
        Ok(done) => done,
        Err(error) => {
            visit.authorize_again().await?;
            return Ok(refused(&visit, &format!("{error:#}.")).await);
        }
    };
    visit.console.uploads.clear(&upload.id);
    let ImportCounts { added, changed, unchanged, removed } = counts;
    let body = html! {
        div.notice.ok role="status" {
            (Sign::Tick.draw(20))
            div {
                p { b { "The file is imported." } }
                p { (added) " added, " (changed) " changed, " (unchanged) " unchanged, " (removed) " gone. People see it within five seconds." }
            }
        }
        p { a.btn.primary href=(visit.console.origin.link("/console/machines")) { "To the machines" } }
    };
    Ok(ConsolePage::new(&visit, Screen::Machines, "Imported", body).respond().await)
}
