//! Pages that import ATMs. A file is uploaded and compared with the stored ATMs, and applied after
//! the operator has seen the changes.

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
use signpost_atm::catalogue::{Coverage, FileContents, ImportCounts, ImportRules, ImportSteps, Source, apply_with};
use signpost_atm::processor;
use signpost_locator::DataDates;
use signpost_locator::import::{Bounds, Import, Options, parse_data_date};
use signpost_platform::accounts::audit::Action;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::bounded_file;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::{PostedFormError, is_from};
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::web::peer::client_address;
use signpost_platform::web::receive_slots::ReceiveError;
use signpost_store::random;

use super::Console;
use super::context::{ConsoleError, FormError, OperatorContext};
use super::dates::render_dates;
use super::document::{ConsolePage, ConsoleSection};
use super::reports::no_locator;
use super::tables::{panel, table, tile};
use super::uploads::{
    APPLY_PATH, MAX_FILE, MAX_FORM_FIELDS, MAX_NAME, MAX_UNPACKED, UPLOAD_PATH, Upload, name_source, receive_upload,
};

/// Lifetime of an upload that was not applied.
const UPLOAD_LIFETIME: SignedDuration = SignedDuration::from_mins(30);
const TOO_SLOW: &str = "The file arrived too slowly. Nothing of it was kept: send it again over a faster connection, or \
                        import it on the command line.";
const DISPLACED: &str = "The file arrived so slowly that another upload took its place. Nothing of it was kept: send it \
                         again.";
/// Maximum number of skipped rows and warnings that are shown.
const MAX_SHOWN: usize = 20;

pub(super) fn router() -> Router<Console> {
    let upload = post(upload).layer(DefaultBodyLimit::max(MAX_FILE + MAX_FORM_FIELDS));
    Router::new().route(UPLOAD_PATH, get(show).merge(upload)).route(APPLY_PATH, post(apply))
}

/// `GET /console/machines/import`: shows the import form.
async fn show(context: OperatorContext) -> Result<Response, ConsoleError> {
    render_form(&context, None).await
}

