//! The command `signpost backup`: copies the embedded database.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use signpost_store::Store;

use super::Session;

#[derive(Debug, Args)]
pub(super) struct Backup {
    /// New file; to restore it, stop the server and replace signpost.sqlite with it
    file: PathBuf,
}

impl Backup {
    pub(super) fn run(self, session: &Session) -> Result<()> {
        let bytes = Store::backup(&session.config.database_url(), &self.file);
        let bytes = bytes.map_err(|error| session.explain_missing(error))?;
        let shown = self.file.display().to_string();
        session.print(&json!({ "file": shown, "bytes": bytes }), || format!("wrote {bytes} bytes to {shown}"))
    }
}
