//! Receives files that operators upload, even over slow connections, and stores the last file until
//! it is applied.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::StatusCode;
use bytes::Bytes;
use futures_util::{Stream, TryStreamExt};
use jiff::Timestamp;
use signpost_atm::catalogue::{Coverage, SAMPLE};
use signpost_locator::import::file_stem;
use signpost_platform::pages::form::PostedFormError;
use signpost_platform::web::receive_slots::{ReceiveLimits, ReceiveSlots};
use tokio::time::timeout;

use super::Console;
use super::context::{FormError, OperatorContext};

/// The path that files are posted to.
pub(super) const UPLOAD_PATH: &str = "/console/machines/import";
/// The path that applies an upload.
pub(super) const APPLY_PATH: &str = "/console/machines/import/apply";
/// The routes of the console that need longer timeouts than other routes.
pub const SLOW_ROUTES: [(&str, Duration); 2] =
    [(UPLOAD_PATH, Duration::from_hours(1)), (APPLY_PATH, Duration::from_mins(10))];
/// Maximum time between two chunks of an upload.
const MAX_SILENCE: Duration = Duration::from_secs(30);
/// Maximum numbers of concurrent uploads: in total, per operator, and per client IP if other
/// uploads wait. The minimum rate is in bytes per second.
const RECEIVE_LIMITS: ReceiveLimits = ReceiveLimits { slots: 4, per_owner: 2, per_address: 3, min_rate: 1024 };
/// Maximum size of a file, in bytes. The command line accepts larger files.
pub(super) const MAX_FILE: usize = 128 << 20;
/// Maximum size of the content of a compressed file, in bytes.
pub(super) const MAX_UNPACKED: usize = 256 << 20;
/// Maximum size of a form without its file, in bytes.
pub(super) const MAX_FORM_FIELDS: usize = 64 << 10;
/// Maximum length of the name and the credit of a source, in characters.
pub(super) const MAX_NAME: usize = 64;

/// The last upload that has not been applied: the next upload replaces it. The file has no name on the disk, so that it
/// is deleted when the server ends.
#[derive(Debug)]
pub(super) struct Uploads {
    stored: Mutex<Option<Arc<Upload>>>,
    pub(super) slots: ReceiveSlots,
}

/// A file that was uploaded and compared.
#[derive(Debug)]
pub(super) struct Upload {
    pub(super) id: String,
    pub(super) by: String,
    pub(super) at: Timestamp,
    pub(super) source: String,
    pub(super) attribution: String,
    pub(super) extent: Coverage,
    /// The date of ATMs without a date.
    pub(super) as_of: Option<Timestamp>,
    pub(super) file: Mutex<File>,
}

/// The fields of the import form.
#[derive(Debug, Default)]
pub(super) struct UploadForm {
    token: String,
    pub(super) source: String,
    pub(super) attribution: String,
    pub(super) is_partial: bool,
    pub(super) as_of: String,
    pub(super) file: Option<File>,
    pub(super) file_name: String,
}

impl Default for Uploads {
    fn default() -> Self {
        Self { stored: Mutex::default(), slots: ReceiveSlots::new(RECEIVE_LIMITS) }
    }
}

impl Uploads {
    /// Returns the upload if it has this ID.
    pub(super) fn find(&self, id: &str) -> Option<Arc<Upload>> {
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner).clone();
        stored.filter(|upload| upload.id == id)
    }

    pub(super) fn store(&self, upload: Arc<Upload>) {
        *self.stored.lock().unwrap_or_else(PoisonError::into_inner) = Some(upload);
    }

    /// Deletes the upload if it has this ID.
    pub(super) fn clear(&self, id: &str) {
        drop(self.stored.lock().unwrap_or_else(PoisonError::into_inner).take_if(|upload| upload.id == id));
    }
}

/// Receives the form and its file. Nothing is written before the CSRF token is checked.
///
/// # Errors
/// Returns [`FormError`] if the form is stale or malformed, or the file is too large, arrives too
/// slowly or cannot be stored.
pub(super) async fn receive_upload(context: &OperatorContext, request: Request) -> Result<UploadForm, FormError> {
    let multipart = Multipart::from_request(request, &()).await;
    let mut multipart = multipart.map_err(|_| context.refuse(PostedFormError::Malformed))?;
    let mut form = UploadForm::default();
    loop {
        let field = within_silence(multipart.next_field(), explain_cut).await.map_err(FormError::Invalid)?;
        let Some(field) = field else { return Ok(form) };
        let name = field.name().unwrap_or_default().to_owned();
        if name == "file" {
            if !context.token("upload").matches(&form.token) {
                return Err(context.refuse(PostedFormError::Stale).into());
            }
            context.record_use().await?;
            form.file_name = field.file_name().unwrap_or_default().to_owned();
            form.file = Some(write_field(&context.console, field).await.map_err(FormError::Invalid)?);
            continue;
        }
        let text = within_silence(field.text(), explain_cut).await.map_err(FormError::Invalid)?;
        if text.len() > MAX_FORM_FIELDS {
            return Err(FormError::invalid("A field of the form is too long."));
        }
        let text = text.trim().chars().take(MAX_NAME).collect();
        match name.as_str() {
            "token" => form.token = text,
            "source" => form.source = text,
            "attribution" => form.attribution = text,
            "partial" => form.is_partial = text == "yes",
            "as_of" => form.as_of = text,
            _ => return Err(context.refuse(PostedFormError::Malformed).into()),
        }
    }
}