async fn render_form(context: &OperatorContext, refused: Option<&str>) -> Result<Response, ConsoleError> {
    if context.atm.is_none() {
        return no_locator(context, ConsoleSection::Machines, "Import").await;
    }
    let action = context.origin.link(UPLOAD_PATH);
    let body = html! {
        @if let Some(reason) = refused {
            div.notice.danger role="alert" { (PageIcon::Stop.draw(20)) div { p { b { "The file was not imported." } } p { (signpost_text::clean_line(reason)) } } }
        }
        (panel("file", "A file of machines", &html! {}, &html! {
            form.inset.columns method="post" action=(action) enctype="multipart/form-data" {
                (context.token("upload"))
                div.field { label for="source" { "Source" } input #source name="source" maxlength=(MAX_NAME); p.hint { "A later file of the same source replaces this one. Empty: the file's name" } }
                div.field { label for="attribution" { "Credit" } input #attribution name="attribution" maxlength=(MAX_NAME); p.hint { "What its licence asks for; it stands in every answer" } }
                div.field { label for="upload" { "File" } input #upload type="file" name="file" required; p.hint { "CSV, GeoJSON, JSON or an OpenStreetMap file, also in gzip or zip, up to " (MAX_FILE >> 20) " MB" } }
                div.field { label for="as_of" { "Date of the data" } input #as_of name="as_of" maxlength="30" placeholder="2026-11-20"; p.hint { "For machines without a date in the file: a day, month or year. Empty: their status is unknown" } }
                label.choice { input type="checkbox" name="partial" value="yes"; "It has only changes: machines that are not in it stay" }
                button.btn.primary { "Compare it" }
            }
        }))
    };
    let note = html! { "Nothing changes before you have seen what would." };
    let page = ConsolePage { note, ..ConsolePage::new(context, ConsoleSection::Machines, "Import machines", body) };
    page.respond().await
}

/// `POST /console/machines/import`: receives a file with the form fields `token`, `source`,
/// `attribution`, `as_of` and `partial`, which precede `file`, and shows the changes.
async fn upload(context: OperatorContext, request: Request) -> Result<Response, ConsoleError> {
    if !is_from(&context.origin, request.headers()) {
        return Err(context.refuse(PostedFormError::CrossOrigin));
    }
    // Limits the number of files on the disk.
    let owner = context.signed_in.user.id.to_string();
    let address = client_address(&context.console, &request);
    let Ok(slot) = context.uploads.slots.begin(owner, address, context.clock.elapsed()) else {
        return refuse_file(&context, "Other uploads are under way. Send the file again in a moment.").await;
    };
    let receipt = receive_upload(&context, slot.count(request));
    let form = match slot.receive(&context.clock, receipt).await {
        Ok(Ok(form)) => form,
        Ok(Err(FormError::Invalid(reason))) => return refuse_file(&context, &reason).await,
        Ok(Err(FormError::Other(error))) => return Err(error),
        Err(ReceiveError::TooSlow) => return refuse_file(&context, TOO_SLOW).await,
        Err(ReceiveError::Displaced) => return refuse_file(&context, DISPLACED).await,
    };
    context.authorize_again().await?;
    let source = name_source(&form.source, &form.file_name);
    let (Some(file), Some(source)) = (form.file, source) else {
        return refuse_file(&context, "Choose a file, and a name of 1 to 64 characters for its source.").await;
    };
    let as_of = if form.as_of.is_empty() { None } else { Some(parse_data_date(&form.as_of, Some(context.now))) };
    let as_of = match as_of.transpose() {
        Ok(as_of) => as_of,
        Err(error) => return refuse_file(&context, &format!("The date of the data is {error}.")).await,
    };
    let attribution = if form.attribution.is_empty() { source.clone() } else { form.attribution };
    let id = CookieSecret::from_bytes(random()).hash();
    let upload = Arc::new(Upload {
        id: id.as_str().to_owned(),
        by: context.signed_in.user.id.to_string(),
        at: context.now,
        source,
        attribution,
        extent: if form.is_partial { Coverage::Partial } else { Coverage::Full },
        as_of,
        file: Mutex::new(file),
    });
    let (counts, found) = match import(&context, &upload, ImportMode { dry_run: true, force: true }).await {
        Ok(compared) => compared,
        Err(error) => return refuse_file(&context, &format!("{error:#}.")).await,
    };
    let page = render_comparison(&context, &upload, counts, &found).await?;
    context.uploads.store(upload);
    Ok(page)
}

/// Returns the form with the reason why the file was not imported.
async fn refuse_file(context: &OperatorContext, reason: &str) -> Result<Response, ConsoleError> {
    let page = render_form(context, Some(reason)).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

/// The mode of an import.
#[derive(Clone, Copy, Debug)]
struct ImportMode {
    dry_run: bool,
    /// Whether more than a fifth of the source's ATMs may be removed.
    force: bool,
}

async fn import(context: &OperatorContext, upload: &Arc<Upload>, mode: ImportMode) -> Result<(ImportCounts, Import)> {
    let atm = context.atm.as_ref().context("the locator does not run here")?;
    let gazetteer = atm.catalogue.places.now();
    let now = context.now;
    let options = Options {
        partial: upload.extent == Coverage::Partial,
        as_of: upload.as_of,
        now: Some(now),
        bounds: Bounds { unpacked_bytes: MAX_UNPACKED, ..Bounds::default() },
        ..Options::default()
    };
    let file = Arc::clone(upload);
    let contents = processor::run(move |cancel| {
        let mut file = file.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(0))?;
        let bytes = bounded_file::read_from(&mut *file, MAX_FILE as u64)?;
        drop(file);
        anyhow::Ok(FileContents::from_bytes(&bytes, &Options { cancel: cancel.clone(), ..options }, &gazetteer)?)
    });
    let contents = contents.await??;
    if upload.extent == Coverage::Full {
        contents.check_usable()?;
    }
    let source = Source { name: upload.source.clone(), attribution: upload.attribution.clone(), imported_at: now };
    let rules = ImportRules { extent: upload.extent, force: mode.force, dry_run: mode.dry_run, max_atms: usize::MAX };
    let counts = apply_with(&context.store, &source, &contents, rules, |counts| {
        let ImportCounts { added, changed, unchanged, removed } = counts;
        let details = json!({ "added": added, "changed": changed, "unchanged": unchanged, "removed": removed });
        let entry = insert_entry(&context.actor(), None, Action::AtmsImported, &upload.source, &details, now);
        // Parsing a large file can need minutes. The write conflicts if the operator has been removed or signed out
        // since.
        let [signed_in, operator] = context.require_statements();
        ImportSteps { others: vec![signed_in, operator, entry], feed: None }
    });
    Ok((counts.await?, contents.import))
}

async fn render_comparison(
    context: &OperatorContext,
    upload: &Upload,
    counts: ImportCounts,
    found: &Import,
) -> Result<Response, ConsoleError> {
    let ImportCounts { added, changed, unchanged, removed } = counts;
    let action = context.origin.link(APPLY_PATH);
    let known = unchanged + changed + removed;
    let removes_many = known > 0 && removed * 5 > known;
    let body = html! {
        h2.vh { "What would change" }
        dl.tiles {
            (tile("New", &added.to_string(), "machines")) (tile("Changed", &changed.to_string(), "machines"))
            (tile("Unchanged", &unchanged.to_string(), "machines")) (tile("Gone", &removed.to_string(), "machines of this source"))
        }
        p { (describe_dates(found.dates)) }
        @for notice in &found.notices { p { (signpost_text::clean_line(notice)) "." } }
        (details(found))
        (panel("apply", "Import it?", &html! {}, &html! {
            form.inset.stack method="post" action=(action) {
                (context.token(&format!("import {}", upload.id)))
                input type="hidden" name="upload" value=(upload.id);
                p { "Source " b { (signpost_text::clean_line(&upload.source)) } ", credit " b { (signpost_text::clean_line(&upload.attribution)) } "." }
                @if removes_many {
                    div.notice.warn { (PageIcon::Info.draw(20)) p { "More than a fifth of the machines of this source would be gone. Is the file whole?" } }
                    label.choice { input type="checkbox" name="force" value="yes" required; "Yes, they are gone" }
                }
                div.row {
                    a.btn href=(context.origin.link(UPLOAD_PATH)) { "No, go back" }
                    button.btn.primary { "Import it" }
                }
            }
        }))
    };
    let note = html! { "Nothing has changed yet. This comparison waits for 30 minutes." };
    let page = ConsolePage { note, ..ConsolePage::new(context, ConsoleSection::Machines, "What would change", body) };
    page.respond().await
}

/// Draws the dates of the machines in the file, and the number of those without a date.
fn describe_dates(dates: DataDates) -> Markup {
    html! {
        "Data of " (render_dates(dates)) "."
        @if dates.undated > 0 { " " (counted(dates.undated, "machine has", "machines have")) " no date: their status is unknown." }
    }
}

fn counted(count: usize, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

/// Draws the skipped rows, the invalid values, and the columns.
fn details(found: &Import) -> Markup {
    let skipped = found.skipped.first.iter().take(MAX_SHOWN);
    let skipped = skipped
        .map(|row| vec![html! { (found.counted) " " (row.line) }, html! { (signpost_text::clean_line(&row.reason)) }]);
    let cells = found.invalid_cells.first.iter().take(MAX_SHOWN).map(|cell| {
        let text = format!("{} ‘{}’ {}", cell.field, cell.value, cell.reason);
        vec![html! { (found.counted) " " (cell.line) }, html! { (signpost_text::clean_line(&text)) }]
    });
    let columns = found.columns.iter();
    let columns = columns
        .map(|(field, column)| vec![html! { (field.to_string()) }, html! { (signpost_text::clean_line(column)) }]);
    html! {
        (panel("skipped", &counted(found.skipped.total, "row is skipped", "rows are skipped"), &html! {},
            &table("Skipped rows", &["Where", "Why"], skipped, &html! { p { "Every row can be used." } })))
        (panel("doubts", &counted(found.invalid_cells.total, "value is not understood", "values are not understood"), &html! {},
            &table("Doubts", &["Where", "What"], cells, &html! { p { "Every value is understood." } })))
        @if !found.columns.is_empty() {
            (panel("columns", "Columns that are read", &html! {}, &table("Columns", &["Fact", "Column"], columns, &html! {})))
        }
        (render_suggestions(found))
    }
}

/// Draws the columns that are not read, and the options of the command that may improve the import.
fn render_suggestions(found: &Import) -> Markup {
    let sentences = found.suggestions.sentences();
    let unused: Vec<&str> = found.unused.first.iter().take(MAX_SHOWN).map(String::as_str).collect();
    let more = found.unused.total - unused.len();
    html! {
        @if !unused.is_empty() {
            p {
                "Columns that are not read: " (signpost_text::clean_line(&unused.join(", ")))
                @if more > 0 { " and " (more) " more" }
                "."
            }
        }
        @if !sentences.is_empty() {
            div.notice {
                (PageIcon::Info.draw(20))
                div {
                    p { "The command " code { "signpost atms import" } " has options for this file:" }
                    ul { @for sentence in &sentences { li { (signpost_text::clean_line(sentence)) } } }
                }
            }
        }
    }
}

/// `POST /console/machines/import/apply`: imports the file `upload`. The form field `force` is
/// required if many ATMs would be removed.
async fn apply(context: OperatorContext, request: Request) -> Result<Response, ConsoleError> {
    let form = context.receive_unchecked(request).await?;
    let id = form.text("upload").unwrap_or_default();
    context.accept(&form, &format!("import {id}")).await?;
    let upload = match context.uploads.find(id) {
        Some(upload)
            if upload.by == context.signed_in.user.id.as_str()
                && context.now.duration_since(upload.at) < UPLOAD_LIFETIME =>
        {
            upload
        }
        _ => {
            let reason = "This upload is not here any more: another one took its place, or 30 minutes are over.";
            return refuse_file(&context, reason).await;
        }
    };
    let mode = ImportMode { dry_run: false, force: form.text("force") == Some("yes") };
    let (counts, _) = match import(&context, &upload, mode).await {
        Ok(done) => done,
        Err(error) => {
            context.authorize_again().await?;
            return refuse_file(&context, &format!("{error:#}.")).await;
        }
    };
    context.uploads.clear(&upload.id);
    let ImportCounts { added, changed, unchanged, removed } = counts;
    let body = html! {
        div.notice.ok role="status" {
            (PageIcon::Tick.draw(20))
            div {
                p { b { "The file is imported." } }
                p { (added) " added, " (changed) " changed, " (unchanged) " unchanged, " (removed) " gone. People see it within five seconds." }
            }
        }
        p { a.btn.primary href=(context.origin.link("/console/machines")) { "To the machines" } }
    };
    ConsolePage::new(&context, ConsoleSection::Machines, "Imported", body).respond().await
}
