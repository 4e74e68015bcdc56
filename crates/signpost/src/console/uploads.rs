//! Uploads: a file comes from an operator's browser, however slow the line, and waits to be taken over.

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
use signpost_atm::catalogue::{Extent, SAMPLE};
use signpost_platform::pages::form::FormRefusal;
use signpost_platform::web::receive_slots::{ReceiveSlots, SlotBounds};
use tokio::time::timeout;

use super::Console;
use super::visit::{FormError, OperatorVisit, refuse};

/// Where a file is posted to.
pub(super) const UPLOAD_PATH: &str = "/console/machines/import";
/// Where the operator says that it is taken over.
pub(super) const APPLY_PATH: &str = "/console/machines/import/apply";
/// The routes of the console that may take longer than others, and how long.
pub const SLOW_SCREENS: [(&str, Duration); 2] =
    [(UPLOAD_PATH, Duration::from_hours(1)), (APPLY_PATH, Duration::from_mins(10))];
/// How long nothing may come of an upload.
const MAX_SILENCE: Duration = Duration::from_secs(30);
/// Maximum uploads at once: in all, of an operator, and from a client address if others wait.
const BOUNDS: SlotBounds = SlotBounds { slots: 4, per_owner: 2, per_address: 3, min_rate: 1024 };
/// The largest file that is taken here, in bytes; the command line takes larger ones.
pub(super) const MAX_FILE: usize = 128 << 20;
/// What a form has beside its file, at most.
pub(super) const MAX_BESIDE: usize = 64 << 10;
/// The longest name of a source, and its credit, in characters.
pub(super) const MAX_NAME: usize = 64;

/// The one upload that waits to be taken over: a new one takes its place. The file has no name on the disk, so that it is
/// gone whenever this server is.
#[derive(Debug)]
pub(super) struct UploadShelf {
    waiting: Mutex<Option<Arc<Upload>>>,
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
    pub(super) extent: Extent,
    pub(super) file: Mutex<File>,
}

/// What a form said beside its file.
#[derive(Debug, Default)]
pub(super) struct UploadForm {
    token: String,
    pub(super) source: String,
    pub(super) attribution: String,
    pub(super) is_partial: bool,
    pub(super) file: Option<File>,
    pub(super) file_name: String,
}

impl Default for UploadShelf {
    fn default() -> Self {
        Self { waiting: Mutex::default(), slots: ReceiveSlots::new(BOUNDS) }
    }
}

impl UploadShelf {
    pub(super) fn waiting(&self) -> Option<Arc<Upload>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn keep(&self, upload: Arc<Upload>) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(upload);
    }

    /// Forgets the upload with this id. Where another took its place meanwhile, that one stays.
    pub(super) fn clear(&self, id: &str) {
        drop(self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take_if(|upload| upload.id == id));
    }
}

/// Receives the form and its file. Nothing is written before the CSRF token was checked.
///
/// # Errors
/// [`FormError`].
pub(super) async fn receive_upload(visit: &OperatorVisit, request: Request) -> Result<UploadForm, FormError> {
    let multipart = Multipart::from_request(request, &()).await;
    let mut multipart = multipart.map_err(|_| refuse(&visit.console, FormRefusal::Unreadable))?;
    let mut form = UploadForm::default();
    loop {
        let field = within_silence(multipart.next_field(), say_cut).await.map_err(FormError::Invalid)?;
        let Some(field) = field else { return Ok(form) };
        let name = field.name().unwrap_or_default().to_owned();
        if name == "file" {
            if !visit.token("upload").is(&form.token) {
                return Err(refuse(&visit.console, FormRefusal::Stale).into());
            }
            visit.note_use().await?;
            form.file_name = field.file_name().unwrap_or_default().to_owned();
            form.file = Some(keep_field(&visit.console, field).await.map_err(FormError::Invalid)?);
            continue;
        }
        let text = within_silence(field.text(), say_cut).await.map_err(FormError::Invalid)?;
        if text.len() > MAX_BESIDE {
            return Err(FormError::invalid("A field of the form is too long."));
        }
        let text = text.trim().chars().take(MAX_NAME).collect();
        match name.as_str() {
            "token" => form.token = text,
            "source" => form.source = text,
            "attribution" => form.attribution = text,
            "partial" => form.is_partial = text == "yes",
            _ => return Err(refuse(&visit.console, FormRefusal::Unreadable).into()),
        }
    }
}