/// Waits for the next part of an upload, at most [`MAX_SILENCE`].
async fn within_silence<T, E>(
    next: impl Future<Output = Result<T, E>>,
    explain: impl FnOnce(&E) -> String,
) -> Result<T, String> {
    match timeout(MAX_SILENCE, next).await {
        Ok(next) => next.map_err(|error| explain(&error)),
        Err(_) => Err(format!(
            "Nothing came for {} seconds. Nothing of the file was kept: send it again.",
            MAX_SILENCE.as_secs()
        )),
    }
}

/// Writes the field to a file without a name.
async fn write_field(console: &Console, field: Field<'_>) -> Result<File, String> {
    // With a database on another machine, the data folder may not exist.
    let folder = &console.config.data_dir;
    let created = if folder.is_dir() { tempfile::tempfile_in(folder) } else { tempfile::tempfile() };
    write_file(created, pin!(field), explain_cut).await
}

async fn write_file<E>(
    created: io::Result<File>,
    mut chunks: impl Stream<Item = Result<Bytes, E>> + Unpin,
    explain: fn(&E) -> String,
) -> Result<File, String> {
    let mut file = created.map_err(|error| explain_unwritten(&error))?;
    let mut len = 0;
    while let Some(chunk) = within_silence(chunks.try_next(), explain).await? {
        len += chunk.len();
        if len > MAX_FILE {
            return Err(explain_too_large());
        }
        file = tokio::task::spawn_blocking(move || file.write_all(&chunk).map(|()| file))
            .await
            .map_err(|_| "The upload was interrupted. Nothing of it was kept: send it again.".to_owned())?
            .map_err(|error| explain_unwritten(&error))?;
    }
    Ok(file)
}

fn explain_unwritten(error: &io::Error) -> String {
    tracing::warn!(%error, "an upload could not be written");
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "The disk of this server is full. Nothing of the file was kept: make room in its data folder, then send the \
             file again."
        }
        _ => {
            "This server cannot write to its data folder. Nothing of the file was kept: its log says why. Then send the \
             file again."
        }
    }
    .to_owned()
}

fn explain_cut(error: &MultipartError) -> String {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return explain_too_large();
    }
    "The upload ended early. Nothing of it was kept.".to_owned()
}

fn explain_too_large() -> String {
    format!("The file is larger than {} MB. The command line takes it: signpost atms import.", MAX_FILE >> 20)
}

/// Returns the name of the source: the typed name, or the file name without its extension. `None` if it is not allowed.
pub(super) fn name_source(typed: &str, file_name: &str) -> Option<String> {
    let name: String = if typed.is_empty() { file_stem(file_name) } else { typed }.chars().take(MAX_NAME).collect();
    let is_valid = !name.is_empty() && !name.chars().any(char::is_control) && name != SAMPLE;
    is_valid.then_some(name)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::future::pending;

    use futures_util::stream::{self, repeat, unfold};

    use super::*;

    #[tokio::test]
    async fn full_disk_is_reported() {
        let full = OpenOptions::new().write(true).open("/dev/full");
        let chunks = repeat(Ok(Bytes::from_static(b"name,lat,lon")));
        let refused = write_file(full, chunks, String::clone).await.unwrap_err();
        assert!(refused.starts_with("The disk of this server is full."), "{refused}");
    }

    #[tokio::test]
    async fn endless_file_is_too_large() {
        let chunks = repeat(Ok(Bytes::from(vec![0; 16 << 20])));
        let refused = write_file(tempfile::tempfile(), chunks, String::clone).await.unwrap_err();
        assert!(refused.starts_with("The file is larger than 128 MB."), "{refused}");
    }

    #[tokio::test(start_paused = true)]
    async fn slow_upload_continues_while_data_arrives() {
        let slow = unfold(100, async |left| {
            drop(timeout(MAX_SILENCE / 2, pending::<()>()).await);
            (left > 0).then(|| (Ok(Bytes::from_static(b"x")), left - 1))
        });
        write_file(tempfile::tempfile(), pin!(slow), String::clone).await.unwrap();
        let refused = write_file(tempfile::tempfile(), stream::pending(), String::clone).await.unwrap_err();
        assert!(refused.starts_with("Nothing came for 30 seconds."), "{refused}");
    }

    #[test]
    fn only_the_matching_upload_is_cleared() {
        let uploads = Uploads::default();
        let upload = |id: &str| {
            Arc::new(Upload {
                id: id.to_owned(),
                by: String::new(),
                at: Timestamp::UNIX_EPOCH,
                source: String::new(),
                attribution: String::new(),
                extent: Coverage::Full,
                as_of: None,
                file: Mutex::new(tempfile::tempfile().unwrap()),
            })
        };
        uploads.store(upload("mine"));
        uploads.store(upload("theirs"));
        uploads.clear("mine");
        assert!(uploads.find("mine").is_none() && uploads.find("theirs").is_some());
        uploads.clear("theirs");
        assert!(uploads.find("theirs").is_none());
    }
}