/// What comes next, or why nothing does.
async fn within_silence<T, E>(
    next: impl Future<Output = Result<T, E>>,
    say: impl FnOnce(&E) -> String,
) -> Result<T, String> {
    match timeout(MAX_SILENCE, next).await {
        Ok(next) => next.map_err(|error| say(&error)),
        Err(_) => Err(format!(
            "Nothing came for {} seconds. Nothing of the file was kept: send it again.",
            MAX_SILENCE.as_secs()
        )),
    }
}

/// Writes what comes to a file without a name.
async fn keep_field(console: &Console, field: Field<'_>) -> Result<File, String> {
    // With a database elsewhere there may be no data folder.
    let folder = &console.config.data_dir;
    let made = if folder.is_dir() { tempfile::tempfile_in(folder) } else { tempfile::tempfile() };
    keep_file(made, pin!(field), say_cut).await
}

async fn keep_file<E>(
    made: io::Result<File>,
    mut chunks: impl Stream<Item = Result<Bytes, E>> + Unpin,
    say: fn(&E) -> String,
) -> Result<File, String> {
    let mut file = made.map_err(|error| say_unwritten(&error))?;
    let mut len = 0;
    while let Some(chunk) = within_silence(chunks.try_next(), say).await? {
        len += chunk.len();
        if len > MAX_FILE {
            return Err(say_too_large());
        }
        file = tokio::task::spawn_blocking(move || file.write_all(&chunk).map(|()| file))
            .await
            .map_err(|_| "The upload was interrupted. Nothing of it was kept: send it again.".to_owned())?
            .map_err(|error| say_unwritten(&error))?;
    }
    Ok(file)
}

fn say_unwritten(error: &io::Error) -> String {
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

fn say_cut(error: &MultipartError) -> String {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return say_too_large();
    }
    "The upload ended early. Nothing of it was kept.".to_owned()
}

fn say_too_large() -> String {
    format!("The file is larger than {} MB. The command line takes it: signpost atms import.", MAX_FILE >> 20)
}

/// The name of the source: what was typed, else the file's without its ending.
pub(super) fn name_source(typed: &str, file_name: &str) -> Option<String> {
    let stem = file_name.rsplit_once('.').map_or(file_name, |(stem, _)| stem);
    let name: String = if typed.is_empty() { stem } else { typed }.chars().take(MAX_NAME).collect();
    let is_fit = !name.is_empty() && !name.chars().any(char::is_control) && name != SAMPLE;
    is_fit.then_some(name)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::future::pending;

    use futures_util::stream::{self, repeat, unfold};

    use super::*;

    #[tokio::test]
    async fn a_full_disk_is_said() {
        let full = OpenOptions::new().write(true).open("/dev/full");
        let chunks = repeat(Ok(Bytes::from_static(b"name,lat,lon")));
        let refused = keep_file(full, chunks, String::clone).await.unwrap_err();
        assert!(refused.starts_with("The disk of this server is full."), "{refused}");
    }

    #[tokio::test]
    async fn a_file_that_never_ends_is_too_large() {
        let chunks = repeat(Ok(Bytes::from(vec![0; 16 << 20])));
        let refused = keep_file(tempfile::tempfile(), chunks, String::clone).await.unwrap_err();
        assert!(refused.starts_with("The file is larger than 128 MB."), "{refused}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_upload_may_take_long_as_long_as_something_comes() {
        let slow = unfold(100, async |left| {
            drop(timeout(MAX_SILENCE / 2, pending::<()>()).await);
            (left > 0).then(|| (Ok(Bytes::from_static(b"x")), left - 1))
        });
        keep_file(tempfile::tempfile(), pin!(slow), String::clone).await.unwrap();
        let refused = keep_file(tempfile::tempfile(), stream::pending(), String::clone).await.unwrap_err();
        assert!(refused.starts_with("Nothing came for 30 seconds."), "{refused}");
    }

    #[test]
    fn only_the_upload_that_was_meant_is_cleared() {
        let shelf = UploadShelf::default();
        let upload = |id: &str| {
            Arc::new(Upload {
                id: id.to_owned(),
                by: String::new(),
                at: Timestamp::UNIX_EPOCH,
                source: String::new(),
                attribution: String::new(),
                extent: Extent::Whole,
                file: Mutex::new(tempfile::tempfile().unwrap()),
            })
        };
        shelf.keep(upload("mine"));
        shelf.keep(upload("theirs"));
        shelf.clear("mine");
        assert_eq!(shelf.waiting().map(|upload| upload.id.clone()).as_deref(), Some("theirs"));
        shelf.clear("theirs");
        assert!(shelf.waiting().is_none());
    }
}
